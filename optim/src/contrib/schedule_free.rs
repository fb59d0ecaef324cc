//! Schedule-free training: averages of iterates in the place of schedules.

use crate::extra_args::expect_params;
use crate::numerics::safe_increment;
use crate::options::options;
use crate::{
    ExtraArgs, GradientTransformation, OptState, add_decayed_weights, apply_updates, chain,
    scale_by_learning_rate, scale_by_rms, sgd, tree,
};
use ramie_core::{Array, DType, IntoArray, State, where_};
use ramie_derive::Tree;

/// The state of [`schedule_free`].
#[derive(Tree)]
pub struct ScheduleFreeState {
    /// The part of the average in the parameters, 0-d.
    pub b1: Array,
    /// The sum of the weights of all iterates, 0-d.
    pub weight_sum: Array,
    /// The number of the step, from 1, 0-d `i32`.
    pub step_count: Array,
    /// The greatest learning rate so far, 0-d.
    pub max_lr: Array,
    /// The state of the optimizer.
    pub base_optimizer_state: OptState,
    /// The iterates of the optimizer itself.
    pub z: State,
}

/// The average of the iterates, which models are evaluated with: not the
/// parameters, at which gradients are taken.
///
/// # Panics
/// If the state is not that of [`schedule_free`], or has other paths than the
/// parameters.
#[track_caller]
pub fn schedule_free_eval_params(state: &OptState, params: &State) -> State {
    let Some(state) = state.get::<ScheduleFreeState>() else {
        panic!(
            "schedule_free_eval_params: the state is that of another transformation\n  help: pass \
             the state of schedule_free, not of a chain around it"
        )
    };
    average(params, &state.z, &state.b1)
}

fn average(params: &State, z: &State, b1: impl Into<crate::Hyperparam>) -> State {
    let b1 = b1.into();
    let rest = b1.rest();
    params.zip(z, |y, z| (y - z * &rest) / &b1)
}

options! {
    /// Trains without a schedule: gradients are taken between the optimizer's
    /// iterates and their average, and the average is what is used in the end,
    /// see [`schedule_free_eval_params`]. The optimizer should have no momentum
    /// of its own.
    ///
    /// Its `update` panics if it is not given the parameters.
    ///
    /// ```
    /// use ramie_optim::{contrib::schedule_free, sgd};
    /// let tx = schedule_free(sgd(0.5), 0.5);
    /// ```
    ///
    /// Defazio et al., *The Road Less Scheduled*, 2024.
    schedule_free(base_optimizer: tx, learning_rate: schedule) -> ScheduleFree {
        /// The part of the average in the parameters.
        b1: num = 0.9,
        /// The power of the learning rate that weighs iterates.
        weight_lr_power: num = 2.0,
        /// The element type of the iterates, by default that of the parameters.
        state_dtype: dtype,
    }
    |o| {
        let (first, b1, dtype) = (o.base_optimizer.clone(), o.b1.clone(), o.state_dtype);
        GradientTransformation::with_extra_args(
            move |params| {
                let low = tree::lowest_dtype(params);
                ScheduleFreeState {
                    b1: (&b1).into_array().astype(low),
                    weight_sum: Array::scalar(0.0, low),
                    step_count: Array::scalar(1, DType::I32),
                    max_lr: Array::scalar(0.0, low),
                    base_optimizer_state: first.init(params),
                    z: tree::cast(params, dtype),
                }
            },
            move |grads, state: ScheduleFreeState, params, extra: &ExtraArgs<'_>| {
                let params = expect_params("schedule_free", params);
                let rate = o.learning_rate.at(&state.step_count).astype(state.max_lr.dtype());
                let max_lr = state.max_lr.maximum(rate);
                let weight = max_lr.power(&o.weight_lr_power);
                let weight_sum = &state.weight_sum + &weight;
                let part = &weight / &weight_sum;
                let undefined = weight.is_nan().bitwise_or(weight_sum.is_nan());
                let part = where_(&undefined, &part, part.nan_to_num_with(0.0, f64::INFINITY, f64::from(f32::MIN)));
                let (updates, base_optimizer_state) =
                    o.base_optimizer.update_with(grads, state.base_optimizer_state, Some(params), extra);
                let z = apply_updates(&state.z, &updates);
                let x = average(params, &state.z, &o.b1);
                let x = x.zip(&z, |x, z| x * (1.0_f64 - &part) + z * &part);
                let rest = o.b1.rest();
                let new = x.zip(&z, |x, z| x * &o.b1 + z * &rest);
                let state = ScheduleFreeState {
                    b1: state.b1,
                    weight_sum,
                    step_count: safe_increment(&state.step_count),
                    max_lr,
                    base_optimizer_state,
                    z,
                };
                (tree::sub(&new, params), state)
            },
        )
    }
}

/// A warm-up of the learning rate.
type Warmup = Option<u32>;

/// The learning rate, after a linear warm-up from zero.
fn warmed_up(rate: crate::Hyperparam, steps: Warmup) -> crate::Schedule {
    match steps {
        None | Some(0) => rate.into(),
        Some(steps) => crate::Schedule::new(move |count| {
            let part = count.astype(DType::F32) / f64::from(steps);
            part.minimum(1.0) * &rate
        }),
    }
}

options! {
    /// Gradient descent without a schedule, see [`schedule_free`].
    ///
    /// ```
    /// use ramie_optim::contrib::schedule_free_sgd;
    /// let tx = schedule_free_sgd(1.0).warmup_steps(Some(1000));
    /// ```
    ///
    /// Defazio et al., *The Road Less Scheduled*, 2024.
    schedule_free_sgd(learning_rate: num) -> ScheduleFreeSgd {
        /// Steps of a linear warm-up, if there is one.
        warmup_steps: Warmup = None,
        /// The part of the average in the parameters.
        b1: num = 0.9,
        /// The strength of weight decay.
        weight_decay: optional,
        /// The power of the learning rate that weighs iterates.
        weight_lr_power: num = 2.0,
        /// The element type of the iterates, by default that of the parameters.
        state_dtype: dtype,
    }
    |o| {
        let rate = warmed_up(o.learning_rate, o.warmup_steps);
        let descent = sgd(rate.clone());
        let base_optimizer = match o.weight_decay {
            Some(strength) => chain((add_decayed_weights(strength), descent)),
            None => descent.into(),
        };
        ScheduleFree {
            base_optimizer,
            learning_rate: rate,
            b1: o.b1,
            weight_lr_power: o.weight_lr_power,
            state_dtype: o.state_dtype,
        }
    }
}

options! {
    /// AdamW without a schedule, see [`schedule_free`].
    ///
    /// ```
    /// use ramie_optim::contrib::schedule_free_adamw;
    /// let tx = schedule_free_adamw(2.5e-3).weight_decay(0.01);
    /// ```
    ///
    /// Defazio et al., *The Road Less Scheduled*, 2024.
    schedule_free_adamw(learning_rate: num) -> ScheduleFreeAdamW {
        /// Steps of a linear warm-up, if there is one.
        warmup_steps: Warmup = None,
        /// The part of the average in the parameters.
        b1: num = 0.9,
        /// Decay of the mean of squares.
        b2: num = 0.999,
        /// Added to the denominator.
        eps: num = 1e-8,
        /// The strength of weight decay.
        weight_decay: schedule = 0.0,
        /// The power of the learning rate that weighs iterates.
        weight_lr_power: num = 2.0,
        /// The element type of the iterates, by default that of the parameters.
        state_dtype: dtype,
    }
    |o| {
        let rate = warmed_up(o.learning_rate, o.warmup_steps);
        let squares = scale_by_rms().decay(o.b2).eps(o.eps).eps_in_sqrt(false).bias_correction(true);
        ScheduleFree {
            base_optimizer: chain((
                squares,
                add_decayed_weights(o.weight_decay),
                scale_by_learning_rate(rate.clone()),
            )),
            learning_rate: rate,
            b1: o.b1,
            weight_lr_power: o.weight_lr_power,
            state_dtype: o.state_dtype,
        }
    }
}
