//! Per-array values, given as a prefix of the tree.

use std::fmt;
use std::sync::Arc;

/// A value for each array of a tree: the same value for all arrays, one value for each argument
/// or component (recursively), or values by the arrays' paths.
///
/// ```
/// use ramie_core::sharding::Specs;
/// use ramie_core::P;
/// let all = Specs::from(P!["x"]);
/// let each = Specs::from([P!["x"], P![]]);
/// let nested = Specs::each([each, P![None, "y"].into()]);
/// let by_path = Specs::by_path(|path| if path.ends_with("bias") { P![] } else { P!["x"] });
/// # let _ = (all, nested, by_path);
/// ```
#[derive(Clone)]
pub struct PerArray<T>(Selector<T>);

#[derive(Clone)]
enum Selector<T> {
    All(T),
    Each(Vec<PerArray<T>>),
    ByPath(Arc<dyn Fn(&str) -> T + Send + Sync>),
}

impl<T: Clone> PerArray<T> {
    /// Creates a single value for all arrays.
    pub fn all(value: T) -> PerArray<T> {
        PerArray(Selector::All(value))
    }

    /// Creates one entry for each argument of a function, or for each component of a value.
    pub fn each(entries: impl IntoIterator<Item = PerArray<T>>) -> PerArray<T> {
        PerArray(Selector::Each(entries.into_iter().collect()))
    }

    /// Computes the value of each array from its dotted path. Paths of arguments consist of the
    /// number of the argument and the path within it, such as `0.encoder.kernel`; paths of
    /// results are paths within the result.
    pub fn by_path(value: impl Fn(&str) -> T + Send + Sync + 'static) -> PerArray<T> {
        PerArray(Selector::ByPath(Arc::new(value)))
    }

    /// Applies a function to all values.
    pub(crate) fn map<U: Clone>(
        &self,
        f: impl Fn(T) -> U + Clone + Send + Sync + 'static,
    ) -> PerArray<U>
    where
        T: 'static,
    {
        match &self.0 {
            Selector::All(value) => PerArray::all(f(value.clone())),
            Selector::Each(entries) => PerArray::each(entries.iter().map(|e| e.map(f.clone()))),
            Selector::ByPath(value) => {
                let value = value.clone();
                PerArray::by_path(move |path| f(value(path)))
            }
        }
    }

    /// Returns the value for each of the arrays with these paths.
    ///
    /// # Errors
    /// Returns an error if the numbers of entries and components differ.
    pub(crate) fn of_paths(&self, what: &str, paths: &[String]) -> Result<Vec<T>, String> {
        let whole: Vec<(&str, &str)> = paths.iter().map(|p| (p.as_str(), p.as_str())).collect();
        self.resolve(what, &whole)
    }

    /// Resolves values for `paths`, pairs of a full path and the rest of it at this level.
    fn resolve(&self, what: &str, paths: &[(&str, &str)]) -> Result<Vec<T>, String> {
        match &self.0 {
            Selector::All(value) => Ok(vec![value.clone(); paths.len()]),
            Selector::ByPath(value) => Ok(paths.iter().map(|(whole, _)| value(whole)).collect()),
            Selector::Each(entries) => {
                let mut groups: Vec<(&str, Vec<(&str, &str)>)> = Vec::new();
                for &(whole, left) in paths {
                    let (key, rest) = left.split_once('.').unwrap_or((left, ""));
                    match groups.iter_mut().find(|(k, _)| *k == key) {
                        Some((_, group)) => group.push((whole, rest)),
                        None => groups.push((key, vec![(whole, rest)])),
                    }
                }
                let mut out = Vec::with_capacity(paths.len());
                for (i, (key, group)) in groups.iter().enumerate() {
                    // Numbered components without arrays are not listed.
                    let at = key.parse().unwrap_or(i);
                    let Some(entry) = entries.get(at) else {
                        return Err(format!(
                            "{what} has {} entries, but the tree has a component `{key}` (number \
                             {at}) at `{}`\n  help: pass an entry for each component, or one \
                             value for all",
                            entries.len(),
                            group[0].0
                        ));
                    };
                    out.extend(entry.resolve(what, group)?);
                }
                let numbered = groups.iter().all(|(key, _)| key.parse::<usize>().is_ok());
                if !numbered && groups.len() != entries.len() {
                    return Err(format!(
                        "{what} has {} entries for {} components\n  help: pass an entry for each \
                         component, or one value for all",
                        entries.len(),
                        groups.len()
                    ));
                }
                Ok(out)
            }
        }
    }

    /// Returns the number of arguments if there is one entry for each.
    pub(crate) fn count(&self) -> Option<usize> {
        match &self.0 {
            Selector::Each(entries) => Some(entries.len()),
            _ => None,
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for PerArray<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Selector::All(value) => value.fmt(f),
            Selector::Each(entries) => entries.fmt(f),
            Selector::ByPath(_) => f.write_str("by_path(..)"),
        }
    }
}

impl<T: Clone, V: Into<PerArray<T>>, const N: usize> From<[V; N]> for PerArray<T> {
    fn from(entries: [V; N]) -> PerArray<T> {
        PerArray::each(entries.map(Into::into))
    }
}
impl<T: Clone, V: Into<PerArray<T>>> From<Vec<V>> for PerArray<T> {
    fn from(entries: Vec<V>) -> PerArray<T> {
        PerArray::each(entries.into_iter().map(Into::into))
    }
}
