//! Schedule-free training: averages of iterates instead of schedules.

use crate::base::extra_args::expect_params;
use crate::base::numerics::safe_increment;
use crate::base::options::options;
use crate::base::wide::{number_dtype, wide, wide_state};
use crate::{
    ExtraArgs, GradientTransformation, OptState, add_decayed_weights, apply_updates, chain,
    scale_by_learning_rate, scale_by_rms, sgd, tree,
};
use ramie_core::{Array, DType, IntoArray, State, where_};
use ramie_derive::Tree;

/// The state of [`schedule_free`].
#[derive(Tree)]
pub struct ScheduleFreeState {
    /// Weight of the average in the parameters, 0-d.
    pub b1: Array,
    /// Sum of the weights of all iterates, 0-d.
    pub weight_sum: Array,
    /// Number of the step, counted from 1, 0-d `i32`.
    pub step_count: Array,
    /// Largest learning rate so far, 0-d.
    pub max_lr: Array,
    /// The state of the optimizer.
    pub base_optimizer_state: OptState,
    /// Iterates of the base optimizer.
    pub z: State,
}

/// Returns the average of the iterates, with which models are evaluated, in at least `f32`.
/// Gradients are taken at the parameters instead.
///
/// # Panics
/// Panics if the state is not that of [`schedule_free`], or has other paths than the parameters.
#[track_caller]
pub fn schedule_free_eval_params(state: &OptState, params: &State) -> State {
    let Some(state) = state.get::<ScheduleFreeState>() else {
        panic!(
            "schedule_free_eval_params: the state belongs to another transformation\n  help: pass \
             the state of schedule_free itself, not of a chain that contains it"
        )
    };
    average(params, &state.z, &state.b1)
}

fn average(params: &State, z: &State, b1: impl Into<crate::Hyperparam>) -> State {
    let b1 = b1.into();
    let rest = b1.rest();
    params.zip(z, |y, z| (&*wide(y) - &*wide(z) * &rest) / &b1)
}

options! {
    /// Creates a schedule-free optimizer: gradients are taken between the iterates of the base
    /// optimizer and their average. Use the average for evaluation, see
    /// [`schedule_free_eval_params`]. The base optimizer should have no momentum.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// ```
    /// use ramie_optim::{contrib::schedule_free, sgd};
    /// let tx = schedule_free(sgd(0.5), 0.5);
    /// ```
    ///
    /// Defazio et al., *The Road Less Scheduled*, 2024.
    schedule_free(base_optimizer: tx, learning_rate: schedule) -> ScheduleFree {
        /// Sets the weight of the average in the parameters at which gradients are taken.
        b1: num = 0.9,
        /// Sets the exponent of the largest learning rate so far in the weights of the iterates.
        weight_lr_power: num = 2.0,
        /// Sets the dtype of the iterates. Defaults to that of the parameters, but at least `f32`.
        state_dtype: dtype,
    }
    |o| {
        let (first, b1, dtype) = (o.base_optimizer.clone(), o.b1.clone(), o.state_dtype);
        GradientTransformation::with_extra_args(
            move |params| {
                let low = number_dtype(params);
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
                let wide_z = wide_state(&z);
                let x = average(params, &state.z, &o.b1);
                let x = x.zip(&wide_z, |x, z| x * (1.0_f64 - &part) + z * &part);
                let rest = o.b1.rest();
                let new = x.zip(&wide_z, |x, z| x * &o.b1 + z * &rest);
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

/// The number of steps of a warm-up of the learning rate.
type Warmup = Option<u32>;

/// Returns the learning rate, after a linear warm-up from zero.
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
    /// Creates a schedule-free gradient descent optimizer, see [`schedule_free`].
    ///
    /// ```
    /// use ramie_optim::contrib::schedule_free_sgd;
    /// let tx = schedule_free_sgd(1.0).warmup_steps(Some(1000));
    /// ```
    ///
    /// Defazio et al., *The Road Less Scheduled*, 2024.
    schedule_free_sgd(learning_rate: num) -> ScheduleFreeSgd {
        /// Sets the number of steps of a linear warm-up. `None` means no warm-up.
        warmup_steps: Warmup = None,
        /// Sets the weight of the average in the parameters at which gradients are taken.
        b1: num = 0.9,
        /// Sets the strength of weight decay. Defaults to no weight decay.
        weight_decay: optional,
        /// Sets the exponent of the largest learning rate so far in the weights of the iterates.
        weight_lr_power: num = 2.0,
        /// Sets the dtype of the iterates. Defaults to that of the parameters, but at least `f32`.
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
    /// Creates a schedule-free AdamW optimizer, see [`schedule_free`].
    ///
    /// ```
    /// use ramie_optim::contrib::schedule_free_adamw;
    /// let tx = schedule_free_adamw(2.5e-3).weight_decay(0.01);
    /// ```
    ///
    /// Defazio et al., *The Road Less Scheduled*, 2024.
    schedule_free_adamw(learning_rate: num) -> ScheduleFreeAdamW {
        /// Sets the number of steps of a linear warm-up. `None` means no warm-up.
        warmup_steps: Warmup = None,
        /// Sets the weight of the average in the parameters at which gradients are taken.
        b1: num = 0.9,
        /// Sets the decay rate of the mean of squares.
        b2: num = 0.999,
        /// Sets the constant added to the denominator.
        eps: num = 1e-8,
        /// Sets the strength of weight decay.
        weight_decay: schedule = 0.0,
        /// Sets the exponent of the largest learning rate so far in the weights of the iterates.
        weight_lr_power: num = 2.0,
        /// Sets the dtype of the iterates. Defaults to that of the parameters, but at least `f32`.
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
