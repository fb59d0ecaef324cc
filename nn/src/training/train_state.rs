//! `TrainState`: parameters, optimizer and step count.

use super::ApplyFn;
use crate::linen::Variables;
use crate::optimizer::moved;
use ramie_core::text::listed;
use ramie_core::{Array, DType, State};
use ramie_derive::Tree;
use ramie_optim::{ExtraArgs, GradientTransformation, OptState, safe_increment};

/// The state of a training run of a Linen model (`flax.training.train_state.TrainState`): the
/// step count, the parameters, the optimizer and its state. `extra` contains any other state of
/// the model, such as batch statistics, averaged parameters, or a
/// [`DynamicScale`](super::DynamicScale): a tuple, or a struct that derives
/// [`Tree`](ramie_core::Tree).
///
/// It is a pytree and can be the state of a compiled train step.
///
/// ```
/// use ramie_core::{Array, DType, jit, value_and_grad};
/// use ramie_nn::linen::{Dense, Module, Variables};
/// use ramie_nn::training::TrainState;
/// use ramie_optim::sgd;
///
/// let model = Dense::new(2);
/// let x = Array::ones(&[4, 3], DType::F32);
/// let variables = model.init(0, x.clone());
/// let mut state = TrainState::create(variables.params(), sgd(0.1));
/// let step = jit(move |state: &mut TrainState, x: Array| {
///     let loss = |params| model.apply(&Variables::from_params(params), x.clone()).square().mean();
///     let (loss, grads) = value_and_grad(loss)(state.params.clone());
///     state.apply_gradients(grads);
///     loss
/// });
/// let before = step(&mut state, x.clone()).item::<f32>();
/// let after = step(&mut state, x).item::<f32>();
/// assert!(after < before);
/// assert_eq!(state.step.item::<i32>(), 2);
/// ```
#[derive(Clone, Debug, Tree)]
pub struct TrainState<X: ramie_core::Tree = ()> {
    /// Number of updates so far, 0-d `i32`.
    pub step: Array,
    /// The parameters.
    pub params: State,
    /// The forward computation, if any; [`apply_fn`](TrainState::apply_fn) calls it.
    #[tree(fixed)]
    pub apply_fn: Option<ApplyFn>,
    /// The transformation from gradients to updates.
    pub tx: GradientTransformation,
    /// The state of the transformation.
    pub opt_state: OptState,
    /// Any other state of the model.
    pub extra: X,
}

impl TrainState {
    /// Creates the state before the first step.
    #[track_caller]
    pub fn create(params: State, tx: impl Into<GradientTransformation>) -> TrainState {
        TrainState::create_with(params, tx, ())
    }
}

impl<X: ramie_core::Tree> TrainState<X> {
    /// Creates the state before the first step, for a model with other state besides its
    /// parameters.
    ///
    /// ```
    /// use ramie_core::{Array, DType, State};
    /// use ramie_nn::{Tree, training::TrainState};
    /// use ramie_optim::sgd;
    /// #[derive(Tree)]
    /// struct Extra { batch_stats: State, ema: State }
    /// # let (params, batch_stats) = (State::new(), State::new());
    /// let extra = Extra { batch_stats, ema: params.clone() };
    /// let state = TrainState::create_with(params, sgd(0.1), extra);
    /// ```
    #[track_caller]
    pub fn create_with(
        params: State,
        tx: impl Into<GradientTransformation>,
        extra: X,
    ) -> TrainState<X> {
        let tx = tx.into();
        TrainState {
            step: Array::scalar(0, DType::I32),
            opt_state: tx.init(&params),
            params,
            apply_fn: None,
            tx,
            extra,
        }
    }

    /// Sets the forward computation, usually the `apply` of a model (the argument `apply_fn` of
    /// Flax's `create`). A step can then be written without the model.
    ///
    /// ```
    /// use ramie_core::{Array, DType, jit, value_and_grad};
    /// use ramie_nn::linen::{Dense, Module, Variables};
    /// use ramie_nn::training::TrainState;
    /// use ramie_optim::sgd;
    ///
    /// let model = Dense::new(2);
    /// let x = Array::ones(&[4, 3], DType::F32);
    /// let params = model.init(0, x.clone()).params();
    /// let mut state = TrainState::create(params, sgd(0.1))
    ///     .with_apply_fn(move |variables, x: Array| model.apply(variables, x));
    /// let step = jit(|state: &mut TrainState, x: Array| {
    ///     let loss = |params| {
    ///         let y: Array = state.apply_fn(&Variables::from_params(params), x.clone());
    ///         y.square().mean()
    ///     };
    ///     let (loss, grads) = value_and_grad(loss)(state.params.clone());
    ///     state.apply_gradients(grads);
    ///     loss
    /// });
    /// let before = step(&mut state, x.clone()).item::<f32>();
    /// assert!(step(&mut state, x).item::<f32>() < before);
    /// ```
    #[must_use]
    pub fn with_apply_fn<I: 'static, O: 'static>(
        mut self,
        apply_fn: impl Fn(&Variables, I) -> O + Send + Sync + 'static,
    ) -> TrainState<X> {
        self.apply_fn = Some(ApplyFn::new(apply_fn));
        self
    }

    /// Calls the forward computation that [`with_apply_fn`](TrainState::with_apply_fn) stored.
    ///
    /// # Panics
    /// Panics if none is stored, or if it has other types than the call.
    #[track_caller]
    pub fn apply_fn<I: 'static, O: 'static>(&self, variables: &Variables, input: I) -> O {
        match &self.apply_fn {
            Some(apply_fn) => apply_fn.call(variables, input),
            None => panic!(
                "TrainState::apply_fn: the state has no forward computation\n  help: store one with \
                 `TrainState::create(params, tx).with_apply_fn(move |variables, x: Array| \
                 model.apply(variables, x))`"
            ),
        }
    }

    /// Returns the parameters as variables of a model.
    pub fn variables(&self) -> Variables {
        Variables::from_params(self.params.clone())
    }

    /// Updates the parameters, the optimizer's state and the step count with one optimization
    /// step.
    ///
    /// # Panics
    /// Panics if the gradients do not match the parameters.
    #[track_caller]
    pub fn apply_gradients(&mut self, grads: State) {
        self.apply_gradients_with(grads, &ExtraArgs::new());
    }

    /// Like [`apply_gradients`](TrainState::apply_gradients), with additional arguments for the
    /// transformation: the value of the loss, or the loss function itself.
    ///
    /// # Panics
    /// Panics if the gradients do not match the parameters, or if a required extra argument is
    /// missing.
    #[track_caller]
    pub fn apply_gradients_with(&mut self, grads: State, extra: &ExtraArgs<'_>) {
        let missing = |a: &State, b: &State| -> Vec<String> {
            let paths = a.paths().filter(|p| b.get(p).is_none());
            paths.map(str::to_owned).collect()
        };
        let (without, other) = (missing(&self.params, &grads), missing(&grads, &self.params));
        assert!(
            without.is_empty() && other.is_empty(),
            "TrainState::apply_gradients: the gradients do not match the parameters\n  \
             parameters without a gradient: {}\n  gradients without a parameter: {}\n  help: \
             differentiate with respect to state.params",
            listed(&without),
            listed(&other),
        );
        self.params = moved(&self.tx, &mut self.opt_state, &self.params, grads, extra).0;
        self.step = safe_increment(&self.step);
    }
}
