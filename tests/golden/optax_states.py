"""Writes data/optax_states.json: the state dict that Flax makes of the state of every optimizer of
optimizers.py, with types in the place of arrays; and data/optax_states.msgpack: parameters and states
of some optimizers after 10 and after 20 steps, as Flax writes them.

With `--check FILE` reads what Ramie wrote after its own 10 steps, in the form of optax_states.msgpack,
goes on for 10 steps with Optax, and fails if it does not arrive where the recorded runs do.
"""

import collections
import json
import pathlib
import sys

import jax
import numpy as np
import optax
from flax import serialization

import optimizers as o

DATA = pathlib.Path(__file__).parent / "data"

RUNS = {
    "sgd": optax.sgd(0.05, momentum=0.9),
    "adam": optax.adam(o.decaying),
    "adamw": optax.adamw(0.05, weight_decay=0.1, mask=o.kernels),
    "clipped": optax.chain(optax.clip_by_global_norm(0.5), optax.adam(0.05)),
    "multi_steps": optax.MultiSteps(optax.adam(0.05), 3).gradient_transformation(),
    "masked": optax.chain(optax.masked(optax.trace(0.9), o.kernels), optax.scale(-0.05)),
    "adafactor": optax.adafactor(0.1, min_dim_size_to_factor=3, momentum=0.5),
    "lion": optax.lion(0.02),
}


def skeleton(tree):
    """The state dict of a tree, with types in the place of arrays."""
    if jax.dtypes.issubdtype(getattr(tree, "dtype", None), jax.dtypes.prng_key):
        tree = jax.random.key_data(tree)
    if hasattr(tree, "dtype"):
        return f"{tree.dtype}{list(np.shape(tree))}".replace(" ", "")
    if isinstance(tree, collections.OrderedDict):
        # Flax has no state dict of it.
        tree = dict(sorted(tree.items()))
    if isinstance(tree, (bool, int, float)):
        raise ValueError(f"{tree} has no type")
    made = serialization.to_state_dict(tree)
    return {k: skeleton(v) for k, v in made.items()} if isinstance(made, dict) else made


def advance(tx, run, steps):
    objective, _ = o.problems()["mlp"]

    @jax.jit
    def step(run, i):
        grads = jax.grad(lambda p: objective(p, i))(run["params"])
        updates, state = tx.update(grads, run["opt_state"], run["params"])
        return {"params": optax.apply_updates(run["params"], updates), "opt_state": state}

    for i in steps:
        run = step(run, i)
    return run


def start(tx):
    _, params = o.problems()["mlp"]
    return {"params": params, "opt_state": tx.init(params)}


def write():
    _, params = o.problems()["mlp"]
    # Through a transformation, as after a step: dictionaries are then in the order of their names.
    init = lambda tx: jax.tree.map(lambda x: x, tx.init(params))
    # A monitor's state has its parts from the first step on.
    first = lambda tx: tx.update(params, init(tx), params)[1]
    state = lambda name, tx: first(tx) if name == "monitor" else init(tx)
    text = lambda name, tx: json.dumps(skeleton(state(name, tx)), separators=(",", ":"))
    groups = {group: {name: text(name, tx) for name, tx in txs.items()} for group, txs in o.GROUPS.items()}
    document = {"optax": optax.__version__, "groups": groups}
    (DATA / "optax_states.json").write_text(json.dumps(document, indent=1) + "\n")
    runs = {}
    for name, tx in RUNS.items():
        ten = advance(tx, start(tx), range(10))
        runs[name] = {"10": ten, "20": advance(tx, ten, range(10, 20))}
    (DATA / "optax_states.msgpack").write_bytes(serialization.to_bytes(runs))


def check(path):
    recorded = serialization.msgpack_restore((DATA / "optax_states.msgpack").read_bytes())
    given = serialization.msgpack_restore(pathlib.Path(path).read_bytes())
    for name, tx in RUNS.items():
        run = serialization.from_state_dict(start(tx), given[name]["10"])
        run = serialization.to_state_dict(advance(tx, run, range(10, 20)))

        def compare(a, b):
            limit = 1e-6 + 1e-5 * np.max(np.abs(b), initial=0)
            assert np.max(np.abs(a - b), initial=0) <= limit, (name, a, b)

        jax.tree.map(compare, run, recorded[name]["20"])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        check(sys.argv[2])
    else:
        write()
