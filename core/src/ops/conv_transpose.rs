//! Transposed convolutions (`jax.lax.conv_transpose`).

use super::{Convolution, conv_general_dilated};
use crate::prim::conv::{ConvLayout, Padding, dilated, transposed_padding, turned};
use crate::{Array, DType, Dims, Precision};

/// How a transposed convolution is done.
///
/// The layout is [`ConvLayout::ChannelsLast`] if not set.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[must_use]
pub struct ConvTranspose {
    layout: ConvLayout,
    strides: Option<Dims>,
    padding: Padding,
    rhs_dilation: Option<Dims>,
    transpose_kernel: bool,
    use_consistent_padding: bool,
    precision: Option<Precision>,
    preferred_element_type: Option<DType>,
}

impl Default for ConvTranspose {
    fn default() -> ConvTranspose {
        ConvTranspose {
            layout: ConvLayout::ChannelsLast,
            strides: None,
            padding: Padding::Same,
            rhs_dilation: None,
            transpose_kernel: false,
            use_consistent_padding: false,
            precision: None,
            preferred_element_type: None,
        }
    }
}

impl ConvTranspose {
    /// A transposed convolution with [`Padding::Same`] and strides of 1.
    pub fn new() -> ConvTranspose {
        ConvTranspose::default()
    }

    /// The order of axes.
    pub fn layout(mut self, layout: impl Into<ConvLayout>) -> ConvTranspose {
        self.layout = layout.into();
        self
    }

    /// The strides of the convolution that this one reverses: how far elements
    /// of the operand are spread.
    pub fn strides(mut self, strides: &[usize]) -> ConvTranspose {
        self.strides = Some(strides.into());
        self
    }

    /// The padding: that of the convolution that this one reverses, but for
    /// numbers, which are of this one unless
    /// [`use_consistent_padding`](ConvTranspose::use_consistent_padding) is set,
    /// and for [`Padding::SameLower`], which is refused.
    pub fn padding(mut self, padding: impl Into<Padding>) -> ConvTranspose {
        self.padding = padding.into();
        self
    }

    /// How far the kernel's elements are spread, for each spatial axis.
    pub fn rhs_dilation(mut self, dilation: &[usize]) -> ConvTranspose {
        self.rhs_dilation = Some(dilation.into());
        self
    }

    /// Reverses the kernel's spatial axes and exchanges its features, which
    /// gives the cotangent of a convolution with the same kernel (as in Keras).
    pub fn transpose_kernel(mut self, transpose: bool) -> ConvTranspose {
        self.transpose_kernel = transpose;
        self
    }

    /// Takes a padding in numbers as that of the convolution that this one
    /// reverses.
    pub fn use_consistent_padding(mut self, consistent: bool) -> ConvTranspose {
        self.use_consistent_padding = consistent;
        self
    }

    /// How exactly products are computed.
    pub fn precision(mut self, precision: Precision) -> ConvTranspose {
        self.precision = Some(precision);
        self
    }

    /// The type of the result, in which products are summed.
    pub fn preferred_element_type(mut self, dtype: DType) -> ConvTranspose {
        self.preferred_element_type = Some(dtype);
        self
    }
}

/// The convolution that goes from a convolution's result to an operand: each
/// element of `lhs` is spread over a window (`jax.lax.conv_transpose`).
///
/// ```no_run
/// use ramie_core::{Array, ConvTranspose, DType, conv_transpose};
/// let x = Array::ones(&[1, 4, 4, 8], DType::F32);
/// let kernel = Array::ones(&[3, 3, 8, 2], DType::F32);
/// let wide = conv_transpose(&x, &kernel, &ConvTranspose::new().strides(&[2, 2]));
/// assert_eq!(wide.shape(), [1, 8, 8, 2]);
/// ```
///
/// # Panics
/// As [`conv_general_dilated`], or if the padding is [`Padding::SameLower`].
#[track_caller]
pub fn conv_transpose(lhs: &Array, rhs: &Array, how: &ConvTranspose) -> Array {
    assert!(
        how.padding != Padding::SameLower,
        "conv_transpose: SameLower padding has no transpose\n  help: use Padding::Same, \
         Padding::Valid or give numbers"
    );
    let numbers = how.layout.dimension_numbers(lhs.ndim());
    let spatial = lhs.ndim() - 2;
    let ones = || Dims::from_elem(1, spatial);
    let strides = how.strides.clone().unwrap_or_else(ones);
    let spread = how.rhs_dilation.clone().unwrap_or_else(ones);
    let computed = how.use_consistent_padding || !matches!(how.padding, Padding::Explicit(_));
    let padding = match &how.padding {
        Padding::Explicit(pads) if !computed || pads.len() != spatial => pads.clone(),
        padding => numbers
            .rhs
            .spatial
            .iter()
            .zip(strides.iter().zip(&spread))
            .enumerate()
            .map(|(axis, (&at, (&stride, &spread)))| {
                let size = rhs.shape().get(at).copied().unwrap_or(0);
                transposed_padding(dilated(size, spread), stride, padding, axis)
            })
            .collect(),
    };
    let kernel = if how.transpose_kernel {
        let (output, input) = (numbers.rhs.output as isize, numbers.rhs.input as isize);
        turned(rhs, &numbers.rhs.spatial).swap_axes(output, input)
    } else {
        rhs.clone()
    };
    let mut convolution = Convolution::new()
        .layout(numbers)
        .padding(padding)
        .lhs_dilation(&strides)
        .rhs_dilation(&spread);
    if let Some(precision) = how.precision {
        convolution = convolution.precision(precision);
    }
    if let Some(dtype) = how.preferred_element_type {
        convolution = convolution.preferred_element_type(dtype);
    }
    conv_general_dilated(lhs, &kernel, &convolution)
}
