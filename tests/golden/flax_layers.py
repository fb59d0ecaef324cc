"""Recording of Flax's modules: what the scripts of layers share.

Each case is a module with inputs. Recorded are its first variables, its
outputs, the gradients of `sum(output * weight)` with respect to parameters and
inputs, and the variables afterwards. The arrays of case `c` are named

    c/in/0                      inputs, by place
    c/weight/0                  weights of the outputs, by place
    c/init/params/Dense_0.kernel   (Linen) first variables
    c/init/kernel                  (NNX) first state
    c/out/0                     outputs
    c/grad/Dense_0.kernel       gradients of parameters
    c/grad_in/0                 gradients of inputs of floats
    c/after/batch_stats/...     (Linen) collections other than params afterwards
    c/after/count               (NNX) state afterwards
"""

import pathlib

import flax
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from safetensors.flax import save_file

DATA = pathlib.Path(__file__).parent / "data"


def draw(seed, shape, dtype="float32"):
    """Numbers for an input."""
    values = np.random.default_rng(seed).standard_normal(shape)
    return jnp.asarray(values.astype("float32")).astype(dtype)


def flat(tree):
    """Arrays of a tree by dotted path; keys of random numbers as their data."""
    out = {}
    for path, leaf in jax.tree_util.tree_flatten_with_path(tree)[0]:
        names = [str(getattr(k, "key", getattr(k, "idx", getattr(k, "name", None)))) for k in path]
        leaf = jnp.asarray(leaf)
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            leaf = jax.random.key_data(leaf)
        out[".".join(names)] = leaf
    return out


def listed(value):
    return [jnp.asarray(a) for a in jax.tree_util.tree_leaves(value)]


def weights(outputs):
    """A weight for each output, which tells its elements apart."""
    return [
        jnp.cos(jnp.arange(o.size, dtype=jnp.float32) + i).reshape(o.shape)
        for i, o in enumerate(outputs)
    ]


def weighed(outputs):
    """The sum of outputs of floats by their weights, in f32."""
    total = jnp.float32(0)
    for o, w in zip(outputs, weights(outputs)):
        if jnp.issubdtype(o.dtype, jnp.floating):
            total += jnp.sum(o.astype(jnp.float32) * w)
    return total


class Recorder:
    """Arrays of many cases, written to one file."""

    def __init__(self):
        self.arrays = {}

    def put(self, case, part, tree):
        for path, a in flat(tree).items():
            name = f"{case}/{part}/{path}" if path else f"{case}/{part}"
            assert name not in self.arrays, name
            self.arrays[name] = a

    def common(self, case, inputs, outputs, grads, grads_in):
        for i, x in enumerate(inputs):
            self.arrays[f"{case}/in/{i}"] = jnp.asarray(x)
        for i, (o, w) in enumerate(zip(outputs, weights(outputs))):
            self.arrays[f"{case}/out/{i}"] = o
            self.arrays[f"{case}/weight/{i}"] = w
        self.put(case, "grad", grads)
        for i, g in grads_in.items():
            self.arrays[f"{case}/grad_in/{i}"] = g

    def linen(self, case, module, *inputs, method=None, init_kwargs=None, changes=(), **kwargs):
        """`kwargs` go to both `init` and `apply`, `init_kwargs` to `init`.

        `init` gets key 0 for params and key 1 for dropout, `apply` key 2 for
        dropout. `changes` alters variables before `apply`: pairs of a dotted
        path with collection, and a function.
        """
        keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
        start = {**kwargs, **(init_kwargs or {})}
        variables = module.init(keys, *inputs, method=method, **start)
        for name, state in variables.items():
            self.put(case, f"init/{name}", nn.meta.unbox(state))
        for path, change in changes:
            *names, last = path.split(".")
            node = variables
            for n in names:
                node = node[n]
            node[last] = change(node[last])
            self.arrays[f"{case}/changed/{path}"] = node[last]
        params = variables.get("params", {})
        rest = {k: v for k, v in variables.items() if k != "params"}
        floats = [i for i, x in enumerate(inputs) if jnp.issubdtype(jnp.asarray(x).dtype, jnp.floating)]

        def loss(params, some):
            args = list(inputs)
            for i, x in zip(floats, some):
                args[i] = x
            out, updates = module.apply(
                {"params": params, **rest},
                *args,
                method=method,
                rngs={"dropout": jax.random.key(2)},
                mutable=[k for k in rest],
                **kwargs,
            )
            outputs = listed(out)
            return weighed(outputs), (outputs, updates)

        grad = jax.grad(loss, argnums=(0, 1), has_aux=True)
        (grads, grads_in), (outputs, updates) = grad(params, [inputs[i] for i in floats])
        for name, state in updates.items():
            self.put(case, f"after/{name}", nn.meta.unbox(state))
        self.common(case, inputs, outputs, nn.meta.unbox(grads), dict(zip(floats, grads_in)))

    def nnx(self, case, make, *inputs, call=None, changes=None):
        """`make` takes `nnx.Rngs(0)`; `call(module, *inputs)` is by default the
        module's own. `changes(module)` alters it before the call."""
        module = make(nnx.Rngs(0))
        self.put(case, "init", nnx.to_pure_dict(nnx.state(module)))
        if changes:
            changes(module)
            self.put(case, "changed", nnx.to_pure_dict(nnx.state(module)))
        call = call or (lambda m, *args: m(*args))
        floats = [i for i, x in enumerate(inputs) if jnp.issubdtype(jnp.asarray(x).dtype, jnp.floating)]
        graph, params, rest = nnx.split(module, nnx.Param, ...)

        def loss(params, some):
            args = list(inputs)
            for i, x in zip(floats, some):
                args[i] = x
            m = nnx.merge(graph, params, rest, copy=True)
            outputs = listed(call(m, *args))
            after = nnx.state(m, nnx.Not(nnx.Param))
            return weighed(outputs), (outputs, nnx.to_pure_dict(after))

        grad = jax.grad(loss, argnums=(0, 1), has_aux=True)
        (grads, grads_in), (outputs, after) = grad(params, [inputs[i] for i in floats])
        self.put(case, "after", after)
        self.common(case, inputs, outputs, nnx.to_pure_dict(grads), dict(zip(floats, grads_in)))

    def write(self, name):
        meta = {"flax": flax.__version__, "jax": jax.__version__}
        save_file(self.arrays, DATA / f"{name}.safetensors", metadata=meta)
        print(f"{name}: {len(self.arrays)} arrays of {len({n.split('/')[0] for n in self.arrays})} cases")
