//! Runs of the trainer.

#[path = "../common/mod.rs"]
mod common;
mod equal;
mod errors;
mod events;
mod resume;

pub use common::{Points, points};
use ramie_core::Array;
use ramie_data::DataLoader;
use ramie_nn::{Dropout, Linear, Module, Rngs};
use ramie_optim::adam;
use ramie_train::Training;

/// A network with dropout, so that the state contains keys of random numbers.
#[derive(Module)]
pub struct Net {
    hidden: Linear,
    dropout: Dropout,
    out: Linear,
}

/// Returns a network with its optimizer.
pub fn net() -> Training<Net> {
    let rngs = &mut Rngs::new(1);
    let model = Net {
        hidden: Linear::new(2, 8, rngs),
        dropout: Dropout::new(0.1, rngs),
        out: Linear::new(8, 1, rngs),
    };
    Training::new(model, adam(1e-2))
}

/// Returns the mean squared and the mean absolute error.
pub fn loss(model: &mut Net, x: Array, y: Array) -> (Array, Array) {
    let x = model.dropout.forward(&model.hidden.forward(&x).tanh());
    let error = model.out.forward(&x).squeeze(&[-1]) - y;
    (error.square().mean(), error.abs().mean())
}

/// Shuffled batches of 8 out of 44 points: six per epoch, the last one smaller.
pub fn loader() -> DataLoader<Points> {
    DataLoader::new(points(44)).batch_size(8).shuffle(3)
}
