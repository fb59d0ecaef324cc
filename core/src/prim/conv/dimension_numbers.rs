//! Dimension numbers: the roles of the axes of a convolution's operands and result.

use super::sizes;
use crate::typing::Dims;
use crate::{Aval, ShapeError};
use std::fmt;

/// The axes of a batch of images.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ImageAxes {
    /// Batch axis, `N`.
    pub batch: usize,
    /// Feature axis, `C`.
    pub feature: usize,
    /// Spatial axes, in the kernel's order.
    pub spatial: Dims,
}

/// The axes of kernels.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KernelAxes {
    /// Axis of output features, `O`.
    pub output: usize,
    /// Axis of input features, `I`.
    pub input: usize,
    /// Spatial axes.
    pub spatial: Dims,
}

/// The axes of the operands and of the result of a convolution.
///
/// Usually created from a [`ConvLayout`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ConvDimensionNumbers {
    /// Axes of the left operand, the images.
    pub lhs: ImageAxes,
    /// Axes of the right operand, the kernels.
    pub rhs: KernelAxes,
    /// Axes of the result.
    pub out: ImageAxes,
}

/// The order of axes in a convolution, as letters or as numbers.
///
/// Three strings specify the axes of images, kernels and result: `N` is the batch, `C` the
/// features, `I` and `O` the kernel's input and output features. All other letters are spatial
/// axes, ordered as in the kernel.
///
/// ```no_run
/// use ramie_core::lax::ConvLayout;
/// let numbers = ConvLayout::from(("NHWC", "HWIO", "NHWC")).dimension_numbers(4);
/// assert_eq!(numbers.lhs.feature, 3);
/// assert_eq!(numbers.rhs.spatial.as_slice(), [0, 1]);
/// ```
#[doc(alias("ConvGeneralDilatedDimensionNumbers", "conv_dimension_numbers"))]
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum ConvLayout {
    /// Batch, features, spatial axes; kernels: output, input, spatial axes
    /// (`NCHW`, `OIHW`, `NCHW`).
    #[default]
    ChannelsFirst,
    /// Batch, spatial axes, features; kernels: spatial axes, input, output
    /// (`NHWC`, `HWIO`, `NHWC`).
    ChannelsLast,
    /// Letters for images, kernels and result.
    Letters(&'static str, &'static str, &'static str),
    /// Axes by number.
    Numbers(ConvDimensionNumbers),
}

impl From<(&'static str, &'static str, &'static str)> for ConvLayout {
    fn from(letters: (&'static str, &'static str, &'static str)) -> ConvLayout {
        ConvLayout::Letters(letters.0, letters.1, letters.2)
    }
}

impl From<ConvDimensionNumbers> for ConvLayout {
    fn from(numbers: ConvDimensionNumbers) -> ConvLayout {
        ConvLayout::Numbers(numbers)
    }
}

impl ConvLayout {
    /// Returns the axes for operands with `ndim` axes (`jax.lax.conv_dimension_numbers`).
    ///
    /// # Panics
    /// Panics if there are fewer than 2 axes, if the number of letters differs from `ndim`, if a
    /// letter occurs twice, or if the spatial letters of the arrays differ.
    #[track_caller]
    pub fn dimension_numbers(&self, ndim: usize) -> ConvDimensionNumbers {
        assert!(
            ndim >= 2,
            "convolution: operands have {ndim} axes, but at least 2 are required\n  help: a batch \
             axis and a feature axis are required besides the spatial axes; add them with \
             expand_dims"
        );
        let image = |batch, feature, spatial: std::ops::Range<usize>| ImageAxes {
            batch,
            feature,
            spatial: spatial.collect(),
        };
        let kernel = |output, input, spatial: std::ops::Range<usize>| KernelAxes {
            output,
            input,
            spatial: spatial.collect(),
        };
        match self {
            ConvLayout::ChannelsFirst => ConvDimensionNumbers {
                lhs: image(0, 1, 2..ndim),
                rhs: kernel(0, 1, 2..ndim),
                out: image(0, 1, 2..ndim),
            },
            ConvLayout::ChannelsLast => ConvDimensionNumbers {
                lhs: image(0, ndim - 1, 1..ndim - 1),
                rhs: kernel(ndim - 1, ndim - 2, 0..ndim - 2),
                out: image(0, ndim - 1, 1..ndim - 1),
            },
            ConvLayout::Letters(lhs, rhs, out) => of_letters([lhs, rhs, out], ndim),
            ConvLayout::Numbers(numbers) => numbers.clone(),
        }
    }
}

/// Returns the axes that letters specify.
#[track_caller]
fn of_letters(letters: [&str; 3], ndim: usize) -> ConvDimensionNumbers {
    let pairs = [['N', 'C'], ['O', 'I'], ['N', 'C']];
    let names = ["lhs", "rhs", "the result"];
    let texts: Vec<Vec<char>> = letters.iter().map(|s| s.chars().collect()).collect();
    let sorted = |text: &[char], pair: [char; 2]| {
        let mut rest: Vec<char> = text.iter().copied().filter(|c| !pair.contains(c)).collect();
        rest.sort_unstable();
        rest
    };
    for ((text, pair), name) in texts.iter().zip(pairs).zip(names) {
        let twice = text
            .iter()
            .any(|c| text.iter().filter(|d| *d == c).count() > 1);
        let complete = pair.iter().all(|c| text.contains(c));
        assert!(
            text.len() == ndim && complete && !twice,
            "convolution: the dimension numbers {letters:?} do not fit {ndim} axes: {name} needs \
             {ndim} distinct letters, including {:?} and {:?}\n  help: for example (\"NHWC\", \
             \"HWIO\", \"NHWC\") for images with two spatial axes",
            pair[0],
            pair[1]
        );
    }
    let spatial = sorted(&texts[1], pairs[1]);
    assert!(
        sorted(&texts[0], pairs[0]) == spatial && sorted(&texts[2], pairs[2]) == spatial,
        "convolution: the dimension numbers {letters:?} have different letters for spatial axes\n  help: \
         use the same letters in all three, for example (\"NHWC\", \"HWIO\", \"NHWC\")"
    );
    let position = |i: usize, c: char| {
        let found = texts[i].iter().position(|&d| d == c);
        found.expect("the letters have been checked")
    };
    let order: Vec<char> = texts[1]
        .iter()
        .copied()
        .filter(|c| !pairs[1].contains(c))
        .collect();
    let spatial = |i: usize| -> Dims { order.iter().map(|&c| position(i, c)).collect() };
    let image = |i: usize| ImageAxes {
        batch: position(i, 'N'),
        feature: position(i, 'C'),
        spatial: spatial(i),
    };
    ConvDimensionNumbers {
        lhs: image(0),
        rhs: KernelAxes {
            output: position(1, 'O'),
            input: position(1, 'I'),
            spatial: spatial(1),
        },
        out: image(2),
    }
}

impl ImageAxes {
    fn order(&self) -> Dims {
        let first = [self.batch, self.feature];
        first
            .into_iter()
            .chain(self.spatial.iter().copied())
            .collect()
    }

    /// Returns the axes with batch and features exchanged.
    fn swapped(&self) -> ImageAxes {
        ImageAxes {
            batch: self.feature,
            feature: self.batch,
            spatial: self.spatial.clone(),
        }
    }

    /// Returns the sizes of the spatial axes.
    pub(super) fn spatial_sizes(&self, shape: &[usize]) -> Dims {
        sizes(shape, &self.spatial)
    }
}

impl KernelAxes {
    fn order(&self) -> Dims {
        let first = [self.output, self.input];
        first
            .into_iter()
            .chain(self.spatial.iter().copied())
            .collect()
    }

    /// Returns the axes with input and output features exchanged.
    fn swapped(&self) -> KernelAxes {
        KernelAxes {
            output: self.input,
            input: self.output,
            spatial: self.spatial.clone(),
        }
    }

    /// Returns the sizes of the spatial axes.
    pub(super) fn spatial_sizes(&self, shape: &[usize]) -> Dims {
        sizes(shape, &self.spatial)
    }
}

impl ConvDimensionNumbers {
    /// Returns an error if the operands do not have these axes.
    pub(super) fn check(&self, lhs: Aval, rhs: Aval) -> Result<(), ShapeError> {
        if lhs.ndim() != rhs.ndim() || lhs.ndim() < 2 {
            return Err(ShapeError::new(format!(
                "lhs has {} axes, but rhs has {}",
                lhs.ndim(),
                rhs.ndim()
            ))
            .help(
                "pass the same number of spatial axes for both; lhs also has a batch and a feature \
                 axis, rhs an output and an input feature axis",
            ));
        }
        let everything: Dims = (0..lhs.ndim()).collect();
        for mut order in [self.lhs.order(), self.rhs.order(), self.out.order()] {
            order.sort_unstable();
            crate::ensure_shape!(
                order == everything,
                "the dimension numbers {self} do not contain each of {} axes once",
                lhs.ndim()
            );
        }
        Ok(())
    }

    /// Returns the axes of the convolution that computes the left operand's cotangent from the
    /// result's cotangent and the kernels.
    pub(super) fn transposed_lhs(&self) -> ConvDimensionNumbers {
        ConvDimensionNumbers {
            lhs: self.out.clone(),
            rhs: self.rhs.swapped(),
            out: self.lhs.clone(),
        }
    }

    /// Returns the axes of the convolution that computes the kernels' cotangent from the left
    /// operand and the result's cotangent.
    pub(super) fn transposed_rhs(&self) -> ConvDimensionNumbers {
        let out = self.out.swapped();
        ConvDimensionNumbers {
            lhs: self.lhs.swapped(),
            rhs: KernelAxes {
                output: out.batch,
                input: out.feature,
                spatial: out.spatial,
            },
            out: ImageAxes {
                batch: self.rhs.input,
                feature: self.rhs.output,
                spatial: self.rhs.spatial.clone(),
            },
        }
    }

    /// Formats the axes in StableHLO syntax:
    /// `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`.
    pub(super) fn attribute(&self) -> String {
        let list = |first: (usize, char), second: (usize, char), spatial: &[usize]| {
            let mut names = vec![String::new(); spatial.len() + 2];
            names[first.0] = first.1.into();
            names[second.0] = second.1.into();
            for (i, &at) in spatial.iter().enumerate() {
                names[at] = i.to_string();
            }
            format!("[{}]", names.join(", "))
        };
        let image = |a: &ImageAxes| list((a.batch, 'b'), (a.feature, 'f'), &a.spatial);
        format!(
            "#stablehlo.conv<{}x{}->{}>",
            image(&self.lhs),
            list(
                (self.rhs.output, 'o'),
                (self.rhs.input, 'i'),
                &self.rhs.spatial
            ),
            image(&self.out)
        )
    }
}

/// Formats the axes like JAX.
impl fmt::Display for ConvDimensionNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |order: Dims| {
            let items: Vec<String> = order.iter().map(usize::to_string).collect();
            items.join(", ")
        };
        write!(
            f,
            "ConvDimensionNumbers(lhs_spec=({}), rhs_spec=({}), out_spec=({}))",
            list(self.lhs.order()),
            list(self.rhs.order()),
            list(self.out.order())
        )
    }
}
