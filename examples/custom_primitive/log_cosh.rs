//! A custom primitive with all its rules.

use ramie::core::bind1;
use ramie::core::lower::{Lowering, Value};
use ramie::core::prim::{Avals, BatchAxis, Batched, Differentiation, Param, Primitive};
use ramie::{Array, Aval, ShapeError, ShardingRule};

/// `log(cosh(x))`, element by element. Composed of the two functions it overflows
/// from about 89 on (`f32`), and so does its derivative.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LogCosh;

impl Primitive for LogCosh {
    fn name(&self) -> &'static str {
        "log_cosh"
    }

    fn params(&self) -> Vec<(&'static str, Param)> {
        Vec::new()
    }

    // The result has the type of the operand.
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        match args[0].dtype().is_float() {
            true => Ok(Avals::from_iter([args[0]])),
            false => Err(
                ShapeError::new(format!("takes floats, not {}", args[0].dtype()))
                    .help("convert the operand: x.astype(DType::F32)"),
            ),
        }
    }

    // ANCHOR: rules
    // The tangent of the result for that of the operand. Reverse mode transposes
    // it, and second derivatives differentiate it: nothing more is needed.
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::jvp(|args, tangents, _| {
            vec![tangents[0].as_ref().map(|t| t * args[0].tanh())]
        })
    }

    // Where the axis of examples is does not matter.
    fn batch(&self, args: &[Array], axes: &[Option<usize>], _: BatchAxis) -> Batched {
        let out = bind1(LogCosh, &[&args[0]]);
        (vec![out].into(), vec![axes[0]].into())
    }
    // ANCHOR_END: rules

    // Nor how the operand is cut over devices.
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }

    // |x| + log(1 + exp(-2|x|)) - log(2): nothing becomes larger than the result.
    fn lower(
        &self,
        ctx: &mut Lowering<'_>,
        args: &[Value],
        ins: &[Aval],
        _: &[Aval],
    ) -> Vec<Value> {
        let aval = ins[0];
        let size = ctx.same("abs", args, aval);
        let minus_two = ctx.splat(-2.0, aval);
        let exponent = ctx.same("multiply", &[size, minus_two], aval);
        let small = ctx.same("exponential", &[exponent], aval);
        let log = ctx.same("log_plus_one", &[small], aval);
        let sum = ctx.same("add", &[size, log], aval);
        let log_two = ctx.splat(std::f64::consts::LN_2, aval);
        vec![ctx.same("subtract", &[sum, log_two], aval)]
    }
}

/// `log(cosh(x))`: about `x² / 2` near 0, and `|x|` less a constant far from it.
///
/// # Panics
/// If the elements are no floats.
#[track_caller]
pub fn log_cosh(x: &Array) -> Array {
    bind1(LogCosh, &[x])
}
