//! Handwritten digits: 1,797 images of 8×8 pixels, embedded in the program.
//!
//! The images are the test part of the *Optical Recognition of Handwritten Digits* dataset (E.
//! Alpaydin and C. Kaynak, 1998; UCI Machine Learning Repository, CC BY 4.0), which scikit-learn
//! ships as `load_digits`. The split into 1,347 training and 450 test rows, and their order, are
//! those of scikit-learn's `train_test_split` with `random_state=0`.
//!
//! ```
//! let digits = ramie_data::digits::load()?;
//! assert_eq!((digits.train.len(), digits.test.len()), (1347, 450));
//! assert_eq!(digits.train.images.shape(), [1347, 8, 8]);
//! assert!(digits.test.labels.iter().all(|&l| (0..10).contains(&l)));
//! # Ok::<(), ramie_data::Error>(())
//! ```

pub(crate) mod parse;

use crate::{IntoSource, Result};
use ndarray::{Array1, Array3};
use ramie_core::Array;

/// Number of rows and of columns of an image.
const SIDE: usize = 8;

const IMAGES: (&str, &[u8]) = ("digits.csv.gz", include_bytes!("digits.csv.gz"));
const SPLIT: (&str, &str) = ("digits_split.csv", include_str!("digits_split.csv"));

/// The digits, split for training and testing.
#[derive(Clone, Debug, PartialEq)]
pub struct Digits {
    /// The training split.
    pub train: Split,
    /// The test split.
    pub test: Split,
}

/// Images with their labels, on the host.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// Brightness of each pixel, integers from 0 to 16: `[n, 8, 8]`.
    pub images: Array3<f32>,
    /// The digit in each image, 0 to 9: `[n]`.
    pub labels: Array1<i32>,
}

impl Split {
    /// Returns the number of images.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Returns `true` if there are no images.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Copies the images to the default device: `f32[n,8,8]`.
    /// Values range from 0 to 16; divide by 16 for inputs from 0 to 1.
    ///
    /// # Panics
    /// Panics if no plugin works, or if the device is out of memory.
    #[track_caller]
    pub fn image_array(&self) -> Array {
        Array::from(&self.images)
    }

    /// Copies the images to the default device, as rows of 64 pixels: `f32[n,64]`.
    /// Values range from 0 to 16; divide by 16 for inputs from 0 to 1.
    ///
    /// # Panics
    /// Panics if no plugin works, or if the device is out of memory.
    #[track_caller]
    pub fn pixel_array(&self) -> Array {
        self.image_array().reshape(&[self.len(), SIDE * SIDE])
    }

    /// Copies the labels to the default device: `i32[n]`.
    ///
    /// # Panics
    /// Panics if no plugin works, or if the device is out of memory.
    #[track_caller]
    pub fn label_array(&self) -> Array {
        Array::from(&self.labels)
    }
}

/// Converts to a source of pairs of an image and its label.
///
/// ```
/// use ramie_data::{DataLoader, digits};
/// let loader = DataLoader::new(digits::load()?.train).batch_size(128).shuffle(0);
/// let (images, labels) = loader.iter().next().unwrap()?;
/// assert_eq!((images.dim(), labels.dim()), ((128, 8, 8), 128));
/// # Ok::<(), ramie_data::Error>(())
/// ```
impl IntoSource for Split {
    type Source = <(Array3<f32>, Array1<i32>) as IntoSource>::Source;
    fn into_source(self) -> Self::Source {
        (self.images, self.labels).into_source()
    }
}

/// Returns the digits, split for training and testing.
///
/// # Errors
/// Returns an error if the embedded files are damaged. It names the file and the row.
pub fn load() -> Result<Digits> {
    parse::digits(IMAGES, SPLIT)
}
