//! Attention as a module of Linen.

use super::cache;
use super::inputs::AttentionInputs;
use super::multi_head::MultiHeadAttentionConfig;
use crate::layers::promote::computed_in;
use crate::linen::{Module, Scope};
use crate::{Cache, Vars};
use ramie_core::Array;
use std::borrow::Cow;

/// Whether no weights are dropped, which the module says or the call
/// (`merge_param`).
#[track_caller]
fn deterministic(module: Option<bool>, call: Option<bool>) -> bool {
    match (module, call) {
        (Some(mode), None) | (None, Some(mode)) => mode,
        (None, None) => panic!(
            "MultiHeadAttention: `deterministic` was not given, which decides whether no weights are \
             dropped, as in evaluation\n  help: give it to the module, \
             MultiHeadAttention::new(..).deterministic(!train), or to the call, \
             AttentionInputs::of(&x).deterministic(!train)"
        ),
        (Some(_), Some(_)) => panic!(
            "MultiHeadAttention: `deterministic` was given to the module and to the call\n  help: leave \
             it out of one of them"
        ),
    }
}

/// Linen's `MultiHeadDotProductAttention`: [`MultiHeadAttentionConfig`] under
/// another name.
pub struct MultiHeadDotProductAttention;

impl MultiHeadDotProductAttention {
    /// The configuration, with that name for automatic names.
    #[allow(clippy::new_ret_no_self)]
    pub fn new(num_heads: usize) -> MultiHeadAttentionConfig {
        MultiHeadAttentionConfig::new(num_heads).class("MultiHeadDotProductAttention")
    }
}

/// Linen's `SelfAttention`: [`MultiHeadAttentionConfig`] under another name.
pub struct SelfAttention;

impl SelfAttention {
    /// The configuration, with that name for automatic names.
    #[allow(clippy::new_ret_no_self)]
    pub fn new(num_heads: usize) -> MultiHeadAttentionConfig {
        MultiHeadAttentionConfig::new(num_heads).class("SelfAttention")
    }
}

impl MultiHeadAttentionConfig {
    #[track_caller]
    fn call_with(&self, scope: &mut Scope, mut inputs: AttentionInputs) -> Array {
        let (inputs_k, inputs_v) = inputs.keys_and_values();
        let (inputs_k, inputs_v) = (inputs_k.clone(), inputs_v.clone());
        let features = |x: &Array| x.shape().last().copied().unwrap_or(1);
        let features = [&inputs.inputs_q, &inputs_k, &inputs_v].map(features);
        if self.dropout_rate > 0.0 {
            let deterministic = deterministic(self.deterministic, inputs.deterministic);
            inputs.deterministic = Some(deterministic);
            if !deterministic && inputs.dropout_rng.is_none() {
                inputs.dropout_rng = Some(scope.make_rng("dropout"));
            }
        }
        let make = |vars: &mut Vars<'_>| {
            let mut layer = self.build_for(features, vars);
            if !self.decode {
                return layer;
            }
            // The call that makes the cache does not use it: its inputs have the
            // length of whole sequences.
            layer.decode = vars.has::<Cache>("cached_key");
            let heads = &layer.key.kernel.shape()[1..];
            let before = &inputs_k.shape()[..inputs_k.ndim() - 1];
            let shape = [before, heads].concat();
            let mut operands = vec![&inputs_k, &*layer.key.kernel];
            operands.extend(layer.key.bias.as_deref());
            let (key, value, index) = cache::empty(&shape, computed_in(self.dtype, &operands));
            layer.cached_key = Some(vars.variable("cached_key", || key));
            layer.cached_value = Some(vars.variable("cached_value", || value));
            layer.cache_index = Some(vars.variable("cache_index", || index));
            layer
        };
        let sow = self.sow_weights;
        let (out, weights) = scope.layer(make, |layer| layer.attend(&inputs, sow));
        if let Some(weights) = weights {
            scope.sow("intermediates", "attention_weights", &weights);
        }
        out
    }
}

/// Self attention.
impl Module for MultiHeadAttentionConfig {
    fn call(&self, scope: &mut Scope, x: Array) -> Array {
        self.call_with(scope, AttentionInputs::of(&x))
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(self.class)
    }
}

/// With keys, values, a mask and more.
impl Module<AttentionInputs> for MultiHeadAttentionConfig {
    fn call(&self, scope: &mut Scope, inputs: AttentionInputs) -> Array {
        self.call_with(scope, inputs)
    }
    fn class_name(&self) -> Cow<'static, str> {
        Cow::Borrowed(self.class)
    }
}
