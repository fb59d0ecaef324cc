"""Sequential modules of Flax, learned slopes, batch application and low-rank adapters."""

import flax.linen as nn
import jax.numpy as jnp
from flax import nnx

from flax_layers import Recorder, draw

r = Recorder()
bf16 = jnp.bfloat16
x = draw(0, (4, 3))


class Inline(nn.Module):
    """Modules of a Sequential that is made here are parts of this one."""

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(3)(x)
        layers = [nn.Dense(4), nn.relu, nn.Sequential([nn.Dense(4), nn.tanh]), nn.Dense(2)]
        return nn.Sequential(layers)(x)


class Setup(nn.Module):
    def setup(self):
        self.body = nn.Sequential([nn.Dense(4), nn.relu, nn.Dense(2)])

    def __call__(self, x):
        return self.body(x)


layers = [nn.Dense(4), nn.relu, nn.Sequential([nn.Dense(2), nn.tanh]), nn.PReLU(), nn.Dense(2)]
r.linen("sequential", nn.Sequential(layers), x)
r.linen("inline", Inline(), x)
r.linen("setup", Setup(), x)


def make(rngs):
    inner = nnx.Sequential(nnx.Linear(4, 2, rngs=rngs), nnx.tanh)
    return nnx.Sequential(nnx.Linear(3, 4, rngs=rngs), nnx.relu, inner, nnx.PReLU(), nnx.Linear(2, 2, rngs=rngs))


r.nnx("nnx_sequential", make, x)
r.nnx("nnx_empty", lambda rngs: nnx.Sequential(), x)
changing = lambda rngs: nnx.Sequential(
    nnx.Linear(3, 4, use_bias=False, rngs=rngs), nnx.BatchNorm(4, rngs=rngs), nnx.Dropout(0.5, rngs=rngs)
)
r.nnx("nnx_changing", changing, x)

r.linen("prelu", nn.PReLU(), x)
r.linen("prelu_bf16", nn.PReLU(negative_slope_init=0.3, param_dtype=bf16), x)
r.nnx("nnx_prelu", lambda rngs: nnx.PReLU(0.25), x)
r.nnx("nnx_prelu_bf16", lambda rngs: nnx.PReLU(0.25, dtype=bf16), x)


class Batched(nn.Module):
    @nn.compact
    def __call__(self, x, y):
        dense = nn.Dense(2)
        return nn.BatchApply(lambda x, y: (dense(x), x.sum(axis=1) + y), num_dims=2)(x, y)


r.linen("batch_apply", Batched(), draw(1, (2, 3, 4)), draw(2, (2, 3)))

ones = nnx.initializers.ones
r.nnx("lora", lambda rngs: nnx.LoRA(3, 2, 4, rngs=rngs), x)
r.nnx("lora_inits", lambda rngs: nnx.LoRA(3, 2, 4, b_initializer=ones, rngs=rngs), x)
r.nnx("lora_bf16", lambda rngs: nnx.LoRA(3, 2, 4, dtype=bf16, param_dtype=bf16, b_initializer=ones, rngs=rngs), x)
r.nnx(
    "lora_base",
    lambda rngs: nnx.LoRA(3, 2, 4, b_initializer=ones, base_module=nnx.Linear(3, 4, rngs=rngs), rngs=rngs),
    x,
)
r.nnx("lora_linear", lambda rngs: nnx.LoRALinear(3, 4, lora_rank=2, b_initializer=ones, rngs=rngs), x)
r.nnx("lora_linear_no_bias", lambda rngs: nnx.LoRALinear(3, 4, lora_rank=2, use_bias=False, rngs=rngs), x)

r.write("flax_sequential")
