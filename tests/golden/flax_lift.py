"""Lifted transformations of Flax's Linen."""

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp

from flax_layers import Recorder, draw

r = Recorder()
x = draw(0, (4, 3))


class Noisy(nn.Module):
    """A layer with parameters, a count, and keys."""

    features: int

    @nn.compact
    def __call__(self, x):
        initialized = self.has_variable("state", "sum")
        total = self.variable("state", "sum", jnp.zeros, (self.features,))
        y = nn.tanh(nn.Dense(self.features)(x))
        y = y + 0.1 * jax.random.normal(self.make_rng("dropout"), y.shape)
        if initialized:
            total.value += y.reshape(-1, self.features).sum(0)
        return y * self.param("scale", nn.initializers.normal(1.0), (self.features,))


VmapNoisy = nn.vmap(
    Noisy, variable_axes={"params": 0, "state": 0}, split_rngs={"params": True, "dropout": True}
)


class Vmapped(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = VmapNoisy(2)(x)
        return VmapNoisy(3)(y)


r.linen("vmap", VmapNoisy(2), x)
r.linen("vmap_nested", Vmapped(), x)
r.linen(
    "vmap_shared",
    nn.vmap(Noisy, variable_axes={"params": None, "state": 1}, split_rngs={"params": False, "dropout": True})(2),
    x,
)
r.linen(
    "vmap_axes",
    nn.vmap(
        nn.Dense, in_axes=1, out_axes=1, variable_axes={"params": -1}, split_rngs={"params": True}
    )(2),
    x,
)


class Pair(nn.Module):
    @nn.compact
    def __call__(self, x, w):
        return nn.Dense(2)(x) * w, w + 0 * x.sum()


class VmapPair(nn.Module):
    @nn.compact
    def __call__(self, x, w):
        pair = nn.vmap(
            Pair, in_axes=(0, None), out_axes=(1, 0), axis_size=4,
            variable_axes={"params": 0}, split_rngs={"params": True},
        )
        return pair()(x, w)


r.linen("vmap_pair", VmapPair(), x, draw(1, (2,)))


class Cell(nn.Module):
    """One step: a carry and an input to a carry and an output."""

    @nn.compact
    def __call__(self, carry, x):
        y = nn.tanh(nn.Dense(3)(carry) + nn.Dense(3, use_bias=False, name="in")(x))
        y = y + 0.1 * jax.random.normal(self.make_rng("dropout"), y.shape)
        return y, 2 * y


class Layer(nn.Module):
    @nn.compact
    def __call__(self, carry, _):
        norm = self.variable("state", "mean", jnp.zeros, carry.shape[-1:])
        y = nn.tanh(nn.Dense(3)(carry))
        if not self.is_initializing():
            norm.value = 0.5 * norm.value + 0.5 * y.mean(0)
        return y - norm.value, y.sum()


carry = draw(2, (2, 3))
xs = draw(3, (4, 2, 3))
recurrent = nn.scan(Cell, variable_broadcast="params", split_rngs={"params": False, "dropout": True})
r.linen("scan_shared", recurrent(), carry, xs)
r.linen(
    "scan_reverse",
    nn.scan(
        Cell, variable_broadcast="params", split_rngs={"params": False, "dropout": False},
        in_axes=1, out_axes=1, reverse=True, unroll=2,
    )(),
    carry,
    draw(4, (2, 4, 3)),
)
r.linen(
    "scan_layers",
    nn.scan(
        Layer, variable_axes={"params": 0, "state": 1}, split_rngs={"params": True}, in_axes=nn.broadcast, length=3
    )(),
    carry,
    draw(5, (1,)),
)


class Deep(nn.Module):
    """A loop of layers among others, which share a variable that is carried."""

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(3)(x)
        block = nn.scan(
            Cell, variable_axes={"params": 0}, split_rngs={"params": True, "dropout": True}, length=2
        )
        x, ys = block()(x, jnp.stack([x, 2 * x]))
        x, ys2 = block()(x, ys)
        return nn.Dense(2)(x) + ys2.sum()


r.linen("scan_in_model", Deep(), carry)


class Counts(nn.Module):
    @nn.compact
    def __call__(self, x):
        count = self.variable("counts", "n", lambda: jnp.zeros(()))

        def body(mdl, c, x):
            if not mdl.is_initializing():
                mdl.put_variable("counts", "n", mdl.get_variable("counts", "n") + x.sum())
            return c * mdl.get_variable("counts", "n") + x, c

        loop = nn.scan(body, variable_carry="counts", variable_broadcast="params", split_rngs={"params": False})
        c, ys = loop(self, jnp.ones(3), x)
        return c, ys


r.linen("scan_carry", Counts(), x)


class Rematted(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.remat(Noisy)(2)(x)
        x = nn.remat(nn.Dense, policy=jax.checkpoint_policies.dots_saveable)(3)(x)
        return nn.tanh(x)


r.linen("remat", Rematted(), x)
r.linen("remat_scan", nn.remat_scan(nn.Dense, lengths=(2, 3))(3), x)
r.linen("remat_scan_one", nn.remat_scan(nn.Dense, lengths=(3,))(3), x)


class Jitted(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.jit(Noisy)(2)(x)
        x = nn.jit(Noisy)(2)(x)
        return nn.jit(nn.Dense)(3)(x)


r.linen("jit", Jitted(), x)


class Folded(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.fold_rngs(Noisy)(2)(x)


r.linen("fold_rngs", Folded(), x)


class Choice(nn.Module):
    @nn.compact
    def __call__(self, x, large):
        count = self.variable("state", "count", lambda: jnp.zeros(()))

        def yes(mdl, x):
            if not mdl.is_initializing():
                mdl.put_variable("state", "count", mdl.get_variable("state", "count") + 1)
            x = x + jax.random.normal(mdl.make_rng("dropout"), x.shape)
            return nn.Dense(2, name="dense")(x)

        def no(mdl, x):
            x = x - jax.random.normal(mdl.make_rng("dropout"), x.shape)
            return -nn.Dense(2, name="dense")(x)

        return nn.cond(large[0] > 0, yes, no, self, x)


r.linen("cond_true", Choice(), x, jnp.ones(1))
r.linen("cond_false", Choice(), x, -jnp.ones(1))


class Switch(nn.Module):
    def setup(self):
        self.heads = [nn.Dense(4), nn.Dense(5), nn.Dense(6)]
        self.out = nn.Dense(2)

    def __call__(self, x, index):
        def head(i):
            return lambda mdl, x: mdl.heads[i](x).sum(-1, keepdims=True)

        branches = [head(i) for i in range(3)]
        if self.is_initializing():
            for branch in branches:
                branch(self, x)
        return self.out(nn.switch(index, branches, self, x))


r.linen("switch", Switch(), x, jnp.int32(1))


class Loop(nn.Module):
    @nn.compact
    def __call__(self, x):
        self.variable("state", "n", lambda: jnp.zeros((), jnp.int32))

        def cond(mdl, c):
            return mdl.get_variable("state", "n") < 3

        def body(mdl, c):
            if not mdl.is_initializing():
                mdl.put_variable("state", "n", mdl.get_variable("state", "n") + 1)
            c = nn.tanh(nn.Dense(3, name="dense")(c))
            return c + jax.random.normal(mdl.make_rng("dropout"), c.shape)

        if self.is_initializing():
            return body(self, x)
        return nn.while_loop(cond, body, self, x, carry_variables="state", split_rngs={"dropout": True})


# While loops have no reverse mode: parameters and outputs alone.
loop = Loop()
keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
variables = loop.init(keys, x)
for name, state in variables.items():
    r.put("while_loop", f"init/{name}", state)
out, updates = loop.apply(variables, x, mutable=["state"], rngs={"dropout": jax.random.key(2)})
r.arrays["while_loop/in/0"] = x
r.arrays["while_loop/out/0"] = out
r.put("while_loop", "after/state", updates["state"])


class Gradients(nn.Module):
    """vjp, jvp and value_and_grad inside of a module."""

    @nn.compact
    def __call__(self, x):
        def f(mdl, x):
            return nn.tanh(nn.Dense(2, name="dense")(x))

        if self.is_initializing():
            return f(self, x)
        y, pull = nn.vjp(f, self, x)
        p, dx = pull(jnp.cos(y))
        tangents = jax.tree_util.tree_map(jnp.ones_like, self.variables["params"])
        y2, dy = nn.jvp(f, self, (x,), (jnp.sin(x),), {"params": tangents})
        v, g = nn.value_and_grad(lambda mdl, x: f(mdl, x).sum(), self, x)
        return y, p["params"]["dense"]["kernel"], dx, y2, dy, v, g[0]


gradients = Gradients()
variables = gradients.init(keys, x)
r.put("derivatives", "init/params", variables["params"])
r.arrays["derivatives/in/0"] = x
for i, o in enumerate(gradients.apply(variables, x)):
    r.arrays[f"derivatives/out/{i}"] = o


class Signs(nn.Module):
    @nn.compact
    def __call__(self, x):
        def f(mdl, x):
            return nn.Dense(2, name="dense")(x)

        def fwd(mdl, x):
            return nn.vjp(f, mdl, x)

        def bwd(vjp_fn, y_t):
            params_t, *inputs_t = vjp_fn(y_t)
            params_t = jax.tree_util.tree_map(jnp.sign, params_t)
            return (params_t, *inputs_t)

        return nn.tanh(nn.custom_vjp(f, forward_fn=fwd, backward_fn=bwd)(self, x))


r.linen("custom_vjp", Signs(), x)

to_sign = lambda v: jax.tree_util.tree_map(jnp.sign, v)
r.linen("map_variables", nn.map_variables(nn.Dense, "params", to_sign, init=True)(2), x)

double = lambda v: jax.tree_util.tree_map(lambda a: 2 * a, v)
half = lambda v: jax.tree_util.tree_map(lambda a: a / 2, v)


class Mapped(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.map_variables(Noisy, ["params", "state"], double, half, mutable=True)(2)(x)


r.linen("map_variables_mutable", Mapped(), x)



class Normalized(nn.Module):
    """A block with statistics and dropout."""

    @nn.compact
    def __call__(self, x, _):
        # A bias before the normalization would have a gradient of rounding errors.
        y = nn.Dense(3, use_bias=False)(x)
        y = nn.BatchNorm(use_running_average=False, momentum=0.5)(y)
        y = nn.Dropout(0.5, deterministic=False)(nn.tanh(y))
        return x + y, None


class DeepNormalized(nn.Module):
    @nn.compact
    def __call__(self, x):
        blocks = nn.scan(
            nn.remat(Normalized), variable_axes={"params": 0, "batch_stats": 0},
            split_rngs={"params": True, "dropout": True}, length=3,
        )
        return blocks()(x, None)[0]


r.linen("scan_normalized", DeepNormalized(), draw(6, (5, 3)))


class Synchronized(nn.Module):
    """Statistics over two groups of a batch."""

    @nn.compact
    def __call__(self, x):
        norm = nn.vmap(
            nn.BatchNorm, variable_axes={"params": None, "batch_stats": None}, split_rngs={"params": False},
            axis_name="groups",
        )
        return norm(use_running_average=False, momentum=0.5, axis_name="groups")(x)


r.linen("vmap_normalized", Synchronized(), draw(7, (2, 4, 3)))

# Names of axes that transformations add.
kernel = nn.with_partitioning(nn.initializers.lecun_normal(), ("in", "out"))


class Sharded(nn.Module):
    @nn.compact
    def __call__(self, carry, _):
        return nn.Dense(3, kernel_init=kernel)(carry), ()


stack = nn.scan(
    Sharded, variable_axes={"params": 1}, split_rngs={"params": True}, length=2,
    metadata_params={nn.PARTITION_NAME: "layers"},
)
specs = nn.get_partition_spec(stack().init(keys, carry, ()))
assert specs["params"]["Dense_0"] == {"kernel": jax.P("in", "layers", "out"), "bias": jax.P()}, specs

r.write("flax_lift")
