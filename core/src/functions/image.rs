//! Image resizing (`jax.image`).
//!
//! An output pixel is a weighted sum of input pixels, one axis at a time. The weights are given
//! by a kernel, a function of the distance between the centers of the pixels. With antialiasing,
//! the kernel is widened when the image is downsampled.

use crate::lax::{DotDimensionNumbers, Precision};
use crate::{Array, DType, IntoArray, where_};

/// Interpolation methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResizeMethod {
    /// Nearest neighbor.
    Nearest,
    /// Linear interpolation.
    Linear,
    /// Lanczos windowed sinc with 3 pixels on each side.
    Lanczos3,
    /// Lanczos windowed sinc with 5 pixels on each side.
    Lanczos5,
    /// Keys cubic convolution with a = -0.5 (Keys 1981, "Cubic convolution interpolation for
    /// digital image processing").
    Cubic,
    /// Same as [`Cubic`](ResizeMethod::Cubic) with antialiasing. Without antialiasing, cubic
    /// convolution with a = -0.75 and repeated edges, as in PyTorch.
    CubicPytorch,
    /// The mean over the area of the output pixel.
    Area,
}

impl ResizeMethod {
    /// Samples the image without antialiasing (`antialias=False` in JAX).
    #[must_use]
    pub fn without_antialias(self) -> Resize {
        Resize {
            method: self,
            antialias: false,
        }
    }
}

/// A [`ResizeMethod`], which converts into it, with or without antialiasing.
#[derive(Clone, Copy, Debug)]
pub struct Resize {
    method: ResizeMethod,
    antialias: bool,
}

impl From<ResizeMethod> for Resize {
    fn from(method: ResizeMethod) -> Resize {
        Resize {
            method,
            antialias: true,
        }
    }
}

/// The kernels, as functions of distances in pixels.
#[derive(Clone, Copy)]
enum Kernel {
    Triangle,
    Lanczos(f64),
    Cubic(f64),
    Area,
}

impl Kernel {
    fn weights(self, distance: &Array) -> Array {
        let x = distance;
        let beyond = |limit: f64, value: Array| where_(x.ge(limit), 0.0, value);
        match self {
            Kernel::Triangle => (1.0 - x).maximum(0.0),
            Kernel::Lanczos(radius) => {
                let turn = x * std::f64::consts::PI;
                let product = turn.sin() * (&turn / radius).sin() * radius;
                let square = where_(x.ne(0.0), turn.square(), 1.0);
                let inside = where_(x.gt(1e-3), product / square, 1.0);
                where_(x.gt(radius), 0.0, inside)
            }
            Kernel::Cubic(a) => {
                let near = ((x * (a + 2.0) - (a + 3.0)) * x) * x + 1.0;
                let far = ((x * a - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a;
                beyond(2.0, where_(x.ge(1.0), far, near))
            }
            Kernel::Area => unreachable!("areas overlap; they have no distance"),
        }
    }
}

impl ResizeMethod {
    /// Returns the kernel, and the number of pixels by which the edges are repeated.
    fn kernel(self, antialias: bool) -> (Kernel, usize) {
        match self {
            ResizeMethod::Nearest => unreachable!("the nearest pixel needs no weights"),
            ResizeMethod::Linear => (Kernel::Triangle, 0),
            ResizeMethod::Lanczos3 => (Kernel::Lanczos(3.0), 0),
            ResizeMethod::Lanczos5 => (Kernel::Lanczos(5.0), 0),
            ResizeMethod::CubicPytorch if !antialias => (Kernel::Cubic(-0.75), 2),
            ResizeMethod::Cubic | ResizeMethod::CubicPytorch => (Kernel::Cubic(-0.5), 0),
            ResizeMethod::Area => (Kernel::Area, 0),
        }
    }
}

/// Computes the weights `[n, size]` of `n` input pixels in `size` output pixels.
fn weights(
    n: usize,
    size: usize,
    scale: &Array,
    translation: &Array,
    (kernel, repeat): (Kernel, usize),
    antialias: bool,
) -> Array {
    let dtype = scale.dtype();
    let step = scale.reciprocal();
    let shift = translation * &step;
    let left = Array::iota(&[size], 0, dtype) * &step - &shift;
    let inputs = Array::iota(&[n + 2 * repeat, 1], 0, dtype) - repeat as f64;
    let centre = (Array::iota(&[size], 0, dtype) + 0.5) * &step - &shift - 0.5;
    let raw = match kernel {
        Kernel::Area => {
            let right = (&left + &step).minimum(&inputs + 1.0);
            (right - left.maximum(&inputs)).maximum(0.0)
        }
        _ => {
            let mut distance = (&centre - &inputs).abs();
            if antialias {
                distance /= step.maximum(1.0);
            }
            kernel.weights(&distance)
        }
    };
    // The weights of pixels beyond the edges are added to those of the edge pixels.
    let raw = match repeat {
        0 => raw,
        k => {
            let first = raw.slice_in_dim(0, k, 1, 0).sum_over(0);
            let last = raw.slice_in_dim(n + k, n + 2 * k, 1, 0).sum_over(0);
            let inner = raw.slice_in_dim(k, n + k, 1, 0);
            inner.at((0,)).add(first).at((n as isize - 1,)).add(last)
        }
    };
    let total = raw.reduce_sum(&[0]).expand_dims(&[0]);
    let safe = where_(total.ne(0.0), &total, 1.0);
    let counts = total.abs().gt(1000.0 * f64::from(f32::EPSILON));
    let normal = where_(&counts, raw / safe, 0.0);
    if repeat > 0 {
        return normal;
    }
    let inside = centre.ge(-0.5) & centre.le(n as f64 - 0.5);
    where_(&inside, normal, 0.0)
}

#[track_caller]
fn check_rank(operation: &str, image: &Array, shape: &[usize]) {
    assert!(
        shape.len() == image.ndim(),
        "{operation}: the new shape {shape:?} has {} axes, but the image {} has {}\n  help: pass \
         the size of every axis, including those that do not change, such as batch and channels",
        shape.len(),
        image.aval(),
        image.ndim()
    );
}

/// Converts image values to floats; integers become `f32`.
fn inexact(image: &Array) -> Array {
    if image.dtype().is_inexact() {
        image.clone()
    } else {
        image.astype(DType::F32)
    }
}

/// Resizes an image to `shape` (`jax.image.resize`), with antialiasing when downsampling unless the
/// method is [without it](ResizeMethod::without_antialias). Axes with the same size are left
/// unchanged: for images `[batch, height, width, channels]`, pass the
/// same batch size and number of channels.
///
/// ```
/// use ramie_core::{Array, image};
/// let row = Array::from([1.0f32, 3.0]);
/// let wide = image::resize(&row, &[4], image::ResizeMethod::Linear);
/// assert_eq!(wide.to_vec::<f32>(), [1.0, 1.5, 2.5, 3.0]);
/// ```
/// # Panics
/// Panics if the length of `shape` differs from the number of axes.
#[track_caller]
pub fn resize(image: &Array, shape: &[usize], method: impl Into<Resize>) -> Array {
    let Resize { method, antialias } = method.into();
    check_rank("resize", image, shape);
    let changed: Vec<usize> = (0..shape.len())
        .filter(|&d| image.shape()[d] != shape[d])
        .collect();
    if method == ResizeMethod::Nearest {
        return changed
            .into_iter()
            .fold(image.clone(), |x, d| nearest(&x, d, shape[d]));
    }
    let kernel = method.kernel(antialias);
    let image = inexact(image);
    let dtype = weight_type(&image);
    changed.into_iter().fold(image, |x, d| {
        let (m, n) = (x.shape()[d], shape[d]);
        let scale = Array::scalar(n as f64 / (m as f64).max(1.0), dtype);
        let none = Array::scalar(0.0, dtype);
        let w = weights(m, n, &scale, &none, kernel, antialias);
        contract(&x, d, &w)
    })
}

fn weight_type(image: &Array) -> DType {
    match image.dtype().real() {
        DType::F64 => DType::F64,
        _ => DType::F32,
    }
}

fn nearest(x: &Array, axis: usize, size: usize) -> Array {
    let m = x.shape()[axis] as f64;
    let centres = (Array::iota(&[size], 0, DType::F32) + 0.5) * m / (size as f64);
    x.take(&centres.floor().astype(DType::I32), axis as isize)
}

/// Contracts an axis with weights `[axis, new axis]`.
fn contract(x: &Array, axis: usize, weights: &Array) -> Array {
    let numbers = DotDimensionNumbers::new([&[axis], &[0]], [&[], &[]]);
    let weights = weights.astype(x.dtype());
    x.dot_general_with(&weights, numbers, Precision::HIGHEST)
        .move_axis(-1, axis as isize)
}

/// Scales and translates an image along some axes: the input location `x` is mapped to
/// `x * scale + translation`, in pixels whose centers are at half-integers. Pixels from outside
/// the image are zero (`jax.image.scale_and_translate`). `scale` and `translation` have one
/// element for each of `spatial_axes`. They may be traced and differentiated.
///
/// # Panics
/// Panics if the length of `shape` differs from the number of axes, if `scale` or `translation`
/// has a different number of elements than `spatial_axes`, or if the method is nearest neighbor.
#[track_caller]
pub fn scale_and_translate(
    image: &Array,
    shape: &[usize],
    spatial_axes: &[isize],
    scale: impl IntoArray,
    translation: impl IntoArray,
    method: impl Into<Resize>,
) -> Array {
    let Resize { method, antialias } = method.into();
    check_rank("scale_and_translate", image, shape);
    assert!(
        method != ResizeMethod::Nearest,
        "scale_and_translate: ResizeMethod::Nearest is not supported\n  help: use `resize` for \
         the nearest pixel, or pass another method"
    );
    let image = inexact(image);
    let dtype = weight_type(&image);
    let [scale, translation] =
        [scale.into_array(), translation.into_array()].map(|a| a.astype(dtype));
    for (name, given) in [("scale", &scale), ("translation", &translation)] {
        assert!(
            given.shape() == [spatial_axes.len()],
            "scale_and_translate: {name} is {}, expected one element for each of {} spatial axes",
            given.aval(),
            spatial_axes.len()
        );
    }
    let kernel = method.kernel(antialias);
    let mut x = image;
    for (i, &axis) in spatial_axes.iter().enumerate() {
        let d = x.axis("scale_and_translate", axis);
        let one = |a: &Array| a.slice_in_dim(i, i + 1, 1, 0).reshape(());
        let w = weights(
            x.shape()[d],
            shape[d],
            &one(&scale),
            &one(&translation),
            kernel,
            antialias,
        );
        x = contract(&x, d, &w);
    }
    assert!(
        x.shape() == shape,
        "scale_and_translate: axes not in spatial_axes keep their size, so the result is {}, not \
         {shape:?}",
        x.aval()
    );
    x
}
