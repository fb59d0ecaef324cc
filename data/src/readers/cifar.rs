//! Reader of the binary files of CIFAR-10 and CIFAR-100.

use super::file::{bad_record, damaged, name_of, read};
use crate::{IntoSource, Result};
use ndarray::{Array1, Array4};
use ramie_core::files::{DAMAGED, Message};
use std::path::Path;

/// Images with their labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cifar {
    /// The red, green and blue values of each pixel: `[n, 32, 32, 3]`.
    pub images: Array4<u8>,
    /// The class of each image: `[n]`.
    pub labels: Array1<u8>,
    /// The superclass of each image for CIFAR-100; empty for CIFAR-10.
    pub coarse: Array1<u8>,
}

impl IntoSource for Cifar {
    type Source = <(Array4<u8>, Array1<u8>) as IntoSource>::Source;
    fn into_source(self) -> Self::Source {
        (self.images, self.labels).into_source()
    }
}

/// The dataset of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Classes {
    /// CIFAR-10: one label before each image.
    Ten,
    /// CIFAR-100: two labels before each image, the superclass and the class.
    Hundred,
}

const SIDE: usize = 32;
const PIXELS: usize = 3 * SIDE * SIDE;

/// Loads the images of several files, such as `data_batch_1.bin`, and concatenates them.
///
/// # Errors
/// Returns an error if a file cannot be read or is damaged.
pub fn load<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>, classes: Classes) -> Result<Cifar> {
    let mut all = Records::default();
    for path in paths {
        let path = path.as_ref();
        all.add(&name_of(path), &read(path)?, classes)?;
    }
    Ok(all.finish())
}

/// Parses the contents of a file. Errors refer to the file by the name `file`.
///
/// # Errors
/// Returns an error if the contents are damaged.
pub fn parse(file: &str, bytes: &[u8], classes: Classes) -> Result<Cifar> {
    let mut all = Records::default();
    all.add(file, bytes, classes)?;
    Ok(all.finish())
}

#[derive(Default)]
struct Records {
    pixels: Vec<u8>,
    labels: Vec<u8>,
    coarse: Vec<u8>,
}

impl Records {
    fn add(&mut self, file: &str, bytes: &[u8], classes: Classes) -> Result<()> {
        let limits: &[u8] = match classes {
            Classes::Ten => &[10],
            Classes::Hundred => &[20, 100],
        };
        let size = limits.len() + PIXELS;
        if bytes.is_empty() || !bytes.len().is_multiple_of(size) {
            let message = format!(
                "has {} bytes, expected records of {size}: labels and an image; the file is cut short, \
                 or belongs to another dataset",
                bytes.len()
            );
            return Err(damaged(file, message));
        }
        self.pixels.reserve(bytes.len() / size * PIXELS);
        for (i, record) in bytes.chunks_exact(size).enumerate() {
            let (labels, planes) = record.split_at(limits.len());
            for (label, limit) in labels.iter().zip(limits) {
                if label >= limit {
                    let message = format!("the label is {label}, expected less than {limit}");
                    return Err(bad_record(file, i, Message::new(message).help(DAMAGED)));
                }
            }
            self.labels.push(labels[labels.len() - 1]);
            self.coarse.extend(&labels[..labels.len() - 1]);
            // Converts planar colors to interleaved ones.
            for p in 0..SIDE * SIDE {
                let colour = |c: usize| planes[c * SIDE * SIDE + p];
                self.pixels.extend([colour(0), colour(1), colour(2)]);
            }
        }
        Ok(())
    }

    fn finish(self) -> Cifar {
        let shape = (self.labels.len(), SIDE, SIDE, 3);
        let images = Array4::from_shape_vec(shape, self.pixels);
        Cifar {
            images: images.expect("an image for each label"),
            labels: self.labels.into(),
            coarse: self.coarse.into(),
        }
    }
}
