//! Convolutions (`jax.lax.conv_general_dilated` and its kin).

use crate::aval::element_count;
use crate::prim::conv::{ConvGeneralDilated, ConvLayout, Padding, dilated};
use crate::sharding::OutSharding;
use crate::trace::bind1;
use crate::{Array, DType, Dims, DotDimensionNumbers, PartitionSpec, Precision};

/// How a convolution is done: layout, strides, padding and so on.
///
/// What is not set is as usual: windows next to each other and inside the
/// operand, no dilation, no groups.
///
/// ```no_run
/// use ramie_core::{Array, ConvLayout, Convolution, DType, Padding, conv_general_dilated};
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
    /// A convolution with nothing out of the ordinary.
    pub fn new() -> Convolution {
        Convolution::default()
    }

    /// The order of axes: [`ConvLayout::ChannelsFirst`] if not set; three
    /// strings such as `("NHWC", "HWIO", "NHWC")` say any.
    pub fn layout(mut self, layout: impl Into<ConvLayout>) -> Convolution {
        self.layout = layout.into();
        self
    }

    /// How far windows are apart, for each spatial axis of the kernel.
    pub fn strides(mut self, strides: &[usize]) -> Convolution {
        self.strides = Some(strides.into());
        self
    }

    /// What is added around the spatial axes of the left operand.
    pub fn padding(mut self, padding: impl Into<Padding>) -> Convolution {
        self.padding = padding.into();
        self
    }

    /// How far the left operand's elements are spread, for each spatial axis.
    pub fn lhs_dilation(mut self, dilation: &[usize]) -> Convolution {
        self.lhs_dilation = Some(dilation.into());
        self
    }

    /// How far the kernel's elements are spread, for each spatial axis (atrous
    /// convolution).
    pub fn rhs_dilation(mut self, dilation: &[usize]) -> Convolution {
        self.rhs_dilation = Some(dilation.into());
        self
    }

    /// Divides the features in so many groups, each with kernels of its own;
    /// as many as features is a depthwise convolution.
    pub fn feature_group_count(mut self, groups: usize) -> Convolution {
        self.feature_group_count = groups;
        self
    }

    /// Divides the batch in so many groups, each with kernels of its own.
    pub fn batch_group_count(mut self, groups: usize) -> Convolution {
        self.batch_group_count = groups;
        self
    }

    /// How exactly products are computed.
    pub fn precision(mut self, precision: Precision) -> Convolution {
        self.precision = Some(precision);
        self
    }

    /// The type of the result, in which products are summed.
    pub fn preferred_element_type(mut self, dtype: DType) -> Convolution {
        self.preferred_element_type = Some(dtype);
        self
    }

    /// How the result is sharded over explicit axes of a mesh.
    pub fn out_sharding(mut self, out_sharding: impl Into<PartitionSpec>) -> Convolution {
        self.out_sharding = Some(out_sharding.into());
        self
    }

    /// The primitive for an operand and a kernel.
    #[track_caller]
    fn primitive(&self, operands: [&Array; 2]) -> ConvGeneralDilated {
        let [lhs, rhs] = operands.map(Array::shape);
        let numbers = self.layout.dimension_numbers(lhs.len());
        let spatial = lhs.len() - 2;
        let given = |list: &Option<Dims>| match list {
            Some(list) => list.clone(),
            None => Dims::from_elem(1, spatial),
        };
        let (strides, spread) = (given(&self.strides), given(&self.lhs_dilation));
        let padding = match &self.padding {
            Padding::Explicit(pads) => pads.clone(),
            computed => {
                assert!(
                    *computed == Padding::Valid || spread.iter().all(|&d| d == 1),
                    "conv_general_dilated: {computed:?} padding of an operand that is dilated by \
                     {spread:?}\n  help: give the padding in numbers, or use conv_transpose"
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
            lhs_dilation: spread,
            rhs_dilation: given(&self.rhs_dilation),
            dimension_numbers: numbers,
            feature_group_count: self.feature_group_count,
            batch_group_count: self.batch_group_count,
            precision: self.precision,
            preferred_element_type: self.preferred_element_type,
            out_sharding: self
                .out_sharding
                .as_ref()
                .map(|spec| OutSharding::new("conv_general_dilated", &operands, spec, lhs.len())),
        }
    }
}

/// A convolution of images `lhs` with kernels `rhs`, of one type and as many
/// axes (`jax.lax.conv_general_dilated`).
///
/// A spatial axis of the result has `(n + before + after - window) / stride + 1`
/// elements, where `n` and `window` are sizes after dilation.
///
/// # Panics
/// If types or numbers of axes differ, there is not one stride, padding and
/// dilation per spatial axis, or groups do not divide sizes.
#[track_caller]
pub fn conv_general_dilated(lhs: &Array, rhs: &Array, how: &Convolution) -> Array {
    bind1(how.primitive([lhs, rhs]), &[lhs, rhs])
}

/// A convolution in the layout `NCHW`, `OIHW`, `NCHW` (`jax.lax.conv`).
///
/// ```no_run
/// use ramie_core::{Array, DType, Padding, conv};
/// let (x, kernel) = (Array::ones(&[1, 1, 5], DType::F32), Array::ones(&[1, 1, 3], DType::F32));
/// let sums = conv(&x, &kernel, &[1], Padding::Same);
/// assert_eq!(sums.to_vec::<f32>(), [2.0, 3.0, 3.0, 3.0, 2.0]);
/// ```
///
/// # Panics
/// As [`conv_general_dilated`].
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

/// A convolution in the layout `NCHW`, `OIHW`, `NCHW` with dilations
/// (`jax.lax.conv_with_general_padding`).
///
/// # Panics
/// As [`conv_general_dilated`].
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

/// The windows that a convolution with kernels of `filter_shape` sees, each as
/// the features of one element of the result
/// (`jax.lax.conv_general_dilated_patches`). Of `C` features and a window of `w`
/// elements come `C · w` features, those of one input feature next to each other.
///
/// # Panics
/// As [`conv_general_dilated`].
#[track_caller]
pub fn conv_general_dilated_patches(
    lhs: &Array,
    filter_shape: &[usize],
    how: &Convolution,
) -> Array {
    let numbers = how.layout.dimension_numbers(lhs.ndim());
    let window = element_count(filter_shape);
    let features = lhs.shape()[numbers.lhs.feature];
    // One kernel for each element of the window and feature, which takes it.
    let kernel =
        Array::eye(window, lhs.dtype()).broadcast_in_dim(&[features, window, window], &[1, 2]);
    let mut shape = vec![features.saturating_mul(window), 1];
    shape.extend_from_slice(filter_shape);
    let kernel = kernel.reshape(&shape);
    let mut order = vec![0isize; shape.len()];
    let places = [numbers.rhs.output, numbers.rhs.input];
    let rest = (0..shape.len()).filter(|d| !places.contains(d));
    for (from, to) in places.into_iter().chain(rest).enumerate() {
        order[to] = from as isize;
    }
    let kernel = kernel.transpose(&order);
    let mut how = how.clone().layout(numbers).feature_group_count(features);
    how.batch_group_count = 1;
    conv_general_dilated(lhs, &kernel, &how)
}

/// A convolution with a kernel of its own for each place of the result
/// (`jax.lax.conv_general_dilated_local`). The spatial axes of `rhs` are those
/// of the result; its input features are the features and elements of a window,
/// as [`conv_general_dilated_patches`] orders them.
///
/// # Panics
/// As [`conv_general_dilated`], or if the shape of `rhs` does not fit.
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
    let out = patches.dot_general_with(rhs, dims, how.precision, None);
    // The axes are places, examples, features.
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
