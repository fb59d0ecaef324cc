//! Window reductions by one operator, as a table with a row per primitive.

use super::{Select, SelectAndGatherAdd, SlidingWindow, ones};
use crate::dtypes::Scalar;
use crate::extend::ShardingRule;
use crate::prim::conv::{dilated, lhs_cotangent_padding};
use crate::prim::reduce::{highest, lowest};
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, batched, one,
};
use crate::program::class::Class;
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, DType, ShapeError};

/// An entry of the table of window reductions, for tests and documentation.
pub struct ReduceWindowRow {
    /// Struct that implements the primitive.
    pub ty: &'static str,
    /// Name in a jaxpr.
    pub name: &'static str,
    /// Supported dtypes.
    pub class: Class,
    /// Function that reduces each window.
    pub apply: fn(&Array, &SlidingWindow) -> Array,
}

macro_rules! differentiation {
    ($self:ident, linear) => {
        Differentiation::linear(|ct, operand| sum_cotangent(&$self.window, ct, operand))
    };
    ($self:ident, $select:expr) => {
        Differentiation::jvp(|primals, tangents, _| {
            let window = || $self.window.clone();
            let chosen = |t: &Array| {
                let choice = SelectAndGatherAdd {
                    select: $select,
                    window: window(),
                };
                bind1(choice, &[t, &primals[0]])
            };
            vec![tangents[0].as_ref().map(chosen)]
        })
    };
}

/// Computes the cotangent of the operand of a sum: each element gets the sum of the cotangents of
/// the windows that contain it.
fn sum_cotangent(window: &SlidingWindow, ct: &Array, operand: Aval) -> Array {
    let rank = operand.ndim();
    let config: Vec<(isize, isize, usize)> = (0..rank)
        .map(|d| {
            let (low, high) = lhs_cotangent_padding(
                dilated(operand.shape()[d], window.base_dilation[d]),
                dilated(window.dimensions[d], window.window_dilation[d]),
                dilated(ct.shape()[d], window.strides[d]),
                window.padding[d],
            );
            (low, high, window.strides[d] - 1)
        })
        .collect();
    let padded = ct.lax_pad(&config, Array::scalar(0, ct.dtype()));
    let window = SlidingWindow {
        dimensions: window.dimensions.clone(),
        strides: window.base_dilation.clone(),
        padding: (0..rank).map(|_| (0, 0)).collect(),
        base_dilation: ones(rank),
        window_dilation: window.window_dilation.clone(),
    };
    bind1(ReduceWindowSum { window }, &[&padded])
}

macro_rules! reduce_windows {
    ($( $(#[$doc:meta])* $ty:ident $f:ident $hlo:literal $class:ident $identity:expr,
        {$($diff:tt)+}; )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $ty {
            /// Window to reduce.
            pub window: SlidingWindow,
        }
        impl Primitive for $ty {
            fn name(&self) -> &'static str { stringify!($f) }
            fn facts(&self) -> Facts<'_> {
                Facts { checks: Class::$class.checks(), ..Facts::default() }
            }
            fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
                self.window.params(Vec::new(), Vec::new())
            }
            fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
                Class::$class.check(args[0].dtype())?;
                let shape: Dims = self.window.shape(args[0])?;
                one(args[0].with_shape(&shape))
            }
            fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
                Ok(ShardingRule::Elementwise)
            }
            fn differentiation(&self) -> Differentiation<'_> { differentiation!(self, $($diff)+) }
            fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
                let at = axes[0].expect("the operand is batched");
                let window = self.window.batched(at);
                batched(bind1($ty { window }, &[&args[0]]), Some(at))
            }
            fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
                if outs[0].ndim() == 0 {
                    return args.to_vec();
                }
                let identity: fn(DType) -> Scalar = $identity;
                let dtype = outs[0].dtype();
                let identity = ctx.scalar(identity(dtype), dtype);
                let region = ctx.reducer($hlo, dtype);
                ctx.op("reduce_window", &[args[0], identity], outs, &self.window.attributes(), &[region])
            }
        } )*
        /// Table of window reductions.
        pub const REDUCE_WINDOW: &[ReduceWindowRow] = &[$( ReduceWindowRow {
            ty: stringify!($ty), name: stringify!($f), class: Class::$class,
            apply: |x, window| bind1($ty { window: window.clone() }, &[x]),
        } ),*];
    };
}

reduce_windows! {
    /// Computes the sum of each window.
    ReduceWindowSum reduce_window_sum "add" Number |_| Scalar::Int(0), {linear};
    /// Computes the maximum of each window. NaN propagates.
    ReduceWindowMax reduce_window_max "maximum" Any lowest, {Select::Ge};
    /// Computes the minimum of each window. NaN propagates.
    ReduceWindowMin reduce_window_min "minimum" Any highest, {Select::Le};
}
