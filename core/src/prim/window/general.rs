//! `reduce_window`: a reduction of windows by a custom program.

use super::SlidingWindow;
use crate::extend::ShardingRule;
use crate::prim::reduce::check_operands;
use crate::prim::reduce::computation::{
    batched_reduction, combine, lower_in_whole_bytes, repeated, tangents,
};
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Jaxprs, Nested, Param, Primitive,
};
use crate::program::checks::Errors;
use crate::program::jaxpr::Jaxpr;
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind;
use crate::typing::Dims;
use crate::{Array, Aval, ShapeError};
use std::sync::Arc;

/// Combines the elements of each window by a program; several arrays are reduced together. The
/// operands are the arrays, followed by one initial value for each array, which also fills the
/// padding and must be the program's identity.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReduceWindow {
    /// Program that combines two elements of each array, without captured values.
    pub jaxpr: Arc<Jaxpr>,
    /// Window to reduce.
    pub window: SlidingWindow,
}

impl ReduceWindow {
    /// Computes the same reduction with differentiable operations: one axis after another, for
    /// elements at the same offset of all windows at once.
    fn by_offset(&self, args: &[Array]) -> Vec<Array> {
        let (arrays, starts) = args.split_at(args.len() / 2);
        let w = &self.window;
        let rank = w.dimensions.len();
        let config: Vec<(isize, isize, usize)> = (0..rank)
            .map(|d| (w.padding[d].0, w.padding[d].1, w.base_dilation[d] - 1))
            .collect();
        let shape = w
            .shape(arrays[0].aval())
            .expect("the window fits the array");
        let mut arrays: Vec<Array> = arrays
            .iter()
            .zip(starts)
            .map(|(x, start)| x.lax_pad(&config, start))
            .collect();
        let starts: Vec<Array> = starts.iter().map(|s| repeated(s, &shape)).collect();
        if shape.contains(&0) {
            return starts;
        }
        for d in 0..rank {
            let at = |index: usize| -> Vec<Array> {
                let from = index * w.window_dilation[d];
                let to = from + (shape[d] - 1) * w.strides[d] + 1;
                let part = |x: &Array| x.slice_in_dim(from, to, w.strides[d], d as isize);
                arrays.iter().map(part).collect()
            };
            let first = at(0);
            arrays = (1..w.dimensions[d])
                .fold(first, |all, index| combine(&self.jaxpr, &all, &at(index)));
        }
        combine(&self.jaxpr, &starts, &arrays)
    }
}

impl Primitive for ReduceWindow {
    fn name(&self) -> &'static str {
        "reduce_window"
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            checks: Errors::NAN,
            ..Facts::default()
        }
    }
    fn nested(&self) -> Option<&dyn Nested> {
        Some(self)
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        let program = vec![
            ("consts", Param::new("()")),
            ("jaxpr", Param::Jaxpr(self.jaxpr.clone())),
        ];
        self.window.params(program, Vec::new())
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        check_operands(&self.jaxpr, args)?;
        let shape: Dims = self.window.shape(args[0])?;
        let arrays = args[..args.len() / 2].iter();
        Ok(arrays.map(|a| a.with_shape(&shape)).collect())
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::jvp(|p, t, _| tangents(|args| self.by_offset(args), p, t))
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        batched_reduction(&self.jaxpr, args, axes, axis.size, |jaxpr, args| {
            let window = self.window.batched(0);
            bind(ReduceWindow { jaxpr, window }, args)
        })
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        if outs[0].ndim() == 0 {
            let (arrays, starts) = args.split_at(outs.len());
            return ctx.inline(&self.jaxpr, &[starts, arrays].concat());
        }
        let attributes = self.window.attributes();
        let jaxprs: [&Jaxpr; 1] = [&self.jaxpr];
        lower_in_whole_bytes(ctx, self.name(), &jaxprs, args, outs, &attributes)
    }
}

impl Nested for ReduceWindow {
    fn jaxprs(&self) -> Jaxprs<'_> {
        Jaxprs::from_slice(&[&self.jaxpr])
    }
}
