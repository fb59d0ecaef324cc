//! The images: built-in digits, MNIST, or IDX files.

use ndarray::{Array1, Array3, Array4, Axis};
use ramie::data::readers::idx::Mnist;
use ramie::data::{Augment, DataLoader, IntoSource, SourceExt, digits, mnist};
use ramie_examples::Result;

/// Images with their labels.
pub struct Images {
    /// Brightness: `[n, height, width]`.
    pub pixels: Array3<u8>,
    pub labels: Array1<i32>,
}

/// A batch: `[n, height, width, 1]` and `[n]`.
pub type Batch = (Array4<f32>, Array1<i32>);

/// Loads the training and test images: the dataset with a name, or the files of a directory.
pub fn load(data: &str) -> Result<(Images, Images)> {
    Ok(match data {
        "digits" => {
            let digits = digits::load()?;
            (digits.train.into(), digits.test.into())
        }
        "mnist" => {
            let mnist = mnist::load()?;
            (mnist.train.into(), mnist.test.into())
        }
        folder => {
            let of = |split| Mnist::load(folder, split);
            (of("train")?.into(), of("t10k")?.into())
        }
    })
}

impl From<digits::Split> for Images {
    fn from(split: digits::Split) -> Images {
        Images {
            // The built-in digits range from 0 to 16.
            pixels: split.images.mapv(|p| (p / 16.0 * 255.0) as u8),
            labels: split.labels,
        }
    }
}

impl From<Mnist> for Images {
    fn from(split: Mnist) -> Images {
        Images {
            pixels: split.images,
            labels: split.labels.mapv(i32::from),
        }
    }
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

    /// Returns images of the same size, randomly rotated and shifted by up to the given numbers
    /// of degrees and pixels.
    pub fn moved(&self, degrees: f64, pixels: usize) -> Augment {
        let (_, height, width) = self.pixels.dim();
        let augment = Augment::new().random_rotation(degrees);
        augment.random_crop(height, width, pixels)
    }

    /// Returns a loader that augments the images differently in every epoch.
    pub fn loader(&self, augment: Augment, seed: u64) -> DataLoader<Batch> {
        let pixels = self.pixels.clone().insert_axis(Axis(3));
        let source = (pixels, self.labels.clone()).into_source();
        DataLoader::new(source.seed(seed).apply(augment))
    }
}
