//! Reductions by one operator, as a table with a row per primitive.

use super::{batched_axes, highest, lowest, reduced_shape};
use crate::dtypes::Scalar;
use crate::extend::ShardingRule;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, batched, one,
};
use crate::program::class::Class;
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::sharding::OutSharding;
use crate::typing::Dims;
use crate::{Array, Aval, DType, ShapeError};

/// An entry of the table of reductions, for tests and documentation.
pub struct ReduceRow {
    /// Struct that implements the primitive.
    pub ty: &'static str,
    /// Name in a jaxpr.
    pub name: &'static str,
    /// Supported dtypes.
    pub class: Class,
    /// Function that reduces over the given axes.
    pub apply: fn(&Array, &[isize]) -> Array,
}

/// Returns the axes that a reduction over `axes` keeps.
fn kept(rank: usize, axes: &[usize]) -> Dims {
    (0..rank).filter(|d| !axes.contains(d)).collect()
}

/// Broadcasts a reduction's result along the reduced axes again.
fn broadcast_back(reduced: &Array, operand: Aval, axes: &[usize]) -> Array {
    let sharding = OutSharding::of(operand);
    reduced.repeated(operand.shape(), &kept(operand.ndim(), axes), sharding)
}

/// Computes the tangent of a maximum or minimum: that of the chosen element, or the mean if
/// several are equal.
fn chosen(g: &Array, x: &Array, out: &Array, axes: &[usize]) -> Array {
    let sum = |x: &Array| {
        let axes = axes.into();
        bind1(ReduceSum { axes }, &[x])
    };
    let here = x.eq(broadcast_back(out, x.aval(), axes)).astype(g.dtype());
    sum(&(g * &here)).lax_div(sum(&here))
}

macro_rules! differentiation {
    ($self:ident, zero) => {
        Differentiation::Zero
    };
    ($self:ident, linear) => {
        Differentiation::linear(|ct, operand| broadcast_back(ct, operand, &$self.axes))
    };
    ($self:ident, |$g:ident, $x:ident, $y:ident, $axes:ident| $rule:expr) => {
        Differentiation::jvp(|primals, tangents, outs| {
            let ($x, $y, $axes) = (&primals[0], &outs[0], &$self.axes[..]);
            let _ = $y;
            vec![tangents[0].as_ref().map(|$g| $rule)]
        })
    };
}

macro_rules! reductions {
    ($( $(#[$doc:meta])* $ty:ident $f:ident $hlo:literal $class:ident $identity:expr,
        [$($param:expr)?] {$($diff:tt)+}; )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $ty {
            /// Axes that are reduced, in increasing order.
            pub axes: Dims,
        }
        impl Primitive for $ty {
            fn name(&self) -> &'static str { stringify!($f) }
            fn facts(&self) -> Facts<'_> {
                Facts { checks: Class::$class.checks(), ..Facts::default() }
            }
            fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
                vec![("axes", Param::tuple(&self.axes)) $(, $param)?]
            }
            fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
                Class::$class.check(args[0].dtype())?;
                one(args[0].with_shape(&reduced_shape(args[0], &self.axes)?))
            }
            fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
                Ok(ShardingRule::without(args, outs, &self.axes))
            }
            fn differentiation(&self) -> Differentiation<'_> { differentiation!(self, $($diff)+) }
            fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
                let (axes, out) = batched_axes(&self.axes, axes[0].expect("the operand is batched"));
                batched(bind1($ty { axes }, &[&args[0]]), Some(out))
            }
            fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
                let identity: fn(DType) -> Scalar = $identity;
                let operand = args[0];
                let identity = ctx.scalar(identity(operand.dtype()), operand.dtype());
                vec![ctx.reduce($hlo, operand, identity, &self.axes)]
            }
        }
        impl Array {
            $(#[$doc])*
            ///
            /// The axes are removed; the dtype is unchanged. Without axes, returns the array
            /// itself.
            ///
            /// # Panics
            /// Panics if an axis is out of range or occurs twice, or if the dtype is not
            /// supported.
            #[track_caller]
            pub fn $f(&self, axes: &[isize]) -> Array {
                let mut axes = self.axes(stringify!($f), axes);
                if axes.is_empty() {
                    return self.clone();
                }
                axes.sort_unstable();
                bind1($ty { axes }, &[self])
            }
        } )*
        /// Table of reductions.
        pub const REDUCE: &[ReduceRow] = &[$( ReduceRow {
            ty: stringify!($ty), name: stringify!($f), class: Class::$class, apply: Array::$f,
        } ),*];
    };
}

reductions! {
    /// Computes the sum over axes.
    ReduceSum reduce_sum "add" Number |_| Scalar::Int(0),
        [("out_sharding", Param::new("None"))] {linear};
    /// Computes the product over axes.
    ReduceProd reduce_prod "multiply" Number |_| Scalar::Int(1),
        [] {|g, x, y, axes| super::product::tangent(g, x, axes)};
    /// Computes the maximum over axes. NaN propagates.
    ReduceMax reduce_max "maximum" Any lowest,
        [("out_sharding", Param::new("None"))] {|g, x, y, axes| chosen(g, x, y, axes)};
    /// Computes the minimum over axes. NaN propagates.
    ReduceMin reduce_min "minimum" Any highest,
        [("out_sharding", Param::new("None"))] {|g, x, y, axes| chosen(g, x, y, axes)};
    /// Computes the bitwise and over axes; for booleans, whether all are true.
    ReduceAnd reduce_and "and" Bits |_| Scalar::Int(-1),
        [] {zero};
    /// Computes the bitwise or over axes; for booleans, whether any is true.
    ReduceOr reduce_or "or" Bits |_| Scalar::Int(0),
        [] {zero};
    /// Computes the bitwise exclusive or over axes.
    ReduceXor reduce_xor "xor" Bits |_| Scalar::Int(0),
        [] {zero};
}
