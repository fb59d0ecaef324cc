//! The images: built-in digits, or IDX files.

use crate::common::Result;
use ndarray::{Array1, Array3, Array4, Axis};
use ramie::data::readers::idx::Mnist;
use ramie::data::{Augment, DataLoader, IntoSource, Source, digits};
use std::path::Path;

/// Images with their labels.
pub struct Images {
    /// Brightness: `[n, height, width]`.
    pub pixels: Array3<u8>,
    pub labels: Array1<i32>,
}

/// A batch: `[n, height, width, 1]` and `[n]`.
pub type Batch = (Array4<f32>, Array1<i32>);

/// Loads the training and test images.
pub fn load(idx: Option<&Path>) -> Result<(Images, Images)> {
    if let Some(folder) = idx {
        let of = |split| -> Result<Images> {
            let Mnist { images, labels } = Mnist::load(folder, split)?;
            Ok(Images {
                pixels: images,
                labels: labels.mapv(i32::from),
            })
        };
        return Ok((of("train")?, of("t10k")?));
    }
    let digits = digits::load()?;
    let of = |split: digits::Split| Images {
        // The built-in digits range from 0 to 16.
        pixels: split.images.mapv(|p| (p / 16.0 * 255.0) as u8),
        labels: split.labels,
    };
    Ok((of(digits.train), of(digits.test)))
}

impl Images {
    /// Returns the mean and standard deviation of the pixels, scaled to 0..1.
    pub fn statistics(&self) -> ([f32; 1], [f32; 1]) {
        let count = self.pixels.len().max(1) as f64;
        let mean = self.pixels.iter().map(|p| f64::from(*p)).sum::<f64>() / count;
        let squares = self.pixels.iter().map(|p| (f64::from(*p) - mean).powi(2));
        let deviation = (squares.sum::<f64>() / count).sqrt().max(1.0);
        ([(mean / 255.0) as f32], [(deviation / 255.0) as f32])
    }

    /// Returns images of the same size, randomly shifted by up to the given number of
    /// pixels.
    pub fn shifted(&self, pixels: usize) -> Augment {
        let (_, height, width) = self.pixels.dim();
        Augment::new().random_crop(height, width, pixels)
    }

    /// Returns a loader that augments the images differently in every epoch.
    pub fn loader(&self, augment: Augment, seed: u64) -> DataLoader<Batch> {
        let pixels = self.pixels.clone().insert_axis(Axis(3));
        let source = (pixels, self.labels.clone()).into_source();
        DataLoader::new(source.seed(seed).apply(augment))
    }
}
