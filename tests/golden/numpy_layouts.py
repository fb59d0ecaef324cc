"""The part of numpy_functions.py that joins, chooses, moves and multiplies arrays, and polynomials."""

from numpy_rows import draw, of, ones, rng_of, row, specials, zeros

import jax.numpy as jnp
import numpy as np


def layouts():
    x = draw(rng_of("layouts"), "f64", (2, 3))
    y = draw(rng_of("more"), "f64", (2, 3))
    cube = draw(rng_of("cube"), "f64", (2, 3, 4))
    ints = np.arange(6, dtype=np.int32).reshape(2, 3)
    none, number, special = zeros(0, 3), np.float32(1.5), np.float32([[1, np.nan, -0.0], [np.inf, -np.inf, 0.5]])
    small, wide = of(2, 3), of(2, 3, 2)
    pairs = [[number, number], [none, none], [special, special[::-1]]]
    row("append", jnp.append, [x, y], also=[[number, small], [none, of(2)], [special, special]])
    row("delete", lambda x: jnp.delete(x, np.array([0, -1]), axis=1), [x], also=[[none], [wide], [special]], refused=[[number]])
    row("insert", lambda x: jnp.insert(x, 1, 7.0, axis=0), [x], also=[[zeros(2, 0)], [wide], [of(3)], [special]], refused=[[number]])
    row("insert_slice", lambda x, v: jnp.insert(x, 1, v, axis=1), [x, np.array([8.0, 9.0])],
        also=[[small, number], [none, number], [of(1, 2), of(1)], [special, np.float32([np.nan, -0.0])]], refused=[[number, number]])
    row("insert_several", lambda x, at, v: jnp.insert(x, at, v, axis=1), [x, np.array([2, 0, -1], np.int32), y],
        also=[[small, np.int32([1, 1]), number], [none, np.int32([1]), zeros(0, 1)], [special, np.int32([0, 3]), of(2, 2)]])
    row("resize", lambda x: jnp.resize(x, (3, 5)), [x], also=[[number], [none], [wide], [special]])
    row("column_stack", lambda a, b: jnp.column_stack([a, b]), [x[0], y[1]])
    row("column_stack", lambda a, b: jnp.column_stack([a, b]), [x, y], also=[[number, number], [zeros(0), none], [zeros(2, 0), small]])
    row("dstack", lambda a, b: jnp.dstack([a, b]), [x, y], also=[[number, number], [none, none], [wide, wide]])
    row("block", lambda a, b: jnp.block([[a, b], [b, a]]), [x, y], also=[[number, number], [none, none], [of(3), of(3)]])
    row("select", lambda a, b: jnp.select([a > 1, b > 0], [a, b], 0.5), [x, y], also=[[number, small], *pairs])
    for mode in ("clip", "wrap"):
        row("choose" + ("" if mode == "clip" else "_wrap"), lambda i, a, b: jnp.choose(i, [a, b], mode=mode), [ints, x, y],
            also=[[np.int32(-1), small, number], [ints[:0], none, small[0]], [np.int32([2, -1, 1]), special, small]])
    row("piecewise", lambda a: jnp.piecewise(a, [a < -0.5, a > 0.5], [lambda v: -v, lambda v: v * v, 3.0]), [x],
        also=[[number], [none], [special]])
    row("put", lambda a, i, v: jnp.put(a, i, v, inplace=False), [x, np.array([5, 0, -2, 9], np.int32), np.array([1.0, 2.0])],
        also=[[small, np.int32(4), number], [small, np.int32([]), zeros(0)], [special, np.int32([0, -7]), special]],
        refused=[[number, np.int32([0]), of(1)]])
    row("place", lambda a, m, v: jnp.place(a, m, v, inplace=False), [x, x > 0, np.array([1.0, 2.0])],
        also=[[number, np.bool_(True), of(2)], [none, none > 0, of(2)], [special, special > 0, of(1)]], refused=[[small, small > 0, zeros(0)]])
    for mode in ("clip", "wrap"):
        row("ravel_multi_index" + ("" if mode == "clip" else "_wrap"), lambda i, j: jnp.ravel_multi_index((i, j), (3, 4), mode=mode),
            [ints, ints - 1], also=[[np.int32(7), np.int32(-2)], [ints[:0], ints[0]], [specials("i32")] * 2])
    row("unravel_index", lambda i: jnp.unravel_index(i, (2, 3)), [np.array([0, 4, 5, 6, 30, -1, -6, -20], np.int32)],
        also=[[np.int32(-2)], [ints[:0]], [ints]])
    for k in (1, 2, 3):
        row("rot90", lambda x: jnp.rot90(x, k, axes=(2, 0)), [cube], {"k": k}, also=[[zeros(2, 0, 3)], [of(1, 2, 3, 2)]] if k == 1 else [],
            refused=[[number]])
    row("flipud", jnp.flipud, [x], also=[[none], [of(3)], [special]], refused=[[number]])
    row("fliplr", jnp.fliplr, [x], also=[[none], [wide], [special]], refused=[[number]])
    row("roll_axes", lambda x: jnp.roll(x, (1, -2), axis=(0, 2)), [cube], also=[[zeros(2, 0, 3)], [zeros(0, 1, 2)], [of(3, 1, 2)]], refused=[[number]])
    row("roll_flat", lambda x: jnp.roll(x, 4), [x], also=[[number], [none], [special]])
    row("roll_dynamic", lambda x, n: jnp.roll(x, n, axis=1), [x, np.int32(-5)],
        also=[[zeros(2, 0), np.int32(1)], [wide, np.int32(2)], [special, np.int32(-2**31)]], refused=[[number, np.int32(1)]])
    row("moveaxis", lambda x: jnp.moveaxis(x, (0, 1), (-1, 0)), [cube], also=[[none], [of(3, 1, 2, 2)]], refused=[[number]])
    row("rollaxis", lambda x: jnp.rollaxis(x, 2, 1), [cube], also=[[zeros(2, 0, 3)], [of(1, 2, 3, 2)]], refused=[[number]])
    row("matrix_transpose", jnp.matrix_transpose, [cube], also=[[none], [small]], refused=[[number]])
    row("array_split", lambda x: jnp.array_split(x, 3, axis=2), [cube], also=[[zeros(2, 1, 0)], [zeros(0, 1, 4)], [of(1, 1, 2)]], refused=[[number]])
    row("atleast_3d", jnp.atleast_3d, [x], also=[[number], [none], [wide]])
    row("atleast_3d", jnp.atleast_3d, [x[0]])
    row("diagflat", lambda x: jnp.diagflat(x, -1), [x], also=[[number], [none], [special[0]]])
    row("diagonal_axes", lambda x: jnp.diagonal(x, 1, 2, 0), [cube], also=[[zeros(2, 0, 3)], [zeros(0, 2, 3)], [of(4, 2, 2)]], refused=[[number]])
    row("fill_diagonal", lambda x: jnp.fill_diagonal(x, 2.0, inplace=False), [x], also=[[none], [of(3, 3, 3)], [special]], refused=[[number]])
    row("fill_diagonal_with", lambda x, v: jnp.fill_diagonal(x, v, inplace=False), [cube[:, :2, :2], np.array([1.0, 2.0, 3.0])],
        also=[[small, number], [none, number], [special, np.float32([np.nan, -0.0])]], refused=[[number, number], [small, zeros(0)]])
    row("apply_along_axis", lambda x: jnp.apply_along_axis(lambda v: jnp.outer(v, v), 1, x), [cube],
        also=[[zeros(2, 0)], [none], [special]], refused=[[number]])
    row("vecdot", jnp.vecdot, [cube, cube[0]], also=[[of(3), of(3)], [none, of(3)], [zeros(2, 0), zeros(0)], [special, ones(3)]],
        refused=[[number, number]])
    row("matvec", jnp.matvec, [cube, cube[0, 0]], also=[[small, of(3)], [none, of(3)], [zeros(2, 0), zeros(0)], [special, ones(3)]],
        refused=[[number, number]])
    row("vecmat", jnp.vecmat, [cube[:, :, 0], cube], also=[[of(2), small], [zeros(0), none], [of(2), zeros(2, 0)], [ones(2), special]],
        refused=[[number, number]])
    row("cross", jnp.cross, [x, y], also=[[of(3), of(2, 3)], [none, none], [special, ones(2, 3)]],
        refused=[[number, number], [of(2), of(2)], [of(3), of(2)]])
    row("cross_axis", lambda a, b: jnp.cross(a, b, axis=0), [x.T, y.T], also=[[of(3), of(3)], [zeros(3, 0), zeros(3, 0)]],
        refused=[[number, number], [x, y]])
    row("kron", jnp.kron, [x, y[0]], also=[[number, small], [none, of(2)], [of(2, 1, 2), small], [special, np.float32([0, -1])]])
    row("kron", jnp.kron, [ints, ints[:1]])
    for name, fun in {"linspace": jnp.linspace, "geomspace": jnp.geomspace, "logspace": jnp.logspace}.items():
        low, high = np.array([1.0, 2.0]), np.array([[4.0], [0.5]])
        further = [[np.float32(1), np.float32(3)], [zeros(0), np.float32(2)], [of(2, 2, low=1.0), of(2, low=2.0, high=3.0)],
                   [np.float32([1, np.nan, -0.0, 2]), np.float32([np.inf, 1, 2, -np.inf])]]
        row(name, lambda a, b: fun(a, b, 5), [low, high], also=further)
        row(name + "_open", lambda a, b: fun(a, b, 3, endpoint=False, axis=-1), [low, high], also=further)
    row("linspace_ints", lambda a, b: jnp.linspace(a, b, 4, dtype=jnp.int32), [np.float32(-1.0), np.float32(5.0)],
        also=[[np.float32([-2.5, 0.5]), np.float32(7)], [zeros(0), number], [np.int32([[1], [9]]), np.int32([5, -5])]])
    odd = np.float32([np.inf, -0.0, np.nan])
    row("vander", lambda x: jnp.vander(x, 4), [x[0]], also=[[zeros(0)], [of(5)], [odd]], refused=[[number]])
    row("polyval", jnp.polyval, [x[0], y], also=[[of(4), number], [zeros(0), of(2)], [of(2), zeros(0, 3)], [of(3), odd], [odd, of(2)]])
    row("polyder", lambda p: jnp.polyder(p, 2), [np.array([1.0, -2.0, 3.0, 4.0])], also=[[zeros(0)], [of(2)], [of(3)], [odd]], refused=[[number]])
    row("polyint", lambda p: jnp.polyint(p, 2), [np.array([1.0, -2.0, 3.0])], also=[[zeros(0)], [of(1)], [of(5)], [odd]], refused=[[number]])
    further = [[of(2), of(4)], [odd, np.float32([1, -0.0])], [zeros(0), zeros(0)]]
    row("polyadd", jnp.polyadd, [x[0], y[0][:2]], also=further, refused=[[number, number], [zeros(0), of(2)]])
    row("polysub", jnp.polysub, [x[0][:2], y[0]], also=further, refused=[[number, number]])
    row("polymul", jnp.polymul, [x[0], y[0][:2]], also=[*further, [zeros(0), of(3)]], refused=[[number, number]])
    row("polydiv", jnp.polydiv, [np.array([1.0, -2.0, 3.0, 4.0]), np.array([2.0, 0.5])],
        also=[[of(2), of(3)], [zeros(0), of(2)], [np.float32([2, 4, 8, -6]), np.float32([2])], [of(5), np.float32([0.5, 1, -2])], [odd, of(2)]],
        refused=[[number, number], [of(3), zeros(0)]])
    row("poly", jnp.poly, [x[0]], also=[[number], [zeros(0)], [of(1)], [of(4)], [odd]])
    for op in ("bartlett", "blackman", "hamming", "hanning"):
        for n in (5, 0, 1, 2):
            row(op, lambda: getattr(jnp, op)(n).astype(jnp.float32), [], {"n": n})
    row("packbits", jnp.packbits, [np.array([1, 0, 2, 0, 0, 0, 0, 1, 1], np.int32)],
        also=[[np.bool_(True)], [zeros(0, dtype=np.int32)], [zeros(9, 0, dtype=np.uint8)], [of(8, dtype="bool")]])
    row("packbits_little", lambda x: jnp.packbits(x, axis=1, bitorder="little"), [ints],
        also=[[zeros(0, 3, dtype=np.int32)], [zeros(2, 0, dtype=np.int32)], [of(1, 17, dtype="bool")]], refused=[[np.int32(1)]])
    row("unpackbits", jnp.unpackbits, [np.array([3, 129], np.uint8)], also=[[np.uint8(5)], [zeros(0, dtype=np.uint8)], [np.uint8([255, 0, 7])]])
    some, more = np.array([12, -18, 0, 7, 0], np.int32), np.array([18, 24, 5, 13, 0], np.int32)
    # Of the least integer, which is its own negative, JAX's loop finds no end.
    a, b = (g.reshape(-1) for g in np.meshgrid(*[specials("i32")[1:]] * 2, indexing="ij"))
    for op in ("gcd", "lcm"):
        row(op, getattr(jnp, op), [some, more], also=[[np.int32(12), np.int32(-18)], [some[:0], more[:1]], [some[:, None], more], [a, b]])
