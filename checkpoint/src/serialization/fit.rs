//! Loading of state dicts into trees.

use super::StateDict;
use super::array::Stored;
use crate::nodes::{HostLeaf, HostValues, Node, number, number_of, set_host_values};
use crate::{Error, Result, cast};
use ramie_core::dtypes::Scalar;
use ramie_core::files::Message;
use ramie_core::tree::HostValue;
use ramie_core::{Array, Aval, State, Tree, tree};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;

/// Replaces the arrays, numbers and strings of a tree with those of a state dict, by path
/// (`flax.serialization.from_state_dict`).
///
/// A saved number takes the dtype of the array, or the type of the number, that it replaces. An
/// array is converted to the tree's dtype if that dtype can represent every value of the saved
/// one.
///
/// # Errors
/// Returns an error if the state dict lacks an array of the tree or has an additional leaf, or if
/// a leaf differs in shape or cannot be converted without loss. The tree is then unchanged. (Flax
/// checks neither dtypes nor, in dictionaries, additional entries.)
///
/// ```
/// use ramie_checkpoint::serialization::{StateDict, from_state_dict};
/// use ramie_core::dtypes::Scalar;
/// use ramie_core::Array;
/// let dict = StateDict::Dict(vec![("0".into(), StateDict::Number(Scalar::Int(7)))]);
/// let mut tree = (Array::from(0.0f32),);
/// from_state_dict(&mut tree, &dict).unwrap();
/// assert_eq!(tree.0.item::<f32>(), 7.0);
/// ```
pub fn from_state_dict<T: Tree>(tree: &mut T, dict: &StateDict) -> Result<()> {
    restore(tree, dict)
}

/// Restores like [`from_state_dict`], for arrays that may not be loaded yet.
pub(super) fn restore<T: Tree, A: Stored>(tree: &mut T, dict: &StateDict<A>) -> Result<()> {
    let leaves = dict.leaves()?;
    let places: HashMap<&str, &StateDict<A>> =
        leaves.iter().map(|(path, leaf)| (&**path, *leaf)).collect();
    let mut wanted = HashMap::new();
    tree::for_each_with_path(tree, |path, _, array| {
        wanted.insert(path.to_owned(), array.aval());
    });
    let hosts = host_leaves(tree)?;
    let mut values = HostValues::new();
    // Compare before any array is created.
    let mut types = State::new();
    for (path, leaf) in &leaves {
        if let Some(host) = hosts.get(path) {
            values.insert(host.at, host_value(path, &host.value, leaf)?);
            continue;
        }
        let aval = restored_type(path, leaf, wanted.get(path))?;
        types.insert(path, Array::shape_dtype_struct(aval.shape(), aval.dtype()));
    }
    if let Some((path, host)) = hosts
        .iter()
        .find(|(_, host)| !values.contains_key(&host.at))
    {
        let message = Message::new(format!(
            "the tree has {}, the state dict has nothing",
            described(&host.value)
        ))
        .help("mark a field that checkpoints do not contain with `#[tree(fixed)]`");
        return Err(Error::state_dict(path, message));
    }
    let mut like = tree::map(tree, |a| Array::shape_dtype_struct(a.shape(), a.dtype()));
    types.apply_to(&mut like).map_err(|mismatch| {
        let (saved, wanted) = (types.paths(), wanted.keys());
        Error::mismatch(None, mismatch, saved, wanted.map(String::as_str))
    })?;
    let mut arrays = Vec::with_capacity(leaves.len());
    for path in tree::paths(tree) {
        arrays.push(match places[&*path] {
            StateDict::Array(a) | StateDict::NumpyScalar(a) => {
                let array = a.load();
                let array = array.map_err(|message| Error::state_dict(&path, message))?;
                if array.dtype() == wanted[&path].dtype() {
                    array
                } else {
                    array.astype(wanted[&path].dtype())
                }
            }
            StateDict::Number(n) => Array::scalar(*n, wanted[&path].dtype()),
            _ => unreachable!("other leaves are rejected above"),
        });
    }
    set_host_values(tree, values)?;
    let mut arrays = arrays.into_iter();
    tree.walk_mut(&mut |leaf| *leaf = arrays.next().expect("an array for every leaf"));
    Ok(())
}

/// Returns the type in which an array or a number is restored, given the type in the tree.
fn restored_type<A: Stored>(
    path: &str,
    leaf: &StateDict<A>,
    wanted: Option<&Aval>,
) -> Result<Aval> {
    match (leaf, wanted) {
        (StateDict::Array(a) | StateDict::NumpyScalar(a), wanted) => {
            let saved = a.aval();
            let dtype = wanted.map_or(saved.dtype(), |wanted| wanted.dtype());
            if cast::keeps_values(saved.dtype(), dtype) {
                Ok(Aval::new(saved.shape(), dtype))
            } else {
                Ok(saved)
            }
        }
        (StateDict::Number(n), Some(aval))
            if aval.shape().is_empty() && cast::takes(aval.dtype(), *n) =>
        {
            Ok(*aval)
        }
        (StateDict::Number(n), None) => Ok(Aval::new(&[], n.weak_dtype())),
        (other, Some(aval)) => Err(differs(path, aval, other)),
        (other, None) => Err(differs(path, "nothing here", other)),
    }
}

/// Returns the error of a leaf that the tree has in another form.
fn differs<A>(path: &str, tree: impl Display, saved: &StateDict<A>) -> Error {
    let message = Message::new(format!(
        "the tree has {tree}, the state dict has {}",
        text(saved)
    ))
    .help("load into a tree with the saved structure");
    Error::state_dict(path, message)
}

/// Returns the numbers and strings of a tree by their dotted paths.
fn host_leaves<T: Tree>(tree: &T) -> Result<BTreeMap<String, HostLeaf>> {
    let root = Node::of(tree).map_err(|(path, trouble)| {
        let message = Message::new(trouble).help("rename one of the two");
        Error::state_dict(&path, message)
    })?;
    let mut leaves = Vec::new();
    root.host_leaves("", &mut leaves);
    Ok(leaves.into_iter().collect())
}

/// Returns the value of a leaf for a number or a string of the tree.
fn host_value<A: Stored>(
    path: &str,
    wanted: &HostValue<'_>,
    leaf: &StateDict<A>,
) -> Result<HostValue<'static>> {
    let number = match leaf {
        StateDict::Number(n) => Some(*n),
        StateDict::Array(a) | StateDict::NumpyScalar(a) if a.aval().shape().is_empty() => {
            let array = a.load();
            Some(number(
                &array.map_err(|message| Error::state_dict(path, message))?,
            ))
        }
        _ => None,
    };
    match (wanted, leaf, number) {
        (HostValue::Text(_), StateDict::Str(text), _) => Ok(HostValue::Text(text.clone().into())),
        (&HostValue::Number(_, dtype), _, Some(n)) if cast::takes(dtype, n) => {
            Ok(HostValue::Number(n, dtype))
        }
        (wanted, leaf, _) => Err(differs(path, described(wanted), leaf)),
    }
}

/// Describes the type of a number or a string for messages.
fn described(value: &HostValue<'_>) -> String {
    match value {
        HostValue::Number(_, dtype) => number_of(*dtype),
        HostValue::Text(_) => "a string".into(),
    }
}

/// Describes a leaf that is not an array, for messages.
fn text<A>(leaf: &StateDict<A>) -> String {
    match leaf {
        StateDict::Number(Scalar::Bool(v)) => format!("the boolean {v}"),
        StateDict::Number(Scalar::Int(v)) => format!("the number {v}"),
        StateDict::Number(Scalar::Uint(v)) => format!("the number {v}"),
        StateDict::Number(Scalar::Float(v)) => format!("the number {v:?}"),
        StateDict::Number(Scalar::Complex(re, im)) => format!("the number {re:?} + {im:?}i"),
        other => other.describe().to_owned(),
    }
}
