//! Arithmetic in at least `f32`. In `bf16` 0.999 is 1, in `f16` 1e-8 is 0 and 300² is infinite.

use ramie_core::{Array, DType, State};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Returns whether a dtype is a float of fewer than 32 bits.
pub(crate) fn is_narrow(dtype: DType) -> bool {
    dtype.is_float() && dtype.bits() < 32
}

/// Returns `f32` for narrower floats, otherwise the dtype itself.
pub(crate) fn wide_dtype(dtype: DType) -> DType {
    if is_narrow(dtype) { DType::F32 } else { dtype }
}

/// Returns the dtype of numbers that belong to all of these arrays: `f64` if all floating-point
/// arrays have 64 bits for each real number, otherwise `f32`.
pub(crate) fn number_dtype(x: &State) -> DType {
    let mut inexact = x.arrays().iter().map(Array::dtype).filter(is_inexact);
    let first = inexact.next().is_some_and(is_double);
    if first && inexact.all(is_double) {
        DType::F64
    } else {
        DType::F32
    }
}

/// Returns `f64` if an array has 64 bits for each real number, otherwise `f32`.
pub(crate) fn highest_number_dtype(x: &State) -> DType {
    if x.arrays().iter().map(Array::dtype).any(is_double) {
        DType::F64
    } else {
        DType::F32
    }
}

fn is_inexact(dtype: &DType) -> bool {
    dtype.is_float() || dtype.is_complex()
}

fn is_double(dtype: DType) -> bool {
    matches!(dtype, DType::F64 | DType::C128)
}

/// Converts an array of a narrow dtype to `f32`.
#[track_caller]
pub(crate) fn wide(x: &Array) -> Cow<'_, Array> {
    if is_narrow(x.dtype()) {
        Cow::Owned(x.astype(DType::F32))
    } else {
        Cow::Borrowed(x)
    }
}

/// Returns whether a state has an array of a narrow dtype.
pub(crate) fn has_narrow(x: &State) -> bool {
    x.arrays().iter().any(|a| is_narrow(a.dtype()))
}

/// Converts the arrays of narrow dtypes to `f32`.
#[track_caller]
pub(crate) fn wide_state(x: &State) -> Cow<'_, State> {
    if has_narrow(x) {
        Cow::Owned(x.map(|a| wide(a).into_owned()))
    } else {
        Cow::Borrowed(x)
    }
}

/// Converts the arrays of narrow dtypes to `f32`.
#[track_caller]
pub(crate) fn into_wide(x: State) -> State {
    if has_narrow(&x) {
        wide_state(&x).into_owned()
    } else {
        x
    }
}

/// Casts the arrays of a state to the dtypes of those of another state at the same paths.
#[track_caller]
pub(crate) fn narrowed(x: &State, like: &State) -> State {
    x.map_with_path(|path, a| match like.get(path) {
        Some(like) if is_narrow(like.dtype()) => a.astype(like.dtype()),
        _ => a.clone(),
    })
}

/// Applies a map of states in at least `f32` and casts the result to the narrow dtypes of `x`.
#[track_caller]
pub(crate) fn widely(x: &State, f: impl FnOnce(&State) -> State) -> State {
    if has_narrow(x) {
        narrowed(&f(&wide_state(x)), x)
    } else {
        f(x)
    }
}

/// The narrow dtypes of the gradients that a user passes, by path.
pub(crate) struct NarrowDtypes(BTreeMap<String, DType>);

impl NarrowDtypes {
    /// Returns the narrow dtypes of the gradients whose parameters are narrow, too, and of the
    /// parameters without a gradient at their path.
    pub(crate) fn of(updates: &State, params: Option<&State>) -> Option<NarrowDtypes> {
        let of_param = |path: &str| Some(params?.get(path)?.dtype());
        let gradients = updates.iter();
        let gradients = gradients.filter(|(path, _)| of_param(path).is_none_or(is_narrow));
        let others = params.into_iter().flat_map(State::iter);
        let others = others.filter(|(path, _)| updates.get(path).is_none());
        let all = gradients.chain(others);
        let narrow = all.filter(|(_, a)| is_narrow(a.dtype()));
        let found: BTreeMap<String, DType> = narrow
            .map(|(path, a)| (path.to_owned(), a.dtype()))
            .collect();
        (!found.is_empty()).then_some(NarrowDtypes(found))
    }

    /// Casts updates to these dtypes.
    #[track_caller]
    pub(crate) fn cast(&self, updates: &State) -> State {
        updates.map_with_path(|path, u| match self.0.get(path) {
            Some(dtype) if u.dtype().is_float() => u.astype(*dtype),
            _ => u.clone(),
        })
    }
}
