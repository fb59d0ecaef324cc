//! Arithmetic on whole states, and arrays found in them by name (`optax.tree`).

mod lookup;

pub use crate::moments::{
    bias_correction, update_infinity_moment, update_moment, update_moment_per_elem_norm,
};
pub use lookup::{get, get_all_with_path, get_where, map_params, map_params_or, set, set_where};

use crate::Hyperparam;
use ramie_core::random::Key;
use ramie_core::{Array, DType, IntoArray, State, where_};
use std::collections::BTreeMap;

macro_rules! pointwise {
    ($( $(#[$doc:meta])* $f:ident |$a:ident, $b:ident| $body:expr; )*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// If the states have different paths, or shapes that do not broadcast.
        #[track_caller]
        pub fn $f(x: &State, y: &State) -> State {
            x.zip(y, |$a, $b| $body)
        }
    )* };
}

pointwise! {
    /// `x + y`.
    add |a, b| a + b;
    /// `x - y`.
    sub |a, b| a - b;
    /// `x · y`.
    mul |a, b| a * b;
    /// `x / y`.
    div |a, b| a / b;
    /// `x` in the element types of `y`.
    cast_like |a, b| a.astype(b.dtype());
}

/// A number times a state.
#[track_caller]
pub fn scale(scalar: impl Into<Hyperparam>, x: &State) -> State {
    let scalar = scalar.into();
    x.map(|a| a * &scalar)
}

/// `x + scalar · y`.
///
/// # Panics
/// If the states have different paths.
#[track_caller]
pub fn add_scale(x: &State, scalar: impl Into<Hyperparam>, y: &State) -> State {
    let scalar = scalar.into();
    x.zip(y, |a, b| a + b * &scalar)
}

/// The square of an array's elements, real for complex ones.
#[track_caller]
pub(crate) fn abs_sq(x: &Array) -> Array {
    if x.dtype().is_complex() {
        x.real().square() + x.imag().square()
    } else {
        x.square()
    }
}

/// The Euclidean norm of all arrays together, 0-d; of none it is 0.
///
/// ```no_run
/// use ramie_core::{Array, State};
/// use ramie_optim::tree;
/// let state = State::from_iter([("a", Array::from([3.0f32])), ("b", Array::from(4.0f32))]);
/// assert_eq!(tree::norm(&state).item::<f32>(), 5.0);
/// ```
#[track_caller]
pub fn norm(x: &State) -> Array {
    squared_norm(x).sqrt()
}

/// The square of [`norm`].
#[track_caller]
pub fn squared_norm(x: &State) -> Array {
    added(x.arrays().iter().map(|a| abs_sq(a).sum()))
}

/// The sum of all magnitudes, 0-d.
#[track_caller]
pub fn l1_norm(x: &State) -> Array {
    added(x.arrays().iter().map(|a| a.abs().sum()))
}

/// The greatest magnitude, 0-d.
///
/// # Panics
/// If the state has no elements.
#[track_caller]
pub fn max_norm(x: &State) -> Array {
    max(&x.map(|a| a.abs()))
}

/// The inner product of all arrays together, those of `x` conjugated: 0-d.
///
/// # Panics
/// If the states have different paths.
#[track_caller]
pub fn vdot(x: &State, y: &State) -> Array {
    let products = x.zip(y, |a, b| {
        assert!(
            a.shape() == b.shape(),
            "tree::vdot: shapes differ, {} and {}\n  help: pass states of the same structure",
            a.aval(),
            b.aval()
        );
        conj_of(a) * b
    });
    sum(&products)
}

/// The conjugates of complex numbers; real ones as they are.
#[track_caller]
pub(crate) fn conj_of(x: &Array) -> Array {
    if x.dtype().is_complex() {
        x.conj()
    } else {
        x.clone()
    }
}

/// The sum of all elements, 0-d; of none it is 0.
#[track_caller]
pub fn sum(x: &State) -> Array {
    added(x.arrays().iter().map(|a| a.sum()))
}

#[track_caller]
fn added(sums: impl Iterator<Item = Array>) -> Array {
    sums.reduce(|a, b| a + b)
        .unwrap_or_else(|| Array::scalar(0.0, DType::F32))
}

/// The greatest element, 0-d.
///
/// # Panics
/// If the state has no elements.
#[track_caller]
pub fn max(x: &State) -> Array {
    extreme("max", x, |a| a.max(), |a, b| a.maximum(b))
}

/// The least element, 0-d.
///
/// # Panics
/// If the state has no elements.
#[track_caller]
pub fn min(x: &State) -> Array {
    extreme("min", x, |a| a.min(), |a, b| a.minimum(b))
}

#[track_caller]
fn extreme(
    operation: &str,
    x: &State,
    one: impl Fn(&Array) -> Array,
    both: impl Fn(&Array, &Array) -> Array,
) -> Array {
    let full = x.arrays().iter().filter(|a| a.size() > 0);
    match full.map(one).reduce(|a, b| both(&a, &b)) {
        Some(found) => found,
        None => panic!("tree::{operation}: the state has no elements"),
    }
}

/// How many elements the arrays have together.
pub fn size(x: &State) -> usize {
    x.arrays().iter().map(Array::size).sum()
}

/// Zeros in the place of every array, in `dtype` or the arrays' own types.
#[track_caller]
pub fn zeros_like(x: &State, dtype: Option<DType>) -> State {
    cast(&x.zeros_like(), dtype)
}

/// Ones in the place of every array, in `dtype` or the arrays' own types.
#[track_caller]
pub fn ones_like(x: &State, dtype: Option<DType>) -> State {
    full_like(x, 1.0, dtype)
}

/// One number in the place of every element, in `dtype` or the arrays' own
/// types.
#[track_caller]
pub fn full_like(x: &State, value: impl Into<Hyperparam>, dtype: Option<DType>) -> State {
    let value = value.into();
    let filled = match value.as_number() {
        Some(number) => x.map(|a| a.full_like(number)),
        None => {
            let value = value.into_array();
            x.map(|a| value.astype(a.dtype()).broadcast_to(a.shape()))
        }
    };
    cast(&filled, dtype)
}

/// The state with every floating-point array in `dtype`, if there is one.
#[track_caller]
pub fn cast(x: &State, dtype: Option<DType>) -> State {
    match dtype {
        Some(dtype) => x.astype(dtype),
        None => x.clone(),
    }
}

/// The element type of all arrays, `f32` for none (`optax.tree.dtype`). Where
/// they differ, see [`lowest_dtype`] and its like.
///
/// # Panics
/// If they differ.
#[track_caller]
pub fn dtype(x: &State) -> DType {
    let mut dtypes = x.iter().map(|(path, a)| (path, a.dtype()));
    let Some((first, dtype)) = dtypes.next() else {
        return DType::F32;
    };
    if let Some((other, found)) = dtypes.find(|(_, d)| *d != dtype) {
        panic!(
            "tree::dtype: `{first}` is {dtype}, `{other}` is {found}\n  help: ask for \
             tree::lowest_dtype, highest_dtype or promoted_dtype"
        );
    }
    dtype
}

/// The element type to which those of all arrays promote
/// (`optax.tree.dtype(x, "promote")`).
#[track_caller]
pub fn promoted_dtype(x: &State) -> DType {
    let dtypes = x.arrays().iter().map(Array::dtype);
    dtypes
        .reduce(ramie_core::promote_types)
        .unwrap_or(DType::F32)
}

/// The narrowest of the arrays' element types, `f32` for none
/// (`optax.tree.dtype(x, "lowest")`).
pub fn lowest_dtype(x: &State) -> DType {
    first_dtype(x, |a, b| a.bits() < b.bits())
}

/// The widest of the arrays' element types, `f32` for none
/// (`optax.tree.dtype(x, "highest")`).
pub fn highest_dtype(x: &State) -> DType {
    first_dtype(x, |a, b| a.bits() > b.bits())
}

fn first_dtype(x: &State, before: impl Fn(DType, DType) -> bool) -> DType {
    let dtypes = x.arrays().iter().map(Array::dtype);
    dtypes
        .reduce(|a, b| if before(b, a) { b } else { a })
        .unwrap_or(DType::F32)
}

/// `x` where the condition holds, else `y`.
///
/// # Panics
/// If the states have different paths.
#[track_caller]
pub fn where_state(condition: &Array, x: &State, y: &State) -> State {
    x.zip(y, |a, b| where_(condition, a, b))
}

/// All elements limited to an interval.
#[track_caller]
pub fn clip(x: &State, lo: impl Into<Hyperparam>, hi: impl Into<Hyperparam>) -> State {
    let (lo, hi) = (lo.into(), hi.into());
    x.map(|a| a.clip(&lo, &hi))
}

/// Whether all elements are close: `|x - y| ≤ atol + rtol · |y|`, 0-d `bool`.
///
/// # Panics
/// If the states have different paths.
#[track_caller]
pub fn allclose(x: &State, y: &State, rtol: f64, atol: f64) -> Array {
    all(&x.zip(y, |a, b| a.allclose_within(b, rtol, atol)))
}

/// Whether all truth values, one 0-d `bool` at each path, are true.
#[track_caller]
pub(crate) fn all(x: &State) -> Array {
    let values = x.arrays().iter().cloned();
    values
        .reduce(|a, b| a.bitwise_and(&b))
        .unwrap_or_else(|| Array::scalar(true, DType::Bool))
}

/// The real parts.
#[track_caller]
pub fn real(x: &State) -> State {
    x.map(|a| {
        if a.dtype().is_complex() {
            a.real()
        } else {
            a.clone()
        }
    })
}

/// The conjugates.
#[track_caller]
pub fn conj(x: &State) -> State {
    x.map(conj_of)
}

/// Keys by the arrays' paths, dealt in the order of Optax, which sorts the names
/// of a dictionary at each level.
pub(crate) fn dealt(keys: Vec<Key>, x: &State) -> BTreeMap<String, Key> {
    let mut paths: Vec<&str> = x.paths().collect();
    paths.sort_by(|a, b| a.split('.').cmp(b.split('.')));
    paths.into_iter().map(str::to_owned).zip(keys).collect()
}

/// Random arrays in the place of all arrays: `sampler` draws each of them with
/// a key of its own (`optax.tree.random_like`). Keys are dealt in the order of
/// the sorted paths, so that the numbers are those of Optax for parameters in
/// dictionaries.
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
pub fn random_like(key: &Key, x: &State, sampler: impl Fn(&Key, &Array) -> Array) -> State {
    let keys = split_key_like(key, x);
    x.map_with_path(|path, a| sampler(&keys[path], a))
}

/// A key for each array, by its path, dealt in the order of the sorted paths
/// (`optax.tree.split_key_like`).
#[track_caller]
pub fn split_key_like(key: &Key, x: &State) -> BTreeMap<String, Key> {
    dealt(key.split(x.len()), x)
}
