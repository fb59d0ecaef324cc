//! The pretrained model: a classifier of upright digits.

use crate::model::{Classifier, loss};
use ramie::checkpoint::safetensors::save;
use ramie::data::{DataLoader, digits};
use ramie::nn::Rngs;
use ramie::optim::adam;
use ramie::train::{Trainer, Training};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the file of the pretrained model in a folder, which it creates if there is none.
pub fn file_in(folder: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let file = folder.join("base.safetensors");
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
        fs::create_dir_all(folder)?;
        save(&file, &state.model)?;
    }
    Ok(file)
}
