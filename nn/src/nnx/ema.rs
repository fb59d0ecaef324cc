//! `Ema`: averages of variables. `TrainState`: the state of a train step.

use crate::model::{self, Filter, GraphDef, of_type};
use crate::optimizer::moved;
use crate::wide::wide;
use crate::{OptVariable, Param};
use ramie_core::text::listed;
use ramie_core::{Array, DType, State, Tree};
use ramie_derive::Tree;
use ramie_optim::{ExtraArgs, GradientTransformation, OptState, safe_increment};

/// An exponential moving average of a model's variables (`nnx.EMA`).
///
/// The averages of variables in `bf16`, `f16` and narrower floats are in `f32`, because an average in
/// `bf16` with a decay rate of 0.999 never changes.
///
/// ```
/// use ramie_core::Array;
/// use ramie_nn::Param;
/// use ramie_nn::nnx::{Ema, of_type};
/// let mut model = (Param::new(Array::from(1.0f32)),);
/// let mut ema = Ema::new(&model, 0.75, of_type::<Param>());
/// model.0.set(3.0f32);
/// ema.update(&model);
/// assert_eq!(ema.apply_to(&model).0.item::<f32>(), 1.5);
/// ```
#[derive(Clone, Tree)]
pub struct Ema {
    /// The weight of the old average in each update.
    #[tree(fixed)]
    pub decay: f64,
    /// The averages, by their paths in the model, in at least `f32`.
    pub params: State,
}

impl Ema {
    /// Creates averages of the leaves of a model that a filter accepts, starting at their
    /// current values.
    ///
    /// # Panics
    /// Panics if the filter accepts no leaf, or a leaf that is not a variable.
    #[track_caller]
    pub fn new<M: Tree>(model: &M, decay: f64, only: impl Filter) -> Ema {
        let params = model::state(model, only);
        let plain: Vec<&str> = params
            .paths()
            .filter(|p| params.kind(p).is_none())
            .collect();
        assert!(
            plain.is_empty() && !params.is_empty(),
            "Ema: {}\n  help: use a filter of variables, for example of_type::<Param>()",
            if params.is_empty() {
                "the filter accepts no leaf of the model".to_owned()
            } else {
                format!("{} are plain arrays, not variables", listed(&plain))
            }
        );
        Ema {
            decay,
            params: params.map(|a| wide(a).into_owned()),
        }
    }

    /// Updates the averages: `average = decay * average + (1 - decay) * variable`.
    ///
    /// # Panics
    /// Panics if the model lacks one of the variables.
    #[track_caller]
    pub fn update<M: Tree>(&mut self, model: &M) {
        let values = State::of(model).filter(|path, _| self.params.get(path).is_some());
        self.params = self.params.zip(&values, |average, value| {
            average * self.decay + &*wide(value) * (1.0 - self.decay)
        });
    }

    /// Returns a copy of the model with its variables replaced by their averages, in the dtypes of
    /// the variables.
    ///
    /// # Panics
    /// Panics if the model lacks one of the variables.
    #[track_caller]
    pub fn apply_to<M: Tree>(&self, model: &M) -> M {
        let mut averaged = model::copy(model);
        let values = State::of(model);
        let averages = self
            .params
            .map_with_path(|path, average| match values.get(path) {
                Some(value) if value.dtype() != average.dtype() => average.astype(value.dtype()),
                _ => average.clone(),
            });
        model::update(&mut averaged, &averages);
        averaged
    }
}

/// The state of a train step, with the model split into its structure, its parameters and all
/// other arrays, and with the optimizer's state (`nnx.TrainState`).
///
/// ```
/// use ramie_core::Array;
/// use ramie_nn::{Param, grad, nnx::TrainState};
/// use ramie_optim::sgd;
/// let mut state = TrainState::create(&(Param::new(Array::from(1.0f32)),), sgd(0.25));
/// let grads = grad(&mut state.model(), |m| m.0.square());
/// state.apply_gradients(grads);
/// assert_eq!(state.model().0.item::<f32>(), 0.5);
/// ```
#[derive(Clone, Tree)]
pub struct TrainState<M: Tree> {
    /// The structure of the model.
    pub graphdef: GraphDef<M>,
    /// The parameters.
    pub params: State,
    /// All other arrays of the model.
    pub others: State,
    /// The transformation from gradients to updates.
    pub tx: GradientTransformation,
    /// The state of the transformation.
    pub opt_state: OptState,
    /// Number of steps so far, 0-d `i32`.
    pub step: OptVariable,
}

impl<M: Tree> TrainState<M> {
    /// Creates the state before the first step.
    ///
    /// # Panics
    /// Panics if the model has no parameters.
    #[track_caller]
    pub fn create(model: &M, tx: impl Into<GradientTransformation>) -> TrainState<M> {
        let (graphdef, (params, others)) = model::split(model, (of_type::<Param>(), true));
        assert!(
            !params.is_empty(),
            "nnx::TrainState: the model has no parameters\n  help: use `Param` for parameters, \
             and derive Tree or Module for the layers that own them"
        );
        let tx = tx.into();
        TrainState {
            opt_state: tx.init(&params),
            graphdef,
            params,
            others,
            tx,
            step: OptVariable::new(Array::scalar(0, DType::I32)),
        }
    }

    /// Returns the model.
    pub fn model(&self) -> M {
        model::merge(&self.graphdef, (self.params.clone(), self.others.clone()))
    }

    /// Copies the model's arrays other than parameters into the state, after a call has changed
    /// them.
    ///
    /// # Panics
    /// Panics if the model lacks one of these arrays.
    #[track_caller]
    pub fn update_others(&mut self, model: &M) {
        let others = State::of(model).filter(|path, _| self.others.get(path).is_some());
        self.others = self.others.zip(&others, |_, new| new.clone());
    }

    /// Updates the parameters with one optimization step.
    ///
    /// # Panics
    /// Panics if the gradients do not match the parameters.
    #[track_caller]
    pub fn apply_gradients(&mut self, grads: State) {
        let (state, extra) = (&mut self.opt_state, ExtraArgs::new());
        self.params = moved(&self.tx, state, &self.params, grads, &extra).0;
        self.step = OptVariable::new(safe_increment(&self.step));
    }
}
