//! Untyped trees: nested dictionaries with everything that Orbax stores in a tree.

use super::key::{KeyPart, KeyPath};
use super::metadata::ValueKind;
use super::restore::everything;
use super::source::Source;
use super::walk::{Part, Value};
use crate::commit::{ItemReader, RestoreArgs, TREE};
use crate::nodes::{HostLeaf, Leaf, number};
use crate::serialization::StateDict;
use crate::{Error, Result};
use ramie_core::Array;
use ramie_core::tree::HostValue;

/// Restores a tree without its types, as nested dictionaries of arrays, numbers, strings and empty
/// nodes.
///
/// Sequences become dictionaries with the keys `"0"`, `"1"`, …, as in Flax's state dicts. Orbax
/// stores named tuples without fields, such as the states of stateless optimizers, as `None`.
/// [`PyTreeSave::dict`](super::PyTreeSave::dict) saves the result again.
///
/// ```
/// use ramie_checkpoint::commit::{restore_item, save_item};
/// use ramie_checkpoint::pytree::{DictRestore, PyTreeSave};
/// use ramie_checkpoint::serialization::StateDict;
/// # fn main() -> ramie_checkpoint::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("notes");
/// let note = ("note".to_string(), StateDict::Str("a text".into()));
/// save_item(&path, &PyTreeSave::dict(&StateDict::Dict(vec![note])))?;
/// let dict = restore_item(&path, DictRestore)?;
/// assert!(matches!(dict.get("note"), Some(StateDict::Str(text)) if text == "a text"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct DictRestore;

/// Maximum nesting depth of parts. Deeper trees could overflow the stack.
const DEEPEST: usize = 256;

impl RestoreArgs for DictRestore {
    type Item = StateDict;

    fn restore(self, reader: &ItemReader) -> Result<StateDict> {
        let source = Source::open(reader)?;
        let mut depths = source.tree.entries.iter().map(|e| e.path.parts().len());
        if depths.any(|depth| depth > DEEPEST) {
            let message = format!("parts are nested more than {DEEPEST} deep");
            return Err(Error::format(&reader.path(TREE)?, message));
        }
        let state = everything(&source)?;
        let mut texts = source.strings()?;
        let mut root = StateDict::Dict(Vec::new());
        for entry in &source.tree.entries {
            let name = entry.path.to_string();
            let value = match (&entry.kind, state.get(&name)) {
                (ValueKind::Scalar, Some(a)) if a.ndim() == 0 => StateDict::Number(number(a)),
                (_, Some(array)) => StateDict::Array(array.clone()),
                (ValueKind::String, None) => {
                    let text = texts
                        .remove(&name)
                        .ok_or_else(|| source.lacks_string(&name));
                    StateDict::Str(text?)
                }
                (ValueKind::Dict, None) => StateDict::Dict(Vec::new()),
                (ValueKind::List | ValueKind::Tuple, None) => StateDict::List(Vec::new()),
                _ => StateDict::None,
            };
            put(&mut root, entry.path.parts(), value);
        }
        Ok(root)
    }

    fn reads_checked(&self) -> bool {
        true
    }
}

/// Sets the value at a path, creating dictionaries as needed.
fn put(node: &mut StateDict, path: &[KeyPart], value: StateDict) {
    let Some((first, rest)) = path.split_first() else {
        *node = value;
        return;
    };
    if !matches!(node, StateDict::Dict(_)) {
        *node = StateDict::Dict(Vec::new());
    }
    let StateDict::Dict(parts) = node else {
        return;
    };
    let name = first.to_string();
    // Parts of one node are adjacent, so search from the end.
    let at = match parts.iter().rposition(|(other, _)| *other == name) {
        Some(at) => at,
        None => {
            parts.push((name, StateDict::Dict(Vec::new())));
            parts.len() - 1
        }
    };
    put(&mut parts[at].1, rest, value);
}

/// Returns the parts of a tree of dictionaries under Orbax's names. Dictionaries whose keys count
/// from 0 are sequences.
pub(super) fn parts(dict: &StateDict) -> Result<Vec<Part>> {
    if !matches!(dict, StateDict::Dict(_) | StateDict::List(_)) {
        let what = dict.describe();
        return Err(Error::tree(
            None,
            format!("{what} has no name\n  help: use `ArraySave` to save a single array"),
        ));
    }
    let mut parts = Vec::new();
    collect(dict, &mut Vec::new(), &mut parts)?;
    Ok(parts)
}

fn collect(dict: &StateDict, path: &mut Vec<KeyPart>, parts: &mut Vec<Part>) -> Result<()> {
    let leaf = |array: &Array| Leaf {
        at: parts.len(),
        array: array.clone(),
        key_impl: None,
    };
    let host = |value| {
        let at = parts.len();
        Value::Host(HostLeaf { at, value })
    };
    let value = match dict {
        StateDict::Dict(entries) if !entries.is_empty() => {
            for (key, part) in ordered(entries) {
                path.push(key);
                collect(part, path, parts)?;
                path.pop();
            }
            return Ok(());
        }
        StateDict::List(items) if !items.is_empty() => {
            for (i, part) in items.iter().enumerate() {
                path.push(KeyPart::Index(i));
                collect(part, path, parts)?;
                path.pop();
            }
            return Ok(());
        }
        StateDict::Dict(_) => Value::Empty(ValueKind::Dict),
        StateDict::List(_) => Value::Empty(ValueKind::List),
        StateDict::None => Value::Empty(ValueKind::None),
        StateDict::Array(array) | StateDict::NumpyScalar(array) => Value::Array(leaf(array)),
        StateDict::Number(n) => host(HostValue::Number(*n, n.weak_dtype())),
        StateDict::Str(text) => host(HostValue::Text(text.clone().into())),
        StateDict::Bytes(_) => {
            let name = KeyPath::new(path.iter().cloned());
            return Err(Error::tree(
                None,
                format!(
                    "`{name}` is bytes, which Orbax's format does not support\n  help: save them \
                     as an array of u8"
                ),
            ));
        }
    };
    if path.is_empty() {
        return Ok(()); // the root has no entry
    }
    parts.push(Part {
        path: KeyPath::new(path.iter().cloned()),
        value,
    });
    Ok(())
}

/// Returns the entries of a dictionary with their keys; if the keys count from 0, sorted by index.
fn ordered(entries: &[(String, StateDict)]) -> Vec<(KeyPart, &StateDict)> {
    let mut places = vec![None; entries.len()];
    for (name, part) in entries {
        let index = name.parse::<usize>().ok();
        // Reject names with signs or leading zeros.
        let index = index.filter(|i| i.to_string() == *name);
        if let Some(place) = index.and_then(|i| places.get_mut(i)) {
            *place = Some(part);
        }
    }
    let indexed: Option<Vec<&StateDict>> = places.into_iter().collect();
    match indexed {
        Some(parts) => {
            let parts = parts.into_iter().enumerate();
            parts.map(|(i, part)| (KeyPart::Index(i), part)).collect()
        }
        None => {
            let named = entries.iter();
            named
                .map(|(name, part)| (KeyPart::Name(name.clone()), part))
                .collect()
        }
    }
}
