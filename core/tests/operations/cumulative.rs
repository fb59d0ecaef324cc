//! Running reductions: scans, and derivatives.

use ramie_core::lax::{associative_scan, associative_scan_with};
use ramie_core::options::AssociativeScanOptions;
use ramie_core::prim::cumulative::CUMULATIVE;
use ramie_core::{Array, DType, grad, jit};
use ramie_testing::case::Case;
use ramie_testing::check::{self, Failures};
use ramie_testing::numbers::{Draw, close};

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
fn scans_combine_several_arrays() {
    // Linear recurrences y = a·y' + b compose associatively.
    let mut draw = Draw::new(5);
    let a = draw.array(&[6, 2], DType::F64, 0.5, 1.5);
    let b = draw.array(&[6, 2], DType::F64, -1.0, 1.0);
    let compose = |f: &[Array], g: &[Array]| vec![&f[0] * &g[0], &(&f[1] * &g[0]) + &g[1]];
    let scanned = associative_scan(compose, &[a.clone(), b.clone()]);
    let (a, b) = (a.to_vec::<f64>(), b.to_vec::<f64>());
    let mut want = vec![0.0; 12];
    for i in 0..6 {
        for j in 0..2 {
            let before = if i > 0 { want[2 * (i - 1) + j] } else { 0.0 };
            want[2 * i + j] = a[2 * i + j] * before + b[2 * i + j];
        }
    }
    close(
        &scanned[1],
        &Array::from_slice(&want, &[6, 2]),
        1e-12,
        1e-12,
        false,
    )
    .unwrap();
    let long = Array::arange(1000).astype(DType::F64);
    let add = |a: &[Array], b: &[Array]| vec![&a[0] + &b[0]];
    let reverse = AssociativeScanOptions {
        reverse: true,
        ..Default::default()
    };
    let sums = jit(move |x: Array| associative_scan_with(add, &[x], reverse))(long.clone());
    close(&sums[0], &long.cumsum_reversed(0), 0.0, 0.0, false).unwrap();
}

#[test]
fn truth_values_are_counted() {
    let x = Array::from([true, false, true]);
    assert_eq!(x.cumsum(0).to_vec::<i32>(), [1, 1, 2]);
}
