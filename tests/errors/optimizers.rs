//! Mistakes with optimizers.

use crate::document::{Case, case, f32};
use ramie::optim::*;
use ramie::*;

fn params() -> State {
    State::from_iter([("kernel", f32(&[2, 3])), ("bias", f32(&[3]))])
}

pub fn cases() -> Vec<Case> {
    vec![
        case(
            "An update without the parameters that weight decay needs",
            || {
                let tx: GradientTransformation = adamw(1e-3).into();
                let state = tx.init(&params());
                let grads = params();
                tx.update(grads, state, None)
            },
        ),
        case(
            "An update without the loss that a learning rate follows from",
            || {
                let tx: GradientTransformation = polyak_sgd().into();
                tx.update(params(), tx.init(&params()), Some(&params()))
            },
        ),
        case("Parts of a batch without a common first axis", || {
            let mut model = nn::Linear::new(3, 3, &mut nn::Rngs::new(0));
            let loss = |model: &mut nn::Linear, (x, y): (Array, Array)| {
                (model.forward(&x) - y).square().mean()
            };
            nn::accumulate(&mut model, (f32(&[4, 8, 3]), f32(&[2, 16, 3])), loss)
        }),
        case("A line search without the objective's gradients", || {
            let tx: GradientTransformation = lbfgs().into();
            let loss = Array::from(0.5f32);
            let extra = ExtraArgs::new().value(&loss);
            tx.update_with(params(), tx.init(&params()), Some(&params()), &extra)
        }),
        case("The state of another optimizer", || {
            let state = scale(0.1).init(&params());
            let tx: GradientTransformation = adam(1e-3).into();
            tx.update(params(), state, None)
        }),
        case("The state of a shorter chain", || {
            let state = chain((clip(1.0), scale(-0.1))).init(&params());
            let tx = chain((clip(1.0), trace(0.9), scale(-0.1)));
            tx.update(params(), state, None)
        }),
        case("A mask of another structure", || {
            let mask = Mask::from_iter([("kernel", true), ("scale", false)]);
            masked_by(trace(0.9), mask).init(&params())
        }),
        case("A label without an optimizer", || {
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
        case("A hyperparameter that was not injected", || {
            let tx = inject_hyperparams([("rate", 0.1)], |h| sgd(h.get("learning_rate")));
            GradientTransformation::from(tx).init(&params())
        }),
        case("Parameters for lookahead that are not two", || {
            let tx: GradientTransformation = lookahead(sgd(0.1), 5usize, 0.5).into();
            tx.init(&params())
        }),
        case("Two transformations with one name", || {
            named_chain([("clip", clip(1.0)), ("clip", clip(2.0))])
        }),
        case("A batch of learning rates", || sgd(f32(&[3]))),
        case("A number in the state that is not there", || {
            let mut state = GradientTransformation::from(adam(1e-3)).init(&params());
            optim::tree::set(&mut state, "learning_rate", 1e-4)
        }),
        case("A name in the state that is not clear", || {
            let state = chain((adam(1e-3), ema(0.9))).init(&params());
            optim::tree::get(&state, "count")
        }),
        case("An update every 0 steps", || multi_steps(sgd(0.1), 0)),
        case("A decay shorter than its rise", || {
            schedules::warmup_cosine_decay_schedule(schedules::WarmupCosineDecay {
                warmup_steps: 100,
                decay_steps: 50,
                ..schedules::WarmupCosineDecay::default()
            })
        }),
        case("A batch that does not come apart", || {
            microbatching::reshape_batch_axis(&f32(&[10, 3]), 4, 0)
        }),
        case("Muon for a parameter that is no matrix", || {
            let x = f32(&[2, 3, 4]);
            let how = contrib::Preconditioning::Frobenius;
            contrib::orthogonalize_via_newton_schulz(&x, &f32(&[3]), 5, how, 1e-8, None)
        }),
        case("A root of a matrix that is not square", || {
            matrix_inverse_pth_root(&f32(&[3, 4]), 2, &InversePthRoot::default())
        }),
    ]
}
