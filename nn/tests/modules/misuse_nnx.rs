//! Mistakes with models in the way of NNX are explained: what was called, what
//! it got, and what to do.

use ramie_core::{Array, DType, State, jit};
use ramie_nn::metrics::{Accuracy, Average, Metric, MetricArgs};
use ramie_nn::nnx::{self, Carry, Ema, Everything, ReseedPolicy, StateAxes, of_type};
use ramie_nn::{
    BatchStat, Linear, Module, Optimizer, Param, RngStream, Rngs, Tree, grad, value_and_grad,
};
use ramie_optim::sgd;
use ramie_testing::assert_explained;

#[derive(Module)]
struct Model {
    linear: Linear,
    mean: BatchStat,
    scale: usize,
}

fn model() -> Model {
    Model {
        linear: Linear::new(2, 3, &mut Rngs::new(0)),
        mean: BatchStat::new(Array::from(0.0f32)),
        scale: 1,
    }
}

fn input() -> Array {
    Array::ones(&[1, 2], DType::F32)
}

#[test]
fn a_stream_that_is_missing() {
    let call = || drop(Linear::new(2, 3, &mut Rngs::empty().stream("dropout", 0)));
    assert_explained(
        call,
        &["neither a stream `params`", "dropout", "Rngs::new(seed)"],
    );
}

#[test]
fn a_split_stream_outside_of_vmap() {
    let call = || drop(Linear::new(2, 3, &mut Rngs::new(0).split(4)));
    assert_explained(call, &["`default`", "array of keys", "[4]", "nnx::vmap"]);
}

#[test]
fn an_optimizer_of_nothing() {
    let stats = (BatchStat::new(Array::from(0.0f32)),);
    assert_explained(
        || drop(Optimizer::new(&stats, sgd(0.1))),
        &["Optimizer", "no leaf", "Param"],
    );
}

#[test]
fn gradients_of_nothing() {
    let mut stats = (BatchStat::new(Array::from(0.0f32)),);
    let call = || drop(value_and_grad(&mut stats, |s| s.0.square()));
    assert_explained(call, &["no parameters to differentiate", "Param"]);
}

#[test]
fn gradients_of_another_model() {
    let mut model = model();
    let mut optimizer = Optimizer::new(&model, sgd(0.1));
    let mut other = Linear::new(2, 3, &mut Rngs::new(0));
    let grads = grad(&mut other, |m| m.forward(&input()).sum());
    let call = || optimizer.update(&mut model, grads);
    assert_explained(
        call,
        &[
            "without gradient: linear.kernel",
            "unknown to the optimizer: kernel",
        ],
    );
}

#[test]
fn a_model_that_the_optimizer_was_not_made_for() {
    let mut first = model();
    let mut optimizer = Optimizer::new(&first, sgd(0.1));
    let grads = grad(&mut first, |m| m.linear.forward(&input()).sum());
    let mut other = Linear::new(2, 3, &mut Rngs::new(0));
    let call = || optimizer.update(&mut other, grads);
    assert_explained(call, &["the model has no linear.kernel"]);
}

#[test]
fn a_split_that_leaves_leaves() {
    let call = || drop(nnx::split(&model(), of_type::<Param>()));
    assert_explained(call, &["nnx::split", "mean", "Everything"]);
}

#[test]
fn a_merge_without_some_leaves() {
    let (graphdef, (params, _)) = nnx::split(&model(), (of_type::<Param>(), Everything));
    assert_explained(
        || drop(nnx::merge(&graphdef, params)),
        &["nnx::merge", "missing: mean"],
    );
}

#[test]
fn a_merge_with_leaves_of_others() {
    let (graphdef, state) = nnx::split(&model(), ());
    let more = State::from_iter([("linear.extra", Array::from(1.0f32))]);
    let call = || drop(nnx::merge(&graphdef, (state.clone(), more)));
    assert_explained(call, &["not in the model: linear.extra"]);
    let call = || drop(nnx::merge(&graphdef, (state.clone(), state.clone())));
    assert_explained(call, &["in two states: linear.kernel"]);
}

#[test]
fn an_update_of_another_shape() {
    let mut model = model();
    let state = State::from_iter([("linear.bias", Array::zeros(&[5], DType::F32))]);
    assert_explained(
        || nnx::update(&mut model, state),
        &["nnx::update", "linear.bias", "f32[5]"],
    );
}

#[test]
fn a_branch_that_changes_the_structure() {
    let run = jit(|model: &mut Model, pred: Array| {
        nnx::cond(pred, model, |m| m.scale = 2, |_| ());
    });
    let mut model = model();
    let call = || run(&mut model, Array::from(true));
    assert_explained(
        call,
        &[
            "nnx::cond",
            "true_fn",
            "at `scale`, before has `1`, after has `2`",
        ],
    );
}

#[test]
fn a_loop_that_changes_the_structure() {
    let mut model = model();
    let call = || nnx::fori_loop(0, 2, &mut model, |_, m| m.linear.bias = None);
    assert_explained(
        call,
        &[
            "nnx::fori_loop",
            "structure",
            "at `linear.bias`, before has",
        ],
    );
}

#[test]
fn a_step_that_changes_what_all_share() {
    let mut model = model();
    let axes = StateAxes::all(None);
    let options = nnx::ScanOptions::from(axes).length(2);
    let call = || {
        nnx::scan(&mut model, input(), (), options, |m, x, ()| {
            m.mean.set(&*m.mean + 1.0);
            (x, ())
        });
    };
    assert_explained(call, &["nnx::scan", "`mean`", "Carry"]);
}

#[test]
fn layers_that_are_not_stacked() {
    let mut model = model();
    let call = || drop(nnx::scan(&mut model, input(), (), 0, |_, x, ()| (x, ())));
    assert_explained(call, &["`mean`", "no axis 0", "split streams"]);
}

#[test]
fn axes_that_leave_leaves_out() {
    let mut model = model();
    let axes = StateAxes::new().with(of_type::<Param>(), 0);
    let call = || drop(nnx::vmap(&mut model, input(), axes, |_, x| x));
    assert_explained(call, &["nnx::vmap", "`mean` (batch_stat)", "Everything"]);
    let axes = StateAxes::all(Carry);
    let call = || drop(nnx::vmap(&mut model, input(), axes, |_, x| x));
    assert_explained(call, &["Carry", "nnx::scan"]);
}

#[test]
fn streams_that_cannot_be_seeded() {
    #[derive(Tree)]
    struct Noise(RngStream);
    let mut noise = Noise(Rngs::new(0).get("dropout").fork().with_tag("dropout"));
    nnx::split_rngs(&mut noise, &[2], Everything);
    let seeds = || Rngs::empty().stream("dropout", 1);
    let call = || nnx::reseed(&mut noise, seeds(), ReseedPolicy::ScalarsOnly);
    assert_explained(call, &["nnx::reseed", "[2]", "MatchShape"]);
}

#[test]
fn metrics_without_their_arguments() {
    let mut average = Average::of("loss");
    let call = || average.update(&MetricArgs::from(&Array::from(1.0f32)));
    assert_explained(call, &["`loss`", "existing arguments: values"]);
    let mut accuracy = Accuracy::new();
    let (logits, labels) = (Array::from([0.1f32, 0.9]), Array::from([0, 1]));
    let call = || accuracy.update(&MetricArgs::new().logits(&logits).labels(&labels));
    assert_explained(call, &["Accuracy", "f32[2]", "with_threshold"]);
}

#[test]
fn averages_of_what_is_no_variable() {
    let model = (Array::from(1.0f32),);
    assert_explained(
        || drop(Ema::new(&model, 0.9, Everything)),
        &["Ema", "0 are plain arrays", "Param"],
    );
}
