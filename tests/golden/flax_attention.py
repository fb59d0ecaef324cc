"""Attention of Flax: layers, functions and masks."""

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx

from flax_layers import Recorder, draw

r = Recorder()
x = draw(0, (2, 5, 8))
keys, values = draw(1, (2, 7, 6)), draw(2, (2, 7, 4))
mask = (draw(3, (2, 1, 5, 5)) > -0.5).astype(jnp.float32)
MHA = nn.MultiHeadDotProductAttention


def masked(m, x, mask, **kwargs):
    return m(x, mask=mask, **kwargs)


class Function(nn.Module):
    """A function in the place of a module."""

    f: callable

    @nn.compact
    def __call__(self, *args):
        return self.f(*args)


class Named(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.MultiHeadAttention(2)(x) + MHA(2)(x) + nn.SelfAttention(2)(x) + MHA(2)(x)


r.linen("self", MHA(2), x)
r.linen("deep", MHA(2), draw(4, (2, 3, 5, 8)))
r.linen("cross", MHA(3, qkv_features=12, out_features=5), x, keys, values)
r.linen("keys", MHA(2), x, draw(5, (2, 3, 8)))
r.linen("mask", MHA(2), x, mask, method=masked)
r.linen(
    "inits",
    MHA(
        2,
        kernel_init=nn.initializers.he_uniform(),
        bias_init=nn.initializers.normal(1.0),
        out_kernel_init=nn.initializers.xavier_normal(),
        out_bias_init=nn.initializers.ones,
    ),
    x,
)
r.linen("no_bias", MHA(2, use_bias=False), x)
r.linen("normalize_qk", MHA(2, normalize_qk=True), x)
r.linen("dropout", MHA(2, dropout_rate=0.4, deterministic=False), x)
r.linen("dropout_each", MHA(2, dropout_rate=0.4, broadcast_dropout=False), x, deterministic=False)
r.linen("evaluated", MHA(2, dropout_rate=0.4, deterministic=True), x)
r.linen("bf16", MHA(2, dtype=jnp.bfloat16), x)
r.linen("bf16_softmax", MHA(2, dtype=jnp.bfloat16, force_fp32_for_softmax=True), x)
r.linen("bf16_params", MHA(2, param_dtype=jnp.bfloat16), x.astype(jnp.bfloat16))
r.linen("named", Named(), x)


def step(m, x, whole=False):
    return m(jnp.zeros((2, 6, 8)) if whole else x)


filled = [
    ("cache.cached_key", lambda a: draw(6, a.shape)),
    ("cache.cached_value", lambda a: draw(7, a.shape)),
    ("cache.cache_index", lambda a: a + 3),
]
whole = dict(method=step, init_kwargs={"whole": True})
r.linen("decode_first", MHA(2, decode=True), draw(8, (2, 1, 8)), **whole)
r.linen("decode_next", MHA(2, decode=True, normalize_qk=True), draw(8, (2, 1, 8)), changes=filled, **whole)

q, k, v = draw(10, (2, 5, 4, 3)), draw(11, (2, 6, 4, 3)), draw(12, (2, 6, 4, 2))
bias = draw(13, (2, 1, 5, 6))
seen = (draw(14, (2, 4, 5, 6)) > 0).astype(jnp.float32)
r.linen("function", Function(nn.dot_product_attention), q, k, v)
r.linen("function_bias_mask", Function(lambda *a: nn.dot_product_attention(*a)), q, k, v, bias, seen)
r.linen("weights", Function(lambda *a: nn.dot_product_attention_weights(*a)), q, k, bias, seen)
r.linen(
    "function_grouped",
    Function(lambda q, k, v: nnx.dot_product_attention(q, k, v, is_causal=True)),
    draw(15, (2, 6, 4, 3)),
    draw(16, (2, 6, 2, 3)),
    draw(17, (2, 6, 2, 3)),
)

tokens = jnp.array([[5, 3, 0, 0], [1, 2, 3, 0]])
r.linen("attention_mask", Function(lambda x: nn.make_attention_mask(x > 0, x > 0)), tokens)
r.linen(
    "attention_mask_with",
    Function(lambda x: nn.make_attention_mask(x, x[:, :2], jnp.greater, extra_batch_dims=2, dtype=jnp.int32)),
    tokens,
)
r.linen("causal_mask", Function(lambda x: nn.make_causal_mask(x, extra_batch_dims=1)), tokens)
r.linen(
    "combined_masks",
    Function(lambda x: nn.combine_masks(None, nn.make_causal_mask(x), nn.make_attention_mask(x > 0, x > 0))),
    tokens,
)


def mha(num_heads=2, features=8, **kwargs):
    return lambda rngs: nnx.MultiHeadAttention(num_heads, features, decode=False, rngs=rngs, **kwargs)


r.nnx("nnx_self", mha(), x)
r.nnx("nnx_cross", mha(3, qkv_features=12, out_features=5, in_kv_features=6), x, keys)
r.nnx("nnx_grouped", mha(4, num_kv_heads=2), x, call=lambda m, x: m(x, is_causal=True))
r.nnx("nnx_mask", mha(), x, mask, call=lambda m, x, mask: m(x, mask=mask, is_causal=True))
r.nnx("nnx_normalize_qk", mha(normalize_qk=True), x)
r.nnx("nnx_no_bias", mha(use_bias=False), x)
r.nnx("nnx_dropout", mha(dropout_rate=0.4, deterministic=False), x)
r.nnx("nnx_bf16", mha(dtype=jnp.bfloat16), x)


def decoding(rngs):
    m = nnx.MultiHeadAttention(4, 8, num_kv_heads=2, decode=True, rngs=rngs)
    m.init_cache((2, 6, 8))
    return m


def fill(m):
    m.cached_key[...] = draw(20, (2, 6, 2, 2))
    m.cached_value[...] = draw(21, (2, 6, 2, 2))
    m.cache_index[...] = jnp.array(3, jnp.int32)


r.nnx("nnx_decode_first", decoding, draw(22, (2, 1, 8)))
r.nnx("nnx_decode_next", decoding, draw(22, (2, 1, 8)), changes=fill)

# Options of a call.


def undecided(rngs):
    m = decoding(rngs)
    m.decode = False
    return m


token = draw(22, (2, 1, 8))
r.nnx("nnx_call_decode", undecided, token, changes=fill, call=lambda m, x: m(x, decode=True))
r.nnx("nnx_call_whole", decoding, token, changes=fill, call=lambda m, x: m(x, decode=False))
m = mha()(nnx.Rngs(0))
m(x, sow_weights=True)
r.arrays["nnx_call_sow/weights"] = m.attention_weights[0]
m = MHA(2)
variables = m.init(jax.random.key(0), x)
_, sown = m.apply(variables, x, sow_weights=True, mutable="intermediates")
r.arrays["call_sow/weights"] = sown["intermediates"]["attention_weights"][0]

r.write("flax_attention")
