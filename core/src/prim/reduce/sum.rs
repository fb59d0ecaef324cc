//! `reduce_sum`.

use super::{batched_axes, reduced_shape};
use crate::lower::{Lowering, Value, dims_array};
use crate::prim::elementwise::Class;
use crate::prim::{Avals, Batched, Differentiation, Param, Primitive, batched, one};
use crate::trace::bind1;
use crate::{Array, Aval, Dims, ShapeError};

/// The sum over axes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReduceSum {
    /// The summed axes, increasing.
    pub axes: Dims,
}

impl Primitive for ReduceSum {
    fn name(&self) -> &'static str {
        "reduce_sum"
    }
    fn params(&self) -> Vec<(&'static str, Param)> {
        vec![
            ("axes", Param::tuple(&self.axes)),
            ("out_sharding", Param::new("None")),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(
            Class::Number.contains(args[0].dtype()),
            "expects numbers, got {}; count truth values with x.astype(DType::I32)",
            args[0].dtype()
        );
        one(args[0].with_shape(&reduced_shape(args[0], &self.axes)?))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::linear(|ct, operand| {
            let kept: Dims = (0..operand.ndim())
                .filter(|d| !self.axes.contains(d))
                .collect();
            ct.broadcast_in_dim(operand.shape(), &kept)
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], _: usize) -> Batched {
        let (moved, out) = batched_axes(&self.axes, axes[0].expect("the operand is batched"));
        batched(bind1(ReduceSum { axes: moved }, &[&args[0]]), Some(out))
    }
    fn lower(
        &self,
        ctx: &mut Lowering<'_>,
        args: &[Value],
        ins: &[Aval],
        outs: &[Aval],
    ) -> Vec<Value> {
        let dtype = outs[0].dtype();
        let zero = ctx.scalar(0, dtype);
        let region = ctx.reducer("add", dtype);
        let attributes = format!("dimensions = {}", dims_array(&self.axes));
        ctx.op(
            "reduce",
            &[args[0], zero],
            &[ins[0], Aval::scalar(dtype)],
            outs,
            &attributes,
            &[region],
        )
    }
}

impl Array {
    /// The sum over the named axes, which disappear. The element type stays;
    /// truth values are counted in `i32`.
    ///
    /// # Panics
    /// If an axis is out of range or named twice.
    #[track_caller]
    pub fn sum_axes(&self, axes: &[isize]) -> Array {
        let mut axes = self.axes("sum", axes);
        if axes.is_empty() {
            return self.clone();
        }
        axes.sort_unstable();
        let x = if self.dtype() == crate::DType::Bool {
            self.astype(crate::DType::I32)
        } else {
            self.clone()
        };
        bind1(ReduceSum { axes }, &[&x])
    }
}
