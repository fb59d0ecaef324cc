//! `map`.

use crate::prim::control::functions::scan::{ScanOptions, scan_as};
use crate::program::tree;
use crate::{Array, Tree, concatenate, vmap};

/// Options of [`map_with`].
#[derive(Clone, Copy, Debug, Default)]
pub struct MapOptions {
    /// Number of elements that are computed at a time, by [`vmap`](crate::vmap); 0 computes all
    /// of them together. The remainder is one smaller batch. By default, elements are computed
    /// one at a time.
    pub batch_size: Option<usize>,
}

/// Applies `f` sequentially to each element along the first axis of the arrays in `xs`, and
/// stacks the results (`jax.lax.map`).
///
/// If memory allows, [`vmap`](crate::vmap) computes all elements in parallel, and [`map_with`] in
/// batches.
///
/// ```no_run
/// use ramie_core::lax::map;
/// use ramie_core::Array;
/// let x = Array::from([1.0f32, 2.0, 3.0]);
/// assert_eq!(map(|x: Array| &x * &x, x).to_vec::<f32>(), [1.0, 4.0, 9.0]);
/// ```
///
/// # Panics
/// Panics if there are no arrays in `xs`, or if they are 0-d or differ in size.
#[track_caller]
pub fn map<X: Tree, Y: Tree>(f: impl Fn(X) -> Y, xs: X) -> Y {
    let options = ScanOptions::default();
    scan_as("map", "", |(), x| ((), f(x)), (), xs, options).1
}

/// Runs [`map`] with options for batching.
///
/// ```no_run
/// use ramie_core::lax::map_with;
/// use ramie_core::options::MapOptions;
/// use ramie_core::Array;
/// let options = MapOptions { batch_size: Some(4) };
/// let y = map_with(|x: Array| x * 2, Array::arange(10), options);
/// assert_eq!(y.to_vec::<i32>(), [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
/// ```
///
/// # Panics
/// Panics in the same cases as [`map`].
#[track_caller]
pub fn map_with<X: Tree, Y: Tree>(
    f: impl Fn(X) -> Y + Send + Sync,
    xs: X,
    options: MapOptions,
) -> Y {
    let Some(size) = options.batch_size else {
        return map(f, xs);
    };
    let n = crate::prim::control::functions::scan::length_of("map", &xs, None);
    let batches = n.checked_div(size).unwrap_or(0);
    let whole = batches * size;
    let part = |from: usize, to: usize| tree::map(&xs, |x| x.slice_in_dim(from, to, 1, 0));
    let all_at_once = |xs: X| vmap(&f)(xs);
    if batches == 0 {
        return all_at_once(xs);
    }
    let stacked = tree::map(&part(0, whole), |x| {
        let mut shape = vec![batches, size];
        shape.extend(&x.shape()[1..]);
        x.reshape(&shape)
    });
    let flat = |y: &Array| {
        let mut shape = vec![whole];
        shape.extend(&y.shape()[2..]);
        y.reshape(&shape)
    };
    let options = ScanOptions::default();
    let step = |(), xs| ((), all_at_once(xs));
    let (_, results) = scan_as("map", "", step, (), stacked, options);
    if whole == n {
        return tree::map(&results, flat);
    }
    let rest = all_at_once(part(whole, n));
    tree::map2(&results, &rest, |y, rest| concatenate(&[&flat(y), rest], 0))
}
