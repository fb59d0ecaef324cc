//! Functions that are written otherwise on CPUs, against the standard library's in
//! twice the precision.

use ramie_core::Array;

/// Numbers of all magnitudes and both signs, and a dense range around zero.
fn numbers() -> Vec<f32> {
    let dense = (-60_000..=60_000).map(|i| i as f32 / 600.0);
    let magnitudes = (0..=u32::from(u16::MAX)).map(|high| f32::from_bits(high << 16));
    let near_one = (0..2000).flat_map(|i| [1.0 - i as f32 * 1e-6, -1.0 + i as f32 * 1e-6]);
    dense.chain(magnitudes).chain(near_one).collect()
}

/// The largest error in units of the last place, and where it is.
fn check(name: &str, f: fn(&Array) -> Array, exact: fn(f64) -> f64, limit: f64) {
    let xs = numbers();
    let ys = f(&Array::from(xs.clone())).to_vec::<f32>();
    let mut worst = (0.0, 0.0);
    for (&x, &y) in xs.iter().zip(&ys) {
        let wanted = exact(f64::from(x));
        let rounded = wanted as f32;
        // Operands below the least normal number may count as zero.
        if x != 0.0 && x.is_subnormal() {
            assert!(y == 0.0 || y == x, "{name}({x:e}) = {y:e}");
            continue;
        }
        if !rounded.is_finite() || rounded == 0.0 {
            assert!(
                y.to_bits() == rounded.to_bits() || y.is_nan() && rounded.is_nan(),
                "{name}({x:e}) = {y:e}, not {rounded:e}"
            );
            continue;
        }
        let unit = f64::from(rounded.abs().next_up()) - f64::from(rounded.abs());
        let error = (f64::from(y) - wanted).abs() / unit;
        assert!(error.is_finite(), "{name}({x:e}) = {y:e}, not {rounded:e}");
        if error > worst.0 {
            worst = (error, x);
        }
    }
    assert!(
        worst.0 <= limit,
        "{name}: {} units at {:e}",
        worst.0,
        worst.1
    );
}

#[test]
fn expm1_is_exact_to_two_units() {
    check("expm1", Array::expm1, f64::exp_m1, 2.0);
}

#[test]
fn erf_is_one_where_it_rounds_to_one() {
    let xs = numbers();
    let wanted = Array::from(xs.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>()).erf();
    let ys = Array::from(xs.clone()).erf().to_vec::<f32>();
    for ((&x, &y), &wanted) in xs.iter().zip(&ys).zip(&wanted.to_vec::<f64>()) {
        if x.is_nan() {
            assert!(y.is_nan());
            continue;
        }
        assert!(y.abs() <= 1.0, "erf({x:e}) = {y:e}");
        assert!(x.abs() < 4.0 || y == x.signum(), "erf({x:e}) = {y:e}");
        let unit = f64::from(wanted as f32)
            .abs()
            .max(f64::from(f32::MIN_POSITIVE));
        let error = (f64::from(y) - wanted).abs() / unit;
        assert!(
            error < 4e-7 || x.abs() < 1.2e-38,
            "erf({x:e}) = {y:e}, not {wanted:e}"
        );
    }
}

#[test]
fn log1p_is_exact_to_two_units() {
    check("log1p", Array::log1p, f64::ln_1p, 2.0);
}
