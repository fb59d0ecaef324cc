//! `ExtraArgs`: what some transformations need besides gradients.

use crate::mistake::refuse;
use ramie_core::{Array, State};
use std::collections::BTreeMap;
use std::fmt;

/// What some transformations need besides updates, state and parameters: the
/// value of the objective, its gradients, the objective itself.
///
/// Every transformation of a [`chain`](crate::chain) sees them; most ignore
/// them.
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
    /// Nothing yet.
    pub fn new() -> ExtraArgs<'a> {
        ExtraArgs::default()
    }

    /// The value of the objective at the parameters.
    #[must_use]
    pub fn value(mut self, value: &Array) -> ExtraArgs<'a> {
        self.value = Some(value.clone());
        self
    }

    /// The gradients at the parameters, before any transformation.
    #[must_use]
    pub fn grad(mut self, grad: &State) -> ExtraArgs<'a> {
        self.grad = Some(grad.clone());
        self
    }

    /// The same, with gradients of leaves of another kind: that of the
    /// parameters and updates that they go with.
    #[must_use]
    pub fn with_kind(mut self, kind: Option<&'static str>) -> ExtraArgs<'a> {
        self.grad = self.grad.map(|grad| grad.with_kind(kind));
        self
    }

    /// The objective: line searches evaluate it at other parameters.
    #[must_use]
    pub fn value_fn(
        mut self,
        value_fn: &'a (dyn Fn(&State) -> Array + Send + Sync),
    ) -> ExtraArgs<'a> {
        self.value_fn = Some(value_fn);
        self
    }

    /// Gradients at other parameters, for the number of an inner step:
    /// [`sam`](crate::contrib::sam) in opaque mode asks for them.
    #[must_use]
    pub fn grad_fn(
        mut self,
        grad_fn: &'a (dyn Fn(&State, usize) -> State + Send + Sync),
    ) -> ExtraArgs<'a> {
        self.grad_fn = Some(grad_fn);
        self
    }

    /// An array under a name, for transformations of one's own.
    #[must_use]
    pub fn named(mut self, name: &str, array: &Array) -> ExtraArgs<'a> {
        self.named.insert(name.to_owned(), array.clone());
        self
    }

    /// The array under a name.
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.named.get(name)
    }

    /// The value of the objective.
    ///
    /// # Panics
    /// If `update` was not given it; the message names `operation`.
    #[track_caller]
    pub fn expect_value(&self, operation: &str) -> &Array {
        given(
            &self.value,
            operation,
            "the value of the objective",
            "value(&loss)",
        )
    }

    /// The gradients before any transformation.
    ///
    /// # Panics
    /// If `update` was not given them; the message names `operation`.
    #[track_caller]
    pub fn expect_grad(&self, operation: &str) -> &State {
        given(&self.grad, operation, "the gradients", "grad(&grads)")
    }

    /// The objective.
    ///
    /// # Panics
    /// If `update` was not given it; the message names `operation`.
    #[track_caller]
    pub fn expect_value_fn(&self, operation: &str) -> &'a (dyn Fn(&State) -> Array + Send + Sync) {
        *given(
            &self.value_fn,
            operation,
            "the objective",
            "value_fn(&objective)",
        )
    }

    /// The gradients' function.
    ///
    /// # Panics
    /// If `update` was not given it; the message names `operation`.
    #[track_caller]
    pub fn expect_grad_fn(
        &self,
        operation: &str,
    ) -> &'a (dyn Fn(&State, usize) -> State + Send + Sync) {
        *given(
            &self.grad_fn,
            operation,
            "the function of the gradients",
            "grad_fn(&gradients)",
        )
    }

    /// The arguments with their gradients replaced, where they have them.
    pub(crate) fn map_grad(&self, f: impl FnOnce(&State) -> State) -> ExtraArgs<'a> {
        let mut extra = self.clone();
        extra.grad = self.grad.as_ref().map(f);
        extra
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

/// The parameters that a transformation needs.
///
/// # Panics
/// If `update` was not given them.
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
