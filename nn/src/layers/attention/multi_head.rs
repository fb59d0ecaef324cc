//! `MultiHeadAttention`.

use super::cache;
use super::dot_product::{
    AttentionDropout, AttentionOptions, dot_product_attention_weights, weigh,
};
use super::function::AttentionFn;
use super::inputs::AttentionInputs;
use super::mask::combine_masks_with;
use super::rotary::RotaryEmbedding;
use crate::init::{self, Initializer};
use crate::layers::hyperparameters::hyperparameters;
use crate::nnx::{Intermediates, observed};
use crate::{Cache, Deterministic, LayerNorm, LinearGeneral, Module, RngStream, Rngs, Vars};
use ramie_core::random::Key;
use ramie_core::{Array, DType, Precision};

/// Attention with several heads: inputs are projected to queries, keys and values
/// for each head, and what the heads attend to is projected back
/// (`nnx.MultiHeadAttention`, `nn.MultiHeadDotProductAttention`).
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{AttentionInputs, MultiHeadAttention, Rngs};
/// let mut layer = MultiHeadAttention::new(8, 64, &mut Rngs::new(0));
/// let x = Array::zeros(&[2, 10, 64], DType::F32);
/// assert_eq!(layer.forward(&x).shape(), x.shape());
///
/// // Step by step, with keys and values of the steps before kept.
/// layer.init_cache(&[2, 100, 64], DType::F32);
/// layer.decode = true;
/// let step = Array::zeros(&[2, 1, 64], DType::F32);
/// assert_eq!(layer.forward(&step).shape(), step.shape());
/// ```
#[derive(Clone, Debug, Module)]
pub struct MultiHeadAttention {
    /// Projects to queries, `[features, heads, size]`.
    pub query: LinearGeneral,
    /// Projects to keys, `[features, heads, size]`.
    pub key: LinearGeneral,
    /// Projects to values, `[features, heads, size]`.
    pub value: LinearGeneral,
    /// Normalizes queries, if they are.
    pub query_ln: Option<LayerNorm>,
    /// Normalizes keys, if they are.
    pub key_ln: Option<LayerNorm>,
    /// Projects back, `[heads, size, features]`.
    pub out: LinearGeneral,
    /// Where the keys for dropping weights come from.
    pub rngs: Option<RngStream>,
    /// Keys seen so far, `[batch.., max_length, heads, size]`.
    pub cached_key: Option<Cache>,
    /// Values seen so far, in the same shape.
    pub cached_value: Option<Cache>,
    /// How many were seen, 0-d `i32`.
    pub cache_index: Option<Cache>,
    /// Whether inputs are the next ones of a sequence, whose beginning is in the
    /// cache.
    pub decode: bool,
    /// Whether no weights are dropped.
    pub deterministic: Deterministic,
    /// Probability of dropping an attention weight.
    pub dropout_rate: f64,
    /// Whether the same weights are dropped for all examples and heads.
    pub broadcast_dropout: bool,
    /// Rotates queries and keys by their places, if they are.
    pub rotary: Option<RotaryEmbedding>,
    /// The dtype of the computation. Defaults to the dtype that the inputs and the parameters
    /// promote to.
    pub dtype: Option<DType>,
    /// The precision of the products.
    #[tree(fixed)]
    pub precision: Option<Precision>,
    /// Whether the softmax is always computed in `f32`.
    pub force_fp32_for_softmax: bool,
    /// How the layer attends.
    #[tree(fixed)]
    pub attention_fn: AttentionFn,
    /// Whether weights are kept for inspection.
    pub sow_weights: bool,
    /// Weights of calls, as `attention_weights`, while
    /// [`nnx::capture`](crate::nnx::capture) records.
    pub intermediates: Intermediates,
}

hyperparameters! {
    /// The hyperparameters of a [`MultiHeadAttention`], which is Linen's module
    /// `MultiHeadAttention`.
    ///
    /// As Linen's module it is called with an array, for self attention, or with
    /// [`AttentionInputs`].
    ///
    /// ```no_run
    /// use ramie_nn::{MultiHeadAttention, Rngs};
    /// // Eight heads of queries share two of keys and values.
    /// let layer = MultiHeadAttention::heads(8)
    ///     .num_kv_heads(2)
    ///     .use_bias(false)
    ///     .build(64, &mut Rngs::new(0));
    /// ```
    MultiHeadAttentionConfig as "MultiHeadAttention" (num_heads: usize) {
        /// The features of all heads together, by default those of the input.
        qkv_features: [Option<usize>] = None,
        /// The features of the result, by default those of the input.
        out_features: [Option<usize>] = None,
        /// How many heads keys and values have, which divides that of queries; by
        /// default as many.
        num_kv_heads: [Option<usize>] = None,
        /// The features of the inputs of keys and values, by default those of
        /// the inputs of queries. In the way of Linen the inputs tell.
        in_kv_features: [Option<usize>] = None,
        /// Sets the dtype of the computation. Defaults to the dtype that the inputs and the
        /// parameters promote to.
        dtype: [Option<DType>] = None,
        /// Sets the dtype of the parameters. Defaults to `f32`.
        param_dtype: [DType] = DType::F32,
        /// Whether the same weights are dropped for all examples and heads, as by
        /// default.
        broadcast_dropout: [bool] = true,
        /// The probability of a weight to be dropped, 0 by default.
        dropout_rate: [f64] = 0.0,
        /// Whether no weights are dropped. In the way of NNX they are dropped by
        /// default, in that of Linen it must be said here or at the call.
        deterministic: [Option<bool>] = None,
        /// Sets the precision of the products.
        precision: [Option<Precision>] = None,
        /// How kernels are drawn, [`lecun_normal`](init::lecun_normal) by
        /// default.
        kernel_init: [Initializer] = init::lecun_normal(),
        /// How the kernel of the last projection is drawn, by default as the
        /// others.
        out_kernel_init: [Option<Initializer>] = None,
        /// Sets the initializer of the biases. Defaults to zeros.
        bias_init: [Initializer] = init::zeros(),
        /// How the bias of the last projection is drawn, by default as the
        /// others.
        out_bias_init: [Option<Initializer>] = None,
        /// Whether the projections have biases; they have by default.
        use_bias: [bool] = true,
        /// How the layer attends.
        attention_fn: [AttentionFn] = AttentionFn::default(),
        /// Whether inputs are the next ones of a sequence, whose beginning is in
        /// the cache.
        decode: [bool] = false,
        /// Whether queries and keys are normalized (Dehghani et al., 2023).
        normalize_qk: [bool] = false,
        /// Sets whether the softmax is always computed in `f32`.
        force_fp32_for_softmax: [bool] = false,
        /// Rotates queries and keys by their places.
        rotary: [Option<RotaryEmbedding>] = None,
        /// Whether weights are kept for inspection as `attention_weights`: in the
        /// way of Linen in `intermediates`, if that collection may be changed, in
        /// that of NNX while [`nnx::capture`](crate::nnx::capture) records.
        sow_weights: [bool] = false,
        /// The name of Linen's class, of which automatic names are made.
        class: [&'static str] = Self::CLASS,
    }
}

impl MultiHeadAttention {
    /// Self attention of `num_heads` heads on `in_features` features.
    ///
    /// # Panics
    /// If the heads do not divide the features.
    #[track_caller]
    pub fn new(num_heads: usize, in_features: usize, rngs: &mut Rngs) -> MultiHeadAttention {
        MultiHeadAttention::heads(num_heads).build(in_features, rngs)
    }

    /// The hyperparameters of a layer of `num_heads` heads, to be changed before
    /// [`build`](MultiHeadAttentionConfig::build) makes the layer.
    pub fn heads(num_heads: usize) -> MultiHeadAttentionConfig {
        MultiHeadAttentionConfig::new(num_heads)
    }

    /// Self attention: `[batch.., length, features]` to the same.
    ///
    /// # Panics
    /// As [`forward_with`](MultiHeadAttention::forward_with).
    #[track_caller]
    pub fn forward(&mut self, x: &Array) -> Array {
        observed!(mut self, |layer, x| layer.forward_with(&AttentionInputs::of(x)))
    }

    /// Attention of queries to keys, with masks.
    ///
    /// # Panics
    /// If shapes do not fit together, there is no cache for decoding or no room in
    /// it, or weights are to be dropped and there is no key.
    #[track_caller]
    pub fn forward_with(&mut self, inputs: &AttentionInputs) -> Array {
        let (out, weights) = self.attend(inputs, self.sow_weights);
        if let Some(weights) = weights {
            self.intermediates.sow("attention_weights", &weights);
        }
        out
    }

    /// [`forward_with`](MultiHeadAttention::forward_with), and the weights,
    /// `[batch.., heads, queries, keys]`.
    ///
    /// # Panics
    /// As `forward_with`, and if the layer's [`AttentionFn`] does not have the
    /// weights as a whole.
    #[track_caller]
    pub fn forward_and_weights(&mut self, inputs: &AttentionInputs) -> (Array, Array) {
        let (out, weights) = self.attend(inputs, true);
        (out, weights.expect("they were asked for"))
    }

    #[track_caller]
    pub(super) fn attend(
        &mut self,
        inputs: &AttentionInputs,
        with_weights: bool,
    ) -> (Array, Option<Array>) {
        let (inputs_k, inputs_v) = inputs.keys_and_values();
        expect_features("queries", &inputs.inputs_q, &self.query);
        expect_features("keys", inputs_k, &self.key);
        expect_features("values", inputs_v, &self.value);
        let mut query = self.query.forward(&inputs.inputs_q);
        let mut key = self.key.forward(inputs_k);
        let mut value = self.value.forward(inputs_v);
        if let Some(norm) = &self.query_ln {
            query = norm.forward(&query);
        }
        if let Some(norm) = &self.key_ln {
            key = norm.forward(&key);
        }
        if let Some(rotary) = &self.rotary {
            let rank = query.ndim();
            let length = query.shape()[rank - 3];
            assert!(
                length == key.shape()[rank - 3],
                "MultiHeadAttention: queries {} and keys {} are to be rotated by the same places\n  \
                 help: rotary embeddings are for self attention",
                query.aval(),
                key.aval()
            );
            let places = match (&inputs.positions, &self.cache_index) {
                (Some(positions), _) => positions.clone(),
                (None, Some(index)) if self.decode => {
                    Array::arange(length).astype(DType::I32) + index
                }
                (None, _) => Array::arange(length).astype(DType::I32),
            };
            query = rotary.forward(&query, &places);
            key = rotary.forward(&key, &places);
        }
        let mut mask = inputs.mask.clone();
        if self.decode {
            let seen;
            (key, value, seen) = self.cached(&query, &key, &value);
            mask = combine_masks_with(&[mask.as_ref(), Some(&seen)], DType::Bool);
        }
        let how = AttentionOptions {
            bias: None,
            mask,
            dropout: self.dropout(inputs),
            dtype: self.dtype,
            precision: self.precision,
            // What the cache shows is causal.
            is_causal: inputs.is_causal && !self.decode,
            force_fp32_for_softmax: self.force_fp32_for_softmax,
        };
        let (means, weights) = match with_weights {
            false => (self.attention_fn.attend(&query, &key, &value, &how), None),
            true => {
                assert!(
                    self.attention_fn.has_weights(),
                    "MultiHeadAttention: weights were asked for, which {:?} does not have as a whole\n  \
                     help: use AttentionFn::dot_product() to look at weights",
                    self.attention_fn
                );
                let weights = dot_product_attention_weights(&query, &key, &how);
                (weigh(&weights, &query, &value, &how), Some(weights))
            }
        };
        (self.out.forward(&means), weights)
    }

    /// What is dropped in this call.
    #[track_caller]
    fn dropout(&mut self, inputs: &AttentionInputs) -> Option<AttentionDropout> {
        let deterministic = inputs.deterministic.unwrap_or(self.deterministic.0);
        if self.dropout_rate == 0.0 || deterministic {
            return None;
        }
        let key: Key = match (&inputs.dropout_rng, &mut self.rngs) {
            (Some(key), _) => key.clone(),
            (None, Some(stream)) => stream.next_key(),
            (None, None) => panic!(
                "MultiHeadAttention: weights are to be dropped, and there is neither a stream of keys \
                 in the layer nor a key in the call\n  help: give one: \
                 AttentionInputs::of(&x).dropout_rng(&key); in evaluation, call model.eval() first"
            ),
        };
        Some(AttentionDropout {
            rate: self.dropout_rate,
            key,
            broadcast: self.broadcast_dropout,
        })
    }

    /// Makes or empties the cache for sequences of inputs of this shape, `[batch..,
    /// max_length, features]`, of keys and values of an element type.
    ///
    /// # Panics
    /// If the shape has less than two axes.
    #[track_caller]
    pub fn init_cache(&mut self, input_shape: &[usize], dtype: DType) {
        assert!(
            input_shape.len() >= 2,
            "MultiHeadAttention::init_cache: the shape of inputs is {input_shape:?}, expected \
             [batch.., max_length, features]\n  help: give the shape of whole sequences"
        );
        let heads = &self.key.kernel.shape()[1..];
        let shape = [&input_shape[..input_shape.len() - 1], heads].concat();
        let empty = || Cache::new(Array::zeros(&shape, dtype));
        (self.cached_key, self.cached_value) = (Some(empty()), Some(empty()));
        self.cache_index = Some(Cache::new(cache::nothing_seen()));
    }

    /// Decodes from now on, with an empty cache for `batch` sequences of up to
    /// `length` places, of the element type that keys have.
    pub fn start_decoding(&mut self, batch: usize, length: usize) {
        let dtype = self.dtype.unwrap_or_else(|| self.key.kernel.dtype());
        let features = self.query.kernel.shape()[0];
        self.init_cache(&[batch, length, features], dtype);
        self.decode = true;
    }

    /// Drops the cache: inputs are whole sequences from now on.
    pub fn stop_decoding(&mut self) {
        (self.cached_key, self.cached_value, self.cache_index) = (None, None, None);
        self.decode = false;
    }

    /// Puts keys and values into the cache; returns all keys, all values, and
    /// which of them each query sees.
    #[track_caller]
    fn cached(&mut self, query: &Array, key: &Array, value: &Array) -> (Array, Array, Array) {
        let caches = (&self.cached_key, &self.cached_value, &self.cache_index);
        let (Some(keys), Some(values), Some(index)) = caches else {
            panic!(
                "MultiHeadAttention: the layer decodes, and has no cache\n  help: make it with \
                 layer.init_cache(&[batch, max_length, features], dtype); in the way of Linen init \
                 makes it, from inputs of the whole length, and apply takes and returns the \
                 collection `cache`"
            )
        };
        let state = [keys.value(), values.value(), index.value()];
        let [keys, values, next] = cache::extended(state, query, key, value);
        let seen = cache::seen(index.value(), &keys, key);
        // What is kept is changed in place of the variables, which keep their
        // metadata.
        let set = |variable: &mut Option<Cache>, value: &Array| {
            variable.as_mut().expect("it is there").set(value);
        };
        set(&mut self.cached_key, &keys);
        set(&mut self.cached_value, &values);
        set(&mut self.cache_index, &next);
        (keys, values, seen)
    }
}

/// Inputs must have the features of their projection.
#[track_caller]
fn expect_features(what: &str, x: &Array, projection: &LinearGeneral) {
    let expected = projection.kernel.shape()[0];
    assert!(
        x.ndim() >= 2 && x.shape()[x.ndim() - 1] == expected,
        "MultiHeadAttention: inputs of {what} are {}, expected [batch.., length, {expected}]\n  kernel \
         {}\n  help: give the layer the features of its input: in_features, and in_kv_features for \
         keys and values",
        x.aval(),
        projection.kernel.aval()
    );
}

impl MultiHeadAttentionConfig {
    /// Builds the layer for inputs of `in_features`, with variables from `Rngs` or a scope.
    ///
    /// # Panics
    /// If the heads do not divide the features, or those of keys and values those
    /// of queries.
    #[track_caller]
    pub fn build<'a>(&self, in_features: usize, vars: impl Into<Vars<'a>>) -> MultiHeadAttention {
        let kv = self.in_kv_features.unwrap_or(in_features);
        self.build_for([in_features, kv, kv], &mut vars.into())
    }

    /// The size of a head.
    #[track_caller]
    fn head_dim(&self, in_features: usize) -> usize {
        let features = self.qkv_features.unwrap_or(in_features);
        assert!(
            self.num_heads > 0 && features.is_multiple_of(self.num_heads),
            "MultiHeadAttention: {features} features cannot be divided into {} heads\n  help: give \
             another number of heads, or qkv_features({})",
            self.num_heads,
            features.next_multiple_of(self.num_heads.max(1))
        );
        features / self.num_heads
    }

    /// The layer for inputs of queries, keys and values of these features.
    #[track_caller]
    pub(super) fn build_for(
        &self,
        [in_q, in_k, in_v]: [usize; 3],
        vars: &mut Vars<'_>,
    ) -> MultiHeadAttention {
        let size = self.head_dim(in_q);
        let kv_heads = self.num_kv_heads.unwrap_or(self.num_heads);
        assert!(
            kv_heads > 0 && self.num_heads.is_multiple_of(kv_heads),
            "MultiHeadAttention: {} heads of queries cannot share {kv_heads} of keys and values\n  \
             help: give num_kv_heads a divisor of the number of heads",
            self.num_heads
        );
        let project = |heads: usize| {
            let config = LinearGeneral::features([heads, size])
                .use_bias(self.use_bias)
                .param_dtype(self.param_dtype)
                .kernel_init(self.kernel_init.clone())
                .bias_init(self.bias_init.clone());
            self.computed(config)
        };
        let query = vars.child("query", |v| project(self.num_heads).build(in_q, v));
        let key = vars.child("key", |v| project(kv_heads).build(in_k, v));
        let value = vars.child("value", |v| project(kv_heads).build(in_v, v));
        let norm = |vars: &mut Vars<'_>, name: &str| {
            self.normalize_qk.then(|| {
                let mut config = LayerNorm::config()
                    .use_bias(false)
                    .param_dtype(self.param_dtype);
                if let Some(dtype) = self.dtype {
                    config = config.dtype(dtype);
                }
                vars.child(name, |v| config.build(size, v))
            })
        };
        let query_ln = norm(vars, "query_ln");
        let key_ln = norm(vars, "key_ln");
        let init = |own: &Option<Initializer>, other: &Initializer| {
            own.clone().unwrap_or_else(|| other.clone())
        };
        let out = LinearGeneral::features(self.out_features.unwrap_or(in_q))
            .axis(&[-2, -1])
            .use_bias(self.use_bias)
            .param_dtype(self.param_dtype)
            .kernel_init(init(&self.out_kernel_init, &self.kernel_init))
            .bias_init(init(&self.out_bias_init, &self.bias_init));
        let out = self.computed(out);
        let out = vars.child("out", |v| out.build([self.num_heads, size], v));
        let rngs = match self.dropout_rate > 0.0 {
            true => vars.fork_rng("dropout"),
            false => None,
        };
        MultiHeadAttention {
            query,
            key,
            value,
            query_ln,
            key_ln,
            out,
            rngs,
            cached_key: None,
            cached_value: None,
            cache_index: None,
            decode: self.decode,
            deterministic: Deterministic(self.deterministic.unwrap_or(false)),
            dropout_rate: self.dropout_rate,
            broadcast_dropout: self.broadcast_dropout,
            rotary: self.rotary.clone(),
            dtype: self.dtype,
            precision: self.precision,
            force_fp32_for_softmax: self.force_fp32_for_softmax,
            attention_fn: self.attention_fn.clone(),
            sow_weights: self.sow_weights,
            intermediates: Intermediates::default(),
        }
    }

    /// A projection that computes as this layer does.
    fn computed(&self, mut config: crate::LinearGeneralConfig) -> crate::LinearGeneralConfig {
        if let Some(dtype) = self.dtype {
            config = config.dtype(dtype);
        }
        if let Some(precision) = self.precision {
            config = config.precision(precision);
        }
        config
    }
}
