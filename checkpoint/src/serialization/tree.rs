//! Conversion of trees to state dicts.

use super::StateDict;
use crate::nodes::Node;
use ramie_core::Tree;
use ramie_core::tree::HostValue;

/// Converts a tree to a state dict (`flax.serialization.to_state_dict`).
///
/// Structs, tuples, lists and maps become dictionaries, which are empty if they have no parts; an
/// empty option becomes `None`. The dotted paths of a [`State`](ramie_core::State) become nested
/// dictionaries. Numbers, booleans and strings are leaves, except for hyperparameters, which are
/// omitted: those of modules and of fields marked with `#[tree(fixed)]`.
///
/// # Panics
/// Panics if two arrays have the same path, or if the path of an array continues the path of
/// another one.
///
/// ```
/// use ramie_checkpoint::serialization::{StateDict, to_state_dict};
/// use ramie_core::{Array, State};
/// let params = State::from_iter([("w", Array::from(1.0f32))]);
/// let dict = to_state_dict(&(params, ()));
/// assert!(matches!(dict.get("0.w"), Some(StateDict::Array(_))));
/// assert!(matches!(dict.get("1"), Some(StateDict::Dict(parts)) if parts.is_empty()));
/// ```
#[track_caller]
pub fn to_state_dict<T: Tree>(tree: &T) -> StateDict {
    match Node::of(tree) {
        Ok(root) => closed(root).unwrap_or(StateDict::Dict(Vec::new())),
        Err((path, trouble)) => panic!(
            "to_state_dict: `{path}` {trouble}\n  help: rename one of the two; names in a state \
             dict are unique"
        ),
    }
}

fn closed(node: Node) -> Option<StateDict> {
    if let Some(leaf) = node.leaf {
        return Some(StateDict::Array(leaf.array));
    }
    if let Some(leaf) = node.host {
        return Some(match leaf.value {
            HostValue::Number(number, _) => StateDict::Number(number),
            HostValue::Text(text) => StateDict::Str(text.into_owned()),
        });
    }
    let parts = node.children.into_iter();
    let parts = parts.filter_map(|child| Some((child.name, closed(child.node)?)));
    let parts: Vec<_> = parts.collect();
    match parts.is_empty() {
        true if node.none => Some(StateDict::None),
        true if node.value => None,
        _ => Some(StateDict::Dict(parts)),
    }
}
