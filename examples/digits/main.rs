//! The program of the README: a classifier, its trainer and its folder.

#![forbid(unsafe_code)]

use ramie::data::{DataLoader, digits};
use ramie::optim::{adam, softmax_cross_entropy_with_integer_labels as cross_entropy};
use ramie::prelude::*;
use ramie::train::{EarlyStopping, Monitor, Resume, Trainer, Training};

#[derive(Module)]
struct Mlp(Linear, Linear);

fn loss(model: &mut Mlp, images: Array, labels: Array) -> (Array, Array) {
    let x = images.reshape((images.shape()[0], 64)) / 16.0;
    let logits = model.1.forward(&model.0.forward(&x).relu());
    let accuracy = logits.argmax(-1).eq(&labels).mean();
    (cross_entropy(&logits, &labels).mean(), accuracy)
}

fn main() -> ramie::train::Result {
    let digits = digits::load()?; // 1,797 images of 8 × 8 pixels
    let rngs = &mut Rngs::new(0);
    let model = Mlp(Linear::new(64, 128, rngs), Linear::new(128, 10, rngs));
    let mut state = Training::new(model, adam(3e-3));
    let history = Trainer::new(loss)
        .metrics(["loss", "accuracy"])
        .epochs(20)
        .validate(DataLoader::new(digits.test).batch_size(150))
        .early_stopping(EarlyStopping::new(Monitor::min("val_loss")).patience(3))
        .folder("out/digits") // checkpoints and metrics; by default, an interrupted run continues here
        .resume(Resume::Never) // an earlier run moves to another folder
        .fit(
            &mut state,
            DataLoader::new(digits.train).batch_size(128).shuffle(0),
        )?;
    println!("{history}");
    Ok(())
}
