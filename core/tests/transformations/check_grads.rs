//! `check_grads` accepts correct derivatives and names wrong ones.

use ramie_core::numpy;
use ramie_core::options::CheckGradsOptions;
use ramie_core::test_util::{GradMode, check_grads, check_grads_with};
use ramie_core::{Array, DType, custom_jvp, custom_vjp};
use ramie_testing::{assert_explained, panic_message};
use std::collections::BTreeMap;

fn options(modes: &'static [GradMode]) -> CheckGradsOptions {
    CheckGradsOptions {
        modes,
        ..CheckGradsOptions::default()
    }
}

const BOTH: [&[GradMode]; 2] = [&[GradMode::Fwd], &[GradMode::Rev]];

#[test]
fn derivatives_of_trees_are_accepted() {
    let (x, y) = (
        Array::from([[0.5f64, -1.5], [2.0, 0.25]]),
        Array::from([1.0f64, 3.0]),
    );
    let params = BTreeMap::from([("w", x.clone()), ("b", y.clone())]);
    let index = Array::from([1i32, 0]);
    let layer = |p: BTreeMap<&'static str, Array>, x: Array, index: Array| {
        let z = (x.matmul(&p["w"]) + &p["b"]).tanh();
        (z.take(&index, 0), index)
    };
    check_grads(layer, (params, x, index), 3);
    let single = Array::from([0.5f32, -1.5]);
    check_grads(|x: Array| x.sin() * x.exp(), single.clone(), 2);
    let z = numpy::complex(Array::from([0.5f64, -1.5]), Array::from([0.25f64, 0.5]));
    check_grads(|z: Array| z.square().exp(), z.clone(), 2);
    check_grads(|z: Array| z.abs().sum() + z.conj().real().prod(), z, 2);
}

/// `sin(x) · y`, with the derivatives of `x` and `y` times the factors.
fn scaled(of_x: f64, of_y: f64) -> impl Fn(Array, Array) -> Array + Send + Sync {
    let value = |x: &Array, y: &Array| x.sin() * y;
    let with_rule = custom_vjp(
        move |x: Array, y: Array| value(&x, &y),
        move |(x, y): (Array, Array)| (value(&x, &y), (x, y)),
        move |(x, y): (Array, Array), ct: Array| (x.cos() * &y * &ct * of_x, x.sin() * ct * of_y),
    );
    move |x, y| with_rule(x, y)
}

#[test]
fn a_wrong_custom_vjp_is_named() {
    let args = || (Array::from([1.0f64, 2.0]), Array::from([0.5f64, 3.0]));
    let rev = options(BOTH[1]);
    check_grads_with(scaled(1.0, 1.0), args(), 2, rev);
    assert_explained(
        || check_grads_with(scaled(1.0, 2.0), args(), 1, rev),
        &[
            "check_grads: a derivative differs from finite differences",
            "argument `1`, order 1, mode rev: the projection of the cotangent is ",
            ", finite differences give ",
        ],
    );
    let message = panic_message(|| check_grads_with(scaled(0.5, 1.0), args(), 1, rev));
    assert!(
        message.contains("argument `0`, order 1, mode rev"),
        "{message}"
    );
    // The projections have the ratio of the factors.
    let numbers: Vec<f64> = message
        .lines()
        .nth(1)
        .unwrap()
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter_map(|word| word.parse().ok())
        .collect();
    let [.., got, want] = numbers[..] else {
        panic!("two numbers in {message}")
    };
    assert!((got / want - 0.5).abs() < 1e-4, "{message}");
}

#[test]
fn a_wrong_custom_jvp_is_named_in_each_mode() {
    let wrong = || {
        let f = custom_jvp(
            |x: Array| x.sin(),
            |x: Array, dx: Array| (x.sin(), x.sin() * dx),
        );
        move |x: Array| f(x)
    };
    let x = Array::from([0.25f32, 1.0]);
    let fwd = "argument `0`, order 1, mode fwd: the tangent is ";
    for (modes, text) in BOTH
        .into_iter()
        .zip([fwd, "argument `0`, order 1, mode rev"])
    {
        assert_explained(
            || check_grads_with(wrong(), x.clone(), 1, options(modes)),
            &[text],
        );
    }
    let moved = custom_jvp(
        |x: Array| x.sin(),
        |x: Array, dx: Array| (x.sin() + 1.0, x.cos() * dx),
    );
    assert_explained(
        || check_grads(move |x: Array| moved(x), x, 1),
        &[
            "mode fwd: the value of the JVP is 1.247",
            ", the function returns 0.247",
        ],
    );
}

#[test]
fn a_wrong_second_derivative_is_named() {
    // The rule is right, but its own derivative is not.
    let once = || {
        let f = custom_jvp(
            |x: Array| x.sin(),
            |x: Array, dx: Array| (x.sin(), x.cos().stop_gradient() * dx),
        );
        move |x: Array| f(x)
    };
    let x = Array::from(1.0f64);
    check_grads(once(), x.clone(), 1);
    assert_explained(
        || check_grads(once(), x.clone(), 2),
        &["argument `0`, order 2, mode fwd of fwd: the tangent is"],
    );
    assert_explained(
        || check_grads_with(once(), x, 2, options(BOTH[1])),
        &["argument `0`, order 2, mode rev of rev"],
    );
}

#[test]
fn tolerances_and_steps_are_options() {
    let wrong = || scaled(1.0, 1.001);
    let args = || (Array::from(1.0f64), Array::from(0.5f64));
    let rev = options(BOTH[1]);
    assert_explained(
        || check_grads_with(wrong(), args(), 1, rev),
        &["argument `1`"],
    );
    let loose = CheckGradsOptions {
        rtol: Some(0.01),
        ..rev
    };
    check_grads_with(wrong(), args(), 1, loose);
    let half = Array::from(0.5f32).astype(DType::F16);
    let eps = CheckGradsOptions {
        eps: 0.0625,
        ..CheckGradsOptions::default()
    };
    check_grads_with(|x: Array| x.square(), half, 1, eps);
    assert_explained(
        || check_grads(|x: Array| x + 1, Array::from(1), 1),
        &["no argument is"],
    );
}
