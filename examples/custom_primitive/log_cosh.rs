//! A custom primitive with all its rules.

use ramie::core::extend::bind1;
use ramie::core::lower::{Lowering, Value};
use ramie::core::prim::{Avals, BatchAxis, Batched, Differentiation, Param, Primitive};
use ramie::extend::ShardingRule;
use ramie::{Array, Aval, ShapeError};

/// Elementwise `log(cosh(x))`. Composing the two functions overflows for `|x|` above about 89 in
/// `f32`, and so does the derivative.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LogCosh;

impl Primitive for LogCosh {
    fn name(&self) -> &'static str {
        "log_cosh"
    }

    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        Vec::new()
    }

    // The result has the same type as the operand.
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        if args[0].dtype().is_float() {
            Ok(Avals::from_iter([args[0]]))
        } else {
            Err(
                ShapeError::new(format!("takes floats, not {}", args[0].dtype()))
                    .help("convert the operand: x.astype(DType::F32)"),
            )
        }
    }

    // ANCHOR: rules
    // Maps the operand's tangent to the result's. Reverse mode transposes this rule, and second
    // derivatives differentiate it; no other rule is needed.
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::jvp(|args, tangents, _| {
            vec![tangents[0].as_ref().map(|t| t * args[0].tanh())]
        })
    }

    // The position of the batch axis does not matter.
    fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
        let out = bind1(LogCosh, &[&args[0]]);
        (vec![out].into(), vec![axes[0]].into())
    }
    // ANCHOR_END: rules

    // The sharding of the operand does not matter either.
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }

    // |x| + log(1 + exp(-2|x|)) - log(2): no intermediate value overflows.
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], _: &[Aval]) -> Vec<Value> {
        let aval = args[0].aval();
        let size = ctx.same("abs", args);
        let minus_two = ctx.splat(-2.0, aval);
        let exponent = ctx.same("multiply", &[size, minus_two]);
        let small = ctx.same("exponential", &[exponent]);
        let log = ctx.same("log_plus_one", &[small]);
        let sum = ctx.same("add", &[size, log]);
        let log_two = ctx.splat(std::f64::consts::LN_2, aval);
        vec![ctx.same("subtract", &[sum, log_two])]
    }
}

/// Computes `log(cosh(x))` of each element: about `x² / 2` near 0, and `|x| - log(2)` far from 0.
///
/// # Panics
/// Panics if the elements are not floats.
#[track_caller]
pub fn log_cosh(x: &Array) -> Array {
    bind1(LogCosh, &[x])
}
