"""Writes data/index_modes.json: functions that take indices, for indices that
are negative, out of bounds and repeated, in every mode.

Every row: `fn`, `mode`, `dtype` and `shape` of the indices, `indices`, the
`shape` of the result and its elements `out`, with the word nan. The operand is
`operand()`, of shape (4, 3).
"""

import json
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

rows = []
AXIS = [-6, -5, -4, -1, 0, 2, 3, 4, 7, 3, -1]
LARGE = 4294967295


def operand():
    return jnp.arange(12, dtype=jnp.float32).reshape(4, 3) + 1


def values(dtype):
    if dtype == "u8":
        return [0, 3, 4, 200, 3]
    if dtype == "u32":
        return [0, 3, 4, LARGE, 3]
    if dtype == "i8":
        return [-128, 127, *AXIS]
    return [-2147483648, 2147483647, *AXIS]


TYPES = {"i32": jnp.int32, "i8": jnp.int8, "u8": jnp.uint8, "u32": jnp.uint32}
MODES = {"default": None, "clip": "clip", "fill": "fill"}


def record(fn, mode, dtype, indices, out):
    out = np.asarray(out)
    numbers = [(int(v) if v == int(v) else float(v)) if np.isfinite(v) else str(v) for v in out.reshape(-1)]
    rows.append({"fn": fn, "mode": mode, "dtype": dtype, "indices_shape": list(np.shape(indices)),
                 "indices": [int(i) for i in np.reshape(indices, -1)], "shape": list(out.shape), "out": numbers})


# Repeated elements: what they get does not depend on the order.
UPDATES = {
    "set": lambda at, mode: at.set(-1.0, mode=mode),
    "add": lambda at, mode: at.add(0.5, mode=mode),
    "subtract": lambda at, mode: at.subtract(0.5, mode=mode),
    "multiply": lambda at, mode: at.multiply(2.0, mode=mode),
    "divide": lambda at, mode: at.divide(2.0, mode=mode),
    "power": lambda at, mode: at.power(2.0, mode=mode),
    "min": lambda at, mode: at.min(5.5, mode=mode),
    "max": lambda at, mode: at.max(5.5, mode=mode),
    "apply": lambda at, mode: at.apply(lambda v: v * 2 + 1, mode=mode),
}


def arrays(x, dtype, i):
    """Functions of one array of indices; of types other than i32 the main ones."""
    rank = i.ndim
    for mode, given in MODES.items():
        record("take_0", mode, dtype, i, jnp.take(x, i, axis=0, mode=given))
        record("take_1", mode, dtype, i, jnp.take(x, i, axis=1, mode=given))
        # XLA reads unsigned indices above 2^31 as negative ones.
        if given != "fill" and dtype == "u32":
            continue
        record("get_0", mode, dtype, i, x.at[i].get(mode=given))
        if dtype != "i32":
            continue
        record("get_1", mode, dtype, i, x.at[:, i].get(mode=given))
        record("get_step", mode, dtype, i, x.at[i, ::2].get(mode=given))
        record("get_pairs", mode, dtype, i, x.at[i, i].get(mode=given))
    for mode, given in MODES.items():
        if given == "clip" and dtype == "u32":
            continue
        for name, update in UPDATES.items():
            if dtype != "i32" and name != "add":
                continue
            record(name + "_0", mode, dtype, i, update(x.at[i], given))
            if rank == 1 and dtype == "i32":
                record(name + "_1", mode, dtype, i, update(x.at[:, i], given))
                record(name + "_pairs", mode, dtype, i, update(x.at[i, i], given))
    record("fill_value", "fill", dtype, i, x.at[i].get(mode="fill", fill_value=-7.0))
    if rank == 1:
        i = jnp.minimum(i, 7) if dtype == "u32" else i
        column = jnp.broadcast_to(i[:, None], (i.size, 3))
        record("take_along_axis_0", "default", dtype, i, jnp.take_along_axis(x, column, axis=0))
        row = jnp.broadcast_to(i[None, :], (4, i.size))
        record("take_along_axis_1", "default", dtype, i, jnp.take_along_axis(x, row, axis=1))
        record("put_along_axis", "default", dtype, i, jnp.put_along_axis(x, row, -1.0, axis=1, inplace=False))


def windows(x, dtype, i):
    """Functions of one index each, at computed places."""
    for k in i:
        k = jnp.asarray(k)
        record("dynamic_slice", "default", dtype, k, lax.dynamic_slice(x, (k, k), (2, 2)))
        record("dynamic_slice_in_dim", "default", dtype, k, lax.dynamic_slice_in_dim(x, k, 2, 0))
        record("dynamic_index_in_dim", "default", dtype, k, lax.dynamic_index_in_dim(x, k, 0, False))
        update = jnp.full((2, 2), -1.0)
        record("dynamic_update_slice", "default", dtype, k, lax.dynamic_update_slice(x, update, (k, k)))
        record("dynamic_update_index_in_dim", "default", dtype, k,
               lax.dynamic_update_index_in_dim(x, jnp.full((3,), -1.0), k, 0))
        if dtype == "i32":
            arrays(x, dtype, k)


def raw(x, dtype, i):
    """gather and scatter themselves."""
    gather = lax.GatherDimensionNumbers(offset_dims=(1, 2), collapsed_slice_dims=(), start_index_map=(0,))
    scatter = lax.ScatterDimensionNumbers(update_window_dims=(1, 2), inserted_window_dims=(),
                                          scatter_dims_to_operand_dims=(0,))
    for mode in ("clip", "fill") if dtype != "u32" else ("fill",):
        record("gather", mode, dtype, i, lax.gather(x, i[:, None], gather, (2, 3), mode=mode))
        updates = jnp.full((i.size, 2, 3), 0.5)
        record("scatter_add", mode, dtype, i, lax.scatter_add(x, i[:, None], updates, scatter, mode=mode))


def numbers(x):
    """Integers of the host, in the modes that say what happens out of bounds."""
    for k in (-10, -4, -1, 3, 4):
        for mode in ("clip", "fill"):
            record("number_get", mode, "i32", k, x.at[k].get(mode=mode))
            record("number_pair", mode, "i32", k, x.at[k, 1].get(mode=mode))
            for name, update in UPDATES.items():
                record("number_" + name, mode, "i32", k, update(x.at[k], mode))


for dtype, kind in TYPES.items():
    i = jnp.asarray(np.asarray(values(dtype)).astype(kind))
    arrays(operand(), dtype, i)
    raw(operand(), dtype, i)
    windows(operand(), dtype, i)
arrays(operand(), "i32", jnp.asarray([[-1, 4], [-9, 3]]))
arrays(operand(), "i32", jnp.zeros((0,), jnp.int32))
numbers(operand())
data = pathlib.Path(__file__).parent / "data"
text = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
(data / "index_modes.json").write_text(f"[\n{text}\n]\n")
print(len(rows), "rows", jax.__version__)
