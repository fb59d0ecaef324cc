//! MADGRAD: dual averaging with adaptive steps.

use crate::base::extra_args::expect_params;
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::{GradientTransformation, add_decayed_weights, chain};
use ramie_core::{Array, DType, IntoArray, State};
use ramie_derive::Tree;

/// The state of [`scale_by_madgrad`].
#[derive(Tree)]
pub struct MadgradState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// Weighted sum of squared gradients.
    pub grad_sum_sq: State,
    /// Weighted sum of gradients.
    pub s: State,
    /// Initial parameters.
    pub x0: State,
}

options! {
    /// Computes the updates of MADGRAD, including the learning rate.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// Defazio and Jelassi, *Adaptivity without Compromise*, 2021.
    scale_by_madgrad(learning_rate: schedule) -> ScaleByMadgrad {
        /// Sets the fraction of the current parameters that each step keeps.
        momentum: num = 0.9,
        /// Sets the constant added to the learning rate and to the denominator.
        eps: num = 1e-6,
    }
    |o| GradientTransformation::new(
        |params| MadgradState {
            count: count_zero(),
            grad_sum_sq: params.zeros_like(),
            s: params.zeros_like(),
            x0: params.clone(),
        },
        move |updates, state: MadgradState, params| {
            let params = expect_params("scale_by_madgrad", params);
            let rate = o.learning_rate.number(&state.count).plus(&o.eps);
            let weight = (&state.count + 1).astype(DType::F32).sqrt() * rate.into_array();
            let grad_sum_sq = state.grad_sum_sq.zip(&updates, |sum, g| {
                sum + (&weight * g.square()).astype(g.dtype())
            });
            let s = state.s.zip(&updates, |sum, g| sum + (&weight * g).astype(g.dtype()));
            let away = s.zip(&grad_sum_sq, |s, sq| s / (sq.cbrt() + &o.eps));
            let z = state.x0.zip(&away, |x, away| x - away);
            let rest = o.momentum.rest();
            let updates = z.zip(params, |z, p| z * &rest + p * &o.momentum - p);
            let count = safe_increment(&state.count);
            (updates, MadgradState { count, grad_sum_sq, s, x0: state.x0 })
        },
    )
}

options! {
    /// Creates a MADGRAD optimizer: dual averaging with adaptive steps.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// ```
    /// use ramie_optim::contrib::madgrad;
    /// let tx = madgrad(1e-2);
    /// ```
    ///
    /// Defazio and Jelassi, *Adaptivity without Compromise*, 2021.
    madgrad(learning_rate: schedule) -> Madgrad {
        /// Sets the fraction of the current parameters that each step keeps.
        momentum: num = 0.9,
        /// Sets the strength of weight decay.
        weight_decay: schedule = 0.0,
        /// Sets the constant added to the learning rate and to the denominator.
        eps: num = 1e-6,
    }
    |o| chain((
        add_decayed_weights(o.weight_decay),
        ScaleByMadgrad { learning_rate: o.learning_rate, momentum: o.momentum, eps: o.eps },
    ))
}
