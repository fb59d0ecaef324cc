//! Linear systems that functions solve, beside `linalg::solve`.

use ramie_core::lax::custom_linear_solve;
use ramie_core::linalg::{self, Iteration};
use ramie_core::typing::{LinearFn, TransposeSolve};
use ramie_core::{Array, DType, grad, jit, jvp, vmap_with};
use ramie_testing::panic_message;

fn near(got: &Array, want: &Array, tolerance: f64) {
    assert_eq!(got.aval(), want.aval());
    let near = got.allclose_with(want, (tolerance, tolerance));
    assert!(near.item::<bool>(), "{got} is not {want}");
}

fn matrix() -> Array {
    Array::from([[4.0f64, 1.0, -0.5], [0.5, 3.0, 1.0], [1.0, 0.0, 5.0]])
}

/// A system that is solved by a decomposition of the captured matrix.
fn solved(a: Array, b: Array) -> Array {
    let solve = |_: LinearFn<'_, Array>, b: Array| linalg::solve(&a, &b);
    let transposed = |_: LinearFn<'_, Array>, c: Array| linalg::solve(&a.t(), &c);
    let by = TransposeSolve::By(&transposed);
    custom_linear_solve(|x: Array| a.dot(&x), b, solve, by)
}

fn reference(a: Array, b: Array) -> Array {
    linalg::solve(&a, &b)
}

fn loss(x: Array) -> Array {
    (x.sin() * Array::from([1.0f64, -2.0, 0.5])).sum()
}

#[test]
fn values_and_derivatives_are_those_of_the_solution() {
    let (a, b) = (matrix(), Array::from([1.0f64, -2.0, 3.0]));
    near(
        &solved(a.clone(), b.clone()),
        &reference(a.clone(), b.clone()),
        1e-12,
    );
    let at = (a.clone(), b.clone());
    let got = jit(grad(|(a, b): (Array, Array)| loss(solved(a, b))))(at.clone());
    let want = grad(|(a, b): (Array, Array)| loss(reference(a, b)))(at);
    near(&got.0, &want.0, 1e-10);
    near(&got.1, &want.1, 1e-10);
    let tangents = (a.sin(), b.cos());
    let at = (a.clone(), b.clone());
    let push = |f: fn(Array, Array) -> Array| {
        let tangents = (tangents.0.clone(), tangents.1.clone());
        jvp(
            |(a, b): (Array, Array)| f(a, b),
            (at.0.clone(), at.1.clone()),
            tangents,
        )
        .1
    };
    near(&push(solved), &push(reference), 1e-10);
    // Second order: the gradient of a directional derivative.
    let second = |f: fn(Array, Array) -> Array| {
        let slope = move |a: Array, b: Array| {
            let direction = a.cos();
            jvp(move |a: Array| loss(f(a, b)), a, direction).1
        };
        grad(slope)(matrix(), Array::from([1.0f64, -2.0, 3.0]))
    };
    near(&second(solved), &second(reference), 1e-9);
}

#[test]
fn batches_are_loops() {
    let a = linalg::multi_dot(&[matrix(), matrix()]);
    let many = Array::from([[1.0f64, -2.0, 3.0], [0.0, 1.0, 0.5]]);
    let several =
        a.expand_dims(&[0]) + Array::eye(3, DType::F64) * many.index((.., 1)).reshape(&[2, 1, 1]);
    for (axes, a) in [([None, Some(0)], a), ([Some(0), Some(0)], several)] {
        let got = vmap_with(solved, axes)(a.clone(), many.clone());
        let want = vmap_with(reference, axes)(a.clone(), many.clone());
        near(&got, &want, 1e-12);
        let slopes = |f: fn(Array, Array) -> Array| {
            let many = many.clone();
            grad(move |a: Array| vmap_with(f, axes)(a, many.clone()).sin().sum())(a.clone())
        };
        near(&slopes(solved), &slopes(reference), 1e-10);
    }
}

#[test]
fn conjugate_gradients_of_trees() {
    // The matrix is a sum of a diagonal and of a product of a vector with itself.
    let apply = |v: Array, (x, y): (Array, Array)| {
        let along = (&x * &v).sum() + &y;
        (&x * 3.0 + &v * &along, y * 2.0 + along)
    };
    let v = Array::from([1.0f64, -1.0]);
    let b = || (Array::from([1.0f64, 2.0]), Array::from(-1.0f64));
    let options = || Iteration {
        tol: 1e-12,
        ..Iteration::default()
    };
    let solve = move |v: Array| linalg::cg_with(|x| apply(v.clone(), x), b(), |r| r, options());
    let x = solve(v.clone());
    let (top, bottom) = apply(v.clone(), x);
    near(&top, &b().0, 1e-9);
    near(&bottom, &b().1, 1e-9);
    // By differences.
    let loss = move |v: Array| {
        let (x, y) = solve(v);
        x.square().sum() + y
    };
    let slope = jit(grad(loss))(v.clone()).to_vec::<f64>();
    for i in 0..2 {
        let step = Array::iota(&[2], 0, DType::I32).eq(i).astype(DType::F64) * 1e-5;
        let rise = loss(&v + &step) - loss(&v - step);
        let expected = rise.item::<f64>() / 2e-5;
        assert!(
            (slope[i as usize] - expected).abs() < 1e-6,
            "{slope:?}, {expected}"
        );
    }
}

#[test]
fn iterations_stop_where_each_example_is_done() {
    let a = Array::from([[4.0f64, 1.0], [1.0, 3.0]]);
    let sides = Array::from([[0.0f64, 0.0], [1.0, 2.0], [1e6, -3.0]]);
    let f = |b: Array| linalg::cg(|x: Array| a.dot(&x), b);
    let got = ramie_core::vmap(f)(sides.clone());
    near(&a.dot(got.t()).t(), &sides, 1e-5);
    assert_eq!(got.index(0).to_vec::<f64>(), [0.0, 0.0]);
    let few = Iteration {
        max_iterations: Some(1),
        ..Iteration::default()
    };
    let one = linalg::cg_with(|x: Array| a.dot(&x), sides.index(1), |r| r, few);
    assert!(!one.allclose(got.index(1)).item::<bool>());
}

#[test]
fn stabilized_biconjugate_gradients_of_any_matrix() {
    let (a, b) = (matrix(), Array::from([1.0f64, -2.0, 3.0]));
    let iterate = |a: Array, b: Array| {
        let options = Iteration {
            tol: 1e-12,
            ..Iteration::default()
        };
        let diagonal = a.diagonal(0);
        let scaled = move |r: Array| r / &diagonal;
        linalg::bicgstab_with(|x: Array| a.dot(&x), b, scaled, options)
    };
    near(
        &iterate(a.clone(), b.clone()),
        &reference(a.clone(), b.clone()),
        1e-9,
    );
    let at = (a.clone(), b.clone());
    let got = grad(move |(a, b): (Array, Array)| loss(iterate(a, b)))(at.clone());
    let want = grad(|(a, b): (Array, Array)| loss(reference(a, b)))(at);
    near(&got.0, &want.0, 1e-8);
    near(&got.1, &want.1, 1e-8);
    let exact = linalg::bicgstab(|x: Array| x, b.clone());
    near(&exact, &b, 1e-12);
}

#[test]
#[should_panic(expected = "specify how the transposed system is solved")]
fn reverse_mode_without_a_transpose() {
    let a = matrix();
    grad(|b: Array| {
        let solve = |_: LinearFn<'_, Array>, b: Array| linalg::solve(&a, &b);
        custom_linear_solve(|x: Array| a.dot(&x), b, solve, TransposeSolve::None).sum()
    })(Array::ones(&[3], DType::F64));
}

#[test]
#[should_panic(expected = "custom_linear_solve: matvec returns a tree that differs from b")]
fn matrices_that_are_not_square() {
    linalg::cg(|x: Array| x.index((0..1,)), Array::ones(&[3], DType::F64));
}

#[test]
fn iterations_refuse_integers() {
    let b = || Array::from([1, 2]);
    for message in [
        panic_message(|| linalg::cg(|x: Array| x, b())),
        panic_message(|| linalg::bicgstab(|x: Array| x, b())),
        panic_message(|| linalg::gmres(|x: Array| x, b())),
    ] {
        assert!(
            message.contains("b must contain floats or complex numbers, but a leaf is i32[2]"),
            "{message}"
        );
    }
}
