"""Flax's TrainState and DynamicScale over some steps."""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.dynamic_scale import DynamicScale
from flax.training.train_state import TrainState

from flax_layers import Recorder, draw

r = Recorder()
x, y = draw(0, (8, 3)), draw(1, (8, 2))


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        # A bias before the normalization would have a gradient of rounding errors.
        x = nn.Dense(4, use_bias=False)(x)
        x = nn.BatchNorm(use_running_average=not train, momentum=0.5)(x)
        return nn.Dense(2)(nn.tanh(x))


class State(TrainState):
    batch_stats: dict
    ema: dict


model = Net()
variables = model.init(jax.random.key(0), x, True)
r.put("train_state", "init/params", variables["params"])
r.put("train_state", "init/batch_stats", variables["batch_stats"])
state = State.create(
    apply_fn=model.apply, params=variables["params"], tx=optax.adam(1e-2),
    batch_stats=variables["batch_stats"], ema=variables["params"],
)


@jax.jit
def step(state, x, y):
    def loss(params):
        variables = {"params": params, "batch_stats": state.batch_stats}
        out, updates = state.apply_fn(variables, x, True, mutable=["batch_stats"])
        return ((out - y) ** 2).mean(), updates["batch_stats"]

    (value, stats), grads = jax.value_and_grad(loss, has_aux=True)(state.params)
    state = state.apply_gradients(grads=grads, batch_stats=stats)
    ema = optax.incremental_update(state.params, state.ema, 0.1)
    return state.replace(ema=ema), value


losses = []
for _ in range(5):
    state, value = step(state, x, y)
    losses.append(value)
r.arrays["train_state/in/0"], r.arrays["train_state/in/1"] = x, y
r.arrays["train_state/losses"] = jnp.stack(losses)
r.put("train_state", "after/params", state.params)
r.put("train_state", "after/batch_stats", state.batch_stats)
r.put("train_state", "after/ema", state.ema)

scale = DynamicScale(growth_interval=2)
p = jnp.float32(1.5)
rows = []
for i in range(12):
    # A loss that overflows now and then.
    factor = jnp.float16(6e3 if i == 8 else 0.5)
    scale, finite, value, grad = scale.value_and_grad(lambda p: jnp.asarray(p, jnp.float16) ** 2 * factor)(p)
    p -= jnp.where(finite, 0.01 * grad, 0.0)
    rows.append(jnp.stack([finite.astype(jnp.float32), scale.scale, jnp.float32(scale.fin_steps), p]))
r.arrays["dynamic_scale/rows"] = jnp.stack(rows)

r.write("flax_training")
