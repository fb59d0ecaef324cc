//! Transposed convolutions (`jax.lax.conv_transpose`).

use super::{Convolution, conv_general_dilated};
use crate::lax::Precision;
use crate::prim::conv::{ConvLayout, Padding, dilated, transposed_padding, turned};
use crate::typing::Dims;
use crate::{Array, DType};

/// Options of a transposed convolution.
///
/// The layout defaults to [`ConvLayout::ChannelsLast`].
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
    /// Creates the default options: [`Padding::Same`] and strides of 1.
    pub fn new() -> ConvTranspose {
        ConvTranspose::default()
    }

    /// Sets the order of the axes.
    pub fn layout(mut self, layout: impl Into<ConvLayout>) -> ConvTranspose {
        self.layout = layout.into();
        self
    }

    /// Sets the strides of the convolution that is transposed, which dilate the operand. Defaults
    /// to 1.
    pub fn strides(mut self, strides: &[usize]) -> ConvTranspose {
        self.strides = Some(strides.into());
        self
    }

    /// Sets the padding. [`Padding::Same`] and `Padding::Valid` refer to the convolution that
    /// is transposed. Explicit numbers refer to this convolution unless
    /// [`use_consistent_padding`](ConvTranspose::use_consistent_padding) is set.
    /// [`Padding::SameLower`] is rejected.
    ///
    /// # Panics
    /// Panics if the padding is a string without a meaning.
    #[track_caller]
    pub fn padding(mut self, padding: impl Into<Padding>) -> ConvTranspose {
        self.padding = padding.into();
        self
    }

    /// Sets the dilation of the kernel along each spatial axis. Defaults to 1.
    pub fn rhs_dilation(mut self, dilation: &[usize]) -> ConvTranspose {
        self.rhs_dilation = Some(dilation.into());
        self
    }

    /// Flips the kernel's spatial axes and swaps its features, so that the result is the
    /// cotangent of a convolution with the same kernel (as in Keras).
    pub fn transpose_kernel(mut self, transpose: bool) -> ConvTranspose {
        self.transpose_kernel = transpose;
        self
    }

    /// Interprets explicit padding as the padding of the convolution that is transposed.
    pub fn use_consistent_padding(mut self, consistent: bool) -> ConvTranspose {
        self.use_consistent_padding = consistent;
        self
    }

    /// Sets the precision of the products.
    pub fn precision(mut self, precision: impl Into<Option<Precision>>) -> ConvTranspose {
        self.precision = precision.into();
        self
    }

    /// Sets the dtype of the result, in which products are accumulated.
    pub fn preferred_element_type(mut self, dtype: impl Into<Option<DType>>) -> ConvTranspose {
        self.preferred_element_type = dtype.into();
        self
    }
}

/// Computes a transposed convolution, which maps from the result of a convolution to its operand:
/// each element of `lhs` is spread over a window (`jax.lax.conv_transpose`).
///
/// ```no_run
/// use ramie_core::lax::conv_transpose;
/// use ramie_core::options::ConvTranspose;
/// use ramie_core::{Array, DType};
/// let x = Array::ones(&[1, 4, 4, 8], DType::F32);
/// let kernel = Array::ones(&[3, 3, 8, 2], DType::F32);
/// let wide = conv_transpose(&x, &kernel, &ConvTranspose::new().strides(&[2, 2]));
/// assert_eq!(wide.shape(), [1, 8, 8, 2]);
/// ```
///
/// # Panics
/// Panics in the same cases as [`conv_general_dilated`], or if the padding is
/// [`Padding::SameLower`].
#[track_caller]
pub fn conv_transpose(lhs: &Array, rhs: &Array, how: &ConvTranspose) -> Array {
    assert!(
        how.padding != Padding::SameLower,
        "conv_transpose: SameLower padding is not supported\n  help: use Padding::Same, \
         Padding::Valid or numbers"
    );
    let numbers = how.layout.dimension_numbers(lhs.ndim());
    let spatial = lhs.ndim() - 2;
    let ones = || Dims::from_elem(1, spatial);
    let strides = how.strides.clone().unwrap_or_else(ones);
    let rhs_dilation = how.rhs_dilation.clone().unwrap_or_else(ones);
    let computed = how.use_consistent_padding || !matches!(how.padding, Padding::Explicit(_));
    let padding = match &how.padding {
        Padding::Explicit(pads) if !computed || pads.len() != spatial => pads.clone(),
        padding => numbers
            .rhs
            .spatial
            .iter()
            .zip(strides.iter().zip(&rhs_dilation))
            .enumerate()
            .map(|(axis, (&at, (&stride, &dilation)))| {
                let size = rhs.shape().get(at).copied().unwrap_or(0);
                transposed_padding(dilated(size, dilation), stride, padding, axis)
            })
            .collect(),
    };
    let kernel = if how.transpose_kernel {
        let (output, input) = (numbers.rhs.output as isize, numbers.rhs.input as isize);
        turned(rhs, &numbers.rhs.spatial).swap_axes(output, input)
    } else {
        rhs.clone()
    };
    let convolution = Convolution::new()
        .layout(numbers)
        .padding(padding)
        .lhs_dilation(&strides)
        .rhs_dilation(&rhs_dilation)
        .precision(how.precision)
        .preferred_element_type(how.preferred_element_type);
    conv_general_dilated(lhs, &kernel, &convolution)
}
