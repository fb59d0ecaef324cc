//! `digits`: an MLP 64-128-128-10 with SELU and 1,347 examples per step, trained by gradient
//! descent. The step also returns the logits.

use crate::measure::{Workload, compile_time, timed};
use ramie::core::{Array, DType, Result, jit, random};
use ramie::nn::{Linear, Module, Optimizer, Rngs, Tree, value_and_grad};
use ramie::optim::{sgd, softmax_cross_entropy_with_integer_labels};

#[derive(Module)]
struct Mlp {
    linear1: Linear,
    linear2: Linear,
    linear3: Linear,
}

impl Mlp {
    fn forward(&self, x: &Array) -> Array {
        let x = self.linear1.forward(x).selu();
        let x = self.linear2.forward(&x).selu();
        self.linear3.forward(&x)
    }
}

#[derive(Tree)]
pub struct Trainer {
    model: Mlp,
    optimizer: Optimizer,
}

type Step = dyn FnMut(&mut Trainer) -> (Array, Array);

pub fn train_step(t: &mut Trainer, x: Array, y: Array) -> (Array, Array) {
    let (outputs, grads) = value_and_grad(&mut t.model, |m| {
        let logits = m.forward(&x);
        let loss = softmax_cross_entropy_with_integer_labels(&logits, &y).mean();
        (loss, logits)
    });
    t.optimizer.update(&mut t.model, grads);
    outputs
}

pub fn parts() -> (Trainer, Array, Array) {
    let mut rngs = Rngs::new(0);
    let model = Mlp {
        linear1: Linear::new(64, 128, &mut rngs),
        linear2: Linear::new(128, 128, &mut rngs),
        linear3: Linear::new(128, 10, &mut rngs),
    };
    let key = random::key(0);
    let x = random::randint(&key, &[1347, 64], 0, 17, DType::I32).astype(DType::F32);
    let y = random::randint(&key.fold_in(1), &[1347], 0, 10, DType::I32);
    let optimizer = Optimizer::new(&model, sgd(0.05));
    (Trainer { model, optimizer }, x, y)
}

pub fn build() -> Result<Workload<Trainer, Box<Step>>> {
    let (state, x, y) = parts();
    let step = jit(train_step);
    let (lowered, trace_lower_s) = timed(|| step.lower_with(&state, (x.clone(), y.clone())))?;
    let compile_s = compile_time(lowered)?;
    Ok(Workload {
        state,
        step: Box::new(move |t: &mut Trainer| step(t, x.clone(), y.clone())),
        trace_lower_s,
        compile_s,
    })
}

/// Runs one step and returns its loss.
pub fn first_step() -> f32 {
    let (mut state, x, y) = parts();
    let (loss, _) = jit(train_step)(&mut state, x, y);
    for a in ramie::core::tree::leaves(&state) {
        a.block_until_ready();
    }
    loss.item()
}
