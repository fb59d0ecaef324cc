//! NNX against Flax: streams of keys, transformations that carry state out,
//! metrics, averages.

use crate::common;

use common::{Case, Golden, last_bits};
use ramie_core::random::CovarianceRoot;
use ramie_core::{Array, DType, State, Tree, jit, random};
use ramie_nn::linen::{self, Apply, Module as _};
use ramie_nn::metrics::{Accuracy, Average, Metric, MetricArgs, MultiMetric, Welford};
use ramie_nn::nnx::{self, Carry, Ema, Everything, ReseedPolicy, StateAxes, VmapOptions, of_type};
use ramie_nn::{BatchNorm, BatchStat, Linear, Module, Optimizer, Param, RngStream, Rngs, grad};
use ramie_optim::sgd;

fn case(name: &str) -> Case {
    Golden::open("flax_nnx").case(name)
}

#[track_caller]
fn equal(got: &Array, expected: &Array) {
    assert_eq!(got.aval().to_string(), expected.aval().to_string());
    assert!(
        got.array_equal(expected).item::<bool>(),
        "got {got}\nexpected {expected}"
    );
}

#[track_caller]
fn close(got: &Array, expected: &Array) {
    within(got, expected, 1e-5);
}

/// Compares initial values.
#[track_caller]
fn initial(got: &Array, expected: &Array) {
    within(got, expected, last_bits(2.5e-7) as f32);
}

#[track_caller]
fn within(got: &Array, expected: &Array, tolerance: f32) {
    assert_eq!(got.shape(), expected.shape());
    let (got, expected) = (got.to_vec::<f32>(), expected.to_vec::<f32>());
    let greatest = expected.iter().fold(1e-6f32, |m, v| m.max(v.abs()));
    for (g, e) in got.iter().zip(&expected) {
        assert!(
            (g - e).abs() <= tolerance * greatest,
            "got {got:?}\nexpected {expected:?}"
        );
    }
}

#[track_caller]
fn close_state<T: Tree>(got: &T, expected: &State) {
    let got = State::of(got);
    assert_eq!(got.len(), expected.len(), "{got:?}\n{expected:?}");
    for (path, array) in expected.iter() {
        match array.dtype() {
            DType::F32 => close(&got[path], array),
            _ => equal(&got[path], array),
        }
    }
}

/// A layer with a parameter, a statistic and noise.
#[derive(Module)]
struct Block {
    linear: Linear,
    calls: BatchStat,
    rngs: RngStream,
}

impl Block {
    fn new(rngs: &mut Rngs) -> Block {
        Block {
            linear: Linear::new(3, 3, rngs),
            calls: BatchStat::new(Array::scalar(0.0, DType::F32)),
            rngs: rngs.get("dropout").fork(),
        }
    }

    fn forward(&mut self, x: &Array) -> Array {
        self.calls.set(&*self.calls + x.mean());
        let noise = self.rngs.normal(x.shape(), DType::F32);
        self.linear.forward(x).tanh() + noise * 0.1
    }
}

fn rngs() -> Rngs {
    Rngs::empty().stream("params", 0).stream("dropout", 1)
}

fn stacked() -> Block {
    let mut rngs = rngs();
    nnx::split_rngs(&mut rngs, &[4], Everything);
    nnx::vmap(&mut rngs, (), 0, |rngs, ()| Block::new(rngs))
}

#[test]
fn streams_give_flaxs_keys() {
    let golden = case("rngs");
    let mut rngs = rngs();
    let data = |stream: &mut RngStream| random::key_data(&stream.key.0).clone();
    equal(&data(rngs.split(3).get("params")), &golden.array("split"));
    equal(&data(rngs.fork().get("params")), &golden.array("fork"));
    equal(
        &data(rngs.broadcast(2).get("dropout")),
        &golden.array("broadcast"),
    );
    equal(random::key_data(&rngs.params()), &golden.array("next"));
    equal(&rngs.get("params").count, &golden.array("count"));

    let mut rngs = Rngs::new(7);
    equal(&rngs.uniform(&[3], DType::F32), &golden.array("uniform"));
    let normal = rngs.normal(&[2, 2], DType::F32);
    within(&normal, &golden.array("normal"), last_bits(0.0) as f32);
    equal(
        &rngs.randint(&[4], 0, 10, DType::I32),
        &golden.array("randint"),
    );
    equal(&rngs.bernoulli(0.5, &[5]), &golden.array("bernoulli"));
    every_sampler(&mut rngs, &golden);
}

/// Compares the other samplers, in the order in which the script called them.
fn every_sampler(rngs: &mut Rngs, golden: &Case) {
    const F32: DType = DType::F32;
    let probabilities = Array::from([0.2f32, 0.3, 0.5]);
    let mean = Array::from([1.0f32, 2.0]);
    let covariance = Array::from([[2.0f32, 0.5], [0.5, 1.0]]);
    let root = CovarianceRoot::Cholesky;
    let drawn = [
        ("ball", rngs.ball(3, 2.0, &[2], F32)),
        ("binomial", rngs.binomial(10.0, 0.3, &[4], F32)),
        ("chisquare", rngs.chisquare(3.0, &[3], F32)),
        (
            "double_sided_maxwell",
            rngs.double_sided_maxwell(1.0, 2.0, &[3], F32),
        ),
        ("f", rngs.f(5.0, 6.0, &[3], F32)),
        (
            "generalized_normal",
            rngs.generalized_normal(1.5, &[3], F32),
        ),
        ("geometric", rngs.geometric(0.3, &[4], DType::I32)),
        ("loggamma", rngs.loggamma(0.5, &[3], F32)),
        ("lognormal", rngs.lognormal(0.5, &[3], F32)),
        ("maxwell", rngs.maxwell(&[3], F32)),
        ("multinomial", rngs.multinomial(20.0, &probabilities, F32)),
        (
            "multivariate_normal",
            rngs.multivariate_normal(&mean, &covariance, &[2], F32, root),
        ),
        ("pareto", rngs.pareto(3.0, &[3], F32)),
        ("rayleigh", rngs.rayleigh(2.0, &[3], F32)),
        ("t", rngs.t(4.0, &[3], F32)),
        ("triangular", rngs.triangular(0.0, 0.25, 1.0, &[3], F32)),
        ("wald", rngs.wald(2.0, &[3], F32)),
        ("weibull_min", rngs.weibull_min(2.0, 1.5, &[3], F32)),
    ];
    for (name, values) in drawn {
        let expected = golden.array(name);
        assert_eq!(values.dtype(), expected.dtype(), "{name}");
        within(&values.astype(F32), &expected.astype(F32), 1e-5);
    }
}

#[test]
fn streams_inside_of_models_are_split_forked_and_seeded() {
    let golden = case("split_rngs");
    #[derive(Module)]
    struct Noise {
        stream: RngStream,
    }
    let mut model = Noise {
        stream: rngs().get("dropout").fork(),
    };
    let check = |model: &Noise, key: &str, count: &str| {
        equal(random::key_data(&model.stream.key.0), &golden.array(key));
        equal(&model.stream.count, &golden.array(count));
    };
    let backups = nnx::split_rngs(&mut model, &[4], Everything);
    check(&model, "key", "count");
    nnx::restore_rngs(&mut model, backups);
    check(&model, "restored", "restored_count");
    nnx::fork_rngs(&mut model, Everything);
    check(&model, "forked", "forked_count");
    let seeds = Rngs::empty().stream("dropout", 42);
    nnx::reseed(&mut model, seeds, ReseedPolicy::ScalarsOnly);
    check(&model, "reseeded", "reseeded_count");
}

#[test]
fn layers_are_stacked_by_mapping_their_constructor() {
    let layers = stacked();
    let init = case("stacked").below("init");
    for (path, array) in init.iter() {
        match array.dtype() {
            DType::F32 => initial(&State::of(&layers)[path], array),
            _ => equal(&State::of(&layers)[path], array),
        }
    }

    let golden = case("vmap");
    let mut layers = stacked();
    let y = nnx::vmap(&mut layers, golden.array("xs"), 0, |m, x| m.forward(&x));
    close(&y, &golden.array("y"));
    close_state(&layers, &golden.below("after"));
}

#[test]
fn a_scan_over_stacked_layers_carries_their_state_out() {
    let golden = case("scan");
    let x = golden.array("x");
    let step = |layers: &mut Block| {
        let ((loss, (y, sums)), grads) = ramie_nn::value_and_grad(layers, |layers| {
            let (y, sums) = nnx::scan(layers, x.clone(), (), 0, |m, x, ()| {
                let y = m.forward(&x);
                let sum = y.sum();
                (y, sum)
            });
            (y.square().mean(), (y, sums))
        });
        (loss, y, sums, grads)
    };
    let check = |layers: &Block, (loss, y, sums, grads): (Array, Array, Array, State)| {
        close(&loss, &golden.array("value"));
        close(&y, &golden.array("y"));
        close(&sums, &golden.array("sums"));
        close_state(&grads, &golden.below("grads"));
        close_state(layers, &golden.below("after"));
    };
    let mut layers = stacked();
    let out = step(&mut layers);
    check(&layers, out);
    // The same, compiled as a whole.
    let mut layers = stacked();
    let compiled = jit(step);
    let out = compiled(&mut layers);
    check(&layers, out);
}

#[test]
fn state_is_carried_from_step_to_step() {
    let golden = case("carried");
    let mut block = Block::new(&mut rngs());
    let axes = StateAxes::new()
        .with(of_type::<Param>(), None)
        .with(Everything, Carry);
    let options = nnx::ScanOptions::from(axes).length(3);
    let (y, ()) = nnx::scan(&mut block, golden.array("x"), (), options, |m, x, ()| {
        (m.forward(&x), ())
    });
    close(&y, &golden.array("y"));
    close_state(&block, &golden.below("after"));
}

#[test]
fn examples_share_parameters_and_have_their_own_keys() {
    let golden = case("shared");
    let mut block = Block::new(&mut rngs());
    nnx::split_rngs(&mut block, &[2], Everything);
    block.calls.set(Array::zeros(&[2], DType::F32));
    let axes = StateAxes::new()
        .with(of_type::<Param>(), None)
        .with(Everything, 0);
    let y = nnx::vmap(
        &mut block,
        golden.array("x"),
        VmapOptions::from(axes),
        |m, x| m.forward(&x),
    );
    close(&y, &golden.array("y"));
    close(&block.calls, &golden.array("calls"));
    assert_eq!(block.linear.kernel.shape(), [3, 3]);
}

#[test]
fn control_flow_carries_state_out() {
    let golden = case("control");
    let run = |both: &mut (Block, Array)| {
        nnx::cond(Array::from(true), both, |b| b.1 = b.0.forward(&b.1), |_| ());
        nnx::switch(1, both, &[&|_| (), &|b| b.1 = b.0.forward(&b.1)]);
        let (block, y) = both;
        *y = nnx::remat(block, y.clone(), |m, x| m.forward(&x));
        nnx::fori_loop(0, 2, both, |_, b| b.1 = b.0.forward(&b.1));
        assert_eq!(both.0.linear.kernel.shape(), [3, 3]);
    };
    let start = || (Block::new(&mut rngs()), golden.array("x"));
    let check = |both: &(Block, Array)| {
        close(&both.1, &golden.array("y"));
        close_state(&both.0, &golden.below("after"));
    };
    let mut eager = start();
    run(&mut eager);
    check(&eager);
    let mut compiled = start();
    jit(run)(&mut compiled);
    check(&compiled);
}

#[test]
fn metrics_gather_over_batches() {
    let golden = case("metrics");
    let (mut average, mut welford) = (Average::new(), Welford::new());
    assert!(average.compute().item::<f32>().is_nan());
    for i in 0..3 {
        let args = MetricArgs::from(&golden.array(&format!("loss{i}")));
        average.update(&args);
        // Inside of a compiled function it is state.
        jit(|w: &mut Welford, values: Array| w.update(&(&values).into()))(
            &mut welford,
            golden.array(&format!("loss{i}")),
        );
        close(&average.compute(), &golden.array(&format!("average{i}")));
        let s = welford.compute();
        let parts = [&s.mean, &s.standard_error_of_mean, &s.standard_deviation];
        let expected = golden.array(&format!("welford{i}")).to_vec::<f32>();
        for (part, e) in parts.into_iter().zip(expected) {
            close(part, &Array::from(e));
        }
    }
    let mut masked = Average::new();
    for i in 0..2 {
        let (values, mask) = (
            golden.array(&format!("loss{i}")),
            golden.array(&format!("mask{i}")),
        );
        masked.update(&MetricArgs::new().values(&values).mask(&mask));
        close(&masked.compute(), &golden.array(&format!("masked{i}")));
    }
    let mut multi = MultiMetric::new()
        .with("accuracy", Accuracy::new())
        .with("loss", Average::of("loss"));
    for i in 0..2 {
        let get = |name: &str| golden.array(&format!("{name}{i}"));
        let args = MetricArgs::new()
            .logits(&get("logits"))
            .labels(&get("labels"));
        jit(|m: &mut MultiMetric, loss: Array| m.update(&args.clone().with("loss", &loss)))(
            &mut multi,
            get("losses"),
        );
        close(&multi.compute()["accuracy"], &get("accuracy"));
        close(&multi.compute()["loss"], &get("mean"));
    }
    assert_eq!(
        multi.get::<Average>("loss").map(|a| a.count.item::<i32>()),
        Some(10)
    );
    multi.reset();
    assert!(multi.compute()["loss"].item::<f32>().is_nan());
    let mut binary = Accuracy::with_threshold(0.5);
    let (scores, labels) = (golden.array("scores"), golden.array("binary_labels"));
    binary.update(&MetricArgs::new().logits(&scores).labels(&labels));
    close(&binary.compute(), &golden.array("binary"));
}

#[test]
fn metrics_of_parts_are_joined() {
    // Examples of a mapped axis stand for devices.
    let values = Array::from([1.0f32, 5.0, -2.0, 0.5, 3.0, 3.0]).reshape(&[3, 2]);
    let mut whole = MultiMetric::new()
        .with("mean", Average::new())
        .with("all", Welford::new());
    whole.update(&MetricArgs::from(&values));
    let mut parts = MultiMetric::new()
        .with("mean", Average::new())
        .with("all", Welford::new());
    let options = VmapOptions::from(StateAxes::all(None)).axis_name("devices");
    nnx::vmap(&mut parts, values, options, |m, x| {
        m.update(&MetricArgs::from(&x));
        m.reduce(&"devices".into());
    });
    let (whole, parts) = (whole.compute(), parts.compute());
    for (path, value) in whole.iter() {
        close(&parts[path], value);
    }
}

#[test]
fn averages_follow_the_parameters() {
    let golden = case("ema");
    let mut model = Linear::new(2, 2, &mut Rngs::new(0));
    let mut optimizer = Optimizer::new(&model, sgd(0.1));
    let mut ema = Ema::new(&model, 0.9, Everything);
    let ones = Array::ones(&[1, 2], DType::F32);
    for _ in 0..3 {
        let grads = grad(&mut model, |m| (m.forward(&ones) - &ones).square().mean());
        optimizer.update(&mut model, grads);
        ema.update(&model);
    }
    close_state(&model, &golden.below("model"));
    close_state(&ema.apply_to(&model), &golden.below("average"));
}

#[test]
fn linen_modules_are_models() {
    let golden = case("to_nnx");
    let x = golden.array("x");
    let mut model = nnx::to_nnx(linen::Dense::new(3), &mut Rngs::new(0)).lazy_init(x.clone());
    let kernel = &State::of(&model)["params.kernel"];
    initial(kernel, &golden.array("kernel"));
    close(&model.call(x.clone()), &golden.array("y"));
    // It is optimized as others are.
    let loss = |m: &mut nnx::ToNnx<linen::Dense>| m.call(x.clone()).square().mean();
    let mut optimizer = Optimizer::new(&model, sgd(0.1));
    let step = jit(
        |(model, optimizer): &mut (nnx::ToNnx<linen::Dense>, Optimizer)| {
            let (value, grads) = ramie_nn::value_and_grad(model, loss);
            optimizer.update(model, grads);
            value
        },
    );
    let values: Vec<f32> = nnx::together((&mut model, &mut optimizer), |both| {
        (0..3).map(|_| step(both).item::<f32>()).collect()
    });
    assert!(values[2] < values[1] && values[1] < values[0], "{values:?}");
    assert_eq!(step.compilations(), 1);
}

#[test]
fn linen_modules_with_statistics_are_models() {
    let x = Array::arange(6).astype(DType::F32).reshape(&[3, 2]);
    let norm = linen::BatchNorm::new().use_running_average(false);
    let mut model = nnx::to_nnx(norm, &mut Rngs::new(0)).lazy_init(x.clone());
    let before = model.variables["batch_stats"]["mean"].to_vec::<f32>();
    let _: Array = model.call_with(x, "batch_stats");
    let after = model.variables["batch_stats"]["mean"].to_vec::<f32>();
    assert_eq!(before, [0.0, 0.0]);
    assert!(after.iter().all(|m| *m > 0.0), "{after:?}");
}

#[test]
fn models_are_linen_modules() {
    let golden = case("to_linen");
    let x = golden.array("x");
    let dense = nnx::to_linen(
        |rngs| Linear::new(4, 3, rngs),
        |m: &mut Linear, x: Array| m.forward(&x),
    );
    let variables = dense.init(random::key(0), x.clone());
    initial(&variables["params"]["kernel"], &golden.array("kernel"));
    close(&dense.apply(&variables, x.clone()), &golden.array("y"));

    #[derive(Clone)]
    struct Net;
    impl linen::Module for Net {
        fn call(&self, scope: &mut linen::Scope, x: Array) -> Array {
            let x = scope.child(&linen::Dense::new(3), x);
            let norm = nnx::to_linen(
                |rngs| BatchNorm::new(3, rngs),
                |m: &mut BatchNorm, x: Array| m.forward(&x),
            );
            scope.child(&norm, x)
        }
    }
    let golden = case("to_linen_nested");
    let variables = Net.init(random::key(0), x.clone());
    initial(
        &variables["params"]["Dense_0.kernel"],
        &golden.array("kernel"),
    );
    let options = Apply::new().mutable("batch_stats");
    let (y, updates) = Net.apply_with(&variables, x, &options);
    close(&y, &golden.array("y"));
    let stats = &updates["batch_stats"];
    close(&stats["BatchNorm_0.mean"], &golden.array("mean"));
    close(&stats["BatchNorm_0.var"], &golden.array("var"));
}

#[test]
fn streams_of_models_take_the_keys_of_the_scope() {
    let noise = nnx::to_linen(
        |rngs| rngs.get("noise").fork(),
        |stream: &mut RngStream, x: Array| x + stream.normal(&[2], DType::F32),
    );
    let x = Array::zeros(&[2], DType::F32);
    let keys = |seed: u64| Apply::new().rngs([("noise", random::key(seed))]);
    let first = [("params", random::key(0)), ("noise", random::key(1))];
    let variables = noise.init(first, x.clone());
    let draw = |seed| {
        noise
            .apply_with(&variables, x.clone(), &keys(seed))
            .0
            .to_vec::<f32>()
    };
    assert_eq!(draw(5), draw(5));
    assert_ne!(draw(5), draw(6));
}
