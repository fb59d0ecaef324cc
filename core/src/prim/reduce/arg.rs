//! `argmax` and `argmin`.

use super::{batched_axes, highest, lowest, reduced_shape};
use crate::extend::ShardingRule;
use crate::prim::index::positions;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, batched, one,
};
use crate::program::class::Class;
use crate::program::lower::{Lowering, Value, dims_array};
use crate::program::trace::bind1;
use crate::{Array, Aval, DType, ShapeError};

macro_rules! arg_reductions {
    ($( $(#[$doc:meta])* $ty:ident $f:ident $direction:literal $identity:expr; )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $ty {
            /// Axis that is reduced.
            pub axis: usize,
            /// Dtype of the index.
            pub index_dtype: DType,
        }
        impl Primitive for $ty {
            fn name(&self) -> &'static str { stringify!($f) }
            fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
                vec![
                    ("axes", Param::tuple([self.axis])),
                    ("index_dtype", Param::new(self.index_dtype.numpy_name())),
                ]
            }
            fn facts(&self) -> Facts<'_> {
                Facts::strong()
            }
            fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
                infer(args[0], self.axis, self.index_dtype)
            }
            fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
                Ok(ShardingRule::without(args, outs, &[self.axis]))
            }
            fn differentiation(&self) -> Differentiation<'_> { Differentiation::Zero }
            fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
                let (axes, out) = batched_axes(&[self.axis], axes[0].expect("the operand is batched"));
                let moved = $ty { axis: axes[0], index_dtype: self.index_dtype };
                batched(bind1(moved, &[&args[0]]), Some(out))
            }
            fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
                // The compiler only reduces several arrays together if their elements are whole
                // bytes.
                let operand = ctx.convert(args[0], args[0].dtype().whole_bytes());
                let to = outs[0].with_dtype(outs[0].dtype().whole_bytes());
                let identity = ctx.scalar($identity(operand.dtype()), operand.dtype());
                let index = ctx.arg_reduce($direction, identity, operand, to, self.axis);
                vec![ctx.convert(index, outs[0].dtype())]
            }
        }
    )* };
}

arg_reductions! {
    /// Returns the index of the largest element along an axis, which is removed: the first one
    /// among equal elements, and the first NaN, if any.
    Argmax argmax "GT" lowest;
    /// Returns the index of the smallest element along an axis, which is removed: the first one
    /// among equal elements, and the first NaN, if any.
    Argmin argmin "LT" highest;
}

impl Array {
    /// Returns the array and the axis, or the flattened array and its only axis.
    #[track_caller]
    pub(crate) fn flattened_without(&self, axis: Option<isize>) -> (Array, isize) {
        match axis {
            Some(axis) => (self.clone(), axis),
            None => (self.ravel(), 0),
        }
    }
}

fn infer(operand: Aval, axis: usize, index_dtype: DType) -> Result<Avals, ShapeError> {
    Class::Ordered.check(operand.dtype())?;
    let shape = reduced_shape(operand, &[axis])?;
    if operand.shape()[axis] == 0 {
        return Err(
            ShapeError::new(format!("axis {axis} of {operand} has no elements"))
                .help("an empty axis has no extreme element; check the shape first"),
        );
    }
    crate::ensure_shape!(
        index_dtype.is_integer(),
        "the index dtype must be an integer dtype, got {index_dtype}"
    );
    let what = format!("the last position along axis {axis} is");
    positions::check_count(&what, operand.shape()[axis] - 1, index_dtype)?;
    one(Aval::new(&shape, index_dtype))
}

impl Lowering<'_> {
    /// Emits a reduction of pairs (value, index).
    fn arg_reduce(
        &mut self,
        direction: &str,
        identity: Value,
        operand: Value,
        to: Aval,
        axis: usize,
    ) -> Value {
        let (value, index) = (Aval::scalar(operand.dtype()), Aval::scalar(to.dtype()));
        let iota = self.iota(operand.aval().with_dtype(to.dtype()), axis);
        let zero = self.scalar(0, to.dtype());
        let region = self.region(&[value, index, value, index], |ctx, args| {
            let (a, i, b, j) = (args[0], args[1], args[2], args[3]);
            let mut better = ctx.compare(direction, [a, b]);
            let mut tied = ctx.compare("EQ", [a, b]);
            if operand.dtype().is_float() {
                // NaN beats every number, and is equal to NaN.
                let a_nan = ctx.compare("NE", [a, a]);
                let b_nan = ctx.compare("NE", [b, b]);
                let both = ctx.same("and", &[a_nan, b_nan]);
                let b_number = ctx.same("not", &[b_nan]);
                let wins = ctx.same("and", &[a_nan, b_number]);
                better = ctx.same("or", &[better, wins]);
                tied = ctx.same("or", &[tied, both]);
            }
            let earlier = ctx.compare("LT", [i, j]);
            let first = ctx.same("and", &[tied, earlier]);
            let take = ctx.same("or", &[better, first]);
            vec![ctx.select(take, a, b), ctx.select(take, i, j)]
        });
        let attributes = format!("dimensions = {}", dims_array(&[axis]));
        self.op(
            "reduce",
            &[operand, iota, identity, zero],
            &[to.with_dtype(operand.dtype()), to],
            &attributes,
            &[region],
        )[1]
    }
}
