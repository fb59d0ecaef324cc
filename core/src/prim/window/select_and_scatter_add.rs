//! `select_and_scatter_add`: each window's value goes to its chosen element.

use super::{Select, SelectAndGatherAdd, SlidingWindow};
use crate::lower::{Lowering, Value, i64_array};
use crate::prim::elementwise::Class;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Param, Primitive, batched, move_batch_axis, one,
};
use crate::trace::bind1;
use crate::{Array, Aval, DType, Dims, ShapeError, ShardingRule};

/// For each place of a window over the second operand, finds the largest or
/// smallest element, and adds that place's element of the first operand to a
/// result that starts as zeros: the cotangent of the chosen element.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SelectAndScatterAdd {
    /// Which element is chosen.
    pub select: Select,
    /// The window, without dilation.
    pub window: SlidingWindow,
}

impl SelectAndScatterAdd {
    /// `value` padded as the window says (`outwards`), or the reverse.
    fn padded(
        &self,
        ctx: &mut Lowering<'_>,
        value: Value,
        from: Aval,
        to: Aval,
        outwards: bool,
    ) -> Value {
        if from == to {
            return value;
        }
        let sign = if outwards { 1 } else { -1 };
        let padding = || self.window.padding.iter();
        let attributes = format!(
            "edge_padding_low = {}, edge_padding_high = {}, interior_padding = {}",
            i64_array(padding().map(|p| sign * p.0 as i64)),
            i64_array(padding().map(|p| sign * p.1 as i64)),
            i64_array(padding().map(|_| 0))
        );
        let dtype = from.dtype();
        let filling = match outwards {
            true => ctx.scalar(self.select.last(dtype), dtype),
            false => ctx.scalar(0, dtype),
        };
        let types = [from, Aval::scalar(dtype)];
        ctx.op1("pad", &[value, filling], &types, to, &attributes)
    }
}

impl Primitive for SelectAndScatterAdd {
    fn name(&self) -> &'static str {
        "select_and_scatter_add"
    }
    fn params(&self) -> Vec<(&'static str, Param)> {
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
            "expects two operands of one type"
        );
        let (source, operand) = (args[0], args[1]);
        Class::Number.check(operand.dtype())?;
        self.window.check_plain()?;
        let places = self.window.shape(operand)?;
        crate::ensure_shape!(
            source.shape() == &places[..],
            "the window takes {places:?} places in {operand}, the first operand is {source}"
        );
        one(operand)
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        // The choice jumps: there is no derivative in the second operand.
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
    fn lower(
        &self,
        ctx: &mut Lowering<'_>,
        args: &[Value],
        ins: &[Aval],
        outs: &[Aval],
    ) -> Vec<Value> {
        let dtype = outs[0].dtype();
        if ins[0].size() == 0 {
            return vec![ctx.splat(0, outs[0])];
        }
        if outs[0].ndim() == 0 {
            return vec![args[0]];
        }
        let scalar = Aval::scalar(dtype);
        // The operation's own padding crashed XLA's compilers for CPU and GPU:
        // the operand is padded before.
        let sizes = outs[0].shape().iter().zip(&self.window.padding);
        let sizes: Dims = sizes
            .map(|(&n, (low, high))| (n as isize + low + high) as usize)
            .collect();
        let aval = outs[0].with_shape(&sizes);
        let operand = self.padded(ctx, args[1], outs[0], aval, true);
        if self.window.by_arrays(ctx) {
            let (operand, source) = ((operand, aval), (args[0], ins[0]));
            let window = &self.window;
            return vec![window.scatter_by_arrays(ctx, self.select, operand, source, outs[0])];
        }
        let zero = ctx.scalar(0, dtype);
        let select = ctx.region(&[scalar; 2], |ctx, a| {
            let first = ctx.compare(self.select.direction(), [a[0], a[1]], scalar);
            vec![(first, scalar.with_dtype(DType::Bool))]
        });
        let scatter = ctx.reducer("add", dtype);
        let window = SlidingWindow {
            padding: sizes.iter().map(|_| (0, 0)).collect(),
            ..self.window.clone()
        };
        let scattered = ctx.op(
            "select_and_scatter",
            &[operand, args[0], zero],
            &[aval, ins[0], scalar],
            &[aval],
            &window.plain_attributes(),
            &[select, scatter],
        )[0];
        vec![self.padded(ctx, scattered, aval, outs[0], false)]
    }
}
