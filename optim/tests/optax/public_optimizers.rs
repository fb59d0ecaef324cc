//! Optimizers: reports about TensorFlow, fairscale, Optax and MXNet.
use ramie_core::{Array, DType, State};
use ramie_optim::contrib::reduce_on_plateau;
use ramie_optim::{
    ExtraArgs, GradientTransformation, LookaheadParams, apply_updates, clip_by_global_norm,
    global_norm, inject_hyperparams, lookahead, per_example_global_norm_clip, rmsprop,
    scale_by_backtracking_linesearch, sgd, tree,
};
use ramie_testing::panics::panic_message;

fn one(values: &[f32], dtype: DType) -> State {
    State::from_iter([("w", Array::from(values.to_vec()).astype(dtype))])
}

fn numbers(state: &State) -> Vec<f32> {
    state.arrays()[0].astype(DType::F32).to_vec::<f32>()
}

/// facebookresearch/fairscale#263, tensorflow/tensorflow#21363. The squares of finite gradients overflow, so
/// their norm is infinite, and the clipped gradients are all 0: nothing is learned, and nothing is reported. In
/// `f16` a norm of 256 suffices. (In `f32` it happens from 1.8e19 on, in Ramie too.)
/// Right: clipped gradients have the direction of the gradients and the norm of the limit: 3 : 4 gives 0.6 and
/// 0.8.
#[test]
fn large_finite_gradients_are_clipped_and_not_lost() {
    let tx = clip_by_global_norm(1.0);
    let mut wrong = Vec::new();
    for (dtype, scale) in [
        (DType::F16, 100.0f32),
        (DType::F16, 1000.0),
        (DType::BF16, 1e18),
        (DType::F32, 1e18),
    ] {
        let grads = one(&[3.0 * scale, 4.0 * scale], dtype);
        let norm = global_norm(&grads).astype(DType::F32).item::<f32>();
        let (updates, _) = tx.update(grads.clone(), tx.init(&grads), None);
        let got = numbers(&updates);
        if !got
            .iter()
            .zip([0.6, 0.8])
            .all(|(a, b)| (a - b).abs() < 0.01)
        {
            wrong.push(format!(
                "{dtype} of size {scale}: {got:?}, expected [0.6, 0.8]; the norm is {norm}"
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// google-deepmind/optax#1752. Gradients of 0 with a limit of 0, which a schedule can reach, become NaN:
/// `0 / 0 * 0`.
/// Right: gradients of 0 have the norm 0, which is within the limit, so they remain 0.
#[test]
fn zero_gradients_within_a_limit_of_zero_remain_zero() {
    let scheduled: GradientTransformation = inject_hyperparams([("max_norm", 0.0)], |h| {
        clip_by_global_norm(h.get("max_norm"))
    })
    .into();
    for (name, tx) in [
        ("a number", clip_by_global_norm(0.0)),
        ("an injected number", scheduled),
    ] {
        for (grads, what) in [([0.0f32, 0.0], "zeros"), ([3.0, 4.0], "others")] {
            let grads = one(&grads, DType::F32);
            let (updates, _) = tx.update(grads.clone(), tx.init(&grads), None);
            assert_eq!(numbers(&updates), [0.0, 0.0], "{name}, {what}");
        }
    }
}

/// apache/mxnet#6235, CanReader/FastNN#12. Centered RMSProp computes the variance of the gradients as
/// `E[g²] - E[g]²`, which rounding makes negative if they hardly change, by more than `eps` if they are not
/// small. The root is NaN, and so is the parameter from then on.
/// Right: a variance is not negative, so the updates of finite gradients are finite and have their sign.
#[test]
fn centered_rmsprop_survives_gradients_that_hardly_change() {
    let base: Vec<f32> = (0..64).map(|i| 1.0 + 17.3 * i as f32).collect();
    let mut wrong = Vec::new();
    for (name, tx) in [
        (
            "centered",
            GradientTransformation::from(rmsprop(1e-3).centered()),
        ),
        (
            "centered, eps outside",
            rmsprop(1e-3).centered().eps_in_sqrt(false).into(),
        ),
        (
            "centered, bias-corrected",
            rmsprop(1e-3).centered().bias_correction(true).into(),
        ),
    ] {
        let params = one(&vec![0.0; 64], DType::F32);
        let mut state = tx.init(&params);
        let mut bad = std::collections::BTreeMap::new();
        // The first step is left out: one gradient has no variance.
        for step in 0..200 {
            let factor = if step % 2 == 1 { 1.0001 } else { 1.0 };
            let grads: Vec<f32> = base.iter().map(|g| g * factor).collect();
            let (updates, next) = tx.update(one(&grads, DType::F32), state, Some(&params));
            state = next;
            for (i, u) in numbers(&updates).into_iter().enumerate() {
                if step > 0 && (u.is_nan() || u > 0.0) {
                    bad.entry(i).or_insert((step, u));
                }
            }
        }
        if let Some((i, (step, u))) = bad.first_key_value() {
            wrong.push(format!(
                "{name}: {} of 64; gradients of {} give {u} in step {step}",
                bad.len(),
                base[*i]
            ));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The scale of the updates after each of these values of the objective.
fn scales(values: &[f64]) -> Vec<f32> {
    let tx: GradientTransformation = reduce_on_plateau().factor(0.5).patience(3).into();
    let params = one(&[1.0], DType::F32);
    let mut state = tx.init(&params);
    let mut scales = Vec::new();
    for value in values {
        let loss = Array::from(*value as f32);
        let extra = ExtraArgs::new().value(&loss);
        (_, state) = tx.update_with(params.clone(), state, Some(&params), &extra);
        scales.push(tree::get(&state, "scale").expect("a scale").item::<f32>());
    }
    scales
}

/// google-deepmind/optax#1767. The threshold `(1 - rtol) * best` lies above a negative best value, so every
/// value is an improvement.
/// Right: an improvement is a decrease by a fraction of the size of the best value.
#[test]
fn a_negative_objective_can_be_on_a_plateau() {
    let positive = scales(&[1.0; 10]);
    assert!(positive[9] < 1.0, "{positive:?}");
    assert_eq!(scales(&[-1.0; 10]), positive);
    let worse: Vec<f64> = (0..10).map(|i| -1.0 + 5e-5 * f64::from(i)).collect();
    assert!(scales(&worse)[9] < 1.0);
    let better: Vec<f64> = (0..10).map(|i| -1.0 - 0.1 * f64::from(i)).collect();
    assert_eq!(scales(&better), [1.0; 10]);
    for wrong in [
        reduce_on_plateau().patience(0),
        reduce_on_plateau().accumulation_size(0),
    ] {
        let message = panic_message(|| GradientTransformation::from(wrong));
        assert!(message.contains("expected at least 1"), "{message}");
    }
}

/// google-deepmind/optax#1767. A tolerance relative to a negative value demanded a decrease instead of
/// allowing an increase, so no step along a flat direction was accepted.
#[test]
fn a_relative_tolerance_of_a_negative_value_allows_an_increase() {
    let params = one(&[1.0], DType::F32);
    let objective = |p: &State| p.arrays()[0].sum() * 1e-4 - 100.0;
    let grads = one(&[1e-4], DType::F32);
    let value = objective(&params);
    let tx: GradientTransformation = scale_by_backtracking_linesearch().rtol(1e-3).into();
    let extra = ExtraArgs::new()
        .value(&value)
        .grad(&grads)
        .value_fn(&objective);
    // The step increases the objective by a millionth of its size.
    let updates = one(&[1.0], DType::F32);
    let (_, state) = tx.update_with(updates, tx.init(&params), Some(&params), &extra);
    let steps = tree::get(&state, "info.num_linesearch_steps").expect("a count");
    assert_eq!(steps.item::<i32>(), 1);
}

/// One step without a synchronization leaves the slow parameters, whatever the fast ones are.
#[test]
fn slow_parameters_are_a_fallback_between_synchronizations() {
    let tx: GradientTransformation = lookahead(sgd(1.0), 3usize, 0.5).into();
    let params = LookaheadParams::init_synced(&one(&[1.0], DType::F32)).to_state();
    let grads = one(&[f32::NAN], DType::F32);
    let (updates, _) = tx.update(grads, tx.init(&params), Some(&params));
    let params = apply_updates(&params, &updates);
    assert!(params["fast.w"].is_nan().all().item::<bool>());
    assert_eq!(params["slow.w"].to_vec::<f32>(), [1.0]);
}

/// An example with an infinite gradient is dropped instead of making the sum NaN.
#[test]
fn an_infinite_example_is_clipped_to_nothing() {
    let grads = State::from_iter([("w", Array::from([[3.0f32, 4.0], [f32::INFINITY, 1.0]]))]);
    let (sum, clipped) = per_example_global_norm_clip(&grads, 1.0);
    let sum = numbers(&sum);
    assert!(
        (sum[0] - 0.6).abs() < 1e-6 && (sum[1] - 0.8).abs() < 1e-6,
        "{sum:?}"
    );
    assert_eq!(clipped.item::<i32>(), 2);
}
