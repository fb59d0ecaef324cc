//! Roots and solutions that functions find, with derivatives that are not those
//! of the search.

use ramie_core::lax::{custom_root, custom_root_with, fori_loop, while_loop};
use ramie_core::linalg::{self, Iteration};
use ramie_core::options::HasAux;
use ramie_core::typing::{LinearFn, RootFn};
use ramie_core::{Array, DType, array, grad, jacrev, jit, jvp, make_jaxpr, vmap};
use ramie_testing::apply::Operation;
use ramie_testing::check::{self, Failures};
use ramie_testing::golden::{Golden, Row};
use ramie_testing::linalg::apart;
use ramie_testing::plan::Batches;

/// Newton's method for functions that work on each element alone.
fn newton(f: RootFn<'_, Array>, x: Array) -> Array {
    let step = |_: Array, x: Array| {
        let (y, dy) = jvp(f, x.clone(), x.ones_like());
        x - y / dy
    };
    fori_loop(0, 20, step, x)
}

fn each(g: LinearFn<'_, Array>, y: Array) -> Array {
    let slope = g(y.ones_like());
    y / slope
}

/// The x with x³ + x = a.
fn cube_root(a: &Array) -> Array {
    let f = |x: Array| x.integer_pow(3) + &x - a;
    custom_root(f, a / 2.0, newton, each)
}

fn with_aux(a: &Array) -> (Array, Array) {
    let f = |x: Array| x.integer_pow(3) + &x - a;
    let solve = |f: RootFn<'_, Array>, x: Array| {
        let x = newton(f, x);
        (x.clone(), x.sum())
    };
    custom_root_with(f, a / 2.0, solve, each, HasAux)
}

/// The x with x + tanh(W x) / 4 = a, found by going back and forth.
fn coupled(w: &Array, a: &Array) -> Array {
    let f = |x: Array| w.dot(&x).tanh() / 4.0 + x - a;
    let solve =
        |f: RootFn<'_, Array>, x: Array| fori_loop(0, 60, |_, x: Array| &x - f(x.clone()), x);
    let dense = |g: LinearFn<'_, Array>, y: Array| {
        let n = y.size();
        let columns: Vec<Array> = (0..n)
            .map(|i| g(Array::eye(n, y.dtype()).index(i)))
            .collect();
        match n {
            0 => y,
            _ => linalg::solve(&ramie_core::stack(&columns, 1), &y),
        }
    };
    custom_root(f, a.clone(), solve, dense)
}

fn exactly<T>(x0: Option<T>) -> Iteration<T> {
    Iteration {
        x0,
        tol: 0.0,
        max_iterations: Some(3),
        ..Iteration::default()
    }
}

fn function(row: &Row) -> Option<Box<Operation>> {
    Some(match row.op.as_str() {
        "cube_root" => Box::new(|x: &[Array]| vec![cube_root(&x[0])]),
        "with_aux" => Box::new(|x: &[Array]| Vec::from(<[Array; 2]>::from(with_aux(&x[0])))),
        "batch" => {
            let f = vmap(|x: Array| cube_root(&x));
            Box::new(move |x: &[Array]| vec![f(x[0].clone())])
        }
        "coupled" => Box::new(|x: &[Array]| vec![coupled(&x[0], &x[1])]),
        "gmres" => Box::new(|x: &[Array]| {
            let b = x[1].clone();
            let a = match b.ndim() {
                0 => &x[0] + 4.0,
                _ => apart(&x[0]),
            };
            let restart = b.size();
            vec![linalg::gmres_with(
                |x: Array| a.dot(&x),
                b,
                |r| r,
                restart,
                exactly(None),
            )]
        }),
        _ => return None,
    })
}

#[test]
fn roots_agree_with_jax() {
    let golden = Golden::open("roots");
    let ops = golden.ops();
    assert_eq!(ops.len(), 5);
    let mut failures = Failures::default();
    let mut cases = ramie_testing::recorded(golden, &ops, &function, &mut failures);
    for case in &mut cases {
        // Programs of matrices are long: second order and batches of the others.
        if ["coupled", "gmres", "with_aux"].contains(&case.op.as_str()) {
            case.smooth = false;
            case.batches = Batches::None;
        }
    }
    check::cases(&cases, &mut failures);
    failures.finish();
}

#[test]
fn the_search_is_not_differentiated() {
    // A loop whose number of steps depends on values has no reverse mode.
    let f = |a: Array| {
        let solve = |f: RootFn<'_, Array>, x: Array| {
            let wrong = |x: Array| f(x).abs().gt(1e-6);
            while_loop(wrong, |x| &x - f(x.clone()) / 10.0, x)
        };
        let g = |x: Array| x.square() - &a;
        custom_root(g, array(1.0), solve, each)
    };
    let slope = jit(grad(f))(array(9.0));
    assert!((slope.item::<f32>() - 1.0 / 6.0).abs() < 1e-5);
    let slopes = vmap(grad(f))(array([9.0, 4.0]));
    assert!(slopes.allclose(array([1.0 / 6.0, 0.25])).item::<bool>());
}

#[test]
fn what_else_the_search_gives_has_no_derivative() {
    let f = |a: Array| with_aux(&a).1.sum();
    assert_eq!(grad(f)(array([1.0, 2.0])).to_vec::<f32>(), [0.0, 0.0]);
}

#[test]
fn equal_searches_are_one_program() {
    let program = || make_jaxpr(|a: Array| cube_root(&a))(array([1.0, 2.0]));
    assert!(program().jaxpr == program().jaxpr);
}

#[test]
fn roots_of_trees() {
    // x + y = a and x - y = b, by the inverse of the matrix.
    let f = |(a, b): (Array, Array)| {
        let residual = |(x, y): (Array, Array)| (&x + &y - &a, x - y - &b);
        let invert = |(p, q): (Array, Array)| ((&p + &q) * 0.5, (p - q) * 0.5);
        let solve = |f: RootFn<'_, (Array, Array)>, (x, y): (Array, Array)| {
            let (p, q) = invert(f((x.clone(), y.clone())));
            (x - p, y - q)
        };
        let tangent = |_: LinearFn<'_, (Array, Array)>, sides| invert(sides);
        let (x, y) = custom_root(residual, (array(0.0), array(0.0)), solve, tangent);
        x * y
    };
    // xy = (a² - b²) / 4
    let (da, db) = grad(f)((array(3.0), array(1.0)));
    assert_eq!((da.item::<f32>(), db.item::<f32>()), (1.5, -0.5));
}

#[test]
#[should_panic(expected = "custom_root: f returns a tree that differs from the guess")]
fn functions_map_to_their_own_type() {
    custom_root(|x: Array| x.sum(), array([1.0, 2.0]), newton, each);
}

fn matrix() -> Array {
    Array::from([[4.0f64, 1.0, -0.5], [0.5, 3.0, 1.0], [1.0, 0.0, 5.0]])
}

fn near(got: &Array, want: &Array, tolerance: f64) {
    assert_eq!(got.aval(), want.aval());
    let near = got.allclose_with(want, (tolerance, tolerance));
    assert!(near.item::<bool>(), "{got} is not {want}");
}

#[test]
fn minimal_residuals_of_any_matrix() {
    let (a, b) = (matrix(), Array::from([1.0f64, -2.0, 3.0]));
    for restart in [1, 2, 20] {
        let iterate = move |a: Array, b: Array| {
            let options = Iteration {
                tol: 1e-12,
                max_iterations: Some(200),
                ..Iteration::default()
            };
            let diagonal = a.diagonal(0);
            let scaled = move |r: Array| r / &diagonal;
            linalg::gmres_with(|x: Array| a.dot(&x), b, scaled, restart, options)
        };
        let loss = |x: Array| (x.sin() * Array::from([1.0f64, -2.0, 0.5])).sum();
        let solve = |a: Array, b: Array| linalg::solve(&a, &b);
        near(
            &iterate(a.clone(), b.clone()),
            &solve(a.clone(), b.clone()),
            1e-9,
        );
        let at = (a.clone(), b.clone());
        let got = grad(move |(a, b): (Array, Array)| loss(iterate(a, b)))(at.clone());
        let want = grad(move |(a, b): (Array, Array)| loss(solve(a, b)))(at);
        near(&got.0, &want.0, 1e-8);
        near(&got.1, &want.1, 1e-8);
    }
}

#[test]
fn searches_end_where_there_is_nothing_left() {
    // The space of the right-hand side has one dimension, or none.
    let identity = |x: Array| x;
    let b = Array::from([1.0f32, 2.0, 3.0]);
    near(&linalg::gmres(identity, b.clone()), &b, 1e-6);
    let none = b.zeros_like();
    near(&linalg::gmres(|x: Array| x * 2.0, none.clone()), &none, 0.0);
    // A singular matrix whose range has the right-hand side.
    let half = Array::from([1.0f32, 0.0]);
    let x = linalg::gmres(|x: Array| x * &half, Array::from([3.0f32, 0.0]));
    near(&x, &Array::from([3.0f32, 0.0]), 1e-6);
    let x = linalg::gmres(|x: Array| x * 2.0, Array::zeros(&[0], DType::F32));
    assert_eq!(x.shape(), [0]);
    let examples = vmap(|b: Array| linalg::gmres(|x: Array| x * 2.0, b))(Array::from([
        [0.0f32, 0.0],
        [2.0, 4.0],
    ]));
    near(&examples, &Array::from([[0.0f32, 0.0], [1.0, 2.0]]), 1e-6);
    let jacobian = jacrev(|b: Array| linalg::gmres(|x: Array| x * 2.0, b))(array([1.0, 2.0]));
    near(&jacobian, &(Array::eye(2, DType::F32) / 2.0), 1e-6);
}

#[test]
fn systems_of_trees() {
    let apply = |(x, y): (Array, Array)| (&x * 3.0 + &y, y * 2.0 + x.sum());
    let b = (Array::from([1.0f32, 2.0]), Array::from(-1.0f32));
    let x = linalg::gmres(apply, b.clone());
    let (top, bottom) = apply(x);
    near(&top, &b.0, 1e-4);
    near(&bottom, &b.1, 1e-4);
}
