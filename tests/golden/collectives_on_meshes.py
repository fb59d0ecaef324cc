"""Writes data/collectives_on_meshes.safetensors and data/collectives_on_meshes.json.

Rows are laid out as in primitives.py. Each is a collective in the body of a
`jax.shard_map` over meshes of 8 virtual devices. Their parameters say

  mesh      the sizes of the axes, which are called x, y, z
  axes      those that the collective goes over
  in, out   the specs of the argument and of the results, a list of names for
            each dimension
  vma       `check_vma`
  around    what the collective stands in: nothing (`plain`), `jit`, `scan`,
            `cond`, `while`, `remat`; `vmap` maps a second axis, called `b`,
            that the collective goes over with the others where it is in `axes`
"""

import pathlib

import primitives as p  # First: it sets the environment that JAX reads.
from primitives import draw, record, rng_of

import jax

jax.config.update("jax_num_cpu_devices", 8)
# JAX rejects `ppermute` over axes in another order than that of the mesh by default.
jax.config.update("jax_raise_on_ppermute_sort_diff", False)

import jax.numpy as jnp
from jax import lax, shard_map
from jax.sharding import AxisType, PartitionSpec
import numpy as np

NAMES = ("x", "y", "z")
# The mesh, the collective's axes, `check_vma`, and whether all variants are recorded.
CHOICES = [
    ((8,), ("x",), True, True),
    ((4, 2), ("x",), False, True),
    ((4, 2), ("y",), True, False),
    ((4, 2), ("x", "y"), False, False),
    ((4, 2), ("y", "x"), True, True),
    ((2, 2, 2), ("y",), True, False),
    ((2, 2, 2), ("x", "z"), False, False),
    ((2, 2, 2), ("z", "x"), True, True),
    ((2, 2, 2), ("z", "x", "y"), True, False),
]


def spec(entries):
    return PartitionSpec(*[tuple(e) if e else None for e in entries])


def ring(n):
    return [(i, (i + 1) % n) for i in range(n)]


def broadcast(x, axes, source):
    """`lax.pbroadcast`, which this platform does not have, from a sum."""
    return lax.pcast(lax.psum(jnp.where(lax.axis_index(axes) == source, x, jnp.zeros_like(x)), axes),
                     axes, to="varying")


def collective(op, axes, q):
    """The function of a row, and whether its results vary over `axes`."""
    if op in ("psum", "pmean", "pmax", "pmin"):
        return lambda x: getattr(lax, op)(x, axes), False
    if op == "axis_index":
        return lambda x: x * (lax.axis_index(axes) + 1).astype(x.dtype), True
    if op == "axis_size":
        return lambda x: x * lax.axis_size(axes), True
    if op == "all_gather":
        return lambda x: lax.all_gather(x, axes, axis=q["axis"], tiled=q["tiled"]), True
    if op == "psum_scatter":
        return lambda x: lax.psum_scatter(x, axes, scatter_dimension=q["axis"], tiled=q["tiled"]), True
    if op == "all_to_all":
        return lambda x: lax.all_to_all(x, axes, q["split"], q["concat"], tiled=q["tiled"]), True
    if op == "ppermute":
        return lambda x: lax.ppermute(x, axes, q["perm"]), True
    if op == "pshuffle":
        return lambda x: lax.pshuffle(x, axes, q["sources"]), True
    if op == "pbroadcast":
        return lambda x: broadcast(x, axes, q["source"]), True
    if op == "pswapaxes":
        return lambda x: lax.pswapaxes(x, axes, q["axis"]), True
    raise ValueError(op)


def varying(x, names):
    """The value as one that varies over all of `names`."""
    missing = tuple(n for n in names if n not in jax.typeof(x).mat.varying)
    return lax.pcast(x, missing, to="varying") if missing else x


def within(around, f, names, vma):
    if around in ("plain", "jit", "vmap"):
        return f
    if around == "remat":
        return lambda x: jax.checkpoint(lambda x: jnp.sin(f(jnp.cos(x))))(x)
    if around == "scan":
        def scanned(x):
            ys = lax.scan(lambda n, x: (n + 1, f(x * n)), jnp.ones((), x.dtype), jnp.stack([x, x * x]))[1]
            return ys[0] + ys[1]
        return scanned
    if around == "cond":
        def either(x):
            largest = lax.pmax(lax.stop_gradient(x).max(), names)
            return lax.cond(largest > 0, f, lambda x: f(x * x), x)
        return either
    if around == "while":
        def repeated(x):
            start = varying(x, names) if vma else x
            def body(c):
                i, c = c
                y = f(c * 0.5)
                return i + 1, (varying(y, names) if vma else y) + x
            return lax.while_loop(lambda c: c[0] < 3, body, (0, start))[1]
        return repeated
    raise ValueError(around)


def apply(op, mesh, axes, local, q=None, entry=None, vma=True, around="plain", dtype="f32", derivative=True):
    names = NAMES[:len(mesh)]
    size = int(np.prod(mesh))
    q = q or {}
    f, varies = collective(op, axes, q)
    mapped = "b" in axes
    if entry is None:
        entry = [list(names)]
    shape = tuple(local)
    whole = list(shape)
    for d, dim in enumerate(entry):
        for n in dim:
            whole[d] *= mesh[names.index(n)]
    # Results are put together along their first dimension, over all axes over which they vary.
    over = {n for dim in entry for n in dim}
    over = over | set(axes) if varies else over - set(axes)
    if around == "while":
        over = set(names)
    over = [n for n in names if n in over]
    out = [[over]] if over else [[]]
    g = within(around, f, names, vma)
    if around == "vmap":
        g = jax.vmap(f, axis_name="b", in_axes=1, out_axes=0)

    def body(x):
        y = g(x)
        return y if y.ndim else y[None]

    m = jax.make_mesh(mesh, names, axis_types=(AxisType.Auto,) * len(mesh))
    fun = shard_map(body, mesh=m, in_specs=spec(entry), out_specs=spec(out[0]), check_vma=vma)
    if around == "vmap":
        # At once, JAX does not reduce over the mapped axis and a mesh's together.
        fun = jax.jit(fun)
    if around == "jit":
        inner = jax.jit(body)
        fun = jax.jit(shard_map(lambda x: inner(x), mesh=m, in_specs=spec(entry), out_specs=spec(out[0]), check_vma=vma))
    x = draw(rng_of(op, mesh, axes, local, str(q), dtype, around), dtype, tuple(whole))
    params = {"mesh": list(mesh), "axes": list(axes), "in": entry, "out": out, "vma": vma, "around": around, **q}
    try:
        record(op, fun, [x], params, derivative=derivative and around != "while")
    except (AssertionError, NotImplementedError, TypeError, ValueError) as refused:
        # Some collectives do not go over mapped axes and a mesh's together in JAX.
        if not mapped:
            raise
        print("refused", op, params, type(refused), refused)


def every(mesh, axes, vma, full):
    n = int(np.prod([mesh[NAMES.index(a)] for a in axes]))
    put = lambda op, local, q=None, **o: apply(op, mesh, axes, local, q, vma=vma, **o)
    for op in ("psum", "pmean", "pmax", "pmin")[:4 if full else 1]:
        put(op, (2, 3), derivative=op[1:] in ("sum", "mean"))
        put(op, (2, 3), entry=[[], []], derivative=op[1:] in ("sum", "mean"))
    put("axis_index", (2,))
    put("all_gather", (2, 3), {"axis": 1, "tiled": False})
    put("all_gather", (2, 3), {"axis": 0, "tiled": True})
    put("psum_scatter", (2 * n, n), {"axis": 0, "tiled": True})
    put("all_to_all", (2 * n, n), {"split": 0, "concat": 1, "tiled": True})
    put("all_to_all", (n, 2), {"split": 0, "concat": 1, "tiled": False}, derivative=False)
    put("ppermute", (2, 3), {"perm": ring(n)})
    put("pbroadcast", (2, 3), {"source": n - 1})
    if not full:
        return
    put("psum", (2, 3), dtype="i32")
    put("psum", (1, 3), dtype="bool")
    put("axis_size", (2,))
    put("all_gather", (2, 3), {"axis": 0, "tiled": False})
    put("all_gather", (2, 3), {"axis": 2, "tiled": False})
    put("all_gather", (2, 3), {"axis": 1, "tiled": True})
    put("all_gather", (2, 3), {"axis": 0, "tiled": True}, entry=[[]])
    for axis in (0, 1):
        put("psum_scatter", (n, n), {"axis": axis, "tiled": False})
        put("pswapaxes", (n, n), {"axis": axis})
        put("all_to_all", (n, n), {"split": axis, "concat": axis, "tiled": False})
    put("psum_scatter", (2, n), {"axis": 1, "tiled": True})
    put("psum_scatter", (n, 2), {"axis": 0, "tiled": True}, entry=[[]])
    put("psum_scatter", (n,), {"axis": 0, "tiled": False})
    # JAX's transpose has the axes of the wrong sizes where they differ.
    put("all_to_all", (2, n), {"split": 1, "concat": 0, "tiled": False}, derivative=False)
    put("all_to_all", (2, n), {"split": 1, "concat": 0, "tiled": True})
    put("all_to_all", (n, 2), {"split": 0, "concat": 0, "tiled": True})
    put("ppermute", (2, 3), {"perm": [(0, n - 1)]})
    put("pshuffle", (2, 3), {"sources": [(3 * i + 1) % n for i in range(n)]})


def arounds():
    mesh = (4, 2)
    for vma, all_axes in ((True, [("x",), ("y", "x")]), (False, [("x",)])):
        for around in ("jit", "scan", "cond", "while", "remat"):
            for axes in all_axes:
                n = 4 if len(axes) == 1 else 8
                put = lambda op, q=None, local=(n, 3): apply(op, mesh, axes, local, q, vma=vma, around=around)
                put("psum")
                put("pmean")
                put("ppermute", {"perm": ring(n)})
                if around != "while":
                    put("all_gather", {"axis": 1, "tiled": True})
                    put("psum_scatter", {"axis": 0, "tiled": True})
                    put("all_to_all", {"split": 0, "concat": 1, "tiled": True})
                else:
                    put("all_to_all", {"split": 0, "concat": 0, "tiled": True})


def mapped():
    """Under `vmap`, over the mesh's axes, and over the mapped axis and the mesh's together."""
    mesh = (4, 2)
    for vma in (True, False):
        for axes in (("x",), ("b", "x"), ("y", "b")):
            n = int(np.prod([3 if a == "b" else mesh[NAMES.index(a)] for a in axes]))
            put = lambda op, local, q=None, **o: apply(op, mesh, axes, local, q, vma=vma, around="vmap", **o)
            if vma and "b" in axes:
                # JAX does not tell mapped axes from a mesh's there.
                continue
            # The mapped axis is the second of the local array, and is 3.
            put("psum", (2, 3, 2))
            put("pmean", (2, 3, 2))
            put("pmax", (2, 3, 2), derivative=False)
            put("all_gather", (2, 3, 2), {"axis": 0, "tiled": False})
            put("all_gather", (2, 3, 2), {"axis": 1, "tiled": True})
            put("psum_scatter", (n, 3, 2), {"axis": 0, "tiled": True})
            put("all_to_all", (n, 3, 2), {"split": 0, "concat": 1, "tiled": True})
            if axes == ("x",):
                put("ppermute", (2, 3, 2), {"perm": ring(n)})


def main():
    mapped()
    arounds()
    for choice in CHOICES:
        every(*choice)
    p.write(pathlib.Path(__file__).parent / "data" / "collectives_on_meshes")


if __name__ == "__main__":
    main()
