//! Activations by the names used in model configurations.

use ramie_core::Array;

/// An elementwise function.
pub type Activation = fn(&Array) -> Array;

/// Returns the function that published configurations call by this name.
pub fn by_name(name: &str) -> Option<Activation> {
    Some(match name {
        "gelu_new" | "gelu_pytorch_tanh" | "gelu_fast" => Array::gelu,
        "gelu" => Array::gelu_exact,
        "silu" | "swish" => Array::silu,
        "relu" => Array::relu,
        "tanh" => Array::tanh,
        _ => return None,
    })
}
