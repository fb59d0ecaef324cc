//! `select_and_scatter_add`: adds each window's value to its selected element.

use super::{Select, SelectAndGatherAdd, SlidingWindow};
use crate::dtypes::Scalar;
use crate::extend::ShardingRule;
use crate::prim::conv::Pads;
use crate::prim::shape::Pad;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Param, Primitive, batched, move_batch_axis, one,
};
use crate::program::class::Class;
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, ShapeError};

/// Finds the maximum or minimum of each window over the second operand, and adds the window's
/// element of the first operand to the result at that position, which starts as zeros: the
/// cotangent of the selected element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SelectAndScatterAdd {
    /// Element that is selected.
    pub select: Select,
    /// Window to select from, without dilation.
    pub window: SlidingWindow,
}

impl SelectAndScatterAdd {
    /// Emits `value` padded by the window's padding (`outwards`), or with that padding removed.
    fn padded(&self, ctx: &mut Lowering<'_>, value: Value, outwards: bool) -> Value {
        let (sign, filling) = if outwards {
            (1, self.select.last(value.dtype()))
        } else {
            (-1, Scalar::Int(0))
        };
        let padding = &self.window.padding;
        if padding.iter().all(|&p| p == (0, 0)) {
            return value;
        }
        let around = padding.iter().map(|p| (sign * p.0, sign * p.1));
        let pad = Pad {
            padding_config: around.clone().map(|p| (p.0, p.1, 0)).collect(),
        };
        let sizes = value.shape().iter().zip(around);
        let sizes: Dims = sizes
            .map(|(&n, (low, high))| (n as isize + low + high) as usize)
            .collect();
        let filling = ctx.scalar(filling, value.dtype());
        let to = value.aval().with_shape(&sizes);
        pad.lower(ctx, &[value, filling], &[to])[0]
    }
}

impl Primitive for SelectAndScatterAdd {
    fn name(&self) -> &'static str {
        "select_and_scatter_add"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("padding", Param::padding(&self.window.padding)),
            ("select_prim", Param::new(self.select.name())),
            ("window_dimensions", Param::tuple(&self.window.dimensions)),
            ("window_strides", Param::tuple(&self.window.strides)),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(
            args.len() == 2 && args[0].dtype() == args[1].dtype(),
            "expects two operands of the same dtype"
        );
        let (source, operand) = (args[0], args[1]);
        Class::Real.check(operand.dtype())?;
        self.window.check_plain()?;
        let windows = self.window.shape(operand)?;
        crate::ensure_shape!(
            source.shape() == &windows[..],
            "there are {windows:?} windows in {operand}, but the first operand is {source}"
        );
        one(operand)
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
                let gather = |(ct, x): (&Array, &Array)| {
                    let gather = SelectAndGatherAdd {
                        select: self.select,
                        window: self.window.clone(),
                    };
                    bind1(gather, &[ct, x])
                };
                vec![back.map(gather), None]
            },
        )
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let source = move_batch_axis(&args[0], axes[0], 0, axis);
        let operand = move_batch_axis(&args[1], axes[1], 0, axis);
        let scatter = SelectAndScatterAdd {
            select: self.select,
            window: self.window.batched(0),
        };
        batched(bind1(scatter, &[&source, &operand]), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let dtype = outs[0].dtype();
        if args[0].aval().size() == 0 {
            return vec![ctx.splat(0, outs[0])];
        }
        if outs[0].ndim() == 0 {
            return vec![args[0]];
        }
        let scalar = Aval::scalar(dtype);
        // XLA's compilers for CPU and GPU crashed on the operation's own padding, so the operand
        // is padded first.
        let operand = self.padded(ctx, args[1], true);
        let zero = ctx.scalar(0, dtype);
        let select = ctx.region(&[scalar; 2], |ctx, a| {
            vec![ctx.compare(self.select.direction(), [a[0], a[1]])]
        });
        let scatter = ctx.reducer("add", dtype);
        let window = SlidingWindow {
            padding: Pads::from_elem((0, 0), operand.ndim()),
            ..self.window.clone()
        };
        let scattered = ctx.op(
            "select_and_scatter",
            &[operand, args[0], zero],
            &[operand.aval()],
            &window.plain_attributes(),
            &[select, scatter],
        )[0];
        vec![self.padded(ctx, scattered, false)]
    }
}
