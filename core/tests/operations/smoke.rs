//! The core end to end: eager operations, gradients, batching.
use ramie_core::*;

#[test]
fn eager_and_gradients() {
    let x = Array::from(vec![0.0f32, 1.0, 2.0]);
    let y = &(&x + 2.0).integer_pow(2) + 3.0;
    assert_eq!(y.to_vec::<f32>(), [7.0, 12.0, 19.0]);
    let f = |x: Array| (&x.sin() * &x).sum_over(0);
    let g = grad(f)(x.clone()).to_vec::<f32>();
    for (g, x) in g.iter().zip([0.0f32, 1.0, 2.0]) {
        assert!((g - (x.cos() * x + x.sin())).abs() < 1e-6);
    }
    let h = grad(|x: Array| (grad(f)(x)).sum_over(0))(x.clone()).to_vec::<f32>();
    for (h, x) in h.iter().zip([0.0f32, 1.0, 2.0]) {
        assert!((h - (2.0 * x.cos() - x * x.sin())).abs() < 1e-5);
    }
    let (v, dv) = jvp(|x: Array| x.exp(), x.clone(), x.ones_like());
    assert_eq!(v.to_vec::<f32>(), dv.to_vec::<f32>());
    let m = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
    assert_eq!(
        vmap(|a: Array| a.sum_over(0))(m.clone()).to_vec::<f32>(),
        [3.0, 7.0]
    );
    assert_eq!(
        vmap(grad(|a: Array| (&a * &a).sum_over(0)))(m).to_vec::<f32>(),
        [2.0, 4.0, 6.0, 8.0]
    );
    assert_eq!(x.erf_inv().to_vec::<f32>()[0], 0.0);
}
