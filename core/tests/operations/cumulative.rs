//! Running reductions: scans, and derivatives.

use ramie_core::prim::cumulative::CUMULATIVE;
use ramie_core::{Array, DType, grad};
use ramie_testing::case::Case;
use ramie_testing::check::{self, Failures};
use ramie_testing::numbers::Draw;

#[test]
fn derivatives_agree_with_differences() {
    let mut cases = Vec::new();
    for row in CUMULATIVE {
        for (shape, axis) in [(&[5][..], 0), (&[2, 7], 1), (&[4, 2], 0), (&[1], 0)] {
            for reverse in [false, true] {
                let x = Draw::new(3).array(shape, DType::F64, -1.5, 2.0);
                let f = move |xs: &[Array]| vec![(row.apply)(&xs[0], axis, reverse)];
                let detail = format!("{shape:?}, reverse {reverse}");
                cases.push(Case::new(row.name, &detail, vec![x], Box::new(f)).smooth());
            }
        }
    }
    let mut failures = Failures::default();
    check::cases(&cases, &mut failures);
    failures.finish();
}

#[test]
fn cumlogsumexp_is_the_running_logsumexp() {
    let x = Array::from([f32::NEG_INFINITY, 1.0, 700.0, 700.0]);
    let y = x.cumlogsumexp(0).to_vec::<f32>();
    assert_eq!(y[..3], [f32::NEG_INFINITY, 1.0, 700.0]);
    assert!((y[3] - (700.0 + 2.0f32.ln())).abs() < 1e-4);
    let z = x.cumlogsumexp_reversed(0).to_vec::<f32>();
    assert!((z[0] - y[3]).abs() < 1e-4);
}

#[test]
fn zeros_do_not_spoil_the_derivative_of_products() {
    let x = Array::from([2.0f32, 0.0, 3.0]);
    let g = grad(|x: Array| x.prod())(x.clone());
    assert_eq!(g.to_vec::<f32>(), [0.0, 6.0, 0.0]);
    let g = grad(|x: Array| x.cumprod(0).sum())(x);
    assert_eq!(g.to_vec::<f32>(), [1.0, 8.0, 0.0]);
}

#[test]
fn truth_values_are_counted() {
    let x = Array::from([true, false, true]);
    assert_eq!(x.cumsum(0).to_vec::<i32>(), [1, 1, 2]);
}
