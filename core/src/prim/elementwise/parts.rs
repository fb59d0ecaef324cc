//! Complex numbers in NumPy functions: lexicographic order, functions applied to both parts, and
//! the check of functions that require real numbers.

use crate::Array;
use crate::base::error::TAKE_A_PART;
use crate::numpy::complex;

/// Panics if an operand of a function of real numbers is complex.
#[track_caller]
pub(crate) fn require_real(operation: &str, operands: &[&Array]) {
    for x in operands {
        assert!(
            !x.dtype().is_complex(),
            "{operation}: expects real numbers, got {}\n  help: {TAKE_A_PART}",
            x.aval()
        );
    }
}

/// Compares complex numbers lexicographically: by their real parts, then by their imaginary
/// parts.
#[track_caller]
pub(crate) fn lexicographic(a: &Array, b: &Array, compare: fn(&Array, &Array) -> Array) -> Array {
    let (re, im) = ((a.real(), b.real()), (a.imag(), b.imag()));
    crate::where_(re.0.eq(&re.1), compare(&im.0, &im.1), compare(&re.0, &re.1))
}

/// Applies a function of real numbers to both parts of complex numbers.
#[track_caller]
pub(crate) fn by_parts(x: &Array, f: impl Fn(&Array) -> Array) -> Array {
    if x.dtype().is_complex() {
        complex(f(&x.real()), f(&x.imag()))
    } else {
        f(x)
    }
}

impl Array {
    /// Computes the squared magnitude of each element, which is real.
    #[track_caller]
    pub(crate) fn squared_magnitude(&self) -> Array {
        if self.dtype().is_complex() {
            (self * self.conj()).real()
        } else {
            self.square()
        }
    }
}
