"""Writes data/flax_*.msgpack and data/flax_checkpoints.json: what Flax's serialization makes of trees,
and which files its checkpoints leave.

With `--check FILE` reads bytes that Ramie wrote instead, and fails if Flax does not restore from them
what flax_state.msgpack has.
"""

import json
import math
import os
import pathlib
import sys
import tempfile
import warnings

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax

jax.config.update("jax_enable_x64", True)

import flax
import flax.linen as nn
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import optax
from flax import errors, serialization
from flax.training import checkpoints, train_state

flax.config.update("flax_use_orbax_checkpointing", False)

DATA = pathlib.Path(__file__).parent / "data"

DTYPES = [
    *["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"],
    *["float16", "float32", "float64", "complex64", "complex128"],
    *["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"],
    *["float8_e8m0fnu", "float4_e2m1fn", "int4", "uint4", "int2", "uint2"],
]


def dtype(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def dtypes():
    """Every element type, in three shapes."""
    values = np.array([1, 0, -1, 0.5, 1.5, -2])
    tree = {}
    for name in DTYPES:
        d = dtype(name)
        signed = not (name.startswith("u") or name in ("bool", "float8_e8m0fnu"))
        row = values if signed else np.abs(values)
        if name in ("uint2", "int2"):
            row = np.clip(row, -2, 1)
        if name == "float8_e8m0fnu":
            row = np.array([1, 2, 0.5, 4, 0.25, 8])
        row = row.astype(np.float32).astype(d) if d.kind == "V" else row.astype(d)
        tree[name] = {"m": row.reshape(2, 3), "s": row[2], "z": row[:0].reshape(3, 0)}
        tree[name]["s"] = np.asarray(tree[name]["s"]).reshape(())
    return tree


class Mlp(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2, param_dtype=jnp.float32)(nn.relu(nn.Dense(3, param_dtype=jnp.float32)(x)))


def state():
    """A train state after two steps."""
    model = Mlp()
    x = jnp.linspace(-1, 1, 8, dtype=jnp.float32).reshape(2, 4)
    params = model.init(jax.random.key(0), x)["params"]
    made = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(0.1))
    for _ in range(2):
        grads = jax.grad(lambda p: jnp.sum(model.apply({"params": p}, x) ** 2))(made.params)
        made = made.apply_gradients(grads=grads)
    return made


def leaves():
    """Everything that a state dict may hold beside arrays."""
    return {
        "none": None,
        "true": True,
        "false": False,
        "int": [0, 1, 127, 128, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**63 - 1, 2**64 - 1],
        "negative": [-1, -32, -33, -128, -129, -32768, -32769, -(2**31), -(2**31) - 1, -(2**63)],
        "float": [0.0, -0.0, 1.5, math.inf, -math.inf, 1e-300],
        "complex": 1.5 - 2j,
        "text": ["", "short", "l" * 31, "l" * 32, "long " * 60, "é ü 中"],
        "bytes": [b"", b"\x00\xff", b"b" * 256],
        "scalar": {
            "f": np.float32(1.5),
            "b": np.bool_(True),
            "i": np.int64(-3),
            "h": ml_dtypes.bfloat16(2.5),
        },
        "empty": {},
        "list": [np.arange(3, dtype=np.int32), {"a": np.float64(1), "list": []}],
        "many": {f"k{i}": i for i in range(20)},
        "B": np.arange(6, dtype=np.uint8).reshape(1, 2, 3),
        "large": np.arange(300, dtype=np.int16),
        "larger": np.arange(65536, dtype=np.uint8),
        "1": "one",
        "10": "ten",
        "2": "two",
    }


NATURAL = [
    ["file_1", "file_10", "file_2"],
    ["file_0.1", "file_-0.2", "file_2.0"],
    ["ckpt_1", "ckpt_2", "ckpt_3"],
    ["ckpt_0.01", "ckpt_0.1", "ckpt_0.001"],
    ["ckpt_-1.0", "ckpt_1.0", "ckpt_1e5"],
    ["a10b2", "a9b10", "a10b1", "a9b9"],
    ["x.5", "x.25", "x1.", "x+2", "x-3", "x1e-2", "x2E3", "x1e"],
    ["checkpoint_100.bak", "checkpoint_100", "checkpoint_99", "checkpoint_tmp"],
    ["b", "a", "a1", "1", "2a", ""],
]

# Options, the steps that are saved one after another, and prefixes where not `checkpoint_`.
SAVES = [
    dict(options={}, steps=[0, 1, 2]),
    dict(options={"keep": 3}, steps=[1, 2, 3, 4, 5]),
    dict(options={"keep": 2, "keep_every_n_steps": 10}, steps=[1, 5, 10, 12, 20, 25, 30, 35]),
    dict(options={"keep": 1, "keep_every_n_steps": 7}, steps=[0, 5, 7, 12, 14, 15, 21, 22]),
    dict(options={"keep": 5}, steps=[1, 3, 2]),
    dict(options={"keep": 5}, steps=[1, 1]),
    dict(options={"keep": 5, "overwrite": True}, steps=[1, 5, 9, 5]),
    dict(options={"keep": 2, "overwrite": True}, steps=[1, 5, 9, 3]),
    dict(options={"keep": 3, "prefix": "ckpt-"}, steps=[8, 9, 10, 11]),
    dict(options={"keep": 3}, steps=[0.001, 0.01, 0.1, 1.0, 10.0]),
    dict(options={"keep": 9}, steps=[-1.0, 1e-05, 0.0001, 1.5, 123456.0, 1e16, 1e22]),
    dict(options={"keep": 9, "prefix": ""}, steps=[1, 2, 30]),
    dict(options={"keep": 2, "prefix": "v2_"}, steps=[1, 2, 3]),
]


def saves(case):
    """The files that are left, the latest, and the step that was refused, if one was."""
    with tempfile.TemporaryDirectory() as folder:
        refused = None
        for step in case["steps"]:
            try:
                checkpoints.save_checkpoint(folder, {"step": np.float32(step)}, step, **case["options"])
            except errors.InvalidCheckpointError:
                refused = step
                break
        prefix = case["options"].get("prefix", "checkpoint_")
        latest = checkpoints.latest_checkpoint(folder, prefix)
        return {
            **case,
            "steps": [repr(step) for step in case["steps"]],
            "refused": repr(refused),
            "files": sorted(os.listdir(folder)),
            "latest": os.path.basename(latest),
            # Of an empty prefix Flax finds none and fails.
            "available": prefix and [repr(s) for s in checkpoints.available_steps(folder, prefix, float)],
        }


def write():
    def put(name, data):
        (DATA / name).write_bytes(data)

    put("flax_dtypes.msgpack", serialization.to_bytes(dtypes()))
    put("flax_state.msgpack", serialization.to_bytes(state()))
    put("flax_leaves.msgpack", serialization.msgpack_serialize(leaves()))
    serialization.MAX_CHUNK_SIZE = 16
    large = {
        "flat": np.arange(4, dtype=np.float32),
        "large": {
            "w": np.arange(6, dtype=np.float32).reshape(2, 3),
            "n": np.arange(17, dtype=np.uint8),
        },
    }
    put("flax_chunks.msgpack", serialization.to_bytes(large))
    sorts = [{"names": n, "sorted": checkpoints.natural_sort(n)} for n in NATURAL]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [saves(case) for case in SAVES]
    text = json.dumps({"flax": "0.12.8", "natural_sort": sorts, "saves": rows}, indent=1)
    (DATA / "flax_checkpoints.json").write_text(text + "\n")


def check(path):
    target = state()
    restored = serialization.from_bytes(target, pathlib.Path(path).read_bytes())
    same = jax.tree.map(lambda a, b: np.array_equal(a, b) and a.dtype == b.dtype, target.params, restored.params)
    assert jax.tree.all(same), same
    assert jax.tree.structure(target.opt_state) == jax.tree.structure(restored.opt_state)
    assert serialization.to_bytes(restored) == serialization.to_bytes(target)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        check(sys.argv[2])
    else:
        write()
