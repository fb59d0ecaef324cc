//! Random and fixed transformations of images (data augmentation).

use crate::{Context, Generator, Result, Transform};
use ndarray::{Array3, ArrayView3, Axis};

/// A sequence of image transformations, applied to each image before batching. Images have the
/// shape `[height, width, channels]`; bytes are scaled to numbers from 0 to 1.
///
/// ```
/// use ndarray::Array;
/// use ramie_data::{Augment, IntoSource, Source, SourceExt};
/// let images = Array::<u8, _>::zeros((100, 32, 32, 3));
/// let augment = Augment::new()
///     .random_crop(32, 32, 4)
///     .random_flip(0.5)
///     .normalise(&[0.49, 0.48, 0.45], &[0.25, 0.24, 0.26]);
/// let source = (images, 0..100).into_source().seed(0).apply(augment);
/// assert_eq!(source.get(0)?.0.shape(), [32, 32, 3]);
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Augment(Vec<Step>);

#[derive(Clone, Debug, PartialEq)]
enum Step {
    CenterCrop(usize, usize),
    RandomCrop(usize, usize, usize),
    Flip(f64),
    Rotation(f64),
    Resize(usize, usize),
    Normalise(Vec<f32>, Vec<f32>),
}

impl Augment {
    /// Creates a pipeline that only scales pixels to numbers from 0 to 1.
    pub fn new() -> Augment {
        Augment::default()
    }

    fn then(mut self, step: Step) -> Augment {
        self.0.push(step);
        self
    }

    /// Crops to the middle of the image. A smaller image is padded with black.
    #[must_use]
    pub fn center_crop(self, height: usize, width: usize) -> Augment {
        self.then(Step::CenterCrop(height, width))
    }

    /// Pads the image with `padding` black pixels on each side, then crops it at a random
    /// position.
    #[must_use]
    pub fn random_crop(self, height: usize, width: usize, padding: usize) -> Augment {
        self.then(Step::RandomCrop(height, width, padding))
    }

    /// Mirrors the image horizontally with this probability.
    ///
    /// # Panics
    /// Panics if the probability is not from 0 to 1.
    #[must_use]
    #[track_caller]
    pub fn random_flip(self, probability: f64) -> Augment {
        assert!(
            (0.0..=1.0).contains(&probability),
            "Augment: random_flip got {probability}, expected a probability\n  help: pass a number \
             from 0.0 to 1.0; 0.5 mirrors half of the images"
        );
        self.then(Step::Flip(probability))
    }

    /// Rotates the image around its middle by a random angle of at most `degrees` in either direction.
    /// Every new pixel is interpolated between four old pixels; the outside is black.
    #[must_use]
    pub fn random_rotation(self, degrees: f64) -> Augment {
        self.then(Step::Rotation(degrees))
    }

    /// Resizes the image. Every new pixel is the mean of the old pixels around it, weighted by
    /// distance (a triangle kernel, which widens when the image shrinks), like `jax.image.resize`
    /// with `linear`.
    ///
    /// # Panics
    /// Panics if a size is 0.
    #[must_use]
    #[track_caller]
    pub fn resize(self, height: usize, width: usize) -> Augment {
        assert!(
            height > 0 && width > 0,
            "Augment::resize: the size is {height} by {width} pixels\n  help: pass sizes of at least \
             1, such as `resize(224, 224)`"
        );
        self.then(Step::Resize(height, width))
    }

    /// Subtracts each channel's mean and divides by its standard deviation.
    ///
    /// # Panics
    /// Panics if `mean` and `deviation` differ in length, or if a standard deviation is 0.
    #[must_use]
    #[track_caller]
    pub fn normalise(self, mean: &[f32], deviation: &[f32]) -> Augment {
        assert!(
            mean.len() == deviation.len() && !deviation.contains(&0.0),
            "Augment::normalise: there are {} means, and the deviations are {deviation:?}\n  help: \
             pass a mean and a nonzero deviation for each channel",
            mean.len()
        );
        self.then(Step::Normalise(mean.to_vec(), deviation.to_vec()))
    }

    /// Applies all steps to an image, with random numbers from `generator`.
    ///
    /// # Panics
    /// Panics if the number of channels differs from that of `normalise`,
    /// or if an image without pixels is resized.
    #[track_caller]
    pub fn apply(&self, image: &ArrayView3<'_, u8>, generator: &mut Generator) -> Array3<f32> {
        let mut image = image.mapv(|p| f32::from(p) / 255.0);
        for step in &self.0 {
            image = step.apply(image, generator);
        }
        image
    }
}

/// Transforms images. Only random steps need a seed.
impl Transform<Array3<u8>> for Augment {
    type Output = Array3<f32>;
    fn apply(&self, image: Array3<u8>, context: &mut Context) -> Result<Array3<f32>> {
        let random = |step: &Step| {
            matches!(
                step,
                Step::RandomCrop(..) | Step::Flip(_) | Step::Rotation(_)
            )
        };
        let image = image.view();
        Ok(if self.0.iter().any(random) {
            self.apply(&image, context.generator())
        } else {
            self.apply(&image, &mut Generator::new(0))
        })
    }
}

/// Transforms images that have labels.
impl<L: Send> Transform<(Array3<u8>, L)> for Augment {
    type Output = (Array3<f32>, L);
    fn apply(
        &self,
        (image, label): (Array3<u8>, L),
        context: &mut Context,
    ) -> Result<Self::Output> {
        Ok((Transform::apply(self, image, context)?, label))
    }
}

impl Step {
    #[track_caller]
    fn apply(&self, mut image: Array3<f32>, generator: &mut Generator) -> Array3<f32> {
        let (h, w, channels) = image.dim();
        match self {
            Step::CenterCrop(height, width) => {
                let middle =
                    |have: usize, want: usize| (have as isize - want as isize).div_euclid(2);
                crop(
                    &image,
                    middle(h, *height),
                    middle(w, *width),
                    *height,
                    *width,
                )
            }
            Step::RandomCrop(height, width, padding) => {
                let mut start = |have: usize, want: usize| {
                    let room = (have + 2 * padding).saturating_sub(want);
                    generator.below(room + 1) as isize - *padding as isize
                };
                let (top, left) = (start(h, *height), start(w, *width));
                crop(&image, top, left, *height, *width)
            }
            Step::Flip(probability) => {
                if generator.chance(*probability) {
                    image.invert_axis(Axis(1));
                }
                image
            }
            Step::Rotation(degrees) => {
                let angle = degrees * (2.0 * generator.uniform() - 1.0);
                rotate(&image, angle.to_radians())
            }
            Step::Resize(height, width) => {
                assert!(
                    h > 0 && w > 0,
                    "Augment: an image of {h} by {w} pixels cannot be resized\n  help: remove empty \
                     images from the dataset"
                );
                let tall = resized(&image, Axis(0), *height);
                resized(&tall, Axis(1), *width)
            }
            Step::Normalise(mean, deviation) => {
                assert!(
                    channels == mean.len(),
                    "Augment: the image has {channels} channels, but `normalise` has the means of {}\n  help: \
                     pass a mean and a deviation for each channel to `normalise`",
                    mean.len()
                );
                for c in 0..channels {
                    let mut plane = image.index_axis_mut(Axis(2), c);
                    plane.mapv_inplace(|p| (p - mean[c]) / deviation[c]);
                }
                image
            }
        }
    }
}

/// Returns a part of an image. The part may extend beyond the image, where it is black.
fn crop(image: &Array3<f32>, top: isize, left: isize, height: usize, width: usize) -> Array3<f32> {
    let (h, w, channels) = image.dim();
    let mut out = Array3::zeros((height, width, channels));
    // The overlap of image and part along one axis, as start and end in the image.
    let shared = |start: isize, have: usize, want: usize| {
        let from = start.clamp(0, have as isize);
        let to = (start + want as isize).clamp(from, have as isize);
        (from as usize, to as usize)
    };
    let (y, x) = (shared(top, h, height), shared(left, w, width));
    let (dy, dx) = (
        (y.0 as isize - top) as usize,
        (x.0 as isize - left) as usize,
    );
    if y.0 < y.1 && x.0 < x.1 {
        let part = image.slice_axis(Axis(0), (y.0..y.1).into());
        let part = part.slice_axis(Axis(1), (x.0..x.1).into());
        let mut place = out.slice_axis_mut(Axis(0), (dy..dy + y.1 - y.0).into());
        let mut place = place.slice_axis_mut(Axis(1), (dx..dx + x.1 - x.0).into());
        place.assign(&part);
    }
    out
}

/// Returns the image with another size along an axis.
fn resized(image: &Array3<f32>, axis: Axis, size: usize) -> Array3<f32> {
    let mut shape = image.raw_dim();
    let weights = weights(shape[axis.0], size);
    shape[axis.0] = size;
    let mut out = Array3::zeros(shape);
    for (mut out, (first, weights)) in out.axis_iter_mut(axis).zip(&weights) {
        for (i, weight) in weights.iter().enumerate() {
            out.scaled_add(*weight, &image.index_axis(axis, first + i));
        }
    }
    out
}

/// Returns the image, rotated counterclockwise around its middle.
fn rotate(image: &Array3<f32>, angle: f64) -> Array3<f32> {
    let (h, w, _) = image.dim();
    let (middle_y, middle_x) = ((h as f64 - 1.0) / 2.0, (w as f64 - 1.0) / 2.0);
    let (sin, cos) = angle.sin_cos();
    // A negative index becomes a large one.
    let pixel = |y: isize, x: isize, c: usize| {
        let found = image.get((y as usize, x as usize, c));
        found.copied().unwrap_or(0.0)
    };
    Array3::from_shape_fn(image.dim(), |(y, x, c)| {
        let (y, x) = (y as f64 - middle_y, x as f64 - middle_x);
        let (y, x) = (cos * y + sin * x + middle_y, cos * x - sin * y + middle_x);
        let (down, right) = ((y - y.floor()) as f32, (x - x.floor()) as f32);
        let (y, x) = (y.floor() as isize, x.floor() as isize);
        let row = |y| pixel(y, x, c) * (1.0 - right) + pixel(y, x + 1, c) * right;
        row(y) * (1.0 - down) + row(y + 1) * down
    })
}

/// Returns, for each new pixel, the first old pixel it depends on and the weights from there on.
fn weights(old: usize, new: usize) -> Vec<(usize, Vec<f32>)> {
    let scale = old as f64 / new as f64;
    let reach = scale.max(1.0);
    let pixel = |i: usize| {
        let centre = (i as f64 + 0.5) * scale - 0.5;
        let first = (centre - reach).ceil().max(0.0) as usize;
        let last = ((centre + reach).floor() as usize).min(old - 1);
        let weight = |j: usize| (1.0 - (j as f64 - centre).abs() / reach).max(0.0);
        let sum: f64 = (first..=last).map(weight).sum();
        let weights = (first..=last).map(|j| (weight(j) / sum) as f32);
        (first, weights.collect())
    };
    (0..new).map(pixel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array, Array2};

    fn picture(h: usize, w: usize) -> Array3<u8> {
        Array::from_shape_fn((h, w, 1), |(y, x, _)| (10 * y + x) as u8)
    }

    /// Returns the pixels of the first channel, rounded back to bytes.
    fn pixels(augment: &Augment, image: &Array3<u8>, seed: u64) -> Array2<i32> {
        let out = augment.apply(&image.view(), &mut Generator::new(seed));
        out.index_axis(Axis(2), 0)
            .mapv(|p| (p * 255.0).round() as i32)
    }

    #[test]
    fn crops_have_black_around_them() {
        let center = |h, w| pixels(&Augment::new().center_crop(h, w), &picture(4, 4), 0);
        assert_eq!(center(2, 2), ndarray::array![[11, 12], [21, 22]]);
        assert_eq!(center(1, 6), ndarray::array![[0, 10, 11, 12, 13, 0]]);
        let crop = Augment::new().random_crop(4, 4, 2);
        let mut corners: Vec<i32> = (0..200)
            .map(|seed| pixels(&crop, &picture(4, 4), seed)[[2, 2]])
            .collect();
        corners.sort_unstable();
        corners.dedup();
        // All 25 offsets occur; the pixel at 0, 0 is black as well.
        let expected: Vec<i32> = (0..4)
            .flat_map(|y| (0..4).map(move |x| 10 * y + x))
            .collect();
        assert_eq!(corners, expected);
        let tiny = pixels(&Augment::new().random_crop(3, 3, 0), &picture(1, 1), 0);
        assert_eq!(tiny.dim(), (3, 3));
    }

    #[test]
    fn flips_happen_as_often_as_they_should() {
        let flip = |p| Augment::new().random_flip(p);
        assert_eq!(
            pixels(&flip(1.0), &picture(1, 3), 0),
            ndarray::array![[2, 1, 0]]
        );
        assert_eq!(
            pixels(&flip(0.0), &picture(1, 3), 0),
            ndarray::array![[0, 1, 2]]
        );
        let flipped = (0..1000).filter(|s| pixels(&flip(0.3), &picture(1, 2), *s)[[0, 0]] == 1);
        assert!((230..370).contains(&flipped.count()));
    }

    #[test]
    fn rotations_are_around_the_middle() {
        let rotated = |angle: f64, h, w| {
            let image = picture(h, w).mapv(f32::from);
            rotate(&image, angle.to_radians()).index_axis_move(Axis(2), 0)
        };
        let near = |got: Array2<f32>, expected: Array2<f32>| {
            assert_eq!(got.dim(), expected.dim());
            let mut pairs = got.iter().zip(&expected);
            assert!(pairs.all(|(a, b)| (a - b).abs() < 1e-3), "{got}");
        };
        near(
            rotated(90.0, 3, 3),
            ndarray::array![[2.0, 12.0, 22.0], [1.0, 11.0, 21.0], [0.0, 10.0, 20.0]],
        );
        near(
            rotated(180.0, 2, 3),
            ndarray::array![[12.0, 11.0, 10.0], [2.0, 1.0, 0.0]],
        );
        // Computed with NumPy.
        near(
            rotated(45.0, 3, 3),
            ndarray::array![
                [0.5858, 4.636, 7.0294],
                [3.2218, 11.0, 18.7782],
                [5.8579, 17.364, 12.3015],
            ],
        );
        // Angles vary, but only up to the given one.
        let augment = Augment::new().random_rotation(1.0);
        let image = picture(5, 5);
        let turned = |seed| pixels(&augment, &image, seed);
        let mut corners: Vec<i32> = (0..20).map(|seed| turned(seed)[[4, 4]]).collect();
        corners.sort_unstable();
        corners.dedup();
        assert!(corners.len() > 1 && corners.iter().all(|c| (42..=44).contains(c)));
        assert_eq!(turned(0)[[2, 2]], 22);
    }

    /// Recorded from `jax.image.resize(.., "linear")` of JAX 0.10.2.
    #[test]
    fn sizes_change_as_in_jax() {
        let resized = |h, w, from: (usize, usize)| {
            let image = picture(from.0, from.1);
            let out = Augment::new()
                .resize(h, w)
                .apply(&image.view(), &mut Generator::new(0));
            out.iter().map(|p| p * 255.0).collect::<Vec<f32>>()
        };
        for (got, expected) in [
            (resized(1, 5, (1, 3)), RECORDED.0),
            (resized(2, 2, (4, 5)), RECORDED.1),
        ] {
            assert_eq!(got.len(), expected.len());
            for (a, b) in got.iter().zip(expected) {
                assert!((a - b).abs() < 1e-4, "{got:?} {expected:?}");
            }
        }
        let same = resized(4, 5, (4, 5));
        assert!(
            same.iter()
                .zip(&picture(4, 5))
                .all(|(a, b)| (a - f32::from(*b)).abs() < 1e-4)
        );
    }

    const RECORDED: (&[f32], &[f32]) = (
        &[0.0, 0.4, 1.0, 1.6, 2.0],
        &[8.142859, 10.142858, 23.857147, 25.857143],
    );

    #[test]
    fn channels_are_normalised_each() {
        let image = Array::from_shape_fn((1, 1, 2), |(_, _, c)| 255 * c as u8);
        let augment = Augment::new().normalise(&[0.5, 0.5], &[0.25, 0.5]);
        let out = augment.apply(&image.view(), &mut Generator::new(0));
        assert_eq!(out.iter().copied().collect::<Vec<_>>(), [-2.0, 1.0]);
    }
}
