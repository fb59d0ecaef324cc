//! Errors of optimizers.

use crate::document::{Case, case, f32};
use ramie::optim::*;
use ramie::*;

fn params() -> State {
    State::from_iter([("kernel", f32(&[2, 3])), ("bias", f32(&[3]))])
}

pub fn cases() -> Vec<Case> {
    vec![
        case("adamw: update was called without parameters", || {
            let tx = adamw(1e-3);
            let state = tx.init(&params());
            let grads = params();
            tx.update(grads, state, None)
        }),
        case("adam: a decay rate is NaN", || adam(1e-3).b2(f64::NAN)),
        case("sgd: a negative learning rate", || sgd(-0.1)),
        case(
            "state_dtype: the dtype is not a floating-point dtype",
            || state_dtype(adam(1e-3), DType::I8),
        ),
        case(
            "polyak_sgd: update was called without the value of the objective",
            || {
                let tx = polyak_sgd();
                tx.update(params(), tx.init(&params()), Some(&params()))
            },
        ),
        case(
            "accumulate: arguments have different numbers of microbatches",
            || {
                let mut model = nn::Linear::new(3, 3, &mut nn::Rngs::new(0));
                let loss = |model: &mut nn::Linear, (x, y): (Array, Array)| {
                    (model.forward(&x) - y).square().mean()
                };
                nn::accumulate(&mut model, (f32(&[4, 8, 3]), f32(&[2, 16, 3])), loss)
            },
        ),
        case(
            "sigmoid_binary_cross_entropy: a column of logits and a row of labels",
            || sigmoid_binary_cross_entropy(&f32(&[8, 1]), &f32(&[8])),
        ),
        case("lbfgs: update was called without the gradients", || {
            let tx = lbfgs();
            let loss = Array::from(0.5f32);
            let extra = ExtraArgs::new().value(&loss);
            tx.update_with(params(), tx.init(&params()), Some(&params()), &extra)
        }),
        case(
            "update: the state belongs to another transformation",
            || {
                let state = scale(0.1).init(&params());
                let tx = adam(1e-3);
                tx.update(params(), state, None)
            },
        ),
        case("chain: the state has fewer parts than the chain", || {
            let state = chain((clip(1.0), scale(-0.1))).init(&params());
            let tx = chain((clip(1.0), trace(0.9), scale(-0.1)));
            tx.update(params(), state, None)
        }),
        case("masked_by: the mask does not match the parameters", || {
            let mask = Mask::from_iter([("kernel", true), ("scale", false)]);
            masked_by(trace(0.9), mask).init(&params())
        }),
        case("partition: a label has no transformation", || {
            let groups = [("matrices", adam(1e-3))];
            let tx = partition(groups, |_path, array| {
                if array.ndim() == 2 {
                    "matrices"
                } else {
                    "vectors"
                }
                .to_owned()
            });
            tx.init(&params())
        }),
        case(
            "inject_hyperparams: there is no such hyperparameter",
            || {
                let tx = inject_hyperparams([("rate", 0.1)], |h| sgd(h.get("learning_rate")));
                GradientTransformation::from(tx).init(&params())
            },
        ),
        case(
            "lookahead: the parameters have no fast and slow parts",
            || {
                let tx = lookahead(sgd(0.1), 5usize, 0.5);
                tx.init(&params())
            },
        ),
        case(
            "named_chain: two transformations have the same name",
            || named_chain([("clip", clip(1.0)), ("clip", clip(2.0))]),
        ),
        case("sgd: the learning rate must be a 0-d array", || {
            sgd(f32(&[3]))
        }),
        case("optim::tree::set: no array matches the name", || {
            let mut state = GradientTransformation::from(adam(1e-3)).init(&params());
            optim::tree::set(&mut state, "learning_rate", 1e-4)
        }),
        case("optim::tree::get: several arrays match the name", || {
            let state = chain((adam(1e-3), ema(0.9))).init(&params());
            optim::tree::get(&state, "count")
        }),
        case("multi_steps: every is 0", || multi_steps(sgd(0.1), 0)),
        case(
            "warmup_cosine_decay_schedule: decay_steps is less than warmup_steps",
            || {
                schedules::warmup_cosine_decay_schedule(schedules::WarmupCosineDecay {
                    warmup_steps: 100,
                    decay_steps: 50,
                    ..schedules::WarmupCosineDecay::default()
                })
            },
        ),
        case(
            "reshape_batch_axis: the batch cannot be split into microbatches",
            || microbatching::reshape_batch_axis(&f32(&[10, 3]), 4, 0),
        ),
        case("orthogonalize_via_newton_schulz: expected a matrix", || {
            let x = f32(&[2, 3, 4]);
            let how = contrib::Preconditioning::Frobenius;
            contrib::orthogonalize_via_newton_schulz(&x, &f32(&[3]), 5, how, 1e-8, None)
        }),
        case("matrix_inverse_pth_root: expected a square matrix", || {
            matrix_inverse_pth_root(&f32(&[3, 4]), 2, &InversePthRoot::default())
        }),
    ]
}
