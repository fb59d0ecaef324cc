//! Arithmetic on whole states, and arrays found in them by name (`optax.tree`).

use crate::Hyperparam;
use ramie_core::random::Key;
use ramie_core::tree::{self, Tree};
use ramie_core::{Array, DType, IntoArray, State, where_};

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

/// The element type that all arrays can be converted to without a loss, of
/// those they have.
#[track_caller]
pub(crate) fn lowest_dtype(x: &State) -> DType {
    narrowest(x, |a, b| a.bits() < b.bits())
}

/// The widest of the arrays' element types.
#[track_caller]
pub(crate) fn highest_dtype(x: &State) -> DType {
    narrowest(x, |a, b| a.bits() > b.bits())
}

fn narrowest(x: &State, before: impl Fn(DType, DType) -> bool) -> DType {
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
    let close = x.zip(y, |a, b| a.allclose_within(b, rtol, atol));
    let all = close.arrays().iter().cloned();
    all.reduce(|a, b| a.bitwise_and(&b))
        .unwrap_or_else(|| Array::from(true))
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

/// The arrays' paths in the order of Optax, which sorts the names of a
/// dictionary at each level.
fn sorted_paths(x: &State) -> Vec<&str> {
    let mut paths: Vec<&str> = x.paths().collect();
    paths.sort_by(|a, b| a.split('.').cmp(b.split('.')));
    paths
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
    let paths = sorted_paths(x);
    let keys = key.split(paths.len());
    x.map_with_path(|path, a| {
        let at = paths.iter().position(|p| *p == path);
        sampler(&keys[at.expect("a path of the state")], a)
    })
}

/// `true` for the paths that are `key` or end in it.
fn named(path: &str, key: &str) -> bool {
    path == key
        || path
            .strip_suffix(key)
            .is_some_and(|front| front.ends_with('.'))
}

/// The arrays of any tree whose path ends in `key`, with their paths
/// (`optax.tree.get_all_with_path`).
pub fn get_all_with_path<T: Tree>(x: &T, key: &str) -> Vec<(String, Array)> {
    let mut found = Vec::new();
    tree::for_each_with_path(x, |path, _, array| {
        if named(path, key) {
            found.push((path.to_owned(), array.clone()));
        }
    });
    found
}

/// The only array of a tree whose path ends in `key`: what is called
/// `learning_rate` in the state of an optimizer, say (`optax.tree.get`).
///
/// ```no_run
/// use ramie_core::{Array, State};
/// use ramie_optim::{GradientTransformation, inject_hyperparams, sgd, tree};
/// let params = State::from_iter([("w", Array::from(1.0f32))]);
/// let tx = inject_hyperparams([("learning_rate", 0.1)], |h| sgd(h.get("learning_rate")));
/// let state = GradientTransformation::from(tx).init(&params);
/// let rate = tree::get(&state, "learning_rate").expect("it is there");
/// assert_eq!(rate.item::<f32>(), 0.1);
/// ```
///
/// # Panics
/// If there are several; the message lists them.
#[track_caller]
pub fn get<T: Tree>(x: &T, key: &str) -> Option<Array> {
    let mut found = get_all_with_path(x, key);
    assert!(
        found.len() < 2,
        "tree::get: several arrays are called `{key}`: {}\n  help: give more of the path, `{}`",
        found
            .iter()
            .map(|(p, _)| p.as_str())
            .collect::<Vec<_>>()
            .join(", "),
        found[0].0
    );
    found.pop().map(|(_, array)| array)
}

/// Sets every array of a tree whose path ends in `key`, in the array's element
/// type (`optax.tree.set`).
///
/// ```no_run
/// # use ramie_core::{Array, State};
/// # use ramie_optim::{GradientTransformation, adam, tree};
/// # let params = State::from_iter([("w", Array::from(1.0f32))]);
/// let mut state = GradientTransformation::from(adam(0.1)).init(&params);
/// tree::set(&mut state, "count", 10);
/// ```
///
/// # Panics
/// If there is none, or a shape differs.
#[track_caller]
pub fn set<T: Tree>(x: &mut T, key: &str, value: impl IntoArray) {
    let value = value.into_array();
    let paths = tree::paths(x);
    let places: Vec<bool> = paths.iter().map(|p| named(p, key)).collect();
    assert!(
        places.contains(&true),
        "tree::set: no array is called `{key}`\n  help: there are {}",
        paths.join(", ")
    );
    let mut next = places.into_iter();
    x.walk_mut(&mut |array| {
        if next.next() == Some(true) {
            assert!(
                array.shape() == value.shape(),
                "tree::set: `{key}` is {}, the new value {}",
                array.aval(),
                value.aval()
            );
            *array = value.astype(array.dtype());
        }
    });
}
