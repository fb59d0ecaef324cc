//! `MultiHeadAttention`: a multi-head attention layer.

use super::cache;
use super::dot_product::{
    AttentionDropout, AttentionOptions, dot_product_attention_weights, weigh,
};
use super::function::AttentionFn;
use super::inputs::AttentionInputs;
use super::mask::combine_masks_with;
use super::projection::{project, project_inputs};
use super::qk_norm::{HeadNorm, QkNorm};
use super::rotary::RotaryEmbedding;
use crate::init::{self, Initializer};
use crate::known_range;
use crate::layers::hyperparameters::hyperparameters;
use crate::layers::promote::Promotion;
use crate::layers::{DotGeneralFn, PromoteDtypeFn};
use crate::model::{Intermediates, observed};
use crate::{
    Cache, Deterministic, LinearGeneral, LinearGeneralConfig, Module, RngStream, Rngs, VarSource,
    Vars,
};
use ramie_core::lax::Precision;
use ramie_core::random::Key;
use ramie_core::{Array, DType, where_};

/// Multi-head attention: projects the inputs to queries, keys and values of each head, attends,
/// and projects the result back (`nnx.MultiHeadAttention`, `nn.MultiHeadDotProductAttention`).
///
/// ```no_run
/// use ramie_core::{Array, DType};
/// use ramie_nn::{AttentionInputs, MultiHeadAttention, Rngs};
/// let mut layer = MultiHeadAttention::new(8, 64, &mut Rngs::new(0));
/// let x = Array::zeros(&[2, 10, 64], DType::F32);
/// assert_eq!(layer.forward(&x).shape(), x.shape());
///
/// // Decode step by step, with the keys and values of previous steps in a cache.
/// layer.init_cache(&[2, 100, 64], DType::F32);
/// layer.decode = true;
/// let step = Array::zeros(&[2, 1, 64], DType::F32);
/// assert_eq!(layer.forward(&step).shape(), step.shape());
/// ```
#[derive(Clone, Debug, Module)]
pub struct MultiHeadAttention {
    /// The projection to queries, `[features, heads, size]`.
    pub query: LinearGeneral,
    /// The projection to keys, `[features, heads, size]`.
    pub key: LinearGeneral,
    /// The projection to values, `[features, heads, size]`.
    pub value: LinearGeneral,
    /// The normalization of queries, if any.
    pub query_ln: Option<HeadNorm>,
    /// The normalization of keys, if any.
    pub key_ln: Option<HeadNorm>,
    /// The output projection, `[heads, size, features]`.
    pub out: LinearGeneral,
    /// The source of the RNG keys for dropout.
    pub rngs: Option<RngStream>,
    /// The cached keys, `[batch.., max_length, heads, size]`.
    pub cached_key: Option<Cache>,
    /// The cached values, of the same shape.
    pub cached_value: Option<Cache>,
    /// Number of cached positions, 0-d `i32`, or `[batch]` if sequences differ.
    pub cache_index: Option<Cache>,
    /// Whether the layer decodes: its inputs continue the sequence in the cache.
    pub decode: bool,
    /// Whether dropout is disabled.
    pub deterministic: Deterministic,
    /// The rotary embedding of queries and keys, if any.
    pub rotary: Option<RotaryEmbedding>,
    /// The options of the layer. Changes of their public fields apply to later calls.
    pub config: MultiHeadAttentionConfig,
    /// The recorded attention weights, as `attention_weights`, while
    /// [`nnx::capture`](crate::nnx::capture) is active.
    pub intermediates: Intermediates,
}

hyperparameters! {
    /// Options of a [`MultiHeadAttention`] layer; also Linen's module `MultiHeadAttention`.
    ///
    /// As a Linen module, its argument is an array, for self-attention, or [`AttentionInputs`].
    ///
    /// ```no_run
    /// use ramie_nn::{MultiHeadAttention, Rngs};
    /// // Eight query heads share two key and value heads.
    /// let layer = MultiHeadAttention::heads(8)
    ///     .num_kv_heads(2)
    ///     .use_bias(false)
    ///     .build(64, &mut Rngs::new(0));
    /// ```
    MultiHeadAttentionConfig as "MultiHeadAttention" (num_heads: usize) {
        /// Sets the total number of features of all heads. Defaults to the features of the
        /// input.
        qkv_features: [Option<usize>] = None,
        /// Sets the number of output features. Defaults to the features of the input.
        out_features: [Option<usize>] = None,
        /// Sets the number of key and value heads, which must divide the number of query heads.
        /// Defaults to the number of query heads.
        num_kv_heads: [Option<usize>] = None,
        /// Sets the number of features of the inputs of keys and values. Defaults to the
        /// features of the inputs of queries. In Linen style it is taken from the inputs.
        in_kv_features: [Option<usize>] = None,
        /// Sets the dtype of the parameters. Defaults to `f32`.
        param_dtype: [DType] = DType::F32,
        /// Sets whether dropout is disabled. An NNX layer defaults to `false`; a Linen module
        /// with a dropout rate has no default, so this setting or the call must provide it.
        deterministic: [Option<bool>] = None,
        /// Sets the initializer of the kernels. Defaults to
        /// [`lecun_normal`](init::lecun_normal).
        kernel_init: [Initializer] = init::lecun_normal(),
        /// Sets the initializer of the output projection's kernel. Defaults to that of the
        /// other kernels.
        out_kernel_init: [Option<Initializer>] = None,
        /// Sets the initializer of the biases. Defaults to zeros.
        bias_init: [Initializer] = init::zeros(),
        /// Sets the initializer of the output projection's bias. Defaults to that of the other
        /// biases.
        out_bias_init: [Option<Initializer>] = None,
        /// Sets whether the projections have biases. Defaults to `true`.
        use_bias: [bool] = true,
        /// Sets whether the output projection has a bias. Defaults to `use_bias`.
        out_use_bias: [Option<bool>] = None,
        /// Sets whether the layer decodes: its inputs continue the sequence in the cache.
        /// Defaults to `false`.
        decode: [bool] = false,
        /// Sets a custom product that the projections of queries, keys and values use instead of
        /// `dot_general`. Defaults to none.
        qkv_dot_general: [Option<DotGeneralFn>] = None,
        /// Sets a custom product that the output projection uses instead of `dot_general`.
        /// Defaults to none.
        out_dot_general: [Option<DotGeneralFn>] = None,
        /// Sets a custom rule by which the projections of queries, keys and values convert their
        /// input and their parameters. Defaults to none.
        qkv_promote_dtype: [Option<PromoteDtypeFn>] = None,
        /// Sets a custom rule by which the output projection converts its input and its parameters.
        /// Defaults to none.
        out_promote_dtype: [Option<PromoteDtypeFn>] = None,
        /// Sets a custom rule by which the normalization of queries and keys converts its input and
        /// its parameters. Defaults to none.
        ln_promote_dtype: [Option<PromoteDtypeFn>] = None,
        /// Sets the normalization of queries and keys, before the rotary embedding; `true` selects
        /// Flax's. Defaults to none.
        normalize_qk: [QkNorm] = QkNorm::None,
        /// Sets the initializer of the scale of the queries' normalization, which may have metadata.
        /// Defaults to ones.
        #[doc(alias = "query_ln_scale_metadata")]
        query_ln_scale_init: [Initializer] = init::ones(),
        /// Sets the initializer of the scale of the keys' normalization, which may have metadata.
        /// Defaults to ones.
        #[doc(alias = "key_ln_scale_metadata")]
        key_ln_scale_init: [Initializer] = init::ones(),
        /// Sets the rotary embedding of queries and keys. Defaults to none.
        rotary: [Option<RotaryEmbedding>] = None,
        /// Sets the name of the Linen class, from which automatic names are made.
        class: [&'static str] = Self::CLASS,
    } calls {
        /// Sets the dtype of the computation. Defaults to the dtype that the inputs and the
        /// parameters promote to.
        dtype: [Option<DType>] = None,
        /// Sets the precision of the products.
        precision: [Option<Precision>] = None,
        /// Sets whether all examples and heads share one dropout mask. Defaults to `true`.
        broadcast_dropout: [bool] = true,
        /// Sets the probability of dropping an attention weight. Defaults to 0.
        dropout_rate: [f64] = 0.0,
        /// Sets the attention function. Defaults to `AttentionFn::dot_product()`.
        attention_fn: [AttentionFn] = AttentionFn::default(),
        /// Sets whether the softmax is always computed in `f32`.
        force_fp32_for_softmax: [bool] = false,
        /// Sets the window of self-attention: the numbers of keys before and after the position of
        /// each query that it attends to. Defaults to all keys. With `is_causal` and while
        /// decoding, queries attend to no later keys.
        window: [Option<(usize, usize)>] = None,
        /// Sets whether the attention weights are recorded as `attention_weights`: in Linen
        /// style in the collection `intermediates`, if it is mutable; in NNX style while
        /// [`nnx::capture`](crate::nnx::capture) is active. Defaults to `false`.
        sow_weights: [bool] = false,
    }
}

impl MultiHeadAttention {
    /// Creates a self-attention layer with `num_heads` heads for `in_features` features.
    ///
    /// # Panics
    /// Panics if the number of heads does not divide the number of features.
    #[track_caller]
    pub fn new(num_heads: usize, in_features: usize, rngs: &mut Rngs) -> MultiHeadAttention {
        MultiHeadAttention::heads(num_heads).build(in_features, rngs)
    }

    /// Returns the options of a layer with `num_heads` heads;
    /// [`build`](MultiHeadAttentionConfig::build) creates the layer.
    pub fn heads(num_heads: usize) -> MultiHeadAttentionConfig {
        MultiHeadAttentionConfig::new(num_heads)
    }

    /// Computes self-attention of an array `[batch.., length, features]`.
    ///
    /// # Panics
    /// Panics as [`forward_with`](MultiHeadAttention::forward_with) does.
    #[track_caller]
    pub fn forward(&mut self, x: &Array) -> Array {
        observed!(mut self, |layer, x| layer.forward_with(&AttentionInputs::of(x)))
    }

    /// Computes attention with the given inputs, mask and options.
    ///
    /// # Panics
    /// Panics if the shapes do not match, if a decoding layer has no cache or no room in it, or
    /// if dropout is active and neither the layer nor the call provides an RNG key.
    #[track_caller]
    pub fn forward_with(&mut self, inputs: &AttentionInputs) -> Array {
        let sow = inputs.sow_weights.unwrap_or(self.config.sow_weights);
        let (out, weights) = self.attend(inputs, sow);
        if let Some(weights) = weights {
            self.intermediates.sow("attention_weights", &weights);
        }
        out
    }

    /// Like [`forward_with`](MultiHeadAttention::forward_with), but also returns the attention
    /// weights, `[batch.., heads, queries, keys]`.
    ///
    /// # Panics
    /// Panics as `forward_with` does, and if the layer's [`AttentionFn`] does not compute the
    /// full matrix of weights.
    #[track_caller]
    pub fn forward_and_weights(&mut self, inputs: &AttentionInputs) -> (Array, Array) {
        let (out, weights) = self.attend(inputs, true);
        (out, weights.expect("weights were requested"))
    }

    #[track_caller]
    pub(super) fn attend(
        &mut self,
        inputs: &AttentionInputs,
        with_weights: bool,
    ) -> (Array, Option<Array>) {
        let (inputs_k, inputs_v) = inputs.keys_and_values();
        let decode = inputs.decode.unwrap_or(self.decode);
        let qkv = inputs.qkv_sharding.as_ref();
        let mut query = project_inputs("queries", &inputs.inputs_q, &self.query, qkv);
        let mut key = project_inputs("keys", inputs_k, &self.key, qkv);
        let mut value = project_inputs("values", inputs_v, &self.value, qkv);
        if let Some(norm) = &self.query_ln {
            query = norm.forward(&query);
        }
        if let Some(norm) = &self.key_ln {
            key = norm.forward(&key);
        }
        if let Some(rotary) = &self.rotary {
            // Keys are rotated before they enter the cache, so later calls do not rotate them
            // again.
            let places = self.positions(inputs, &query, &key, decode);
            query = rotary.forward(&query, &places);
            key = rotary.forward(&key, &places);
        }
        let mut mask = inputs.mask.clone();
        let before = self.cache_index.as_ref().map(|index| index.value().clone());
        if decode {
            let seen;
            (key, value, seen) = self.cached(&query, &key, &value);
            mask = combine_masks_with(&[mask.as_ref(), Some(&seen)], DType::Bool);
        }
        let dropout = self.dropout(inputs);
        let config = &self.config;
        let how = AttentionOptions {
            bias: None,
            mask,
            dropout,
            dtype: config.dtype,
            precision: config.precision,
            // The mask from the cache is causal and within the window.
            is_causal: inputs.is_causal && !decode,
            window: config.window.filter(|_| !decode),
            force_fp32_for_softmax: config.force_fp32_for_softmax,
        };
        let (means, weights) = if !with_weights {
            (config.attention_fn.attend(&query, &key, &value, &how), None)
        } else {
            config.attention_fn.expect_weights();
            let weights = dot_product_attention_weights(&query, &key, &how);
            (weigh(&weights, &query, &value, &how), Some(weights))
        };
        let before = before.as_ref().filter(|_| decode);
        let means = self.within_cache(means, before, &key);
        (
            project(&means, &self.out, inputs.out_sharding.as_ref()),
            weights,
        )
    }

    /// Returns the means, or NaN where the positions of a traced call are outside the cache: they
    /// overwrite other positions.
    #[track_caller]
    fn within_cache(&self, means: Array, before: Option<&Array>, keys: &Array) -> Array {
        let (Some(before), Some(after)) = (before, &self.cache_index) else {
            return means;
        };
        let max_length = keys.shape()[keys.ndim() - 3];
        match cache::overfull(before, after.value(), max_length, &means) {
            Some(outside) => where_(outside, f64::NAN, means),
            None => means,
        }
    }

    /// Returns the positions of queries and keys, for the rotary embedding.
    #[track_caller]
    fn positions(
        &self,
        inputs: &AttentionInputs,
        query: &Array,
        key: &Array,
        decode: bool,
    ) -> Array {
        let rank = query.ndim();
        let length = query.shape()[rank - 3];
        assert!(
            length == key.shape()[rank - 3],
            "MultiHeadAttention: queries {} and keys {} have different lengths, but a rotary \
             embedding needs the same positions for both\n  help: use rotary embeddings for \
             self-attention only",
            query.aval(),
            key.aval()
        );
        match &inputs.positions {
            Some(positions) => positions.clone(),
            None => self.positions_of(length, decode),
        }
    }

    /// Returns the positions of the next `length` tokens: `[length]`, or `[batch, length]` if each
    /// sequence has its own index in the cache. They continue the cached tokens if the layer
    /// decodes; otherwise they start at 0.
    pub fn next_positions(&self, length: usize) -> Array {
        self.positions_of(length, self.decode)
    }

    fn positions_of(&self, length: usize, decode: bool) -> Array {
        match &self.cache_index {
            Some(index) if decode => cache::next_positions(index, length),
            _ => Array::arange(length).astype(DType::I32),
        }
    }

    /// Returns the dropout of this call, if active.
    #[track_caller]
    fn dropout(&mut self, inputs: &AttentionInputs) -> Option<AttentionDropout> {
        let deterministic = inputs.deterministic.unwrap_or(self.deterministic.0);
        if self.config.dropout_rate == 0.0 || deterministic {
            return None;
        }
        let key: Key = match (&inputs.dropout_rng, &mut self.rngs) {
            (Some(key), _) => key.clone(),
            (None, Some(stream)) => stream.next_key(),
            (None, None) => panic!(
                "MultiHeadAttention: dropout is active, but neither the layer nor the call \
                 provides an RNG key\n  help: pass one: \
                 AttentionInputs::of(&x).dropout_rng(&key); in evaluation, call model.eval() \
                 first"
            ),
        };
        Some(AttentionDropout {
            rate: self.config.dropout_rate,
            key,
            broadcast: self.config.broadcast_dropout,
        })
    }

    /// Creates or empties the cache, as [`start_decoding`](MultiHeadAttention::start_decoding)
    /// does, for inputs of shape `[batch.., max_length, features]` and
    /// keys and values of the given dtype.
    ///
    /// # Panics
    /// Panics if the shape has fewer than two axes.
    #[track_caller]
    pub fn init_cache(&mut self, input_shape: &[usize], dtype: DType) {
        assert!(
            input_shape.len() >= 2,
            "MultiHeadAttention::init_cache: the input shape is {input_shape:?}, expected \
             [batch.., max_length, features]\n  help: pass the shape of whole sequences"
        );
        let heads = &self.key.kernel.shape()[1..];
        let shape = [&input_shape[..input_shape.len() - 1], heads].concat();
        let empty = || Cache::new(Array::zeros(&shape, dtype));
        (self.cached_key, self.cached_value) = (Some(empty()), Some(empty()));
        self.cache_index = Some(Cache::new(cache::nothing_seen()));
    }

    /// Starts decoding with an empty cache for `batch` sequences of up to `length` positions.
    /// The cache has the dtype of the keys.
    ///
    /// A call that adds more positions than there is room for panics. In a compiled function, where
    /// the number of positions in use is unknown, its results are NaN, as are those of later calls.
    pub fn start_decoding(&mut self, batch: usize, length: usize) {
        let dtype = self.config.dtype.unwrap_or_else(|| self.key.kernel.dtype());
        // The features only complete a shape; the cache has those of a head.
        let features = self.query.kernel.shape()[0];
        self.init_cache(&[batch, length, features], dtype);
        self.decode = true;
    }

    /// Sets the number of cached positions, a 0-d `i32` or one for each sequence, `[batch]`, and
    /// discards later positions. It must be at most the number of positions that previous inputs
    /// filled.
    ///
    /// # Panics
    /// Panics if the layer has no cache, or if the shape is another one.
    #[track_caller]
    pub fn rewind(&mut self, length: &Array) {
        let (Some(index), Some(keys)) = (&mut self.cache_index, &self.cached_key) else {
            panic!(
                "MultiHeadAttention::rewind: the layer has no cache\n  help: start decoding first: \
                 layer.start_decoding(batch, length)"
            )
        };
        let batch = &keys.shape()[..keys.ndim() - 3];
        assert!(
            length.ndim() == 0 || length.ndim() == 1 && length.shape() == batch,
            "MultiHeadAttention::rewind: the lengths are {}, but the cache has the batch axes \
             {batch:?}\n  help: pass one integer for all sequences; a cache with a single batch axis \
             also supports one integer for each sequence",
            length.aval()
        );
        if let (Some([least, most]), Some([_, used])) = (known_range(length), known_range(index)) {
            assert!(
                least >= 0 && most <= used,
                "MultiHeadAttention::rewind: the lengths are from {least} to {most}, but previous \
                 inputs filled {used} positions\n  help: pass the numbers of positions to keep, \
                 from 0 to {used}"
            );
        }
        index.set(length.astype(DType::I32));
    }

    /// Stops decoding and drops the cache: inputs are whole sequences again.
    pub fn stop_decoding(&mut self) {
        (self.cached_key, self.cached_value, self.cache_index) = (None, None, None);
        self.decode = false;
    }

    /// Writes keys and values into the cache. Returns all keys, all values, and the mask of the
    /// keys that each query attends to.
    #[track_caller]
    fn cached(&mut self, query: &Array, key: &Array, value: &Array) -> (Array, Array, Array) {
        let caches = (&self.cached_key, &self.cached_value, &self.cache_index);
        let (Some(keys), Some(values), Some(index)) = caches else {
            panic!(
                "MultiHeadAttention: the layer decodes, but has no cache\n  help: create it with \
                 layer.init_cache(&[batch, max_length, features], dtype); in Linen style, call \
                 init with inputs of the maximum length, then pass the collection `cache` to \
                 apply, which also returns it"
            )
        };
        let state = [keys.value(), values.value(), index.value()];
        let [keys, values, next] = cache::extended(state, query, key, value);
        let seen = cache::seen(index.value(), &keys, key, self.config.window);
        // Set the values in place, so that the variables keep their metadata.
        let set = |variable: &mut Option<Cache>, value: &Array| {
            variable.as_mut().expect("the cache exists").set(value);
        };
        set(&mut self.cached_key, &keys);
        set(&mut self.cached_value, &values);
        set(&mut self.cache_index, &next);
        (keys, values, seen)
    }
}

impl MultiHeadAttentionConfig {
    /// Builds the layer for inputs of `in_features`, with variables from `Rngs` or a scope.
    ///
    /// # Panics
    /// Panics if the number of heads does not divide the number of features, or the number of
    /// key and value heads that of query heads.
    #[track_caller]
    pub fn build(&self, in_features: usize, vars: &mut impl VarSource) -> MultiHeadAttention {
        let kv = self.in_kv_features.unwrap_or(in_features);
        self.build_for([in_features, kv, kv], &mut vars.vars())
    }

    /// Returns the size of a head.
    #[track_caller]
    fn head_dim(&self, in_features: usize) -> usize {
        let features = self.qkv_features.unwrap_or(in_features);
        assert!(
            self.num_heads > 0 && features.is_multiple_of(self.num_heads),
            "MultiHeadAttention: {features} features cannot be divided into {} heads\n  help: \
             use another number of heads, or qkv_features({})",
            self.num_heads,
            features.next_multiple_of(self.num_heads.max(1))
        );
        features / self.num_heads
    }

    /// Returns the number of key and value heads.
    #[track_caller]
    fn kv_heads(&self) -> usize {
        let kv_heads = self.num_kv_heads.unwrap_or(self.num_heads);
        assert!(
            kv_heads > 0 && self.num_heads.is_multiple_of(kv_heads),
            "MultiHeadAttention: {} query heads cannot share {kv_heads} key and value heads\n  \
             help: set num_kv_heads to a divisor of the number of heads",
            self.num_heads
        );
        kv_heads
    }

    /// Builds the layer for inputs of queries, keys and values with these features.
    #[track_caller]
    pub(super) fn build_for(
        &self,
        [in_q, in_k, in_v]: [usize; 3],
        vars: &mut Vars<'_>,
    ) -> MultiHeadAttention {
        let size = self.head_dim(in_q);
        let kv_heads = self.kv_heads();
        let project = |heads: usize| {
            self.computed(LinearGeneral::features([heads, size]))
                .dot_general(self.qkv_dot_general.clone())
                .promote_dtype(self.qkv_promote_dtype.clone())
                .kernel_init(self.kernel_init.clone())
                .bias_init(self.bias_init.clone())
        };
        let query = vars.child("query", |v| project(self.num_heads).build(in_q, v));
        let key = vars.child("key", |v| project(kv_heads).build(in_k, v));
        let value = vars.child("value", |v| project(kv_heads).build(in_v, v));
        let norm = |vars: &mut Vars<'_>, name: &str, scale: &Initializer| {
            let how = Promotion::new(self.dtype, &self.ln_promote_dtype);
            let scale = (scale, self.param_dtype);
            self.normalize_qk.build(size, how, scale, vars, name)
        };
        let query_ln = norm(vars, "query_ln", &self.query_ln_scale_init);
        let key_ln = norm(vars, "key_ln", &self.key_ln_scale_init);
        let init = |own: &Option<Initializer>, other: &Initializer| {
            own.clone().unwrap_or_else(|| other.clone())
        };
        let out = LinearGeneral::features(self.out_features.unwrap_or(in_q)).axis(&[-2, -1]);
        let out = self
            .computed(out)
            .dot_general(self.out_dot_general.clone())
            .promote_dtype(self.out_promote_dtype.clone())
            .use_bias(self.out_use_bias.unwrap_or(self.use_bias))
            .kernel_init(init(&self.out_kernel_init, &self.kernel_init))
            .bias_init(init(&self.out_bias_init, &self.bias_init));
        let out = vars.child("out", |v| out.build([self.num_heads, size], v));
        let rngs = if self.dropout_rate > 0.0 {
            vars.fork_rng("dropout")
        } else {
            None
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
            rotary: self.rotary.clone(),
            config: self.clone(),
            intermediates: Intermediates::default(),
        }
    }

    /// Sets the dtypes and the precision of a projection, and whether it has a bias.
    fn computed(&self, config: LinearGeneralConfig) -> LinearGeneralConfig {
        config
            .use_bias(self.use_bias)
            .dtype(self.dtype)
            .param_dtype(self.param_dtype)
            .precision(self.precision)
    }
}
