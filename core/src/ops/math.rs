//! Mathematical functions of NumPy that are made of several primitives.

use crate::{Array, DType, IntoArray, where_};

/// Half the largest distance at which [`Array::allclose`] takes numbers as
/// equal, relative and absolute, unless told otherwise: NumPy's.
const CLOSE: (f64, f64) = (1e-5, 1e-8);

impl Array {
    /// The logarithm to base 2.
    #[track_caller]
    pub fn log2(&self) -> Array {
        self.log() / std::f64::consts::LN_2
    }

    /// The logarithm to base 10.
    #[track_caller]
    pub fn log10(&self) -> Array {
        self.log() * std::f64::consts::LOG10_E
    }

    /// Degrees in radians.
    #[track_caller]
    pub fn deg2rad(&self) -> Array {
        self.to_inexact() * (std::f64::consts::PI / 180.0)
    }

    /// Radians in degrees.
    #[track_caller]
    pub fn rad2deg(&self) -> Array {
        self.to_inexact() * (180.0 / std::f64::consts::PI)
    }

    /// The length of the hypotenuse, `√(a² + b²)`, without overflow.
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    #[track_caller]
    pub fn hypot(&self, other: impl IntoArray) -> Array {
        let (a, b) = crate::ops::promote("hypot", self, &other.into_array());
        let (a, b) = (a.to_inexact().abs(), b.to_inexact().abs());
        let infinite = a.eq(f64::INFINITY).bitwise_or(b.eq(f64::INFINITY));
        let (large, small) = (a.maximum(&b), a.minimum(&b));
        let zero = large.eq(0);
        let ratio = &small / where_(&zero, 1, &large);
        let length = &large * (ratio.square() + 1.0).sqrt();
        where_(&infinite, f64::INFINITY, where_(&zero, &large, length))
    }

    /// The number without its fraction.
    #[track_caller]
    pub fn trunc(&self) -> Array {
        if !self.dtype().is_float() {
            return self.clone();
        }
        where_(&self.lt(0), self.ceil(), self.floor())
    }

    /// `1 / x`.
    #[track_caller]
    pub fn reciprocal(&self) -> Array {
        1.0 / self
    }

    /// `true` where the element is infinite.
    #[track_caller]
    pub fn is_inf(&self) -> Array {
        self.to_inexact().abs().eq(f64::INFINITY)
    }

    /// Zeros for NaN, and the largest finite numbers of the type for
    /// infinities.
    #[track_caller]
    pub fn nan_to_num(&self) -> Array {
        let largest = match self.dtype() {
            DType::F16 => half::f16::MAX.to_f64(),
            DType::BF16 => half::bf16::MAX.to_f64(),
            DType::F32 => f64::from(f32::MAX),
            DType::F64 => f64::MAX,
            _ => return self.clone(),
        };
        let x = where_(&self.is_nan(), 0, self);
        let x = where_(&x.eq(f64::INFINITY), largest, &x);
        where_(&x.eq(f64::NEG_INFINITY), -largest, &x)
    }

    /// Where the elements are equal or differ by at most
    /// `atol + rtol · |other|`. NaN is close to nothing.
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    #[track_caller]
    pub fn isclose_within(&self, other: impl IntoArray, rtol: f64, atol: f64) -> Array {
        let (a, b) = crate::ops::promote("isclose", self, &other.into_array());
        let (a, b) = (a.to_inexact(), b.to_inexact());
        let near = (&a - &b).abs().le(b.abs() * rtol + atol);
        a.eq(&b).bitwise_or(b.is_finite().bitwise_and(near))
    }

    /// [`isclose_within`](Array::isclose_within) a relative distance of 1e-5 and
    /// an absolute one of 1e-8, NumPy's.
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    #[track_caller]
    pub fn isclose(&self, other: impl IntoArray) -> Array {
        self.isclose_within(other, CLOSE.0, CLOSE.1)
    }

    /// Whether all elements are [close](Array::isclose_within), as a 0-d array.
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    #[track_caller]
    pub fn allclose_within(&self, other: impl IntoArray, rtol: f64, atol: f64) -> Array {
        self.isclose_within(other, rtol, atol).all()
    }

    /// Whether all elements are [close](Array::isclose), as a 0-d array.
    ///
    /// # Panics
    /// If the shapes do not broadcast.
    #[track_caller]
    pub fn allclose(&self, other: impl IntoArray) -> Array {
        self.isclose(other).all()
    }

    /// Whether both arrays have one shape and equal elements, as a 0-d array.
    #[track_caller]
    pub fn array_equal(&self, other: impl IntoArray) -> Array {
        let other = other.into_array();
        if self.shape() != other.shape() {
            return Array::scalar(false, DType::Bool);
        }
        self.eq(&other).all()
    }

    /// `n` numbers (`f32`) from `start` to `stop`, both included, at equal
    /// distances.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::linspace(0.0, 1.0, 3).to_vec::<f32>(), [0.0, 0.5, 1.0]);
    /// ```
    #[track_caller]
    pub fn linspace(start: f64, stop: f64, n: usize) -> Array {
        if n < 2 {
            return Array::full(&[n], start, DType::F32);
        }
        let step = Array::iota(&[n], 0, DType::F32) / (n - 1) as f64;
        let numbers = (1.0 - &step) * start + &step * stop;
        where_(&step.eq(1), stop, numbers)
    }
}

/// Coordinates on a grid: each 1-d array repeated along the axes of the others,
/// as NumPy's `meshgrid`. The first array runs along the columns (axis 1), the
/// second along the rows (axis 0), further ones along the axes after.
///
/// # Panics
/// If an array has more than one axis.
#[track_caller]
pub fn meshgrid(arrays: &[Array]) -> Vec<Array> {
    let swapped = |x: &Array| match x.ndim() {
        0 | 1 => x.clone(),
        _ => x.swap_axes(0, 1),
    };
    meshgrid_ij(arrays).iter().map(swapped).collect()
}

/// [`meshgrid`] with array `i` along axis `i`.
///
/// # Panics
/// If an array has more than one axis.
#[track_caller]
pub fn meshgrid_ij(arrays: &[Array]) -> Vec<Array> {
    for x in arrays {
        assert!(
            x.ndim() <= 1,
            "meshgrid: {} has more than one axis\n  help: coordinates are 1-d: flatten them first",
            x.aval()
        );
    }
    let shape: Vec<usize> = arrays.iter().map(Array::size).collect();
    arrays
        .iter()
        .enumerate()
        .map(|(i, x)| x.reshape(&[shape[i]]).broadcast_in_dim(&shape, &[i]))
        .collect()
}
