//! The pretrained model: a classifier of upright digits.

use crate::model::{Classifier, loss};
use ramie::checkpoint::safetensors::save;
use ramie::data::{DataLoader, digits};
use ramie::nn::Rngs;
use ramie::optim::adam;
use ramie::train::{Trainer, Training};
use std::error::Error;
use std::path::PathBuf;

/// Returns the file of the pretrained model in the current folder, which it writes if there is none.
pub fn file() -> Result<PathBuf, Box<dyn Error>> {
    let file = PathBuf::from("base.safetensors");
    if !file.exists() {
        println!(
            "Training a classifier of upright digits: {}",
            file.display()
        );
        let images = DataLoader::new(digits::load()?.train)
            .batch_size(64)
            .shuffle(0);
        let mut state = Training::new(Classifier::new(&mut Rngs::new(0)), adam(1e-3));
        Trainer::new(loss)
            .epochs(10)
            .quiet()
            .fit(&mut state, images.drop_last())?;
        save(&file, &state.model)?;
    }
    Ok(file)
}
