"""Normalizations and dropout of Flax."""

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import AxisType, PartitionSpec as P

from flax_layers import Recorder, draw

jax.config.update("jax_num_cpu_devices", 8)

r = Recorder()
x = draw(0, (6, 5)) * 2 + 1
image = draw(1, (3, 4, 2, 6)) - 0.5
mask = draw(2, (6, 5)) > -0.5
image_mask = draw(3, (3, 4, 2, 6)) > -0.5
normal = nn.initializers.normal(1.0)


def stats(module):
    """Statistics that are not the first ones."""
    n = module.mean.shape[0]
    module.mean[...] = jnp.linspace(-1.0, 1.0, n)
    module.var[...] = jnp.linspace(0.5, 2.0, n)


def changed(n):
    return [
        ("batch_stats.mean", lambda _: jnp.linspace(-1.0, 1.0, n)),
        ("batch_stats.var", lambda _: jnp.linspace(0.5, 2.0, n)),
    ]


# Linen.
train = {"use_running_average": False}
r.linen("batch", nn.BatchNorm(), x, **train)
r.linen("batch_image", nn.BatchNorm(momentum=0.9, epsilon=1e-3, scale_init=normal, bias_init=normal), image, **train)
r.linen("batch_running", nn.BatchNorm(use_running_average=True), x, changes=changed(5))
r.linen("batch_axis", nn.BatchNorm(axis=1, momentum=0.5), image, **train)
r.linen("batch_no_affine", nn.BatchNorm(use_scale=False, use_bias=False), x, changes=changed(5), **train)
r.linen("batch_slow", nn.BatchNorm(use_fast_variance=False, use_bias=False), x, **train)
r.linen("batch_mask", nn.BatchNorm(), x, mask=mask, **train)
r.linen("batch_bf16", nn.BatchNorm(dtype=jnp.bfloat16), x, **train)
r.linen(
    "batch_narrow",
    nn.BatchNorm(param_dtype=jnp.bfloat16, force_float32_reductions=False, use_fast_variance=False),
    x.astype(jnp.bfloat16),
    **train,
)

r.linen("layer", nn.LayerNorm(), x)
r.linen("layer_inits", nn.LayerNorm(epsilon=0.1, scale_init=normal, bias_init=normal), image)
r.linen("layer_axes", nn.LayerNorm(reduction_axes=(1, 2, 3), feature_axes=(1, -1), scale_init=normal), image)
r.linen("layer_slow", nn.LayerNorm(use_fast_variance=False, use_scale=False), x)
r.linen("layer_mask", nn.LayerNorm(), x, mask=mask)
r.linen("layer_bf16", nn.LayerNorm(dtype=jnp.bfloat16), x)
r.linen("layer_half", nn.LayerNorm(param_dtype=jnp.bfloat16), x.astype(jnp.bfloat16))

r.linen("rms", nn.RMSNorm(scale_init=normal), x)
r.linen("rms_axes", nn.RMSNorm(reduction_axes=(-2, -1), feature_axes=(2, 3), epsilon=0.01), image)
r.linen("rms_mask", nn.RMSNorm(use_scale=False), x, mask=mask)
r.linen("rms_bf16", nn.RMSNorm(dtype=jnp.bfloat16), x)

r.linen("group", nn.GroupNorm(num_groups=3, scale_init=normal, bias_init=normal), image)
r.linen("group_size", nn.GroupNorm(num_groups=None, group_size=3), image)
r.linen("group_axes", nn.GroupNorm(num_groups=2, reduction_axes=(0, 2, -1)), image)
r.linen("group_mask", nn.GroupNorm(num_groups=2, use_fast_variance=False), image, mask=image_mask)
r.linen("group_bf16", nn.GroupNorm(num_groups=2, dtype=jnp.bfloat16), image)

r.linen("instance", nn.InstanceNorm(scale_init=normal, bias_init=normal), image)
r.linen("instance_axes", nn.InstanceNorm(feature_axes=(1, 3), use_bias=False), image)
r.linen("instance_mask", nn.InstanceNorm(), image, mask=image_mask)

r.linen("dropout", nn.Dropout(0.3, deterministic=False), x)
r.linen("dropout_broadcast", nn.Dropout(0.5, broadcast_dims=(1, -2)), image, deterministic=False)
r.linen("dropout_off", nn.Dropout(0.5), x, deterministic=True)
r.linen("dropout_all", nn.Dropout(1.0, deterministic=False), x)
r.linen("dropout_key", nn.Dropout(0.5, deterministic=False), x, rng=jax.random.key(7))


class Noisy(nn.Module):
    """Several layers, whose names and keys depend on their place."""

    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(4, use_bias=False)(x)
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.Dropout(0.25)(x, deterministic=not train)
        x = nn.LayerNorm()(x)
        x = nn.Dropout(0.25)(x, deterministic=not train)
        return nn.BatchNorm(use_running_average=not train)(nn.tanh(x))


r.linen("noisy", Noisy(), x, train=True)
r.linen("noisy_eval", Noisy(), x, train=False)

# NNX.
r.nnx("nnx_batch", lambda k: nnx.BatchNorm(5, rngs=k), x)
r.nnx("nnx_batch_running", lambda k: nnx.BatchNorm(5, use_running_average=True, rngs=k), x, changes=stats)
r.nnx(
    "nnx_batch_image",
    lambda k: nnx.BatchNorm(6, momentum=0.9, scale_init=normal, bias_init=normal, rngs=k),
    image,
    changes=stats,
)
r.nnx("nnx_batch_mask", lambda k: nnx.BatchNorm(5, use_fast_variance=False, rngs=k), x, call=lambda m, x: m(x, mask=mask))
r.nnx("nnx_batch_bf16", lambda k: nnx.BatchNorm(5, dtype=jnp.bfloat16, rngs=k), x)
r.nnx("nnx_layer", lambda k: nnx.LayerNorm(5, scale_init=normal, bias_init=normal, rngs=k), x)
r.nnx("nnx_layer_mask", lambda k: nnx.LayerNorm(5, use_scale=False, rngs=k), x, call=lambda m, x: m(x, mask=mask))
r.nnx("nnx_layer_bf16", lambda k: nnx.LayerNorm(5, dtype=jnp.bfloat16, rngs=k), x)
r.nnx("nnx_rms", lambda k: nnx.RMSNorm(5, scale_init=normal, rngs=k), x)
r.nnx("nnx_group", lambda k: nnx.GroupNorm(6, num_groups=3, rngs=k), image)
r.nnx("nnx_instance", lambda k: nnx.InstanceNorm(6, scale_init=normal, rngs=k), image)
r.nnx("nnx_dropout", lambda k: nnx.Dropout(0.3, rngs=k), x)
r.nnx("nnx_dropout_twice", lambda k: nnx.Dropout(0.3, rngs=k), x, call=lambda m, x: (m(x), m(x)))
r.nnx("nnx_dropout_off", lambda k: nnx.Dropout(0.3, rngs=k), x, call=lambda m, x: m(x, deterministic=True))

# Statistics over a mapped axis.
shares = draw(4, (3, 4, 5))
bn = nn.BatchNorm(axis_name="i", use_running_average=False, momentum=0.9)
variables = bn.init(jax.random.key(0), shares[0])
out, updates = jax.vmap(lambda x: bn.apply(variables, x, mutable="batch_stats"), axis_name="i")(shares)
r.arrays["mapped/in/0"] = shares
r.arrays["mapped/out/0"] = out
r.put("mapped", "after", updates["batch_stats"])
ln = nn.LayerNorm(axis_name="i", use_fast_variance=False)
variables = {"params": {"scale": jnp.ones(5), "bias": jnp.zeros(5)}}
r.arrays["mapped/out/1"] = jax.vmap(lambda x: ln.apply(variables, x), axis_name="i")(shares)

# Statistics over several mapped axes and within groups of indices, on 8 devices.
pieces = draw(5, (16, 3, 6))
mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
every = P(("x", "y"))
ways = {
    "axes": {"axis_name": ("x", "y")},
    "groups": {"axis_name": "x", "axis_index_groups": [[0, 2], [3, 1]]},
    "both": {"axis_name": ("x", "y"), "axis_index_groups": [[0, 4], [5, 1], [3, 2], [6, 7]]},
}


def linen_batch(how, x):
    norm = nn.BatchNorm(use_running_average=False, momentum=0.5, **how)
    out, updates = norm.apply(norm.init(jax.random.key(0), x), x, mutable="batch_stats")
    return out, updates["batch_stats"]["mean"][None], updates["batch_stats"]["var"][None]


def nnx_batch(how, x):
    layer = nnx.BatchNorm(6, momentum=0.5, rngs=nnx.Rngs(0), **how)
    out = layer(x)
    return out, layer.mean[...][None], layer.var[...][None]


def linen(module):
    return lambda how, x: (module(**how).init_with_output(jax.random.key(0), x)[0],)


norms = {
    "linen_batch": linen_batch,
    "nnx_batch": nnx_batch,
    "linen_layer": linen(nn.LayerNorm),
    "nnx_layer": lambda how, x: (nnx.LayerNorm(6, rngs=nnx.Rngs(0), **how)(x),),
    "linen_rms": linen(nn.RMSNorm),
    "nnx_rms": lambda how, x: (nnx.RMSNorm(6, rngs=nnx.Rngs(0), **how)(x),),
    "linen_group": linen(lambda **how: nn.GroupNorm(num_groups=2, **how)),
    "nnx_group": lambda how, x: (nnx.GroupNorm(6, num_groups=2, rngs=nnx.Rngs(0), **how)(x),),
    "linen_instance": linen(nn.InstanceNorm),
    "nnx_instance": lambda how, x: (nnx.InstanceNorm(6, rngs=nnx.Rngs(0), **how)(x),),
}
for way, how in ways.items():
    r.arrays[f"{way}/in/0"] = pieces
    for name, norm in norms.items():
        f = jax.shard_map(lambda x: norm(how, x), mesh=mesh, in_specs=every, out_specs=every, check_vma=False)
        for i, out in enumerate(jax.jit(f)(pieces)):
            r.arrays[f"{way}/{name}/{i}"] = out

r.arrays["masks/in/0"] = mask
r.arrays["masks/in/1"] = image_mask

r.write("flax_norm")
