"""Trees with numbers and strings saved by Orbax and by Flax: ports_checkpoints/."""

import pathlib
import shutil

import flax.serialization
import jax.numpy as jnp
import orbax.checkpoint as ocp

OUT = pathlib.Path(__file__).parent / "data" / "ports_checkpoints"


def tree(text):
    # In the order of names, which is Orbax's.
    run = {
        "done": True,
        "losses": [1.5, 2.25],
        "lr": 0.1,
        "seed": 2**63,
        "step": -7,
        "w": jnp.array([1.0, 2.0]),
    }
    return {"name": "größe", "run": run} if text else {"run": run}


if __name__ == "__main__":
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    with ocp.PyTreeCheckpointer(use_ocdbt=False) as checkpointer:
        checkpointer.save(OUT / "pytree", tree(True))
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(OUT / "standard", tree(False))
    (OUT / "tree.msgpack").write_bytes(flax.serialization.to_bytes(tree(True)))
    for marker in OUT.glob("*/commit_success.txt"):
        # The marker names the folder that it was made in.
        marker.write_text("Checkpoint commit was successful\n")
