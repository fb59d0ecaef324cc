//! Lifted transformations of modules, against Flax's Linen.

use crate::common;

use common::Golden;
use ramie_core::{Array, CheckpointPolicy, DType, P, State, random, stack, tree, vjp};
use ramie_nn::init;
use ramie_nn::linen::{self, Apply, BatchNorm, Dense, Dropout, Module, Scope, Variables, While};

/// A layer with parameters, a count, and keys.
#[derive(Clone)]
struct Noisy(usize);

impl Module for Noisy {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        let initialized = scope.has_variable("state", "sum");
        let total = scope.variable("state", "sum", || Array::zeros(&[self.0], DType::F32));
        let y = scope.child(&Dense::new(self.0), x).tanh();
        let key = scope.make_rng("dropout");
        let y = &y + random::normal(&key, y.shape(), DType::F32) * 0.1;
        if initialized {
            let rows = y.reshape(&[y.size() / self.0, self.0]).sum_over(0);
            scope.put_variable("state", "sum", total + rows);
        }
        let scale = scope.param("scale", &init::normal(1.0), &[self.0], DType::F32);
        y * &*scale
    }
}

fn one<M: Module>(module: M) -> impl Fn(&mut Scope, &[Array]) -> Vec<Array> {
    move |scope, x| vec![module.call(scope, x[0].clone())]
}

fn vmapped(features: usize) -> linen::Vmap<Noisy> {
    linen::vmap(Noisy(features))
        .variable_axes(["params", "state"], 0)
        .split_rngs(["params", "dropout"], true)
}

struct Pair;

impl Module<(Array, Array), (Array, Array)> for Pair {
    fn call(&self, scope: &mut Scope, (x, w): (Array, Array)) -> (Array, Array) {
        let y = scope.child(&Dense::new(2), x.clone()) * &w;
        (y, w + x.sum() * 0.0)
    }
}

#[test]
fn vmap() {
    let golden = Golden::open("flax_lift");
    golden.case("vmap").linen(one(vmapped(2)));
    golden.case("vmap_nested").linen(|scope, x| {
        let y = scope.child(&vmapped(2), x[0].clone());
        vec![scope.child(&vmapped(3), y)]
    });
    let shared = linen::vmap(Noisy(2))
        .variable_axes("params", None)
        .variable_axes("state", 1)
        .split_rngs("params", false)
        .split_rngs("dropout", true);
    golden.case("vmap_shared").linen(one(shared));
    let axes = linen::vmap(Dense::new(2))
        .in_axes(1)
        .out_axes(1)
        .variable_axes("params", -1)
        .split_rngs("params", true);
    let case = golden.case("vmap_axes");
    case.linen(one(axes));
    let pair = linen::vmap(Pair)
        .in_axes([Some(0), None])
        .out_axes([Some(1), Some(0)])
        .axis_size(4)
        .variable_axes("params", 0)
        .split_rngs("params", true);
    golden.case("vmap_pair").linen(|scope, x| {
        let (y, w) = scope.child(&pair, (x[0].clone(), x[1].clone()));
        vec![y, w]
    });
}

/// One step: a carry and an input to a carry and an output.
#[derive(Clone)]
struct Cell;

impl Module<(Array, Array), (Array, Array)> for Cell {
    fn call(&self, scope: &mut Scope, (carry, x): (Array, Array)) -> (Array, Array) {
        let h = scope.child(&Dense::new(3), carry);
        let y = (h + scope.named("in", &Dense::new(3).without_bias(), x)).tanh();
        let key = scope.make_rng("dropout");
        let y = &y + random::normal(&key, y.shape(), DType::F32) * 0.1;
        (y.clone(), y * 2.0)
    }
}

#[derive(Clone)]
struct Layer;

impl Module<(Array, Array), (Array, Array)> for Layer {
    fn call(&self, scope: &mut Scope, (carry, _): (Array, Array)) -> (Array, Array) {
        let features = carry.shape()[1];
        let mut mean = scope.variable("state", "mean", || Array::zeros(&[features], DType::F32));
        let y = scope.child(&Dense::new(3), carry).tanh();
        if !scope.is_initializing() {
            mean = mean * 0.5 + y.mean_over(0) * 0.5;
            scope.put_variable("state", "mean", mean.clone());
        }
        (&y - mean, y.sum())
    }
}

fn pair_of((a, b): (Array, Array)) -> Vec<Array> {
    vec![a, b]
}

#[test]
fn scan() {
    let golden = Golden::open("flax_lift");
    let two = |x: &[Array]| (x[0].clone(), x[1].clone());
    let shared = linen::scan(Cell)
        .variable_broadcast("params")
        .split_rngs("params", false)
        .split_rngs("dropout", true);
    let case = golden.case("scan_shared");
    case.linen(|scope, x| pair_of(shared.call(scope, two(x))));
    let reverse = linen::scan(Cell)
        .variable_broadcast("params")
        .split_rngs(["params", "dropout"], false)
        .in_axes(1)
        .out_axes(1)
        .reverse()
        .unroll(2);
    let case = golden.case("scan_reverse");
    case.linen(|scope, x| pair_of(reverse.call(scope, two(x))));
    let layers = linen::scan(Layer)
        .variable_axes("params", 0)
        .variable_axes("state", 1)
        .split_rngs("params", true)
        .in_axes(None)
        .length(3);
    let case = golden.case("scan_layers");
    case.linen(|scope, x| pair_of(layers.call(scope, two(x))));
}

#[test]
fn scan_in_a_model() {
    let golden = Golden::open("flax_lift");
    let block = linen::scan(Cell)
        .variable_axes("params", 0)
        .split_rngs(["params", "dropout"], true)
        .length(2);
    golden.case("scan_in_model").linen(|scope, x| {
        let x = scope.child(&Dense::new(3), x[0].clone());
        let xs = stack(&[&x, &(&x * 2.0)], 0);
        let (x, ys) = scope.child(&block, (x, xs));
        let (x, ys) = scope.child(&block, (x, ys));
        vec![scope.child(&Dense::new(2), x) + ys.sum()]
    });
    let body = linen::method(|scope: &mut Scope, (c, x): (Array, Array)| {
        let n = scope.get_variable("counts", "n").expect("made before");
        if !scope.is_initializing() {
            scope.put_variable("counts", "n", n + x.sum());
        }
        let n = scope.get_variable("counts", "n").expect("made before");
        (&c * n + x, c)
    });
    let body = linen::scan(body)
        .variable_carry("counts")
        .variable_broadcast("params")
        .split_rngs("params", false);
    golden.case("scan_carry").linen(|scope, x| {
        scope.variable("counts", "n", || Array::scalar(0.0, DType::F32));
        let ones = Array::ones(&[3], DType::F32);
        pair_of(body.call(scope, (ones, x[0].clone())))
    });
}

#[test]
fn remat() {
    let golden = Golden::open("flax_lift");
    golden.case("remat").linen(|scope, x| {
        let x = scope.child(&linen::remat(Noisy(2)), x[0].clone());
        let dense = linen::remat(Dense::new(3)).policy(CheckpointPolicy::dots_saveable());
        vec![scope.child(&dense, x).tanh()]
    });
    let deep = linen::remat_scan(Dense::new(3), &[2, 3]);
    golden.case("remat_scan").linen(one(deep));
    let deep = linen::remat_scan(Dense::new(3), &[3]);
    golden.case("remat_scan_one").linen(one(deep));
}

#[test]
fn jit() {
    let golden = Golden::open("flax_lift");
    golden.case("jit").linen(|scope, x| {
        let x = scope.child(&linen::jit(Noisy(2)), x[0].clone());
        let x = scope.child(&linen::jit(Noisy(2)), x);
        vec![scope.child(&linen::jit(Dense::new(3)), x)]
    });
    golden
        .case("fold_rngs")
        .linen(|scope, x| vec![scope.child(&linen::fold_rngs(Noisy(2)), x[0].clone())]);
}

#[test]
fn control() {
    let golden = Golden::open("flax_lift");
    let choice = |scope: &mut Scope, x: &[Array]| {
        scope.variable("state", "count", || Array::scalar(0.0, DType::F32));
        let yes = |scope: &mut Scope, x: Array| {
            if !scope.is_initializing() {
                let count = scope.get_variable("state", "count").expect("made before");
                scope.put_variable("state", "count", count + 1.0);
            }
            let key = scope.make_rng("dropout");
            let x = &x + random::normal(&key, x.shape(), DType::F32);
            scope.named("dense", &Dense::new(2), x)
        };
        let no = |scope: &mut Scope, x: Array| {
            let key = scope.make_rng("dropout");
            let x = &x - random::normal(&key, x.shape(), DType::F32);
            -scope.named("dense", &Dense::new(2), x)
        };
        let large = x[1].reshape(()).gt(0.0);
        vec![linen::cond(scope, large, yes, no, x[0].clone())]
    };
    golden.case("cond_true").linen(choice);
    golden.case("cond_false").linen(choice);
    let case = golden.case("switch");
    case.linen(|scope, x| {
        let head = |i: usize| {
            move |scope: &mut Scope, x: Array| {
                let y = scope.named(&format!("heads_{i}"), &Dense::new(4 + i), x);
                y.sum_over(1).reshape(&[4, 1])
            }
        };
        let (a, b, c) = (head(0), head(1), head(2));
        let branches: [&dyn Fn(&mut Scope, Array) -> Array; 3] = [&a, &b, &c];
        if scope.is_initializing() {
            for branch in branches {
                branch(scope, x[0].clone());
            }
        }
        let y = linen::switch(scope, &x[1], &branches, x[0].clone());
        vec![scope.named("out", &Dense::new(2), y)]
    });
}

/// Steps until a count is reached.
struct Loop;

impl Module for Loop {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        scope.variable("state", "n", || Array::scalar(0, DType::I32));
        let body = |scope: &mut Scope, c: Array| {
            if !scope.is_initializing() {
                let n = scope.get_variable("state", "n").expect("made before");
                scope.put_variable("state", "n", n + 1);
            }
            let c = scope.named("dense", &Dense::new(3), c).tanh();
            let key = scope.make_rng("dropout");
            &c + random::normal(&key, c.shape(), DType::F32)
        };
        if scope.is_initializing() {
            return body(scope, x);
        }
        let more = |scope: &mut Scope, _: Array| {
            let n = scope.get_variable("state", "n").expect("made before");
            n.lt(3)
        };
        let options = While::carrying("state").split_rngs("dropout", true);
        linen::while_loop(scope, &options, more, body, x)
    }
}

#[test]
fn while_loop() {
    let golden = Golden::open("flax_lift");
    let case = golden.case("while_loop");
    let x = case.inputs().remove(0);
    let keys = [("params", random::key(0)), ("dropout", random::key(1))];
    let made = Loop.init(keys, x.clone());
    case.expect_exactly("init", &State::of(&made));
    let options = Apply::new()
        .mutable("state")
        .rngs([("dropout", random::key(2))]);
    let (out, updates) = Loop.apply_with(&made, x, &options);
    case.expect("out", &State::of(&vec![out]));
    case.expect("after", &State::of(&updates));
}

struct Derivatives;

impl Module<Array, Vec<Array>> for Derivatives {
    fn call(&self, scope: &mut Scope, x: Array) -> Vec<Array> {
        let f = |scope: &mut Scope, x: Array| scope.named("dense", &Dense::new(2), x).tanh();
        if scope.is_initializing() {
            return vec![f(scope, x)];
        }
        let (y, pull) = linen::vjp(scope, f, x.clone(), "params");
        let (params, dx) = pull(y.cos());
        let tangents = scope.variables("params").map(Array::ones_like);
        let tangents = Variables::from_params(tangents);
        let (y2, dy) = linen::jvp(scope, f, x.clone(), x.sin(), &tangents);
        let sum = |scope: &mut Scope, x: Array| f(scope, x).sum();
        let (v, g) = linen::value_and_grad(scope, sum, x.clone());
        let again = linen::grad(scope, sum, x);
        assert_eq!(again.shape(), g.shape());
        let kernel = params["params"]["dense.kernel"].clone();
        vec![y, kernel, dx, y2, dy, v, g]
    }
}

#[test]
fn derivatives() {
    let golden = Golden::open("flax_lift");
    let case = golden.case("derivatives");
    let x = case.inputs().remove(0);
    let keys = [("params", random::key(0)), ("dropout", random::key(1))];
    let made = Derivatives.init(keys, x.clone());
    case.expect_exactly("init", &State::of(&made));
    case.expect("out", &State::of(&Derivatives.apply(&made, x)));
    // Gradients of parameters are replaced by their signs.
    let dense = |scope: &mut Scope, x: Array| scope.named("dense", &Dense::new(2), x);
    golden.case("custom_vjp").linen(|scope, x| {
        let y = linen::custom_vjp(
            scope,
            dense,
            move |scope, x| (dense(scope, x.clone()), (scope.variables("params"), x)),
            move |(params, x): (State, Array), y_bar: Array| {
                let again = |(params, x): (State, Array)| {
                    let variables = Variables::from_params(params);
                    linen::apply(&variables, &Apply::new(), |s| dense(s, x)).0
                };
                let (params, x) = vjp(again, (params, x)).1(y_bar);
                (Variables::from_params(params.map(Array::sign)), x)
            },
            "params",
            x[0].clone(),
        );
        vec![y.tanh()]
    });
}

#[test]
fn map_variables() {
    let golden = Golden::open("flax_lift");
    fn each(variables: Variables, f: impl Fn(&Array) -> Array) -> Variables {
        tree::map(&variables, f)
    }
    let signs = linen::map_variables(Dense::new(2), "params", |v| each(v, Array::sign));
    golden.case("map_variables").linen(one(signs.initialized()));
    let halved = linen::map_variables(Noisy(2), ["params", "state"], |v| each(v, |a| a * 2.0))
        .change_out(|v| each(v, |a| a / 2.0))
        .mutable();
    golden
        .case("map_variables_mutable")
        .linen(|scope, x| vec![scope.child(&halved, x[0].clone())]);
}

/// A block with statistics and dropout.
#[derive(Clone)]
struct Normalized;

impl Module<(Array, ()), (Array, ())> for Normalized {
    fn call(&self, scope: &mut Scope, (x, ()): (Array, ())) -> (Array, ()) {
        let y: Array = scope.child(&Dense::new(3).without_bias(), x.clone());
        let norm = BatchNorm::new().use_running_average(false).momentum(0.5);
        let y: Array = scope.child(&norm, y);
        let y: Array = scope.child(&Dropout::new(0.5).deterministic(false), y.tanh());
        (x + y, ())
    }
}

#[test]
fn layers_with_statistics() {
    let golden = Golden::open("flax_lift");
    let blocks = linen::scan(linen::remat(Normalized))
        .variable_axes(["params", "batch_stats"], 0)
        .split_rngs(["params", "dropout"], true)
        .length(3);
    golden.case("scan_normalized").linen(|scope, x| {
        let (x, ()) = scope.child(&blocks, (x[0].clone(), ()));
        vec![x]
    });
    let norm = BatchNorm::new().use_running_average(false).momentum(0.5);
    let norm = linen::vmap(norm.axis_name("groups"))
        .variable_axes(["params", "batch_stats"], None)
        .split_rngs("params", false)
        .axis_name("groups");
    golden.case("vmap_normalized").linen(|scope, x| {
        let y: Array = scope.child(&norm, x[0].clone());
        vec![y]
    });
}

/// A layer with a sharding.
#[derive(Clone)]
struct Sharded;

impl Module<(Array, ()), (Array, ())> for Sharded {
    fn call(&self, scope: &mut Scope, (x, ()): (Array, ())) -> (Array, ()) {
        let kernel = init::lecun_normal().with_partitioning(P!["in", "out"]);
        (scope.child(&Dense::new(3).kernel_init(kernel), x), ())
    }
}

#[test]
fn names_of_axes() {
    let x = Array::ones(&[2, 3], DType::F32);
    let deep = linen::scan(Sharded)
        .variable_axes("params", 1)
        .split_rngs("params", true)
        .partition_name("layers")
        .length(2);
    let made = deep.init(random::key(0), (x.clone(), ()));
    let specs = made.partition_spec();
    assert_eq!(specs["params.Dense_0.kernel"], P!["in", "layers", "out"]);
    assert_eq!(specs["params.Dense_0.bias"], P![]);
    assert_eq!(made["params"]["Dense_0.kernel"].shape(), [3, 2, 3]);
    let (out, ()) = deep.apply(&made, (x.clone(), ()));
    assert_eq!(out.shape(), [2, 3]);

    let many = linen::vmap(
        linen::scan(Sharded)
            .variable_axes("params", 0)
            .split_rngs("params", true)
            .partition_name("layers")
            .length(2),
    )
    .variable_axes("params", -1)
    .split_rngs("params", true)
    .partition_name("models");
    let made = many.init(random::key(0), (stack(&[&x, &x], 0), ()));
    let specs = made.partition_spec();
    assert_eq!(
        specs["params.Dense_0.kernel"],
        P!["layers", "in", "out", "models"]
    );

    let named = linen::add_metadata_axis(Sharded, "params", 0, "layers");
    let made = named.init(random::key(0), (x, ()));
    let specs = made.partition_spec();
    assert_eq!(specs["params.Dense_0.kernel"], P!["layers", "in", "out"]);
}
