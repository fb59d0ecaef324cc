//! `Filter`: selects leaves of a model.

use crate::{Metadata, RngKey, Variable};
use ramie_core::Array;
use std::borrow::Cow;
use std::marker::PhantomData;

/// The description of a leaf that is passed to a filter.
#[derive(Clone, Copy)]
pub struct Leaf<'a> {
    /// The dotted path.
    pub path: &'a str,
    /// The kind of the variable, if the leaf is one.
    pub kind: Option<&'static str>,
    /// The metadata of the variable. The leaves of a [`State`](ramie_core::State) have none.
    pub metadata: Option<&'a Metadata>,
    /// The array.
    pub array: &'a Array,
}

/// A predicate that selects leaves of a model or of a [`State`](ramie_core::State).
///
/// The types of this module are Flax's filters. Other filters are the name of a kind of
/// variable or of a tag, `true`, `false`, and functions of path and kind.
///
/// ```
/// use ramie_core::{Array, DType};
/// use ramie_nn::Param;
/// use ramie_nn::nnx::{self, Not, PathContains, of_type};
/// let weight = || Param::new(Array::zeros(&[2], DType::F32));
/// let model = (weight(), vec![weight()]);
/// assert_eq!(nnx::state(&model, of_type::<Param>()).len(), 2);
/// assert_eq!(nnx::state(&model, Not(PathContains("1"))).len(), 1);
/// assert_eq!(nnx::state(&model, |path: &str, _: Option<&'static str>| path == "0").len(), 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a filter of leaves",
    note = "filters are `of_type::<Param>()`, `PathContains(\"encoder\")`, names of kinds such as \"param\", `All`, `Any` and `Not` of filters; a closure needs the types of its arguments: |path: &str, kind: Option<&'static str>|"
)]
pub trait Filter: Send + Sync {
    /// Returns `true` if the filter selects the leaf.
    fn accepts(&self, leaf: &Leaf<'_>) -> bool;
}

impl<F: Fn(&str, Option<&'static str>) -> bool + Send + Sync> Filter for F {
    fn accepts(&self, leaf: &Leaf<'_>) -> bool {
        self(leaf.path, leaf.kind)
    }
}

/// Selects all leaves, or none.
impl Filter for bool {
    fn accepts(&self, _: &Leaf<'_>) -> bool {
        *self
    }
}

/// Selects leaves whose kind has this name, and leaves with this tag in their metadata.
impl Filter for &'static str {
    fn accepts(&self, leaf: &Leaf<'_>) -> bool {
        leaf.kind == Some(self) || WithTag(self).accepts(leaf)
    }
}

impl Filter for Box<dyn Filter> {
    fn accepts(&self, leaf: &Leaf<'_>) -> bool {
        (**self).accepts(leaf)
    }
}

impl Filter for std::sync::Arc<dyn Filter> {
    fn accepts(&self, leaf: &Leaf<'_>) -> bool {
        (**self).accepts(leaf)
    }
}

/// Returns a function of path and kind as a filter. The types of a closure's arguments are
/// inferred.
///
/// ```
/// use ramie_nn::nnx::{Filter, predicate};
/// let biases = predicate(|path, _| path.ends_with("bias"));
/// ```
pub fn predicate<F: Fn(&str, Option<&'static str>) -> bool + Send + Sync>(f: F) -> F {
    f
}

/// Selects every leaf.
#[derive(Clone, Copy, Debug, Default)]
pub struct Everything;

impl Filter for Everything {
    fn accepts(&self, _: &Leaf<'_>) -> bool {
        true
    }
}

/// Selects no leaf.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Filter for Nothing {
    fn accepts(&self, _: &Leaf<'_>) -> bool {
        false
    }
}

/// A type that [`of_type`] accepts: one or more kinds of variables.
pub trait KindOf {
    /// The names of the kinds of this type.
    const KINDS: &'static [&'static str];
}

impl<V: Variable> KindOf for V {
    const KINDS: &'static [&'static str] = &[V::KIND];
}

/// The state of RNG streams: keys and counts (`nnx.RngState`).
#[derive(Clone, Copy, Debug)]
pub struct RngState;

impl KindOf for RngState {
    const KINDS: &'static [&'static str] = &[RngKey::KIND, crate::RngCount::KIND];
}

impl KindOf for RngKey {
    const KINDS: &'static [&'static str] = &[RngKey::KIND];
}

/// Selects the variables of one type. [`of_type`] creates it.
pub struct OfType<V>(PhantomData<fn(V)>);

impl<V> Clone for OfType<V> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<V> Copy for OfType<V> {}

/// Creates a filter that selects variables of type `V` (`nnx.OfType`): `of_type::<Param>()`.
pub fn of_type<V: KindOf>() -> OfType<V> {
    OfType(PhantomData)
}

impl<V: KindOf> Filter for OfType<V> {
    fn accepts(&self, leaf: &Leaf<'_>) -> bool {
        leaf.kind.is_some_and(|kind| V::KINDS.contains(&kind))
    }
}

/// Selects leaves whose kind has this name.
#[derive(Clone, Debug)]
pub struct Kind(pub Cow<'static, str>);

impl Filter for Kind {
    fn accepts(&self, leaf: &Leaf<'_>) -> bool {
        leaf.kind == Some(&*self.0)
    }
}

/// Selects leaves with this component in their path: `"encoder"` for everything in a field
/// `encoder` at any depth.
#[derive(Clone, Debug)]
pub struct PathContains<S>(pub S);

impl<S: AsRef<str> + Send + Sync> Filter for PathContains<S> {
    fn accepts(&self, leaf: &Leaf<'_>) -> bool {
        leaf.path.split('.').any(|step| step == self.0.as_ref())
    }
}

/// Selects leaves with this substring in a component of their path (`nnx.PathContains` with
/// `exact=False`).
#[derive(Clone, Debug)]
pub struct PathContainsPart<S>(pub S);

impl<S: AsRef<str> + Send + Sync> Filter for PathContainsPart<S> {
    fn accepts(&self, leaf: &Leaf<'_>) -> bool {
        let part = self.0.as_ref();
        leaf.path.split('.').any(|step| step.contains(part))
    }
}

/// Selects leaves at these paths (`nnx.PathIn`).
#[derive(Clone, Debug)]
pub struct PathIn(Vec<String>);

impl PathIn {
    /// Creates a filter that selects leaves at these dotted paths.
    pub fn new<S: Into<String>>(paths: impl IntoIterator<Item = S>) -> PathIn {
        PathIn(paths.into_iter().map(Into::into).collect())
    }
}

impl Filter for PathIn {
    fn accepts(&self, leaf: &Leaf<'_>) -> bool {
        self.0.iter().any(|path| path == leaf.path)
    }
}

/// Selects variables whose metadata has an entry `tag` (`nnx.HasTag`).
#[derive(Clone, Copy, Debug, Default)]
pub struct HasTag;

impl Filter for HasTag {
    fn accepts(&self, leaf: &Leaf<'_>) -> bool {
        leaf.metadata.is_some_and(|m| m.get(TAG).is_some())
    }
}

/// The metadata entry that tags a variable.
const TAG: &str = "tag";

/// Selects variables whose metadata has an entry `tag` with this value (`nnx.WithTag`).
///
/// ```
/// use ramie_core::{Array, DType};
/// use ramie_nn::nnx::{self, WithTag};
/// use ramie_nn::{Metadata, Param};
/// let tagged = Metadata::default().with("tag", "frozen");
/// let model = (Param::new(Array::zeros(&[2], DType::F32)).with_metadata(tagged),);
/// assert_eq!(nnx::state(&model, WithTag("frozen")).len(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct WithTag<S>(pub S);

impl<S: AsRef<str> + Send + Sync> Filter for WithTag<S> {
    fn accepts(&self, leaf: &Leaf<'_>) -> bool {
        let tag = leaf.metadata.and_then(|m| m.get(TAG));
        tag == Some(self.0.as_ref())
    }
}

/// Selects leaves that the filter does not select.
#[derive(Clone, Copy, Debug)]
pub struct Not<F>(pub F);

impl<F: Filter> Filter for Not<F> {
    fn accepts(&self, leaf: &Leaf<'_>) -> bool {
        !self.0.accepts(leaf)
    }
}

/// Selects leaves that all filters of a tuple select.
#[derive(Clone, Copy, Debug)]
pub struct All<T>(pub T);

/// Selects leaves that at least one filter of a tuple selects.
#[derive(Clone, Copy, Debug)]
pub struct Any<T>(pub T);

macro_rules! combined {
    ($($f:ident $i:tt),+) => {
        impl<$($f: Filter),+> Filter for All<($($f,)+)> {
            fn accepts(&self, leaf: &Leaf<'_>) -> bool {
                $( self.0.$i.accepts(leaf) )&&+
            }
        }
        impl<$($f: Filter),+> Filter for Any<($($f,)+)> {
            fn accepts(&self, leaf: &Leaf<'_>) -> bool {
                $( self.0.$i.accepts(leaf) )||+
            }
        }
    };
}
combined!(A 0);
combined!(A 0, B 1);
combined!(A 0, B 1, C 2);
combined!(A 0, B 1, C 2, D 3);
combined!(A 0, B 1, C 2, D 3, E 4);
combined!(A 0, B 1, C 2, D 3, E 4, F 5);
