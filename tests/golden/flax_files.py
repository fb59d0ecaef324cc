"""Variables of Flax models as Flax writes them to a file, with inputs and outputs."""

import flax
import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import serialization

from flax_layers import DATA, draw


class Model(nn.Module):
    @nn.compact
    def __call__(self, x, train=True):
        x = nn.Conv(4, (3, 3))(x)
        x = nn.relu(nn.BatchNorm(use_running_average=not train)(x))
        x = x.reshape(x.shape[0], -1, 4)
        x = x + nn.MultiHeadDotProductAttention(2, name="attention")(nn.LayerNorm()(x))
        return nn.Dense(3, name="out")(x.mean(1))


x = draw(0, (2, 4, 4, 1))
variables = Model().init(jax.random.key(0), x)
y, updates = Model().apply(variables, x, mutable=["batch_stats"])
variables = {**variables, **updates}
evaluated = Model().apply(variables, x, train=False)
content = serialization.to_bytes({"variables": variables, "x": x, "y": evaluated})
(DATA / "flax_model.msgpack").write_bytes(content)
print(f"flax_model: {len(content)} bytes, flax {flax.__version__}, jax {jax.__version__}")
