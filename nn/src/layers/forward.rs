//! `Forward`: the trait of layers that map an array to an array.

use super::{
    BatchNorm, Conv, ConvLocal, ConvTranspose, Dropout, Einsum, Embed, GroupNorm, InstanceNorm,
    LayerNorm, Linear, LinearGeneral, Lora, LoraLinear, MultiHeadAttention, PReLU, RMSNorm,
    Sequential, SwiGLU,
};
use ramie_core::{Array, Tree};

/// A layer that maps one array to one array, as used in [`Sequential`](crate::Sequential).
///
/// The layers of this crate implement it. Implementing it for a custom model takes a few lines:
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_nn::{Forward, Linear, Module, Rngs, Sequential};
///
/// /// A layer whose input is added to its output.
/// #[derive(Module)]
/// struct Residual { linear: Linear }
///
/// impl Forward for Residual {
///     fn forward(&mut self, x: &Array) -> Array {
///         x + self.linear.forward(x).relu()
///     }
/// }
///
/// let rngs = &mut Rngs::new(0);
/// let mut block = || Residual { linear: Linear::new(8, 8, rngs) };
/// let mut net = Sequential::new((block(), block()));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layer from an array to an array",
    note = "implement `Forward` for the type; a closure needs the type of its argument: |x: &Array|"
)]
pub trait Forward: Tree {
    /// Computes the output. Layers that draw keys or update statistics change.
    fn forward(&mut self, x: &Array) -> Array;
}

macro_rules! forward {
    ($($layer:ty),* $(,)?) => { $(
        impl Forward for $layer {
            #[track_caller]
            fn forward(&mut self, x: &Array) -> Array {
                <$layer>::forward(self, x)
            }
        }
    )* };
}

forward!(
    BatchNorm,
    Conv,
    ConvLocal,
    ConvTranspose,
    Dropout,
    Einsum,
    Embed,
    GroupNorm,
    InstanceNorm,
    LayerNorm,
    Linear,
    LinearGeneral,
    LoraLinear,
    MultiHeadAttention,
    PReLU,
    RMSNorm,
    Sequential,
    SwiGLU,
);

impl<B: Forward> Forward for Lora<B> {
    #[track_caller]
    fn forward(&mut self, x: &Array) -> Array {
        <Lora<B>>::forward(self, x)
    }
}
