//! The reference programs, parts D and F: transformations compose. What needs
//! several devices is elsewhere.

use ramie::lax::{psum, pvary};
use ramie::options::VmapOptions;
use ramie::*;
use std::collections::BTreeMap;

/// Parameters by name, as in the program that is followed.
type Params = BTreeMap<String, Array>;

fn predict(params: Params, inputs: Array) -> Array {
    inputs.matmul(&params["w"]) + &params["b"]
}

fn loss(params: Params, inputs: Array, targets: Array) -> Array {
    let error = predict(params, inputs) - targets;
    error.square().mean()
}

fn params() -> Params {
    let w = Array::from([[0.5f32, -1.0], [2.0, 0.25], [-0.75, 1.5]]);
    let b = Array::from([0.1f32, -0.2]);
    [("w".to_string(), w), ("b".to_string(), b)].into()
}

fn batch() -> (Array, Array) {
    let keys = random::key(3).split(2);
    let inputs = random::normal(&keys[0], &[5, 3], DType::F32);
    let targets = random::normal(&keys[1], &[5, 2], DType::F32);
    (inputs, targets)
}

/// The arrays agree up to rounding.
#[track_caller]
fn close(got: &Array, want: &Array) {
    assert_eq!(got.shape(), want.shape());
    assert!(
        got.allclose_with(want, (1e-5, 1e-6)).item::<bool>(),
        "{got} {want}"
    );
}

#[track_caller]
fn close_trees(got: &Params, want: &Params) {
    assert_eq!(tree::paths(got), tree::paths(want));
    for (got, want) in got.values().zip(want.values()) {
        close(got, want);
    }
}

fn row(x: &Array, i: usize) -> Array {
    x.take(&Array::from(i as i32), 0)
}

#[test]
fn the_gradient_of_a_loss_is_the_one_worked_out_by_hand() {
    let (x, y) = batch();
    let grads = grad(loss)(params(), x.clone(), y.clone());
    // The mean runs over the five examples and the two outputs.
    let error = (predict(params(), x.clone()) - &y) * (2.0 / 10.0);
    close(&grads["w"], &x.transpose(&[1, 0]).matmul(&error));
    close(&grads["b"], &error.sum_over(0));
    let (value, same) = value_and_grad(loss)(params(), x.clone(), y.clone());
    close(&value, &loss(params(), x.clone(), y.clone()));
    close_trees(&same, &grads);
    let compiled = jit(grad(loss));
    close_trees(&compiled(params(), x.clone(), y.clone()), &grads);
    assert_eq!(compiled.compilations(), 1);
    close_trees(&compiled(params(), x, y), &grads);
    assert_eq!(compiled.compilations(), 1);
}

#[test]
fn a_mapped_prediction_shares_its_parameters() {
    let (x, _) = batch();
    let mapped = vmap_with(predict, [None, Some(0)]);
    close(&mapped(params(), x.clone()), &predict(params(), x.clone()));
    // Each example by itself is a vector.
    let looped: Vec<Array> = (0..5).map(|i| predict(params(), row(&x, i))).collect();
    close(&mapped(params(), x), &stack(&looped, 0));
}

#[test]
fn gradients_of_each_example_equal_a_loop() {
    let (x, y) = batch();
    let each = jit(vmap_with(grad(loss), [None, Some(0), Some(0)]));
    let together = each(params(), x.clone(), y.clone());
    let looped: Vec<Params> = (0..5)
        .map(|i| grad(loss)(params(), row(&x, i), row(&y, i)))
        .collect();
    for name in ["w", "b"] {
        let stacked: Vec<Array> = looped.iter().map(|g| g[name].clone()).collect();
        close(&together[name], &stack(&stacked, 0));
    }
    // Their mean is the gradient of the whole batch.
    let whole = grad(loss)(params(), x, y);
    close(&together["w"].mean_over(0), &whole["w"]);
}

#[test]
fn transformations_compose_in_any_order() {
    let (x, y) = batch();
    let plain = grad(loss)(params(), x.clone(), y.clone());
    let twice = jit(grad(|p: Params, x: Array, y: Array| jit(loss)(p, x, y)));
    close_trees(&twice(params(), x.clone(), y.clone()), &plain);
    let of_mean = grad(|p: Params, x: Array, y: Array| {
        let losses = vmap_with(loss, [None, Some(0), Some(0)]);
        losses(p, x, y).mean()
    });
    close_trees(&of_mean(params(), x.clone(), y.clone()), &plain);
    let recomputed = grad(checkpoint(loss));
    close_trees(&recomputed(params(), x.clone(), y.clone()), &plain);
    // A step against the gradient, over all parameters.
    let after = tree::map2(&params(), &plain, |p, g| p - g * 0.1);
    let before = loss(params(), x.clone(), y.clone()).item::<f32>();
    assert!(loss(after, x, y).item::<f32>() < before);
}

/// A linear function of the tangent, and back.
fn m(f: fn(Array) -> Array, p: Array, t: Array) -> Array {
    let (_, forward) = linearize(f, p.clone());
    let out = forward(t);
    linear_transpose(forward, p)(out)
}

#[test]
fn a_linearized_function_is_transposed() {
    fn f(x: Array) -> Array {
        x.sin() * x
    }
    let p = Array::from([0.5f32, -1.0, 2.0]);
    let t = Array::from([1.0f32, 2.0, 4.0]);
    let slope = p.cos() * &p + p.sin();
    let want = slope.square() * &t;
    close(&m(f, p.clone(), t.clone()), &want);
    close(
        &jit(|p: Array, t: Array| m(f, p, t))(p.clone(), t.clone()),
        &want,
    );
    // Where the axis has a name, the parameter is made to vary along it.
    let varying = |p: Array, t: Array| m(f, pvary(&p, "x"), t);
    let options = VmapOptions {
        axis_name: Some("x".into()),
        ..VmapOptions::default()
    };
    close(&vmap_with(varying, options)(p.clone(), t.clone()), &want);
    // One parameter for all: each example's part, and their sum.
    let shared = |p: Array, t: Array| psum(&m(f, pvary(&p, "x"), t), "x");
    let options = VmapOptions {
        in_axes: [None, Some(0)].into(),
        axis_name: Some("x".into()),
        ..VmapOptions::default()
    };
    let p = Array::from(0.5f32);
    let slope = 0.5f32.cos() * 0.5 + 0.5f32.sin();
    let sums = vmap_with(shared, options)(p, t);
    close(&sums, &Array::full(&[3], 7.0 * slope * slope, DType::F32));
}
