//! Convolutions: `jax.lax.conv_general_dilated` and its variants.

use crate::lax::{DotDimensionNumbers, Precision};
use crate::options::Contraction;
use crate::prim::conv::{ConvGeneralDilated, ConvLayout, Padding, dilated};
use crate::program::trace::bind1;
use crate::types::aval::element_count;
use crate::types::sharding::OutSharding;
use crate::typing::Dims;
use crate::{Array, DType, PartitionSpec};

/// Options of a convolution: layout, strides, padding, dilation, groups and precision.
///
/// By default, strides and dilations are 1, there is no padding, and there is one group.
///
/// ```no_run
/// use ramie_core::lax::{conv_general_dilated, ConvLayout, Padding};
/// use ramie_core::options::Convolution;
/// use ramie_core::{Array, DType};
/// let images = Array::ones(&[8, 28, 28, 3], DType::F32);
/// let kernels = Array::ones(&[3, 3, 3, 16], DType::F32);
/// let how = Convolution::new()
///     .layout(ConvLayout::ChannelsLast)
///     .strides(&[2, 2])
///     .padding(Padding::Same);
/// assert_eq!(conv_general_dilated(&images, &kernels, &how).shape(), [8, 14, 14, 16]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[must_use]
pub struct Convolution {
    layout: ConvLayout,
    strides: Option<Dims>,
    padding: Padding,
    lhs_dilation: Option<Dims>,
    rhs_dilation: Option<Dims>,
    feature_group_count: usize,
    batch_group_count: usize,
    precision: Option<Precision>,
    preferred_element_type: Option<DType>,
    out_sharding: Option<PartitionSpec>,
}

impl Default for Convolution {
    fn default() -> Convolution {
        Convolution {
            layout: ConvLayout::default(),
            strides: None,
            padding: Padding::Valid,
            lhs_dilation: None,
            rhs_dilation: None,
            feature_group_count: 1,
            batch_group_count: 1,
            precision: None,
            preferred_element_type: None,
            out_sharding: None,
        }
    }
}

impl Convolution {
    /// Creates the default options.
    pub fn new() -> Convolution {
        Convolution::default()
    }

    /// Sets the order of the axes. Defaults to [`ConvLayout::ChannelsFirst`]. Three strings such
    /// as `("NHWC", "HWIO", "NHWC")` specify any other layout.
    pub fn layout(mut self, layout: impl Into<ConvLayout>) -> Convolution {
        self.layout = layout.into();
        self
    }

    /// Sets the stride along each spatial axis. Defaults to 1.
    pub fn strides(mut self, strides: &[usize]) -> Convolution {
        self.strides = Some(strides.into());
        self
    }

    /// Sets the padding of the left operand's spatial axes. Defaults to none.
    ///
    /// # Panics
    /// Panics if the padding is a string without a meaning.
    #[track_caller]
    pub fn padding(mut self, padding: impl Into<Padding>) -> Convolution {
        self.padding = padding.into();
        self
    }

    /// Sets the dilation of the left operand along each spatial axis. Defaults to 1.
    pub fn lhs_dilation(mut self, dilation: &[usize]) -> Convolution {
        self.lhs_dilation = Some(dilation.into());
        self
    }

    /// Sets the dilation of the kernel along each spatial axis (atrous convolution). Defaults to
    /// 1.
    pub fn rhs_dilation(mut self, dilation: &[usize]) -> Convolution {
        self.rhs_dilation = Some(dilation.into());
        self
    }

    /// Sets the number of groups that the features are divided into, each with its own kernels.
    /// Defaults to 1. As many groups as features give a depthwise convolution.
    pub fn feature_group_count(mut self, groups: usize) -> Convolution {
        self.feature_group_count = groups;
        self
    }

    /// Sets the number of groups that the batch is divided into, each with its own kernels.
    /// Defaults to 1.
    pub fn batch_group_count(mut self, groups: usize) -> Convolution {
        self.batch_group_count = groups;
        self
    }

    /// Sets the precision of the products.
    pub fn precision(mut self, precision: impl Into<Option<Precision>>) -> Convolution {
        self.precision = precision.into();
        self
    }

    /// Sets the dtype of the result, in which products are accumulated.
    pub fn preferred_element_type(mut self, dtype: impl Into<Option<DType>>) -> Convolution {
        self.preferred_element_type = dtype.into();
        self
    }

    /// Sets the sharding of the result over explicit axes of a mesh.
    pub fn out_sharding(mut self, out_sharding: impl Into<PartitionSpec>) -> Convolution {
        self.out_sharding = Some(out_sharding.into());
        self
    }

    /// Builds the primitive for an operand and a kernel.
    #[track_caller]
    fn primitive(&self, operands: [&Array; 2]) -> ConvGeneralDilated {
        let types = operands.map(Array::aval);
        let [lhs, rhs] = operands.map(Array::shape);
        let numbers = self.layout.dimension_numbers(lhs.len());
        let spatial = lhs.len() - 2;
        let given = |list: &Option<Dims>| match list {
            Some(list) => list.clone(),
            None => Dims::from_elem(1, spatial),
        };
        let (strides, lhs_dilation) = (given(&self.strides), given(&self.lhs_dilation));
        let padding = match &self.padding {
            Padding::Explicit(pads) => pads.clone(),
            computed => {
                assert!(
                    *computed == Padding::Valid || lhs_dilation.iter().all(|&d| d == 1),
                    "conv_general_dilated: {computed:?} padding does not support an operand \
                     dilated by {lhs_dilation:?}\n  help: pass the padding as numbers, or use \
                     conv_transpose"
                );
                let size = |shape: &[usize], at: &usize| shape.get(*at).copied().unwrap_or(0);
                let base = numbers.lhs.spatial.iter().map(|d| size(lhs, d));
                let window = numbers.rhs.spatial.iter().map(|d| size(rhs, d));
                let factors = given(&self.rhs_dilation);
                let window = window.zip(factors).map(|(n, d)| dilated(n, d));
                computed.pads(&base.collect::<Dims>(), &window.collect::<Dims>(), &strides)
            }
        };
        ConvGeneralDilated {
            window_strides: strides,
            padding,
            lhs_dilation,
            rhs_dilation: given(&self.rhs_dilation),
            dimension_numbers: numbers,
            feature_group_count: self.feature_group_count,
            batch_group_count: self.batch_group_count,
            precision: self.precision.or_else(crate::prim::dot::current_default),
            preferred_element_type: self.preferred_element_type,
            out_sharding: self
                .out_sharding
                .as_ref()
                .map(|spec| OutSharding::new("conv_general_dilated", &types, spec, lhs.len())),
        }
    }
}

/// Convolves the images `lhs` with the kernels `rhs`, which must have the same dtype and rank
/// (`jax.lax.conv_general_dilated`).
///
/// A spatial axis of the result has `(n + before + after - window) / stride + 1` elements, where
/// `n` and `window` are the sizes after dilation.
///
/// # Panics
/// Panics if dtypes or ranks differ, if the number of strides, paddings or dilations differs from
/// the number of spatial axes, or if the groups do not divide the sizes.
#[track_caller]
pub fn conv_general_dilated(lhs: &Array, rhs: &Array, how: &Convolution) -> Array {
    bind1(how.primitive([lhs, rhs]), &[lhs, rhs])
}

/// Computes a convolution in the layout `NCHW`, `OIHW`, `NCHW` (`jax.lax.conv`).
///
/// ```no_run
/// use ramie_core::lax::{conv, Padding};
/// use ramie_core::{Array, DType};
/// let (x, kernel) = (Array::ones(&[1, 1, 5], DType::F32), Array::ones(&[1, 1, 3], DType::F32));
/// let sums = conv(&x, &kernel, &[1], Padding::Same);
/// assert_eq!(sums.to_vec::<f32>(), [2.0, 3.0, 3.0, 3.0, 2.0]);
/// ```
///
/// # Panics
/// Panics in the same cases as [`conv_general_dilated`].
#[track_caller]
pub fn conv(
    lhs: &Array,
    rhs: &Array,
    window_strides: &[usize],
    padding: impl Into<Padding>,
) -> Array {
    let how = Convolution::new().strides(window_strides).padding(padding);
    conv_general_dilated(lhs, rhs, &how)
}

/// Computes a convolution with dilations in the layout `NCHW`, `OIHW`, `NCHW`
/// (`jax.lax.conv_with_general_padding`).
///
/// # Panics
/// Panics in the same cases as [`conv_general_dilated`].
#[track_caller]
pub fn conv_with_general_padding(
    lhs: &Array,
    rhs: &Array,
    window_strides: &[usize],
    padding: impl Into<Padding>,
    lhs_dilation: &[usize],
    rhs_dilation: &[usize],
) -> Array {
    let how = Convolution::new()
        .strides(window_strides)
        .padding(padding)
        .lhs_dilation(lhs_dilation)
        .rhs_dilation(rhs_dilation);
    conv_general_dilated(lhs, rhs, &how)
}

/// Extracts the windows of a convolution with kernels of `filter_shape`, each as the features of
/// one element of the result (`jax.lax.conv_general_dilated_patches`). `C` input features and a
/// window of `w` elements give `C · w` features, with the elements of each input feature
/// adjacent.
///
/// # Panics
/// Panics in the same cases as [`conv_general_dilated`].
#[track_caller]
pub fn conv_general_dilated_patches(
    lhs: &Array,
    filter_shape: &[usize],
    how: &Convolution,
) -> Array {
    let numbers = how.layout.dimension_numbers(lhs.ndim());
    let window = element_count(filter_shape);
    let features = lhs.shape()[numbers.lhs.feature];
    // One kernel for each feature and element of the window, which selects that element.
    let kernel =
        Array::eye(window, lhs.dtype()).broadcast_in_dim(&[features, window, window], &[1, 2]);
    let mut shape = vec![features.saturating_mul(window), 1];
    shape.extend_from_slice(filter_shape);
    let kernel = kernel.reshape(&shape);
    let mut order = vec![0isize; shape.len()];
    let channels = [numbers.rhs.output, numbers.rhs.input];
    let rest = (0..shape.len()).filter(|d| !channels.contains(d));
    for (from, to) in channels.into_iter().chain(rest).enumerate() {
        order[to] = from as isize;
    }
    let kernel = kernel.transpose(&order);
    let mut how = how.clone().layout(numbers).feature_group_count(features);
    how.batch_group_count = 1;
    conv_general_dilated(lhs, &kernel, &how)
}

/// Computes a convolution with a separate kernel for each position of the result
/// (`jax.lax.conv_general_dilated_local`). The spatial axes of `rhs` are those of the result. Its
/// input features are the features and elements of a window, in the order of
/// [`conv_general_dilated_patches`].
///
/// # Panics
/// Panics in the same cases as [`conv_general_dilated`], or if the shape of `rhs` does not fit.
#[track_caller]
pub fn conv_general_dilated_local(
    lhs: &Array,
    rhs: &Array,
    filter_shape: &[usize],
    how: &Convolution,
) -> Array {
    let mut plain = how.clone();
    plain.preferred_element_type = None;
    let patches = conv_general_dilated_patches(lhs, filter_shape, &plain);
    let numbers = how.layout.dimension_numbers(lhs.ndim());
    let mut pairs: Vec<(usize, usize)> = numbers
        .out
        .spatial
        .iter()
        .copied()
        .zip(numbers.rhs.spatial.iter().copied())
        .collect();
    pairs.sort_unstable();
    let (left, right): (Vec<usize>, Vec<usize>) = pairs.into_iter().unzip();
    let dims = DotDimensionNumbers::new(
        [&[numbers.out.feature], &[numbers.rhs.input]],
        [&left, &right],
    );
    let out = patches.dot_general_with(rhs, dims, Contraction::new().precision(how.precision));
    // The axes are positions, batch, features.
    let (batch, feature) = (numbers.out.batch, numbers.out.feature);
    let n = out.ndim();
    let mut rest = 0..n as isize - 2;
    let order: Vec<isize> = (0..n)
        .map(|to| match to {
            to if to == batch => n as isize - 2,
            to if to == feature => n as isize - 1,
            _ => rest.next().expect("as many axes as the result has"),
        })
        .collect();
    out.transpose(&order)
}
