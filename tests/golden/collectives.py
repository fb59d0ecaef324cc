"""Writes data/collectives.safetensors and data/collectives.json.

Rows are laid out as in primitives.py. Each operation is applied under
`jax.vmap` with the axis name `i`, or under two with the names `i` (outer) and
`j`; operands have the mapped axes in front.
"""

import pathlib

import primitives as p  # First: it sets the environment that JAX reads.
from primitives import draw, record, rng_of

import jax
from jax import lax
import numpy as np


def one(fun):
    return jax.vmap(fun, axis_name="i")


def two(fun):
    return jax.vmap(jax.vmap(fun, axis_name="j"), axis_name="i")


def apply(op, fun, shapes, params=None, dtypes=("f32", "i32"), mapped=one, **options):
    for dtype in dtypes:
        for shape in shapes:
            x = draw(rng_of(op, dtype, shape), dtype, shape)
            case = "empty" if 0 in shape else "regular"
            record(op, mapped(fun), [x], {"axes": 2 if mapped is two else 1, **(params or {})}, case, **options)


def main():
    shapes = [(3, 2, 3), (4,), (3, 0)]
    for op in ("psum", "pmean"):
        fun = getattr(lax, op)
        apply(op, lambda x: fun(x, "i"), shapes, dtypes=("f32", "i32", "bf16") + (("bool",) if op == "psum" else ()))
        apply(op, lambda x: fun(x, ("i", "j")), [(2, 3, 2), (2, 3), (1, 2, 0)], mapped=two)
    for op in ("pmax", "pmin"):
        fun = getattr(lax, op)
        apply(op, lambda x: fun(x, "i"), shapes, derivative=False)
        apply(op, lambda x: fun(x, ("i", "j")), [(2, 3, 2), (2, 3)], mapped=two, derivative=False)
        record(op, one(lambda x: fun(x, "i")), [np.array([1, np.nan, np.inf, -0.0], np.float32)], {"axes": 1}, "special")
    apply("axis_index", lambda x: x * lax.axis_index("i"), shapes)
    apply("axis_index", lambda x: x * lax.axis_index(("i", "j")), [(2, 3, 2), (2, 3)], mapped=two)
    for axis in (0, 1):
        apply("all_gather", lambda x: lax.all_gather(x, "i", axis=axis), [(3, 2), (2, 3, 2), (3, 0)], {"axis": axis, "tiled": False})
        apply("all_gather", lambda x: lax.all_gather(x, "i", axis=axis, tiled=True), [(3, 2, 4), (2, 3, 2), (2, 3, 0)],
              {"axis": axis, "tiled": True})
        apply("psum_scatter", lambda x: lax.psum_scatter(x, "i", scatter_dimension=axis), [(3, 3, 3), (2, 2, 2, 2), (2, 2, 2, 0)],
              {"axis": axis, "tiled": False})
        apply("psum_scatter", lambda x: lax.psum_scatter(x, "i", scatter_dimension=axis, tiled=True),
              [(3, 6, 3), (2, 2, 4), (2, 4, 2, 0)], {"axis": axis, "tiled": True})
    for split, concat in ((0, 0), (0, 1), (1, 0), (1, 1)):
        place = {"split": split, "concat": concat}
        apply("all_to_all", lambda x: lax.all_to_all(x, "i", split, concat), [(3, 3, 3), (2, 2, 2, 3), (2, 2, 2, 0)],
              {**place, "tiled": False})
        apply("all_to_all", lambda x: lax.all_to_all(x, "i", split, concat, tiled=True), [(3, 3, 6), (2, 4, 2), (2, 2, 2, 0)],
              {**place, "tiled": True})
        apply("all_to_all", lambda x: lax.all_to_all(x, ("i", "j"), split, concat), [(2, 3, 6, 6), (2, 1, 2, 2, 3)],
              {**place, "tiled": False}, mapped=two)
    ring = [(0, 1), (1, 2), (2, 0)]
    apply("ppermute", lambda x: lax.ppermute(x, "i", ring), [(3, 2, 3), (3,), (3, 0)], {"perm": ring})
    sources = [2, 0, 1]
    apply("pshuffle", lambda x: lax.pshuffle(x, "i", sources), [(3, 2, 3), (3,), (3, 0)], {"sources": sources})
    apply("pswapaxes", lambda x: lax.pswapaxes(x, "i", 0), [(3, 3), (2, 2, 3), (2, 2, 0)], {"axis": 0})
    p.write(pathlib.Path(__file__).parent / "data" / "collectives")


if __name__ == "__main__":
    main()
