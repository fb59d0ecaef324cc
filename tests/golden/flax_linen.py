"""Modules of Flax's Linen: names, scopes, collections and keys.

Nested modules are recorded as layers are; what else `init` and `apply` return
is recorded by name.
"""

import flax.linen as nn
import jax
import jax.numpy as jnp

from flax_layers import Recorder, draw, flat, listed

r = Recorder()
keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}


class Names(nn.Module):
    """Automatic and given names of two classes."""

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)
        x = nn.Dense(4, name="middle")(x)
        x = nn.Dense(4)(x)
        x = Scale()(x)
        x = Scale(name="Scale_7")(x)
        return Scale()(nn.Dense(3)(x))


class Scale(nn.Module):
    @nn.compact
    def __call__(self, x):
        scale = self.param("scale", nn.initializers.normal(1.0), (x.shape[-1],))
        bias = self.param("bias", nn.initializers.normal(1.0), ())
        return x * scale + bias


class Shared(nn.Module):
    """Children made in setup; one is called twice, one not at all."""

    def setup(self):
        self.dense = nn.Dense(3)
        self.layers = [nn.Dense(4), Scale()]
        self.heads = {"a": nn.Dense(2), "b": nn.Dense(2)}
        self.unused = nn.Dense(9)

    def __call__(self, x):
        x = self.dense(nn.tanh(self.dense(x)))
        for layer in self.layers:
            x = layer(x)
        return self.heads["b"](x) + 2 * self.heads["a"](x)


class Keys(nn.Module):
    """Keys of several streams in several scopes, two of which fall back."""

    @nn.compact
    def __call__(self, x):
        a = jax.random.key_data(self.make_rng("dropout"))
        b = jax.random.key_data(self.make_rng("dropout"))
        c = jax.random.key_data(self.make_rng("noise"))
        d = jax.random.key_data(self.make_rng("params"))
        inner = Inner(name="inner")
        return x, a, b, c, d, inner(x), inner(x), Inner()(x)


class Inner(nn.Module):
    @nn.compact
    def __call__(self, x):
        w = self.param("w", nn.initializers.normal(1.0), (2,))
        e = jax.random.key_data(self.make_rng("noise"))
        return x.sum() * w, e, jax.random.key_data(self.make_rng("dropout"))


class Counter(nn.Module):
    """Variables of a collection of one's own."""

    @nn.compact
    def __call__(self, x):
        initialized = self.has_variable("state", "count")
        count = self.variable("state", "count", lambda: jnp.zeros((), jnp.int32))
        mean = self.variable("averages", "mean", jnp.zeros, x.shape[-1:])
        if initialized:
            count.value += 1
        if not self.is_initializing():
            mean.value = 0.5 * mean.value + 0.5 * x.mean(0)
        return x - mean.value


class Sown(nn.Module):
    @nn.compact
    def __call__(self, x):
        dense = nn.Dense(3, name="dense")
        for i in range(2):
            x = nn.tanh(dense(x))
            self.sow("intermediates", "hidden", x)
            self.sow("losses", "square", (x**2).sum(), init_fn=lambda: 0.0, reduce_fn=lambda a, b: a + b)
        self.sow("nowhere", "x", x)
        return Keep()(x)


class Keep(nn.Module):
    @nn.compact
    def __call__(self, x):
        self.sow("intermediates", "x", x)
        return x, nn.Dense(2)(x)


class Perturbed(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(4)(x)
        x = self.perturb("hidden", x)
        x = Below()(nn.tanh(x))
        return self.perturb("out", x)


class Below(nn.Module):
    @nn.compact
    def __call__(self, x):
        return self.perturb("x", nn.Dense(3)(x)) ** 2


class Coder(nn.Module):
    def setup(self):
        self.encoder = nn.Dense(2)
        self.decoder = nn.Dense(3)

    def __call__(self, x):
        return self.decode(self.encode(x))

    def encode(self, x):
        return nn.tanh(self.encoder(x))

    def decode(self, z):
        return self.decoder(z)


class Base(nn.Module):
    """Shares the scope of the module around."""

    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(x)


class Shares(nn.Module):
    def setup(self):
        self.base = Base()
        nn.share_scope(self, self.base)

    @nn.compact
    def __call__(self, x):
        x = self.base(x)
        return nn.Dense(2, name="own")(x)


x = draw(0, (5, 3))
r.linen("names", Names(), x)
r.linen("shared", Shared(), x)
r.linen("counter", Counter(), x)
r.linen("share_scope", Shares(), x)


def put(case, part, tree):
    r.put(case, part, tree)


def with_inputs(case, *inputs):
    for i, a in enumerate(inputs):
        r.arrays[f"{case}/in/{i}"] = a


# Results of init and apply beside the output.
for case, module in [("sown", Sown()), ("perturbed", Perturbed())]:
    with_inputs(case, x)
    out, made = module.init_with_output(keys, x)
    for name, state in made.items():
        put(case, f"init/{name}", state)
    put(case, "init_out", listed(out))

with_inputs("keys", x)
out, made = Keys().init_with_output(keys, x)
put("keys", "init/params", made["params"])
put("keys", "init_out", listed(out))
put("keys", "out", listed(Keys().apply(made, x, rngs=keys)))

params = {"params": Sown().init(keys, x)["params"]}
for part, mutable in [("both", ["intermediates", "losses"]), ("losses", ["losses"])]:
    out, updates = Sown().apply(params, x, mutable=mutable)
    assert set(updates) == set(mutable)
    for name, state in updates.items():
        put("sown", f"{part}/{name}", state)
out, updates = Sown().apply(params, x, mutable=["intermediates"], capture_intermediates=True)
put("sown", "captured", updates["intermediates"])
only_dense = lambda module, method: isinstance(module, nn.Dense)
out, updates = Sown().apply(params, x, mutable=["losses"], capture_intermediates=only_dense)
put("sown", "captured_dense", updates["intermediates"])

made = Perturbed().init(keys, x)


def loss(params, perturbations):
    return (Perturbed().apply({"params": params, "perturbations": perturbations}, x) ** 2).sum()


put("perturbed", "grads", jax.grad(loss, argnums=1)(made["params"], made["perturbations"]))

coder = Coder()
with_inputs("coder", x)
made = coder.init(keys, x)
put("coder", "init/params", made["params"])
put("coder", "out", [coder.apply(made, x)])
z = coder.apply(made, x, method="encode")
put("coder", "encoded", [z])
put("coder", "decoded", [coder.apply(made, z, method=Coder.decode)])
put("coder", "from_encode/params", coder.init(keys, x, method="encode")["params"])

r.write("flax_linen")
