"""The benchmark workloads as a JAX user writes them: Flax linen, Optax, jax.jit.

Each function returns (step, state, inputs): `state, outputs = step(state, *inputs)`,
where `step` is not yet compiled, the whole state should be donated, and the first
output is the loss.
"""

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


def scalar():
    def step(x):
        return x + 1.0, ()

    return step, jnp.float32(0.0), ()


def trainer(model, optimizer, example, loss_fn, **init):
    """Returns the state and the step of a Linen model without mutable collections."""
    params = jax.jit(lambda key: model.init(key, example, **init))(jax.random.key(0))
    state = (params, jax.jit(optimizer.init)(params))

    def step(state, *inputs):
        params, moments = state
        (loss, extra), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, *inputs)
        updates, moments = optimizer.update(grads, moments, params)
        return (optax.apply_updates(params, updates), moments), (loss, extra)

    return step, state


class Mlp(nn.Module):
    sizes: tuple
    activation: object

    @nn.compact
    def __call__(self, x):
        for size in self.sizes[:-1]:
            x = self.activation(nn.Dense(size)(x))
        return nn.Dense(self.sizes[-1])(x)


def xor():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (128, 2))
    x = jnp.asarray(bits + rng.normal(0, 0.1, bits.shape), jnp.float32)
    y = jnp.asarray(bits.sum(1) % 2, jnp.float32)
    model = Mlp((8, 1), nn.tanh)

    def loss_fn(params, x, y):
        logits = model.apply(params, x).squeeze(-1)
        accuracy = jnp.mean((logits > 0) == (y > 0.5))
        return optax.sigmoid_binary_cross_entropy(logits, y).mean(), accuracy

    step, state = trainer(model, optax.sgd(0.1), x, loss_fn)
    return step, state, (x, y)


def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def digits():
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.integers(0, 17, (1347, 64)), jnp.float32)
    y = jnp.asarray(rng.integers(0, 10, 1347), jnp.int32)
    model = Mlp((128, 128, 10), nn.selu)

    def loss_fn(params, x, y):
        logits = model.apply(params, x)
        return cross_entropy(logits, y), logits

    step, state = trainer(model, optax.sgd(0.05), x, loss_fn)
    return step, state, (x, y)


class Cnn(nn.Module):
    @nn.compact
    def __call__(self, x, train=True):
        for features in (32, 64):
            x = nn.Conv(features, (3, 3))(x)
            x = nn.relu(nn.BatchNorm(use_running_average=not train)(x))
            x = nn.max_pool(x, (2, 2), (2, 2))
        return nn.Dense(10)(x.reshape(x.shape[0], -1))


def cnn():
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(64, 28, 28, 1)), jnp.float32)
    y = jnp.asarray(rng.integers(0, 10, 64), jnp.int32)
    model, optimizer = Cnn(), optax.adam(1e-3)
    variables = jax.jit(model.init)(jax.random.key(0), x)
    state = (variables["params"], variables["batch_stats"], jax.jit(optimizer.init)(variables["params"]))

    def step(state, x, y):
        params, stats, moments = state

        def loss_fn(params):
            logits, changed = model.apply({"params": params, "batch_stats": stats}, x, mutable=["batch_stats"])
            return cross_entropy(logits, y), changed["batch_stats"]

        (loss, stats), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
        updates, moments = optimizer.update(grads, moments, params)
        return (optax.apply_updates(params, updates), stats, moments), (loss,)

    return step, state, (x, y)


class Block(nn.Module):
    width: int
    heads: int
    decode: bool
    epsilon: float

    @nn.compact
    def __call__(self, x):
        norm = functools.partial(nn.LayerNorm, self.epsilon)
        mask = None if self.decode else nn.make_causal_mask(jnp.ones(x.shape[:2]))
        attention = nn.MultiHeadDotProductAttention(self.heads, decode=self.decode)
        x = x + attention(norm()(x), mask=mask)
        h = nn.Dense(4 * self.width)(norm()(x))
        return x + nn.Dense(self.width)(nn.gelu(h, approximate=True))


class Gpt(nn.Module):
    vocabulary: int = 96
    width: int = 128
    heads: int = 4
    layers: int = 4
    length: int = 128
    decode: bool = False
    epsilon: float = 1e-6

    @nn.compact
    def __call__(self, tokens, position=None):
        embed = nn.Embed(self.vocabulary, self.width)
        positions = self.param("positions", nn.initializers.normal(0.02), (self.length, self.width))
        count = tokens.shape[1]
        if position is None:
            positions = positions[:count]
        else:
            positions = jax.lax.dynamic_slice_in_dim(positions, position, count)
        x = embed(tokens) + positions
        for _ in range(self.layers):
            x = Block(self.width, self.heads, self.decode, self.epsilon)(x)
        return embed.attend(nn.LayerNorm(self.epsilon)(x))


def decoder(model, batch, length):
    rng = np.random.default_rng(0)
    text = jnp.asarray(rng.integers(0, model.vocabulary, (batch, length + 1)), jnp.int32)
    tokens, targets = text[:, :-1], text[:, 1:]

    def loss_fn(params, tokens, targets):
        return cross_entropy(model.apply(params, tokens), targets), ()

    step, state = trainer(model, optax.adamw(1e-3), tokens, loss_fn)
    return step, state, (tokens, targets)


def gpt(layers=4, batch=16):
    return decoder(Gpt(layers=layers), batch, 128)


def gpt2():
    return decoder(Gpt(50257, 768, heads=12, layers=12, length=1024, epsilon=1e-5), 4, 64)


class Lstm(nn.Module):
    @nn.compact
    def __call__(self, x):
        for _ in range(2):
            # The default orthogonal initializer needs LAPACK, which the CPU plugin lacks.
            cell = nn.OptimizedLSTMCell(256, recurrent_kernel_init=nn.initializers.lecun_normal())
            x = nn.RNN(cell)(x)
        return nn.Dense(10)(x[:, -1])


def lstm():
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(32, 64, 256)), jnp.float32)
    y = jnp.asarray(rng.integers(0, 10, 32), jnp.int32)
    model = Lstm()

    def loss_fn(params, x, y):
        return cross_entropy(model.apply(params, x), y), ()

    step, state = trainer(model, optax.adam(1e-3), x, loss_fn)
    return step, state, (x, y)


def sample():
    model = Gpt(length=1024, decode=True)
    variables = jax.jit(model.init)(jax.random.key(0), jnp.zeros((1, model.length), jnp.int32), 0)
    state = (variables["cache"], jnp.zeros((1, 1), jnp.int32), jnp.int32(0))

    def step(state, params):
        cache, token, position = state
        logits, updates = model.apply({"params": params, "cache": cache}, token, position, mutable=["cache"])
        return (updates["cache"], jnp.argmax(logits, -1).astype(jnp.int32), position + 1), ()

    return step, state, (variables["params"],)


def leaves(count):
    def step(state):
        return [x * 0.5 + 1.0 for x in state], ()

    state = jax.jit(lambda: [jnp.full(8, 2.0) for _ in range(count)])()
    return step, state, ()


WORKLOADS = {f.__name__: f for f in (scalar, xor, digits, cnn, gpt, gpt2, lstm, sample)}
# Workloads whose names end with their sizes.
SCALED = {"leaves": leaves, "layers": lambda n: gpt(layers=n), "batch": lambda n: gpt(batch=n)}


def workload(name):
    """Returns the function that creates a workload."""
    kind, _, size = name.partition("_")
    return functools.partial(SCALED[kind], int(size)) if kind in SCALED else WORKLOADS[name]
