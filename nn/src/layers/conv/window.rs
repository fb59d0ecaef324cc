//! Windows, batch axes and padding of the convolution layers.

use super::ConvPadding;
use crate::Sizes;
use ramie_core::lax::{ConvLayout, Padding, Precision, conv_general_dilated};
use ramie_core::numpy::PadMode;
use ramie_core::options::Convolution;
use ramie_core::{Array, DType, PartitionSpec, eval_shape};

/// Returns a number for each spatial axis.
#[track_caller]
pub(super) fn for_axes(layer: &str, what: &str, sizes: &Sizes, axes: usize) -> Vec<usize> {
    let Some(all) = sizes.for_axes(axes) else {
        panic!(
            "{layer}: {what} is {:?}, but the window has {axes} axes\n  help: pass one \
             number for each axis of the window, or one for all: {what}(2)",
            sizes.list()
        )
    };
    assert!(
        !all.contains(&0),
        "{layer}: {what} {all:?}, expected 1 or more for each axis\n  help: use 1 for the \
         default size, stride or dilation of an axis"
    );
    all
}

/// An input with one batch axis, and the batch axes that it had.
pub(super) struct Batch {
    pub x: Array,
    lead: Option<Vec<usize>>,
}

impl Batch {
    /// Merges the batch axes of the input.
    ///
    /// # Panics
    /// Panics if the input has fewer axes than the window and the features, or if its number of
    /// features is not that of the kernel.
    #[track_caller]
    pub fn of(layer: &str, x: &Array, axes: usize, in_features: usize) -> Batch {
        assert!(
            x.ndim() > axes && x.shape()[x.ndim() - 1] == in_features,
            "{layer}: the input is {}, expected {axes} spatial axes and a last axis of \
             {in_features}\n  help: put features last, [batch, height, width, features]; create \
             the layer with the number of features of its input",
            x.aval()
        );
        let (lead, image) = x.shape().split_at(x.ndim() - axes - 1);
        if lead.len() == 1 {
            let x = x.clone();
            return Batch { x, lead: None };
        }
        let examples: usize = lead.iter().product();
        Batch {
            x: x.reshape(&[&[examples], image].concat()),
            lead: Some(lead.to_vec()),
        }
    }

    /// Splits the batch axis of a result into those of the input.
    pub fn restore(&self, y: Array) -> Array {
        match &self.lead {
            None => y,
            Some(lead) => y.reshape(&[lead, &y.shape()[1..]].concat()),
        }
    }
}

/// A window that slides over images with features last.
pub(super) struct Windows<'a> {
    pub layer: &'static str,
    pub kernel_size: Vec<usize>,
    pub strides: Vec<usize>,
    pub padding: &'a ConvPadding,
    pub input_dilation: Vec<usize>,
    pub kernel_dilation: Vec<usize>,
    pub precision: Option<Precision>,
    pub preferred_element_type: Option<DType>,
}

/// Defines the options of a convolution layer: its own and those that [`Windows`] contain.
macro_rules! window_hyperparameters {
    (
        $(#[$doc:meta])*
        $name:ident as $class:literal { $($own:tt)* }
    ) => {
        $crate::layers::hyperparameters::affine_hyperparameters! {
            $(#[$doc])*
            $name as $class (features: usize, kernel_size: $crate::Sizes as into) {
                /// Sets a mask that the kernel is multiplied by, of the kernel's shape. Defaults
                /// to none.
                mask: [Option<ramie_core::Array>] = None,
            } calls {
                /// Sets the strides. Defaults to 1.
                strides: [Sizes] = $crate::Sizes::One(1),
                /// Sets the padding of the spatial axes. Defaults to
                /// [`Same`]($crate::ConvPadding::Same).
                padding: [ConvPadding] = $crate::ConvPadding::Same,
                /// Sets the dilation of the input, for transposed convolutions. Defaults to 1.
                input_dilation: [Sizes] = $crate::Sizes::One(1),
                /// Sets the dilation of the kernel, for atrous convolutions. Defaults to 1.
                kernel_dilation: [Sizes] = $crate::Sizes::One(1),
                $($own)*
            }
        }

        impl $name {
            #[track_caller]
            fn windows(&self) -> $crate::layers::conv::window::Windows<'_> {
                use $crate::layers::conv::window::for_axes;
                let (layer, axes) = (Self::CLASS, self.kernel_size.list().len());
                $crate::layers::conv::window::Windows {
                    layer,
                    kernel_size: for_axes(layer, "kernel_size", &self.kernel_size, axes),
                    strides: for_axes(layer, "strides", &self.strides, axes),
                    padding: &self.padding,
                    input_dilation: for_axes(layer, "input_dilation", &self.input_dilation, axes),
                    kernel_dilation: for_axes(layer, "kernel_dilation", &self.kernel_dilation, axes),
                    precision: self.precision,
                    preferred_element_type: self.preferred_element_type,
                }
            }
        }
    };
}
pub(super) use window_hyperparameters;

impl Windows<'_> {
    /// Applies the padding that a convolution does not support, and returns the padding to pass
    /// to the convolution.
    #[track_caller]
    pub fn padded(&self, x: Array) -> (Array, Padding) {
        let windows = self.kernel_size.iter().zip(&self.kernel_dilation);
        let spans: Vec<usize> = windows.map(|(k, d)| (k.max(&1) - 1) * d + 1).collect();
        let around = |x: &Array, mode| {
            let mut widths = vec![(0, 0)];
            widths.extend(spans.iter().map(|span| ((span - 1) / 2, span / 2)));
            widths.push((0, 0));
            x.pad_with(&widths, mode)
        };
        let axes = spans.len();
        let padding = match self.padding {
            ConvPadding::Same => Padding::Same,
            ConvPadding::SameLower => Padding::SameLower,
            ConvPadding::Valid => Padding::Valid,
            ConvPadding::Circular => return (around(&x, PadMode::Wrap), Padding::Valid),
            ConvPadding::Reflect => return (around(&x, PadMode::Reflect), Padding::Valid),
            ConvPadding::Causal => {
                assert!(
                    axes == 1,
                    "{}: causal padding of {axes} spatial axes\n  help: use it for one axis, \
                     which is time; for more axes, pass explicit padding: padding([(2, 0), (1, \
                     1)])",
                    self.layer
                );
                let x = x.pad(&[(0, 0), (spans[0] - 1, 0), (0, 0)], 0);
                return (x, Padding::Valid);
            }
            numbers => {
                let pairs = numbers.numbers(self.layer, axes).unwrap_or_default();
                Padding::Explicit(pairs.into_iter().collect())
            }
        };
        (x, padding)
    }

    /// Returns the convolution's options, with the padding from [`padded`](Windows::padded).
    pub fn convolution(&self, padding: Padding, sharding: Option<&PartitionSpec>) -> Convolution {
        let mut how = Convolution::new()
            .layout(ConvLayout::ChannelsLast)
            .strides(&self.strides)
            .padding(padding)
            .lhs_dilation(&self.input_dilation)
            .rhs_dilation(&self.kernel_dilation)
            .precision(self.precision)
            .preferred_element_type(self.preferred_element_type);
        if let Some(spec) = sharding {
            how = how.out_sharding(spec.clone());
        }
        how
    }

    /// Returns the number of windows along each spatial axis of an image, whose last axis
    /// contains the features.
    #[track_caller]
    pub fn places(&self, image: &[usize]) -> Vec<usize> {
        let features = &image[image.len() - 1..];
        let of = |shape: &[usize]| Array::shape_dtype_struct(shape, DType::F32);
        let kernel = of(&[&self.kernel_size, features, &[1]].concat());
        let x = of(&[&[1], image].concat());
        let convolve = |(x, kernel): (Array, Array)| {
            let (x, padding) = self.padded(x);
            conv_general_dilated(&x, &kernel, &self.convolution(padding, None))
        };
        let out = eval_shape(convolve, (x, kernel));
        out.shape()[1..out.ndim() - 1].to_vec()
    }
}

/// Returns the kernel multiplied by its mask.
#[track_caller]
pub(super) fn masked(layer: &str, kernel: &Array, mask: Option<&Array>) -> Array {
    let Some(mask) = mask else {
        return kernel.clone();
    };
    assert!(
        mask.shape() == kernel.shape(),
        "{layer}: the mask is {}, but the kernel is {}\n  help: use a mask of the kernel's shape",
        mask.aval(),
        kernel.aval()
    );
    kernel * mask
}
