//! `ConvPadding`: the padding of a convolution's input.

use ramie_core::lax::Padding;

/// The padding of the spatial axes of a convolution's input.
///
/// Numbers convert to it: `.padding(1)` pads every axis with one element on both sides,
/// `.padding([1, 0])` sets the padding of each axis, and `.padding([(2, 0), (1, 1)])` sets both
/// sides of each axis. So do the strings of Flax, in upper or lower case: `"SAME"`,
/// `"SAME_LOWER"`, `"VALID"`, `"CIRCULAR"`, `"REFLECT"` and `"CAUSAL"`; any other string
/// panics. The [`Padding`] of other operations also converts to it.
///
/// ```
/// use ramie_nn::{Conv, ConvPadding};
/// assert_eq!(ConvPadding::from("SAME"), ConvPadding::Same);
/// let wrapped = Conv::features(16, [3, 3]).padding("CIRCULAR");
/// let wider = Conv::features(16, [3, 3]).padding([(1, 1), (2, 0)]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ConvPadding {
    /// Zeros that make the result as large as the input divided by the stride, rounded up. If
    /// their number is odd, the additional zero is at the end.
    Same,
    /// Like [`ConvPadding::Same`], but with the additional zero at the start.
    SameLower,
    /// No padding: windows lie within the input.
    Valid,
    /// As many elements as [`ConvPadding::Same`] with strides of one, taken from the opposite
    /// end of the input.
    Circular,
    /// As many elements as [`ConvPadding::Same`] with strides of one, mirrored at the ends of
    /// the input.
    Reflect,
    /// Zeros before the only spatial axis, so that no result depends on later elements.
    Causal,
    /// This number of zeros before and after every axis. A negative number removes elements.
    All(isize),
    /// Numbers of zeros before and after each axis. Negative numbers remove elements.
    Each(Vec<(isize, isize)>),
}

impl ConvPadding {
    /// Returns the numbers of elements before and after each axis, if the padding is explicit.
    #[track_caller]
    pub(super) fn numbers(&self, layer: &str, axes: usize) -> Option<Vec<(isize, isize)>> {
        match self {
            ConvPadding::All(n) => Some(vec![(*n, *n); axes]),
            ConvPadding::Each(pairs) => {
                assert!(
                    pairs.len() == axes,
                    "{layer}: the padding is for {} axes, but the window has {axes}\n  help: \
                     pass one number or pair for each axis of the window, or one number for all: \
                     padding(1)",
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
impl From<&str> for ConvPadding {
    #[track_caller]
    fn from(name: &str) -> ConvPadding {
        match name.to_ascii_uppercase().as_str() {
            "SAME" => ConvPadding::Same,
            "SAME_LOWER" => ConvPadding::SameLower,
            "VALID" => ConvPadding::Valid,
            "CIRCULAR" => ConvPadding::Circular,
            "REFLECT" => ConvPadding::Reflect,
            "CAUSAL" => ConvPadding::Causal,
            _ => panic!(
                "ConvPadding: unknown padding \"{name}\"\n  help: use \"SAME\", \"SAME_LOWER\", \
                 \"VALID\", \"CIRCULAR\", \"REFLECT\" or \"CAUSAL\", or numbers: padding(1), \
                 padding([(1, 1), (0, 2)])"
            ),
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
impl From<(isize, isize)> for ConvPadding {
    fn from((first, second): (isize, isize)) -> ConvPadding {
        [first, second].into()
    }
}
impl<const N: usize> From<[(isize, isize); N]> for ConvPadding {
    fn from(pairs: [(isize, isize); N]) -> ConvPadding {
        ConvPadding::Each(pairs.to_vec())
    }
}
impl From<((isize, isize), (isize, isize))> for ConvPadding {
    fn from((first, second): ((isize, isize), (isize, isize))) -> ConvPadding {
        [first, second].into()
    }
}
