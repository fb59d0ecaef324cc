//! What the passes may assume of a primitive, beside its rules.

use super::checks::Errors;
use crate::{Array, AxisName, Mesh, OutSharding};

/// What the passes may assume of a primitive. The default is right for an operation without
/// effects whose result has the dtype of its operands.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// The checks of [`checkify`](crate::transform::checkify::checkify) that apply:
    /// [`NAN`](Errors::NAN) if the operation can produce NaN from other numbers,
    /// [`DIV`](Errors::DIV) if it divides by its second operand.
    pub checks: Errors,
    /// The positions that the operation reads or writes, if they may be out of bounds. Checked as
    /// [`INDEX`](Errors::INDEX).
    pub positions: Option<&'a dyn PositionRule>,
    /// What the operation does beside computing its results.
    pub effects: Effects,
    /// The mapped axes that the operation refers to by name.
    pub axes: &'a [AxisName],
    /// Whether a compiler can compute the result within the loops of its users, as for elementwise
    /// operations and those that rearrange elements. On a CPU, the lowering stores the result of
    /// many such operations if several use it.
    pub fuses: bool,
    /// Whether results are weakly typed if all operands are. Operations that choose the dtype
    /// themselves set weak types in `infer`.
    pub propagates_weak_type: bool,
    /// Whether `infer` handles the placement of operands and results on a mesh, as for operations
    /// that contain programs or refer to mesh axes. For all other operations, operands that vary
    /// over fewer manual axes than the others are converted to vary over the same ones, as do the
    /// results.
    pub places_results: bool,
    /// Whether partial sums of the operands give partial sums of the result. It always is so for
    /// operations whose differentiation is `Linear`.
    pub keeps_unreduced: bool,
    /// The sharding of the result that the caller requested, for operations that accept one.
    pub out_sharding: Option<OutSharding>,
    /// The mesh on whose devices the operation runs, if it is known and not that of `out_sharding`.
    pub mesh: Option<Mesh>,
}

impl Default for Facts<'_> {
    fn default() -> Self {
        Facts {
            checks: Errors::NONE,
            positions: None,
            effects: Effects::None,
            axes: &[],
            fuses: false,
            propagates_weak_type: true,
            places_results: false,
            keeps_unreduced: false,
            out_sharding: None,
            mesh: None,
        }
    }
}

impl Facts<'_> {
    /// Returns the facts of an operation that computes each element of the result from one element
    /// of each operand: it fuses.
    pub fn elementwise() -> Self {
        Facts {
            fuses: true,
            ..Facts::default()
        }
    }

    /// Returns the facts of an operation whose `infer` returns the results' exact types: their
    /// placement, and whether they are weak. Operations whose results are those of programs that
    /// they contain are of this kind.
    pub fn exact() -> Self {
        Facts {
            propagates_weak_type: false,
            places_results: true,
            ..Facts::default()
        }
    }
}

/// What an operation does beside computing its results. The effects of programs that it contains
/// are found by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effects {
    /// Nothing: an operation whose results are not used is removed.
    None,
    /// Observes values, such as printing. This may also happen for values that are not used.
    Observes,
    /// Acts on the world: it happens exactly as often as the program says.
    Acts,
}

/// An operation that reads or writes its first operand at computed positions.
pub trait PositionRule {
    /// Returns the positions for these operands; `None` if there are none.
    fn positions(&self, args: &[Array]) -> Option<Positions>;
}

/// Positions in an operand.
pub struct Positions {
    /// Start positions: vectors along the last axis.
    pub starts: Array,
    /// Axes of the operand to which the vector's elements refer.
    pub axes: Vec<usize>,
    /// Number of elements of each axis that are read or written from there.
    pub sizes: Vec<usize>,
}
