//! The accuracy of functions of single precision.

use crate::apply;
use ramie_cpu::ElementType::{F32, F64};

/// Returns floats of all magnitudes and both signs, with special ones.
fn floats() -> Vec<f32> {
    let spread = (0..400_000u32).map(|i| f32::from_bits(i.wrapping_mul(2_654_435_761)));
    let near = (-100_000..100_000).map(|i| i as f32 * 1e-3);
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::MIN,
        1e-45,
        -1e-45,
        88.722_84,
        -103.97,
    ];
    spread.chain(near).chain(special).collect()
}

/// Returns the distance of neighboring numbers at `x`.
fn ulp(x: f64) -> f64 {
    let exponent = x.abs().max(f64::from(f32::MIN_POSITIVE)).log2().floor();
    f64::exp2(exponent - 23.0)
}

/// Checks a function of single precision against exact results.
fn check(name: &str, x: &[f32], exact: impl IntoIterator<Item = f64>) {
    let got: Vec<f32> = apply(name, F32, F32, &[x]);
    for ((x, y), exact) in x.iter().zip(got).zip(exact) {
        let is_equal = y.to_bits() == (exact as f32).to_bits();
        let y = f64::from(y);
        // The sign of a zero must be right.
        let right = is_equal
            || (y.is_nan() && exact.is_nan())
            || (exact != 0.0 && (y - exact).abs() <= 0.501 * ulp(exact));
        assert!(right, "{name}({x:e}) is {y:e}, not {exact:e}");
    }
}

/// Returns the error function, which is 1 from the same magnitude on as in XLA, where it rounds to one unit below 1.
fn erf(x: f64) -> f64 {
    if x.abs() >= f64::from(3.832_507f32) {
        x.signum()
    } else {
        libm::erf(x)
    }
}

#[test]
fn error_function_is_one_from_where_it_is_in_xla() {
    let from = f32::to_bits(3.8)..f32::to_bits(4.0);
    let x: Vec<f32> = from.map(f32::from_bits).flat_map(|x| [x, -x]).collect();
    check("chlo.erf", &x, x.iter().map(|x| erf(f64::from(*x))));
}

#[test]
fn functions_are_rounded_to_the_nearest_number() {
    type Exact = fn(f64) -> f64;
    let functions: [(&str, Exact); 11] = [
        ("stablehlo.exponential", f64::exp),
        ("stablehlo.exponential_minus_one", f64::exp_m1),
        ("stablehlo.log", f64::ln),
        ("stablehlo.log_plus_one", f64::ln_1p),
        ("stablehlo.tanh", f64::tanh),
        ("stablehlo.logistic", |x| 1.0 / (1.0 + (-x).exp())),
        ("stablehlo.rsqrt", |x| 1.0 / x.sqrt()),
        ("stablehlo.sine", f64::sin),
        ("stablehlo.cosine", f64::cos),
        ("chlo.erf", erf),
        ("chlo.erfc", libm::erfc),
    ];
    let x = floats();
    for (name, exact) in functions {
        check(name, &x, x.iter().map(|x| exact(f64::from(*x))));
    }
}

#[test]
fn inverse_error_function_is_rounded_to_the_nearest_number() {
    let near_one = (1..100_000).map(|i| 1.0 - (i as f32 * 1e-5).powi(4));
    let x: Vec<f32> = floats().into_iter().chain(near_one).collect();
    let wide: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
    let exact: Vec<f64> = apply("chlo.erf_inv", F64, F64, &[&wide]);
    check("chlo.erf_inv", &x, exact);
}
