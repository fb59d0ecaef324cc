"""Writes data/linalg_functions.safetensors and data/linalg_functions.json.

They have functions of `jax.numpy.linalg` and `jax.scipy.linalg`, random
matrices and the initializers made of them, in rows laid out as in
primitives.py; what is done to inputs is said in linalg.py.
"""

import pathlib

import linalg  # First: it sets the environment that JAX reads.
import primitives as p
from linalg import SPECIAL, WIDE, apart, positive, turned
from primitives import SHORT, draw, record, rng_of

import jax
import jax.numpy as jnp
import jax.scipy.linalg as sl
import numpy as np
from jax.numpy import linalg as nl


def each(op, fun, shapes, params=None, case="regular", dtypes=WIDE, **options):
    for dtype in dtypes:
        rng = rng_of(op, dtype, repr(params))
        for group in shapes:
            record(op, fun, [draw(rng, dtype, shape) for shape in group], params, case, **options)


def empty(op, fun, shapes, params=None, **options):
    """The function of no elements; rules do not look at the type."""
    each(op, fun, shapes, params, "empty", ["f32"], **options)


def special(op, fun, values, params=None):
    """The function of special values as they are."""
    for dtype in WIDE:
        record(op, fun, [np.array(x).astype(SHORT[dtype]) for x in values], (params or {}) | {"as_is": True}, "special")


def norms():
    for order in (1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc"):
        params = {"ord": str(order), "axes": [0, 1]}
        each("norm", lambda x: nl.norm(apart(x), order, (0, 1)), [[(3, 2)]], params)
        # JAX's derivative of the largest of nothing is NaN; there is no smallest.
        if order not in (-1, -2, -np.inf):
            empty("norm", lambda x: nl.norm(apart(x), order, (0, 1)), [[(0, 2)], [(2, 0)]], params, derivative=False)
    each("norm", lambda x: nl.norm(x, 2, (0, 2), keepdims=True), [[(3, 2, 2)]], {"ord": "2", "axes": [0, 2], "keepdims": True}, derivative=False)
    each("norm", lambda x: nl.norm(x, np.inf, (2, 0)), [[(3, 2, 2)]], {"ord": "inf", "axes": [2, 0]}, derivative=False)
    for order in (0, 1, 2, 3, 0.5, -1, np.inf, -np.inf):
        params = {"ord": str(order), "axes": [1]}
        each("norm", lambda x: nl.norm(x, order, 1), [[(2, 3)]], params)
        empty("norm", lambda x: nl.norm(x, order, 1), [[(0, 3)], *([] if order == -np.inf else [[(2, 0)]])], params, derivative=False)
        for dtype in WIDE:
            values = np.array([[0, -0.0, 0], [1, np.nan, 2], [np.inf, 1, -np.inf], [3, 0, -4]]).astype(SHORT[dtype])
            record("norm", lambda x: nl.norm(x, order, 1), [values], params, "special")
    for order in (1, -1, 2, -2, np.inf, "fro"):
        each("cond", lambda x: nl.cond(turned(x), order), [[(3, 3)], [(2, 2, 2)]], {"ord": str(order)})
        empty("cond", lambda x: nl.cond(turned(x), order), [[(0, 2, 2)]], {"ord": str(order)})
        special("cond", lambda x: nl.cond(x, order), [SPECIAL[1]], {"ord": str(order)})


def determinants():
    sizes = [[(1, 1)], [(2, 2)], [(3, 3)], [(4, 4)], [(2, 5, 5)], [(0, 2, 2)]]
    each("det", lambda x: nl.det(turned(x)), sizes)
    each("slogdet", lambda x: nl.slogdet(turned(x)), sizes)
    # JAX has no derivative of the determinant of nothing.
    for op in ("det", "slogdet"):
        empty(op, lambda x: getattr(nl, op)(turned(x)), [[(0, 0)]], derivative=False)
    for dtype in WIDE:
        for rank in (3, 2):
            low = np.diag(np.array([2, 1, 3, 0, 0][-rank - 1:] if rank == 2 else [2, 1, 3, 0])).astype(SHORT[dtype])
            record("det_as_is", nl.det, [low], None, "edge")
        record("slogdet_as_is", nl.slogdet, [np.diag([1.0, 0.0, 2.0]).astype(SHORT[dtype])], None, "special")
    for op, fun in (("det_as_is", nl.det), ("slogdet_as_is", nl.slogdet)):
        # The first is singular: its determinant is 0 of either sign.
        special(op, fun, [SPECIAL[1:]])
        empty(op, fun, [[(0, 3, 3)]])


def mapping(a):
    """A map from vectors to arrays, as a tensor."""
    n = a.shape[-1] if a.ndim else 1
    return turned(a.reshape(n, n)).reshape(a.shape)


def systems():
    each("solve", lambda a, b: nl.solve(turned(a), b), [[(3, 3), (3,)], [(3, 3), (2, 3, 2)], [(2, 3, 3), (3, 1)], [(2, 2, 2), (2,)]])
    each("inv", lambda a: nl.inv(turned(a)), [[(3, 3)], [(2, 2, 2)], [(0, 0)]])
    each("pinv", lambda a: nl.pinv(apart(a)), [[(3, 3)], [(2, 4, 2)], [(2, 3)], [(0, 2)]])
    each("lu_solve", lambda a, b: sl.lu_solve(sl.lu_factor(turned(a)), b, 0), [[(3, 3), (3, 2)]], {"transpose": False})
    each("lu_solve", lambda a, b: sl.lu_solve(sl.lu_factor(turned(a)), b, 1), [[(3, 3), (3,)]], {"transpose": True})
    for lower in (False, True):
        params = {"lower": lower}
        each("cho_solve", lambda a, b: sl.cho_solve(sl.cho_factor(positive(a), lower), b), [[(3, 3), (3, 2)], [(2, 2), (2,)]], params)
        each("solve_triangular", lambda a, b: sl.solve_triangular(apart(a), b, lower=lower), [[(3, 3), (3, 2)], [(2, 2), (2,)]], params)
    each("tensorinv", lambda a: nl.tensorinv(mapping(a), a.ndim - 1), [[(2, 3, 6)], [(2, 2)]])
    empty("tensorinv", lambda a: nl.tensorinv(mapping(a), a.ndim - 1), [[(0, 3, 0)]])
    each("tensorsolve", lambda a, b: nl.tensorsolve(mapping(a), b), [[(2, 3, 6), (2, 3)], [(2, 2), (2,)], [(), ()]])
    empty("tensorsolve", lambda a, b: nl.tensorsolve(mapping(a), b), [[(0, 3, 0), (0, 3)]])
    empty("solve", lambda a, b: nl.solve(turned(a), b), [[(0, 0), (0,)], [(2, 2), (2, 0)], [(0, 2, 2), (0, 2, 1)]])
    pairs = [[(0, 0), (0, 2)], [(2, 2), (2, 0)], [(0, 2, 2), (0, 2, 1)]]
    empty("lu_solve", lambda a, b: sl.lu_solve(sl.lu_factor(turned(a)), b, 0), pairs, {"transpose": False})
    empty("cho_solve", lambda a, b: sl.cho_solve(sl.cho_factor(positive(a), True), b), pairs, {"lower": True})
    empty("solve_triangular", lambda a, b: sl.solve_triangular(apart(a), b, lower=True), pairs, {"lower": True})
    special("solve", nl.solve, [SPECIAL[1], np.ones((2, 1))])
    special("solve_triangular", lambda a, b: sl.solve_triangular(a, b, lower=True), [SPECIAL[1], np.ones((2, 1))], {"lower": True})
    special("inv", nl.inv, [SPECIAL[1]])
    low = np.outer([1.0, 2.0, 3.0], [1.0, -1.0])
    for dtype in WIDE:
        x = low.astype(SHORT[dtype])
        record("matrix_rank", lambda x: nl.matrix_rank(x).astype(np.int32), [x], None, "special")
        record("matrix_rank", lambda x: nl.matrix_rank(x).astype(np.int32), [np.eye(3).astype(SHORT[dtype])], None, "special")
        record("pinv_as_is", nl.pinv, [x], None, "special")
        for x in (SPECIAL[1], np.ones((0, 2, 2)), 0.5, 0.0):
            record("matrix_rank", lambda x: nl.matrix_rank(x).astype(np.int32), [np.array(x).astype(SHORT[dtype])], None, "special")
    special("pinv_as_is", nl.pinv, [[SPECIAL[0], SPECIAL[1], SPECIAL[3]]])
    empty("pinv_as_is", nl.pinv, [[(0, 2)], [(3, 0)]])


def functions():
    for n in (-2, 0, 1, 3, 5):
        each("matrix_power", lambda a: nl.matrix_power(turned(a) / 4, n), [[(3, 3)], [(2, 2, 2)]], {"n": n})
        empty("matrix_power", lambda a: nl.matrix_power(turned(a) / 4, n), [[(0, 0)]], {"n": n})
        special("matrix_power", lambda a: nl.matrix_power(a, n), [SPECIAL[1] if n < 0 else SPECIAL], {"n": n})
    each("multi_dot", lambda *x: nl.multi_dot(x), [[(3, 2), (2, 4), (4,)], [(2,), (2, 3), (3, 2)], [(3, 1), (1, 5), (5, 1), (1, 2)]])
    empty("multi_dot", lambda *x: nl.multi_dot(x), [[(0, 2), (2, 3), (3,)], [(2, 0), (0, 3)]])
    for offset in (-1, 0, 2):
        params = {"offset": offset}
        empty("diagonal", lambda x: nl.diagonal(x, offset=offset), [[(0, 2)], [(2, 0, 3)]], params)
        empty("trace", lambda x: nl.trace(x, offset=offset), [[(0, 2)], [(2, 0, 3)]], params)
        each("diagonal", lambda x: nl.diagonal(x, offset=offset), [[(3, 4)], [(2, 3, 2)]], params)
        each("trace", lambda x: nl.trace(x, offset=offset), [[(3, 4)], [(2, 3, 2)]], params)
    each("block_diag", lambda *x: sl.block_diag(*x), [[(2, 3), (1, 1), (3,)], [()], [(0, 2), (1, 1)]])
    each("toeplitz", lambda c, r: sl.toeplitz(c, r), [[(3,), (4,)], [(1,), (1,)], [(), ()], [(2, 3), (2, 4)]])
    empty("toeplitz", lambda c, r: sl.toeplitz(c, r), [[(0,), (0,)], [(3,), (0,)], [(0, 3), (0, 4)]])
    for scale in (0.01, 1.0, 30.0):
        each("expm", lambda a: sl.expm(turned(a) * (scale / 20)), [[(3, 3)], [(2, 2, 2)]], {"scale": scale})
    empty("expm", lambda a: sl.expm(turned(a) * (scale / 20)), [[(0, 0)], [(0, 2, 2)]], {"scale": scale})
    special("expm", sl.expm, [SPECIAL[1:]])


def draws():
    for dtype in WIDE:
        for n, m, shape in [(3, 3, ()), (4, 2, (2,)), (2, 4, ()), (1, 1, (3,)), (2, 2, (0,)), (0, 2, ())]:
            fun = lambda: jax.random.orthogonal(jax.random.key(n), n, shape, SHORT[dtype], m)
            record("orthogonal", fun, [], {"n": n, "m": m, "shape": shape}, derivative=False)
        for method in ("cholesky", "eigh", "svd"):
            # Vectors of eigh and svd have signs that libraries choose: diagonal covariances have not.
            cov = (lambda x: positive(x)) if method == "cholesky" else (lambda x: jnp.abs(x) * jnp.eye(x.shape[-1], dtype=x.dtype))
            for lead, n, shape in [((2, 1), 3, (2, 2)), ((), 2, (4,)), ((0,), 3, (0,)), ((), 0, (2,))]:
                mean = draw(rng_of("mean", dtype), dtype, (*lead, n))
                half = draw(rng_of("half", dtype), dtype, (*lead[:1], n, n))
                fun = lambda m, h: jnp.abs(jax.random.multivariate_normal(jax.random.key(7), m * 0, cov(h), shape, SHORT[dtype], method)) + m
                record("multivariate_normal", fun, [mean, half], {"method": method, "shape": shape}, derivative=False)


def main():
    for part in (norms, determinants, systems, functions, draws):
        part()
    p.write(pathlib.Path(__file__).parent / "data" / "linalg_functions")


if __name__ == "__main__":
    main()
