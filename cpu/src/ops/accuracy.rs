//! The accuracy that a program requests of a function.

use crate::ElementType::{self, Bf16, F16, F32, F64};
use crate::Result;
use crate::graph::Source;
use crate::text::Attribute;

/// Returns the largest error of a function of real numbers, in units in the last place.
fn error_of(name: &str, element: ElementType) -> f64 {
    match name {
        // The C library's functions of double precision. Narrower types round results of a wider
        // type.
        "stablehlo.cbrt" if element == F64 => 4.0,
        "stablehlo.logistic" if element == F64 => 3.0,
        "stablehlo.tanh" if element == F64 => 2.0,
        _ => 1.0,
    }
}

/// Returns an upper bound of the magnitude of a function's results, if there is one.
fn largest(name: &str) -> Option<f64> {
    let bounded = [
        "stablehlo.sine",
        "stablehlo.cosine",
        "stablehlo.tanh",
        "stablehlo.logistic",
    ];
    bounded.contains(&name).then_some(1.0)
}

/// Checks that the only implementation of a function has the requested accuracy.
///
/// # Errors
/// Returns an error if the attribute is unknown, or if the tolerance is too small.
pub fn check(source: &Source<'_>, element: ElementType) -> Result<()> {
    if source.attribute("result_accuracy").is_none() {
        return Ok(());
    }
    let fields = source.fields("result_accuracy")?;
    match fields.get("mode") {
        Some(Attribute::Word(mode)) if mode == "DEFAULT" || mode == "HIGHEST" => return Ok(()),
        Some(Attribute::Word(mode)) if mode == "TOLERANCE" => {}
        _ => return Err(source.error("result_accuracy must have a mode")),
    }
    let number = |name: &str| match fields.get(name) {
        None => Ok(0.0),
        Some(Attribute::Float(value)) => Ok(*value),
        Some(Attribute::Integer(value)) => Ok(*value as f64),
        Some(_) => Err(source.error(format!("result_accuracy: {name} must be a number"))),
    };
    let (atol, rtol, ulps) = (number("atol")?, number("rtol")?, number("ulps")?);
    let epsilon = match element {
        F64 => f64::EPSILON,
        F32 => f64::from(f32::EPSILON),
        F16 => f64::from(half::f16::EPSILON),
        Bf16 => f64::from(half::bf16::EPSILON),
        other => {
            return Err(source.error(format!(
                "result_accuracy: the errors of {other} are unknown; request the mode HIGHEST"
            )));
        }
    };
    let name = source.syntax.name.as_str();
    let error = error_of(name, element);
    let absolute = largest(name).is_some_and(|bound| atol >= error * epsilon * bound);
    source.check(
        ulps >= error || rtol >= error * epsilon || absolute,
        format_args!(
            "result_accuracy: the tolerance (atol {atol:e}, rtol {rtol:e}, {ulps} ulps) is too small \
             for {element}: the error is up to {error} ulps, or {:e} of the result",
            error * epsilon
        ),
    )
}
