"""Saves one tree with Orbax and with Flax: nodes without parts, numbers and a text beside arrays."""

import os
import pathlib
import shutil

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import flax.serialization
import jax.numpy as jnp
import optax
import orbax.checkpoint as ocp

OUT = pathlib.Path(__file__).parent / "data" / "convert"


def tree():
    params = {"b": jnp.array([1.0, 2.0]), "w": jnp.arange(6.0).reshape(2, 3)}
    chain = optax.chain(
        optax.clip_by_global_norm(1.0),
        optax.adam(1e-3),
        optax.masked(optax.sgd(0.1, momentum=0.9), {"b": False, "w": True}),
    )
    # In the order of names, which is Orbax's.
    return {
        "empty": {},
        "lr": 0.1,
        "note": "a text",
        "opt": chain.init(params),
        "params": params,
        "step": 7,
    }


if __name__ == "__main__":
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    (OUT / "state.msgpack").write_bytes(flax.serialization.to_bytes(tree()))
    with ocp.PyTreeCheckpointer() as checkpointer:
        checkpointer.save(OUT / "orbax", tree())
    # The marker names the folder that it was made in.
    (OUT / "orbax" / "commit_success.txt").write_text("Checkpoint commit was successful\n")
