"""Writes data/axis_index_groups.json: collectives within groups of indices, between 8 virtual
devices, with their gradients, and the replica groups of the lowered programs.

Every row: the collective `op`, the sizes of the `mesh` and the `axes` of the collective, the
`groups`, the parameters `axis`, `split`, `concat` and `tiled`, the `shape` of the argument, whose
elements are 1, -2, 3, …, the results `out` of all devices along the first axis, and the gradient
`slope` of the sum of the results multiplied by 1, -2, 3, …. Without derivatives, `slope` is null.
"""

import json
import os
import pathlib
import re

os.environ["JAX_PLATFORMS"] = "cpu"

import jax

jax.config.update("jax_num_cpu_devices", 8)

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, PartitionSpec as P

NAMES = ("x", "y", "z")
rows = []


def numbers(shape):
    n = np.arange(np.prod(shape), dtype=np.float32)
    return jnp.asarray(((n + 1) * (-1) ** n).reshape(shape))


def collective(op, axes, groups, q):
    g = {"axis_index_groups": groups}
    if op in ("psum", "pmean", "pmax", "pmin"):
        return lambda x: getattr(lax, op)(x, axes, **g)
    if op == "psum_of_one":
        return lambda x: x * lax.psum(1, axes, **g)
    if op == "all_gather":
        return lambda x: lax.all_gather(x, axes, axis=q["axis"], tiled=q["tiled"], **g)
    if op == "psum_scatter":
        return lambda x: lax.psum_scatter(x, axes, scatter_dimension=q["axis"], tiled=q["tiled"], **g)
    if op == "all_to_all":
        return lambda x: lax.all_to_all(x, axes, q["split"], q["concat"], tiled=q["tiled"], **g)
    return lambda x: lax.pswapaxes(x, axes, q["axis"], **g)


def record(op, mesh, axes, groups, local, derivative=True, **q):
    names = NAMES[:len(mesh)]
    m = jax.make_mesh(mesh, names, axis_types=(AxisType.Auto,) * len(mesh))
    f = collective(op, axes, groups, q)
    fun = jax.shard_map(f, mesh=m, in_specs=P(names), out_specs=P(names), check_vma=False)
    shape = (local[0] * 8, *local[1:])
    x = numbers(shape)
    out = jax.jit(fun)(x)
    slope = jax.grad(lambda x: (fun(x) * numbers(out.shape)).sum())(x) if derivative else None
    text = jax.jit(fun).lower(x).as_text()
    replicas = re.findall(r"replica_groups = (dense<.*?>) ", text)
    rows.append({"op": op, "mesh": list(mesh), "axes": list(axes), "groups": groups, **q, "shape": list(shape),
                 "replicas": replicas, "out_shape": list(out.shape), "out": np.asarray(out).reshape(-1).tolist(),
                 "slope": None if slope is None else np.asarray(slope).reshape(-1).tolist()})


halves, pairs = [[0, 1, 2, 3], [4, 5, 6, 7]], [[0, 4], [5, 1], [3, 2], [6, 7]]
for mesh, axes, groups in (((8,), ("x",), halves), ((8,), ("x",), pairs), ((4, 2), ("x",), [[0, 2], [3, 1]]),
                           ((4, 2), ("x", "y"), pairs), ((2, 2, 2), ("z", "x"), [[0, 3], [1, 2]])):
    n = len(groups[0])
    put = lambda op, local, **q: record(op, mesh, axes, groups, local, **q)
    for op in ("psum", "pmean", "psum_of_one"):
        put(op, (2, 3))
    for op in ("pmax", "pmin"):
        put(op, (2, 3), derivative=False)
    put("all_gather", (2, 3), axis=1, tiled=False)
    put("all_gather", (2, 3), axis=0, tiled=True)
    put("psum_scatter", (2 * n, 3), axis=0, tiled=True)
    put("psum_scatter", (2, n), axis=1, tiled=False)
    put("all_to_all", (2 * n, 3), split=0, concat=1, tiled=True)
    put("all_to_all", (2, n, 3), split=1, concat=1, tiled=False)
    put("pswapaxes", (n, 2), axis=0)
for op in ("psum", "pmax"):
    record(op, (8,), ("x",), [[0], [5, 1, 2], [7, 3, 6, 4]], (1, 2), derivative=op == "psum")

data = pathlib.Path(__file__).parent / "data"
data.mkdir(exist_ok=True)
text = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
(data / "axis_index_groups.json").write_text(f"[\n{text}\n]\n")
print(len(rows), "rows", jax.__version__)
