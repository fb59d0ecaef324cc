//! Discrete Fourier transforms, as in `jax.numpy.fft`.
//!
//! Transforms of one axis take a length, to which the axis is cut or filled
//! with zeros, and an axis; those of several axes take lengths and axes.
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

/// Which of a transform and its inverse is divided by the number of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Norm {
    /// The inverse.
    #[default]
    Backward,
    /// Both, by the root of the number.
    Ortho,
    /// The transform.
    Forward,
}

impl Norm {
    /// What XLA's transform of `count` elements, whose inverse divides, is
    /// multiplied by.
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

/// A transform of some axes with lengths.
#[track_caller]
fn transform(
    operation: &str,
    x: &Array,
    fft_type: FftType,
    lengths: Option<&[usize]>,
    axes: &[isize],
    norm: Norm,
) -> Array {
    let places = x.axes(operation, axes);
    assert!(
        lengths.is_none_or(|s| s.len() == axes.len()),
        "{operation}: {} lengths for {} axes\n  help: give one for each axis",
        lengths.map_or(0, <[usize]>::len),
        axes.len()
    );
    assert!(
        lengths.is_none_or(|s| !s.contains(&0)),
        "{operation}: a transform has no length of 0\n  help: leave the lengths out to take those \
         of {}",
        x.aval()
    );
    let half = fft_type == FftType::Irfft;
    let rank = x.ndim();
    let last: Vec<isize> = (rank - places.len()..rank).map(|d| d as isize).collect();
    // XLA transforms the last axes.
    let mut x = x.move_axes(axes, &last);
    let front = rank - places.len();
    let own = |i: usize| match half && i + 1 == places.len() {
        true => 2 * x.shape()[front + i].saturating_sub(1),
        false => x.shape()[front + i],
    };
    let lengths: Vec<usize> = match lengths {
        Some(lengths) => lengths.to_vec(),
        None => (0..places.len()).map(own).collect(),
    };
    let config: Vec<(isize, isize, usize)> = (0..rank)
        .map(|d| {
            let Some(i) = d.checked_sub(front) else {
                return (0, 0, 0);
            };
            let wanted = match half && i + 1 == places.len() {
                true => lengths[i] / 2 + 1,
                false => lengths[i],
            };
            let wanted = isize::try_from(wanted).unwrap_or(isize::MAX);
            (0, wanted - x.shape()[d] as isize, 0)
        })
        .collect();
    x = x.to_inexact().lax_pad(&config, 0);
    let mut y = along_last(&x, fft_type, &lengths);
    let inverse = matches!(fft_type, FftType::Ifft | FftType::Irfft);
    if let Some(factor) = norm.factor(inverse, crate::aval::element_count(&lengths)) {
        y *= factor;
    }
    y.move_axes(&last, axes)
}

/// A transform of any number of last axes, up to three at a time.
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
        /// The axis is cut or filled with zeros to `n`, where that is given.
        ///
        /// # Panics
        /// If the axis is out of range, or the length is 0.
        #[track_caller]
        pub fn $f(x: &Array, n: Option<usize>, axis: isize, norm: Norm) -> Array {
            transform(stringify!($f), x, FftType::$ty, n.as_ref().map(std::slice::from_ref), &[axis], norm)
        } )*
    };
}

one_axis! {
    /// The Fourier transform along an axis.
    fft Fft;
    /// The inverse of [`fft`](fft()).
    ifft Ifft;
    /// The first `n / 2 + 1` frequencies of real numbers, which tell the others.
    rfft Rfft;
    /// The inverse of [`rfft`]: real numbers, `n` of them; an even number where
    /// `n` is not given.
    irfft Irfft;
}

macro_rules! several_axes {
    ($( $(#[$doc:meta])* $f:ident $ty:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// Without `axes` the transform is over as many last axes as there are
        /// lengths, or over all; each axis is cut or filled with zeros to its
        /// length.
        ///
        /// # Panics
        /// If an axis is out of range or named twice, there are not as many
        /// lengths as axes, or a length is 0.
        #[track_caller]
        pub fn $f(x: &Array, lengths: Option<&[usize]>, axes: Option<&[isize]>, norm: Norm) -> Array {
            let last = lengths.map_or(x.ndim(), <[usize]>::len) as isize;
            let default: Vec<isize> = (-last..0).collect();
            transform(stringify!($f), x, FftType::$ty, lengths, axes.unwrap_or(&default), norm)
        } )*
    };
}

several_axes! {
    /// The Fourier transform over several axes.
    fftn Fft;
    /// The inverse of [`fftn`].
    ifftn Ifft;
    /// The Fourier transform of real numbers over several axes, the last of
    /// which has half of the frequencies.
    rfftn Rfft;
    /// The inverse of [`rfftn`].
    irfftn Irfft;
}

macro_rules! two_axes {
    ($( $(#[$doc:meta])* $f:ident $ty:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// If an axis is out of range or named twice, or a length is 0.
        #[track_caller]
        pub fn $f(x: &Array, lengths: Option<[usize; 2]>, axes: [isize; 2], norm: Norm) -> Array {
            let lengths = lengths.as_ref().map(<[usize; 2]>::as_slice);
            transform(stringify!($f), x, FftType::$ty, lengths, &axes, norm)
        } )*
    };
}

two_axes! {
    /// The Fourier transform over two axes, most often `[-2, -1]`.
    fft2 Fft;
    /// The inverse of [`fft2`].
    ifft2 Ifft;
    /// The Fourier transform of real numbers over two axes, the second of which
    /// has half of the frequencies.
    rfft2 Rfft;
    /// The inverse of [`rfft2`].
    irfft2 Irfft;
}

/// The Fourier transform of what has the symmetry of a real spectrum, given by
/// its first half: real numbers, `n` of them.
///
/// # Panics
/// If the axis is out of range, or the length is 0.
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

/// The inverse of [`hfft`]: the first half of a symmetric spectrum.
///
/// # Panics
/// If the axis is out of range, or the length is 0.
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

/// The frequencies of [`fft`](fft()) of `n` samples, `d` apart: from 0 up, then
/// the negative ones.
///
/// ```no_run
/// use ramie_core::{DType, fft};
/// let f = fft::fftfreq(4, 0.5, DType::F32);
/// assert_eq!(f.to_vec::<f32>(), [0.0, 0.5, -1.0, -0.5]);
/// ```
///
/// # Panics
/// If `dtype` is not a floating-point type.
#[track_caller]
pub fn fftfreq(n: usize, d: f64, dtype: DType) -> Array {
    // No samples have no frequencies.
    expect_samples("fftfreq", n.max(1), dtype);
    let up = n.div_ceil(2);
    let low = Array::iota(&[up], 0, dtype);
    let high = Array::iota(&[n - up], 0, dtype) - (n / 2) as f64;
    concatenate(&[&low, &high], 0) / (n as f64 * d)
}

/// The frequencies of [`rfft`] of `n` samples, `d` apart.
///
/// # Panics
/// If `n` is 0, or `dtype` is not a floating-point type.
#[track_caller]
pub fn rfftfreq(n: usize, d: f64, dtype: DType) -> Array {
    expect_samples("rfftfreq", n, dtype);
    Array::iota(&[n / 2 + 1], 0, dtype) / (n as f64 * d)
}

#[track_caller]
fn expect_samples(operation: &str, n: usize, dtype: DType) {
    assert!(
        n > 0 && dtype.is_float(),
        "{operation}: expects samples and a floating-point dtype, got {n} and {dtype}\n  help: use \
         F32, and at least one sample"
    );
}

/// The array with the frequency 0 moved to the middle of each of the axes, all
/// if there are none given.
///
/// # Panics
/// If an axis is out of range.
#[track_caller]
pub fn fftshift(x: &Array, axes: Option<&[isize]>) -> Array {
    shift("fftshift", x, axes, |n| n / 2)
}

/// The inverse of [`fftshift`].
///
/// # Panics
/// If an axis is out of range.
#[track_caller]
pub fn ifftshift(x: &Array, axes: Option<&[isize]>) -> Array {
    shift("ifftshift", x, axes, |n| -(n / 2))
}

#[track_caller]
fn shift(operation: &str, x: &Array, axes: Option<&[isize]>, by: fn(isize) -> isize) -> Array {
    let all: Vec<isize> = (0..x.ndim() as isize).collect();
    let axes = axes.unwrap_or(&all);
    let sizes = x.axes(operation, axes);
    let shifts: Vec<isize> = sizes.iter().map(|&d| by(x.shape()[d] as isize)).collect();
    x.roll_axes(&shifts, axes)
}
