//! Complex numbers in functions of NumPy: the order of their parts, functions that
//! apply to both parts, and functions of real numbers, which refuse them.

use crate::{Array, complex};

/// The remedy for a complex operand of a function of real numbers.
pub(crate) const TAKE_A_PART: &str =
    "take the real number that is meant first: x.real(), x.imag() or x.abs()";

/// Refuses complex operands of a function of real numbers.
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

/// A comparison of complex numbers: of their real parts, or of their imaginary
/// parts where these are equal.
#[track_caller]
pub(crate) fn lexicographic(a: &Array, b: &Array, compare: fn(&Array, &Array) -> Array) -> Array {
    let (re, im) = ((a.real(), b.real()), (a.imag(), b.imag()));
    crate::where_(
        &re.0.eq(&re.1),
        compare(&im.0, &im.1),
        compare(&re.0, &re.1),
    )
}

/// A function of real numbers, applied to both parts of complex numbers.
#[track_caller]
pub(crate) fn by_parts(x: &Array, f: impl Fn(&Array) -> Array) -> Array {
    match x.dtype().is_complex() {
        true => complex(f(&x.real()), f(&x.imag())),
        false => f(x),
    }
}

impl Array {
    /// The square of the magnitude, which is real.
    #[track_caller]
    pub(crate) fn squared_magnitude(&self) -> Array {
        match self.dtype().is_complex() {
            true => (self * self.conj()).real(),
            false => self.square(),
        }
    }
}
