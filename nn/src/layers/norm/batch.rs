//! `BatchNorm`: batch normalization.

use super::statistics::{Normalization, positive_axes};
use super::{biased_norm_hyperparameters, linen_norm};
use crate::layers::in_scope;
use crate::layers::mode::Mode;
use crate::model::observed;
use crate::wide::wide;
use crate::{BatchStat, Module, Param, Rngs, UseRunningAverage, VarSource, linen};
use ramie_core::dtypes::promote_types;
use ramie_core::{Array, DType};
use std::borrow::Cow;

/// Normalizes each feature by its mean and variance over the batch, or by their running
/// averages (`nnx.BatchNorm`, `nn.BatchNorm`).
///
/// In training mode it uses the statistics of the batch and updates the running averages. After
/// [`Module::eval`] it uses the running averages.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{BatchNorm, Module, Rngs};
/// let mut norm = BatchNorm::new(3, &mut Rngs::new(0));
/// let x = Array::ones(&[8, 16, 16, 3], DType::F32);
/// let y = norm.forward(&x);
/// norm.eval();
/// let y = norm.forward(&x);
/// ```
#[derive(Clone, Debug, Module)]
pub struct BatchNorm {
    /// The running mean of each feature.
    pub mean: BatchStat,
    /// The running variance of each feature.
    pub var: BatchStat,
    /// The scale of each feature, if any.
    pub scale: Option<Param>,
    /// The bias of each feature, if any.
    pub bias: Option<Param>,
    /// Whether to normalize by the running averages instead of the statistics of the batch.
    pub use_running_average: UseRunningAverage,
    /// The options of the layer. Changes of their public fields apply to later calls.
    pub config: BatchNormConfig,
}

biased_norm_hyperparameters! {
    /// Options of a [`BatchNorm`] layer.
    ///
    /// As a Linen module, its argument is an array, `(x, UseRunningAverage(!train))`, an array
    /// and a mask, or all three in the order `(x, mode, mask)`. Its running averages are `mean` and `var` in the collection
    /// `batch_stats`, which must be mutable in training.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType, random};
    /// use ramie_nn::UseRunningAverage;
    /// use ramie_nn::linen::{Apply, BatchNorm, Module};
    /// let x = Array::ones(&[8, 3], DType::F32);
    /// let train = (x, UseRunningAverage(false));
    /// let variables = BatchNorm::new().init(random::key(0), train.clone());
    /// let options = Apply::new().mutable("batch_stats");
    /// let (y, updates) = BatchNorm::new().apply_with(&variables, train, &options);
    /// let variables = variables.updated(updates);
    /// ```
    BatchNormConfig as "BatchNorm", epsilon 1e-5 {
        /// Sets whether to use the running averages. An NNX layer defaults to `false`; a Linen
        /// module has no default, so this setting or the call must provide it.
        use_running_average: [Option<bool>] = None,
    } calls {
        /// Sets the feature axis. Defaults to the last axis.
        axis: [isize] = -1,
        /// Sets the weight of the old running average in an update. Defaults to 0.99.
        momentum: [f64] = 0.99,
    }
}

const MODE: Mode = Mode {
    class: "BatchNorm",
    name: "use_running_average",
    call: "(x, UseRunningAverage(!train))",
    decides: "whether the running statistics are used, as in evaluation, or those of the batch",
};

impl BatchNorm {
    /// Creates a layer for inputs of `num_features`, with scale one and bias zero.
    #[track_caller]
    pub fn new(num_features: usize, rngs: &mut Rngs) -> BatchNorm {
        BatchNorm::config().build(num_features, rngs)
    }

    /// Returns the default options; [`build`](BatchNormConfig::build) creates the layer.
    pub fn config() -> BatchNormConfig {
        BatchNormConfig::new()
    }

    /// Normalizes the input; the shape is unchanged. Updates the running averages unless they
    /// are used for the normalization.
    ///
    /// # Panics
    /// Panics if the size of the input's feature axis is not that of the layer.
    #[track_caller]
    pub fn forward(&mut self, x: &Array) -> Array {
        observed!(mut self, |layer, x| layer.forward_with(x, None, None))
    }

    /// Like [`forward`](BatchNorm::forward), with an optional mode that overrides the layer's,
    /// and an optional mask. The statistics only include elements where the mask, which
    /// broadcasts to the input, is true.
    ///
    /// # Panics
    /// Panics as [`forward`](BatchNorm::forward) does, and if the mask does not broadcast to
    /// the input.
    #[track_caller]
    pub fn forward_with(
        &mut self,
        x: &Array,
        use_running_average: Option<bool>,
        mask: Option<&Array>,
    ) -> Array {
        let class = BatchNormConfig::CLASS;
        let features = positive_axes(class, x, &[self.config.axis]);
        Normalization::expect_features(class, "mean", &self.mean, x, &features);
        let axes: Vec<usize> = (0..x.ndim()).filter(|a| !features.contains(a)).collect();
        let (scale, bias) = (self.scale.as_ref(), self.bias.as_ref());
        let mut normalization = self.config.normalization(&axes, &features, scale, bias);
        let mut x = x.clone();
        let (mut mean, mut var) = (self.mean.value().clone(), self.var.value().clone());
        normalization.promote([&mut x, &mut mean, &mut var]);
        if !use_running_average.unwrap_or(self.use_running_average.0) {
            (mean, var) = normalization.statistics(&x, &axes, mask, true);
            let momentum = self.config.momentum;
            let kept = |old: &BatchStat, new: &Array| {
                let sum = &*wide(old.value()) * momentum + &*wide(new) * (1.0 - momentum);
                sum.astype(promote_types(old.dtype(), new.dtype()))
            };
            let (running_mean, running_var) = (kept(&self.mean, &mean), kept(&self.var, &var));
            self.mean.set(running_mean);
            self.var.set(running_var);
        }
        normalization.of(&x, &mean, &var)
    }
}

impl BatchNormConfig {
    /// Builds the layer for inputs of `num_features`, with running mean zero and running
    /// variance one.
    ///
    /// Each new parameter takes a key from the stream `params`.
    #[track_caller]
    pub fn build(&self, num_features: usize, vars: &mut impl VarSource) -> BatchNorm {
        let vars = &mut vars.vars();
        let features = [num_features];
        let kept_in = if self.force_float32_reductions {
            DType::F32
        } else {
            self.param_dtype
        };
        BatchNorm {
            mean: vars.variable("mean", || Array::zeros(&features, kept_in)),
            var: vars.variable("var", || Array::ones(&features, kept_in)),
            scale: self.scale(vars, &features),
            bias: self.bias(vars, &features),
            use_running_average: UseRunningAverage(self.use_running_average.unwrap_or(false)),
            config: self.clone(),
        }
    }

    #[track_caller]
    fn call_with(
        &self,
        scope: &mut linen::Scope,
        x: &Array,
        mode: Option<UseRunningAverage>,
        mask: Option<&Array>,
    ) -> Array {
        let running = MODE.merged(self.use_running_average, mode.map(|mode| mode.0));
        let axis = positive_axes(Self::CLASS, x, &[self.axis])[0];
        let initializing = scope.is_initializing();
        in_scope!(scope, |vars| self.build(x.shape()[axis], vars), |layer| {
            // Initialization runs outside of the mapped function, so there is no axis to
            // average over.
            if initializing {
                layer.config.axis_name = None;
            }
            layer.forward_with(x, Some(running), mask)
        },)
    }

    #[track_caller]
    fn call_in(&self, scope: &mut linen::Scope, x: &Array, mask: Option<&Array>) -> Array {
        self.call_with(scope, x, None, mask)
    }
}

linen_norm!(BatchNormConfig);

/// Takes the mode of the call.
impl linen::Module<(Array, UseRunningAverage)> for BatchNormConfig {
    #[track_caller]
    fn call(&self, scope: &mut linen::Scope, (x, mode): (Array, UseRunningAverage)) -> Array {
        self.call_with(scope, &x, Some(mode), None)
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(BatchNormConfig::CLASS)
    }
}

/// Takes the mode of the call and a mask: the statistics only include elements where it is
/// true.
impl linen::Module<(Array, UseRunningAverage, Array)> for BatchNormConfig {
    #[track_caller]
    fn call(
        &self,
        scope: &mut linen::Scope,
        (x, mode, mask): (Array, UseRunningAverage, Array),
    ) -> Array {
        self.call_with(scope, &x, Some(mode), Some(&mask))
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(BatchNormConfig::CLASS)
    }
}
