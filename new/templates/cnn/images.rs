//! The images: built-in digits of 8×8 pixels, or a folder of files in MNIST's format.

use ramie::data::readers::idx::Mnist;
use ramie::data::{Augment, DataLoader, IntoSource, Result, SourceExt, digits};
use ramie::ndarray::{Array1, Array3, Array4, Axis};
use std::path::Path;

/// Images with their labels.
pub struct Images {
    /// Brightness from 0 to 255: `[n, height, width]`.
    pub pixels: Array3<u8>,
    pub labels: Array1<i32>,
}

/// Loads the images for training and for validation.
pub fn load(mnist: Option<&Path>) -> Result<(Images, Images)> {
    let Some(folder) = mnist else {
        let digits = digits::load()?;
        let convert = |split: digits::Split| Images {
            pixels: split.images.mapv(|p| (p / 16.0 * 255.0) as u8),
            labels: split.labels,
        };
        return Ok((convert(digits.train), convert(digits.test)));
    };
    let read = |split| -> Result<Images> {
        let Mnist { images, labels } = Mnist::load(folder, split)?;
        Ok(Images {
            pixels: images,
            labels: labels.mapv(i32::from),
        })
    };
    Ok((read("train")?, read("t10k")?))
}

impl Images {
    /// Returns a loader of batches `[n, height, width, 1]` and `[n]`. With a `shift`, each epoch
    /// moves the images randomly by up to this number of pixels.
    pub fn loader(self, shift: usize, seed: u64) -> DataLoader<(Array4<f32>, Array1<i32>)> {
        let (_, height, width) = self.pixels.dim();
        let mut augment = Augment::new();
        if shift > 0 {
            augment = augment.random_crop(height, width, shift);
        }
        let pixels = self.pixels.insert_axis(Axis(3));
        let source = (pixels, self.labels).into_source().seed(seed);
        DataLoader::new(source.apply(augment.normalise(&[0.3], &[0.35])))
    }
}
