//! COCOB: step sizes from coin betting on the direction of gradients.

use crate::base::extra_args::expect_params;
use crate::base::options::options;
use crate::transforms::decay::decay;
use crate::transforms::scale::scale_by_rate;
use crate::{GradientTransformation, chain, tree};
use ramie_core::{Array, State};
use ramie_derive::Tree;

/// The state of [`scale_by_cocob`].
#[doc(alias = "COCOBState")]
#[derive(Tree)]
pub struct CocobState {
    /// Initial parameters.
    pub init_particles: State,
    /// Sum of negative gradients.
    pub cumulative_gradients: State,
    /// Largest magnitude of the gradients so far.
    pub scale: State,
    /// Sum of the magnitudes of gradients.
    pub subgradients: State,
    /// Reward won so far.
    pub reward: State,
}

options! {
    /// Computes updates by betting on the direction of gradients, without a learning rate.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// Orabona and Tommasi, *Training Deep Networks without Learning Rates
    /// Through Coin Betting*, 2017.
    scale_by_cocob() -> ScaleByCocob {
        /// Sets the bound on the first steps. The larger it is, the smaller they are.
        alpha: num = 100.0,
        /// Sets the initial value of the largest magnitude.
        eps: num = 1e-8,
    }
    |o| {
        let eps = o.eps.clone();
        GradientTransformation::new(
            move |params| CocobState {
                init_particles: params.clone(),
                cumulative_gradients: params.zeros_like(),
                scale: tree::full_like(params, &eps, None),
                subgradients: params.zeros_like(),
                reward: params.zeros_like(),
            },
            move |updates, state: CocobState, params| {
                let params = expect_params("scale_by_cocob", params);
                let scale = state.scale.zip(&updates, |l, c| l.maximum(c.abs()));
                let subgradients = state.subgradients.zip(&updates, |g, c| g + c.abs());
                let gone = tree::sub(params, &state.init_particles);
                let won = tree::mul(&updates, &gone);
                let reward = state.reward.zip(&won, |r, w| (r - w).maximum(0.0));
                let cumulative_gradients = tree::sub(&state.cumulative_gradients, &updates);
                let limit = |l: &Array, g: &Array| l * (g + l).maximum(l * &o.alpha);
                let bet = tree::div(&cumulative_gradients, &scale.zip(&subgradients, limit));
                let stake = tree::mul(&bet, &tree::add(&scale, &reward));
                let new = tree::add(&state.init_particles, &stake);
                let state = CocobState {
                    init_particles: state.init_particles,
                    cumulative_gradients,
                    scale,
                    subgradients,
                    reward,
                };
                (tree::sub(&new, params), state)
            },
        )
    }
}

options! {
    /// Creates a COCOB optimizer, which finds its steps by betting on the direction of gradients.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// ```
    /// use ramie_optim::contrib::cocob;
    /// let tx = cocob();
    /// ```
    ///
    /// Orabona and Tommasi, *Training Deep Networks without Learning Rates
    /// Through Coin Betting*, 2017.
    cocob() -> Cocob {
        /// Sets the factor that multiplies the gradients.
        learning_rate: schedule = 1.0,
        /// Sets the bound on the first steps. The larger it is, the smaller they are.
        alpha: num = 100.0,
        /// Sets the initial value of the largest magnitude.
        eps: num = 1e-8,
        /// Sets the strength of weight decay.
        weight_decay: schedule = 0.0,
        /// Sets the predicate that selects the parameters to decay by path and array. Defaults to
        /// all.
        mask: mask,
    }
    |o| chain((
        decay(o.weight_decay, o.mask),
        scale_by_rate(o.learning_rate, false),
        ScaleByCocob { alpha: o.alpha, eps: o.eps },
    ))
}
