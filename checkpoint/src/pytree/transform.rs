//! Sources of a tree's arrays other than the saved array of the same name.

use ramie_core::Array;
use std::fmt;
use std::sync::Arc;

type One = Arc<dyn Fn(&Array) -> Array + Send + Sync>;
type Many = Arc<dyn Fn(&[Array]) -> Array + Send + Sync>;

/// Source of an array, or of all arrays below a path:
/// `orbax.checkpoint.transform_utils.Transform`.
///
/// ```
/// use ramie_checkpoint::pytree::Transform;
/// // The array had another name and was stored transposed.
/// let kernel = Transform::original("linear.weight").map(|w| w.t());
/// # let _ = kernel;
/// ```
#[derive(Clone)]
pub struct Transform(pub(super) From);

#[derive(Clone)]
pub(super) enum From {
    /// The saved array of another name, optionally transformed.
    Original(String, Option<One>),
    /// A function of several saved arrays.
    Several(Vec<String>, Many),
    /// The target's own array.
    Fallback,
}

impl Transform {
    /// Creates a transform that reads the saved array of this name. If the target path is that of
    /// a subtree, the arrays below `name` are read.
    pub fn original(name: impl Into<String>) -> Transform {
        Transform(From::Original(name.into(), None))
    }

    /// Creates a transform that applies `f` to several saved arrays.
    pub fn several<S: Into<String>>(
        names: impl IntoIterator<Item = S>,
        f: impl Fn(&[Array]) -> Array + Send + Sync + 'static,
    ) -> Transform {
        let names = names.into_iter().map(Into::into).collect();
        Transform(From::Several(names, Arc::new(f)))
    }

    /// Creates a transform that keeps the target's value.
    pub fn fallback() -> Transform {
        Transform(From::Fallback)
    }

    /// Applies `f` to the array, which is then on one device. The result is converted to the
    /// target's dtype and placed like the target.
    pub fn map(self, f: impl Fn(&Array) -> Array + Send + Sync + 'static) -> Transform {
        Transform(match self.0 {
            From::Original(name, None) => From::Original(name, Some(Arc::new(f))),
            From::Original(name, Some(first)) => {
                From::Original(name, Some(Arc::new(move |a| f(&first(a)))))
            }
            From::Several(names, first) => {
                From::Several(names, Arc::new(move |arrays| f(&first(arrays))))
            }
            From::Fallback => From::Fallback,
        })
    }
}

impl fmt::Debug for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            From::Original(name, None) => write!(f, "Transform::original({name:?})"),
            From::Original(name, Some(_)) => write!(f, "Transform::original({name:?}).map(..)"),
            From::Several(names, _) => write!(f, "Transform::several({names:?}, ..)"),
            From::Fallback => f.write_str("Transform::fallback()"),
        }
    }
}

/// Returns the rest of a dotted path below `root`, which is empty if they are equal.
pub(super) fn below<'a>(name: &'a str, root: &str) -> Option<&'a str> {
    if root.is_empty() {
        return Some(name);
    }
    match name.strip_prefix(root)? {
        "" => Some(""),
        rest => rest.strip_prefix('.'),
    }
}

/// Joins a dotted path and a path below it.
pub(super) fn join(root: &str, rest: &str) -> String {
    match (root, rest) {
        ("", name) | (name, "") => name.to_owned(),
        (root, rest) => format!("{root}.{rest}"),
    }
}
