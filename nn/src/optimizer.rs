//! `Optimizer`: a gradient transformation bound to the parameters of a model.

use crate::model::{self, Filter, of_type};
use crate::{OptVariable, Param};
use ramie_core::text::listed;
use ramie_core::{Array, DType, State, Tree};
use ramie_derive::Tree;
use ramie_optim::{ExtraArgs, GradientTransformation, OptState, apply_updates};
use std::sync::Arc;

/// A gradient transformation, its state and the number of steps (`nnx.Optimizer`).
///
/// It is a pytree and can be stored next to the model in the state of a train step:
/// `struct Trainer { model: Cnn, optimizer: Optimizer }`.
///
/// ```
/// use ramie_core::{Array, DType};
/// use ramie_nn::{Optimizer, Param};
/// use ramie_optim::adam;
/// let model = (Param::new(Array::scalar(1.0, DType::F32)),);
/// let optimizer = Optimizer::new(&model, adam(1e-3));
/// assert_eq!(optimizer.step.item::<u32>(), 0);
/// ```
#[derive(Clone, Tree)]
pub struct Optimizer {
    /// Number of updates so far, 0-d `u32`.
    pub step: OptVariable,
    /// The transformation from gradients to updates.
    pub tx: GradientTransformation,
    /// The state of the transformation.
    pub opt_state: OptState,
    /// The paths of the leaves to optimize.
    #[tree(fixed)]
    wrt: Arc<[String]>,
}

impl Optimizer {
    /// Creates an optimizer of a model's parameters.
    ///
    /// # Panics
    /// Panics if the model has no parameters.
    #[track_caller]
    pub fn new<M: Tree>(model: &M, tx: impl Into<GradientTransformation>) -> Optimizer {
        Optimizer::wrt(model, tx, of_type::<Param>())
    }

    /// Creates an optimizer of the leaves that a filter accepts. Its gradients come from
    /// [`value_and_grad_wrt`](crate::value_and_grad_wrt) with the same filter.
    ///
    /// # Panics
    /// Panics if the filter accepts no leaf.
    #[track_caller]
    pub fn wrt<M: Tree>(
        model: &M,
        tx: impl Into<GradientTransformation>,
        wrt: impl Filter,
    ) -> Optimizer {
        let tx = tx.into();
        let params = model::state(model, wrt);
        assert!(
            !params.is_empty(),
            "Optimizer: the filter accepts no leaf of the model, so there is nothing to \
             optimize\n  help: use `Param` for parameters, and derive Tree or Module for the \
             layers that own them; nnx::state(&model, filter) shows the accepted leaves"
        );
        Optimizer {
            step: OptVariable::new(Array::scalar(0, DType::U32)),
            opt_state: tx.init(&params.with_kind(Some(OptVariable::KIND))),
            tx,
            wrt: params.paths().map(str::to_owned).collect(),
        }
    }

    /// Returns the paths of the leaves to optimize.
    pub fn paths(&self) -> &[String] {
        &self.wrt
    }

    /// Updates the parameters of the model with one optimization step.
    ///
    /// # Panics
    /// Panics if the gradients do not match the leaves that the optimizer was created for; the
    /// message lists the missing and the unexpected ones. Also panics if the model lacks one of
    /// these leaves.
    #[track_caller]
    pub fn update<M: Tree>(&mut self, model: &mut M, grads: State) {
        self.update_with(model, grads, &ExtraArgs::new());
    }

    /// Like [`update`](Optimizer::update), with additional arguments for the transformation:
    /// line searches need the loss and its function, plateau schedules the loss. Returns the
    /// updates that were added to the parameters.
    ///
    /// ```
    /// use ramie_core::{Array, State};
    /// use ramie_nn::{Optimizer, Param, nnx, value_and_grad};
    /// use ramie_optim::{ExtraArgs, lbfgs};
    /// let mut model = (Param::new(Array::from([3.0f32, -2.0])),);
    /// let loss = |m: &(Param,)| m.0.square().sum();
    /// let mut optimizer = Optimizer::new(&model, lbfgs());
    /// let (value, grads) = value_and_grad(&mut model, |m| loss(m));
    /// let graphdef = nnx::graphdef(&model);
    /// let at = move |params: &State| loss(&nnx::merge(&graphdef, params));
    /// let extra = ExtraArgs::new().value(&value).grad(&grads).value_fn(&at);
    /// optimizer.update_with(&mut model, grads.clone(), &extra);
    /// assert!(loss(&model).item::<f32>() < value.item::<f32>());
    /// ```
    ///
    /// # Panics
    /// Panics as [`update`](Optimizer::update) does, and if a required extra argument is
    /// missing.
    #[track_caller]
    pub fn update_with<M: Tree>(
        &mut self,
        model: &mut M,
        grads: State,
        extra: &ExtraArgs<'_>,
    ) -> State {
        self.check(&grads);
        let grads = grads.with_kind(Some(OptVariable::KIND));
        let params = State::of(model)
            .filter(|path, _| grads.get(path).is_some())
            .with_kind(Some(OptVariable::KIND));
        let missing: Vec<&String> = self
            .wrt
            .iter()
            .filter(|p| params.get(p).is_none())
            .collect();
        assert!(
            missing.is_empty(),
            "Optimizer::update: the model has no {}, which the optimizer was created for\n  \
             help: pass the model that the optimizer was created for",
            listed(&missing)
        );
        let extra = extra.clone().with_kind(Some(OptVariable::KIND));
        let (params, updates) = moved(&self.tx, &mut self.opt_state, &params, grads, &extra);
        if let Err(e) = params.update(model) {
            panic!("Optimizer::update: {e}");
        }
        self.step.set(&*self.step + 1);
        updates
    }

    #[track_caller]
    fn check(&self, grads: &State) {
        if grads.paths().eq(self.wrt.iter()) {
            return;
        }
        let lacks = |path: &&str| grads.get(path).is_none();
        let missing: Vec<&str> = self.wrt.iter().map(String::as_str).filter(lacks).collect();
        let extra: Vec<&str> = grads
            .paths()
            .filter(|p| !self.wrt.iter().any(|w| w == p))
            .collect();
        if missing.is_empty() && extra.is_empty() {
            return;
        }
        let line = |what: &str, paths: &[&str]| {
            if paths.is_empty() {
                String::new()
            } else {
                format!("\n  {what}: {}", listed(paths))
            }
        };
        panic!(
            "Optimizer::update: the gradients do not match the leaves that the optimizer was \
             created for{}{}\n  help: take gradients of the same model with respect to the same \
             filter: value_and_grad for Optimizer::new, value_and_grad_wrt for Optimizer::wrt",
            line("without gradient", &missing),
            line("unknown to the optimizer", &extra),
        )
    }
}

/// Returns the parameters after a step and the updates that were added to them, and advances
/// `state`.
#[track_caller]
pub(crate) fn moved(
    tx: &GradientTransformation,
    state: &mut OptState,
    params: &State,
    grads: State,
    extra: &ExtraArgs<'_>,
) -> (State, State) {
    let before = std::mem::replace(state, OptState::new(()));
    let (updates, after) = tx.update_with(grads, before, Some(params), extra);
    *state = after;
    (apply_updates(params, &updates), updates)
}

/// A model with its optimizer (`nnx.ModelAndOptimizer`).
///
/// ```
/// use ramie_core::Array;
/// use ramie_nn::{ModelAndOptimizer, Param, value_and_grad};
/// use ramie_optim::sgd;
/// let mut both = ModelAndOptimizer::new((Param::new(Array::from(1.0f32)),), sgd(0.25));
/// let (_, grads) = value_and_grad(&mut both.model, |m| m.0.square());
/// both.update(grads);
/// assert_eq!(both.model.0.item::<f32>(), 0.5);
/// ```
#[derive(Clone, Tree)]
pub struct ModelAndOptimizer<M> {
    /// The model.
    pub model: M,
    /// The optimizer of the model.
    pub optimizer: Optimizer,
}

impl<M: Tree> ModelAndOptimizer<M> {
    /// Creates an optimizer of the model's parameters and stores it with the model.
    ///
    /// # Panics
    /// Panics if the model has no parameters.
    #[track_caller]
    pub fn new(model: M, tx: impl Into<GradientTransformation>) -> ModelAndOptimizer<M> {
        let optimizer = Optimizer::new(&model, tx);
        ModelAndOptimizer { model, optimizer }
    }

    /// Creates an optimizer of the leaves that a filter accepts and stores it with the model.
    ///
    /// # Panics
    /// Panics if the filter accepts no leaf.
    #[track_caller]
    pub fn wrt(
        model: M,
        tx: impl Into<GradientTransformation>,
        wrt: impl Filter,
    ) -> ModelAndOptimizer<M> {
        let optimizer = Optimizer::wrt(&model, tx, wrt);
        ModelAndOptimizer { model, optimizer }
    }

    /// Updates the model with one optimization step; see [`Optimizer::update`].
    ///
    /// # Panics
    /// Panics as [`Optimizer::update`] does.
    #[track_caller]
    pub fn update(&mut self, grads: State) {
        self.optimizer.update(&mut self.model, grads);
    }

    /// Updates the model with one optimization step and extra arguments; see
    /// [`Optimizer::update_with`].
    ///
    /// # Panics
    /// Panics as [`Optimizer::update_with`] does.
    #[track_caller]
    pub fn update_with(&mut self, grads: State, extra: &ExtraArgs<'_>) -> State {
        self.optimizer.update_with(&mut self.model, grads, extra)
    }
}
