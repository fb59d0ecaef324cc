//! Real and complex elements.

use num_complex::Complex64;
use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// An element of a matrix: a real or a complex number.
pub(crate) trait Scalar:
    Copy
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
{
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// Converts a real number.
    fn of(value: f64) -> Self;
    /// Returns the real and the imaginary part.
    fn parts(self) -> Complex64;
    /// Returns the complex conjugate.
    fn conj(self) -> Self;
    /// Returns the magnitude.
    fn magnitude(self) -> f64;
    /// Divides, without overflow where the quotient is representable.
    fn over(self, divisor: Self) -> Self;
}

impl Scalar for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    fn of(value: f64) -> f64 {
        value
    }
    fn parts(self) -> Complex64 {
        Complex64::new(self, 0.0)
    }
    fn conj(self) -> f64 {
        self
    }
    fn magnitude(self) -> f64 {
        self.abs()
    }
    fn over(self, divisor: f64) -> f64 {
        self / divisor
    }
}

impl Scalar for Complex64 {
    const ZERO: Complex64 = Complex64::new(0.0, 0.0);
    const ONE: Complex64 = Complex64::new(1.0, 0.0);

    fn of(value: f64) -> Complex64 {
        Complex64::new(value, 0.0)
    }
    fn parts(self) -> Complex64 {
        self
    }
    fn conj(self) -> Complex64 {
        Complex64::new(self.re, -self.im)
    }
    fn magnitude(self) -> f64 {
        self.re.hypot(self.im)
    }
    fn over(self, divisor: Complex64) -> Complex64 {
        let scale = divisor.re.abs().max(divisor.im.abs());
        let unit = Complex64::new(divisor.re / scale, divisor.im / scale);
        let numerator = Complex64::new(self.re / scale, self.im / scale);
        numerator * Scalar::conj(unit) / (unit.re * unit.re + unit.im * unit.im)
    }
}

/// Returns the sum of the magnitudes of both parts: within a factor of √2 of the magnitude.
pub(crate) fn rough(value: impl Scalar) -> f64 {
    let parts = value.parts();
    parts.re.abs() + parts.im.abs()
}

/// Returns the principal square root. The root of a negative real number has a positive imaginary
/// part unless its own is -0.
pub(crate) fn square_root(value: Complex64) -> Complex64 {
    let size = value.re.abs().max(value.im.abs());
    if size == 0.0 {
        return Complex64::ZERO;
    }
    // A power of 4, whose root is exact.
    let scale = 4f64.powi((size.log2() / 2.0).floor() as i32);
    let (re, im) = (value.re / scale, value.im / scale);
    let larger = ((re.abs() + re.hypot(im)) / 2.0).sqrt();
    let smaller = im.abs() / (2.0 * larger);
    let root = scale.sqrt();
    if re >= 0.0 {
        Complex64::new(larger * root, (smaller * root).copysign(im))
    } else {
        Complex64::new(smaller * root, (larger * root).copysign(im))
    }
}
