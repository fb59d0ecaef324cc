//! Optimizers that divide by the size of past gradients.

use crate::decay::decay;
use crate::momentum::trace_if;
use crate::options::options;
use crate::scale::scale_by_rate;
use crate::{
    GradientTransformation, ScaleByAdadelta, ScaleByFactoredRms, ScaleByRms, ScaleByRss,
    ScaleByStddev, chain, clip_by_block_rms, ema, scale, scale_by_learning_rate,
    scale_by_param_block_rms, scale_by_sm3,
};
use ramie_core::DType;

options! {
    /// AdaGrad: divides by the root of the sum of all squares so far, which
    /// suits sparse gradients.
    ///
    /// ```
    /// use ramie_optim::adagrad;
    /// let tx = adagrad(0.1);
    /// ```
    ///
    /// Duchi et al., *Adaptive Subgradient Methods for Online Learning and
    /// Stochastic Optimization*, 2011.
    adagrad(learning_rate: schedule) -> Adagrad {
        /// Where the sum begins.
        initial_accumulator_value: num = 0.1,
        /// Added inside the square root.
        eps: num = 1e-7,
    }
    |o| chain((
        ScaleByRss { initial_accumulator_value: o.initial_accumulator_value, eps: o.eps },
        scale_by_learning_rate(o.learning_rate),
    ))
}

options! {
    /// AdaDelta: divides by the root mean square of gradients and multiplies by
    /// that of updates.
    ///
    /// ```
    /// use ramie_optim::adadelta;
    /// let tx = adadelta(1.0);
    /// ```
    ///
    /// Zeiler, *Adadelta: An Adaptive Learning Rate Method*, 2012.
    adadelta(learning_rate: schedule) -> Adadelta {
        /// Decay of both means.
        rho: num = 0.9,
        /// Added inside the square roots.
        eps: num = 1e-6,
        /// The strength of weight decay.
        weight_decay: schedule = 0.0,
        /// Which parameters decay, by path and value; by default all.
        mask: mask,
    }
    |o| chain((
        decay(o.weight_decay, o.mask),
        ScaleByAdadelta { rho: o.rho, eps: o.eps },
        scale_by_learning_rate(o.learning_rate),
    ))
}

options! {
    /// RMSProp: divides by the root of a decaying mean of squares.
    ///
    /// ```
    /// use ramie_optim::rmsprop;
    /// let tx = rmsprop(1e-3).centered().momentum(0.9);
    /// ```
    ///
    /// Tieleman and Hinton, *Lecture 6.5: RMSProp*, 2012; Graves, *Generating
    /// Sequences With Recurrent Neural Networks*, 2013.
    rmsprop(learning_rate: schedule) -> Rmsprop {
        /// Decay of the mean of squares.
        decay: num = 0.9,
        /// Added to the denominator.
        eps: num = 1e-8,
        /// Where the mean begins.
        initial_scale: num = 0.0,
        /// Whether `eps` is added inside the square root.
        eps_in_sqrt: toggle = true,
        /// Divides by the standard deviation instead.
        centered: flag,
        /// Follows a decaying sum of past updates.
        momentum: optional,
        /// Looks one step ahead, where there is a momentum.
        nesterov: flag,
        /// Whether the mean is corrected for where it began.
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

/// A schedule, where there is one.
type MaybeSchedule = Option<crate::Schedule>;

options! {
    /// Adafactor: the mean of squares of a large matrix is kept as a row and a
    /// column. Memory for large models shrinks to little more than that of the
    /// parameters.
    ///
    /// Its `update` panics if it is not given the parameters.
    ///
    /// ```
    /// use ramie_optim::adafactor;
    /// let tx = adafactor().learning_rate(1e-2);
    /// ```
    ///
    /// Shazeer and Stern, *Adafactor: Adaptive Learning Rates with Sublinear
    /// Memory Cost*, 2018.
    adafactor() -> Adafactor {
        /// The length that the second longest axis of a factored array has at
        /// least.
        min_dim_size_to_factor: count = 128,
        /// The mean decays by `1 - tᵉ` with this negative exponent in step `t`.
        decay_rate: num = 0.8,
        /// Subtracted from the number of the step, for training that goes on.
        decay_offset: count = 0,
        /// Whether steps are scaled by the root mean square of the parameters.
        multiply_by_parameter_scale: toggle = true,
        /// The greatest root mean square of an array's update; `None` for no
        /// limit.
        clipping_threshold: MaybeNumber = Some(1.0),
        /// Follows a decaying mean of updates.
        momentum: optional,
        /// The element type of that mean.
        dtype_momentum: DType = DType::F32,
        /// Added to squares.
        eps: num = 1e-30,
        /// Whether large arrays are factored at all.
        factored: toggle = true,
        /// Which parameters decay, by path and value; by default all.
        mask: mask,
        /// The learning rate, by default 1; a constant or a schedule.
        rate: MaybeSchedule = None,
        /// The strength of weight decay, not multiplied by the learning rate;
        /// by default there is none.
        decay: MaybeSchedule = None,
    }
    |o| {
        let mut list: Vec<GradientTransformation> = vec![
            ScaleByFactoredRms {
                factored: o.factored,
                decay_rate: o.decay_rate,
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

/// A number, where there is one.
type MaybeNumber = Option<f64>;

impl Adafactor {
    /// The learning rate: a constant or a schedule.
    #[must_use]
    pub fn learning_rate(self, learning_rate: impl Into<crate::Schedule>) -> Adafactor {
        self.rate(Some(learning_rate.into()))
    }

    /// The strength of weight decay, not multiplied by the learning rate.
    #[must_use]
    pub fn weight_decay_rate(self, strength: impl Into<crate::Schedule>) -> Adafactor {
        self.decay(Some(strength.into()))
    }
}

options! {
    /// SM3: sums of squares of which only the greatest along each axis is kept.
    ///
    /// ```
    /// use ramie_optim::sm3;
    /// let tx = sm3(0.1);
    /// ```
    ///
    /// Anil et al., *Memory-Efficient Adaptive Optimization*, 2019.
    sm3(learning_rate: num) -> Sm3 {
        /// Decay of the mean of updates.
        momentum: num = 0.9,
    }
    |o| chain((scale_by_sm3().b1(o.momentum), scale(o.learning_rate.negative())))
}
