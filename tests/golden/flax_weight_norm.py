"""Normalizations of a layer's weights in Flax."""

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx

from flax_layers import Recorder, draw

r = Recorder()
x = draw(0, (4, 3))
image = draw(1, (2, 5, 5, 3))
normal = nn.initializers.normal(1.0)

# Linen.
r.linen("weight", nn.WeightNorm(nn.Dense(4)), x)
r.linen("weight_inits", nn.WeightNorm(nn.Dense(4), scale_init=normal, epsilon=1e-3), x)
r.linen("weight_no_scale", nn.WeightNorm(nn.Dense(4), use_scale=False), x)
r.linen("weight_whole", nn.WeightNorm(nn.Dense(4), feature_axes=None), x)
r.linen("weight_all", nn.WeightNorm(nn.Dense(4, bias_init=normal), variable_filter=None), x)
r.linen("weight_conv", nn.WeightNorm(nn.Conv(4, (3, 3)), feature_axes=(-2, -1)), image)
r.linen("weight_bf16", nn.WeightNorm(nn.Dense(4), dtype=jnp.bfloat16), x)

train = {"update_stats": True}
r.linen("spectral", nn.SpectralNorm(nn.Dense(4)), x, **train)
r.linen("spectral_fixed", nn.SpectralNorm(nn.Dense(4)), x, update_stats=False)
r.linen("spectral_steps", nn.SpectralNorm(nn.Dense(4), n_steps=3, epsilon=1e-3), x, **train)
r.linen("spectral_none", nn.SpectralNorm(nn.Dense(4), n_steps=0), x, **train)
r.linen("spectral_conv", nn.SpectralNorm(nn.Conv(4, (3, 3))), image, **train)


class Gated(nn.Module):
    """Two kernels, at paths of two names."""

    @nn.compact
    def __call__(self, x):
        return nn.Dense(4, name="a")(x) * nn.Dense(4, name="b")(x)


class Inline(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.WeightNorm(nn.Dense(4))(x)
        x = nn.tanh(nn.Dense(5)(x))
        x = nn.SpectralNorm(Gated())(x, update_stats=True)
        return nn.WeightNorm(Gated(), scale_init=normal)(x)


r.linen("inline", Inline(), x)


# NNX. Names of variables are paths with slashes, where NNX has tuples.
def weight(layer, **kwargs):
    return lambda rngs: nnx.WeightNorm(layer(rngs), rngs=rngs, **kwargs)


def in_nnx(case, make, *inputs, **kwargs):
    r.nnx(case, make, *inputs, **kwargs)
    for name in [n for n in r.arrays if n.startswith(f"{case}/")]:
        if "(" in name:
            start, rest = name.split("(")
            names = [part.strip(" '") for part in rest.rstrip(")").split(",")]
            r.arrays[start + "/".join(n for n in names if n)] = r.arrays.pop(name)


linear = lambda rngs: nnx.Linear(3, 4, rngs=rngs)
conv = lambda rngs: nnx.Conv(3, 4, (3, 3), rngs=rngs)
in_nnx("nnx_weight", weight(linear), x)
in_nnx("nnx_weight_no_scale", weight(linear, use_scale=False), x)
in_nnx("nnx_weight_conv", weight(conv), image)
spectral = lambda layer: lambda rngs: nnx.SpectralNorm(layer(rngs), rngs=rngs)
in_nnx("nnx_spectral", spectral(linear), x)
in_nnx("nnx_spectral_eval", spectral(linear), x, call=lambda m, x: m(x, update_stats=False))
in_nnx("nnx_spectral_conv", spectral(conv), image)

r.write("flax_weight_norm")
