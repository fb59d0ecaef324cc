"""Training runs in Flax: an image classifier with batch normalization and
dropout, and a classifier of sequences with two layers of LSTM, in both ways.

Recorded are the batches, first values, the loss of each step, and everything
after the last one.
"""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from flax_layers import Recorder, draw

r = Recorder()
STEPS = 20
images = draw(0, (STEPS, 8, 8, 8, 1))
series = draw(1, (STEPS, 8, 6, 3))
labels = (jnp.arange(STEPS * 8).reshape(STEPS, 8) * 7) % 3
labels = labels.astype(jnp.int32)
# Classes that can be told apart.
images = images + labels[:, :, None, None, None] * jnp.linspace(-1.0, 1.0, 8)[:, None]
series = series + (labels[:, :, None, None] - 1) * jnp.linspace(0.0, 1.0, 6)[:, None]


def loss_of(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


class Cnn(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Conv(4, (3, 3), use_bias=False)(x)
        x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        x = nn.max_pool(nn.relu(x), (2, 2), (2, 2))
        x = nn.Dropout(0.25, deterministic=not train)(x)
        x = x.reshape(x.shape[0], -1)
        x = nn.tanh(nn.Dense(16)(x))
        x = nn.Dropout(0.5, deterministic=not train)(x)
        return nn.Dense(3)(x)


class Lstm(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.RNN(nn.OptimizedLSTMCell(6))(x)
        x = nn.RNN(nn.OptimizedLSTMCell(6))(x)
        return nn.Dense(3)(x[:, -1])


def linen(case, model, xs, tx):
    variables = model.init({"params": jax.random.key(0)}, xs[0], False)
    for name, state in variables.items():
        r.put(case, f"init/{name}", state)
    params = variables.pop("params")
    opt = tx.init(params)

    @jax.jit
    def step(params, rest, opt, x, y, key):
        def loss_fn(params):
            logits, updates = model.apply({"params": params, **rest}, x, True, rngs={"dropout": key}, mutable=list(rest))
            return loss_of(logits, y), updates

        (loss, rest), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
        updates, opt = tx.update(grads, opt, params)
        return optax.apply_updates(params, updates), rest, opt, loss

    losses = []
    for i in range(STEPS):
        key = jax.random.fold_in(jax.random.key(1), i)
        params, variables, opt, loss = step(params, variables, opt, xs[i], labels[i], key)
        losses.append(loss)
    r.arrays[f"{case}/out/0"] = jnp.stack(losses)
    r.arrays[f"{case}/out/1"] = model.apply({"params": params, **variables}, xs[0], False)
    for name, state in {"params": params, **variables}.items():
        r.put(case, f"after/{name}", state)
    print(case, losses[0], losses[-1])


class NnxCnn(nnx.Module):
    def __init__(self, rngs):
        self.conv = nnx.Conv(1, 4, (3, 3), use_bias=False, rngs=rngs)
        self.norm = nnx.BatchNorm(4, momentum=0.9, rngs=rngs)
        self.drop1 = nnx.Dropout(0.25, rngs=rngs)
        self.hidden = nnx.Linear(64, 16, rngs=rngs)
        self.drop2 = nnx.Dropout(0.5, rngs=rngs)
        self.out = nnx.Linear(16, 3, rngs=rngs)

    def __call__(self, x):
        x = nnx.relu(self.norm(self.conv(x)))
        x = self.drop1(nnx.max_pool(x, (2, 2), (2, 2)))
        x = nnx.tanh(self.hidden(x.reshape(x.shape[0], -1)))
        return self.out(self.drop2(x))


class NnxLstm(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.RNN(nnx.OptimizedLSTMCell(3, 6, rngs=rngs))
        self.second = nnx.RNN(nnx.OptimizedLSTMCell(6, 6, rngs=rngs))
        self.out = nnx.Linear(6, 3, rngs=rngs)

    def __call__(self, x):
        return self.out(self.second(self.first(x))[:, -1])


def in_nnx(case, make, xs, tx):
    model = make(nnx.Rngs(0, dropout=1))
    r.put(case, "init", nnx.to_pure_dict(nnx.state(model)))
    optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)

    @nnx.jit
    def step(model, optimizer, x, y):
        loss, grads = nnx.value_and_grad(lambda m: loss_of(m(x), y))(model)
        optimizer.update(model, grads)
        return loss

    model.train()
    losses = [step(model, optimizer, xs[i], labels[i]) for i in range(STEPS)]
    r.put(case, "after", nnx.to_pure_dict(nnx.state(model)))
    model.eval()
    r.arrays[f"{case}/out/0"] = jnp.stack(losses)
    r.arrays[f"{case}/out/1"] = model(xs[0])
    print(case, losses[0], losses[-1])


r.arrays["data/in/0"], r.arrays["data/in/1"], r.arrays["data/in/2"] = images, series, labels
adam, sgd = optax.adam(1e-2), optax.sgd(0.1, momentum=0.9)
linen("cnn", Cnn(), images, adam)
linen("lstm", Lstm(), series, sgd)
in_nnx("nnx_cnn", NnxCnn, images, adam)
in_nnx("nnx_lstm", NnxLstm, series, sgd)

r.write("flax_runs")
