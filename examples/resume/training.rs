//! The training run: state, steps and checkpoints.

use super::Options;
use ramie::checkpoint::items::{Composite, IteratorRestore, IteratorSave, JsonRestore, JsonSave};
use ramie::checkpoint::manager::{CheckpointManager, CheckpointManagerOptions, StepOptions};
use ramie::checkpoint::preemption;
use ramie::checkpoint::pytree::{StandardRestore, StandardSave};
use ramie::data::{DataLoader, Placement, Resumable, digits};
use ramie::nn::{Dropout, Linear, Module, Optimizer, Rngs, Tree, value_and_grad};
use ramie::optim::{adam, softmax_cross_entropy_with_integer_labels};
use ramie::{Array, State, jit};
use ramie_examples::Result;
use std::io::Read;
use std::path::Path;

/// A multilayer perceptron with dropout, so that RNG keys are part of the state.
#[derive(Module)]
struct Classifier {
    hidden: Linear,
    dropout: Dropout,
    out: Linear,
}

/// State of a step: parameters, RNG keys and optimizer moments.
#[derive(Tree)]
struct Trainer {
    model: Classifier,
    optimizer: Optimizer,
}

impl Trainer {
    fn new(options: &Options) -> Trainer {
        let mut rngs = Rngs::new(options.seed);
        let model = Classifier {
            hidden: Linear::new(64, options.width, &mut rngs),
            dropout: Dropout::new(0.2, &mut rngs),
            out: Linear::new(options.width, 10, &mut rngs),
        };
        let optimizer = Optimizer::new(&model, adam(1e-3));
        Trainer { model, optimizer }
    }
}

/// Runs one step on images `[n, 8, 8]` and labels `[n]`. Returns the loss before the update.
fn train_step(trainer: &mut Trainer, images: Array, labels: Array) -> Array {
    let x = images.reshape(&[images.shape()[0], 64]) / 16.0;
    let objective = |model: &mut Classifier| {
        let x = model.hidden.forward(&x).relu();
        let logits = model.out.forward(&model.dropout.forward(&x));
        softmax_cross_entropy_with_integer_labels(&logits, &labels).mean()
    };
    let (loss, grads) = value_and_grad(&mut trainer.model, objective);
    trainer.optimizer.update(&mut trainer.model, grads);
    loss
}

/// Opens the directory of checkpoints.
fn open(options: &Options) -> Result<CheckpointManager> {
    let settings = CheckpointManagerOptions::new()
        .save_interval_steps(options.save_every)
        .max_to_keep(2)
        .cleanup_tmp_directories(true);
    Ok(CheckpointManager::new(&options.out, settings)?)
}

/// Trains from the last checkpoint in the directory, or from the beginning, and prints a line
/// after each step. A checkpoint contains everything that later steps depend on, and the losses so
/// far.
pub fn train(options: &Options) -> Result {
    ramie_examples::start(options.platform)?;
    preemption::on_signals()?;
    let manager = open(options)?;
    let loader = DataLoader::new(digits::load()?.train)
        .batch_size(128)
        .shuffle(options.seed)
        .drop_last()
        .epochs(None);

    let mut trainer = Trainer::new(options);
    let mut losses: Vec<f32> = Vec::new();
    let mut batches = loader.iter();
    if let Some(last) = manager.latest_step() {
        let items = Composite::new()
            .item("state", StandardRestore::new(&trainer))
            .item("data", IteratorRestore::new())
            .item("losses", JsonRestore::new());
        let (state, position, so_far) = manager.restore(last, items)?;
        (trainer, losses) = (state, so_far);
        batches = loader.resume(&position)?;
        println!("resumed after step {last}");
    }
    let mut batches = batches.prefetch_to_device(2, Placement::default());
    let step = jit(train_step);
    let pause = options.pause_after.map(|steps| losses.len() as u64 + steps);
    // ANCHOR: save
    for made in losses.len() as u64 + 1..=options.steps {
        let (images, labels) = batches.next().ok_or("there are no batches left")??;
        ramie_examples::ahead(|| step.lower_with(&trainer, (images.clone(), labels.clone())))?;
        losses.push(step(&mut trainer, images, labels).item::<f32>());
        let data = batches.state();
        let items = Composite::new()
            .item("state", StandardSave::new(&trainer))
            .item("data", IteratorSave::new(&data))
            .item("losses", JsonSave::new(&losses));
        // The checkpoint is written while training continues. The last step is always saved.
        manager.save_with(
            made,
            &items,
            StepOptions::new().force(made == options.steps),
        )?;
        println!("made step {made}");
        if manager.reached_preemption(made) {
            break;
        }
        if pause == Some(made) {
            std::io::stdin().read_to_end(&mut Vec::new())?;
        }
    }
    // ANCHOR_END: save
    manager.wait_until_finished()?;
    if let Some(report) = manager.last_report() {
        println!("saved {report}");
    }
    Ok(())
}

/// Contents of the last checkpoint in a directory: arrays, data position and losses.
pub struct Saved {
    pub step: u64,
    pub arrays: State,
    pub data: serde_json::Value,
    pub losses: Vec<f32>,
}

/// Restores the last checkpoint in a directory and verifies its checksums.
pub fn last(folder: &Path) -> Result<Option<Saved>> {
    let manager = CheckpointManager::new(folder, CheckpointManagerOptions::new().read_only(true))?;
    let Some(step) = manager.latest_step() else {
        return Ok(None);
    };
    manager.verify(step)?;
    let items = Composite::new()
        .item("state", StandardRestore::state())
        .item("data", IteratorRestore::new())
        .item("losses", JsonRestore::new());
    let (arrays, data, losses) = manager.restore(step, items)?;
    Ok(Some(Saved {
        step,
        arrays,
        data,
        losses,
    }))
}
