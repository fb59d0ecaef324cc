"""Dense layers of several axes, einsums and embeddings of Flax."""

import flax.linen as nn
import jax.numpy as jnp
from flax import nnx

from flax_layers import Recorder, draw

r = Recorder()
bf16 = jnp.bfloat16
x = draw(0, (4, 2, 3))

r.linen("dense_general", nn.DenseGeneral(5), x)
r.linen("dense_general_features", nn.DenseGeneral((2, 4)), x)
r.linen("dense_general_axes", nn.DenseGeneral((5, 2), axis=(1, -1)), x)
r.linen("dense_general_first", nn.DenseGeneral(5, axis=(0, 2)), x)
r.linen("dense_general_batch", nn.DenseGeneral((2, 3), axis=(-1,), batch_dims=(0,)), draw(1, (4, 5, 3)))
r.linen("dense_general_batches", nn.DenseGeneral(2, axis=(2, -1), batch_dims=(0, 1)), draw(2, (2, 3, 4, 5, 6)))
r.linen("dense_general_no_bias", nn.DenseGeneral((2, 4), use_bias=False), x)
inits = dict(kernel_init=nn.initializers.he_uniform(), bias_init=nn.initializers.normal(1.0))
r.linen("dense_general_inits", nn.DenseGeneral((2, 4), axis=(-2, -1), **inits), x)
r.linen("dense_general_bf16", nn.DenseGeneral((2, 4), dtype=bf16), x)

r.nnx("linear_general", lambda rngs: nnx.LinearGeneral(3, 5, rngs=rngs), x)
r.nnx("linear_general_axes", lambda rngs: nnx.LinearGeneral((2, 3), (4, 5), axis=(1, -1), rngs=rngs), x)
r.nnx("linear_general_batch", lambda rngs: nnx.LinearGeneral(3, (2, 4), batch_axis={0: 4, 1: 2}, rngs=rngs), x)
r.nnx("linear_general_no_bias", lambda rngs: nnx.LinearGeneral(3, (2, 4), use_bias=False, rngs=rngs), x)
preferred = dict(dtype=bf16, preferred_element_type=jnp.float32)
r.nnx("linear_preferred", lambda rngs: nnx.Linear(3, 5, rngs=rngs, **preferred), x)
r.nnx("linear_general_preferred", lambda rngs: nnx.LinearGeneral(3, 5, rngs=rngs, **preferred), x)

y = draw(3, (4, 5, 2))
r.linen("einsum", nn.Einsum((6, 2, 3), "nta,hab->nthb", bias_init=nn.initializers.normal(1.0)), y)
r.linen("einsum_dots", nn.Einsum((2, 3), "...a,ab->b..."), y)
r.linen("einsum_no_bias", nn.Einsum((2, 3), "nta, ab -> ntb", use_bias=False), y)
r.linen("einsum_bf16", nn.Einsum((2, 3), "nta,ab->ntb", dtype=bf16), y)
r.nnx("nnx_einsum", lambda rngs: nnx.Einsum("nta,hab->nthb", (6, 2, 3), (6, 3), rngs=rngs), y)
r.nnx("nnx_einsum_no_bias", lambda rngs: nnx.Einsum("nta,ab->ntb", (2, 3), rngs=rngs), y)
r.nnx("nnx_einsum_preferred", lambda rngs: nnx.Einsum("nta,ab->ntb", (2, 3), (3,), rngs=rngs, **preferred), y)

i = jnp.array([[0, 3, 6], [2, 2, 5]], jnp.int32)
r.linen("embed", nn.Embed(7, 4), i)
r.linen("embed_out_of_bounds", nn.Embed(7, 4), jnp.array([-1, 6, -7], jnp.int32))
r.linen("embed_one", nn.Embed(1, 4), jnp.zeros((2, 3), jnp.int32))
r.linen("embed_bf16", nn.Embed(7, 4, dtype=bf16), i)
r.linen("embed_init", nn.Embed(7, 4, embedding_init=nn.initializers.normal(0.02)), i)
r.linen("attend", nn.Embed(7, 4), draw(4, (2, 4)), method="attend")
r.linen("attend_bf16", nn.Embed(7, 4, dtype=bf16), draw(4, (2, 4)), method="attend")
r.linen("attend_mixed", nn.Embed(7, 4, param_dtype=bf16), draw(4, (2, 4)), method="attend")
r.nnx("nnx_embed", lambda rngs: nnx.Embed(7, 4, rngs=rngs), i)
r.nnx("nnx_attend", lambda rngs: nnx.Embed(7, 4, rngs=rngs), draw(4, (2, 4)), call=lambda m, q: m.attend(q))
r.nnx(
    "nnx_attend_mixed",
    lambda rngs: nnx.Embed(7, 4, param_dtype=bf16, rngs=rngs),
    draw(4, (2, 4)),
    call=lambda m, q: m.attend(q),
)


class Tied(nn.Module):
    def setup(self):
        self.embed = nn.Embed(7, 4)
        self.hidden = nn.Dense(4)

    def __call__(self, tokens):
        return self.embed.attend(nn.tanh(self.hidden(self.embed(tokens))))


class TiedNnx(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Embed(7, 4, rngs=rngs)
        self.hidden = nnx.Linear(4, 4, rngs=rngs)

    def __call__(self, tokens):
        return self.embed.attend(nnx.tanh(self.hidden(self.embed(tokens))))


r.linen("tied", Tied(), i)
r.nnx("nnx_tied", TiedNnx, i)

r.write("flax_dense")
