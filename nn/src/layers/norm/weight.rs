//! `WeightNorm`: weight normalization of kernels.

use super::weights::{in_order, l2_normalized, run_with_parameters, slashed, with_parameters};
use crate::layers::hyperparameters::hyperparameters;
use crate::layers::promote::computed_in;
use crate::linen::{self, Adopted};
use crate::{Forward, Initializer, Module, Param, Rngs, init};
use ramie_core::options::Reduction;
use ramie_core::{Array, DType, State, Tree};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Substrings of paths.
type Names = Option<Vec<&'static str>>;

/// A layer whose kernels are normalized to unit length per feature and multiplied by learned
/// scales (`nnx.WeightNorm`, `nn.WeightNorm`; Salimans and Kingma, 2016).
///
/// The layer keeps the learned kernels, and calls compute with normalized ones; each call of
/// NNX's layer overwrites its kernels instead.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{Linear, Rngs, WeightNorm};
/// let rngs = &mut Rngs::new(0);
/// let mut layer = WeightNorm::new(Linear::new(3, 4, rngs), rngs);
/// let x = Array::ones(&[2, 3], DType::F32);
/// assert_eq!(layer.forward(&x).shape(), [2, 4]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct WeightNorm<L> {
    /// The normalized layer.
    pub layer_instance: L,
    /// The scales, if any, by the path of their kernel, with slashes.
    pub scales: BTreeMap<String, Param>,
    /// The feature axes of a kernel. Each feature has its own length and scale.
    pub feature_axes: Vec<isize>,
    /// The constant added to the squared length before the square root.
    pub epsilon: f64,
    /// The dtype of the normalized kernels. Defaults to the dtype that the kernel and the scale
    /// promote to.
    pub dtype: Option<DType>,
    /// Substrings that select parameters to normalize by their paths. `None` selects all
    /// parameters.
    pub variable_filter: Names,
}

hyperparameters! {
    /// Options of a [`WeightNorm`] around a layer that owns its variables, or around a Linen
    /// module.
    ///
    /// As a Linen module, its arguments are those of the wrapped module, whose parameters belong to
    /// the submodule `layer_instance`.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType, random};
    /// use ramie_nn::linen::{Dense, Module, WeightNorm};
    /// let x = Array::ones(&[2, 3], DType::F32);
    /// let variables = WeightNorm::new(Dense::new(4)).init(random::key(0), x);
    /// assert_eq!(variables["params"]["layer_instance/kernel/scale"].shape(), [4]);
    /// ```
    WeightNormConfig<L> as "WeightNorm" (layer_instance: L) {
        /// Sets the feature axes of a kernel. Defaults to the last axis. Without axes, the whole
        /// kernel has one length and one scale.
        feature_axes: [Vec<isize>] = vec![-1],
        /// Sets the constant added to the squared length before the square root. Defaults to 1e-12.
        epsilon: [f64] = 1e-12,
        /// Sets the dtype of the normalized kernels. Defaults to the dtype that the kernel and the
        /// scale promote to.
        dtype: [Option<DType>] = None,
        /// Sets the dtype of the scales. Defaults to `f32`.
        param_dtype: [DType] = DType::F32,
        /// Sets whether there are scales. Defaults to `true`.
        use_scale: [bool] = true,
        /// Sets the initializer of the scales. Defaults to ones.
        scale_init: [Initializer] = init::ones(),
        /// Sets the substrings that select parameters to normalize by their paths. Defaults to
        /// `kernel`; `None` selects all parameters.
        variable_filter: [Names] = Some(vec!["kernel"]),
    }
}

impl<L> WeightNormConfig<L> {
    /// Builds the layer with new scales. As in NNX, drawing them does not advance the RNG
    /// streams.
    #[track_caller]
    pub fn build(self, rngs: &mut Rngs) -> WeightNorm<L>
    where
        L: Tree,
    {
        let params = State::of(&self.layer_instance).of_kind(Param::KIND);
        let mut scales = BTreeMap::new();
        let kept = in_order(&params)
            .into_iter()
            .filter(|path| self.use_scale && accepted(&self.variable_filter, &slashed(path)));
        for (i, path) in kept.enumerate() {
            let shape = self.scale_shape(&params[&path]);
            // Derive a key from the next one without taking it.
            let key = rngs.get("params").peek();
            let key = key.fold_in(Array::scalar(i as u32, DType::U32));
            let scale = self.scale_init.draw(&key, &shape, self.param_dtype);
            scales.insert(slashed(&path), Param::new(scale));
        }
        WeightNorm {
            layer_instance: self.layer_instance,
            scales,
            feature_axes: self.feature_axes,
            epsilon: self.epsilon,
            dtype: self.dtype,
            variable_filter: self.variable_filter,
        }
    }

    #[track_caller]
    fn scale_shape(&self, value: &Array) -> Vec<usize> {
        let axes = features(value, &self.feature_axes);
        axes.iter().map(|&a| value.shape()[a]).collect()
    }
}

#[track_caller]
fn features(value: &Array, axes: &[isize]) -> Vec<usize> {
    super::statistics::positive_axes("WeightNorm", value, axes)
}

/// Returns `true` if the path contains one of the names.
fn accepted(filter: &Names, path: &str) -> bool {
    match filter {
        None => true,
        Some(names) => names.iter().any(|name| path.contains(name)),
    }
}

/// Returns a kernel normalized to the length given by `scale`, or to length 1.
#[track_caller]
fn normalized(
    value: &Array,
    scale: Option<&Array>,
    feature_axes: &[isize],
    epsilon: f64,
    dtype: Option<DType>,
) -> Array {
    let axes = features(value, feature_axes);
    let others: Vec<isize> = (0..value.ndim())
        .filter(|a| !axes.contains(a))
        .map(|a| a as isize)
        .collect();
    let mut out = l2_normalized(value, &Reduction::over(&others), epsilon);
    let mut operands = vec![value];
    if let Some(scale) = scale {
        let mut shape = vec![1; value.ndim()];
        for axis in axes {
            shape[axis] = value.shape()[axis];
        }
        out *= scale.reshape(&shape);
        operands.push(scale);
    }
    out.astype(computed_in(dtype, &operands))
}

impl<L: Tree> WeightNorm<L> {
    /// Creates the normalization of a layer. Its kernels initially have length one.
    #[track_caller]
    pub fn new(layer_instance: L, rngs: &mut Rngs) -> WeightNorm<L> {
        WeightNormConfig::new(layer_instance).build(rngs)
    }

    /// Returns the options of a normalization of this layer.
    pub fn of(layer_instance: L) -> WeightNormConfig<L> {
        WeightNormConfig::new(layer_instance)
    }

    /// Calls `call` with the layer, whose kernels are normalized.
    ///
    /// # Panics
    /// Panics if `call` does.
    #[track_caller]
    pub fn with<R>(&mut self, call: impl FnOnce(&mut L) -> R) -> R {
        let (scales, filter) = (&self.scales, &self.variable_filter);
        let other = |path: &str, value: &Array| {
            let name = slashed(path);
            if !accepted(filter, &name) {
                return value.clone();
            }
            let scale = scales.get(&name).map(Param::value);
            normalized(value, scale, &self.feature_axes, self.epsilon, self.dtype)
        };
        with_parameters(&mut self.layer_instance, other, call)
    }

    /// Computes the layer's output with normalized kernels.
    ///
    /// # Panics
    /// Panics as the layer's `forward` does.
    #[track_caller]
    pub fn forward(&mut self, x: &Array) -> Array
    where
        L: Forward,
    {
        self.with(|layer| layer.forward(x))
    }
}

impl<L: Forward> Forward for WeightNorm<L> {
    #[track_caller]
    fn forward(&mut self, x: &Array) -> Array {
        WeightNorm::forward(self, x)
    }
}

impl<A: Tree, O: Tree, M: linen::Module<A, O>> linen::Module<A, O> for WeightNormConfig<M> {
    #[track_caller]
    fn call(&self, scope: &mut linen::Scope, args: A) -> O {
        run_with_parameters(scope, &self.layer_instance, args, |scope, path, value| {
            if !accepted(&self.variable_filter, path) {
                return value.clone();
            }
            let shape = self.scale_shape(value);
            let scale = self.use_scale.then(|| {
                let name = format!("{path}/scale");
                scope.param(&name, &self.scale_init, &shape, self.param_dtype)
            });
            let scale = scale.as_ref().map(Param::value);
            normalized(value, scale, &self.feature_axes, self.epsilon, self.dtype)
        })
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(Self::CLASS)
    }
    fn adopted(&self) -> Vec<Adopted> {
        let part = Adopted::new("layer_instance", self.layer_instance.class_name());
        vec![part.with_parts(self.layer_instance.adopted())]
    }
}
