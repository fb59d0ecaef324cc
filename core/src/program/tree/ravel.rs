//! Conversion of a tree to a single vector and back.

use super::{leaves, with_leaves};
use crate::typing::Dims;
use crate::{Array, DType, Tree, concatenate};

/// Flattens and concatenates all arrays of a tree in order. Returns the vector, and the function
/// that converts a vector of that size back to the tree (`jax.flatten_util.ravel_pytree`).
///
/// The vector has the promoted dtype of the arrays. Converting back restores the original dtypes.
///
/// ```
/// use ramie_core::{Array, tree};
/// let params = (Array::from([1.0f32, 2.0]), Array::from(3.0f32));
/// let (vector, unravel) = tree::ravel(&params);
/// assert_eq!(vector.to_vec::<f32>(), [1.0, 2.0, 3.0]);
/// let (weights, bias) = unravel(&(vector * 2.0));
/// assert_eq!(weights.to_vec::<f32>(), [2.0, 4.0]);
/// assert_eq!(bias.item::<f32>(), 6.0);
/// ```
///
/// # Panics
/// The returned function panics if the vector has a different size.
#[doc(alias = "ravel_pytree")]
#[track_caller]
pub fn ravel<T: Tree>(tree: &T) -> (Array, impl Fn(&Array) -> T + Send + Sync + use<T>) {
    let arrays = leaves(tree);
    let common = arrays
        .iter()
        .map(|a| (a.dtype(), a.aval().weak_type()))
        .reduce(DType::promote)
        .map_or(DType::F32, |(dtype, _)| dtype);
    let flat: Vec<Array> = arrays
        .iter()
        .map(|a| a.astype(common).reshape(&[a.size()]))
        .collect();
    let vector = if flat.is_empty() {
        Array::zeros(&[0], common)
    } else {
        concatenate(&flat, 0)
    };
    let types: Vec<(usize, Dims, DType)> = arrays
        .iter()
        .map(|a| (a.size(), a.shape().into(), a.dtype()))
        .collect();
    let total: usize = types.iter().map(|p| p.0).sum();
    // Keeps only the structure, since the arrays may be large.
    let form = super::shape_dtype_structs(tree);
    let unravel = move |vector: &Array| {
        assert!(
            vector.shape() == [total],
            "unravel: the vector is {}, expected the shape [{total}] of the raveled tree",
            vector.aval()
        );
        let mut start = 0;
        let parts = types.iter().map(|(size, shape, dtype)| {
            let part = vector.slice_in_dim(start, start + size, 1, 0);
            start += size;
            part.reshape(shape).astype(*dtype)
        });
        with_leaves(&form, parts.collect::<Vec<_>>())
    };
    (vector, unravel)
}
