//! What a state dict is made of.

use ramie_checkpoint::serialization::StateDict;

/// A state dict as JSON, with types in the place of arrays.
pub fn skeleton(dict: &StateDict) -> String {
    match dict {
        StateDict::Dict(parts) => {
            let parts = parts.iter();
            let parts = parts.map(|(name, part)| format!("\"{name}\":{}", skeleton(part)));
            format!("{{{}}}", parts.collect::<Vec<_>>().join(","))
        }
        StateDict::Array(a) => {
            let dimensions: Vec<String> = a.shape().iter().map(usize::to_string).collect();
            let dtype = a.dtype().numpy_name();
            format!("\"{dtype}[{}]\"", dimensions.join(","))
        }
        StateDict::None => "null".to_owned(),
        other => panic!("no part of an optimizer's state: {other:?}"),
    }
}
