//! Custom functions that layers call instead of those of `lax` and `numpy`.

use crate::shared_fn::SharedFn;
use ramie_core::lax::DotDimensionNumbers;
use ramie_core::options::{Contraction, Convolution};
use ramie_core::{Array, DType};
use std::sync::Arc;

/// Defines types of functions. A value equals only its clones.
macro_rules! functions {
    ($( $(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) -> $out:ty; )*) => { $(
        $(#[$doc])*
        ///
        /// It compares equal only to its clones.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct $name(SharedFn<dyn Fn($($ty),*) -> $out + Send + Sync>);

        impl $name {
            /// Creates the value from a function of these arguments.
            pub fn new(f: impl Fn($($ty),*) -> $out + Send + Sync + 'static) -> $name {
                $name(SharedFn::new(Arc::new(f)))
            }

            #[track_caller]
            pub(crate) fn call(&self, $($arg: $ty),*) -> $out {
                (self.0)($($arg),*)
            }
        }
    )* };
}

functions! {
    /// A custom product that dense layers use instead of `dot_general`, for example a quantized one
    /// (the field `dot_general` of Flax's dense layers). The arguments are the two operands, their
    /// axes, and the options of the product.
    ///
    /// ```no_run
    /// use ramie_core::DType;
    /// use ramie_nn::{DotGeneralFn, Linear, Rngs};
    /// let rounded = DotGeneralFn::new(|x, kernel, axes, how| {
    ///     let (x, kernel) = (x.astype(DType::F8E4M3Fn), kernel.astype(DType::F8E4M3Fn));
    ///     x.dot_general_with(&kernel, axes.clone(), how.preferred_element_type(DType::F32))
    /// });
    /// let layer = Linear::features(10).dot_general(rounded).build(64, &mut Rngs::new(0));
    /// ```
    DotGeneralFn(x: &Array, kernel: &Array, axes: &DotDimensionNumbers, how: Contraction) -> Array;

    /// A custom product that an [`Einsum`](crate::Einsum) layer uses instead of `einsum` (the field
    /// `einsum_op` of Flax's layer). The arguments are the equation, the input and the kernel, and
    /// the options of the product.
    ///
    /// ```no_run
    /// use ramie_core::DType;
    /// use ramie_core::numpy::einsum_with;
    /// use ramie_nn::{Einsum, EinsumFn, Rngs};
    /// let rounded = EinsumFn::new(|equation, [x, kernel], how| {
    ///     let operands = [x, kernel].map(|a| a.astype(DType::F8E4M3Fn));
    ///     einsum_with(equation, &operands, how.preferred_element_type(DType::F32))
    /// });
    /// let config = Einsum::equation("bi,io->bo", [64, 10]).einsum_op(rounded);
    /// let layer = config.build(&mut Rngs::new(0));
    /// ```
    EinsumFn(equation: &str, operands: [&Array; 2], how: Contraction) -> Array;

    /// A custom convolution that a [`Conv`](crate::Conv) layer uses instead of
    /// [`conv_general_dilated`](ramie_core::lax::conv_general_dilated) (the field of that name of
    /// Flax's layer). The arguments are the input with one batch axis, the kernel, and the options
    /// of the convolution.
    ///
    /// ```no_run
    /// use ramie_core::DType;
    /// use ramie_core::lax::conv_general_dilated;
    /// use ramie_nn::{Conv, ConvGeneralDilatedFn, Rngs};
    /// let rounded = ConvGeneralDilatedFn::new(|x, kernel, how| {
    ///     let y = conv_general_dilated(&x.astype(DType::BF16), &kernel.astype(DType::BF16), how);
    ///     y.astype(DType::F32)
    /// });
    /// let config = Conv::features(16, [3, 3]).conv_general_dilated(rounded);
    /// let layer = config.build(3, &mut Rngs::new(0));
    /// ```
    ConvGeneralDilatedFn(x: &Array, kernel: &Array, how: &Convolution) -> Array;

    /// A custom rule by which a layer converts its input and its parameters before it computes (the
    /// field `promote_dtype` of Flax's layers). The arguments are the input and the parameters in
    /// the order of Flax, without those that the layer lacks, and the layer's `dtype`. The function
    /// returns an array of the same shape for each of them.
    ///
    /// Without one, a layer converts all of them to its `dtype`, or to the floating-point dtype that
    /// they promote to.
    ///
    /// ```
    /// use ramie_core::{Array, DType};
    /// use ramie_nn::{Linear, PromoteDtypeFn, Rngs};
    /// // Compute in the dtype of the input, whatever the dtype of the parameters.
    /// let as_input = PromoteDtypeFn::new(|arrays, dtype| {
    ///     let dtype = dtype.unwrap_or(arrays[0].dtype());
    ///     arrays.iter().map(|a| a.astype(dtype)).collect()
    /// });
    /// let layer = Linear::features(10).promote_dtype(as_input).build(4, &mut Rngs::new(0));
    /// let y = layer.forward(&Array::ones(&[2, 4], DType::BF16));
    /// assert_eq!(y.dtype(), DType::BF16);
    /// ```
    PromoteDtypeFn(arrays: &[&Array], dtype: Option<DType>) -> Vec<Array>;
}
