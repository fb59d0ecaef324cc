//! `Optimizer`: a gradient transformation bound to the parameters of a model.

use crate::{Param, variables};
use ramie_core::{Array, DType, State, Tree};
use ramie_derive::Tree;
use ramie_optim::{GradientTransformation, OptState, apply_updates, safe_increment};

variables! {
    /// An array of an optimizer's state.
    OptVariable = "opt_state";
}

/// A gradient transformation, its state and the number of steps made
/// (`nnx.Optimizer`).
///
/// It is a tree and can stand next to the model in the state of a train step:
/// `struct Trainer { model: Cnn, optimizer: Optimizer }`.
///
/// ```
/// use ramie_core::{Array, DType};
/// use ramie_nn::{Optimizer, Param};
/// use ramie_optim::adam;
/// let model = (Param::new(Array::scalar(1.0, DType::F32)),);
/// let optimizer = Optimizer::new(&model, adam(1e-3));
/// assert_eq!(optimizer.step.item::<i32>(), 0);
/// ```
#[derive(Tree)]
pub struct Optimizer {
    /// Updates made, 0-d `i32`.
    pub step: OptVariable,
    /// What turns gradients into updates.
    pub tx: GradientTransformation,
    /// Its state.
    pub opt_state: OptState,
}

impl Optimizer {
    /// An optimizer of a model's parameters.
    #[track_caller]
    pub fn new<M: Tree>(model: &M, tx: impl Into<GradientTransformation>) -> Optimizer {
        Optimizer::wrt(model, tx, |_, kind| kind == Some(Param::KIND))
    }

    /// An optimizer of the leaves that a predicate accepts by path and kind,
    /// for gradients from
    /// [`value_and_grad_wrt`](crate::value_and_grad_wrt) with the same one.
    #[track_caller]
    pub fn wrt<M: Tree>(
        model: &M,
        tx: impl Into<GradientTransformation>,
        wrt: impl FnMut(&str, Option<&'static str>) -> bool,
    ) -> Optimizer {
        let tx = tx.into();
        let params = State::of(model).filter(wrt);
        Optimizer {
            step: OptVariable::new(Array::scalar(0, DType::I32)),
            opt_state: tx.init(&params.with_kind(Some(OptVariable::KIND))),
            tx,
        }
    }

    /// Makes one step: the model's parameters are replaced by new ones.
    ///
    /// # Panics
    /// If the gradients are not those of the parameters that the optimizer was
    /// made for.
    #[track_caller]
    pub fn update<M: Tree>(&mut self, model: &mut M, grads: State) {
        let grads = grads.with_kind(Some(OptVariable::KIND));
        let params = State::of(model)
            .filter(|path, _| grads.get(path).is_some())
            .with_kind(Some(OptVariable::KIND));
        let state = std::mem::replace(&mut self.opt_state, OptState::new(()));
        let (updates, state) = self.tx.update(grads, state, Some(&params));
        self.opt_state = state;
        if let Err(e) = apply_updates(&params, &updates).update(model) {
            panic!("Optimizer::update: {e}");
        }
        self.step = OptVariable::new(safe_increment(&self.step));
    }
}
