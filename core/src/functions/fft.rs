//! Discrete Fourier transforms, as in `jax.numpy.fft`.
//!
//! Transforms are of the last axis, of the last two axes, or of all axes. Those that end in `_with`
//! take [`Fft`]: other axes, lengths to which the axes are truncated or zero-padded, and a
//! normalization.
//!
//! ```no_run
//! use ramie_core::{Array, fft};
//! let x = Array::from([1.0f32, 2.0, 3.0, 4.0]);
//! let y = fft::fft(&x);
//! assert_eq!(y.real().to_vec::<f32>(), [10.0, -2.0, -2.0, -2.0]);
//! let back = fft::ifft(&y);
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

/// Options of the transforms. A [`Norm`] converts into it.
///
/// ```no_run
/// use ramie_core::fft::{Fft, Norm, fft_with};
/// use ramie_core::{Array, DType};
/// let x = Array::ones(&[4, 2], DType::F32);
/// let options = Fft::new().axes(&[0]).lengths(&[6]).norm(Norm::Ortho);
/// assert_eq!(fft_with(&x, options).shape(), [6, 2]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Fft {
    lengths: Option<Vec<usize>>,
    axes: Option<Vec<isize>>,
    norm: Norm,
}

impl Fft {
    /// Creates the options of a transform of the last axes, by default in their own lengths.
    pub fn new() -> Fft {
        Fft::default()
    }

    /// Sets the lengths, one for each axis. The axes are truncated or zero-padded to them. Inverse
    /// transforms of real numbers return this many numbers along the last axis; the default is an
    /// even number, twice the size of the axis minus 2.
    #[must_use]
    pub fn lengths(self, lengths: &[usize]) -> Fft {
        Fft {
            lengths: Some(lengths.to_vec()),
            ..self
        }
    }

    /// Sets the axes.
    #[must_use]
    pub fn axes(self, axes: &[isize]) -> Fft {
        Fft {
            axes: Some(axes.to_vec()),
            ..self
        }
    }

    /// Sets the normalization. Defaults to [`Norm::Backward`].
    #[must_use]
    pub fn norm(self, norm: Norm) -> Fft {
        Fft { norm, ..self }
    }

    /// Returns the axes: those that were set, or else the last ones.
    #[track_caller]
    fn axes_of(&self, operation: &str, x: &Array, count: Option<usize>) -> Vec<isize> {
        let natural = count.or(self.lengths.as_ref().map(Vec::len));
        let last = natural.unwrap_or(x.ndim()) as isize;
        let axes = self.axes.clone().unwrap_or_else(|| (-last..0).collect());
        assert!(
            count.is_none_or(|count| count == axes.len()),
            "{operation}: got {} axes, expected {last}\n  help: the functions whose names end in \
             `n`, such as `fftn`, transform any number of axes",
            axes.len()
        );
        axes
    }

    /// Transforms `count` axes, or any number.
    #[track_caller]
    fn transform(
        &self,
        operation: &str,
        x: &Array,
        fft_type: FftType,
        count: Option<usize>,
    ) -> Array {
        let axes = self.axes_of(operation, x, count);
        transform(
            operation,
            x,
            fft_type,
            self.lengths.as_deref(),
            &axes,
            self.norm,
        )
    }
}

impl From<Norm> for Fft {
    fn from(norm: Norm) -> Fft {
        Fft::new().norm(norm)
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
        "{operation}: the length of a transform must not be 0\n  help: leave out the \
         lengths to use those of {}",
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

macro_rules! transforms {
    ($( $(#[$doc:meta])* $f:ident $with:ident $ty:ident $count:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// Panics if the array has too few axes, or if a length is 0.
        #[track_caller]
        pub fn $f(x: &Array) -> Array {
            $with(x, Fft::new())
        }

        #[doc = concat!("Same as [`", stringify!($f), "`](", stringify!($f), "()), with options.")]
        ///
        /// # Panics
        /// Panics if an axis is out of range or given twice, if the numbers of lengths and axes
        /// do not fit, or if a length is 0.
        #[track_caller]
        pub fn $with(x: &Array, options: impl Into<Fft>) -> Array {
            options.into().transform(stringify!($f), x, FftType::$ty, $count)
        } )*
    };
}

transforms! {
    /// Computes the Fourier transform along the last axis.
    fft fft_with Fft Some(1);
    /// Computes the inverse of [`fft`](fft()).
    ifft ifft_with Ifft Some(1);
    /// Computes the Fourier transform of real numbers along the last axis: the first `n / 2 + 1`
    /// frequencies, which determine the others.
    rfft rfft_with Rfft Some(1);
    /// Computes the inverse of [`rfft`].
    irfft irfft_with Irfft Some(1);
}

transforms! {
    /// Computes the Fourier transform over all axes.
    fftn fftn_with Fft None;
    /// Computes the inverse of [`fftn`].
    ifftn ifftn_with Ifft None;
    /// Computes the Fourier transform of real numbers over all axes. The last axis contains half of
    /// the frequencies.
    rfftn rfftn_with Rfft None;
    /// Computes the inverse of [`rfftn`].
    irfftn irfftn_with Irfft None;
}

transforms! {
    /// Computes the Fourier transform over the last two axes.
    fft2 fft2_with Fft Some(2);
    /// Computes the inverse of [`fft2`].
    ifft2 ifft2_with Ifft Some(2);
    /// Computes the Fourier transform of real numbers over the last two axes. The last one contains
    /// half of the frequencies.
    rfft2 rfft2_with Rfft Some(2);
    /// Computes the inverse of [`rfft2`].
    irfft2 irfft2_with Irfft Some(2);
}

/// Computes the Fourier transform of a signal with the symmetry of a real spectrum, given by its
/// first half along the last axis. The result is real numbers.
///
/// # Panics
/// Panics if the array has no axes, or the length is 0.
#[track_caller]
pub fn hfft(x: &Array) -> Array {
    hfft_with(x, Fft::new())
}

/// Same as [`hfft`], with options.
///
/// # Panics
/// Panics if the axis is out of range, if there are several axes, or if the length is 0.
#[track_caller]
pub fn hfft_with(x: &Array, options: impl Into<Fft>) -> Array {
    let options = options.into();
    let axis = options.axes_of("hfft", x, Some(1))[0];
    let size = x.shape()[x.axis("hfft", axis)];
    let default = || vec![2 * size.saturating_sub(1)];
    let lengths = options.lengths.unwrap_or_else(default);
    let y = transform(
        "hfft",
        &x.conj(),
        FftType::Irfft,
        Some(&lengths),
        &[axis],
        Norm::Backward,
    );
    let n = lengths[0];
    y * (n as f64 * options.norm.factor(false, n).unwrap_or(1.0))
}

/// Computes the inverse of [`hfft`]: the first half of a symmetric spectrum.
///
/// # Panics
/// Panics if the array has no axes, or the length is 0.
#[track_caller]
pub fn ihfft(x: &Array) -> Array {
    ihfft_with(x, Fft::new())
}

/// Same as [`ihfft`], with options.
///
/// # Panics
/// Panics if the axis is out of range, if there are several axes, or if the length is 0.
#[track_caller]
pub fn ihfft_with(x: &Array, options: impl Into<Fft>) -> Array {
    let options = options.into();
    let axis = options.axes_of("ihfft", x, Some(1))[0];
    let size = x.shape()[x.axis("ihfft", axis)];
    let lengths = options.lengths.unwrap_or_else(|| vec![size]);
    let y = transform(
        "ihfft",
        x,
        FftType::Rfft,
        Some(&lengths),
        &[axis],
        Norm::Backward,
    );
    let n = lengths[0];
    y.conj() * (options.norm.factor(true, n).unwrap_or(1.0) / n as f64)
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

/// Shifts the zero frequency to the center of all axes.
#[track_caller]
pub fn fftshift(x: &Array) -> Array {
    fftshift_with(x, &all_axes(x))
}

/// Same as [`fftshift`], along the given axes.
///
/// # Panics
/// Panics if an axis is out of range.
#[track_caller]
pub fn fftshift_with(x: &Array, axes: &[isize]) -> Array {
    shift("fftshift", x, axes, |n| n / 2)
}

/// Computes the inverse of [`fftshift`].
#[track_caller]
pub fn ifftshift(x: &Array) -> Array {
    ifftshift_with(x, &all_axes(x))
}

/// Computes the inverse of [`fftshift_with`].
///
/// # Panics
/// Panics if an axis is out of range.
#[track_caller]
pub fn ifftshift_with(x: &Array, axes: &[isize]) -> Array {
    shift("ifftshift", x, axes, |n| -(n / 2))
}

fn all_axes(x: &Array) -> Vec<isize> {
    (0..x.ndim() as isize).collect()
}

#[track_caller]
fn shift(operation: &str, x: &Array, axes: &[isize], by: fn(isize) -> isize) -> Array {
    let axes = x.axes(operation, axes);
    let roll = |rolled: Array, &d: &usize| rolled.roll(by(x.shape()[d] as isize), d as isize);
    axes.iter().fold(x.clone(), roll)
}
