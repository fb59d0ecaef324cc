//! MADGRAD: dual averaging with adaptive steps.

use crate::extra_args::expect_params;
use crate::numerics::{count_zero, safe_increment};
use crate::options::options;
use crate::{GradientTransformation, add_decayed_weights, chain};
use ramie_core::{Array, DType, IntoArray, State};
use ramie_derive::Tree;

/// The state of [`scale_by_madgrad`].
#[derive(Tree)]
pub struct MadgradState {
    /// Steps made, 0-d `i32`.
    pub count: Array,
    /// The weighted sum of squared gradients.
    pub grad_sum_sq: State,
    /// The weighted sum of gradients.
    pub s: State,
    /// The parameters of the beginning.
    pub x0: State,
}

options! {
    /// Updates of MADGRAD, the learning rate included.
    ///
    /// Its `update` panics if it is not given the parameters.
    ///
    /// Defazio and Jelassi, *Adaptivity without Compromise*, 2021.
    scale_by_madgrad(learning_rate: schedule) -> ScaleByMadgrad {
        /// The part of the parameters that stays in each step.
        momentum: num = 0.9,
        /// Added to the learning rate and to the denominator.
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
    /// MADGRAD: dual averaging with adaptive steps.
    ///
    /// Its `update` panics if it is not given the parameters.
    ///
    /// ```
    /// use ramie_optim::contrib::madgrad;
    /// let tx = madgrad(1e-2);
    /// ```
    ///
    /// Defazio and Jelassi, *Adaptivity without Compromise*, 2021.
    madgrad(learning_rate: schedule) -> Madgrad {
        /// The part of the parameters that stays in each step.
        momentum: num = 0.9,
        /// The strength of weight decay.
        weight_decay: schedule = 0.0,
        /// Added to the learning rate and to the denominator.
        eps: num = 1e-6,
    }
    |o| chain((
        add_decayed_weights(o.weight_decay),
        ScaleByMadgrad { learning_rate: o.learning_rate, momentum: o.momentum, eps: o.eps },
    ))
}
