//! Optimizers that divide by the magnitude of past gradients.

use crate::base::given::CheckedSetting;
use crate::base::options::options;
use crate::transforms::decay::decay;
use crate::transforms::momentum::trace_if;
use crate::transforms::scale::scale_by_rate;
use crate::{
    GradientTransformation, ScaleByAdadelta, ScaleByFactoredRms, ScaleByRms, ScaleByRss,
    ScaleByStddev, Scaled, Schedule, chain, clip_by_block_rms, ema, scale, scale_by_learning_rate,
    scale_by_param_block_rms, scale_by_rss, scale_by_sm3,
};
use ramie_core::DType;

/// The options of [`adagrad`].
pub type Adagrad = Scaled<ScaleByRss>;

/// Creates an AdaGrad optimizer, which divides by the root of the sum of all squared
/// gradients so far. It suits sparse gradients.
///
/// ```
/// use ramie_optim::adagrad;
/// let tx = adagrad(0.1);
/// ```
///
/// Duchi et al., *Adaptive Subgradient Methods for Online Learning and
/// Stochastic Optimization*, 2011.
#[track_caller]
pub fn adagrad(learning_rate: impl Into<Schedule>) -> Adagrad {
    Scaled::new(scale_by_rss(), learning_rate)
}

options! {
    /// Creates an AdaDelta optimizer, which divides by the root mean square of the gradients and
    /// multiplies by that of the updates.
    ///
    /// ```
    /// use ramie_optim::adadelta;
    /// let tx = adadelta(1.0);
    /// ```
    ///
    /// Zeiler, *Adadelta: An Adaptive Learning Rate Method*, 2012.
    adadelta(learning_rate: schedule) -> Adadelta {
        /// Sets the decay rate of both means.
        rho: num = 0.9,
        /// Sets the constant added inside the square roots.
        eps: num = 1e-6,
        /// Sets the strength of weight decay.
        weight_decay: schedule = 0.0,
        /// Sets the predicate that selects the parameters to decay by path and array. Defaults to
        /// all.
        mask: mask,
    }
    |o| chain((
        decay(o.weight_decay, o.mask),
        ScaleByAdadelta { rho: o.rho, eps: o.eps },
        scale_by_learning_rate(o.learning_rate),
    ))
}

options! {
    /// Creates an RMSProp optimizer, which divides by the root of a decaying mean of squared
    /// gradients.
    ///
    /// ```
    /// use ramie_optim::rmsprop;
    /// let tx = rmsprop(1e-3).centered().momentum(0.9);
    /// ```
    ///
    /// Tieleman and Hinton, *Lecture 6.5: RMSProp*, 2012; Graves, *Generating
    /// Sequences With Recurrent Neural Networks*, 2013.
    rmsprop(learning_rate: schedule) -> Rmsprop {
        /// Sets the decay rate of the mean of squares.
        decay: num = 0.9,
        /// Sets the constant added to the denominator.
        eps: num = 1e-8,
        /// Sets the initial value of the mean.
        initial_scale: num = 0.0,
        /// Sets whether `eps` is added inside the square root.
        eps_in_sqrt: toggle = true,
        /// Divides by the standard deviation instead of the root mean square.
        centered: flag,
        /// Enables momentum with this decay rate, a decaying sum of past updates.
        momentum: optional,
        /// Uses Nesterov momentum. Has no effect without `momentum`.
        nesterov: flag,
        /// Sets whether the mean is bias-corrected.
        bias_correction: toggle = false,
    }
    |o| {
        let scaled: GradientTransformation = if o.centered {
            ScaleByStddev {
                decay: o.decay,
                eps: o.eps,
                initial_scale: o.initial_scale,
                eps_in_sqrt: o.eps_in_sqrt,
                bias_correction: o.bias_correction,
            }
            .into()
        } else {
            ScaleByRms {
                decay: o.decay,
                eps: o.eps,
                initial_scale: o.initial_scale,
                eps_in_sqrt: o.eps_in_sqrt,
                bias_correction: o.bias_correction,
            }
            .into()
        };
        chain((
            scaled,
            scale_by_learning_rate(o.learning_rate),
            trace_if(o.momentum, o.nesterov, None),
        ))
    }
}

/// An optional schedule.
type MaybeSchedule = Option<Schedule>;

options! {
    /// Creates an Adafactor optimizer, which stores the mean of squares of a large matrix as a
    /// row and a column. For large models, the state then takes little more memory than the
    /// parameters.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// ```
    /// use ramie_optim::adafactor;
    /// let tx = adafactor().learning_rate(1e-2);
    /// ```
    ///
    /// Shazeer and Stern, *Adafactor: Adaptive Learning Rates with Sublinear
    /// Memory Cost*, 2018.
    adafactor() -> Adafactor {
        /// Sets the minimum length of the second longest axis of arrays to factor.
        min_dim_size_to_factor: count = 128,
        /// Sets the exponent `c` of the decay rate `1 - t⁻ᶜ` of the mean in step `t`.
        decay_rate: num = 0.8,
        /// Sets the number to subtract from the step count, for example when fine-tuning.
        decay_offset: count = 0,
        /// Sets whether steps are multiplied by the root mean square of the parameters.
        multiply_by_parameter_scale: toggle = true,
        /// Sets the maximum root mean square of an array's update. `None` means no limit.
        clipping_threshold: MaybeNumber = Some(1.0),
        /// Enables momentum with this decay rate, a decaying mean of updates.
        momentum: optional,
        /// Sets the dtype of the momentum.
        dtype_momentum: DType = DType::F32,
        /// Sets the constant added to squares.
        eps: num = 1e-30,
        /// Sets whether large arrays are factored.
        factored: toggle = true,
        /// Sets the predicate that selects the parameters to decay by path and array. Defaults to
        /// all.
        mask: mask,
        /// Sets the learning rate, a constant or a schedule. `None` means 1.
        rate: MaybeSchedule = None,
        /// Sets the strength of weight decay, which is not multiplied by the learning rate.
        /// `None` means no weight decay.
        decay: MaybeSchedule = None,
    }
    |o| {
        let mut list: Vec<GradientTransformation> = vec![
            ScaleByFactoredRms {
                factored: o.factored,
                decay_rate: o.decay_rate,
                decay_rate_fn: None,
                step_offset: o.decay_offset,
                min_dim_size_to_factor: o.min_dim_size_to_factor,
                epsilon: o.eps,
            }
            .into(),
        ];
        list.extend(o.clipping_threshold.map(clip_by_block_rms));
        list.extend(o.rate.map(|rate| scale_by_rate(rate, false)));
        list.extend(o.multiply_by_parameter_scale.then(|| scale_by_param_block_rms(1e-3)));
        list.extend(o.momentum.map(|momentum| {
            ema(momentum).debias(false).accumulator_dtype(o.dtype_momentum).into()
        }));
        let mask = o.mask;
        list.extend(o.decay.map(|strength| decay(strength, mask)));
        list.push(scale(-1.0));
        chain(list)
    }
}

/// An optional number.
type MaybeNumber = Option<f64>;

impl Adafactor {
    /// Sets the learning rate, a constant or a schedule. Defaults to 1.
    #[must_use]
    #[track_caller]
    pub fn learning_rate(self, learning_rate: impl Into<Schedule>) -> Adafactor {
        self.rate(Some(learning_rate.into().given("learning_rate")))
    }

    /// Sets the strength of weight decay, which is not multiplied by the learning rate. Defaults
    /// to no weight decay.
    #[must_use]
    #[track_caller]
    pub fn weight_decay_rate(self, strength: impl Into<Schedule>) -> Adafactor {
        self.decay(Some(strength.into().given("weight_decay_rate")))
    }
}

options! {
    /// Creates an SM3 optimizer, which keeps sums of squares and stores only their maxima along
    /// each axis.
    ///
    /// ```
    /// use ramie_optim::sm3;
    /// let tx = sm3(0.1);
    /// ```
    ///
    /// Anil et al., *Memory-Efficient Adaptive Optimization*, 2019.
    sm3(learning_rate: num) -> Sm3 {
        /// Sets the decay rate of the mean of updates.
        momentum: num = 0.9,
    }
    |o| chain((scale_by_sm3().b1(o.momentum), scale(o.learning_rate.negative())))
}
