//! How much is added around the axes that a window slides along.

use super::Pads;

/// What is added around the spatial axes before a window slides along them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Padding {
    /// Nothing: windows are inside the operand.
    #[default]
    Valid,
    /// As much as gives one window for every `stride` elements; where the
    /// number is odd, the one more goes to the end.
    Same,
    /// As [`Padding::Same`], where the one more goes to the start.
    SameLower,
    /// So many elements before and after each axis; negative numbers cut
    /// elements off.
    Explicit(Pads),
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
    /// The elements before and after each axis
    /// (`jax.lax.padtype_to_pads`), for axes of sizes `shape` and a window of
    /// sizes `window`, dilation included.
    ///
    /// ```no_run
    /// use ramie_core::Padding;
    /// assert_eq!(Padding::Same.pads(&[6], &[3], &[2]).as_slice(), [(0, 1)]);
    /// ```
    ///
    /// # Panics
    /// Unless there is one number of each for every axis.
    #[track_caller]
    pub fn pads(&self, shape: &[usize], window: &[usize], strides: &[usize]) -> Pads {
        assert!(
            shape.len() == window.len() && shape.len() == strides.len(),
            "padding: {} axes, a window of {} and {} strides\n  help: give one of each for every \
             axis",
            shape.len(),
            window.len(),
            strides.len()
        );
        let total = |i: usize| {
            let positions = shape[i].div_ceil(strides[i].max(1));
            ((positions as isize - 1) * strides[i] as isize + window[i] as isize
                - shape[i] as isize)
                .max(0)
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

/// The size of an axis of `n` elements with `dilation - 1` places between each
/// two.
pub(crate) fn dilated(n: usize, dilation: usize) -> usize {
    if n == 0 { 0 } else { 1 + dilation * (n - 1) }
}

/// How many windows fit into an axis, `stride` apart.
pub(crate) fn window_positions(size: usize, window: usize, stride: usize) -> usize {
    match size.checked_sub(window) {
        Some(rest) => rest / stride + 1,
        None => 0,
    }
}

/// The padding with which a window over the result's cotangent gives that of
/// the operand, along one axis: sizes are those after dilation.
pub(crate) fn lhs_cotangent_padding(
    lhs: usize,
    window: usize,
    out: usize,
    padding: (isize, isize),
) -> (isize, isize) {
    let before = window as isize - padding.0 - 1;
    let after = lhs as isize + window as isize - 1 - out as isize - before;
    (before, after)
}

/// The padding with which a window of the result's cotangent over the operand
/// gives the kernel's cotangent, along one axis: sizes are those after dilation.
pub(super) fn rhs_cotangent_padding(
    lhs: usize,
    window: usize,
    out: usize,
    padding: (isize, isize),
) -> (isize, isize) {
    let after = out as isize - lhs as isize + window as isize - padding.0 - 1;
    (padding.0, after)
}
