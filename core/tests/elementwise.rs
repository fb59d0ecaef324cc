//! Elementwise operators: types of operands, and where derivatives stop.

use ramie_core::{Array, DType, grad};

#[test]
fn powers_keep_the_base_s_type() {
    let base = Array::from([2i32, -3, 0, 0, -1, 7]);
    let exponent = Array::from([10i32, 3, 0, 2, 65, 1]);
    assert_eq!(
        base.power(&exponent).to_vec::<i32>(),
        [1024, -27, 1, 0, -1, 7]
    );
    let x = Array::from([2.0f32, 3.0]);
    assert_eq!(x.power(Array::from([3i32])).to_vec::<f32>(), [8.0, 27.0]);
    assert_eq!(x.power(Array::from([[1u8], [2]])).shape(), [2, 2]);
    // The derivative of x⁰ at 0 is 0, of x¹ is 1.
    let n = Array::from([0i32, 1, 2]);
    let g = grad(move |x: Array| x.power(&n).sum())(Array::zeros(&[3], DType::F32));
    assert_eq!(g.to_vec::<f32>(), [0.0, 1.0, 0.0]);
}

#[test]
fn weak_scalars_keep_their_digits_until_they_meet_a_type() {
    let x = Array::from([1.0f64]);
    assert_eq!((&x * 0.1).to_vec::<f64>(), [0.1]);
    let n = Array::from([1i64]);
    assert_eq!((&n + 5_000_000_000i64).to_vec::<i64>(), [5_000_000_001]);
}

#[test]
fn gradients_stop() {
    let g = grad(|x: Array| (&x * &x.stop_gradient()).sum())(Array::from([3.0f32]));
    assert_eq!(g.to_vec::<f32>(), [3.0]);
    let second = |x: Array| x.lgamma().sum();
    let twice = grad(move |x: Array| grad(second)(x).sum())(Array::from([1.0f32]));
    assert!((twice.item::<f32>() - 1.644_934).abs() < 1e-4);
}
