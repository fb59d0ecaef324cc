//! `select_and_scatter`: scatters each window's value to an element that a program selects.

use super::SlidingWindow;
use crate::base::location;
use crate::extend::ShardingRule;
use crate::prim::reduce::computation::lower_in_whole_bytes;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Jaxprs, Nested, Param, Primitive, batched,
    move_batch_axis, one,
};
use crate::program::jaxpr::Jaxpr;
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::{Array, Aval, DType, ShapeError};
use std::sync::Arc;

/// For each window over the first operand, one program selects an element, and another combines
/// the window's element of the second operand with the result at that position. The result is
/// initialized with the third, 0-d operand.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SelectAndScatter {
    /// Program that returns whether the first of two elements is selected.
    pub select_jaxpr: Arc<Jaxpr>,
    /// Program that combines two values for the same element.
    pub scatter_jaxpr: Arc<Jaxpr>,
    /// Window to select from, without dilation.
    pub window: SlidingWindow,
}

impl Primitive for SelectAndScatter {
    fn name(&self) -> &'static str {
        "select_and_scatter"
    }
    fn nested(&self) -> Option<&dyn Nested> {
        Some(self)
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("padding", Param::padding(&self.window.padding)),
            ("scatter_consts", Param::new("()")),
            ("scatter_jaxpr", Param::Jaxpr(self.scatter_jaxpr.clone())),
            ("select_consts", Param::new("()")),
            ("select_jaxpr", Param::Jaxpr(self.select_jaxpr.clone())),
            ("window_dimensions", Param::tuple(&self.window.dimensions)),
            ("window_strides", Param::tuple(&self.window.strides)),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(
            args.len() == 3,
            "expects three operands, got {}",
            args.len()
        );
        let (operand, source, start) = (args[0], args[1], args[2]);
        self.window.check_plain()?;
        let windows = self.window.shape(operand)?;
        let element = Aval::scalar(operand.dtype());
        crate::ensure_shape!(
            source.strong() == operand.with_shape(&windows).strong() && start.strong() == element,
            "there are {windows:?} windows in {operand}: expected as many values of its dtype and \
             an initial value, got {source} and {start}"
        );
        let programs = [&self.select_jaxpr, &self.scatter_jaxpr];
        let results = [element.with_dtype(DType::Bool), element];
        for (program, result) in programs.into_iter().zip(results) {
            crate::ensure_shape!(
                program.in_avals().iter().all(|a| a.strong() == element)
                    && program.out_avals() == [result],
                "a program of {operand} must combine two {element} into {result}, got {program}"
            );
        }
        one(operand)
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Undefined {
            why: "it selects and combines by programs",
            help: "use reduce_window_max or reduce_window_min, which have derivatives",
        }
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        if axes[2].is_some() {
            location::fail(
                "select_and_scatter: the initial value differs between examples\n  help: use the \
                 combination's identity as initial value, and combine the result with your value",
            );
        }
        let operand = move_batch_axis(&args[0], axes[0], 0, axis);
        let source = move_batch_axis(&args[1], axes[1], 0, axis);
        let scatter = SelectAndScatter {
            window: self.window.batched(0),
            ..self.clone()
        };
        batched(bind1(scatter, &[&operand, &source, &args[2]]), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        if outs[0].ndim() == 0 {
            return ctx.inline(&self.scatter_jaxpr, &[args[2], args[1]]);
        }
        let attributes = self.window.plain_attributes();
        let jaxprs: [&Jaxpr; 2] = [&self.select_jaxpr, &self.scatter_jaxpr];
        lower_in_whole_bytes(ctx, self.name(), &jaxprs, args, outs, &attributes)
    }
}

impl Nested for SelectAndScatter {
    fn jaxprs(&self) -> Jaxprs<'_> {
        Jaxprs::from_slice(&[&self.scatter_jaxpr, &self.select_jaxpr])
    }
}
