//! Policies that select which values a linearization saves.

use super::Name;
use crate::base::location;
use crate::prim::Primitive;
use crate::prim::conv::ConvGeneralDilated;
use crate::prim::dot::DotGeneral;
use crate::program::backend::backend;
use crate::{Aval, Platform};
use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

type Names = BTreeSet<String>;
type Decide = dyn Fn(&dyn Primitive, &[Aval]) -> bool + Send + Sync;

/// A policy that selects which intermediate values of a function under [`checkpoint`] are saved
/// for its derivative; the others are recomputed (`jax.checkpoint_policies`). Arguments are
/// always saved.
///
/// A policy applies to the operations of a function and of the jitted functions in it. It treats
/// a loop or a `cond` as one operation; to save values of every step of a loop, apply
/// [`checkpoint`] to the loop's body.
///
/// [`checkpoint`]: crate::checkpoint()
#[doc(alias = "checkpoint_policies")]
#[derive(Clone)]
pub struct CheckpointPolicy(Policy);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Policy {
    Everything,
    Nothing,
    Dots { only_if_no_batch_dims: bool },
    Only(Names),
    AnyBut(Names),
    AnythingExcept(Names),
    OffloadNames { saved: Names, offloaded: Names },
    OffloadDots,
    Both(Arc<CheckpointPolicy>, Arc<CheckpointPolicy>),
    Decide(Decision),
}

#[derive(Clone)]
struct Decision(Arc<Decide>);

impl PartialEq for Decision {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
impl Eq for Decision {}
impl Hash for Decision {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).addr().hash(state);
    }
}

fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> Names {
    names.into_iter().map(str::to_string).collect()
}

impl CheckpointPolicy {
    /// Saves everything that the derivative needs, as without `checkpoint`.
    pub fn everything_saveable() -> Self {
        CheckpointPolicy(Policy::Everything)
    }

    /// Saves nothing, and recomputes everything from the arguments. This is the default.
    pub fn nothing_saveable() -> Self {
        CheckpointPolicy(Policy::Nothing)
    }

    /// Saves the results of matrix products and convolutions.
    #[doc(alias = "checkpoint_dots")]
    pub fn dots_saveable() -> Self {
        CheckpointPolicy(Policy::Dots {
            only_if_no_batch_dims: false,
        })
    }

    /// Saves the results of matrix products without batch dimensions: products with weights, but
    /// not those of attention.
    #[doc(alias = "checkpoint_dots_with_no_batch_dims")]
    pub fn dots_with_no_batch_dims_saveable() -> Self {
        CheckpointPolicy(Policy::Dots {
            only_if_no_batch_dims: true,
        })
    }

    /// Saves only values with one of these names, assigned by [`checkpoint_name`].
    ///
    /// [`checkpoint_name`]: crate::checkpoint_name
    pub fn save_only_these_names<'a>(saved: impl IntoIterator<Item = &'a str>) -> Self {
        CheckpointPolicy(Policy::Only(names(saved)))
    }

    /// Saves only named values, except those with these names.
    pub fn save_any_names_but_these<'a>(recomputed: impl IntoIterator<Item = &'a str>) -> Self {
        CheckpointPolicy(Policy::AnyBut(names(recomputed)))
    }

    /// Saves everything that the derivative needs, named or not, except results of
    /// [`checkpoint_name`] with these names. As in JAX, the operand of such a `checkpoint_name`
    /// may be saved, since it has no name itself.
    ///
    /// [`checkpoint_name`]: crate::checkpoint_name
    pub fn save_anything_except_these_names<'a>(
        recomputed: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        CheckpointPolicy(Policy::AnythingExcept(names(recomputed)))
    }

    /// Saves values with one of the first names on the device, and those with one of the second
    /// names in host memory. On the CPU these are the same memory, so all of them are saved
    /// normally, as in JAX. Other platforms are rejected when the function is differentiated.
    ///
    /// # Panics
    /// Panics if a name is in both lists.
    #[track_caller]
    pub fn save_and_offload_only_these_names<'a>(
        saved: impl IntoIterator<Item = &'a str>,
        offloaded: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let (saved, offloaded) = (names(saved), names(offloaded));
        if let Some(name) = saved.intersection(&offloaded).next() {
            panic!(
                "save_and_offload_only_these_names: `{name}` is in both lists\n  help: put each \
                 name into one list"
            );
        }
        CheckpointPolicy(Policy::OffloadNames { saved, offloaded })
    }

    /// Same as [`dots_with_no_batch_dims_saveable`], but saves the results in host memory; see
    /// [`save_and_offload_only_these_names`] for the supported platforms.
    ///
    /// [`dots_with_no_batch_dims_saveable`]: Self::dots_with_no_batch_dims_saveable
    /// [`save_and_offload_only_these_names`]: Self::save_and_offload_only_these_names
    pub fn offload_dot_with_no_batch_dims() -> Self {
        CheckpointPolicy(Policy::OffloadDots)
    }

    /// Saves a value if one of two policies saves it.
    pub fn save_from_both_policies(first: Self, second: Self) -> Self {
        CheckpointPolicy(Policy::Both(Arc::new(first), Arc::new(second)))
    }

    /// Creates a custom policy: `saveable` returns whether to save the results of an operation,
    /// given the operation and the types of its operands.
    ///
    /// ```
    /// use ramie_core::CheckpointPolicy;
    /// let policy = CheckpointPolicy::new(|primitive, _| primitive.name() == "tanh");
    /// ```
    pub fn new(saveable: impl Fn(&dyn Primitive, &[Aval]) -> bool + Send + Sync + 'static) -> Self {
        CheckpointPolicy(Policy::Decide(Decision(Arc::new(saveable))))
    }

    /// Returns whether the policy saves the results of this operation.
    pub fn is_saveable(&self, primitive: &dyn Primitive, operands: &[Aval]) -> bool {
        let name = || primitive.as_any().downcast_ref::<Name>();
        let dot = || primitive.as_any().downcast_ref::<DotGeneral>();
        let no_batch = |d: &DotGeneral| d.dimension_numbers.lhs_batch.is_empty();
        match &self.0 {
            Policy::Everything => true,
            Policy::Nothing => false,
            Policy::Dots {
                only_if_no_batch_dims,
            } => match dot() {
                Some(dot) => !only_if_no_batch_dims || no_batch(dot),
                None => !only_if_no_batch_dims && primitive.as_any().is::<ConvGeneralDilated>(),
            },
            Policy::Only(names) => name().is_some_and(|n| names.contains(&*n.name)),
            Policy::AnyBut(names) => name().is_some_and(|n| !names.contains(&*n.name)),
            Policy::AnythingExcept(names) => name().is_none_or(|n| !names.contains(&*n.name)),
            Policy::OffloadNames { saved, offloaded } => {
                name().is_some_and(|n| saved.contains(&*n.name) || offloaded.contains(&*n.name))
            }
            Policy::OffloadDots => dot().is_some_and(no_batch),
            Policy::Both(a, b) => {
                a.is_saveable(primitive, operands) || b.is_saveable(primitive, operands)
            }
            Policy::Decide(decide) => decide.0(primitive, operands),
        }
    }

    /// Returns whether the policy saves values in host memory.
    fn offloads(&self) -> bool {
        match &self.0 {
            Policy::OffloadDots => true,
            Policy::OffloadNames { offloaded, .. } => !offloaded.is_empty(),
            Policy::Both(a, b) => a.offloads() || b.offloads(),
            _ => false,
        }
    }

    /// Panics if the platform's host memory is not the device's.
    #[track_caller]
    pub(super) fn check_platform(&self) {
        if !self.offloads() {
            return;
        }
        if let Ok(platform) = backend().platform()
            && platform != Platform::Cpu
        {
            location::fail(&format!(
                "checkpoint: the policy {self} saves values in host memory, which is not supported \
                 on {platform}\n  help: save them on the device, with save_only_these_names or \
                 dots_with_no_batch_dims_saveable"
            ));
        }
    }

    /// Returns whether the policy treats all operations alike, so that it does not matter in
    /// which program they are.
    pub(super) fn is_uniform(&self) -> bool {
        matches!(self.0, Policy::Everything | Policy::Nothing)
    }
}

impl PartialEq for CheckpointPolicy {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl Eq for CheckpointPolicy {}
impl Hash for CheckpointPolicy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// Formats the policy like JAX.
impl fmt::Display for CheckpointPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = |names: &Names| {
            let quoted: Vec<String> = names.iter().map(|n| format!("'{n}'")).collect();
            format!("frozenset({{{}}})", quoted.join(", "))
        };
        match &self.0 {
            Policy::Everything => f.write_str("everything_saveable"),
            Policy::Nothing => f.write_str("nothing_saveable"),
            Policy::Dots {
                only_if_no_batch_dims,
            } => {
                let only = if *only_if_no_batch_dims {
                    "True"
                } else {
                    "False"
                };
                write!(f, "DotsSaveable(only_if_no_batch_dims={only})")
            }
            Policy::Only(names) => write!(f, "SaveOnlyTheseNames(saveable_names={})", set(names)),
            Policy::AnyBut(names) => write!(f, "SaveAnyNamesButThese(names={})", set(names)),
            Policy::AnythingExcept(names) => {
                write!(f, "save_anything_except_these_names({})", set(names))
            }
            Policy::OffloadNames { saved, offloaded } => write!(
                f,
                "save_and_offload_only_these_names({}, {})",
                set(saved),
                set(offloaded)
            ),
            Policy::OffloadDots => f.write_str("offload_dot_with_no_batch_dims"),
            Policy::Both(a, b) => write!(f, "save_from_both_policies({a}, {b})"),
            Policy::Decide(_) => f.write_str("<function>"),
        }
    }
}

impl fmt::Debug for CheckpointPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
