//! `erf` against twice the precision.

use ramie_core::Array;

/// Numbers of all magnitudes and both signs, and a dense range around zero.
fn numbers() -> Vec<f32> {
    let dense = (-60_000..=60_000).map(|i| i as f32 / 600.0);
    let magnitudes = (0..=u32::from(u16::MAX)).map(|high| f32::from_bits(high << 16));
    let near_one = (0..2000).flat_map(|i| [1.0 - i as f32 * 1e-6, -1.0 + i as f32 * 1e-6]);
    dense.chain(magnitudes).chain(near_one).collect()
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
