//! Arithmetic on whole trees, and lookup of arrays by name (`optax.tree`).
//!
//! A tree is a `State`, or any other type that implements `Tree`: a model, a tuple, a map.
//!
//! Numbers and sums are computed in at least `f32`: norms, sums and inner products of narrower
//! floats are in `f32`.

mod lookup;

pub use crate::base::moments::{
    bias_correction, update_infinity_moment, update_moment, update_moment_per_elem_norm,
};
pub use lookup::{get, get_all_with_path, get_with, map_params, map_params_or, set, set_with};

use crate::Hyperparam;
use crate::base::any_tree::zip;
use crate::base::wide::{is_narrow, wide};
use ramie_core::dtypes::promote_types;
use ramie_core::options::Tolerance;
use ramie_core::random::Key;
use ramie_core::tree::{self, leaves, map};
use ramie_core::typing::{IntoBound, Like};
use ramie_core::{Array, DType, IntoArray, State, Tree, where_};
use std::collections::BTreeMap;

macro_rules! pointwise {
    ($( $(#[$doc:meta])* $f:ident |$a:ident, $b:ident| $body:expr; )*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// Panics if the states have different paths, or shapes that do not broadcast.
        #[track_caller]
        pub fn $f<T: Tree>(x: &T, y: &T) -> T {
            zip(x, y, |$a, $b| $body)
        }
    )* };
}

pointwise! {
    /// Computes `x + y`.
    add |a, b| a + b;
    /// Computes `x - y`.
    sub |a, b| a - b;
    /// Computes `x · y`.
    mul |a, b| a * b;
    /// Computes `x / y`.
    div |a, b| a / b;
    /// Casts the arrays of `x` to the dtypes of those of `y`.
    cast_like |a, b| a.astype(b.dtype());
}

/// Multiplies a state by a number. Products with a known number have the dtypes of the arrays, but
/// are computed in at least `f32`.
#[track_caller]
pub fn scale<T: Tree>(scalar: impl Into<Hyperparam>, x: &T) -> T {
    let scalar = scalar.into();
    let is_number = scalar.as_number().is_some();
    map(x, |a| {
        let product = &*wide(a) * &scalar;
        if is_number && is_narrow(a.dtype()) {
            product.astype(a.dtype())
        } else {
            product
        }
    })
}

/// Computes `x + scalar · y`. With a known number, the sums have the dtypes of `x + y`, but are
/// computed in at least `f32`.
///
/// # Panics
/// Panics if the states have different paths.
#[track_caller]
pub fn add_scale<T: Tree>(x: &T, scalar: impl Into<Hyperparam>, y: &T) -> T {
    let scalar = scalar.into();
    let is_number = scalar.as_number().is_some();
    zip(x, y, |a, b| {
        let sum = &*wide(a) + &*wide(b) * &scalar;
        if is_number && is_narrow(a.dtype()) && is_narrow(b.dtype()) {
            sum.astype(promote_types(a.dtype(), b.dtype()))
        } else {
            sum
        }
    })
}

/// Computes the square of the magnitude of each element, which is real for complex numbers.
#[track_caller]
pub(crate) fn abs_sq(x: &Array) -> Array {
    if x.dtype().is_complex() {
        x.real().square() + x.imag().square()
    } else {
        x.square()
    }
}

/// Computes the Euclidean norm of all arrays together, 0-d. It is 0 for an empty state.
///
/// ```no_run
/// use ramie_core::{Array, State};
/// use ramie_optim::tree;
/// let state = State::from_iter([("a", Array::from([3.0f32])), ("b", Array::from(4.0f32))]);
/// assert_eq!(tree::norm(&state).item::<f32>(), 5.0);
/// ```
#[track_caller]
pub fn norm<T: Tree>(x: &T) -> Array {
    squared_norm(x).sqrt()
}

/// Computes the square of [`norm`].
#[track_caller]
pub fn squared_norm<T: Tree>(x: &T) -> Array {
    added(leaves(x).iter().map(|a| abs_sq(&wide(a)).sum()))
}

/// Computes the sum of the magnitudes of all elements, 0-d.
#[track_caller]
pub fn l1_norm<T: Tree>(x: &T) -> Array {
    added(leaves(x).iter().map(|a| wide(a).abs().sum()))
}

/// Computes the largest magnitude of all elements, 0-d.
///
/// # Panics
/// Panics if the state has no elements.
#[track_caller]
pub fn max_norm<T: Tree>(x: &T) -> Array {
    let most = max(&map(x, |a| a.abs()));
    wide(&most).into_owned()
}

/// Computes the inner product of all arrays together, 0-d. The arrays of `x` are conjugated.
///
/// # Panics
/// Panics if the states have different paths or shapes.
#[track_caller]
pub fn vdot<T: Tree>(x: &T, y: &T) -> Array {
    let products = zip(x, y, |a, b| {
        assert!(
            a.shape() == b.shape(),
            "tree::vdot: shapes do not match, {} and {}\n  help: pass states with the same paths \
             and shapes",
            a.aval(),
            b.aval()
        );
        conj_of(&wide(a)) * &*wide(b)
    });
    sum(&products)
}

/// Returns the conjugates of complex numbers, and real numbers unchanged.
#[track_caller]
pub(crate) fn conj_of(x: &Array) -> Array {
    if x.dtype().is_complex() {
        x.conj()
    } else {
        x.clone()
    }
}

/// Computes the sum of all elements, 0-d. It is 0 for an empty state.
#[track_caller]
pub fn sum<T: Tree>(x: &T) -> Array {
    added(leaves(x).iter().map(|a| wide(a).sum()))
}

#[track_caller]
fn added(sums: impl Iterator<Item = Array>) -> Array {
    sums.reduce(|a, b| a + b)
        .unwrap_or_else(|| Array::scalar(0.0, DType::F32))
}

/// Computes the largest element, 0-d.
///
/// # Panics
/// Panics if the state has no elements.
#[track_caller]
pub fn max<T: Tree>(x: &T) -> Array {
    extreme("max", x, |a| a.max(), |a, b| a.maximum(b))
}

/// Computes the smallest element, 0-d.
///
/// # Panics
/// Panics if the state has no elements.
#[track_caller]
pub fn min<T: Tree>(x: &T) -> Array {
    extreme("min", x, |a| a.min(), |a, b| a.minimum(b))
}

#[track_caller]
fn extreme<T: Tree>(
    operation: &str,
    x: &T,
    one: impl Fn(&Array) -> Array,
    both: impl Fn(&Array, &Array) -> Array,
) -> Array {
    let leaves = leaves(x);
    let full = leaves.iter().filter(|a| a.size() > 0);
    match full.map(one).reduce(|a, b| both(&a, &b)) {
        Some(found) => found,
        None => panic!("tree::{operation}: the state has no elements"),
    }
}

/// Returns the total number of elements.
pub fn size<T: Tree>(x: &T) -> usize {
    leaves(x).iter().map(Array::size).sum()
}

/// Creates a state of zeros, with `dtype` or the dtypes of the arrays.
#[track_caller]
pub fn zeros_like<T: Tree>(x: &T, dtype: Option<DType>) -> T {
    cast(&map(x, |a| a.zeros_like()), dtype)
}

/// Creates a state of ones, with `dtype` or the dtypes of the arrays.
#[track_caller]
pub fn ones_like<T: Tree>(x: &T, dtype: Option<DType>) -> T {
    full_like(x, 1.0, dtype)
}

/// Creates a state filled with one number, with `dtype` or the dtypes of the arrays.
#[track_caller]
pub fn full_like<T: Tree>(x: &T, value: impl Into<Hyperparam>, dtype: Option<DType>) -> T {
    let value = value.into();
    let wanted = |a: &Array| match dtype {
        Some(dtype) if a.dtype().is_float() => dtype,
        _ => a.dtype(),
    };
    match value.as_number() {
        Some(number) => map(x, |a| {
            a.full_like_with(number, Like::new().dtype(wanted(a)))
        }),
        None => {
            let value = value.into_array();
            map(x, |a| value.astype(wanted(a)).broadcast_to(a.shape()))
        }
    }
}

/// Casts every floating-point array to `dtype`. `None` changes nothing.
#[track_caller]
pub fn cast<T: Tree>(x: &T, dtype: Option<DType>) -> T {
    match dtype {
        Some(dtype) => map(x, |a| cast_float(a, dtype)),
        None => map(x, Array::clone),
    }
}

/// Casts a floating-point array.
#[track_caller]
fn cast_float(x: &Array, dtype: DType) -> Array {
    if x.dtype().is_float() {
        x.astype(dtype)
    } else {
        x.clone()
    }
}

/// Returns the common dtype of all arrays, `f32` for an empty state (`optax.tree.dtype`). For
/// mixed dtypes, use [`lowest_dtype`] and similar functions.
///
/// # Panics
/// Panics if the dtypes differ.
#[track_caller]
pub fn dtype<T: Tree>(x: &T) -> DType {
    let state = State::of(x);
    let mut dtypes = state.iter().map(|(path, a)| (path, a.dtype()));
    let Some((first, dtype)) = dtypes.next() else {
        return DType::F32;
    };
    if let Some((other, found)) = dtypes.find(|(_, d)| *d != dtype) {
        panic!(
            "tree::dtype: the dtypes differ, `{first}` is {dtype}, `{other}` is {found}\n  help: \
             use tree::lowest_dtype, highest_dtype or promoted_dtype"
        );
    }
    dtype
}

/// Returns the dtype to which the dtypes of all arrays promote, `f32` for an empty state
/// (`optax.tree.dtype(x, "promote")`).
#[track_caller]
pub fn promoted_dtype<T: Tree>(x: &T) -> DType {
    let dtypes = leaves(x).into_iter().map(|a| a.dtype());
    dtypes.reduce(promote_types).unwrap_or(DType::F32)
}

/// Returns the narrowest dtype of the arrays, `f32` for an empty state
/// (`optax.tree.dtype(x, "lowest")`).
pub fn lowest_dtype<T: Tree>(x: &T) -> DType {
    first_dtype(x, |a, b| a.bits() < b.bits())
}

/// Returns the widest dtype of the arrays, `f32` for an empty state
/// (`optax.tree.dtype(x, "highest")`).
pub fn highest_dtype<T: Tree>(x: &T) -> DType {
    first_dtype(x, |a, b| a.bits() > b.bits())
}

fn first_dtype<T: Tree>(x: &T, before: impl Fn(DType, DType) -> bool) -> DType {
    let dtypes = leaves(x).into_iter().map(|a| a.dtype());
    dtypes
        .reduce(|a, b| if before(b, a) { b } else { a })
        .unwrap_or(DType::F32)
}

/// Returns the elements of `x` where the condition is true, otherwise those of `y`.
///
/// # Panics
/// Panics if the states have different paths.
#[track_caller]
pub fn where_state<T: Tree>(condition: &Array, x: &T, y: &T) -> T {
    zip(x, y, |a, b| where_(condition, a, b))
}

/// Clips all elements to an interval. A bound of `None` is open.
#[track_caller]
pub fn clip<T: Tree>(x: &T, lo: impl IntoBound, hi: impl IntoBound) -> T {
    let (lo, hi) = (lo.into_bound(), hi.into_bound());
    map(x, |a| a.clip(lo.clone(), hi.clone()))
}

/// Returns whether all elements are close: `|x - y| ≤ atol + rtol · |y|`, 0-d `bool`. The
/// tolerance is a [`Tolerance`], or the pair `(rtol, atol)`.
///
/// # Panics
/// Panics if the states have different paths.
#[track_caller]
pub fn allclose<T: Tree>(x: &T, y: &T, tolerance: impl Into<Tolerance>) -> Array {
    let tolerance = tolerance.into();
    all(&zip(x, y, |a, b| {
        wide(a).allclose_with(&*wide(b), tolerance)
    }))
}

/// Returns whether all booleans, one 0-d `bool` at each path, are true.
#[track_caller]
pub(crate) fn all<T: Tree>(x: &T) -> Array {
    let values = leaves(x).into_iter();
    values
        .reduce(|a, b| a.bitwise_and(&b))
        .unwrap_or_else(|| Array::scalar(true, DType::Bool))
}

/// Returns the real parts.
#[track_caller]
pub fn real<T: Tree>(x: &T) -> T {
    map(x, |a| {
        if a.dtype().is_complex() {
            a.real()
        } else {
            a.clone()
        }
    })
}

/// Returns the complex conjugates.
#[track_caller]
pub fn conj<T: Tree>(x: &T) -> T {
    map(x, conj_of)
}

/// Assigns keys to the paths of the arrays in the order of Optax, which sorts the names of a
/// dictionary at each level.
pub(crate) fn dealt(keys: Vec<Key>, x: &State) -> BTreeMap<String, Key> {
    let mut paths: Vec<&str> = x.paths().collect();
    paths.sort_by(|a, b| a.split('.').cmp(b.split('.')));
    paths.into_iter().map(str::to_owned).zip(keys).collect()
}

/// Draws a random array for each array of `x`: `sampler` draws each of them with its own key
/// (`optax.tree.random_like`). Keys are assigned in the order of the sorted paths, so that the
/// numbers match Optax for parameters in dictionaries.
///
/// ```no_run
/// use ramie_core::{Array, State, random};
/// use ramie_optim::tree;
/// let x = State::from_iter([("w", Array::from([1.0f32, 2.0]))]);
/// let noise = tree::random_like(&random::key(0), &x, |key, a| {
///     random::normal(key, a.shape(), a.dtype())
/// });
/// ```
#[track_caller]
pub fn random_like<T: Tree>(key: &Key, x: &T, sampler: impl Fn(&Key, &Array) -> Array) -> T {
    let keys = split_key_like(key, x);
    tree::map_with_path(x, |path, a| sampler(&keys[path], a))
}

/// Returns one key for each array, by its path, assigned in the order of the sorted paths
/// (`optax.tree.split_key_like`).
#[track_caller]
pub fn split_key_like<T: Tree>(key: &Key, x: &T) -> BTreeMap<String, Key> {
    let state = State::of(x);
    dealt(key.split(state.len()), &state)
}
