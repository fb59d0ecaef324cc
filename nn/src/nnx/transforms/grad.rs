//! Derivatives of functions that change a model.

use super::{copy, replace};
use crate::Param;
use crate::model::{self, Filter, Leaf, of_type};
use ramie_core::options::HasAux;
use ramie_core::text::listed;
use ramie_core::typing::Objective;
use ramie_core::{State, Tree, vjp_with};

pub use crate::value_and_grad::{grad, value_and_grad, value_and_grad_wrt};

/// Selects the leaves of one of several models that a filter accepts (`nnx.DiffState`). The
/// filter sees paths within that model.
///
/// ```
/// use ramie_core::Array;
/// use ramie_nn::nnx::{self, DiffState, of_type};
/// use ramie_nn::Param;
/// let mut a = Param::new(Array::from(2.0f32));
/// let mut b = Param::new(Array::from(3.0f32));
/// let only_b = DiffState::new(1, of_type::<Param>());
/// let grads = nnx::together((&mut a, &mut b), |both| {
///     nnx::grad_wrt(both, only_b, |(a, b)| &**a * &**b)
/// });
/// assert_eq!(grads.paths().collect::<Vec<_>>(), ["1"]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DiffState<F> {
    model: usize,
    filter: F,
}

impl<F: Filter> DiffState<F> {
    /// Creates a filter for the model at index `model` of a tuple.
    pub fn new(model: usize, filter: F) -> DiffState<F> {
        DiffState { model, filter }
    }
}

impl<F: Filter> Filter for DiffState<F> {
    fn accepts(&self, leaf: &Leaf<'_>) -> bool {
        let (first, path) = leaf.path.split_once('.').unwrap_or((leaf.path, ""));
        first == self.model.to_string() && self.filter.accepts(&Leaf { path, ..*leaf })
    }
}

/// Computes the gradient of a function of a model with respect to the leaves that a filter
/// accepts (`nnx.grad` with `DiffState`).
///
/// # Panics
/// Panics as [`value_and_grad`] does.
#[track_caller]
pub fn grad_wrt<M: Tree, R: Objective>(
    model: &mut M,
    wrt: impl Filter,
    f: impl FnOnce(&mut M) -> R,
) -> State {
    value_and_grad_wrt(model, wrt, f).1
}

/// Returns the result of a function of a model, and a function that maps cotangents of the
/// result to those of the model's parameters (`nnx.vjp`).
///
/// ```
/// use ramie_core::Array;
/// use ramie_nn::{Param, nnx};
/// let mut w = (Param::new(Array::from([2.0f32, 3.0])),);
/// let (y, pull) = nnx::vjp(&mut w, |w| w.0.square());
/// assert_eq!(pull(Array::from([1.0f32, 10.0]))["0"].to_vec::<f32>(), [4.0, 60.0]);
/// ```
///
/// # Panics
/// Panics if the model has no parameters. The returned function panics if its argument does not
/// have the structure and types of the result.
#[track_caller]
pub fn vjp<M: Tree, R: Tree, F: FnOnce(&mut M) -> R>(
    model: &mut M,
    f: F,
) -> (R, impl Fn(R) -> State + Send + Sync + use<M, R, F>) {
    let params = model::state(model, of_type::<Param>());
    assert!(
        !params.is_empty(),
        "nnx::vjp: the model has no parameters to differentiate with respect to\n  help: use \
         `Param` for parameters, and derive Tree or Module for the layers that own them"
    );
    let mut inside = copy(model);
    let traced = move |params: State| {
        model::update(&mut inside, params);
        let out = f(&mut inside);
        (out, inside)
    };
    let (out, pull, after) = vjp_with(traced, params, HasAux);
    replace(model, after);
    (out, pull)
}

/// Returns the result of a function of a model, and its derivative along tangents of some of
/// the model's leaves (`nnx.jvp`).
///
/// ```
/// use ramie_core::{Array, State};
/// use ramie_nn::{Param, nnx};
/// let mut w = (Param::new(Array::from(3.0f32)),);
/// let tangents = State::from_iter([("0", Array::from(1.0f32))]);
/// let (y, dy) = nnx::jvp(&mut w, tangents, |w| w.0.square());
/// assert_eq!((y.item::<f32>(), dy.item::<f32>()), (9.0, 6.0));
/// ```
///
/// # Panics
/// Panics if a tangent belongs to no leaf of the model, or has another type than its leaf.
#[track_caller]
pub fn jvp<M: Tree, R: Tree>(
    model: &mut M,
    tangents: State,
    f: impl FnOnce(&mut M) -> R,
) -> (R, R) {
    let all = State::of(model);
    let unknown: Vec<&str> = tangents.paths().filter(|p| all.get(p).is_none()).collect();
    assert!(
        unknown.is_empty(),
        "nnx::jvp: the tangents contain {}, which the model does not have\n  help: pass a State \
         with paths of the model, such as nnx::state(&model, of_type::<Param>())",
        listed(&unknown)
    );
    let primals = tangents.map_with_path(|path, _| all[path].clone());
    let mut inside = copy(model);
    let traced = move |primals: State| {
        model::update(&mut inside, primals);
        let out = f(&mut inside);
        (out, inside)
    };
    let ((out, after), (tangent, _)) = ramie_core::jvp(traced, primals, tangents);
    replace(model, after);
    (out, tangent)
}
