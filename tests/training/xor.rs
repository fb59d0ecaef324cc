//! Noisy XOR, learned in both ways of holding variables, through the data
//! loader, and from a checkpoint.

#[path = "../../examples/xor/model.rs"]
mod linen;

use linen::{SimpleClassifier, eval_step, loss_and_accuracy, train_state, train_step};
use ramie::checkpoint::{restore_checkpoint, save_checkpoint};
use ramie::data::{DataLoader, ToDevice, synthetic};
use ramie::nn::{Linear, Module, Optimizer, Rngs, Tree, value_and_grad};
use ramie::optim::sgd;
use ramie::{Array, State, jit};

const EPOCHS: usize = 100;

/// The training points of an epoch, shuffled, on the device.
fn batches(epoch: usize) -> impl Iterator<Item = (Array, Array)> {
    let points = synthetic::noisy_xor(2500, 42, 0.1);
    let loader = DataLoader::new(points).batch_size(128).shuffle(0);
    loader.epoch(epoch).map(|batch| {
        let batch = batch.expect("points in memory");
        batch.to_device(&Default::default()).expect("a device")
    })
}

/// 500 test points in batches, the last of which is smaller.
fn test_batches() -> Vec<(Array, Array)> {
    let loader = DataLoader::new(synthetic::noisy_xor(500, 123, 0.1)).batch_size(128);
    let batches = loader.iter().map(|batch| {
        let batch = batch.expect("points in memory");
        batch.to_device(&Default::default()).expect("a device")
    });
    batches.collect()
}

#[test]
fn linen() {
    let model = SimpleClassifier {
        num_hidden: 8,
        num_outputs: 1,
    };
    let mut state = train_state(model.clone(), 42, 0.1);
    let step = jit(train_step);
    for epoch in 0..EPOCHS {
        for (x, y) in batches(epoch) {
            step(&mut state, x, y);
        }
    }
    // The last batch of an epoch has 68 points.
    assert_eq!(step.compilations(), 2);
    assert_eq!(state.step.item::<i32>(), 2000);
    let folder = tempfile::tempdir().expect("a folder");
    save_checkpoint(folder.path(), &state, EPOCHS).expect("a checkpoint");
    let mut restored = train_state(model, 7, 0.1);
    restore_checkpoint(folder.path(), &mut restored).expect("the checkpoint");
    for (path, a) in State::of(&state).iter() {
        let of_restored = State::of(&restored);
        let same = a.astype(ramie::DType::F32).to_vec::<f32>();
        assert_eq!(
            of_restored[path].astype(ramie::DType::F32).to_vec::<f32>(),
            same,
            "{path}"
        );
    }
    let accuracy = jit(eval_step);
    let count = |(x, y): (Array, Array)| {
        let size = x.shape()[0] as f32;
        accuracy(&restored, x, y).item::<f32>() * size
    };
    let sizes: Vec<usize> = test_batches().iter().map(|(x, _)| x.shape()[0]).collect();
    assert_eq!(sizes, [128, 128, 128, 116]);
    assert_eq!(test_batches().into_iter().map(count).sum::<f32>(), 500.0);
}

#[derive(Module)]
struct Classifier {
    linear1: Linear,
    linear2: Linear,
}

impl Classifier {
    fn new(rngs: &mut Rngs) -> Classifier {
        Classifier {
            linear1: Linear::new(2, 8, rngs),
            linear2: Linear::new(8, 1, rngs),
        }
    }
    fn forward(&self, x: &Array) -> Array {
        let x = self.linear1.forward(x).tanh();
        self.linear2.forward(&x).squeeze(&[-1])
    }
}

#[derive(Tree)]
struct Trainer {
    model: Classifier,
    optimizer: Optimizer,
}

#[test]
fn nnx() {
    let model = Classifier::new(&mut Rngs::new(42));
    let optimizer = Optimizer::new(&model, sgd(0.1));
    let mut trainer = Trainer { model, optimizer };
    let step = jit(|t: &mut Trainer, x: Array, y: Array| {
        let (out, grads) = value_and_grad(&mut t.model, |m| loss_and_accuracy(&m.forward(&x), &y));
        t.optimizer.update(&mut t.model, grads);
        out
    });
    let mut first = None;
    let mut last = None;
    for epoch in 0..EPOCHS {
        for (x, y) in batches(epoch) {
            let (loss, _) = step(&mut trainer, x, y);
            first.get_or_insert(loss.item::<f32>());
            last = Some(loss);
        }
    }
    let last = last.expect("steps").item::<f32>();
    assert!(last < 0.2 * first.expect("steps"), "{first:?} to {last}");
    let right = test_batches().into_iter().map(|(x, y)| {
        let right = trainer.model.forward(&x).gt(0.0).eq(y.gt(0));
        right.astype(ramie::DType::I32).sum().item::<i32>()
    });
    assert_eq!(right.sum::<i32>(), 500);
}
