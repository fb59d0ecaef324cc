"""Writes data/ports_transformations.json.

Named results, each a list of numbers or a text: gradients with respect to chosen
arguments, Jacobians with auxiliary values, Jacobians of trees, tree definitions,
texts of key paths and flattened dictionaries.
"""

import json
import pathlib

import jax
import jax.numpy as jnp
from flax import traverse_util

X = jnp.array([0.5, -1.0, 2.0], jnp.float32)
Y = jnp.array([1.5, 0.25, -0.75], jnp.float32)
S = jnp.float32(3.0)
found = {}


def keep(name, value):
    found[name] = jnp.ravel(value).tolist() if hasattr(value, "shape") else value


def three(x, s, y):
    return jnp.sum(jnp.sin(x * s) * y**2)


keep("grad_1", jax.grad(three, argnums=1)(X, S, Y))
for i, g in zip((0, 2), jax.grad(three, argnums=(0, 2))(X, S, Y)):
    keep(f"grad_0_2.{i}", g)
value, grads = jax.value_and_grad(three, argnums=(2,))(X, S, Y)
keep("value", value)
keep("value_and_grad_2", grads[0])


def pair(x):
    return jnp.sin(x) * x[::-1], {"norm": jnp.sum(x**2), "count": jnp.int32(3)}


for name in ("jacfwd", "jacrev"):
    jacobian, aux = getattr(jax, name)(pair, has_aux=True)(X)
    keep(name, jacobian)
    keep(f"{name}.norm", aux["norm"])


def loss(p):
    y = jnp.tanh(p["w"] * X + p["b"])
    return jnp.sum(y**2) * p["b"]


params = {"w": Y, "b": jnp.float32(0.3)}
hessian = jax.hessian(loss)(params)
for a in "wb":
    for b in "wb":
        keep(f"hessian.{a}.{b}", hessian[a][b])
hessian, aux = jax.hessian(lambda x: (jnp.sum(x**3), jnp.max(x)), has_aux=True)(X)
keep("hessian_with_aux", hessian)
keep("hessian_with_aux.max", aux)
out, push, aux = jax.linearize(pair, X, has_aux=True)
keep("linearize", out)
keep("linearize.tangent", push(Y))
keep("linearize.norm", aux["norm"])

tree = {"a": [jnp.zeros(2), (jnp.zeros(1),)], "it's": {"b": None, "c": jnp.zeros(3)}, "é\\": jnp.zeros(1)}
leaves, definition = jax.tree.flatten(tree)
keep("num_leaves", definition.num_leaves)
paths = [path for path, _ in jax.tree.leaves_with_path(tree)]
keep("keystr", [jax.tree_util.keystr(path) for path in paths])
keep("keystr_simple", [jax.tree_util.keystr(path, simple=True, separator="/") for path in paths])
outer = jax.tree.structure({"a": [0, (0,)], "b": 0, "c": None})
inner = jax.tree.structure((0, {"d": 0}))


def shown(definition):
    """The leaves, the nodes and the paths of the leaves of a definition."""
    tree = jax.tree.unflatten(definition, range(definition.num_leaves))
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree.leaves_with_path(tree)]
    return [str(definition.num_leaves), *paths]


keep("children", [shown(child) for child in outer.children()])
keep("children_of_leaf", len(jax.tree.structure(0).children()))
keep("compose", shown(outer.compose(inner)))
keep("compose_with_leaf", outer.compose(jax.tree.structure(0)) == outer)
parts = outer.flatten_up_to({"a": [(1.0, 2.0), ({"e": [3.0]},)], "b": 4.0, "c": None})
keep("flatten_up_to", [jax.tree.leaves(part) for part in parts])
nested = {"params": {"dense": {"kernel": 1.0, "bias": 2.0}, "empty": {}}, "step": 3.0}
keep("flatten_dict", sorted(traverse_util.flatten_dict(nested, sep="/").items()))
kept = traverse_util.flatten_dict(nested, keep_empty_nodes=True, sep=".")
keep("flatten_dict_keep_empty", sorted(k for k in kept))

file = pathlib.Path(__file__).parent / "data" / "ports_transformations.json"
file.write_text(json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
