//! A train step of a Linen module, equivalent to that of the JAX programs.

use crate::measure::{Workload, compile_time, timed};
use ramie::core::typing::Objective;
use ramie::core::{Array, Result, State, jit, random, value_and_grad};
use ramie::nn::Tree;
use ramie::nn::linen::{Apply, Module, Variables};
use ramie::optim::{GradientTransformation, OptState, apply_updates};

/// The state of a train step.
#[derive(Tree)]
pub struct Trainer {
    params: State,
    /// Collections other than the parameters.
    rest: Variables,
    moments: OptState,
}

/// Creates a workload that trains a module. `objective` computes the loss, and the step's other
/// results, from outputs and labels.
pub fn trainer<M, R>(
    model: M,
    optimizer: impl Into<GradientTransformation>,
    x: Array,
    y: Array,
    objective: impl Fn(&Array, &Array) -> R + Send + Sync + 'static,
) -> Result<Workload<Trainer, impl FnMut(&mut Trainer) -> R>>
where
    M: Module + Clone + Send + Sync + 'static,
    R: Objective,
{
    let optimizer = optimizer.into();
    let init = {
        let (model, optimizer) = (model.clone(), optimizer.clone());
        jit(move |x: Array| {
            let mut rest = model.init(random::key(0), x);
            let params = rest.remove("params").unwrap_or_default();
            let moments = optimizer.init(&params);
            Trainer {
                params,
                rest,
                moments,
            }
        })
    };
    let state = init(x.clone());
    let step = jit(move |t: &mut Trainer, x: Array, y: Array| {
        let rest = t.rest.clone();
        let options = Apply::new().mutable(true);
        let loss = |params: State| {
            let variables = rest.clone().with("params", params);
            let (outputs, updates) = model.apply_with(&variables, x.clone(), &options);
            let out = objective(&outputs, &y);
            (out.loss().clone(), (out, updates))
        };
        let ((_, (out, mut updates)), grads) = value_and_grad(loss)(t.params.clone());
        updates.remove("params");
        let moments = std::mem::replace(&mut t.moments, OptState::new(()));
        let (changes, moments) = optimizer.update(grads, moments, Some(&t.params));
        t.params = apply_updates(&t.params, &changes);
        t.rest = updates;
        t.moments = moments;
        out
    });
    let (lowered, trace_lower_s) = timed(|| step.lower_with(&state, (x.clone(), y.clone())))?;
    let compile_s = compile_time(lowered)?;
    Ok(Workload {
        state,
        step: move |t: &mut Trainer| step(t, x.clone(), y.clone()),
        trace_lower_s,
        compile_s,
    })
}

/// Returns the mean cross-entropy of logits and integer labels.
pub fn cross_entropy(logits: &Array, labels: &Array) -> Array {
    ramie::optim::softmax_cross_entropy_with_integer_labels(logits, labels).mean()
}
