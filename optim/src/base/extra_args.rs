//! `ExtraArgs`: additional arguments of `update_with`.

use crate::base::mistake::refuse;
use crate::base::wide::{has_narrow, into_wide, is_narrow, narrowed, wide, wide_state};
use ramie_core::{Array, State};
use std::collections::BTreeMap;
use std::fmt;

/// Additional arguments that some transformations need besides updates, state and parameters: the
/// value of the objective, its gradients, and the objective itself.
///
/// A [`chain`](crate::chain) passes them to every transformation; most ignore them.
///
/// ```
/// use ramie_core::{Array, State};
/// use ramie_optim::ExtraArgs;
/// # let (loss, grads) = (Array::from(1.0f32), State::new());
/// let objective = |params: &State| params.arrays()[0].square();
/// let extra = ExtraArgs::new().value(&loss).grad(&grads).value_fn(&objective);
/// ```
#[derive(Clone, Default)]
pub struct ExtraArgs<'a> {
    value: Option<Array>,
    grad: Option<State>,
    value_fn: Option<&'a (dyn Fn(&State) -> Array + Send + Sync)>,
    grad_fn: Option<&'a (dyn Fn(&State, usize) -> State + Send + Sync)>,
    named: BTreeMap<String, Array>,
}

impl<'a> ExtraArgs<'a> {
    /// Creates an empty set of arguments.
    pub fn new() -> ExtraArgs<'a> {
        ExtraArgs::default()
    }

    /// Sets the value of the objective at the parameters.
    #[must_use]
    pub fn value(mut self, value: &Array) -> ExtraArgs<'a> {
        self.value = Some(value.clone());
        self
    }

    /// Sets the gradients at the parameters, before any transformation.
    #[must_use]
    pub fn grad(mut self, grad: &State) -> ExtraArgs<'a> {
        self.grad = Some(grad.clone());
        self
    }

    /// Replaces the leaf kind of the gradients, which must match that of the parameters and
    /// updates.
    #[must_use]
    pub fn with_kind(mut self, kind: Option<&'static str>) -> ExtraArgs<'a> {
        self.grad = self.grad.map(|grad| grad.with_kind(kind));
        self
    }

    /// Sets the objective, which line searches evaluate at other parameters.
    #[must_use]
    pub fn value_fn(
        mut self,
        value_fn: &'a (dyn Fn(&State) -> Array + Send + Sync),
    ) -> ExtraArgs<'a> {
        self.value_fn = Some(value_fn);
        self
    }

    /// Sets the function that computes gradients at other parameters, given the number of the
    /// inner step. [`sam`](crate::contrib::sam) calls it in opaque mode.
    #[must_use]
    pub fn grad_fn(
        mut self,
        grad_fn: &'a (dyn Fn(&State, usize) -> State + Send + Sync),
    ) -> ExtraArgs<'a> {
        self.grad_fn = Some(grad_fn);
        self
    }

    /// Sets a named array, for custom transformations.
    #[must_use]
    pub fn named(mut self, name: &str, array: &Array) -> ExtraArgs<'a> {
        self.named.insert(name.to_owned(), array.clone());
        self
    }

    /// Returns the array with the given name.
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.named.get(name)
    }

    /// Returns the value of the objective.
    ///
    /// # Panics
    /// Panics with a message that names `operation` if the value is missing.
    #[track_caller]
    pub fn expect_value(&self, operation: &str) -> &Array {
        given(
            &self.value,
            operation,
            "the value of the objective",
            "value(&loss)",
        )
    }

    /// Returns the gradients before any transformation.
    ///
    /// # Panics
    /// Panics with a message that names `operation` if the gradients are missing.
    #[track_caller]
    pub fn expect_grad(&self, operation: &str) -> &State {
        given(&self.grad, operation, "the gradients", "grad(&grads)")
    }

    /// Returns the objective.
    ///
    /// # Panics
    /// Panics with a message that names `operation` if the objective is missing.
    #[track_caller]
    pub fn expect_value_fn(&self, operation: &str) -> &'a (dyn Fn(&State) -> Array + Send + Sync) {
        *given(
            &self.value_fn,
            operation,
            "the objective",
            "value_fn(&objective)",
        )
    }

    /// Returns the function that computes gradients.
    ///
    /// # Panics
    /// Panics with a message that names `operation` if the function is missing.
    #[track_caller]
    pub fn expect_grad_fn(
        &self,
        operation: &str,
    ) -> &'a (dyn Fn(&State, usize) -> State + Send + Sync) {
        *given(
            &self.grad_fn,
            operation,
            "the gradient function",
            "grad_fn(&gradients)",
        )
    }

    /// Returns the arguments with `f` applied to the gradients, if there are any.
    pub(crate) fn map_grad(&self, f: impl FnOnce(&State) -> State) -> ExtraArgs<'a> {
        let mut extra = self.clone();
        extra.grad = self.grad.as_ref().map(f);
        extra
    }

    /// Calls `f` with arguments in at least `f32`. The objective and the gradient function still
    /// receive parameters in the dtypes of `params`, but return at least `f32`.
    pub(crate) fn widely<R>(
        &self,
        params: Option<&State>,
        f: impl FnOnce(&ExtraArgs<'_>) -> R,
    ) -> R {
        let value_is_narrow = self.value.as_ref().is_some_and(|v| is_narrow(v.dtype()));
        let narrow_states = [params, self.grad.as_ref()];
        if !value_is_narrow && !narrow_states.into_iter().flatten().any(has_narrow) {
            return f(self);
        }
        let at = |p: &State| match params {
            Some(params) => narrowed(p, params),
            None => p.clone(),
        };
        let value_fn = self
            .value_fn
            .map(|of| move |p: &State| wide(&of(&at(p))).into_owned());
        let grad_fn = self
            .grad_fn
            .map(|of| move |p: &State, i: usize| into_wide(of(&at(p), i)));
        let extra = ExtraArgs {
            value: self.value.as_ref().map(|v| wide(v).into_owned()),
            grad: self.grad.as_ref().map(|g| wide_state(g).into_owned()),
            value_fn: value_fn.as_ref().map(|f| f as &_),
            grad_fn: grad_fn.as_ref().map(|f| f as &_),
            named: self.named.clone(),
        };
        f(&extra)
    }
}

#[track_caller]
fn given<'s, T>(found: &'s Option<T>, operation: &str, what: &str, call: &str) -> &'s T {
    match found {
        Some(found) => found,
        None => refuse(&format!(
            "{operation}: `update` was called without {what}\n  help: call `update_with` with \
             &ExtraArgs::new().{call} as its last argument"
        )),
    }
}

impl fmt::Debug for ExtraArgs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtraArgs")
            .field("value", &self.value.as_ref().map(Array::aval))
            .field("grad", &self.grad)
            .field("value_fn", &self.value_fn.is_some())
            .field("grad_fn", &self.grad_fn.is_some())
            .field("named", &self.named.keys())
            .finish()
    }
}

/// Returns the parameters, for a transformation that needs them.
///
/// # Panics
/// Panics if `params` is `None`.
#[track_caller]
pub(crate) fn expect_params<'s>(operation: &str, params: Option<&'s State>) -> &'s State {
    match params {
        Some(params) => params,
        None => refuse(&format!(
            "{operation}: `update` was called without parameters\n  help: pass Some(&params) as \
             its last argument"
        )),
    }
}
