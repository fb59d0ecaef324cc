//! Mechanic: learns a factor for the steps of another optimizer.

use crate::base::extra_args::expect_params;
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::base::wide::number_dtype;
use crate::{ExtraArgs, GradientTransformation, OptState, tree};
use ramie_core::{Array, DType, IntoArray, State, where_};
use ramie_derive::Tree;

/// The state of [`mechanize`].
#[derive(Tree)]
pub struct MechanicState {
    /// The state of the optimizer.
    pub base_optimizer_state: OptState,
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// Decaying rewards, one for each decay rate.
    pub r: Array,
    /// Decaying maximum magnitudes, one for each decay rate.
    pub m: Array,
    /// Decaying sums of squares, one for each decay rate.
    pub v: Array,
    /// Learned factors, one for each decay rate. Their sum scales the steps.
    pub s: Array,
    /// Initial parameters.
    pub x0: State,
}

options! {
    /// Learns the factor of the optimizer's updates from their sum since the first step and the
    /// gradients. The optimizer should have a learning rate of 1, or a schedule that starts at 1.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// ```
    /// use ramie_optim::{adam, contrib::mechanize};
    /// let tx = mechanize(adam(1.0));
    /// ```
    ///
    /// Cutkosky, Defazio and Mehta, *Mechanic: A Learning Rate Tuner*, 2023.
    mechanize(base_optimizer: tx) -> Mechanize {
        /// Sets the strength of the weight decay that stabilizes the factor.
        weight_decay: num = 1e-2,
        /// Sets the constant added to denominators.
        eps: num = 1e-8,
        /// Sets the initial value of each factor.
        s_init: num = 1e-6,
        /// Sets the number of decay rates to combine: 0.9, 0.99, 0.999 and so on.
        num_betas: count = 6,
    }
    |o| {
        let first = o.clone();
        GradientTransformation::with_extra_args(
            move |params| {
                let dtype = number_dtype(params);
                let zeros = || Array::zeros(&[first.num_betas], dtype);
                MechanicState {
                    base_optimizer_state: first.base_optimizer.init(params),
                    count: count_zero(),
                    r: zeros(),
                    m: zeros(),
                    v: zeros(),
                    s: zeros().ones_like() * &first.s_init,
                    x0: params.clone(),
                }
            },
            move |updates, state: MechanicState, params, extra: &ExtraArgs<'_>| {
                let params = expect_params("mechanize", params);
                o.step(updates, state, params, extra)
            },
        )
    }
}

impl Mechanize {
    /// Returns the decay rates `1 - 0.1ⁱ` for `i` from 1.
    fn betas(&self, dtype: DType) -> Array {
        let decays = (1..=self.num_betas).map(|i| (1.0 - 0.1f64.powf(i as f64)) as f32);
        Array::from(decays.collect::<Vec<f32>>()).astype(dtype)
    }

    fn step(
        &self,
        updates: State,
        state: MechanicState,
        params: &State,
        extra: &ExtraArgs<'_>,
    ) -> (State, MechanicState) {
        let (steps, base_optimizer_state) = self.base_optimizer.update_with(
            updates.clone(),
            state.base_optimizer_state,
            Some(params),
            extra,
        );
        // Training may start from other parameters than `init` received.
        let begins = state.count.eq(0);
        let x0 = params.zip(&state.x0, |p, x| where_(&begins, p, x));
        let factor = state.s.sum();
        let (norm, size) = (tree::norm(&updates), tree::norm(params));
        let strength = (&self.weight_decay).into_array() * &factor * norm / (size + &self.eps);
        let decayed = updates.zip(params, |g, p| g + &strength * p);
        let before = params.zip(&x0, |p, x| (x - p) / (&factor + &self.eps));
        let gone = tree::sub(&before, &steps);
        let h = tree::vdot(&decayed, &before);
        let clipped = (state.m.ones_like() * &h).clip(-&state.m, &state.m);
        let betas = self.betas(state.s.dtype());
        let m = (&betas * &state.m).maximum(h.abs() + &self.eps);
        let v = betas.square() * &state.v + h.square();
        let r = &betas * &state.r + clipped * &state.s;
        let share = self.s_init.times(1.0 / self.num_betas as f64);
        let wealth = &m * &share + r.maximum(0.0);
        let s = wealth / (v.sqrt() + &self.eps);
        let far = s.sum();
        let there = x0.zip(&gone, |x, d| x - &far * d);
        let state = MechanicState {
            base_optimizer_state,
            count: safe_increment(&state.count),
            r,
            m,
            v,
            s,
            x0,
        };
        (tree::sub(&there, params), state)
    }
}
