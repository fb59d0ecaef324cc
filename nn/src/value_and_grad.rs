//! Gradients of models.

use crate::Param;
use crate::model::{self, Filter, of_type};
use ramie_core::options::HasAux;
use ramie_core::typing::Objective;
use ramie_core::{Array, State, Tree, vjp_with};
use std::panic::Location;

/// Computes the value of a function of a model and its gradient with respect to the model's
/// parameters (`nnx.value_and_grad`).
///
/// The function returns a scalar loss, or `(loss, aux)`, and captures its other inputs. It may
/// update the model's state, such as statistics and counters; afterwards `model` has the
/// updated state. The gradients are a [`State`] with the paths of the parameters.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{Param, Tree, value_and_grad};
/// #[derive(Tree)]
/// struct Scale { factor: Param, calls: Array }
/// let factor = Param::new(Array::scalar(3.0, DType::F32));
/// let mut model = Scale { factor, calls: Array::scalar(0, DType::I32) };
/// let (loss, grads) = value_and_grad(&mut model, |m| {
///     m.calls += 1;
///     m.factor.square()
/// });
/// assert_eq!(loss.item::<f32>(), 9.0);
/// assert_eq!(grads.get("factor").map(|g| g.item::<f32>()), Some(6.0));
/// assert_eq!(model.calls.item::<i32>(), 1);
/// ```
///
/// # Panics
/// Panics if the model has no parameters, if a parameter does not have a floating-point dtype,
/// or if the loss is not a floating-point scalar.
#[track_caller]
pub fn value_and_grad<M: Tree, R: Objective>(
    model: &mut M,
    f: impl FnOnce(&mut M) -> R,
) -> (R, State) {
    value_and_grad_wrt(model, of_type::<Param>(), f)
}

/// Computes the gradient of a function of a model with respect to the model's parameters
/// (`nnx.grad`); see [`value_and_grad`].
///
/// # Panics
/// Panics as [`value_and_grad`] does.
#[track_caller]
pub fn grad<M: Tree, R: Objective>(model: &mut M, f: impl FnOnce(&mut M) -> R) -> State {
    value_and_grad(model, f).1
}

/// Like [`value_and_grad`], but differentiates with respect to the leaves that a filter accepts
/// (`nnx.value_and_grad` with `wrt`).
///
/// # Panics
/// Panics as [`value_and_grad`] does, for the accepted leaves.
#[track_caller]
pub fn value_and_grad_wrt<M: Tree, R: Objective>(
    model: &mut M,
    wrt: impl Filter,
    f: impl FnOnce(&mut M) -> R,
) -> (R, State) {
    const OPERATION: &str = "value_and_grad";
    let params = parameters(OPERATION, model, wrt);
    differentiate(OPERATION, Location::caller(), model, params, f)
}

/// Returns the leaves of a model to differentiate with respect to.
#[track_caller]
pub(crate) fn parameters<M: Tree>(operation: &str, model: &M, wrt: impl Filter) -> State {
    let params = model::state(model, wrt);
    assert!(
        !params.is_empty(),
        "{operation}: the model has no parameters to differentiate with respect to\n  help: use \
         `Param` for parameters, and derive Tree or Module for the layers that own them"
    );
    for (path, array) in params.iter() {
        assert!(
            array.dtype().is_float(),
            "{operation}: `{path}` is {}, but only floating-point leaves can be \
             differentiated\n  help: use another kind of variable than `Param` for it",
            array.aval()
        );
    }
    params
}

/// Computes the value of a function of a model and its gradient with respect to the leaves
/// `params` of the model.
#[track_caller]
pub(crate) fn differentiate<M: Tree, R: Objective>(
    operation: &str,
    at: &Location<'_>,
    model: &mut M,
    params: State,
    f: impl FnOnce(&mut M) -> R,
) -> (R, State) {
    // Return the traced copy as an auxiliary value: this passes out its new arrays and the
    // static values that the function may have changed.
    let mut copy = model::copy(model);
    let traced = move |params: State| {
        params.update(&mut copy).expect("the model's own paths");
        let out = f(&mut copy);
        let loss = out.loss().clone();
        check_loss(operation, &loss, at);
        (loss, (out, copy))
    };
    let (loss, pull, (out, after)) = vjp_with(traced, params, HasAux);
    model::replace(model, after);
    let grads = pull(Array::scalar(1.0, loss.dtype()));
    (out, grads)
}

fn check_loss(operation: &str, loss: &Array, at: &Location<'_>) {
    let (aval, dtype) = (loss.aval(), loss.dtype());
    assert!(
        aval.ndim() == 0 && dtype.is_float(),
        "{operation}: the function must return a floating-point scalar loss, but it returned \
         {aval}\n  called at {at}\n  help: {}",
        match dtype {
            d if d.is_float() => "reduce it, for example with .mean() or .sum()",
            d if d.is_complex() => "return a real part: .real(), .imag() or .abs()",
            _ => "convert it with astype(DType::F32)",
        }
    );
}
