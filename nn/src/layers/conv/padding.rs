//! `ConvPadding`: what is added around the input of a convolution.

use ramie_core::Padding;

/// What is added around the spatial axes of a convolution's input.
///
/// Numbers become it: `.padding(1)` adds one element before and after each axis,
/// `.padding([1, 0])` says it for each axis, `.padding([(2, 0), (1, 1)])` for
/// each end. So does the [`Padding`] of other operations.
///
/// ```
/// use ramie_nn::{Conv, ConvPadding};
/// let wrapped = Conv::features(16, [3, 3]).padding(ConvPadding::Circular);
/// let wider = Conv::features(16, [3, 3]).padding([(1, 1), (2, 0)]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ConvPadding {
    /// Zeros, as many as give one window for every stride; where the number is
    /// odd, the one more goes to the end.
    Same,
    /// As [`ConvPadding::Same`], where the one more goes to the start.
    SameLower,
    /// Nothing: windows are inside the input.
    Valid,
    /// As many as with [`ConvPadding::Same`] and strides of one, from the other
    /// end of the input.
    Circular,
    /// As many as with [`ConvPadding::Same`] and strides of one, mirrored at the
    /// ends of the input.
    Reflect,
    /// Zeros before the one spatial axis, so that no result depends on what
    /// comes later.
    Causal,
    /// So many zeros before and after every axis; a negative number takes
    /// elements off.
    All(isize),
    /// So many zeros before and after each axis; negative numbers take elements
    /// off.
    Each(Vec<(isize, isize)>),
}

impl ConvPadding {
    /// Elements before and after each axis, where the padding says them itself.
    #[track_caller]
    pub(super) fn numbers(&self, layer: &str, axes: usize) -> Option<Vec<(isize, isize)>> {
        match self {
            ConvPadding::All(n) => Some(vec![(*n, *n); axes]),
            ConvPadding::Each(pairs) => {
                assert!(
                    pairs.len() == axes,
                    "{layer}: padding for {} axes, the window has {axes}\n  help: give one number \
                     or pair for each axis of the window, or one number for all: padding(1)",
                    pairs.len()
                );
                Some(pairs.clone())
            }
            _ => None,
        }
    }
}

impl From<Padding> for ConvPadding {
    fn from(padding: Padding) -> ConvPadding {
        match padding {
            Padding::Valid => ConvPadding::Valid,
            Padding::Same => ConvPadding::Same,
            Padding::SameLower => ConvPadding::SameLower,
            Padding::Explicit(pads) => ConvPadding::Each(pads.to_vec()),
        }
    }
}
impl From<isize> for ConvPadding {
    fn from(n: isize) -> ConvPadding {
        ConvPadding::All(n)
    }
}
impl<const N: usize> From<[isize; N]> for ConvPadding {
    fn from(numbers: [isize; N]) -> ConvPadding {
        ConvPadding::Each(numbers.map(|n| (n, n)).to_vec())
    }
}
impl<const N: usize> From<[(isize, isize); N]> for ConvPadding {
    fn from(pairs: [(isize, isize); N]) -> ConvPadding {
        ConvPadding::Each(pairs.to_vec())
    }
}
