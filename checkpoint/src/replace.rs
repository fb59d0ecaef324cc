//! Replacing the arrays of a tree with those of a file.

use crate::{Error, Result, cast};
use ramie_core::{Array, DType, State, Tree, tree};
use std::collections::HashMap;
use std::path::Path;

/// Replaces all arrays of a tree with those of the file at `path`, whose types are `saved`. `read`
/// reads the array with a name. An array is converted to the tree's dtype if that dtype can
/// represent every value. Types are compared before any array is read, and the tree is unchanged
/// after an error.
pub(crate) fn arrays<T: Tree>(
    path: &Path,
    saved: &State,
    tree: &mut T,
    mut read: impl FnMut(&str) -> Result<Array>,
) -> Result<()> {
    let mut wanted = Vec::new();
    tree::for_each_with_path(tree, |path, _, array| {
        wanted.push((path.to_owned(), array.dtype()));
    });
    let dtypes: HashMap<&str, DType> = wanted.iter().map(|(path, d)| (&**path, *d)).collect();
    let types = saved.map_with_path(|name, saved| {
        let dtype = dtypes.get(name).copied().unwrap_or(saved.dtype());
        if cast::keeps_values(saved.dtype(), dtype) {
            Array::shape_dtype_struct(saved.shape(), dtype)
        } else {
            saved.clone()
        }
    });
    let mut like = tree::copy(tree);
    types.apply_to(&mut like).map_err(|mismatch| {
        Error::mismatch(Some(path), mismatch, types.paths(), dtypes.keys().copied())
    })?;
    let mut new = Vec::with_capacity(wanted.len());
    for (name, dtype) in &wanted {
        let array = read(name)?;
        new.push(if array.dtype() == *dtype {
            array
        } else {
            array.astype(*dtype)
        });
    }
    let mut new = new.into_iter();
    tree.walk_mut(&mut |leaf| *leaf = new.next().expect("an array for every leaf"));
    Ok(())
}
