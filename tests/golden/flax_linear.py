"""Dense layers of Flax, alone and in nested modules."""

import flax.linen as nn
import jax.numpy as jnp
from flax import nnx

from flax_layers import Recorder, draw

r = Recorder()


class Block(nn.Module):
    features: int

    @nn.compact
    def __call__(self, x):
        x = nn.tanh(nn.Dense(self.features)(x))
        scale = self.param("scale", nn.initializers.ones, (self.features,))
        return nn.Dense(self.features, name="out")(x) * scale


class Nested(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(5)(x)
        x = Block(4)(x)
        x = Block(4)(x)
        return nn.Dense(2)(x)


class Mlp(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(3, 8, rngs=rngs)
        self.out = nnx.Linear(8, 2, rngs=rngs)

    def __call__(self, x):
        return self.out(nnx.tanh(self.hidden(x)))


class SwiGLU(nn.Module):
    """Flax has no such layer: Shazeer's equation, with Flax's dense layers."""

    features: int
    options: dict

    @nn.compact
    def __call__(self, x):
        gate, value = (nn.Dense(self.features, **self.options, name=name) for name in ("gate", "value"))
        return nn.silu(gate(x)) * value(x)


class NnxSwiGLU(nnx.Module):
    def __init__(self, rngs, **options):
        self.gate, self.value = (nnx.Linear(3, 6, **options, rngs=rngs) for _ in range(2))

    def __call__(self, x):
        return nnx.silu(self.gate(x)) * self.value(x)


x = draw(0, (4, 3))
r.linen("dense", nn.Dense(6), x)
r.linen("dense_vector", nn.Dense(6), draw(1, (3,)))
r.linen("dense_deep", nn.Dense(6), draw(2, (2, 5, 3)))
r.linen("dense_no_bias", nn.Dense(6, use_bias=False), x)
r.linen("dense_inits", nn.Dense(6, kernel_init=nn.initializers.he_uniform(), bias_init=nn.initializers.normal(1.0)), x)
r.linen("dense_bf16", nn.Dense(6, dtype=jnp.bfloat16), x)
r.linen("dense_bf16_params", nn.Dense(6, param_dtype=jnp.bfloat16), draw(3, (4, 3), "bfloat16"))
r.linen("nested", Nested(), x)

r.nnx("linear", lambda rngs: nnx.Linear(3, 6, rngs=rngs), x)
r.nnx("linear_no_bias", lambda rngs: nnx.Linear(3, 6, use_bias=False, rngs=rngs), x)
r.nnx("linear_bf16", lambda rngs: nnx.Linear(3, 6, dtype=jnp.bfloat16, rngs=rngs), x)
r.nnx("mlp", Mlp, x)

plain = {"use_bias": False}
inits = {"kernel_init": nn.initializers.he_uniform(), "bias_init": nn.initializers.normal(1.0)}
r.linen("swiglu", SwiGLU(6, plain), x)
r.linen("swiglu_deep", SwiGLU(6, plain), draw(2, (2, 5, 3)))
r.linen("swiglu_inits", SwiGLU(6, inits), x)
r.linen("swiglu_bf16", SwiGLU(6, plain | {"dtype": jnp.bfloat16}), x)
r.nnx("nnx_swiglu", lambda rngs: NnxSwiGLU(rngs, **plain), x)
r.nnx("nnx_swiglu_bias", lambda rngs: NnxSwiGLU(rngs, param_dtype=jnp.bfloat16), x)

r.write("flax_linear")
