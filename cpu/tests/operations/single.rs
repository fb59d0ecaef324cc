//! The accuracy of functions of single precision.

use crate::apply;
use ramie_cpu::ElementType::F32;

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

#[test]
fn functions_are_rounded_to_the_nearest_number() {
    type Exact = fn(f64) -> f64;
    let functions: [(&str, Exact); 7] = [
        ("stablehlo.exponential", f64::exp),
        ("stablehlo.exponential_minus_one", f64::exp_m1),
        ("stablehlo.log", f64::ln),
        ("stablehlo.log_plus_one", f64::ln_1p),
        ("stablehlo.tanh", f64::tanh),
        ("stablehlo.logistic", |x| 1.0 / (1.0 + (-x).exp())),
        ("stablehlo.rsqrt", |x| 1.0 / x.sqrt()),
    ];
    let x = floats();
    for (name, exact) in functions {
        let got: Vec<f32> = apply(name, F32, F32, &[&x]);
        for (x, y) in x.iter().zip(got) {
            let exact = exact(f64::from(*x));
            let rounded = exact as f32;
            let (y, is_equal) = (f64::from(y), y.to_bits() == rounded.to_bits());
            let right = is_equal
                || (y.is_nan() && exact.is_nan())
                || (y - exact).abs() <= 0.501 * ulp(exact);
            assert!(right, "{name}({x:e}) is {y:e}, not {exact:e}");
        }
    }
}
