//! `random_gamma`: samples of gamma distributions, differentiable with respect to their
//! parameter.

use crate::extend::ShardingRule;
use crate::functions::random::{KeyLayout, gamma_sample, gamma_slope};
use crate::prim::random::key_impl::KeyImpl;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, batched, move_batch_axis,
    one,
};
use crate::program::lower::{Lowering, Value};
use crate::program::sharding_rule::DimensionRule;
use crate::program::trace::bind1;
use crate::{Array, Aval, DType, ShapeError};

/// Draws samples of gamma distributions with scale 1. The operands are key data of shape
/// `[…keys, words]` and the parameters of shape `[…keys, …shape]`; each element is drawn with its
/// own key, derived from its operand key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RandomGamma {
    /// Whether to return the logarithms of the samples, which do not underflow for small
    /// parameters.
    pub log_space: bool,
    /// Layout of the keys' counters.
    pub layout: KeyLayout,
    /// Generator of the keys.
    pub generator: KeyImpl,
}

impl Primitive for RandomGamma {
    fn name(&self) -> &'static str {
        "random_gamma"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![("log_space", Param::flag(self.log_space))]
    }
    fn facts(&self) -> Facts<'_> {
        Facts::strong()
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 2, "expects keys and parameters");
        let (keys, a) = (args[0], args[1]);
        let words = self.generator.words();
        let axes = match keys.shape().split_last() {
            Some((&last, axes)) if last == words && keys.dtype() == DType::U32 => axes,
            _ => {
                return Err(ShapeError::new(format!(
                    "expects key data u32[...,{words}], got {keys}"
                ))
                .help("create keys with `random::key`"));
            }
        };
        crate::ensure_shape!(
            a.dtype().is_float() && !a.dtype().is_narrow(),
            "expects parameters of a floating-point type, got {a}"
        );
        crate::ensure_shape!(
            a.shape().starts_with(axes),
            "parameters {a} do not start with the axes {axes:?} of the keys"
        );
        one(a.strong())
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        let rules = |a: &Aval| (0..a.ndim()).map(DimensionRule::Axis).collect::<Vec<_>>();
        let mut keys = rules(&args[0]);
        keys.pop();
        keys.push(DimensionRule::Whole);
        Ok(ShardingRule::Dimensions {
            operands: vec![keys, rules(&args[1])],
            results: vec![rules(&outs[0])],
        })
    }
    fn differentiation(&self) -> Differentiation<'_> {
        // Implicit differentiation: the derivative of a sample with respect to the parameter at a
        // fixed value of the cumulative distribution function.
        Differentiation::jvp(|p, t, outs| {
            let slope = |t: &Array| t * &gamma_slope(&p[1], &outs[0], self.log_space);
            vec![t[1].as_ref().map(slope)]
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let keys = move_batch_axis(&args[0], axes[0], 0, axis);
        let a = move_batch_axis(&args[1], axes[1], 0, axis);
        batched(bind1(self.clone(), &[&keys, &a]), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        ctx.traced("random_gamma", args, |args| {
            vec![gamma_sample(self, &args[0], &args[1])]
        })
    }
}
