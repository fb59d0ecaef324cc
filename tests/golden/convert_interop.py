"""The states of optimizers, before and after `ramie ckpt convert`.

    convert_interop.py write <folder>
    convert_interop.py check <folder>

`write` saves each state with Flax, as `<name>.msgpack`, and with Orbax, as `<name>`. `check` restores
`<name>_from_orbax.msgpack` with Flax and `<name>_from_flax` with Orbax.
"""

import os
import pathlib
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import flax.serialization
import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp

PARAMS = {"b": jnp.array([1.0, 2.0]), "w": jnp.arange(6.0).reshape(2, 3)}
MASK = {"b": False, "w": True}
OPTIMIZERS = {
    "adafactor": optax.adafactor(1e-3),
    "adam": optax.adam(1e-3),
    "adamw_schedule": optax.adamw(optax.cosine_decay_schedule(1e-3, 100)),
    "chain": optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3)),
    "identity": optax.identity(),
    "lamb": optax.lamb(1e-3),
    "masked": optax.masked(optax.adam(1e-3), MASK),
    "momentum": optax.sgd(0.1, momentum=0.9),
    "multi_steps": optax.MultiSteps(optax.adam(1e-3), every_k_schedule=2),
    "partition": optax.partition({"a": optax.adam(1e-3), "z": optax.set_to_zero()}, {"b": "z", "w": "a"}),
    "rmsprop": optax.rmsprop(1e-3),
    "sgd": optax.sgd(0.1),
}


def states():
    for name, optimizer in OPTIMIZERS.items():
        state = optimizer.init(PARAMS)
        _, state = optimizer.update(PARAMS, state, PARAMS)
        yield name, {"opt_state": state, "params": PARAMS}


def same(name, expected, restored):
    assert jax.tree.structure(expected) == jax.tree.structure(restored), (name, restored)
    for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(restored)):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b), strict=True)


def main(what, folder):
    folder = pathlib.Path(folder)
    with ocp.StandardCheckpointer() as checkpointer:
        for name, state in states():
            if what == "write":
                (folder / f"{name}.msgpack").write_bytes(flax.serialization.to_bytes(state))
                checkpointer.save(folder / name, state)
            else:
                bytes = (folder / f"{name}_from_orbax.msgpack").read_bytes()
                same(name, state, flax.serialization.from_bytes(state, bytes))
                same(name, state, checkpointer.restore(folder / f"{name}_from_flax", state))
    print(*OPTIMIZERS)


main(*sys.argv[1:])
