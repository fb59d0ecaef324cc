//! Attention as a Linen module.

use super::cache;
use super::inputs::AttentionInputs;
use super::multi_head::MultiHeadAttentionConfig;
use crate::layers::in_scope;
use crate::layers::mode::Mode;
use crate::layers::promote::Promotion;
use crate::linen::{Module, Scope};
use crate::{Cache, MultiHeadAttention, Vars};
use ramie_core::Array;
use std::borrow::Cow;

const MODE: Mode = Mode {
    class: "MultiHeadAttention",
    name: "deterministic",
    call: "AttentionInputs::of(&x).deterministic(!train)",
    decides: "whether dropout is disabled, as in evaluation",
};

/// Linen's `MultiHeadDotProductAttention`: [`MultiHeadAttentionConfig`] with another class
/// name.
pub struct MultiHeadDotProductAttention;

impl MultiHeadDotProductAttention {
    /// Creates the options of the module, with `MultiHeadDotProductAttention` as the class
    /// name.
    #[allow(clippy::new_ret_no_self)]
    pub fn new(num_heads: usize) -> MultiHeadAttentionConfig {
        MultiHeadAttentionConfig::new(num_heads).class("MultiHeadDotProductAttention")
    }
}

/// Linen's `SelfAttention`: [`MultiHeadAttentionConfig`] with another class name.
pub struct SelfAttention;

impl SelfAttention {
    /// Creates the options of the module, with `SelfAttention` as the class name.
    #[allow(clippy::new_ret_no_self)]
    pub fn new(num_heads: usize) -> MultiHeadAttentionConfig {
        MultiHeadAttentionConfig::new(num_heads).class("SelfAttention")
    }
}

impl MultiHeadAttentionConfig {
    /// Builds the layer, including its cache if it decodes.
    #[track_caller]
    fn with_cache(
        &self,
        features: [usize; 3],
        inputs_k: &Array,
        decode: bool,
        vars: &mut Vars<'_>,
    ) -> MultiHeadAttention {
        let mut layer = self.build_for(features, vars);
        // The call that creates the cache does not use it, because its inputs have the maximum
        // length.
        layer.decode = decode && vars.has::<Cache>("cached_key");
        if !decode {
            return layer;
        }
        let heads = &layer.key.kernel.shape()[1..];
        let before = &inputs_k.shape()[..inputs_k.ndim() - 1];
        let shape = [before, heads].concat();
        let mut operands = vec![inputs_k, &*layer.key.kernel];
        operands.extend(layer.key.bias.as_deref());
        let dtype = Promotion::new(self.dtype, &self.qkv_promote_dtype).dtype_of(&operands);
        let empty = || Array::zeros(&shape, dtype);
        layer.cached_key = Some(vars.variable("cached_key", empty));
        layer.cached_value = Some(vars.variable("cached_value", empty));
        layer.cache_index = Some(vars.variable("cache_index", cache::nothing_seen));
        layer
    }

    #[track_caller]
    fn call_with(&self, scope: &mut Scope, mut inputs: AttentionInputs) -> Array {
        let (inputs_k, inputs_v) = inputs.keys_and_values();
        let (inputs_k, inputs_v) = (inputs_k.clone(), inputs_v.clone());
        let features = |x: &Array| x.shape().last().copied().unwrap_or(1);
        let features = [&inputs.inputs_q, &inputs_k, &inputs_v].map(features);
        if self.dropout_rate > 0.0 {
            let deterministic = MODE.merged(self.deterministic, inputs.deterministic);
            inputs.deterministic = Some(deterministic);
            if !deterministic && inputs.dropout_rng.is_none() {
                inputs.dropout_rng = Some(scope.make_rng("dropout"));
            }
        }
        let sow = inputs.sow_weights.unwrap_or(self.sow_weights);
        let decode = inputs.decode.take().unwrap_or(self.decode);
        let (out, weights) = in_scope!(
            scope,
            |vars| self.with_cache(features, &inputs_k, decode, vars),
            |layer| layer.attend(&inputs, sow)
        );
        if let Some(weights) = weights {
            scope.sow("intermediates", "attention_weights", &weights);
        }
        out
    }
}

/// Self-attention.
impl Module for MultiHeadAttentionConfig {
    #[track_caller]
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        self.call_with(scope, AttentionInputs::of(&x))
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(self.class)
    }
}

/// Attention with separate keys and values, a mask and other options.
impl Module<AttentionInputs> for MultiHeadAttentionConfig {
    #[track_caller]
    fn call(&self, scope: &mut Scope, inputs: AttentionInputs) -> Array {
        self.call_with(scope, inputs)
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(self.class)
    }
}
