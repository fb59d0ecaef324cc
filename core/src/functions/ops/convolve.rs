//! Convolution and correlation of sequences (`jnp.convolve`, `jnp.correlate`).

use super::{Convolution, conv_general_dilated};
use crate::prim::operands;
use crate::{Array, IntoArray};

/// The part of a convolution of two sequences to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ConvolveMode {
    /// All positions where the sequences overlap: `n + m - 1` elements.
    #[default]
    Full,
    /// The middle positions, as many as the longer sequence has.
    Same,
    /// Only the positions where the shorter sequence overlaps completely.
    Valid,
}

/// Slides `kernel` along `x`, which must not be the shorter sequence, and sums the products.
#[track_caller]
fn slide(x: &Array, kernel: &Array, mode: ConvolveMode) -> Array {
    let m = kernel.size() as isize;
    let padding = match mode {
        ConvolveMode::Full => (m - 1, m - 1),
        ConvolveMode::Same => (m / 2, m - m / 2 - 1),
        ConvolveMode::Valid => (0, 0),
    };
    let how = Convolution::new().padding([padding]);
    let line = |x: &Array| x.expand_dims(&[0, 1]);
    conv_general_dilated(&line(x), &line(kernel), &how).squeeze(&[0, 1])
}

/// Promotes both sequences to a common dtype of floats.
#[track_caller]
fn sequences(operation: &str, a: &Array, v: &Array) -> (Array, Array) {
    for x in [a, v] {
        assert!(
            x.ndim() == 1 && x.size() > 0,
            "{operation}: expects nonempty 1-d operands, got {} and {}\n  help: use \
             conv_general_dilated for more axes",
            a.aval(),
            v.aval()
        );
    }
    let (a, v) = operands::promote(operation, a, v);
    (a.to_inexact(), v.to_inexact())
}

impl Array {
    /// Computes the convolution of two sequences, `Σₖ aₖ v₍ₙ₋ₖ₎` (`jnp.convolve`).
    ///
    /// ```no_run
    /// use ramie_core::numpy::ConvolveMode;
    /// use ramie_core::Array;
    /// let (x, pair) = (Array::from([1.0f32, 2.0, 3.0]), Array::from([1.0f32, 1.0]));
    /// assert_eq!(x.convolve(&pair, ConvolveMode::Full).to_vec::<f32>(), [1.0, 3.0, 5.0, 3.0]);
    /// ```
    ///
    /// # Panics
    /// Panics if an operand is not 1-d or is empty.
    #[track_caller]
    pub fn convolve(&self, v: impl IntoArray, mode: ConvolveMode) -> Array {
        let (a, v) = sequences("convolve", self, &v.into_array());
        let (long, short) = if a.size() < v.size() { (v, a) } else { (a, v) };
        slide(&long, &short.flip(&[0]), mode)
    }

    /// Computes the correlation of two sequences, `Σₖ a₍ₙ₊ₖ₎ conj(vₖ)` (`jnp.correlate`).
    ///
    /// # Panics
    /// Panics if an operand is not 1-d or is empty.
    #[track_caller]
    pub fn correlate(&self, v: impl IntoArray, mode: ConvolveMode) -> Array {
        let (a, v) = sequences("correlate", self, &v.into_array());
        let v = v.conj();
        if a.size() < v.size() {
            slide(&v, &a, mode).flip(&[0])
        } else {
            slide(&a, &v, mode)
        }
    }
}
