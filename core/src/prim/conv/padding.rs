//! Padding of the axes along which a window slides.

use super::Pads;
use crate::ShapeError;
use crate::types::aval::ADDRESSABLE;
use serde::{Deserialize, Serialize};

/// Padding of the spatial axes along which a window slides.
///
/// The strings of JAX convert to it: `"VALID"`, `"SAME"` and `"SAME_LOWER"`, in upper or lower
/// case. Any other string panics.
///
/// ```
/// use ramie_core::lax::Padding;
/// assert_eq!(Padding::from("SAME"), Padding::Same);
/// ```
///
/// In a configuration file, it is `"VALID"`, `"SAME"` or `"SAME_LOWER"`, or a list of pairs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(from = "PaddingData", into = "PaddingData")]
pub enum Padding {
    /// No padding: windows are inside the operand.
    #[default]
    Valid,
    /// Padding such that there is one window for every `stride` elements. If the total is odd,
    /// the extra element is added at the end.
    Same,
    /// Same as [`Padding::Same`], but the extra element is added at the start.
    SameLower,
    /// Explicit numbers of elements before and after each axis; negative numbers remove elements.
    Explicit(Pads),
}

#[derive(Serialize, Deserialize)]
enum Name {
    #[serde(rename = "VALID")]
    Valid,
    #[serde(rename = "SAME")]
    Same,
    #[serde(rename = "SAME_LOWER")]
    SameLower,
}

/// A padding in a configuration file.
#[derive(Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "invalid padding, expected VALID, SAME or SAME_LOWER, or pairs of numbers before and after each axis"
)]
enum PaddingData {
    Name(Name),
    Explicit(Vec<(isize, isize)>),
}

impl From<PaddingData> for Padding {
    fn from(data: PaddingData) -> Padding {
        match data {
            PaddingData::Name(Name::Valid) => Padding::Valid,
            PaddingData::Name(Name::Same) => Padding::Same,
            PaddingData::Name(Name::SameLower) => Padding::SameLower,
            PaddingData::Explicit(pads) => Padding::from(&pads[..]),
        }
    }
}

impl From<Padding> for PaddingData {
    fn from(padding: Padding) -> PaddingData {
        match padding {
            Padding::Valid => PaddingData::Name(Name::Valid),
            Padding::Same => PaddingData::Name(Name::Same),
            Padding::SameLower => PaddingData::Name(Name::SameLower),
            Padding::Explicit(pads) => PaddingData::Explicit(pads.into_vec()),
        }
    }
}

impl From<&str> for Padding {
    #[track_caller]
    fn from(name: &str) -> Padding {
        match name.to_ascii_uppercase().as_str() {
            "VALID" => Padding::Valid,
            "SAME" => Padding::Same,
            "SAME_LOWER" => Padding::SameLower,
            _ => panic!(
                "padding: unknown padding \"{name}\"\n  help: use \"VALID\", \"SAME\" or \
                 \"SAME_LOWER\", or numbers before and after each axis: [(1, 1), (0, 2)]"
            ),
        }
    }
}

impl From<&[(isize, isize)]> for Padding {
    fn from(pads: &[(isize, isize)]) -> Padding {
        Padding::Explicit(pads.into())
    }
}

impl<const N: usize> From<[(isize, isize); N]> for Padding {
    fn from(pads: [(isize, isize); N]) -> Padding {
        Padding::Explicit(pads.into_iter().collect())
    }
}

impl<const N: usize> From<&[(isize, isize); N]> for Padding {
    fn from(pads: &[(isize, isize); N]) -> Padding {
        Padding::Explicit(pads.iter().copied().collect())
    }
}

impl From<Pads> for Padding {
    fn from(pads: Pads) -> Padding {
        Padding::Explicit(pads)
    }
}

impl Padding {
    /// Returns the numbers of elements before and after each axis (`jax.lax.padtype_to_pads`),
    /// for axes of sizes `shape` and a window of sizes `window`, dilation included.
    ///
    /// ```no_run
    /// use ramie_core::lax::Padding;
    /// assert_eq!(Padding::Same.pads(&[6], &[3], &[2]).as_slice(), [(0, 1)]);
    /// ```
    ///
    /// # Panics
    /// Panics unless `shape`, `window` and `strides` have the same length.
    #[track_caller]
    pub fn pads(&self, shape: &[usize], window: &[usize], strides: &[usize]) -> Pads {
        assert!(
            shape.len() == window.len() && shape.len() == strides.len(),
            "padding: got {} axes, {} window sizes and {} strides\n  help: pass one window size and \
             one stride for each axis",
            shape.len(),
            window.len(),
            strides.len()
        );
        let total = |i: usize| {
            let positions = shape[i].div_ceil(strides[i].max(1)) as i128;
            let reached = (positions - 1) * strides[i] as i128 + window[i] as i128;
            clamped(reached - shape[i] as i128).max(0)
        };
        let each = 0..shape.len();
        match self {
            Padding::Valid => each.map(|_| (0, 0)).collect(),
            Padding::Same => each
                .map(|i| (total(i) / 2, total(i) - total(i) / 2))
                .collect(),
            Padding::SameLower => each
                .map(|i| (total(i) - total(i) / 2, total(i) / 2))
                .collect(),
            Padding::Explicit(pads) => pads.clone(),
        }
    }
}

/// Clamps a padding to the range of `isize`. A padding that is clamped always leads to a size
/// that no process can address.
fn clamped(size: i128) -> isize {
    size.clamp(isize::MIN as i128, isize::MAX as i128) as isize
}

/// Returns the size of an axis of `n` elements with `dilation - 1` elements inserted between
/// neighbors, at most `usize::MAX`.
pub(crate) fn dilated(n: usize, dilation: usize) -> usize {
    match n {
        0 => 0,
        _ => dilation.saturating_mul(n - 1).saturating_add(1),
    }
}

/// Returns how many windows of `window` elements with the given stride fit into `base` elements
/// with `padding` along one axis, and the number of elements with padding. Sizes include
/// dilation.
pub(crate) fn window_positions(
    axis: usize,
    base: usize,
    padding: (isize, isize),
    window: usize,
    stride: usize,
) -> Result<[usize; 2], ShapeError> {
    let (low, high) = padding;
    let padded = base as i128 + low as i128 + high as i128;
    crate::ensure_shape!(
        padded >= 0,
        "padding ({low}, {high}) removes more elements from axis {axis} than its {base}"
    );
    let padded = padded.unsigned_abs();
    // Gradients use the stride as dilation, so that it must be a valid array size, too.
    for (what, size) in [
        ("the dilated axis", base as u128),
        ("the padded axis", padded),
        ("the dilated window along axis", window as u128),
        ("the stride along axis", stride as u128),
    ] {
        crate::ensure_shape!(
            size <= ADDRESSABLE,
            "{what} {axis} has {size} elements, more than a process can address"
        );
    }
    let padded = padded as usize;
    let positions = match padded.checked_sub(window) {
        Some(rest) => rest / stride + 1,
        None => 0,
    };
    Ok([positions, padded.max(base)])
}

/// Returns the padding of the convolution that computes the operand's cotangent from the
/// result's, along one axis. Sizes include dilation.
pub(crate) fn lhs_cotangent_padding(
    lhs: usize,
    window: usize,
    out: usize,
    padding: (isize, isize),
) -> (isize, isize) {
    let before = window as i128 - padding.0 as i128 - 1;
    let after = lhs as i128 + window as i128 - 1 - out as i128 - before;
    (clamped(before), clamped(after))
}

/// Returns the padding of the convolution that computes the kernel's cotangent from the operand
/// and the result's cotangent, along one axis. Sizes include dilation.
pub(super) fn rhs_cotangent_padding(
    lhs: usize,
    window: usize,
    out: usize,
    padding: (isize, isize),
) -> (isize, isize) {
    let after = out as i128 - lhs as i128 + window as i128 - padding.0 as i128 - 1;
    (padding.0, clamped(after))
}

/// Returns the padding of a transposed convolution with a window of `window` elements along one
/// axis, where `padding` is that of the convolution that it reverses.
pub(crate) fn transposed_padding(
    window: usize,
    stride: usize,
    padding: &Padding,
    axis: usize,
) -> (isize, isize) {
    let (window, stride) = (window as i128, stride as i128);
    let (before, after) = match padding {
        Padding::Valid => {
            let total = window + stride - 2 + (window - stride).max(0);
            (window - 1, total - (window - 1))
        }
        Padding::Explicit(pads) => {
            let (low, high) = pads[axis];
            (window - low as i128 - 1, window - high as i128 - 1)
        }
        Padding::Same | Padding::SameLower => {
            let total = window + stride - 2;
            let before = if stride > window - 1 {
                window - 1
            } else {
                (total + 1) / 2
            };
            (before, total - before)
        }
    };
    (clamped(before), clamped(after))
}
