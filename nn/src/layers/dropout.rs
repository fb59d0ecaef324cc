//! `Dropout`: a layer that randomly zeroes elements.

use super::hyperparameters::hyperparameters;
use super::mode::Mode;
use crate::model::observed;
use crate::{Deterministic, Module, RngStream, Rngs, VarSource, linen};
use ramie_core::random::{self, Key};
use ramie_core::{Array, where_};
use std::borrow::Cow;

/// Sets random elements to zero and scales the others by `1 / (1 - rate)`, which preserves the
/// mean (`nnx.Dropout`, `nn.Dropout`).
///
/// Each call takes a key from the layer's RNG stream. After [`Module::eval`], the layer returns
/// its input unchanged.
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{Dropout, Module, Rngs};
/// let mut dropout = Dropout::new(0.1, &mut Rngs::new(0));
/// let x = Array::ones(&[32, 64], DType::F32);
/// let some = dropout.forward(&x);
/// dropout.eval();
/// let all = dropout.forward(&x);
/// ```
#[derive(Clone, Debug, Module)]
pub struct Dropout {
    /// The source of the keys. Without it, every call must provide a key.
    pub rngs: Option<RngStream>,
    /// Whether dropout is disabled.
    pub deterministic: Deterministic,
    /// Probability of dropping an element.
    pub rate: f64,
    /// Axes along which elements are dropped together: the mask is broadcast along them.
    pub broadcast_dims: Vec<isize>,
}

hyperparameters! {
    /// Options of a [`Dropout`] layer, where `rate` is the probability of dropping an element.
    ///
    /// As a Linen module, its argument is an array, `(x, Deterministic(!train))`, `(x, key)` or
    /// `(x, Deterministic(!train), key)`. Without a key, it takes one from the scope.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType, random};
    /// use ramie_nn::Deterministic;
    /// use ramie_nn::linen::{Apply, Dropout, Module, Variables};
    /// let x = Array::ones(&[4, 8], DType::F32);
    /// let keys = Apply::new().rngs([("dropout", random::key(1))]);
    /// let (y, _) = Dropout::new(0.5).apply_with(&Variables::new(), (x, Deterministic(false)), &keys);
    /// ```
    DropoutConfig as "Dropout" (rate: f64) {
        /// Sets the axes along which the mask is broadcast. Defaults to none.
        broadcast_dims: [Vec<isize>] = Vec::new(),
        /// Sets whether dropout is disabled. An NNX layer defaults to `false`; a Linen module
        /// has no default, so this setting or the call must provide it.
        deterministic: [Option<bool>] = None,
        /// Sets the RNG stream of the keys. Defaults to `dropout`.
        rng_collection: [&'static str] = "dropout",
    }
}

const MODE: Mode = Mode {
    class: "Dropout",
    name: "deterministic",
    call: "(x, Deterministic(!train))",
    decides: "whether dropout is disabled, as in evaluation",
};

/// Returns `true` if dropout needs a key: the rate is strictly between 0 and 1.
fn by_chance(rate: f64) -> bool {
    rate > 0.0 && rate < 1.0
}

/// Sets each element to zero with probability `rate`, and divides the others by `1 - rate`. The
/// key is required if `rate` is strictly between 0 and 1.
#[track_caller]
fn drop(x: &Array, rate: f64, broadcast_dims: &[isize], key: Option<Key>) -> Array {
    assert!(
        (0.0..=1.0).contains(&rate),
        "Dropout: the rate is {rate}, expected a probability\n  help: pass the fraction of \
         elements to drop, from 0.0 to 1.0"
    );
    if rate == 0.0 {
        return x.clone();
    }
    // Dividing by `1 - rate = 0` would give NaN gradients.
    if rate == 1.0 {
        return x.zeros_like();
    }
    let mut shape = x.shape().to_vec();
    for &dim in broadcast_dims {
        let at = if dim < 0 {
            dim + x.ndim() as isize
        } else {
            dim
        };
        let size = usize::try_from(at).ok().and_then(|at| shape.get_mut(at));
        *size.unwrap_or_else(|| {
            panic!(
                "Dropout: broadcast_dims contains {dim}, but the input is {}\n  help: axes count \
                 from 0, or from the last one as -1",
                x.aval()
            )
        }) = 1;
    }
    let key = key.expect("a key for dropout");
    let keep = 1.0 - rate;
    let mask = random::bernoulli(&key, keep, &shape).broadcast_to(x.shape());
    where_(&mask, x / keep, x.zeros_like())
}

impl Dropout {
    /// Creates a layer that drops elements with probability `rate`, with keys from the stream
    /// `dropout`.
    ///
    /// # Panics
    /// Panics if there is neither a stream `dropout` nor `default`.
    #[track_caller]
    pub fn new(rate: f64, rngs: &mut Rngs) -> Dropout {
        DropoutConfig::new(rate).build(rngs)
    }

    /// Returns the options of a layer that drops elements with probability `rate`.
    pub fn with_rate(rate: f64) -> DropoutConfig {
        DropoutConfig::new(rate)
    }

    /// Applies dropout, unless the layer is deterministic.
    ///
    /// # Panics
    /// Panics if the layer has no RNG stream, or if the rate is outside `[0, 1]`.
    #[track_caller]
    pub fn forward(&mut self, x: &Array) -> Array {
        observed!(mut self, |layer, x| layer.forward_with(x, None, None))
    }

    /// Like [`forward`](Dropout::forward), with an optional mode that overrides the layer's,
    /// and an optional key.
    ///
    /// # Panics
    /// Panics if neither the call nor the layer provides a key, or if the rate is outside
    /// `[0, 1]`.
    #[track_caller]
    pub fn forward_with(
        &mut self,
        x: &Array,
        deterministic: Option<bool>,
        key: Option<&Key>,
    ) -> Array {
        if deterministic.unwrap_or(self.deterministic.0) {
            return x.clone();
        }
        let key = match (key, &mut self.rngs) {
            _ if !by_chance(self.rate) => None,
            (Some(key), _) => Some(key.clone()),
            (None, Some(stream)) => Some(stream.next_key()),
            (None, None) => panic!(
                "Dropout: dropout is active, but neither the layer nor the call provides an RNG \
                 key\n  help: create the layer with Dropout::new(rate, &mut rngs), or pass a \
                 key: dropout.forward_with(&x, None, Some(&key)); in evaluation, call \
                 model.eval() first"
            ),
        };
        drop(x, self.rate, &self.broadcast_dims, key)
    }
}

impl DropoutConfig {
    /// Builds the layer. Its RNG stream is forked from the configured stream.
    ///
    /// # Panics
    /// Panics if neither that stream nor `default` exists.
    #[track_caller]
    pub fn build(&self, vars: &mut impl VarSource) -> Dropout {
        Dropout {
            rngs: vars.vars().fork_rng(self.rng_collection),
            ..self.build_without_keys()
        }
    }

    /// Builds the layer without an RNG stream; every call must provide a key.
    pub fn build_without_keys(&self) -> Dropout {
        Dropout {
            rngs: None,
            deterministic: Deterministic(self.deterministic.unwrap_or(false)),
            rate: self.rate,
            broadcast_dims: self.broadcast_dims.clone(),
        }
    }

    #[track_caller]
    fn call_with(
        &self,
        scope: &mut linen::Scope,
        x: &Array,
        deterministic: Option<bool>,
        key: Option<Key>,
    ) -> Array {
        if MODE.merged(self.deterministic, deterministic) {
            return x.clone();
        }
        let key = match key {
            None if by_chance(self.rate) => Some(scope.make_rng(self.rng_collection)),
            key => key,
        };
        drop(x, self.rate, &self.broadcast_dims, key)
    }
}

impl linen::Module for DropoutConfig {
    #[track_caller]
    fn call(&self, scope: &mut linen::Scope, x: Array) -> Array {
        self.call_with(scope, &x, None, None)
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(DropoutConfig::CLASS)
    }
}

/// Takes the mode of the call.
impl linen::Module<(Array, Deterministic)> for DropoutConfig {
    #[track_caller]
    fn call(&self, scope: &mut linen::Scope, (x, mode): (Array, Deterministic)) -> Array {
        self.call_with(scope, &x, Some(mode.0), None)
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(DropoutConfig::CLASS)
    }
}

/// Takes the mode and the key of the call.
impl linen::Module<(Array, Deterministic, Key)> for DropoutConfig {
    #[track_caller]
    fn call(&self, scope: &mut linen::Scope, (x, mode, key): (Array, Deterministic, Key)) -> Array {
        self.call_with(scope, &x, Some(mode.0), Some(key))
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(DropoutConfig::CLASS)
    }
}

/// Takes the key of the call.
impl linen::Module<(Array, Key)> for DropoutConfig {
    #[track_caller]
    fn call(&self, scope: &mut linen::Scope, (x, key): (Array, Key)) -> Array {
        self.call_with(scope, &x, None, Some(key))
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(DropoutConfig::CLASS)
    }
}
