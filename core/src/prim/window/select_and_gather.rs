//! `select_and_gather_add`: gathers an element for the selected element of each window.

use super::{Select, SelectAndScatterAdd, SlidingWindow};
use crate::base::location;
use crate::extend::ShardingRule;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Param, Primitive, batched, move_batch_axis, one,
};
use crate::program::class::Class;
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, ShapeError};

/// Finds the maximum or minimum of each window over the second operand, and returns the element
/// of the first operand at its position: the tangent of the selected element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SelectAndGatherAdd {
    /// Element that is selected.
    pub select: Select,
    /// Window to select from.
    pub window: SlidingWindow,
}

impl SelectAndGatherAdd {
    /// Computes the cotangent of the first operand.
    fn transpose(&self, ct: &Array, operand: &Array) -> Array {
        let window = &self.window;
        if window.window_dilation.iter().any(|&d| d != 1) {
            location::fail(
                "select_and_gather_add: the largest or smallest element of a dilated window has no \
                 reverse derivative\n  help: use a window without window_dilation, or jvp",
            );
        }
        let config: Vec<(isize, isize, usize)> = window
            .base_dilation
            .iter()
            .map(|&d| (0, 0, d - 1))
            .collect();
        let last = Array::scalar(self.select.last(operand.dtype()), operand.dtype());
        let scatter = SelectAndScatterAdd {
            select: self.select,
            window: SlidingWindow::plain(
                window.dimensions.clone(),
                window.strides.clone(),
                window.padding.clone(),
            ),
        };
        let scattered = bind1(scatter, &[ct, &operand.lax_pad(&config, last)]);
        let start = Dims::from_elem(0, operand.ndim());
        scattered.slice_with(&start, scattered.shape(), &window.base_dilation)
    }
}

impl Primitive for SelectAndGatherAdd {
    fn name(&self) -> &'static str {
        "select_and_gather_add"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        let select = vec![("select_prim", Param::new(self.select.name()))];
        self.window.params(Vec::new(), select)
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(
            args.len() == 2 && args[0].strong() == args[1].strong(),
            "expects two operands of the same dtype and shape"
        );
        Class::Float.check(args[0].dtype())?;
        one(args[0].with_shape(&self.window.shape(args[1])?))
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        // The selection is not continuous: there is no derivative with respect to the second
        // operand.
        Differentiation::bilinear(
            |p, t, _| {
                let again = |t: &Array| bind1(self.clone(), &[t, &p[1]]);
                vec![t[0].as_ref().map(again)]
            },
            |cts, operands| {
                let back = cts[0].as_ref().zip(operands[1].known());
                vec![back.map(|(ct, x)| self.transpose(ct, x)), None]
            },
        )
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let tangents = move_batch_axis(&args[0], axes[0], 0, axis);
        let operand = move_batch_axis(&args[1], axes[1], 0, axis);
        let choice = SelectAndGatherAdd {
            select: self.select,
            window: self.window.batched(0),
        };
        batched(bind1(choice, &[&tangents, &operand]), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        if outs[0].ndim() == 0 {
            return vec![args[0]];
        }
        let dtype = outs[0].dtype();
        let scalar = Aval::scalar(dtype);
        let last = ctx.scalar(self.select.last(dtype), dtype);
        let zero = ctx.scalar(0, dtype);
        let region = ctx.region(&[scalar; 4], |ctx, a| {
            let first = ctx.compare(self.select.direction(), [a[0], a[2]]);
            [0, 1].map(|i| ctx.select(first, a[i], a[i + 2])).to_vec()
        });
        let results = ctx.op(
            "reduce_window",
            &[args[1], args[0], last, zero],
            &[outs[0], outs[0]],
            &self.window.attributes(),
            &[region],
        );
        vec![results[1]]
    }
}
