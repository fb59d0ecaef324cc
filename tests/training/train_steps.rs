//! `train_steps` with what trains: a model with dropout and batch statistics, its
//! optimizer, random streams, a loader.

use ramie::data::{DataLoader, Placement, Resumable, synthetic};
use ramie::nn::{BatchNorm, Dropout};
use ramie::optim::{adamw, sigmoid_binary_cross_entropy};
use ramie::prelude::*;
use ramie::train_steps;
use ramie::typing::StepCount;

#[derive(Module)]
struct Net {
    hidden: Linear,
    norm: BatchNorm,
    dropout: Dropout,
    out: Linear,
}

#[derive(Tree)]
struct Trainer {
    model: Net,
    optimizer: Optimizer,
}

fn trainer() -> Trainer {
    let rngs = &mut Rngs::new(3);
    let model = Net {
        // What batch normalization takes away has a gradient of rounding errors.
        hidden: Linear::features(16).without_bias().build(2, rngs),
        norm: BatchNorm::new(16, rngs),
        dropout: Dropout::new(0.3, rngs),
        out: Linear::new(16, 1, rngs),
    };
    let optimizer = Optimizer::new(&model, adamw(1e-2));
    Trainer { model, optimizer }
}

fn train_step(t: &mut Trainer, x: Array, y: Array) -> (Array, Array) {
    let (out, grads) = nn::value_and_grad(&mut t.model, |m| {
        let x = m.norm.forward(&m.hidden.forward(&x)).tanh();
        let logits = m.out.forward(&m.dropout.forward(&x)).squeeze(&[-1]);
        let right = logits.gt(0.0).eq(y.gt(0)).astype(DType::F32).mean();
        (sigmoid_binary_cross_entropy(&logits, &y).mean(), right)
    });
    t.optimizer.update(&mut t.model, grads);
    out
}

fn loader() -> DataLoader<(ndarray::Array2<f32>, ndarray::Array1<i32>)> {
    // 6 batches of 32, and one of 8, three times.
    DataLoader::new(synthetic::noisy_xor(200, 42, 0.1))
        .batch_size(32)
        .shuffle(1)
        .epochs(3)
}

/// Losses of each step, and the state at the end.
type Outcome = (Vec<f32>, Trainer);

fn one_by_one() -> Outcome {
    let (mut t, step) = (trainer(), jit(train_step));
    let mut losses = Vec::new();
    for batch in loader().iter().prefetch_to_device(2, Placement::default()) {
        let (x, y) = batch.expect("a batch");
        losses.push(step(&mut t, x, y).0.item::<f32>());
    }
    (losses, t)
}

/// In calls of so many steps at most, and how many programs there were.
fn stacked(count: usize) -> (Outcome, usize) {
    let mut t = trainer();
    let steps = jit(train_steps(..=count, train_step));
    let mut losses = Vec::new();
    let stacks = loader().iter().stack(count);
    for stack in stacks.prefetch_to_device(2, Placement::default()) {
        let (x, y) = stack.expect("a stack");
        let (loss, right) = steps(&mut t, x, y);
        assert_eq!(loss.shape(), right.shape());
        losses.extend(loss.to_vec::<f32>());
    }
    ((losses, t), steps.compilations())
}

/// Compilers round the operations of a loop and of a program without one
/// differently, in the last bits.
fn is_near(a: f32, b: f32) -> bool {
    (a - b).abs() <= 1e-4 * (1.0 + b.abs())
}

#[test]
fn steps_in_one_program_are_those_of_many_calls() {
    let (expected, alone) = one_by_one();
    assert_eq!(expected.len(), 21);
    // Of 7 batches in an epoch the last one is smaller.
    for (count, programs) in [(1, 2), (3, 2), (4, 3), (10, 2)] {
        let ((losses, t), made) = stacked(count);
        assert_eq!(made, programs, "{count} steps at once");
        assert_eq!(losses.len(), 21);
        for (a, b) in losses.iter().zip(&expected) {
            assert!(
                is_near(*a, *b),
                "{losses:?} and {expected:?}, {count} at once"
            );
        }
        let paths = tree::paths(&t);
        for ((a, b), path) in tree::leaves(&t).iter().zip(tree::leaves(&alone)).zip(paths) {
            match a.dtype() {
                DType::F32 => {
                    let each = a.to_vec::<f32>().into_iter().zip(b.to_vec::<f32>());
                    for (a, b) in each {
                        assert!(is_near(a, b), "{path}: {a} and {b}, {count} at once");
                    }
                }
                // Numbers of steps and of keys.
                DType::I32 => assert_eq!(a.to_vec::<i32>(), b.to_vec::<i32>(), "{path}"),
                _ => assert_eq!(a.to_vec::<u32>(), b.to_vec::<u32>(), "{path}"),
            }
        }
    }
}

/// The streams go on from step to step, and from call to call.
#[test]
fn every_step_draws_other_numbers() {
    let draw = |rngs: &mut Rngs| random::uniform(&rngs.key("params"), &[4], DType::F32);
    let mut rngs = Rngs::new(0);
    let expected: Vec<Vec<f32>> = (0..6).map(|_| draw(&mut rngs).to_vec::<f32>()).collect();
    let steps = jit(train_steps(StepCount::from(3), draw));
    let mut rngs = Rngs::new(0);
    let mut drawn = Vec::new();
    for _ in 0..2 {
        let three = steps(&mut rngs);
        drawn.extend((0..3).map(|i| three.index(i).to_vec::<f32>()));
    }
    assert_eq!(drawn, expected);
}
