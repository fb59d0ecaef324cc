//! Linear algebra: what decompositions give, of matrices of many shapes, put
//! together again.

use ramie_core::DType::{F32, F64};
use ramie_core::linalg::{self, QrMode, SvdMode};
use ramie_core::{Array, DType, jit, stack};
use ramie_testing::numbers::{Draw, to_f64};

/// Matrices of a shape.
fn drawn(shape: &[usize], dtype: DType) -> Array {
    Draw::new(shape.iter().sum::<usize>() as u64 + 5).array(shape, dtype, -1.0, 1.0)
}

fn transposed(x: &Array) -> Array {
    x.swap_axes(-2, -1)
}

/// The largest magnitude; NaN counts as infinite.
fn largest(x: &Array) -> f64 {
    to_f64(x).into_iter().fold(0.0, |m, v| {
        if v.is_nan() {
            f64::INFINITY
        } else {
            m.max(v.abs())
        }
    })
}

/// `x` is zero, up to `steps` roundings of numbers of size `scale`.
#[track_caller]
fn vanishes(label: &str, x: &Array, scale: f64, steps: f64) {
    let step = if x.dtype() == F64 {
        f64::EPSILON
    } else {
        f64::from(f32::EPSILON)
    };
    let rest = largest(x) / scale.max(f64::MIN_POSITIVE);
    assert!(
        rest <= steps * step,
        "{label}: off by {} roundings",
        rest / step
    );
}

/// The products of different columns and the lengths of columns less 1, which are zero if `x` has
/// orthonormal columns.
fn products(x: &Array) -> Array {
    let n = x.shape()[x.ndim() - 1];
    transposed(x).matmul(x) - Array::eye(n, x.dtype())
}

#[track_caller]
fn check_eigh(a: &Array, steps: f64) {
    let label = format!("eigh of {}", a.aval());
    let [rest, products, distances] = jit(|a: Array| {
        let (w, v) = linalg::eigh(&a);
        let rest = a.matmul(&v) - &v * w.expand_dims(&[-2]);
        [rest, products(&v), w.diff(-1)]
    })(a.clone());
    vanishes(&label, &rest, largest(a), steps);
    vanishes(&label, &products, 1.0, steps);
    assert!(
        to_f64(&distances).iter().all(|d| *d >= 0.0),
        "{label}: not sorted"
    );
}

#[track_caller]
fn check_svd(a: &Array, mode: SvdMode, steps: f64) {
    let label = format!("svd of {}, {mode:?}", a.aval());
    let program = jit(move |a: Array| {
        let svd = linalg::svd_with(&a, mode);
        let k = svd.s.shape()[svd.s.ndim() - 1];
        let u = svd.u.slice_in_dim(0, k, 1, -1);
        let vt = svd.vt.slice_in_dim(0, k, 1, -2);
        let again = (u * svd.s.expand_dims(&[-2])).matmul(vt);
        let products = [products(&svd.u), products(&transposed(&svd.vt))];
        let alone = linalg::svdvals(&a) - &svd.s;
        (again - a, products, alone, svd.s.diff(-1), svd.s)
    });
    let (rest, products, alone, distances, s) = program(a.clone());
    vanishes(&label, &rest, largest(a), steps);
    for products in products {
        vanishes(&label, &products, 1.0, steps);
    }
    assert!(
        to_f64(&distances).iter().all(|d| *d <= 0.0),
        "{label}: not sorted"
    );
    vanishes(&label, &alone, largest(&s), steps);
}

#[test]
fn eigenvectors_of_symmetric_matrices() {
    for dtype in [F32, F64] {
        for shape in [&[1, 1][..], &[2, 2], &[5, 5], &[2, 3, 4, 4], &[50, 50]] {
            let x = drawn(shape, dtype);
            check_eigh(&(&x + transposed(&x)), 60.0);
        }
        check_eigh(&Array::zeros(&[3, 3], dtype), 1.0);
        check_eigh(&Array::eye(4, dtype), 1.0);
        check_eigh(&Array::ones(&[6, 6], dtype), 20.0);
        let tiny = drawn(&[5, 5], dtype) * 1e-30;
        check_eigh(&(&tiny + transposed(&tiny)), 20.0);
        let huge = drawn(&[5, 5], dtype) * 1e30;
        check_eigh(&(&huge + transposed(&huge)), 20.0);
    }
}

#[test]
fn singular_values_of_any_matrices() {
    for dtype in [F32, F64] {
        let shapes = [&[1, 1][..], &[7, 3], &[3, 7], &[2, 3, 5, 4], &[60, 41]];
        for shape in shapes {
            let x = drawn(shape, dtype);
            check_svd(&x, SvdMode::Reduced, 60.0);
            if shape.len() == 2 {
                check_svd(&x, SvdMode::Full, 60.0);
            }
        }
        check_svd(&Array::zeros(&[4, 3], dtype), SvdMode::Full, 1.0);
        check_svd(&Array::ones(&[5, 5], dtype), SvdMode::Full, 20.0);
        check_svd(&Array::eye(5, dtype), SvdMode::Reduced, 4.0);
        // Of low rank, and graded.
        let (left, right) = (drawn(&[8, 2], dtype), drawn(&[2, 6], dtype));
        check_svd(&left.matmul(right), SvdMode::Full, 40.0);
        let graded = Array::iota(&[6], 0, dtype) * -3.0;
        check_svd(
            &(drawn(&[6, 6], dtype) * graded.exp()),
            SvdMode::Reduced,
            40.0,
        );
        check_svd(&(drawn(&[5, 5], dtype) * 1e-30), SvdMode::Reduced, 40.0);
        check_svd(&(drawn(&[5, 5], dtype) * 1e30), SvdMode::Reduced, 40.0);
    }
}

#[test]
fn factors_of_large_matrices() {
    for dtype in [F32, F64] {
        let wide = if dtype == F32 { [150, 140] } else { [140, 150] };
        for shape in [&wide[..], &[2, 30, 9]] {
            check_factors(&drawn(shape, dtype));
        }
        check_solutions(dtype);
    }
}

fn check_factors(a: &Array) {
    let (k, rows) = (a.shape()[a.ndim() - 1], a.shape()[a.ndim() - 2]);
    let (rest, order, lower, [pivots, permutation]) = jit(|a: Array| {
        let factors = linalg::lu(&a);
        let lower = factors.lower();
        let again = factors.permutation_matrix().matmul(&lower);
        let rest = again.matmul(factors.upper()) - a;
        let order = linalg::lu_pivots_to_permutation(&factors.pivots, rows);
        let indices = [factors.pivots, factors.permutation];
        (rest, order, lower, indices)
    })(a.clone());
    vanishes("lu", &rest, 1.0, 100.0);
    assert_eq!(pivots.shape().last(), Some(&k.min(rows)));
    assert_eq!(order.to_vec::<i32>(), permutation.to_vec::<i32>());
    assert!(largest(&lower) <= 1.0);
    for mode in [QrMode::Reduced, QrMode::Complete] {
        let [rest, products] = jit(|a: Array| {
            let (q, r) = linalg::qr_with(&a, mode);
            [q.matmul(&r) - a, products(&q)]
        })(a.clone());
        vanishes("qr", &rest, largest(a), 200.0);
        vanishes("qr", &products, 1.0, 100.0);
    }
}

fn check_solutions(dtype: DType) {
    let program = jit(|a: Array, b: Array| {
        let a = a + Array::eye(40, dtype) * 8;
        let solved = a.matmul(linalg::solve(&a, &b)) - b;
        let inverted = a.matmul(linalg::inv(&a)) - Array::eye(40, dtype);
        let a = a.matmul(transposed(&a));
        let l = linalg::cholesky(&a);
        (solved, inverted, l.matmul(transposed(&l)) - &a, a)
    });
    let (solved, inverted, rest, a) = program(drawn(&[40, 40], dtype), drawn(&[40, 3], dtype));
    vanishes("solve", &solved, 1.0, 100.0);
    vanishes("inv", &inverted, 1.0, 100.0);
    vanishes("cholesky", &rest, largest(&a), 100.0);
}

#[test]
fn elements_that_are_not_finite_give_nan() {
    for bad in [f32::NAN, f32::INFINITY] {
        let a = Array::from([1.0, bad, bad, 2.0, 2.0, 0.0, 0.0, 1.0]).reshape(&[2, 2, 2]);
        let nan = |x: &Array| {
            let x = x.index(0).is_nan();
            x.all().item::<bool>()
        };
        let (w, v) = linalg::eigh(&a);
        assert!(nan(&w) && nan(&v));
        assert_eq!(w.index(1).to_vec::<f32>(), [1.0, 2.0]);
        let svd = linalg::svd(&a);
        assert!(nan(&svd.u) && nan(&svd.s) && nan(&svd.vt));
        assert_eq!(svd.s.index(1).to_vec::<f32>(), [2.0, 1.0]);
    }
}

/// `jnp.polyfit` in `f64`, for two columns of values at once.
#[test]
fn polynomials_near_values() {
    let x = Array::from([-2.0, -1.0, 0.0, 1.0, 2.0, 5.0]);
    let coefficients = Array::from([[0.5, 1.0], [-2.0, 0.0], [3.0, -4.0]]);
    let y = stack(&[0, 1].map(|k| coefficients.index((.., k)).polyval(&x)), 1);
    let found = x.polyfit(&y, 2);
    assert_eq!(found.shape(), [3, 2]);
    let near = found.allclose_with(&coefficients, (1e-9, 1e-9));
    assert!(near.item::<bool>(), "{found}");
    let line = Array::from([0.0, 1.0, 2.0]).polyfit(&Array::from([1.0, 2.0, 4.0]), 1);
    let near = line.allclose_with(Array::from([1.5, 5.0 / 6.0]), (1e-9, 1e-9));
    assert!(near.item::<bool>(), "{line}");
}

#[test]
#[should_panic(expected = "polyfit: the values f32[2] do not fit the points f32[3]")]
fn values_for_some_of_the_points() {
    Array::from([0.0f32, 1.0, 2.0]).polyfit(&Array::from([1.0f32, 2.0]), 1);
}

#[test]
#[should_panic(expected = "polyfit: f32[0] has no points")]
fn no_polynomial_fits_no_points() {
    let none = Array::zeros(&[0], DType::F32);
    none.polyfit(&none, 1);
}
