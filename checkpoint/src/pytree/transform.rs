//! What the arrays of a tree are made of, where it is not the array of their own name.

use ramie_core::Array;
use std::fmt;
use std::sync::Arc;

type One = Arc<dyn Fn(&Array) -> Array + Send + Sync>;
type Many = Arc<dyn Fn(&[Array]) -> Array + Send + Sync>;

/// What an array, or all arrays below a name, are made of
/// (`orbax.checkpoint.transform_utils.Transform`).
///
/// ```
/// use ramie_checkpoint::pytree::Transform;
/// // The array was called otherwise, and was stored transposed.
/// let kernel = Transform::original("linear.weight").map(|w| w.t());
/// # let _ = kernel;
/// ```
#[derive(Clone)]
pub struct Transform(pub(super) From);

#[derive(Clone)]
pub(super) enum From {
    /// The saved array of another name, changed or not.
    Original(String, Option<One>),
    /// Several saved arrays.
    Several(Vec<String>, Many),
    /// The array that the tree has already.
    Fallback,
}

impl Transform {
    /// The saved array of this name; for a name that arrays are below, those below
    /// this one.
    pub fn original(name: impl Into<String>) -> Transform {
        Transform(From::Original(name.into(), None))
    }

    /// What `f` makes of several saved arrays.
    pub fn several<S: Into<String>>(
        names: impl IntoIterator<Item = S>,
        f: impl Fn(&[Array]) -> Array + Send + Sync + 'static,
    ) -> Transform {
        let names = names.into_iter().map(Into::into).collect();
        Transform(From::Several(names, Arc::new(f)))
    }

    /// The value that the target has: it is not restored.
    pub fn fallback() -> Transform {
        Transform(From::Fallback)
    }

    /// The same, with `f` applied to the array, which is then on one device. The
    /// result is converted to the type of the target, and placed like it.
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

/// What is left of a dotted name below another; empty if they are the same.
pub(super) fn below<'a>(name: &'a str, root: &str) -> Option<&'a str> {
    if root.is_empty() {
        return Some(name);
    }
    match name.strip_prefix(root)? {
        "" => Some(""),
        rest => rest.strip_prefix('.'),
    }
}

/// A dotted name below another.
pub(super) fn join(root: &str, rest: &str) -> String {
    match (root, rest) {
        ("", name) | (name, "") => name.to_owned(),
        (root, rest) => format!("{root}.{rest}"),
    }
}
