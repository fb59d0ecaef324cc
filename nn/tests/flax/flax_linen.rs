//! Names, scopes, collections and keys of modules, against Flax's Linen.

use crate::common;

use common::Golden;
use ramie_core::random::Key;
use ramie_core::{Array, DType, State, grad, random};
use ramie_nn::init;
use ramie_nn::linen::{self, Apply, Dense, Module, Scope, Streams, Variables};

#[derive(Clone)]
struct Scale;

impl Module for Scale {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let features = x.shape()[x.ndim() - 1];
        let scale = scope.param("scale", &init::normal(1.0), &[features], DType::F32);
        let bias = scope.param("bias", &init::normal(1.0), &[], DType::F32);
        x * &*scale + &*bias
    }
}

struct Names;

impl Module for Names {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let x = scope.child(&Dense::new(4), x);
        let x = scope.named("middle", &Dense::new(4), x);
        let x = scope.child(&Dense::new(4), x);
        let x = scope.child(&Scale, x);
        let x = scope.named("Scale_7", &Scale, x);
        let x = scope.child(&Dense::new(3), x);
        scope.child(&Scale, x)
    }
}

struct Shared;

impl Module for Shared {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let mut dense = scope.setup("dense", &Dense::new(3));
        let mut first = scope.setup("layers_0", &Dense::new(4));
        let mut second = scope.setup("layers_1", &Scale);
        let mut heads = ["a", "b"].map(|h| scope.setup(&format!("heads_{h}"), &Dense::new(2)));
        let _unused = scope.setup("unused", &Dense::new(9));
        let x: Array = dense.call(x);
        let x: Array = dense.call(x.tanh());
        let x: Array = first.call(x);
        let x: Array = second.call(x);
        let [a, b] = &mut heads;
        let b: Array = b.call(x.clone());
        b + a.call::<_, Array>(x) * 2.0
    }
}

struct Keys;

#[derive(Clone)]
struct Inner;

fn data(key: &Key) -> Array {
    random::key_data(key).clone()
}

impl Module<Array, Vec<Array>> for Inner {
    fn call(&self, scope: &mut Scope, x: Array) -> Vec<Array> {
        let w = scope.param("w", &init::normal(1.0), &[2], DType::F32);
        let e = data(&scope.make_rng("noise"));
        vec![x.sum() * &*w, e, data(&scope.make_rng("dropout"))]
    }
}

impl Module<Array, Vec<Array>> for Keys {
    fn call(&self, scope: &mut Scope, x: Array) -> Vec<Array> {
        let mut out = vec![x.clone()];
        for stream in ["dropout", "dropout", "noise", "params"] {
            out.push(data(&scope.make_rng(stream)));
        }
        let mut inner = scope.setup("inner", &Inner);
        for _ in 0..2 {
            out.extend(inner.call::<_, Vec<Array>>(x.clone()));
        }
        out.extend(scope.child(&Inner, x));
        out
    }
}

#[derive(Clone)]
struct Counter;

impl Module for Counter {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let initialized = scope.has_variable("state", "count");
        let count = scope.variable("state", "count", || Array::scalar(0, DType::I32));
        let features = x.shape()[1];
        let mut mean = scope.variable("averages", "mean", || Array::zeros(&[features], DType::F32));
        if initialized {
            scope.put_variable("state", "count", count + 1);
        }
        if !scope.is_initializing() {
            mean = mean * 0.5 + x.mean_over(0) * 0.5;
            scope.put_variable("averages", "mean", mean.clone());
        }
        x - mean
    }
}

/// Calls a module of the same scope: what `share_scope` is for.
struct Shares;

impl Module for Shares {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let base = linen::method(|scope: &mut Scope, x: Array| scope.child(&Dense::new(4), x));
        let x = base.call(scope, x);
        scope.named("own", &Dense::new(2), x)
    }
}

#[test]
fn modules() {
    let golden = Golden::open("flax_linen");
    macro_rules! check {
        ($name:literal, $module:expr) => {
            let case = golden.case($name);
            case.linen(|s, x| vec![$module.call(s, x[0].clone())]);
        };
    }
    check!("names", Names);
    check!("shared", Shared);
    check!("counter", Counter);
    check!("share_scope", Shares);
}

/// The streams that the recordings were initialized with.
fn streams() -> Streams {
    [("params", random::key(0)), ("dropout", random::key(1))].into()
}

/// A list of arrays as it is recorded.
fn listed(arrays: Vec<Array>) -> State {
    State::of(&arrays)
}

#[test]
fn keys_of_streams_and_scopes() {
    let golden = Golden::open("flax_linen");
    let case = golden.case("keys");
    let x = case.inputs().remove(0);
    let (out, made) = Keys.init_with_output(streams(), x.clone());
    case.expect_exactly("init", &State::of(&made));
    // Outputs after the sums are keys, which are equal or wrong.
    case.expect("init_out", &listed(out));
    let (out, _) = Keys.apply_with(&made, x, &Apply::new().rngs(streams()));
    case.expect("out", &listed(out));
}

struct Sown;

#[derive(Clone)]
struct Keep;

impl Module<Array, (Array, Array)> for Keep {
    fn call(&self, scope: &mut Scope, x: Array) -> (Array, Array) {
        scope.sow("intermediates", "x", &x);
        let y = scope.child(&Dense::new(2), x.clone());
        (x, y)
    }
}

impl Module<Array, (Array, Array)> for Sown {
    fn call(&self, scope: &mut Scope, mut x: Array) -> (Array, Array) {
        let mut dense = scope.setup("dense", &Dense::new(3));
        for _ in 0..2 {
            x = dense.call::<_, Array>(x).tanh();
            scope.sow("intermediates", "hidden", &x);
            let zero = || Array::scalar(0.0, DType::F32);
            let square = x.square().sum();
            scope.sow_with("losses", "square", &square, zero, |a, b| a + b);
        }
        scope.sow("nowhere", "x", &x);
        scope.child(&Keep, x)
    }
}

#[test]
fn values_that_are_kept() {
    let golden = Golden::open("flax_linen");
    let case = golden.case("sown");
    let x = case.inputs().remove(0);
    let ((a, b), made) = Sown.init_with_output(streams(), x.clone());
    case.expect("init", &State::of(&made));
    case.expect("init_out", &listed(vec![a, b]));
    let params = Variables::from_params(made.params());

    let updates = |options: Apply| Sown.apply_with(&params, x.clone(), &options).1;
    let both = updates(Apply::new().mutable(["intermediates", "losses"]));
    case.expect("both", &State::of(&both));
    let losses = updates(Apply::new().mutable("losses"));
    case.expect("losses", &State::of(&losses));
    let captured = updates(Apply::new().capture_intermediates());
    assert_eq!(captured.names().collect::<Vec<_>>(), ["intermediates"]);
    case.expect("captured", &captured["intermediates"]);
    let dense = Apply::new()
        .mutable("losses")
        .capture_if(|_, class| class == "Dense");
    let dense = updates(dense);
    case.expect("captured_dense", &dense["intermediates"]);
    assert_eq!(dense["losses"].len(), 1);
    // Nothing is kept that was not asked for.
    assert!(updates(Apply::new()).is_empty());
}

struct Perturbed;

#[derive(Clone)]
struct Below;

impl Module for Below {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let x = scope.child(&Dense::new(3), x);
        scope.perturb("x", x).square()
    }
}

impl Module for Perturbed {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let x = scope.child(&Dense::new(4), x);
        let x = scope.perturb("hidden", x);
        let x = scope.child(&Below, x.tanh());
        scope.perturb("out", x)
    }
}

#[test]
fn gradients_of_values_inside() {
    let golden = Golden::open("flax_linen");
    let case = golden.case("perturbed");
    let x = case.inputs().remove(0);
    let (out, made) = Perturbed.init_with_output(streams(), x.clone());
    case.expect("init", &State::of(&made));
    case.expect("init_out", &listed(vec![out]));
    let start = made["perturbations"].clone();
    let loss = |perturbations: State| {
        let variables = made.clone().with("perturbations", perturbations);
        Perturbed.apply(&variables, x.clone()).square().sum()
    };
    case.expect("grads", &grad(loss)(start));
    // Without the collection nothing is added.
    let params = Variables::from_params(made.params());
    assert_eq!(Perturbed.apply(&params, x).shape(), [5, 3]);
}

#[derive(Clone)]
struct Coder;

impl Coder {
    fn encode(&self, scope: &mut Scope, x: Array) -> Array {
        scope.named("encoder", &Dense::new(2), x).tanh()
    }
    fn decode(&self, scope: &mut Scope, z: Array) -> Array {
        scope.named("decoder", &Dense::new(3), z)
    }
}

impl Module for Coder {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let z = self.encode(scope, x);
        self.decode(scope, z)
    }
}

#[test]
fn methods_and_bound_modules() {
    let golden = Golden::open("flax_linen");
    let case = golden.case("coder");
    let x = case.inputs().remove(0);
    let made = Coder.init(streams(), x.clone());
    case.expect_exactly("init", &State::of(&made));
    let out = Coder.apply(&made, x.clone());
    case.expect("out", &listed(vec![out.clone()]));
    let (z, updates) = linen::apply(&made, &Apply::new(), |s| Coder.encode(s, x.clone()));
    assert!(updates.is_empty());
    case.expect("encoded", &listed(vec![z.clone()]));
    let (decoded, _) = linen::apply(&made, &Apply::new(), |s| Coder.decode(s, z.clone()));
    case.expect("decoded", &listed(vec![decoded]));
    let half = linen::init(streams(), |s| Coder.encode(s, x.clone()));
    case.expect_exactly("from_encode", &State::of(&half));

    let mut bound = Coder.bind(&made, &Apply::new());
    for _ in 0..2 {
        let again: Array = bound.call(x.clone());
        assert_eq!(again.to_vec::<f32>(), out.to_vec::<f32>());
    }
    let again = bound.with(|coder, scope| {
        let z = coder.encode(scope, x.clone());
        coder.decode(scope, z)
    });
    assert_eq!(again.to_vec::<f32>(), out.to_vec::<f32>());
    let (_, variables) = bound.unbind();
    assert_eq!(State::of(&variables).paths().count(), 4);

    // A bound module keeps what it changed.
    let made = Counter.init(streams(), x.clone());
    let mut counter = Counter.bind(&made, &Apply::new().mutable(["state", "averages"]));
    for _ in 0..3 {
        let _: Array = counter.call(x.clone());
    }
    assert_eq!(counter.variables()["state"]["count"].item::<i32>(), 3);
}

/// What a scope tells of itself.
struct Looks;

impl Module<Array, ()> for Looks {
    fn call(&self, scope: &mut Scope, x: Array) {
        assert_eq!(scope.path(), "");
        let below = linen::method(|scope: &mut Scope, x: Array| {
            assert_eq!(
                (scope.path(), scope.name()),
                ("below".to_owned(), Some("below"))
            );
            assert!(scope.has_variable("state", "s") || scope.is_initializing());
            assert!(scope.get_variable("state", "none").is_none());
            let s = scope.variable("state", "s", || x.clone());
            assert!(scope.has_variable("state", "s"));
            assert_eq!(scope.variables("state").paths().collect::<Vec<_>>(), ["s"]);
            s
        });
        scope.named("below", &below, x);
        assert!(scope.has_rng("params") == scope.is_initializing());
        assert_eq!(
            scope.is_mutable_collection("state"),
            scope.is_initializing()
        );
        assert_eq!(
            scope.variables("state").paths().collect::<Vec<_>>(),
            ["below.s"]
        );
    }
}

#[test]
fn scopes_tell_what_they_have() {
    let x = Array::ones(&[2], DType::F32);
    let made = Looks.init(0, x.clone());
    Looks.apply(&made, x);
    assert_eq!(linen::merge_param("rate", Some(1), None), 1);
    assert_eq!(linen::merge_param("rate", None, Some(2)), 2);
}

#[test]
fn module_paths() {
    let x = Array::ones(&[5, 3], DType::F32);
    let paths = Shared.module_paths(0, x.clone());
    let paths: Vec<(&str, &str)> = paths.iter().map(|(p, c)| (&**p, &**c)).collect();
    let expected = [
        ("", "Shared"),
        ("dense", "Dense"),
        ("heads_a", "Dense"),
        ("heads_b", "Dense"),
        ("layers_0", "Dense"),
        ("layers_1", "Scale"),
    ];
    assert_eq!(paths, expected);
}
