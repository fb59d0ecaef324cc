//! Loading of state dicts into trees.

use super::StateDict;
use super::array::Stored;
use crate::{Error, Result, cast};
use ramie_core::{Array, Aval, Scalar, State, Tree, tree};
use std::collections::HashMap;

/// Replaces all arrays of a tree with those of a state dict, by path
/// (`flax.serialization.from_state_dict`).
///
/// A number takes the dtype of the array that it replaces. An array is converted to that dtype if
/// the dtype can represent every value of the saved one.
///
/// # Errors
/// Returns an error if the state dict lacks an array of the tree or has an additional leaf, or if
/// a leaf differs in shape or cannot be converted without loss. The tree is then unchanged. (Flax
/// checks neither dtypes nor, in dictionaries, additional entries.)
///
/// ```
/// use ramie_checkpoint::serialization::{StateDict, from_state_dict};
/// use ramie_core::{Array, Scalar};
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
    // Compare before any array is created.
    let mut types = State::new();
    for (path, leaf) in &leaves {
        let aval = match (leaf, wanted.get(path)) {
            (StateDict::Array(a) | StateDict::NumpyScalar(a), wanted) => {
                let saved = a.aval();
                let dtype = wanted.map_or(saved.dtype(), |wanted| wanted.dtype());
                match cast::keeps_values(saved.dtype(), dtype) {
                    true => Aval::new(saved.shape(), dtype),
                    false => saved,
                }
            }
            (StateDict::Number(n), Some(aval))
                if aval.shape().is_empty() && cast::takes(aval.dtype(), *n) =>
            {
                *aval
            }
            (StateDict::Number(n), None) => Aval::new(&[], n.weak_dtype()),
            (other, Some(aval)) => {
                let message = format!("the tree has {}, the state dict has {}", aval, text(other));
                return Err(Error::state_dict(path, message));
            }
            (other, None) => {
                let message = format!(
                    "the tree has nothing here, the state dict has {}",
                    text(other)
                );
                return Err(Error::state_dict(path, message));
            }
        };
        types.insert(path, Array::shape_dtype_struct(aval.shape(), aval.dtype()));
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
                match array.dtype() == wanted[&path].dtype() {
                    true => array,
                    false => array.astype(wanted[&path].dtype()),
                }
            }
            StateDict::Number(n) => Array::scalar(*n, wanted[&path].dtype()),
            _ => unreachable!("other leaves are rejected above"),
        });
    }
    let mut arrays = arrays.into_iter();
    tree.walk_mut(&mut |leaf| *leaf = arrays.next().expect("an array for every leaf"));
    Ok(())
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
