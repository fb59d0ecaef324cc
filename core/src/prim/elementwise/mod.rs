//! Elementwise primitives: families of operators, as tables with a row per operator.
//!
//! Operands have the same shape, except that dimensions of size 1 and 0-d operands are broadcast,
//! as in JAX.

/// The facts, and the rules of sharding and batching, inside the implementation of an elementwise
/// primitive. The arguments are facts that differ from
/// [`Facts::elementwise`](crate::prim::Facts::elementwise).
macro_rules! elementwise_rules {
    (@rules) => {
        fn sharding(
            &self,
            _: &[$crate::Aval],
            _: &[$crate::Aval],
        ) -> Result<$crate::extend::ShardingRule, $crate::ShapeError> {
            Ok($crate::extend::ShardingRule::Elementwise)
        }
        fn batch(
            &self,
            args: &[$crate::Array],
            axes: &[Option<usize>],
            _: $crate::prim::BatchAxis,
        ) -> $crate::prim::Batched {
            $crate::prim::elementwise::batch_elementwise(args, axes, &|args| {
                $crate::program::trace::bind1(self.clone(), args)
            })
        }
    };
    ($($fact:ident: $value:expr),*) => {
        fn facts(&self) -> $crate::prim::Facts<'_> {
            $crate::prim::Facts {
                $($fact: $value,)*
                ..$crate::prim::Facts::elementwise()
            }
        }
        elementwise_rules!(@rules);
    };
}

/// The row of an operator in its table.
macro_rules! elementwise_row {
    ($ty:ident $f:ident $name:expr, $class:expr, $domain:expr, |$first:ident $(, $other:ident)*|) => {
        $crate::prim::elementwise::ElementwiseRow {
            ty: stringify!($ty),
            name: $name,
            method: stringify!($f),
            class: $class,
            domain: $domain,
            bind: |operands| $crate::prim::elementwise::bind_operands($ty, operands),
            apply: |operands| {
                let [$first $(, $other)*, ..] = operands else {
                    panic!("{}: got {} operands", $name, operands.len())
                };
                vec![$first.$f($($other),*)]
            },
        }
    };
}

mod accuracy;
mod binary;
mod compare;
mod complex;
mod gamma;
mod logaddexp;
mod mulhi;
pub(crate) mod parts;
mod power;
mod select;
pub(crate) mod special;
mod stop_gradient;
mod unary;

use super::{Batched, Primitive, batched};
use crate::Array;
use crate::program::trace::bind;
use smallvec::SmallVec;

pub use crate::passes::AddAny;
pub use crate::program::class::Class;
pub use accuracy::*;
pub use binary::*;
pub use compare::*;
pub use complex::*;
pub use gamma::*;
pub use logaddexp::*;
pub use mulhi::*;
pub use power::*;
pub use select::*;
pub use special::*;
pub use stop_gradient::*;
pub use unary::*;

pub(crate) use elementwise_rules;

/// A function of the operands that returns the results.
pub type OperandsToResults = fn(&[Array]) -> Vec<Array>;

/// An entry of a table of operators, for tests and documentation.
pub struct ElementwiseRow {
    /// Struct that implements the primitive.
    pub ty: &'static str,
    /// Name in a jaxpr.
    pub name: &'static str,
    /// Name of the method of [`Array`].
    pub method: &'static str,
    /// Supported dtypes.
    pub class: Class,
    /// Interval of each operand on which the operator is smooth; empty if it is not to be
    /// differentiated in all operands.
    pub domain: &'static [(f64, f64)],
    /// Binds the primitive to operands of its dtypes.
    pub bind: OperandsToResults,
    /// Calls the method, which promotes its operands. Excess operands are ignored.
    pub apply: OperandsToResults,
}

/// Returns the rows of all tables of elementwise operators.
pub fn elementwise_table() -> impl Iterator<Item = &'static ElementwiseRow> {
    UNARY.iter().chain(BINARY).chain(COMPARE).chain(SPECIAL)
}

/// Binds a primitive to operands.
fn bind_operands(primitive: impl Primitive + Clone, operands: &[Array]) -> Vec<Array> {
    let operands: SmallVec<[&Array; 4]> = operands.iter().collect();
    bind(primitive, &operands).into_vec()
}

/// Implements the batching rule of elementwise operators: aligns the batch axes and applies the
/// same operator.
pub(crate) fn batch_elementwise(
    args: &[Array],
    axes: &[Option<usize>],
    apply: &dyn Fn(&[&Array]) -> Array,
) -> Batched {
    // All operands except scalars have the same shape and batch axis: nothing to move.
    let first = args
        .iter()
        .zip(axes)
        .find_map(|(a, ax)| ax.map(|ax| (a.shape(), ax)));
    let (shape, axis) = first.expect("a batched operand");
    let aligned = args.iter().zip(axes).all(|(a, ax)| match ax {
        Some(ax) => a.shape() == shape && *ax == axis,
        None => a.ndim() == 0,
    });
    if aligned {
        let refs: SmallVec<[&Array; 4]> = args.iter().collect();
        return batched(apply(&refs), Some(axis));
    }
    let rank = args
        .iter()
        .zip(axes)
        .map(|(a, ax)| a.ndim() - usize::from(ax.is_some()))
        .max()
        .unwrap_or(0);
    let moved: SmallVec<[Array; 4]> = args
        .iter()
        .zip(axes)
        .map(|(a, ax)| match ax {
            None if a.ndim() == 0 => a.clone(),
            // The operator itself broadcasts a batch axis of size 1.
            None => a.expand_dims(&[0]),
            Some(ax) => {
                let front = a.move_axis(*ax as isize, 0);
                let missing: Vec<isize> = (front.ndim()..rank + 1).map(|d| d as isize).collect();
                // A batch of scalars is combined with arrays: the missing axes are appended.
                if missing.is_empty() {
                    front
                } else {
                    front.expand_dims(&missing)
                }
            }
        })
        .collect();
    let refs: SmallVec<[&Array; 4]> = moved.iter().collect();
    batched(apply(&refs), Some(0))
}

/// Broadcasts a tangent to the shape of the result.
pub(crate) fn fit(tangent: &Array, out: &Array) -> Array {
    if tangent.shape() == out.shape() {
        tangent.clone()
    } else {
        tangent.broadcast_to(out.shape())
    }
}
