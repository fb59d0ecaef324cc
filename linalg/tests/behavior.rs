//! Non-finite elements, derivatives of square roots, and messages of mistakes.

use num_complex::Complex64;
use ramie_core::linalg::QrMode;
use ramie_core::{Array, DType, grad, jacfwd, jit, jvp, vjp, vmap};
use ramie_linalg::{eig, eigvals, hessenberg, qr_pivoted, rsf2csf, schur, sqrtm};
use ramie_testing::{assert_panics, panic_message};

fn example() -> Array {
    Array::from([[4.0f64, 1.0, -2.0], [0.5, 3.0, 1.0], [1.0, -1.0, 5.0]])
}

fn all_nan(a: &Array) -> bool {
    a.is_nan().all().item::<bool>()
}

#[test]
fn matrices_that_are_not_finite_give_nan() {
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        // The first matrix of the batch is not finite, the second is.
        let a = Array::from([[[1.0, value], [0.0, 1.0]], [[1.0, 0.0], [0.0, 2.0]]]);
        let (w, v) = eig(&a);
        let (t, z) = schur(&a);
        let (h, q) = hessenberg(&a);
        let (csf, basis) = rsf2csf(&t, &z);
        for result in [w, v, t, z, h, q, csf, basis, sqrtm(&a), eigvals(&a)] {
            let parts = result.unstack(0);
            assert!(all_nan(&parts[0]), "{}", parts[0]);
            assert!(parts[1].is_finite().all().item::<bool>(), "{}", parts[1]);
        }
        let (_, _, p) = qr_pivoted(&a, QrMode::Reduced);
        assert_eq!(p.to_vec::<i32>(), [0, 1, 1, 0]);
    }
}

#[test]
fn integers_become_floats() {
    let (w, _) = eig(&Array::from([[2, 0], [0, 3]]));
    assert_eq!(w.dtype(), DType::C64);
    assert_eq!(w.real().to_vec::<f32>(), [2.0, 3.0]);
    assert_eq!(
        schur(&Array::from([[true, false], [false, true]]))
            .0
            .dtype(),
        DType::F32
    );
}

#[test]
fn empty_batches_have_no_elements() {
    let a = Array::zeros(&[0, 3, 3], DType::F32);
    assert_eq!(eigvals(&a).shape(), [0, 3]);
    assert_eq!(eig(&a).1.shape(), [0, 3, 3]);
    assert_eq!(schur(&a).0.shape(), [0, 3, 3]);
    assert_eq!(sqrtm(&a).dtype(), DType::C64);
    assert_eq!(qr_pivoted(&a, QrMode::Complete).2.shape(), [0, 3]);
    let slope = grad(|a: Array| eigvals(&a).abs().sum())(Array::zeros(&[0, 0], DType::F32));
    assert_eq!(slope.shape(), [0, 0]);
}

#[test]
fn square_roots_are_differentiated_by_a_sylvester_equation() {
    let (a, tangent) = (
        example(),
        Array::from([[1.0f64, 2.0, 0.0], [0.0, -1.0, 1.0], [3.0, 0.5, 1.0]]),
    );
    let f = |a: Array| sqrtm(&a);
    let (root, dot) =
        jit(move |a: Array, tangent: Array| jvp(f, a, tangent))(a.clone(), tangent.clone());
    let product = root.matmul(&dot) + dot.matmul(&root);
    let tangent = tangent.astype(DType::C128);
    assert!(
        product
            .allclose_with(&tangent, (1e-12, 1e-12))
            .item::<bool>()
    );
    // Reverse mode agrees with forward mode.
    let cotangent = Array::from_vec(
        (0..9)
            .map(|k| Complex64::new(f64::from(k) - 3.0, f64::from(k * k) * 0.1))
            .collect(),
        &[3, 3],
    );
    let pulled = vjp(f, a.clone()).1(cotangent.clone());
    let forward = (&dot * &cotangent).sum().real().item::<f64>();
    let backward = (pulled * tangent.real()).sum().item::<f64>();
    assert!((forward - backward).abs() < 1e-11, "{forward} {backward}");
    // Second order, and batches.
    let trace = |a: Array| ramie_core::linalg::trace(&sqrtm(&a).real(), 0);
    let hessian = jacfwd(grad(trace))(a.clone()).reshape(&[9, 9]);
    assert!(
        hessian
            .allclose_with(hessian.swap_axes(0, 1), (1e-10, 1e-10))
            .item::<bool>()
    );
    let both = ramie_core::stack(&[&a, &(&a * 2.0)], 0);
    let slopes = vmap(grad(trace))(both);
    let alone = grad(trace)(a);
    assert!(
        slopes.unstack(0)[0]
            .allclose_with(&alone, (1e-12, 1e-12))
            .item::<bool>()
    );
}

#[test]
fn eigenvectors_have_second_derivatives() {
    let f = |a: Array| {
        let (w, v) = eig(&a);
        (w.abs() * v.abs().sum_over(-2)).sum()
    };
    let second = jit(jacfwd(grad(f)))(example()).reshape(&[9, 9]);
    assert!(
        second
            .allclose_with(second.swap_axes(0, 1), (1e-9, 1e-9))
            .item::<bool>()
    );
}

#[test]
fn mistakes_are_explained() {
    let wide = Array::zeros(&[2, 3], DType::F32);
    assert_panics(|| eig(&wide), &["eig: expects square matrices", "[2, 3]"]);
    assert_panics(|| sqrtm(&wide), &["sqrtm: expects square matrices"]);
    assert_panics(
        || schur(&Array::from(1.0f32)),
        &["schur: expects matrices along"],
    );
    let narrow = Array::zeros(&[2, 2], DType::BF16);
    assert_panics(
        || eigvals(&narrow),
        &["eigvals: expects f32, f64, c64 or c128, got bf16[2,2]"],
    );
    let (t, z) = schur(&example());
    let z = z.astype(DType::F32);
    assert_panics(|| rsf2csf(&t, &z), &["rsf2csf: t and z must have the same"]);
    let message = panic_message(|| grad(|a: Array| schur(&a).0.sum())(example()));
    assert!(
        message.contains("schur: the derivative is not implemented"),
        "{message}"
    );
    let message = panic_message(|| grad(|a: Array| hessenberg(&a).0.sum())(example()));
    assert!(message.contains("hessenberg: the derivative"), "{message}");
    schur(&example().stop_gradient());
}
