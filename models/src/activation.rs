//! Activations by the names used in model configurations.

use ramie_core::Array;
use ramie_core::options::Exact;

/// An elementwise function.
pub type Activation = fn(&Array) -> Array;

/// Returns the function that published configurations call by this name. `owner` has the name.
#[track_caller]
pub fn named(owner: &str, name: &str) -> Activation {
    by_name(name).unwrap_or_else(|| {
        panic!(
            "{owner}: unknown activation `{name}`\n  help: use gelu, gelu_new, relu, silu or tanh"
        )
    })
}

/// Returns the function that published configurations call by this name.
pub fn by_name(name: &str) -> Option<Activation> {
    // Closures: a function pointer to a `#[track_caller]` function of another crate hides the
    // function from users of a dynamic library, such as the cells of a notebook.
    Some(match name {
        "gelu_new" | "gelu_pytorch_tanh" | "gelu_fast" => |x| x.gelu(),
        "gelu" => |x| x.gelu_with(Exact),
        "silu" | "swish" => |x| x.silu(),
        "relu" => |x| x.relu(),
        "tanh" => |x| x.tanh(),
        _ => return None,
    })
}
