//! Derivatives by chosen arguments and with auxiliary values, Jacobians of structs, and tree
//! definitions, compared with JAX.

use ramie_core::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static RECORDED: LazyLock<Value> = LazyLock::new(|| {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/golden/data/ports_transformations.json"
    );
    let text = std::fs::read_to_string(file).expect("recorded values");
    serde_json::from_str(&text).expect("JSON")
});

#[track_caller]
fn expect(name: &str, got: &Array) {
    let wanted: Vec<f64> = serde_json::from_value(RECORDED[name].clone()).expect(name);
    let got = got.to_vec::<f32>();
    assert_eq!(got.len(), wanted.len(), "{name}");
    for (got, wanted) in got.iter().zip(&wanted) {
        let error = (f64::from(*got) - wanted).abs();
        assert!(
            error < 2e-6 * (1.0 + wanted.abs()),
            "{name}: {got} and {wanted}"
        );
    }
}

#[track_caller]
fn expect_texts(name: &str, got: &[String]) {
    let wanted: Vec<String> = serde_json::from_value(RECORDED[name].clone()).expect(name);
    assert_eq!(got, wanted, "{name}");
}

fn x() -> Array {
    Array::from([0.5f32, -1.0, 2.0])
}
fn y() -> Array {
    Array::from([1.5f32, 0.25, -0.75])
}

#[test]
fn gradients_of_chosen_arguments() {
    let three = |x: Array, s: Array, y: Array| ((x * s).sin() * y.square()).sum();
    let s = || Array::from(3.0f32);
    expect("grad_1", &grad_argnums(three, argnums![1])(x(), s(), y()));
    let (dx, dy) = grad_argnums(three, argnums![0, 2])(x(), s(), y());
    expect("grad_0_2.0", &dx);
    expect("grad_0_2.2", &dy);
    let (value, (dy,)) = value_and_grad_argnums(three, argnums![2,])(x(), s(), y());
    expect("value", &value);
    expect("value_and_grad_2", &dy);
    // Arguments by reference, and compiled.
    let of = jit(grad_argnums(
        |x: &Array, s: &Array, y: &Array| ((x * s).sin() * y.square()).sum(),
        argnums![1],
    ));
    expect("grad_1", &of(&x(), &s(), &y()));
}

fn pair(x: Array) -> (Array, (Array, i32)) {
    let reversed = x.flip(&[0]);
    (x.sin() * reversed, (x.square().sum(), 3))
}

#[test]
fn auxiliary_values_of_jacobians() {
    let (jacobian, (norm, count)) = jacfwd_with_aux(pair)(x());
    expect("jacfwd", &jacobian);
    expect("jacfwd.norm", &norm);
    assert_eq!(count, 3);
    let (jacobian, (norm, _)) = jit(jacrev_with_aux(pair))(x());
    expect("jacrev", &jacobian);
    expect("jacrev.norm", &norm);
    let f = |x: Array| (x.integer_pow(3).sum(), x.max());
    let (curvature, max) = hessian_with_aux(f)(x());
    expect("hessian_with_aux", &curvature);
    expect("hessian_with_aux.max", &max);
    let (value, push, (norm, _)) = linearize_with_aux(pair, x());
    expect("linearize", &value);
    expect("linearize.norm", &norm);
    expect("linearize.tangent", &push(y()));
}

#[derive(Clone, ramie_derive::Tree)]
struct Params {
    w: Array,
    b: Array,
}

#[test]
fn jacobians_of_structs() {
    let params = Params {
        w: y(),
        b: Array::from(0.3f32),
    };
    let loss = |p: &Params| (&p.w * x() + &p.b).tanh().square().sum() * &p.b;
    let curvature: BTreeMap<String, Params> = hessian(loss)(&params);
    expect("hessian.w.w", &curvature["w"].w);
    expect("hessian.w.b", &curvature["w"].b);
    expect("hessian.b.w", &curvature["b"].w);
    expect("hessian.b.b", &curvature["b"].b);
    let parts = |x: Array| Params {
        w: &x * 2.0,
        b: x.sum(),
    };
    for jacobian in [jacfwd(parts)(x()), jacrev(parts)(x())] {
        assert_eq!(
            jacobian["w"].to_vec::<f32>(),
            [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]
        );
        assert_eq!(jacobian["b"].to_vec::<f32>(), [1.0; 3]);
    }
}

#[test]
fn solvers_of_roots_differentiate() {
    let root = |a: Array| {
        let f = |x: Array| x.square() - &a;
        let newton = |f: RootFn<'_, Array>, x: Array| {
            let step = |_, x: Array| &x - f(x.clone()) / grad(|x: Array| f(x))(x.clone());
            fori_loop(0, 20, step, x)
        };
        let one = Array::from(1.0f32);
        let tangent = |g: LinearFn<'_, Array>, y: Array| y / g(one.clone());
        custom_root(f, Array::from(1.0f32), newton, tangent)
    };
    assert_eq!(root(Array::from(9.0f32)).item::<f32>(), 3.0);
    let slope = grad(root)(Array::from(9.0f32)).item::<f32>();
    assert!((slope - 1.0 / 6.0).abs() < 1e-6, "{slope}");
}
