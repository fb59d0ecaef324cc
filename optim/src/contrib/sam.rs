//! Sharpness-aware minimization.

use crate::base::extra_args::expect_params;
use crate::base::numerics::count_zero;
use crate::base::options::options;
use crate::base::wide::{into_wide, wide_state};
use crate::transforms::lookahead::SyncPeriod;
use crate::{ExtraArgs, GradientTransformation, OptState, apply_updates, tree};
use ramie_core::{Array, State, where_};
use ramie_derive::Tree;

/// Divides all updates by their global norm, unless it is zero. Used in the adversary of [`sam`].
pub fn normalize() -> GradientTransformation {
    GradientTransformation::stateless(|updates, _| {
        let norm = tree::norm(&updates);
        let norm = where_(norm.eq(0.0), 1.0, norm);
        updates.map(|u| u / &norm)
    })
}

/// The state of [`sam`].
#[doc(alias = "SAMState")]
#[derive(Tree)]
pub struct SamState {
    /// Number of calls since the last step of the optimizer, 0-d `i32`.
    pub steps_since_sync: Array,
    /// The state of the optimizer.
    pub opt_state: OptState,
    /// The state of the adversary.
    pub adv_state: OptState,
    /// Parameters from which the adversary started, unless in opaque mode.
    pub cache: Option<State>,
}

options! {
    /// Creates a sharpness-aware optimizer: an adversary climbs from the parameters, and the
    /// optimizer uses the gradients at that point, which favors flat minima.
    ///
    /// With a `sync_period` of two, every second call of `update` is a step of the optimizer. The
    /// other calls are steps of the adversary and return the updates that move the parameters
    /// there. In opaque mode, each call is a whole step, for which `update` needs
    /// [`ExtraArgs::grad_fn`].
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// ```
    /// use ramie_optim::{chain, contrib::{normalize, sam}, sgd};
    /// let tx = sam(sgd(0.1), chain((normalize(), sgd(0.05))));
    /// ```
    ///
    /// Foret et al., *Sharpness-Aware Minimization for Efficiently Improving
    /// Generalization*, 2021.
    sam(optimizer: tx, adv_optimizer: tx) -> Sam {
        /// Sets the number of calls of `update` for one step of the optimizer.
        sync_period: SyncPeriod = SyncPeriod::from(2),
        /// Sets whether the state of the adversary is reset after each step of the optimizer.
        reset_state: toggle = true,
        /// Makes all steps of the adversary within one call of `update`.
        opaque_mode: flag,
    }
    |o| {
        let first = o.clone();
        GradientTransformation::passing_on(
            move |params| SamState {
                steps_since_sync: count_zero(),
                opt_state: first.optimizer.init(params),
                adv_state: first.adv_optimizer.init(params),
                cache: (!first.opaque_mode).then(|| params.clone()),
            },
            move |updates, state: SamState, params, extra: &ExtraArgs<'_>| {
                let params = expect_params("sam", params);
                if o.opaque_mode { o.opaque(updates, state, params, extra) } else { o.transparent(updates, state, params) }
            },
        )
    }
}

fn choose(which: &Array, yes: &OptState, no: &OptState) -> OptState {
    ramie_core::tree::map2(yes, no, |a, b| where_(which, a, b))
}

impl Sam {
    fn transparent(&self, updates: State, state: SamState, params: &State) -> (State, SamState) {
        let period = self.sync_period.steps();
        let first = state.steps_since_sync.eq(0);
        let last = state.steps_since_sync.eq(period - 1);
        let before = state.cache.unwrap_or_else(|| params.clone());
        let (climb, adv_state) =
            self.adv_optimizer
                .update(updates.clone(), state.adv_state.clone(), Some(params));
        let climb = climb.map(|u| -u);
        let (step, opt_state) =
            self.optimizer
                .update(updates, state.opt_state.clone(), Some(&before));
        // The step starts at the parameters from which the adversary started.
        let gone = tree::sub(&*wide_state(&before), &*wide_state(params));
        let step = tree::add(&gone, &step);
        let anew = if self.reset_state {
            self.adv_optimizer.init(params)
        } else {
            state.adv_state
        };
        let next = SamState {
            steps_since_sync: (&state.steps_since_sync + 1).remainder(period),
            opt_state: choose(&last, &opt_state, &state.opt_state),
            adv_state: choose(&last, &anew, &adv_state),
            cache: Some(tree::where_state(&first, params, &before)),
        };
        (tree::where_state(&last, &step, &into_wide(climb)), next)
    }

    fn opaque(
        &self,
        updates: State,
        state: SamState,
        params: &State,
        extra: &ExtraArgs<'_>,
    ) -> (State, SamState) {
        let grad_fn = extra.expect_grad_fn("sam");
        let (mut at, mut grads, mut adv_state) = (params.clone(), updates, state.adv_state);
        for i in 1..self.sync_period.steps() {
            let (climb, next) = self.adv_optimizer.update(grads, adv_state, Some(&at));
            adv_state = next;
            at = apply_updates(&at, &climb.map(|u| -u));
            grads = grad_fn(&at, i as usize - 1);
        }
        if self.reset_state {
            adv_state = self.adv_optimizer.init(params);
        }
        let (updates, opt_state) = self.optimizer.update(grads, state.opt_state, Some(params));
        let steps_since_sync = count_zero();
        (
            updates,
            SamState {
                steps_since_sync,
                opt_state,
                adv_state,
                cache: None,
            },
        )
    }
}
