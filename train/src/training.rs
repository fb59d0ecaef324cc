//! The state of a training run.

use ramie_core::Tree;
use ramie_nn::Optimizer;
use ramie_optim::GradientTransformation;

/// A model with its optimizer: the state that [`Trainer::new`](crate::Trainer::new) trains.
///
/// ```
/// use ramie_nn::{Linear, Rngs};
/// use ramie_optim::adam;
/// use ramie_train::Training;
///
/// let state = Training::new(Linear::new(2, 1, &mut Rngs::new(0)), adam(1e-3));
/// assert_eq!(state.model.kernel.shape(), [2, 1]);
/// ```
#[derive(ramie_nn::Tree)]
pub struct Training<M> {
    /// The model.
    pub model: M,
    /// The optimizer of its parameters.
    pub optimizer: Optimizer,
}

impl<M: Tree> Training<M> {
    /// Combines a model with an optimizer of its parameters ([`Optimizer::new`]).
    pub fn new(model: M, optimizer: impl Into<GradientTransformation>) -> Training<M> {
        Training {
            optimizer: Optimizer::new(&model, optimizer),
            model,
        }
    }
}
