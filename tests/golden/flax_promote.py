"""Layers of NNX with a custom `promote_dtype` and custom products.

The rule rounds all operands to bf16 and computes in f32. Parameters and inputs are `waves`, so that
nn/tests/flax/flax_promote.rs makes the same ones. Arrays are named `layers/case`, in
`data/flax_promote.safetensors`.
"""

import flax_layers
import jax
import jax.numpy as jnp
from flax import nnx
from safetensors.flax import save_file


def waves(shape):
    size = 1
    for n in shape:
        size *= n
    return (((jnp.arange(size) * 7919) % 1009).astype(jnp.float32) / 1009 - 0.5).reshape(shape)


def rounded(arrays, dtype=None, inexact=True):
    return tuple(a if a is None else jnp.asarray(a).astype(jnp.bfloat16).astype(jnp.float32) for a in arrays)


def doubled(f):
    return lambda *args, **kwargs: 2 * f(*args, **kwargs)


def filled(layer):
    state = nnx.state(layer, nnx.Any(nnx.Param, nnx.BatchStat))
    state = jax.tree.map(lambda a: waves(a.shape) + 1, state)
    nnx.update(layer, state)
    return layer


rngs = nnx.Rngs(0)
rule = dict(promote_dtype=rounded, rngs=rngs)
x, image, tokens = waves((2, 3, 8)), waves((2, 5, 5, 8)), jnp.array([[3, 1], [0, 2]])
attention = nnx.MultiHeadAttention(2, 8, qkv_promote_dtype=rounded, out_promote_dtype=rounded, ln_promote_dtype=rounded,
                                   normalize_qk=True, qkv_dot_general=doubled(jax.lax.dot_general), decode=False,
                                   out_dot_general=doubled(jax.lax.dot_general), rngs=rngs)
embed = filled(nnx.Embed(5, 8, **rule))
gru = filled(nnx.GRUCell(8, 4, **rule))
out = {
    "linear": filled(nnx.Linear(8, 4, **rule))(x),
    "linear_general": filled(nnx.LinearGeneral((3, 8), (2, 4), axis=(-2, -1), **rule))(x),
    "einsum": filled(nnx.Einsum("btf,fo->bto", (8, 4), (4,), einsum_op=doubled(jnp.einsum), **rule))(x),
    "conv": filled(nnx.Conv(8, 4, (3, 3), conv_general_dilated=doubled(jax.lax.conv_general_dilated), **rule))(image),
    "conv_transpose": filled(nnx.ConvTranspose(8, 4, (3, 3), **rule))(image),
    "embed": embed(tokens),
    "attend": embed.attend(x),
    "prelu": filled(nnx.PReLU(dtype=jnp.float16, promote_dtype=rounded))(x),
    "batch_norm": filled(nnx.BatchNorm(8, **rule))(x),
    "batch_norm_running": filled(nnx.BatchNorm(8, use_running_average=True, **rule))(x),
    "layer_norm": filled(nnx.LayerNorm(8, **rule))(x),
    "rms_norm": filled(nnx.RMSNorm(8, **rule))(x),
    "group_norm": filled(nnx.GroupNorm(8, 2, **rule))(x),
    "instance_norm": filled(nnx.InstanceNorm(8, **rule))(x),
    "lora": filled(nnx.LoRA(8, 2, 4, **rule))(x),
    "gru": gru(waves((2, 4)), x[:, 0])[1],
    "attention": filled(attention)(x),
}
save_file({f"layers/{k}": jnp.asarray(v) for k, v in out.items()}, flax_layers.DATA / "flax_promote.safetensors")
