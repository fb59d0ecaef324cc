"""NNX: streams of keys, transformations that carry state out, metrics, EMA.

Arrays are named `case/part`, in `data/flax_nnx.safetensors`.
"""

import flax.linen as nn
import flax_layers
import jax
import jax.numpy as jnp
import optax
from flax import nnx
from safetensors.flax import save_file

out = {}


def put(case, **parts):
    for name, value in parts.items():
        for path, leaf in flax_layers.flat({name: value}).items():
            out[f"{case}/{path.replace('.', '/', 1)}"] = jnp.array(leaf)


def key_data(key):
    return jax.random.key_data(key)


def streams():
    rngs = nnx.Rngs(params=0, dropout=1)
    put("rngs", split=key_data(rngs.split(3).params.key[...]))
    put("rngs", fork=key_data(rngs.fork().params.key[...]))
    put("rngs", broadcast=key_data(rngs.broadcast(2).dropout.key[...]))
    put("rngs", next=key_data(rngs.params()), count=rngs.params.count[...])
    rngs = nnx.Rngs(7)
    put("rngs", uniform=rngs.uniform((3,)), normal=rngs.normal((2, 2)))
    put("rngs", randint=rngs.randint((4,), 0, 10), bernoulli=rngs.bernoulli(0.5, (5,)))
    put("rngs", ball=rngs.ball(3, 2.0, (2,)), binomial=rngs.binomial(10.0, 0.3, (4,)),
        chisquare=rngs.chisquare(3.0, (3,)), double_sided_maxwell=rngs.double_sided_maxwell(1.0, 2.0, (3,)),
        f=rngs.f(5.0, 6.0, (3,)), generalized_normal=rngs.generalized_normal(1.5, (3,)),
        geometric=rngs.geometric(0.3, (4,)), loggamma=rngs.loggamma(0.5, (3,)), lognormal=rngs.lognormal(0.5, (3,)),
        maxwell=rngs.maxwell((3,)), multinomial=rngs.multinomial(20.0, jnp.array([0.2, 0.3, 0.5])),
        multivariate_normal=rngs.multivariate_normal(jnp.array([1.0, 2.0]), jnp.array([[2.0, 0.5], [0.5, 1.0]]), (2,)),
        pareto=rngs.pareto(3.0, (3,)), rayleigh=rngs.rayleigh(2.0, (3,)), t=rngs.t(4.0, (3,)),
        triangular=rngs.triangular(0.0, 0.25, 1.0, (3,)), wald=rngs.wald(2.0, (3,)),
        weibull_min=rngs.weibull_min(2.0, 1.5, (3,)))

    class Noise(nnx.Module):
        def __init__(self, rngs):
            self.stream = rngs.dropout.fork()

    model = Noise(nnx.Rngs(params=0, dropout=1))
    backups = nnx.split_rngs(model, splits=4)
    put("split_rngs", key=key_data(model.stream.key[...]), count=model.stream.count[...])
    nnx.restore_rngs(backups)
    put("split_rngs", restored=key_data(model.stream.key[...]), restored_count=model.stream.count[...])
    backups = nnx.fork_rngs(model)
    put("split_rngs", forked=key_data(model.stream.key[...]), forked_count=model.stream.count[...])
    nnx.reseed(model, dropout=42)
    put("split_rngs", reseeded=key_data(model.stream.key[...]), reseeded_count=model.stream.count[...])


class Block(nnx.Module):
    """A layer with a parameter, a count of calls and noise."""

    def __init__(self, rngs):
        self.linear = nnx.Linear(3, 3, rngs=rngs)
        self.calls = nnx.BatchStat(jnp.array(0.0))
        self.rngs = rngs.dropout.fork()

    def __call__(self, x):
        self.calls[...] += jnp.mean(x)
        noise = jax.random.normal(self.rngs(), x.shape)
        return jnp.tanh(self.linear(x)) + 0.1 * noise


X = jnp.linspace(-1.0, 1.0, 6).reshape(2, 3)


def stacked():
    @nnx.split_rngs(splits=4)
    @nnx.vmap(in_axes=0, out_axes=0)
    def create(rngs):
        return Block(rngs)

    return create(nnx.Rngs(params=0, dropout=1))


def transforms():
    layers = stacked()
    put("stacked", init=nnx.to_pure_dict(nnx.state(layers)))

    # Each layer on its own slice of the input.
    xs = jnp.stack([X + i for i in range(4)])
    y = nnx.vmap(lambda m, x: m(x), in_axes=(0, 0), out_axes=0)(layers, xs)
    put("vmap", xs=xs, y=y, after=nnx.to_pure_dict(nnx.state(layers)))

    # All layers on one input, by a scan.
    layers = stacked()

    def step(x, m):
        y = m(x)
        return y, jnp.sum(y)

    def loss(layers):
        y, sums = nnx.scan(step, in_axes=(nnx.Carry, 0), out_axes=(nnx.Carry, 0))(X, layers)
        return jnp.mean(y**2), (y, sums)

    (value, (y, sums)), grads = nnx.value_and_grad(loss, has_aux=True)(layers)
    put("scan", x=X, value=value, y=y, sums=sums)
    put("scan", grads=nnx.to_pure_dict(grads), after=nnx.to_pure_dict(nnx.state(layers)))

    # One layer for all steps, whose state is carried.
    block = Block(nnx.Rngs(params=0, dropout=1))
    axes = nnx.StateAxes({nnx.Param: None, ...: nnx.Carry})

    def carried(m, x):
        return m(x)

    run = nnx.scan(carried, in_axes=(axes, nnx.Carry), out_axes=nnx.Carry, length=3)
    y = run(block, X)
    put("carried", x=X, y=y, after=nnx.to_pure_dict(nnx.state(block)))

    # A layer that is shared by all examples, with keys of their own.
    block = Block(nnx.Rngs(params=0, dropout=1))
    state_axes = nnx.StateAxes({nnx.Param: None, ...: 0})

    @nnx.split_rngs(splits=2)
    def run(m, x):
        m.calls.set_value(jnp.zeros((2,)))
        y = nnx.vmap(lambda m, x: m(x), in_axes=(state_axes, 0), out_axes=0)(m, x)
        return y, m.calls[...]

    y, calls = run(block, X)
    put("shared", x=X, y=y, calls=calls)

    # cond, switch, while_loop, fori_loop, remat carry state out.
    block = Block(nnx.Rngs(params=0, dropout=1))
    y = nnx.cond(True, lambda m, x: m(x), lambda m, x: x, block, X)
    y = nnx.switch(1, [lambda m, x: x, lambda m, x: m(x)], block, y)
    y = nnx.remat(lambda m, x: m(x))(block, y)
    block, y = nnx.fori_loop(0, 2, lambda i, c: (c[0], c[0](c[1])), (block, y))
    put("control", x=X, y=y, after=nnx.to_pure_dict(nnx.state(block)))


def metrics():
    rng = jax.random.key(3)
    losses = [jnp.arange(4.0), jnp.array([3.0, -2.0, 1.5]), jnp.float32(2.25)]
    masks = [jnp.array([1, 0, 1, 1]), jnp.array([True, False, True])]
    average, masked, welford = nnx.metrics.Average(), nnx.metrics.Average(), nnx.metrics.Welford()
    for i, values in enumerate(losses):
        average.update(values=values)
        welford.update(values=values)
        s = welford.compute()
        put("metrics", **{f"loss{i}": values, f"average{i}": average.compute()})
        put("metrics", **{f"welford{i}": jnp.stack([s.mean, s.standard_error_of_mean, s.standard_deviation])})
    for i, mask in enumerate(masks):
        masked.update(values=losses[i], mask=mask)
        put("metrics", **{f"mask{i}": mask.astype("int32"), f"masked{i}": masked.compute()})
    multi = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))
    for i in range(2):
        logits = jax.random.normal(jax.random.fold_in(rng, i), (5, 3))
        labels = jnp.array([0, 1, 2, 1, i])
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
        multi.update(logits=logits, labels=labels, loss=loss)
        values = multi.compute()
        put("metrics", **{f"logits{i}": logits, f"labels{i}": labels, f"losses{i}": loss})
        put("metrics", **{f"accuracy{i}": values["accuracy"], f"mean{i}": values["loss"]})
    binary = nnx.metrics.Accuracy(threshold=0.5)
    scores = jax.random.normal(rng, (6,))
    labels = jnp.array([0, 1, 0, 1, 1, 0])
    binary.update(logits=scores, labels=labels)
    put("metrics", scores=scores, binary_labels=labels, binary=binary.compute())


def averages():
    model = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
    ema = nnx.EMA(model, decay=0.9)
    x, y = jnp.ones((1, 2)), jnp.ones((1, 2))
    for _ in range(3):
        grads = nnx.grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)
        optimizer.update(model, grads)
        ema.update(model)
    put("ema", average=nnx.to_pure_dict(nnx.state(ema.apply_to(model))))
    put("ema", model=nnx.to_pure_dict(nnx.state(model)))


def bridges():
    x = jnp.linspace(-1.0, 1.0, 8).reshape(2, 4)
    model = nnx.bridge.ToNNX(nn.Dense(3), rngs=nnx.Rngs(0)).lazy_init(x)
    put("to_nnx", x=x, kernel=model.kernel[...], y=model(x))

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.Dense(3)(x)
            return nnx.bridge.to_linen(nnx.BatchNorm, 3)(x)

    module = nnx.bridge.to_linen(nnx.Linear, 4, 3)
    variables = module.init(jax.random.key(0), x)
    put("to_linen", x=x, kernel=variables["params"]["kernel"], y=module.apply(variables, x))
    net = Net()
    variables = net.init(jax.random.key(0), x)
    y, updates = net.apply(variables, x, mutable=["batch_stats"])
    put("to_linen_nested", kernel=variables["params"]["Dense_0"]["kernel"], y=y)
    (stats,) = updates["batch_stats"].values()
    put("to_linen_nested", mean=stats["mean"], var=stats["var"])


streams()
transforms()
bridges()
metrics()
averages()
save_file(out, flax_layers.DATA / "flax_nnx.safetensors")
