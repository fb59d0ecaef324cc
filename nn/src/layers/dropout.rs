//! `Dropout`.

use super::hyperparameters::hyperparameters;
use super::mode::Mode;
use crate::nnx::observed;
use crate::{Deterministic, Module, RngStream, Rngs, Vars, linen};
use ramie_core::random::{self, Key};
use ramie_core::{Array, where_};
use std::borrow::Cow;

/// Zeros in the place of some elements, by chance, and the others scaled up so
/// that the mean stays (`nnx.Dropout`, `nn.Dropout`).
///
/// Each call takes a key of the layer's stream; [`Module::eval`] has it drop
/// nothing.
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
    /// Where the keys of calls come from; without it each call is given one.
    pub rngs: Option<RngStream>,
    /// Whether nothing is dropped.
    pub deterministic: Deterministic,
    /// The probability of an element to be dropped.
    pub rate: f64,
    /// Axes along which elements are dropped together.
    pub broadcast_dims: Vec<isize>,
}

hyperparameters! {
    /// The hyperparameters of a [`Dropout`] layer, of which `rate` is the
    /// probability of an element to be dropped.
    ///
    /// As Linen's module it is called with an array, with `(x,
    /// Deterministic(!train))`, or with an array and a key. Without a key it
    /// takes one of the scope.
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
        /// Axes along which elements are dropped together; none by default.
        broadcast_dims: [Vec<isize>] = Vec::new(),
        /// Whether nothing is dropped. In the way of NNX elements are dropped
        /// by default, in that of Linen it must be said here or at the call.
        deterministic: [Option<bool>] = None,
        /// The stream that keys come from, `dropout` by default.
        rng_collection: [&'static str] = "dropout",
    }
}

const MODE: Mode = Mode {
    class: "Dropout",
    name: "deterministic",
    call: "(x, Deterministic(!train))",
    decides: "whether nothing is dropped, as in evaluation",
};

/// Whether a key decides what is dropped.
fn by_chance(rate: f64) -> bool {
    rate > 0.0 && rate < 1.0
}

/// Each element zero with probability `rate`, or divided by `1 - rate`. There is
/// a key if that is by chance.
#[track_caller]
fn drop(x: &Array, rate: f64, broadcast_dims: &[isize], key: Option<Key>) -> Array {
    assert!(
        (0.0..=1.0).contains(&rate),
        "Dropout: the rate is {rate}, expected a probability\n  help: it is the share of elements to \
         drop, not to keep: from 0.0 to 1.0"
    );
    if rate == 0.0 {
        return x.clone();
    }
    // Dividing by zero would leave gradients that are no numbers.
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
                "Dropout: axis {dim} of broadcast_dims is none of the input, {}\n  help: axes are \
                 counted from 0, or from the last one as -1",
                x.aval()
            )
        }) = 1;
    }
    let key = key.expect("a key where elements are dropped by chance");
    let keep = 1.0 - rate;
    let mask = random::bernoulli(&key, keep, &shape).broadcast_to(x.shape());
    where_(&mask, x / keep, x.zeros_like())
}

impl Dropout {
    /// A layer that drops elements with this probability, its keys from the
    /// stream `dropout`.
    ///
    /// # Panics
    /// If neither `dropout` nor `default` is among the streams.
    #[track_caller]
    pub fn new(rate: f64, rngs: &mut Rngs) -> Dropout {
        DropoutConfig::new(rate).build(rngs)
    }

    /// The hyperparameters of a layer that drops elements with this
    /// probability.
    pub fn with_rate(rate: f64) -> DropoutConfig {
        DropoutConfig::new(rate)
    }

    /// Drops elements, unless the layer is deterministic.
    ///
    /// # Panics
    /// If the layer has no stream of keys, or the rate is no probability.
    #[track_caller]
    pub fn forward(&mut self, x: &Array) -> Array {
        observed!(mut self, |layer, x| layer.forward_with(x, None, None))
    }

    /// [`forward`](Dropout::forward) with another mode than the layer's, and
    /// with a key.
    ///
    /// # Panics
    /// If no key is given and the layer has no stream of keys, or the rate is
    /// no probability.
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
                "Dropout: the layer has no stream of keys, and the call gives none\n  help: make it \
                 with Dropout::new(rate, &mut rngs), or give a key: dropout.forward_with(&x, None, \
                 Some(&key)); in evaluation, call model.eval() first"
            ),
        };
        drop(x, self.rate, &self.broadcast_dims, key)
    }
}

impl DropoutConfig {
    /// The layer, its stream of keys forked from that of the configured name.
    ///
    /// # Panics
    /// If neither the stream nor `default` is there.
    #[track_caller]
    pub fn build<'a>(&self, vars: impl Into<Vars<'a>>) -> Dropout {
        Dropout {
            rngs: vars.into().fork_rng(self.rng_collection),
            ..self.build_without_keys()
        }
    }

    /// The layer without a stream of keys; each call is given its key.
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
    fn call(&self, scope: &mut linen::Scope, x: Array) -> Array {
        self.call_with(scope, &x, None, None)
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(DropoutConfig::CLASS)
    }
}

/// With whether nothing is dropped.
impl linen::Module<(Array, Deterministic)> for DropoutConfig {
    fn call(&self, scope: &mut linen::Scope, (x, mode): (Array, Deterministic)) -> Array {
        self.call_with(scope, &x, Some(mode.0), None)
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(DropoutConfig::CLASS)
    }
}

/// With the key of the call.
impl linen::Module<(Array, Key)> for DropoutConfig {
    fn call(&self, scope: &mut linen::Scope, (x, key): (Array, Key)) -> Array {
        self.call_with(scope, &x, None, Some(key))
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(DropoutConfig::CLASS)
    }
}
