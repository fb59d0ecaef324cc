//! Linear algebra: what decompositions give, of matrices of many shapes, put
//! together again.

use ramie_core::DType::{F32, F64};
use ramie_core::linalg::{self, QrMode};
use ramie_core::{Array, DType, disable_most_optimizations, jit, stack};
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

/// `x` has orthonormal columns.
#[track_caller]
fn orthonormal(label: &str, x: &Array, steps: f64) {
    let n = x.shape()[x.ndim() - 1];
    vanishes(
        label,
        &(transposed(x).matmul(x) - Array::eye(n, x.dtype())),
        1.0,
        steps,
    );
}

#[track_caller]
fn check_eigh(a: &Array, steps: f64) {
    disable_most_optimizations(|| {
        let label = format!("eigh of {}", a.aval());
        let parts = jit(|a: Array| linalg::eigh(&a))(a.clone());
        let (w, v) = parts;
        let rest = a.matmul(&v) - &v * w.expand_dims(&[-2]);
        vanishes(&label, &rest, largest(a), steps);
        orthonormal(&label, &v, steps);
        let n = w.shape()[w.ndim() - 1];
        if n > 1 {
            let steps = w.slice_in_dim(1, n, 1, -1) - w.slice_in_dim(0, n - 1, 1, -1);
            assert!(steps.ge(0).all().item::<bool>(), "{label}: not sorted");
        }
    });
}

#[track_caller]
fn check_svd(a: &Array, full_matrices: bool, steps: f64) {
    disable_most_optimizations(|| {
        let label = format!("svd of {}, full {full_matrices}", a.aval());
        let svd = jit(move |a: Array| linalg::svd(&a, full_matrices))(a.clone());
        let k = svd.s.shape()[svd.s.ndim() - 1];
        let u = svd.u.slice_in_dim(0, k, 1, -1);
        let vt = svd.vt.slice_in_dim(0, k, 1, -2);
        let again = (u * svd.s.expand_dims(&[-2])).matmul(vt);
        vanishes(&label, &(again - a), largest(a), steps);
        orthonormal(&label, &svd.u, steps);
        orthonormal(&label, &transposed(&svd.vt), steps);
        if k > 1 {
            let steps = svd.s.slice_in_dim(0, k - 1, 1, -1) - svd.s.slice_in_dim(1, k, 1, -1);
            assert!(steps.ge(0).all().item::<bool>(), "{label}: not sorted");
        }
        let alone = linalg::svdvals(a);
        vanishes(&label, &(alone - &svd.s), largest(&svd.s), steps);
    });
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
            check_svd(&x, false, 60.0);
            if shape.len() == 2 {
                check_svd(&x, true, 60.0);
            }
        }
        check_svd(&Array::zeros(&[4, 3], dtype), true, 1.0);
        check_svd(&Array::ones(&[5, 5], dtype), true, 20.0);
        check_svd(&Array::eye(5, dtype), false, 4.0);
        // Of low rank, and graded.
        let (left, right) = (drawn(&[8, 2], dtype), drawn(&[2, 6], dtype));
        check_svd(&left.matmul(right), true, 40.0);
        let graded = Array::iota(&[6], 0, dtype) * -3.0;
        check_svd(&(drawn(&[6, 6], dtype) * graded.exp()), false, 40.0);
        check_svd(&(drawn(&[5, 5], dtype) * 1e-30), false, 40.0);
        check_svd(&(drawn(&[5, 5], dtype) * 1e30), false, 40.0);
    }
}

#[test]
fn factors_of_large_matrices() {
    disable_most_optimizations(|| {
        for dtype in [F32, F64] {
            let wide = if dtype == F32 { [150, 140] } else { [140, 150] };
            for shape in [&wide[..], &[2, 30, 9]] {
                let a = drawn(shape, dtype);
                let factors = jit(|a: Array| linalg::lu(&a))(a.clone());
                let again = factors
                    .permutation_matrix()
                    .matmul(factors.lower())
                    .matmul(factors.upper());
                vanishes("lu", &(again - &a), 1.0, 100.0);
                let k = shape[shape.len() - 1].min(shape[shape.len() - 2]);
                assert_eq!(factors.pivots.shape().last(), Some(&k));
                let order =
                    linalg::lu_pivots_to_permutation(&factors.pivots, shape[shape.len() - 2]);
                assert_eq!(order.to_vec::<i32>(), factors.permutation.to_vec::<i32>());
                assert!(factors.lower().abs().le(1).all().item::<bool>());
                for mode in [QrMode::Reduced, QrMode::Complete] {
                    let (q, r) = linalg::qr(&a, mode);
                    vanishes("qr", &(q.matmul(&r) - &a), largest(&a), 200.0);
                    orthonormal("qr", &q, 100.0);
                }
            }
            let a = drawn(&[40, 40], dtype) + Array::eye(40, dtype) * 8;
            let b = drawn(&[40, 3], dtype);
            vanishes("solve", &(a.matmul(linalg::solve(&a, &b)) - b), 1.0, 100.0);
            vanishes(
                "inv",
                &(a.matmul(linalg::inv(&a)) - Array::eye(40, dtype)),
                1.0,
                100.0,
            );
            let a = a.matmul(transposed(&a));
            let l = linalg::cholesky(&a);
            vanishes(
                "cholesky",
                &(l.matmul(transposed(&l)) - &a),
                largest(&a),
                100.0,
            );
        }
    });
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
        let svd = linalg::svd(&a, true);
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
