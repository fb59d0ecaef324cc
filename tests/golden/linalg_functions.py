"""Writes data/linalg_functions.safetensors and data/linalg_functions.json.

They have functions of `jax.numpy.linalg` and `jax.scipy.linalg`, random
matrices and the initializers made of them, in rows laid out as in
primitives.py; what is done to inputs is said in linalg.py.
"""

import pathlib

import linalg  # First: it sets the environment that JAX reads.
import primitives as p
from linalg import WIDE, apart, positive, turned
from primitives import SHORT, draw, record, rng_of

import jax
import jax.numpy as jnp
import jax.scipy.linalg as sl
import numpy as np
from jax.numpy import linalg as nl


def each(op, fun, shapes, params=None, case="regular", **options):
    for dtype in WIDE:
        rng = rng_of(op, dtype, repr(params))
        for group in shapes:
            record(op, fun, [draw(rng, dtype, shape) for shape in group], params, case, **options)


def norms():
    for order in (1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc"):
        params = {"ord": str(order), "axes": [0, 1]}
        each("norm", lambda x: nl.norm(apart(x), order, (0, 1)), [[(3, 2)]], params)
    each("norm", lambda x: nl.norm(x, 2, (0, 2), keepdims=True), [[(3, 2, 2)]], {"ord": "2", "axes": [0, 2], "keepdims": True}, derivative=False)
    each("norm", lambda x: nl.norm(x, np.inf, (2, 0)), [[(3, 2, 2)]], {"ord": "inf", "axes": [2, 0]}, derivative=False)
    for order in (0, 1, 2, 3, 0.5, -1, np.inf, -np.inf):
        params = {"ord": str(order), "axes": [1]}
        each("norm", lambda x: nl.norm(x, order, 1), [[(2, 3)]], params)
        for dtype in WIDE:
            special = np.array([[0, -0.0, 0], [1, np.nan, 2], [np.inf, 1, -np.inf], [3, 0, -4]]).astype(SHORT[dtype])
            record("norm", lambda x: nl.norm(x, order, 1), [special], params, "special")
    for order in (1, -1, 2, -2, np.inf, "fro"):
        each("cond", lambda x: nl.cond(turned(x), order), [[(3, 3)], [(2, 2, 2)]], {"ord": str(order)})


def determinants():
    sizes = [[(1, 1)], [(2, 2)], [(3, 3)], [(4, 4)], [(2, 5, 5)], [(0, 2, 2)]]
    each("det", lambda x: nl.det(turned(x)), sizes)
    each("slogdet", lambda x: nl.slogdet(turned(x)), sizes)
    for dtype in WIDE:
        for rank in (3, 2):
            low = np.diag(np.array([2, 1, 3, 0, 0][-rank - 1:] if rank == 2 else [2, 1, 3, 0])).astype(SHORT[dtype])
            record("det_as_is", nl.det, [low], None, "edge")
        record("slogdet_as_is", nl.slogdet, [np.diag([1.0, 0.0, 2.0]).astype(SHORT[dtype])], None, "special")


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
    each("tensorinv", lambda a: nl.tensorinv(turned(a.reshape(6, 6)).reshape(2, 3, 6)), [[(2, 3, 6)]])
    each("tensorsolve", lambda a, b: nl.tensorsolve(turned(a.reshape(6, 6)).reshape(2, 3, 6), b), [[(2, 3, 6), (2, 3)]])
    low = np.outer([1.0, 2.0, 3.0], [1.0, -1.0])
    for dtype in WIDE:
        x = low.astype(SHORT[dtype])
        record("matrix_rank", lambda x: nl.matrix_rank(x).astype(np.int32), [x], None, "special")
        record("matrix_rank", lambda x: nl.matrix_rank(x).astype(np.int32), [np.eye(3).astype(SHORT[dtype])], None, "special")
        record("pinv_as_is", nl.pinv, [x], None, "special")


def functions():
    for n in (-2, 0, 1, 3, 5):
        each("matrix_power", lambda a: nl.matrix_power(turned(a) / 4, n), [[(3, 3)], [(2, 2, 2)]], {"n": n})
    each("multi_dot", lambda *x: nl.multi_dot(x), [[(3, 2), (2, 4), (4,)], [(2,), (2, 3), (3, 2)], [(3, 1), (1, 5), (5, 1), (1, 2)]])
    for offset in (-1, 0, 2):
        params = {"offset": offset}
        each("diagonal", lambda x: nl.diagonal(x, offset=offset), [[(3, 4)], [(2, 3, 2)]], params)
        each("trace", lambda x: nl.trace(x, offset=offset), [[(3, 4)], [(2, 3, 2)]], params)
    each("block_diag", lambda *x: sl.block_diag(*x), [[(2, 3), (1, 1), (3,)], [()], [(0, 2), (1, 1)]])
    each("toeplitz", lambda c, r: sl.toeplitz(c, r), [[(3,), (4,)], [(1,), (1,)]])
    for scale in (0.01, 1.0, 30.0):
        each("expm", lambda a: sl.expm(turned(a) * (scale / 20)), [[(3, 3)], [(2, 2, 2)]], {"scale": scale})


def draws():
    for dtype in WIDE:
        for n, m, shape in [(3, 3, ()), (4, 2, (2,)), (2, 4, ()), (1, 1, (3,))]:
            fun = lambda: jax.random.orthogonal(jax.random.key(n), n, shape, SHORT[dtype], m)
            record("orthogonal", fun, [], {"n": n, "m": m, "shape": shape}, derivative=False)
        for method in ("cholesky", "eigh", "svd"):
            mean = draw(rng_of("mean", dtype), dtype, (2, 1, 3))
            half = draw(rng_of("half", dtype), dtype, (2, 3, 3))
            # Vectors of eigh and svd have signs that libraries choose: diagonal covariances have not.
            cov = (lambda x: positive(x)) if method == "cholesky" else (lambda x: jnp.abs(x) * jnp.eye(3, dtype=x.dtype))
            fun = lambda m, h: jnp.abs(jax.random.multivariate_normal(jax.random.key(7), m * 0, cov(h), (2, 2), SHORT[dtype], method)) + m
            record("multivariate_normal", fun, [mean, half], {"method": method}, derivative=False)


def main():
    for part in (norms, determinants, systems, functions, draws):
        part()
    p.write(pathlib.Path(__file__).parent / "data" / "linalg_functions")


if __name__ == "__main__":
    main()
