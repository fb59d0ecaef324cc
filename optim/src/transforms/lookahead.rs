//! `lookahead`: slow parameters that follow fast ones.

use crate::base::given::unchecked;
use crate::base::numerics::count_zero;
use crate::base::options::options;
use crate::base::wide::{into_wide, wide_state};
use crate::{ExtraArgs, GradientTransformation, OptState};
use ramie_core::{Array, State, tree, where_};
use ramie_derive::Tree;

/// The state of [`lookahead`].
#[derive(Tree)]
pub struct LookaheadState {
    /// The state of the fast optimizer.
    pub fast_state: OptState,
    /// Number of steps since the last synchronization, 0-d `i32`.
    pub steps_since_sync: Array,
}

/// A pair of fast and slow parameters.
#[derive(Clone, Tree)]
pub struct LookaheadParams {
    /// Parameters at which gradients are taken.
    pub fast: State,
    /// Parameters that follow the fast ones and are used after training, in at least `f32`.
    pub slow: State,
}

impl LookaheadParams {
    /// Creates a pair whose fast and slow parameters are equal. The slow ones are in at least `f32`,
    /// because they are averages.
    pub fn init_synced(params: &State) -> LookaheadParams {
        LookaheadParams {
            fast: params.clone(),
            slow: wide_state(params).into_owned(),
        }
    }

    /// Returns both in one state, under the paths `fast` and `slow`. The transformation takes
    /// this state as parameters and returns updates of the same structure.
    pub fn to_state(&self) -> State {
        State::of(self)
    }

    /// Reads the parameters from a state created by [`to_state`](LookaheadParams::to_state).
    ///
    /// # Panics
    /// Panics if the state has no arrays under `fast`, or a different number under `slow`.
    #[track_caller]
    pub fn from_state(state: &State) -> LookaheadParams {
        let (fast, slow) = (state.subtree("fast"), state.subtree("slow"));
        if fast.is_empty() || fast.len() != slow.len() {
            let found: Vec<&str> = state.paths().collect();
            crate::base::mistake::refuse(&format!(
                "lookahead: the parameters have no matching `fast` and `slow` parts, their paths \
                 are {}\n  help: create them with LookaheadParams::init_synced(&params).to_state()",
                found.join(", ")
            ));
        }
        LookaheadParams { fast, slow }
    }
}

/// The number of steps between two synchronizations of fast and slow parameters.
#[derive(Clone, Copy, Debug)]
pub struct SyncPeriod(i32);

unchecked!(SyncPeriod);

impl SyncPeriod {
    /// Returns the number of steps.
    pub fn steps(self) -> i32 {
        self.0
    }
}

impl From<usize> for SyncPeriod {
    #[track_caller]
    fn from(steps: usize) -> SyncPeriod {
        assert!(
            steps > 0,
            "sync_period: expected at least 1 step, got 0\n  help: use 1 to synchronize in \
             every step"
        );
        SyncPeriod(i32::try_from(steps).expect("fewer than 2^31 steps"))
    }
}

options! {
    /// Moves the slow parameters towards the fast ones every `sync_period` steps; the fast
    /// parameters then continue from there.
    ///
    /// Gradients are those of the fast parameters, without `fast` in their paths. Parameters and
    /// updates are [`LookaheadParams`] as a state.
    ///
    /// ```no_run
    /// use ramie_core::{Array, State};
    /// use ramie_optim::{LookaheadParams, apply_updates, lookahead, sgd};
    /// let tx = lookahead(sgd(0.1), 5usize, 0.5);
    /// let params = State::from_iter([("w", Array::from(1.0f32))]);
    /// let mut params = LookaheadParams::init_synced(&params).to_state();
    /// let state = tx.init(&params);
    /// let grads = State::from_iter([("w", Array::from(2.0f32))]);
    /// let (updates, state) = tx.update(grads, state, Some(&params));
    /// params = apply_updates(&params, &updates);
    /// assert_eq!(params.get("fast.w").map(|w| w.item::<f32>()), Some(0.8));
    /// ```
    ///
    /// Zhang et al., *Lookahead Optimizer: k steps forward, 1 step back*, 2019.
    lookahead(fast_optimizer: tx, sync_period: SyncPeriod, slow_step_size: num) -> Lookahead {
        /// Resets the state of the fast optimizer at each synchronization.
        reset_state: flag,
    }
    |o| {
        let first = o.fast_optimizer.clone();
        GradientTransformation::passing_on(
            move |params| LookaheadState {
                fast_state: first.init(&LookaheadParams::from_state(params).fast),
                steps_since_sync: count_zero(),
            },
            move |updates, state: LookaheadState, params, _: &ExtraArgs<'_>| {
                let params = crate::base::extra_args::expect_params("lookahead", params);
                let LookaheadParams { fast, slow } = LookaheadParams::from_state(params);
                let (updates, fast_state) = o.fast_optimizer.update(updates, state.fast_state, Some(&fast));
                let updates = into_wide(updates);
                let sync = state.steps_since_sync.eq(o.sync_period.0 - 1);
                let ahead = wide_state(&fast).zip(&updates, |f, u| f + u);
                let ahead = ahead.zip(&wide_state(&slow), |f, s| f - s);
                // Between synchronizations, fast parameters that are not finite leave the slow ones.
                let slow_updates = ahead.map(|d| where_(&sync, d * &o.slow_step_size, 0));
                let back = o.slow_step_size.rest();
                let fast_updates = updates.zip(&ahead, |u, d| where_(&sync, u - d * &back, u));
                let fast_state = if o.reset_state {
                    let initial = o.fast_optimizer.init(&fast);
                    tree::map2(&fast_state, &initial, |now, first| where_(&sync, first, now))
                } else {
                    fast_state
                };
                let updates = LookaheadParams { fast: fast_updates, slow: slow_updates };
                let steps_since_sync = (&state.steps_since_sync + 1).remainder(o.sync_period.0);
                (updates.to_state(), LookaheadState { fast_state, steps_since_sync })
            },
        )
    }
}
