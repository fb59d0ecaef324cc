//! Mistakes are explained: what was expected, what came, and what to do.

use ramie_core::{Array, DType, State};
use ramie_optim::*;
use ramie_testing::assert_panics;

fn params() -> State {
    State::from_iter([
        ("a", Array::from([1.0f32, -2.0])),
        ("b", Array::from([[0.5f32, 1.0], [2.0, 3.0]])),
    ])
}

/// A step without parameters or extra arguments.
fn step(tx: impl Into<GradientTransformation>) {
    let tx = tx.into();
    tx.update(params(), tx.init(&params()), None);
}

#[test]
fn parameters_that_are_needed() {
    let needing: Vec<(&str, GradientTransformation)> = vec![
        ("add_decayed_weights", add_decayed_weights(0.1)),
        ("scale_by_trust_ratio", scale_by_trust_ratio().into()),
        ("scale_by_factored_rms", scale_by_factored_rms().into()),
        ("scale_by_novograd", scale_by_novograd().into()),
        ("adaptive_grad_clip", adaptive_grad_clip(0.1).into()),
        ("keep_params_nonnegative", keep_params_nonnegative()),
        ("scale_by_param_block_rms", scale_by_param_block_rms(1e-3)),
        ("scale_by_lbfgs", scale_by_lbfgs().into()),
        ("prodigy", contrib::prodigy().into()),
        ("schedule_free", contrib::schedule_free_sgd(0.1).into()),
        ("sam", contrib::sam(sgd(0.1), sgd(0.1)).into()),
    ];
    for (name, tx) in needing {
        assert_panics(
            || step(tx),
            &[
                &format!("{name}: `update` was called without parameters"),
                "help: pass Some(&params)",
            ],
        );
    }
}

#[test]
fn extra_arguments_that_are_needed() {
    assert_panics(
        || step(polyak_sgd()),
        &[
            "scale_by_polyak: `update` was called without the value of the objective",
            "ExtraArgs::new().value(&loss)",
        ],
    );
    let tx = lbfgs();
    let with_value = || {
        let extra = ExtraArgs::new().value(&Array::scalar(1.0, DType::F32));
        tx.update_with(params(), tx.init(&params()), Some(&params()), &extra);
    };
    assert_panics(
        with_value,
        &[
            "scale_by_zoom_linesearch",
            "without the gradients",
            "grad(&grads)",
        ],
    );
}

#[test]
fn states_of_others() {
    let other = GradientTransformation::from(sgd(0.1)).init(&params());
    let tx = adam(0.1);
    let state = scale(1.0).init(&params());
    assert_panics(
        || drop(tx.update(params(), state, None)),
        &[
            "the state belongs to another transformation",
            "help: pass the state that this",
        ],
    );
    let long = chain((adam(0.1), scale(1.0), scale(1.0)));
    assert_panics(
        || drop(long.update(params(), other, None)),
        &["chain: the state has 2 parts, but the chain has 3 transformations"],
    );
}

#[test]
fn updates_of_other_parameters() {
    let tx = adam(0.1);
    let state = tx.init(&params());
    let other = State::from_iter([("c", Array::from(1.0f32))]);
    assert_panics(
        || drop(tx.update(other, state, None)),
        &[
            "the states have different paths",
            "only in the first: c",
            "only in the second: a, b",
        ],
    );
}

#[test]
fn masks_of_another_structure() {
    let missing = masked_by(trace(0.9), Mask::from_iter([("a", true)]));
    assert_panics(
        || drop(missing.init(&params())),
        &[
            "masked_by: the mask does not match the parameters",
            "parameters without an entry: b",
            "help:",
        ],
    );
    let unused = masked_by(
        trace(0.9),
        Mask::from_iter([("a", true), ("b", false), ("c.d", true)]),
    );
    assert_panics(
        || drop(unused.init(&params())),
        &["entries without a parameter: c.d"],
    );
    let fits = masked_by(trace(0.9), Mask::from_iter([("a", true), ("b", false)]));
    let state = fits.init(&params());
    assert_eq!(ramie_core::tree::paths(&state), ["inner_state.trace.a"]);
}

#[test]
fn names_and_labels() {
    let twice: [(&str, GradientTransformation); 2] = [("x", clip(1.0)), ("x", scale(2.0))];
    assert_panics(
        || drop(named_chain(twice)),
        &["named_chain: two transformations are named `x`"],
    );
    let groups: [(&str, GradientTransformation); 1] = [("known", clip(1.0))];
    let tx = partition(groups, |path, _| path.to_owned());
    assert_panics(
        || drop(tx.init(&params())),
        &[
            "partition: `a` has the label `a`",
            "use one of these labels: known",
        ],
    );
    let tx: GradientTransformation =
        inject_hyperparams([("rate", 0.1)], |h| sgd(h.get("learning_rate"))).into();
    assert_panics(
        || drop(tx.init(&params())),
        &[
            "there is no hyperparameter `learning_rate`",
            "use one of these names: rate",
        ],
    );
    let mut state = GradientTransformation::from(adam(0.1)).init(&params());
    assert_panics(
        || tree::set(&mut state, "nothing", 1),
        &["no array matches `nothing`", "0.count"],
    );
}

#[test]
fn numbers_out_of_range() {
    assert_panics(
        || drop(multi_steps(sgd(0.1), 0)),
        &["multi_steps: `every` is 0"],
    );
    assert_panics(|| drop(apply_every(0)), &["apply_every: k is 0"]);
    assert_panics(
        || drop(sgd(Array::from([0.1f32, 0.2]))),
        &["hyperparameter: expected a 0-d array, got f32[2]", "vmap"],
    );
    let plateau = contrib::reduce_on_plateau().factor(2.0);
    assert_panics(
        || drop(GradientTransformation::from(plateau)),
        &["factor is 2"],
    );
    let ahead = lookahead(sgd(0.1), 5usize, 0.5);
    assert_panics(
        || drop(ahead.init(&params())),
        &["no matching `fast` and `slow` parts", "init_synced"],
    );
}

#[test]
fn numbers_that_are_not_finite() {
    let nan = f64::NAN;
    let rates: [(&str, f64); 1] = [("b1", nan)];
    let calls: Vec<(&str, Box<dyn Fn()>)> = vec![
        ("learning_rate", Box::new(move || _ = sgd(nan))),
        ("learning_rate", Box::new(move || _ = adam(f64::INFINITY))),
        ("learning_rate", Box::new(move || _ = nadamw(f32::NAN))),
        (
            "learning_rate",
            Box::new(move || _ = scale_by_learning_rate(nan)),
        ),
        (
            "learning_rate",
            Box::new(move || _ = lbfgs().learning_rate(nan)),
        ),
        (
            "learning_rate",
            Box::new(move || _ = adafactor().learning_rate(nan)),
        ),
        (
            "adam_learning_rate",
            Box::new(move || _ = contrib::muon(0.1).adam_learning_rate(Some(nan.into()))),
        ),
        ("b2", Box::new(move || _ = adam(0.1).b2(nan))),
        (
            "eps",
            Box::new(move || _ = scale_by_adam().eps(f64::NEG_INFINITY)),
        ),
        ("momentum", Box::new(move || _ = sgd(0.1).momentum(nan))),
        (
            "weight_decay",
            Box::new(move || _ = adamw(0.1).weight_decay(f64::INFINITY)),
        ),
        (
            "weight_decay",
            Box::new(move || _ = add_decayed_weights(nan)),
        ),
        ("max_norm", Box::new(move || _ = clip_by_global_norm(nan))),
        ("max_delta", Box::new(move || _ = clip(nan))),
        ("threshold", Box::new(move || _ = clip_by_block_rms(nan))),
        ("clipping", Box::new(move || _ = adaptive_grad_clip(nan))),
        (
            "clipping_threshold",
            Box::new(move || _ = adafactor().clipping_threshold(Some(nan))),
        ),
        ("step_size", Box::new(move || _ = scale(f64::INFINITY))),
        ("decay", Box::new(move || _ = ema(nan))),
        (
            "eta",
            Box::new(move || _ = add_noise(nan, 0.5, ramie_core::random::key(0))),
        ),
        ("b3", Box::new(move || _ = contrib::prodigy().b3(Some(nan)))),
        (
            "l2_norm_clip",
            Box::new(move || _ = contrib::dpsgd(0.1).l2_norm_clip(f64::INFINITY)),
        ),
        (
            "init_step",
            Box::new(move || _ = contrib::dog().init_step(contrib::DogInit::Distance(nan))),
        ),
        ("value", Box::new(move || _ = constant_schedule(nan))),
        (
            "init_value",
            Box::new(move || _ = linear_schedule(nan, 0.0, 10)),
        ),
        (
            "alpha",
            Box::new(move || _ = cosine_decay_schedule(0.1, 10, nan, 1.0)),
        ),
        (
            "init_value",
            Box::new(move || _ = piecewise_constant_schedule(nan, &[])),
        ),
        (
            "b1",
            Box::new(move || _ = inject_hyperparams(rates, |h| adam(0.1).b1(h.get("b1")))),
        ),
        (
            "step_size",
            Box::new(move || _ = incremental_update(&params(), &params(), nan)),
        ),
    ];
    for (name, call) in calls {
        let name = format!("hyperparameter: `{name}` is ");
        assert_panics(call, &[&name, "expected a finite number\n  help: "]);
    }
}

#[test]
fn limits_may_be_infinite() {
    let infinity = f64::INFINITY;
    let _ = (clip(infinity), clip_by_block_rms(infinity));
    let _ = scale_by_backtracking_linesearch().max_learning_rate(infinity);
    let tx = clip_by_global_norm(infinity);
    let (updates, _) = tx.update(params(), tx.init(&params()), None);
    assert_eq!(updates["a"].to_vec::<f32>(), [1.0, -2.0]);
}

#[test]
fn negative_learning_rates() {
    let words = [
        "hyperparameter: `learning_rate` is -0.1, expected at least 0",
        "help: the updates already point downhill; to maximize the objective, negate it",
        "scale_by_learning_rate_with(0.1, false)",
    ];
    assert_panics(|| _ = sgd(-0.1), &words);
    assert_panics(|| _ = scale_by_learning_rate(-0.1), &words);
    assert_panics(|| _ = contrib::madgrad(-0.1), &words);
    let rates = [("learning_rate", -0.1)];
    assert_panics(
        || _ = inject_hyperparams(rates, |h| sgd(h.get("learning_rate"))),
        &words,
    );
    // The last transformation of many chains.
    let _ = (
        scale(-0.1),
        scale_by_learning_rate_with(0.1, false),
        sgd(0.0),
    );
}
