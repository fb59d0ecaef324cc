"""Convolutions of Flax, and its pooling."""

import flax.linen as nn
import jax.numpy as jnp
from flax import nnx
from flax.linen import pooling

from flax_layers import Recorder, draw

r = Recorder()
bf16 = jnp.bfloat16
x1 = draw(0, (2, 8, 3))
x2 = draw(1, (2, 6, 5, 4))
x3 = draw(2, (1, 4, 3, 5, 2))
normal = nn.initializers.normal(1.0)

r.linen("conv1d", nn.Conv(4, (3,)), x1)
r.linen("conv1d_number", nn.Conv(4, 3, strides=2, bias_init=normal), x1)
r.linen("conv2d", nn.Conv(3, (3, 3)), x2)
r.linen("conv2d_even", nn.Conv(3, (2, 4)), x2)
r.linen("conv3d", nn.Conv(3, (2, 3, 2)), x3)
r.linen("valid", nn.Conv(3, (3, 2), padding="VALID"), x2)
r.linen("strides", nn.Conv(3, (3, 3), strides=(2, 1)), x2)
r.linen("circular", nn.Conv(3, (3, 2), padding="CIRCULAR"), x2)
r.linen("circular_dilated", nn.Conv(3, (3, 2), padding="CIRCULAR", kernel_dilation=(2, 1), strides=2), x2)
r.linen("reflect", nn.Conv(3, (3, 3), padding="REFLECT"), x2)
r.linen("causal", nn.Conv(4, (3,), padding="CAUSAL"), x1)
r.linen("causal_dilated", nn.Conv(4, (3,), padding="CAUSAL", kernel_dilation=2), x1)
r.linen("padding_number", nn.Conv(3, (3, 3), padding=2), x2)
r.linen("padding_numbers", nn.Conv(3, (3, 3), padding=(1, 0)), x2)
r.linen("padding_pairs", nn.Conv(3, (3, 3), padding=((2, 0), (0, 1))), x2)
r.linen("input_dilation", nn.Conv(3, (3, 3), padding=((1, 2), (0, 1)), input_dilation=(2, 1)), x2)
r.linen("kernel_dilation", nn.Conv(3, (2, 2), kernel_dilation=2), x2)
r.linen("groups", nn.Conv(6, (3, 3), feature_group_count=2), x2)
r.linen("depthwise", nn.Conv(8, (3, 3), feature_group_count=4), x2)
r.linen("no_bias", nn.Conv(3, (3, 3), use_bias=False), x2)
mask = jnp.tril(jnp.ones((3, 3, 4)))
r.linen("mask", nn.Conv(4, (3,), mask=mask), x1)
r.linen("no_batch", nn.Conv(3, (3, 3)), x2[0])
r.linen("batches", nn.Conv(3, (3,)), x2)
r.linen("inits", nn.Conv(3, (3, 3), kernel_init=nn.initializers.he_uniform(), bias_init=normal), x2)
r.linen("conv_bf16", nn.Conv(3, (3, 3), dtype=bf16), x2)
r.linen("conv_bf16_params", nn.Conv(3, (3, 3), param_dtype=bf16), x2.astype(bf16))

r.linen("local1d", nn.ConvLocal(4, (3,), bias_init=normal), x1)
r.linen("local2d", nn.ConvLocal(3, (3, 2), strides=(2, 1), padding="VALID"), x2)
r.linen("local_no_batch", nn.ConvLocal(3, (2, 2), use_bias=False, kernel_dilation=2), x2[0])

r.linen("transpose1d", nn.ConvTranspose(4, (3,)), x1)
r.linen("transpose2d", nn.ConvTranspose(3, (3, 3), strides=(2, 2), bias_init=normal), x2)
r.linen("transpose_valid", nn.ConvTranspose(3, (3, 2), strides=(2, 3), padding="VALID"), x2)
r.linen("transpose_numbers", nn.ConvTranspose(3, (3, 3), strides=(2, 2), padding=((1, 2), (0, 1))), x2)
r.linen("transpose_dilated", nn.ConvTranspose(3, (3, 3), kernel_dilation=(2, 1)), x2)
r.linen("transpose_kernel", nn.ConvTranspose(3, (3, 3), strides=(2, 2), transpose_kernel=True), x2)
r.linen("transpose_circular", nn.ConvTranspose(3, (3, 4), strides=(2, 1), padding="CIRCULAR"), x2)
r.linen(
    "transpose_circular_kernel",
    nn.ConvTranspose(3, (6, 5), strides=(2, 2), padding="CIRCULAR", transpose_kernel=True),
    x2,
)
r.linen("transpose_mask", nn.ConvTranspose(4, (3,), mask=mask, padding="VALID"), x1)
r.linen("transpose_no_batch", nn.ConvTranspose(3, (3, 3), strides=(2, 2)), x2[0])
r.linen("transpose_bf16", nn.ConvTranspose(3, (3, 3), strides=(2, 2), dtype=bf16), x2)

r.nnx("nnx_conv", lambda rngs: nnx.Conv(4, 3, (3, 3), rngs=rngs), x2)
r.nnx("nnx_conv_number", lambda rngs: nnx.Conv(3, 4, 3, strides=2, padding="CAUSAL", rngs=rngs), x1)
r.nnx("nnx_groups", lambda rngs: nnx.Conv(4, 6, (3, 3), feature_group_count=2, use_bias=False, rngs=rngs), x2)
r.nnx("nnx_mask", lambda rngs: nnx.Conv(3, 4, (3,), mask=mask, rngs=rngs), x1)
r.nnx(
    "nnx_preferred",
    lambda rngs: nnx.Conv(4, 3, (3, 3), dtype=bf16, preferred_element_type=jnp.float32, use_bias=False, rngs=rngs),
    x2,
)
r.nnx("nnx_transpose", lambda rngs: nnx.ConvTranspose(4, 3, (3, 3), strides=2, rngs=rngs), x2)
r.nnx(
    "nnx_transpose_circular",
    lambda rngs: nnx.ConvTranspose(4, 3, (6, 5), strides=2, padding="CIRCULAR", transpose_kernel=True, rngs=rngs),
    x2,
)


class Pool(nn.Module):
    """A function of an input as a module."""

    function: object

    def __call__(self, x):
        return self.function(x)


p = ((1, 0), (0, 1))
for name, function, x in [
    ("max_pool", lambda x: nn.max_pool(x, (2, 2)), x2),
    ("max_pool_strides", lambda x: nn.max_pool(x, (2, 3), strides=(2, 1), padding="SAME"), x2),
    ("max_pool_no_batch", lambda x: nn.max_pool(x, (2, 2), strides=(2, 2)), x2[0]),
    ("min_pool", lambda x: pooling.min_pool(x, (2, 2), strides=(2, 2), padding=p), x2),
    ("avg_pool", lambda x: nn.avg_pool(x, (3, 2), strides=(2, 2)), x2),
    ("avg_pool_same", lambda x: nn.avg_pool(x, (3, 2), padding="SAME"), x2),
    ("avg_pool_inside", lambda x: nn.avg_pool(x, (3, 2), padding="SAME", count_include_pad=False), x2),
    ("avg_pool_pairs", lambda x: nn.avg_pool(x, (3, 2), padding=p, count_include_pad=False), x2),
    ("avg_pool_no_batch", lambda x: nn.avg_pool(x, (3, 2), padding="SAME", count_include_pad=False), x2[0]),
    ("avg_pool_1d", lambda x: nn.avg_pool(x, (2,), strides=(2,), padding="SAME"), x1),
    ("avg_pool_batches", lambda x: nn.avg_pool(x, (2,), padding="SAME", count_include_pad=False), x2),
]:
    r.linen(name, Pool(function), x)

r.write("flax_conv")
