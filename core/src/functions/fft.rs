//! Discrete Fourier transforms, as in `jax.numpy.fft`.
//!
//! Transforms of one axis take an axis and an optional length; the axis is truncated or
//! zero-padded to that length. Transforms of several axes take lists of lengths and axes.
//!
//! ```no_run
//! use ramie_core::{Array, fft};
//! let x = Array::from([1.0f32, 2.0, 3.0, 4.0]);
//! let y = fft::fft(&x, None, -1, fft::Norm::Backward);
//! assert_eq!(y.real().to_vec::<f32>(), [10.0, -2.0, -2.0, -2.0]);
//! let back = fft::ifft(&y, None, -1, fft::Norm::Backward);
//! assert_eq!(back.real().to_vec::<f32>(), [1.0, 2.0, 3.0, 4.0]);
//! ```

use crate::prim::fft::{FftType, lax_fft};
use crate::{Array, DType, concatenate};

/// The normalization: whether a transform or its inverse is divided by the number of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Norm {
    /// Divides the inverse transform.
    #[default]
    Backward,
    /// Divides both by the square root of the number of elements.
    Ortho,
    /// Divides the forward transform.
    Forward,
}

impl Norm {
    /// Returns the factor to apply to XLA's transform of `count` elements, whose inverse divides
    /// by `count`.
    fn factor(self, inverse: bool, count: usize) -> Option<f64> {
        let count = count as f64;
        let share = match self {
            Norm::Backward => return None,
            Norm::Ortho => count.sqrt(),
            Norm::Forward => count,
        };
        Some(if inverse { share } else { 1.0 / share })
    }
}

/// Transforms some axes to the given lengths.
#[track_caller]
fn transform(
    operation: &str,
    x: &Array,
    fft_type: FftType,
    lengths: Option<&[usize]>,
    axes: &[isize],
    norm: Norm,
) -> Array {
    let count = x.axes(operation, axes).len();
    assert!(
        lengths.is_none_or(|s| s.len() == axes.len()),
        "{operation}: got {} lengths for {} axes\n  help: pass one length per axis",
        lengths.map_or(0, <[usize]>::len),
        axes.len()
    );
    assert!(
        lengths.is_none_or(|s| !s.contains(&0)),
        "{operation}: the length of a transform must not be 0\n  help: pass None as lengths to \
         use those of {}",
        x.aval()
    );
    let half = fft_type == FftType::Irfft;
    let rank = x.ndim();
    let last: Vec<isize> = (rank - count..rank).map(|d| d as isize).collect();
    // XLA transforms the last axes.
    let mut x = x.move_axes(axes, &last);
    let front = rank - count;
    let own = |i: usize| {
        if half && i + 1 == count {
            2 * x.shape()[front + i].saturating_sub(1)
        } else {
            x.shape()[front + i]
        }
    };
    let lengths: Vec<usize> = match lengths {
        Some(lengths) => lengths.to_vec(),
        None => (0..count).map(own).collect(),
    };
    let config: Vec<(isize, isize, usize)> = (0..rank)
        .map(|d| {
            let Some(i) = d.checked_sub(front) else {
                return (0, 0, 0);
            };
            let wanted = if half && i + 1 == count {
                lengths[i] / 2 + 1
            } else {
                lengths[i]
            };
            let wanted = isize::try_from(wanted).unwrap_or(isize::MAX);
            (0, wanted - x.shape()[d] as isize, 0)
        })
        .collect();
    x = x.to_inexact().lax_pad(&config, 0);
    let mut y = along_last(&x, fft_type, &lengths);
    let inverse = matches!(fft_type, FftType::Ifft | FftType::Irfft);
    if let Some(factor) = norm.factor(inverse, crate::types::aval::element_count(&lengths)) {
        y *= factor;
    }
    y.move_axes(&last, axes)
}

/// Transforms any number of last axes, up to three at a time.
#[track_caller]
fn along_last(x: &Array, fft_type: FftType, lengths: &[usize]) -> Array {
    if lengths.is_empty() {
        return x.clone();
    }
    if lengths.len() <= 3 {
        return lax_fft(x, fft_type, lengths);
    }
    let n = if lengths.len() == 4 { 2 } else { 3 };
    let (first, rest) = lengths.split_at(lengths.len() - n);
    let rank = x.ndim() as isize;
    let from: Vec<isize> = (rank - lengths.len() as isize..rank - n as isize).collect();
    let to: Vec<isize> = (rank - first.len() as isize..rank).collect();
    let outer = |x: Array, fft_type| {
        along_last(&x.move_axes(&from, &to), fft_type, first).move_axes(&to, &from)
    };
    match fft_type {
        FftType::Fft | FftType::Rfft => outer(lax_fft(x, fft_type, rest), FftType::Fft),
        FftType::Ifft | FftType::Irfft => lax_fft(&outer(x.clone(), FftType::Ifft), fft_type, rest),
    }
}

macro_rules! one_axis {
    ($( $(#[$doc:meta])* $f:ident $ty:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// The axis is truncated or zero-padded to `n`, if it is given.
        ///
        /// # Panics
        /// Panics if the axis is out of range, or if the length is 0.
        #[track_caller]
        pub fn $f(x: &Array, n: Option<usize>, axis: isize, norm: Norm) -> Array {
            transform(stringify!($f), x, FftType::$ty, n.as_ref().map(std::slice::from_ref), &[axis], norm)
        } )*
    };
}

one_axis! {
    /// Computes the Fourier transform along an axis.
    fft Fft;
    /// Computes the inverse of [`fft`](fft()).
    ifft Ifft;
    /// Computes the Fourier transform of real numbers: the first `n / 2 + 1` frequencies, which
    /// determine the others.
    rfft Rfft;
    /// Computes the inverse of [`rfft`]: `n` real numbers. `n` defaults to an even number, twice
    /// the size of the axis minus 2.
    irfft Irfft;
}

macro_rules! several_axes {
    ($( $(#[$doc:meta])* $f:ident $ty:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// If `axes` is `None`, the last axes are transformed, as many as there are lengths, or
        /// all axes if there are no lengths. Each axis is truncated or zero-padded to its length.
        ///
        /// # Panics
        /// Panics if an axis is out of range or given twice, if the numbers of lengths and axes
        /// differ, or if a length is 0.
        #[track_caller]
        pub fn $f(x: &Array, lengths: Option<&[usize]>, axes: Option<&[isize]>, norm: Norm) -> Array {
            let last = lengths.map_or(x.ndim(), <[usize]>::len) as isize;
            let default: Vec<isize> = (-last..0).collect();
            transform(stringify!($f), x, FftType::$ty, lengths, axes.unwrap_or(&default), norm)
        } )*
    };
}

several_axes! {
    /// Computes the Fourier transform over several axes.
    fftn Fft;
    /// Computes the inverse of [`fftn`].
    ifftn Ifft;
    /// Computes the Fourier transform of real numbers over several axes. The last axis contains
    /// half of the frequencies.
    rfftn Rfft;
    /// Computes the inverse of [`rfftn`].
    irfftn Irfft;
}

macro_rules! two_axes {
    ($( $(#[$doc:meta])* $f:ident $ty:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// Panics if an axis is out of range or given twice, or if a length is 0.
        #[track_caller]
        pub fn $f(x: &Array, lengths: Option<[usize; 2]>, axes: [isize; 2], norm: Norm) -> Array {
            let lengths = lengths.as_ref().map(<[usize; 2]>::as_slice);
            transform(stringify!($f), x, FftType::$ty, lengths, &axes, norm)
        } )*
    };
}

two_axes! {
    /// Computes the Fourier transform over two axes, usually `[-2, -1]`.
    fft2 Fft;
    /// Computes the inverse of [`fft2`].
    ifft2 Ifft;
    /// Computes the Fourier transform of real numbers over two axes. The second axis contains
    /// half of the frequencies.
    rfft2 Rfft;
    /// Computes the inverse of [`rfft2`].
    irfft2 Irfft;
}

/// Computes the Fourier transform of a signal with the symmetry of a real spectrum, given by its
/// first half. The result is `n` real numbers.
///
/// # Panics
/// Panics if the axis is out of range, or the length is 0.
#[track_caller]
pub fn hfft(x: &Array, n: Option<usize>, axis: isize, norm: Norm) -> Array {
    let size = x.shape()[x.axis("hfft", axis)];
    let n = n.unwrap_or(2 * size.saturating_sub(1));
    let y = transform(
        "hfft",
        &x.conj(),
        FftType::Irfft,
        Some(&[n]),
        &[axis],
        Norm::Backward,
    );
    y * (n as f64 * norm.factor(false, n).unwrap_or(1.0))
}

/// Computes the inverse of [`hfft`]: the first half of a symmetric spectrum.
///
/// # Panics
/// Panics if the axis is out of range, or the length is 0.
#[track_caller]
pub fn ihfft(x: &Array, n: Option<usize>, axis: isize, norm: Norm) -> Array {
    let n = n.unwrap_or(x.shape()[x.axis("ihfft", axis)]);
    let y = transform(
        "ihfft",
        x,
        FftType::Rfft,
        Some(&[n]),
        &[axis],
        Norm::Backward,
    );
    y.conj() * (norm.factor(true, n).unwrap_or(1.0) / n as f64)
}

/// Returns the frequencies of [`fft`](fft()) for `n` samples with a spacing of `d`: from 0 up,
/// followed by the negative frequencies.
///
/// ```no_run
/// use ramie_core::{DType, fft};
/// let f = fft::fftfreq(4, 0.5, DType::F32);
/// assert_eq!(f.to_vec::<f32>(), [0.0, 0.5, -1.0, -0.5]);
/// ```
///
/// # Panics
/// Panics if `dtype` is not a floating-point type.
#[track_caller]
pub fn fftfreq(n: usize, d: f64, dtype: DType) -> Array {
    // Without samples, there are no frequencies.
    expect_samples("fftfreq", n.max(1), dtype);
    let up = n.div_ceil(2);
    let low = Array::iota(&[up], 0, dtype);
    let high = Array::iota(&[n - up], 0, dtype) - (n / 2) as f64;
    concatenate(&[&low, &high], 0) / (n as f64 * d)
}

/// Returns the frequencies of [`rfft`] for `n` samples with a spacing of `d`.
///
/// # Panics
/// Panics if `n` is 0, or `dtype` is not a floating-point type.
#[track_caller]
pub fn rfftfreq(n: usize, d: f64, dtype: DType) -> Array {
    expect_samples("rfftfreq", n, dtype);
    Array::iota(&[n / 2 + 1], 0, dtype) / (n as f64 * d)
}

#[track_caller]
fn expect_samples(operation: &str, n: usize, dtype: DType) {
    assert!(
        n > 0 && dtype.is_float(),
        "{operation}: expects at least one sample and a floating-point dtype, got {n} and \
         {dtype}\n  help: use F32, and at least one sample"
    );
}

/// Shifts the zero frequency to the center of each of the given axes, or of all axes if `axes` is
/// `None`.
///
/// # Panics
/// Panics if an axis is out of range.
#[track_caller]
pub fn fftshift(x: &Array, axes: Option<&[isize]>) -> Array {
    shift("fftshift", x, axes, |n| n / 2)
}

/// Computes the inverse of [`fftshift`].
///
/// # Panics
/// Panics if an axis is out of range.
#[track_caller]
pub fn ifftshift(x: &Array, axes: Option<&[isize]>) -> Array {
    shift("ifftshift", x, axes, |n| -(n / 2))
}

#[track_caller]
fn shift(operation: &str, x: &Array, axes: Option<&[isize]>, by: fn(isize) -> isize) -> Array {
    let all: Vec<isize> = (0..x.ndim() as isize).collect();
    let axes = x.axes(operation, axes.unwrap_or(&all));
    let roll = |rolled: Array, &d: &usize| rolled.roll(by(x.shape()[d] as isize), d as isize);
    axes.iter().fold(x.clone(), roll)
}
