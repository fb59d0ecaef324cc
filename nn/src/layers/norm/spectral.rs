//! `SpectralNorm`: spectral normalization of kernels.

use super::weights::{in_order, l2_normalized, run_with_parameters, slashed, with_parameters};
use crate::layers::hyperparameters::hyperparameters;
use crate::layers::promote::computed_in;
use crate::linen::{self, Adopted};
use crate::{BatchStat, Forward, Module, Param, Rngs, UseRunningAverage, init};
use ramie_core::options::Reduction;
use ramie_core::{Array, DType, State, Tree, where_};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A layer whose kernels are divided by their largest singular value (`nnx.SpectralNorm`,
/// `nn.SpectralNorm`; Miyato et al., 2018).
///
/// The singular value is estimated by power iteration, which each call in training mode
/// continues. After [`Module::eval`] the estimates no longer change. The layer keeps the learned
/// kernels, and calls compute with normalized ones; each call of NNX's layer overwrites its
/// kernels instead.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{Linear, Rngs, SpectralNorm};
/// let rngs = &mut Rngs::new(0);
/// let mut layer = SpectralNorm::new(Linear::new(3, 4, rngs), rngs);
/// let x = Array::ones(&[2, 3], DType::F32);
/// assert_eq!(layer.forward(&x).shape(), [2, 4]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct SpectralNorm<L> {
    /// The normalized layer.
    pub layer_instance: L,
    /// The estimated singular vector `u` and singular value `sigma` of each parameter with two
    /// or more axes. Keys are the parameter's path, with slashes, followed by `/u` or `/sigma`.
    pub batch_stats: BTreeMap<String, BatchStat>,
    /// Whether the estimates stay unchanged.
    pub use_running_average: UseRunningAverage,
    /// Number of power iterations per call. With 0, nothing is normalized.
    pub n_steps: usize,
    /// The constant added to squared norms before the square root.
    pub epsilon: f64,
    /// The dtype of the normalized kernels. Defaults to the dtype that the kernel and the
    /// estimates promote to.
    pub dtype: Option<DType>,
}

hyperparameters! {
    /// Options of a [`SpectralNorm`] around a layer that owns its variables, or around a Linen
    /// module.
    ///
    /// As a Linen module, its argument is `(arguments, UseRunningAverage(!train))`. The parameters
    /// of the wrapped module belong to the submodule `layer_instance`. The estimates are in the
    /// collection `batch_stats`, which must be mutable in training.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType, random};
    /// use ramie_nn::UseRunningAverage;
    /// use ramie_nn::linen::{Dense, Module, SpectralNorm};
    /// let x = Array::ones(&[2, 3], DType::F32);
    /// let module = SpectralNorm::new(Dense::new(4));
    /// let variables = module.init(random::key(0), (x, UseRunningAverage(false)));
    /// assert_eq!(variables["batch_stats"]["layer_instance/kernel/u"].shape(), [1, 4]);
    /// ```
    SpectralNormConfig<L> as "SpectralNorm" (layer_instance: L) {
        /// Sets the number of power iterations per call. Defaults to 1. With 0, nothing is
        /// normalized.
        n_steps: [usize] = 1,
        /// Sets the constant added to squared norms before the square root. Defaults to 1e-12.
        epsilon: [f64] = 1e-12,
        /// Sets the dtype of the normalized kernels. Defaults to the dtype that the kernel and the
        /// estimates promote to.
        dtype: [Option<DType>] = None,
        /// Sets the dtype of the estimates. Defaults to `f32`.
        param_dtype: [DType] = DType::F32,
        /// Sets whether to panic for parameters with more than two axes. Defaults to `false`, which
        /// treats them as matrices with the last axis as columns.
        error_on_non_matrix: [bool] = false,
        /// Sets the Linen collection of the estimates. Defaults to `batch_stats`.
        collection_name: [&'static str] = "batch_stats",
    }
}

impl<L> SpectralNormConfig<L> {
    /// Returns `true` if the parameter is normalized.
    ///
    /// # Panics
    /// Panics if the parameter has more than two axes and `error_on_non_matrix` is set.
    #[track_caller]
    fn accepts(&self, path: &str, value: &Array) -> bool {
        let accepted = value.ndim() > 1 && self.n_steps > 0;
        assert!(
            !accepted || value.ndim() == 2 || !self.error_on_non_matrix,
            "SpectralNorm: `{path}` is {}, expected a matrix\n  help: remove \
             error_on_non_matrix(true) to treat it as a matrix with the last axis as columns",
            value.aval()
        );
        accepted
    }

    /// Builds the layer with initial estimates, each of which takes a key from the stream
    /// `params`.
    ///
    /// # Panics
    /// Panics if a parameter has more than two axes and `error_on_non_matrix` is set.
    #[track_caller]
    pub fn build(self, rngs: &mut Rngs) -> SpectralNorm<L>
    where
        L: Tree,
    {
        let params = State::of(&self.layer_instance).of_kind(Param::KIND);
        let mut batch_stats = BTreeMap::new();
        for path in in_order(&params) {
            let value = &params[&path];
            if !self.accepts(&path, value) {
                continue;
            }
            let shape = [1, columns(value)];
            let u = init::normal(1e-2).draw(&rngs.params(), &shape, self.param_dtype);
            let sigma = Array::ones(&[], self.param_dtype);
            let name = slashed(&path);
            batch_stats.insert(format!("{name}/u"), BatchStat::new(u));
            batch_stats.insert(format!("{name}/sigma"), BatchStat::new(sigma));
        }
        SpectralNorm {
            layer_instance: self.layer_instance,
            batch_stats,
            use_running_average: UseRunningAverage(false),
            n_steps: self.n_steps,
            epsilon: self.epsilon,
            dtype: self.dtype,
        }
    }
}

fn columns(value: &Array) -> usize {
    value.shape()[value.ndim() - 1]
}

/// Returns a parameter divided by the estimate of its largest singular value, and the new
/// estimates: singular vector and value. Makes at least one power iteration.
#[track_caller]
fn normalized(
    value: &Array,
    u: &Array,
    n_steps: usize,
    epsilon: f64,
    dtype: Option<DType>,
) -> (Array, Array, Array) {
    let columns = columns(value);
    let matrix = value.reshape(&[value.size() / columns.max(1), columns]);
    let transposed = matrix.transpose(&[1, 0]);
    let unit = |x: Array| l2_normalized(&x, &Reduction::all(), epsilon);
    // A power iteration: `v = M u / |M u|`, then `u = Mᵀ v / |Mᵀ v|`, here with rows for vectors.
    let step = |u: &Array| {
        let v = unit(u.matmul(&transposed));
        (unit(v.matmul(&matrix)), v)
    };
    let (mut u, mut v) = step(u);
    for _ in 1..n_steps {
        (u, v) = step(&u);
    }
    // With constant vectors, the gradient of `σ = v M uᵀ` is `vᵀ u`, as for the largest singular
    // value (Miyato et al., 2018).
    let (u, v) = (u.stop_gradient(), v.stop_gradient());
    let sigma = v.matmul(&matrix).matmul(u.transpose(&[1, 0])).reshape(());
    let divisor = where_(sigma.ne(0.0), &sigma, 1.0);
    let out = (matrix / divisor).reshape(value.shape());
    let out = out.astype(computed_in(dtype, &[value, &u, &v, &sigma]));
    (out, u, sigma)
}

impl<L: Tree> SpectralNorm<L> {
    /// Creates the normalization of a layer, with one power iteration per call.
    #[track_caller]
    pub fn new(layer_instance: L, rngs: &mut Rngs) -> SpectralNorm<L> {
        SpectralNormConfig::new(layer_instance).build(rngs)
    }

    /// Returns the options of a normalization of this layer.
    pub fn of(layer_instance: L) -> SpectralNormConfig<L> {
        SpectralNormConfig::new(layer_instance)
    }

    /// Calls `call` with the layer, whose parameters are normalized. Updates the estimates if
    /// `update_stats` is true; by default, if the layer is in training mode.
    ///
    /// # Panics
    /// Panics if `call` does.
    #[track_caller]
    pub fn with<R>(&mut self, update_stats: Option<bool>, call: impl FnOnce(&mut L) -> R) -> R {
        let update = update_stats.unwrap_or(!self.use_running_average.0);
        let stats = &mut self.batch_stats;
        let other = |path: &str, value: &Array| {
            let name = slashed(path);
            let Some(u) = stats.get(&format!("{name}/u")) else {
                return value.clone();
            };
            let (out, u, sigma) = normalized(value, u, self.n_steps, self.epsilon, self.dtype);
            if update {
                for (what, new) in [("u", u), ("sigma", sigma)] {
                    if let Some(kept) = stats.get_mut(&format!("{name}/{what}")) {
                        kept.set(new);
                    }
                }
            }
            out
        };
        with_parameters(&mut self.layer_instance, other, call)
    }

    /// Computes the layer's output with normalized parameters.
    ///
    /// # Panics
    /// Panics as the layer's `forward` does.
    #[track_caller]
    pub fn forward(&mut self, x: &Array) -> Array
    where
        L: Forward,
    {
        self.with(None, |layer| layer.forward(x))
    }
}

impl<L: Forward> Forward for SpectralNorm<L> {
    #[track_caller]
    fn forward(&mut self, x: &Array) -> Array {
        SpectralNorm::forward(self, x)
    }
}

impl<A, O, M> linen::Module<(A, UseRunningAverage), O> for SpectralNormConfig<M>
where
    A: Tree,
    O: Tree,
    M: linen::Module<A, O>,
{
    #[track_caller]
    fn call(&self, scope: &mut linen::Scope, (args, mode): (A, UseRunningAverage)) -> O {
        run_with_parameters(scope, &self.layer_instance, args, |scope, path, value| {
            if !self.accepts(path, value) {
                return value.clone();
            }
            let collection = self.collection_name;
            let [u_name, sigma_name] = ["u", "sigma"].map(|what| format!("{path}/{what}"));
            // The key is drawn here, because `scope.variable` borrows the scope while it calls the
            // closure.
            let key = if scope.has_variable(collection, &u_name) {
                None
            } else {
                Some(scope.make_rng("params"))
            };
            let u = scope.variable(collection, &u_name, || {
                let key = key.expect("a key for a new variable");
                init::normal(1.0).draw(&key, &[1, columns(value)], self.param_dtype)
            });
            scope.variable(collection, &sigma_name, || {
                Array::ones(&[], self.param_dtype)
            });
            let (out, u, sigma) = normalized(value, &u, self.n_steps, self.epsilon, self.dtype);
            if !mode.0 {
                scope.put_variable(collection, &u_name, u);
                scope.put_variable(collection, &sigma_name, sigma);
            }
            out
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
