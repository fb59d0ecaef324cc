"""Writes data/linalg.safetensors and data/linalg.json.

They have the primitives of `jax.lax.linalg`, in rows laid out as in
primitives.py. Inputs are any matrices; where a decomposition wants special
ones, the recorded function makes them of its inputs, so that derivatives and
batches stay inside the domain (`positive`, `symmetric`, `apart` and `turned`
below, of the same names in the tests). Vectors that are determined up to their
sign are recorded with a positive largest element (`signs`).
"""

import pathlib

import primitives as p  # First: it sets the environment that JAX reads.
from primitives import SHORT, draw, record, rng_of

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.lax.linalg import geqrf  # Public as `jnp.linalg.qr(mode="raw")`.
from jax.lax import linalg as ll

WIDE = ["f32", "f64"]
SQUARE = [("regular", (3, 3)), ("regular", (2, 4, 4)), ("regular", (1, 1)), ("empty", (0, 0)), ("empty", (0, 2, 2))]
ANY = [("regular", (3, 3)), ("regular", (4, 2)), ("regular", (2, 2, 3)), ("regular", (1, 1)), ("empty", (0, 2)),
       ("empty", (3, 0)), ("empty", (0, 3, 2))]


def positive(x):
    """Positive definite matrices."""
    return x @ x.mT + jnp.eye(x.shape[-1], dtype=x.dtype)


def symmetric(x):
    """Symmetric matrices with eigenvalues that are apart."""
    return (x + x.mT) / 2 + jnp.diag(4 * jnp.arange(x.shape[-1], dtype=x.dtype))


def turned(x):
    """The same as `apart` with the rows in reverse, so that pivots are not on the diagonal."""
    return jnp.flip(apart(x), -2)


def signs(x):
    """The sign of the largest element of each column."""
    at = jnp.argmax(jnp.abs(x), axis=-2, keepdims=True)
    return jax.lax.stop_gradient(jnp.sign(jnp.take_along_axis(x, at, -2)))


def apart(x):
    """Matrices with a dominant diagonal, whose singular values are apart."""
    m, n = x.shape[-2:]
    return x / 2 + 4 * jnp.eye(m, n, dtype=x.dtype) * (1 + jnp.arange(n, dtype=x.dtype))


def matrices(op, fun, shapes, params=None, derivative=True):
    for dtype in WIDE:
        # Derivatives of second order are checked in f64, which takes long: fewer shapes.
        for case, shape in shapes if dtype == "f32" else [shapes[0], shapes[1], shapes[-2]]:
            x = draw(rng_of(op, dtype, shape, repr(params)), dtype, shape)
            record(op, fun, [x], params, case, derivative)


def bad(op, fun, values, params=None, case="special"):
    for dtype in WIDE:
        record(op, fun, [np.array(values).astype(SHORT[dtype])], params, case, derivative=False)


def factorizations():
    matrices("cholesky", lambda x: ll.cholesky(positive(x)), SQUARE)
    indefinite = [[[1.0, 2.0], [2.0, 1.0]], [[4.0, 2.0], [2.0, 5.0]], [[np.nan, 0.0], [0.0, 1.0]]]
    bad("cholesky", ll.cholesky, indefinite, {"as_is": True})
    for full in (False, True):
        params = {"full_matrices": full}
        matrices("qr", lambda x: ll.qr(apart(x), full_matrices=full), ANY, params)
    matrices("geqrf", geqrf, ANY, derivative=False)
    tall = [s for s in ANY if s[1][-2] >= s[1][-1]]
    matrices("householder_product", lambda x: ll.householder_product(*geqrf(x)), tall, derivative=False)


# A singular matrix, one with NaN, one with an infinity, and one of zeros.
SPECIAL = [[[1.0, 2.0], [2.0, 4.0]], [[1.0, np.nan], [2.0, 4.0]], [[np.inf, 1.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, -0.0]]]


def special():
    as_is = {"as_is": True}
    bad("lu", ll.lu, SPECIAL, as_is)
    bad("svd", lambda x: ll.svd(x, compute_uv=False), [SPECIAL[1], SPECIAL[3]], as_is | {"compute_uv": False})
    # Libraries choose signs of zeros here, which `special` rows would compare.
    bad("qr", ll.qr, SPECIAL[3], as_is | {"full_matrices": False}, "edge")
    bad("eigh", lambda x: ll.eigh(x)[1], [SPECIAL[1], SPECIAL[3]], as_is, "edge")
    params = {"left_side": True, "lower": True, "transpose_a": False, "unit_diagonal": False}
    for dtype in WIDE:
        # JAX's libraries divide by a pivot of zero; XLA, which solves here, gives NaN for the whole system.
        a, b = np.array(SPECIAL[1]).astype(SHORT[dtype]), np.ones((2, 1), SHORT[dtype])
        record("triangular_solve", lambda a, b: ll.triangular_solve(a, b, **params), [a, b], params | as_is, "special")
        record("linear_solve", jnp.linalg.solve, [a, b], as_is, "special")


def with_signs_of_eigh(x):
    v, w = ll.eigh(symmetric(x))
    return v * signs(v), w


def with_signs_of_svd(x):
    u, s, vt = ll.svd(apart(x), full_matrices=False)
    sign = signs(u)
    return s, u * sign, vt * sign.mT


def spectra():
    matrices("lu", lambda x: ll.lu(turned(x)), ANY)
    matrices("eigh", with_signs_of_eigh, [s for s in SQUARE if s[1] != (0, 0)])
    nonempty = [s for s in ANY if s[1] not in [(0, 2), (3, 0)]]
    matrices("svd", with_signs_of_svd, nonempty, {"compute_uv": True})
    matrices("svd", lambda x: ll.svd(apart(x), compute_uv=False), ANY[:2], {"compute_uv": False})
    for dtype in p.INTS:
        for pivots, size in [([[2, 1, 2], [1, 2, 3]], 4), ([], 2), ([1], 2)] if dtype == "i32" else [([2, 2, 2], 3)]:
            convert = lambda x: ll.lu_pivots_to_permutation(x.astype(np.int32), size).astype(x.dtype)
            x = np.array(pivots).astype(SHORT[dtype])
            record("lu_pivots_to_permutation", convert, [x], {"permutation_size": size}, "special" if pivots else "empty")
    for dtype in WIDE:
        for case, a, b in [("regular", (3, 3), (3, 2)), ("regular", (2, 3, 3), (2, 3, 1)), ("empty", (2, 2), (2, 0))]:
            rng = rng_of("linear_solve", dtype, a, b)
            record("linear_solve", lambda a, b: jnp.linalg.solve(turned(a), b), [draw(rng, dtype, a), draw(rng, dtype, b)], None, case)


def triangular():
    shapes = [("regular", (3, 3), (3, 2)), ("regular", (2, 2, 2), (2, 2, 3)), ("empty", (2, 2), (2, 0)), ("empty", (0, 0), (0, 2))]
    for flags in range(8):
        left, lower, transpose = (bool(flags >> i & 1) for i in range(3))
        params = {"left_side": left, "lower": lower, "transpose_a": transpose, "unit_diagonal": flags in (1, 6)}
        solve = lambda a, b: ll.triangular_solve(apart(a), b, **params)
        for dtype in WIDE if flags in (0, 1, 6, 7) else ["f32"]:
            for case, a, b in shapes if flags == 1 else shapes[:1]:
                rng = rng_of("triangular_solve", dtype, flags, a)
                b = b if left else (*b[:-2], b[-1], b[-2])
                record("triangular_solve", solve, [draw(rng, dtype, a), draw(rng, dtype, b)], params, case)


def tridiagonal():
    shapes = [("regular", (5,), 2), ("regular", (2, 3), 1), ("regular", (1,), 1), ("empty", (4,), 0), ("empty", (0, 2), 1)]
    dominant = lambda dl, d, du, b: ll.tridiagonal_solve(dl, d + 6, du, b)
    for dtype in WIDE:
        for case, shape, k in shapes:
            rng = rng_of("tridiagonal_solve", dtype, shape)
            inputs = [draw(rng, dtype, s) for s in (shape, shape, shape, (*shape, k))]
            record("tridiagonal_solve", dominant, inputs, None, case)
        rng = rng_of("tridiagonal_solve", dtype, "pivots")
        diagonals = [[0, 1, 2, 1], [0, 1, 0, 2], [2, 1, 1, 0]]
        inputs = [np.array(x).astype(SHORT[dtype]) for x in diagonals] + [draw(rng, dtype, (4, 2))]
        record("tridiagonal_solve", ll.tridiagonal_solve, inputs, {"pivots": True})
        singular = [[0, 1, 0], [1, 1, 2], [1, 0, 0], [[1], [2], [3]]]
        record("tridiagonal_solve", ll.tridiagonal_solve, [np.array(x).astype(SHORT[dtype]) for x in singular], {"pivots": True}, "special")


def main():
    data = pathlib.Path(__file__).parent / "data"
    for part in (factorizations, spectra, triangular, tridiagonal, special):
        part()
    p.write(data / "linalg")


if __name__ == "__main__":
    main()
