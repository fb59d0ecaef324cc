"""Writes data/linalg_complex.json: linear algebra of complex matrices, with
derivatives.

Every row: `op`, `params`, `inputs` and `outputs`, and where there are derivatives,
of complex128 only, `tangents`, `jvp`, `cotangents` and `vjp`, whose entries are null for outputs that
are integers. Arrays are laid out as in complex_numbers.py. Inputs are any matrices;
what is made of them first is said in the functions `positive`, `hermitian`,
`turned` and `apart`, of the same names in the tests. Vectors that are determined up
to a factor are recorded with a positive largest element (`unit`).
"""

import os
import zlib

os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import jax.scipy.linalg as sl
import numpy as np
import recording
from complex_numbers import plain
from jax._src.lax.linalg import geqrf  # Public as `jnp.linalg.qr(mode="raw")`.
from jax.lax import linalg as ll
from jax.numpy import linalg as nl

rows = []
TYPES = [np.complex64, np.complex128]


def draw(rng, dtype, shape):
    return (rng.uniform(-2, 2, shape) + 1j * rng.uniform(-2, 2, shape)).astype(dtype)


def record(op, fun, shapes, params=None, derivative=True, types=TYPES):
    params = params or {}
    for dtype in types:
        rng = np.random.default_rng(zlib.crc32(repr((op, params, shapes, np.dtype(dtype).name)).encode()))
        listed = lambda *xs: list(out) if isinstance(out := fun(*xs), (tuple, list)) else [out]
        inputs = [jnp.asarray(draw(rng, dtype, shape)) for shape in shapes]
        outputs = listed(*inputs)
        row = {"op": op, "params": params, "inputs": [plain(x) for x in inputs], "outputs": [plain(x) for x in outputs]}
        into = [i for i, x in enumerate(outputs) if jnp.issubdtype(x.dtype, jnp.inexact)]
        if derivative and dtype == np.complex128:
            smooth = lambda *xs: [listed(*xs)[i] for i in into]
            like = lambda x: jnp.asarray((draw(rng, np.complex128, x.shape) if jnp.iscomplexobj(x)
                                          else rng.uniform(-2, 2, x.shape)).astype(x.dtype))
            spread = lambda values: [plain(values[into.index(i)]) if i in into else None for i in range(len(outputs))]
            tangents = [like(x) for x in inputs]
            cotangents = [like(outputs[i]) for i in into]
            row |= {"tangents": [plain(x) for x in tangents], "jvp": spread(jax.jvp(smooth, inputs, tangents)[1]),
                    "cotangents": spread(cotangents), "vjp": [plain(x) for x in jax.vjp(smooth, *inputs)[1](cotangents)]}
        rows.append(row)


def adjoint(x):
    return jnp.conj(x.mT)


def positive(x):
    """Positive definite matrices."""
    return x @ adjoint(x) + jnp.eye(x.shape[-1], dtype=x.dtype)


def hermitian(x):
    """Hermitian matrices with eigenvalues that are apart, of both signs."""
    return (x + adjoint(x)) / 2 + jnp.diag(6 * jnp.arange(x.shape[-1]) - 8).astype(x.dtype)


def apart(x):
    """Matrices with a dominant diagonal, whose singular values are apart."""
    m, n = x.shape[-2:]
    return x / 2 + (4 * jnp.eye(m, n) * (1 + jnp.arange(n))).astype(x.dtype)


def turned(x):
    """The same as `apart` with the rows in reverse, so that pivots are not on the diagonal."""
    return jnp.flip(apart(x), -2)


def unit(x):
    """The factors that make the largest element of each column positive."""
    at = jnp.argmax(jnp.abs(x), axis=-2, keepdims=True)
    z = jnp.take_along_axis(x, at, -2)
    return jax.lax.stop_gradient(jnp.conj(z) / jnp.abs(z))


def eigh(x, **options):
    v, w = ll.eigh(x, **options)
    return v * unit(v), w


def svd(x, fun=nl.svd):
    u, s, vh = fun(x)
    factor = unit(u)
    return u * factor, s, vh * jnp.conj(factor.mT)


def factorizations():
    for shape in [(3, 3), (2, 4, 4), (1, 1), (0, 0)]:
        record("cholesky", lambda x: nl.cholesky(positive(x)), [shape])
    record("cholesky_upper", lambda x: nl.cholesky(positive(x), upper=True), [(3, 3)])
    record("cholesky_as_is", lambda x: nl.cholesky(x), [(3, 3)], derivative=False)
    for shape in [(3, 3), (4, 2), (2, 3), (2, 3, 3), (1, 1), (0, 2)]:
        record("qr", lambda x: nl.qr(apart(x)), [shape], {"full_matrices": False})
        record("geqrf", geqrf, [shape], derivative=False)
    record("qr", lambda x: nl.qr(apart(x), "complete"), [(2, 3)], {"full_matrices": True})
    record("qr", lambda x: nl.qr(apart(x), "complete"), [(4, 2)], {"full_matrices": True}, derivative=False)
    record("householder_product", lambda x: ll.householder_product(*geqrf(x)), [(4, 3)], derivative=False)
    for shape in [(3, 3), (4, 2), (2, 3), (2, 3, 3)]:
        record("lu", lambda x: ll.lu(turned(x)), [shape])
    record("lu_as_is", ll.lu, [(5, 5)], derivative=False)


def spectra():
    for shape in [(3, 3), (2, 4, 4)]:
        record("eigh", lambda x: eigh(hermitian(x)), [shape])
    record("eigvalsh", lambda x: nl.eigvalsh(hermitian(x)), [(3, 3)])
    for lower in (True, False):
        record("eigh_of_triangle", lambda x: eigh(x, lower=lower, symmetrize_input=False), [(4, 4)], {"lower": lower}, derivative=False)
    for shape in [(3, 3), (4, 2), (2, 3)]:
        types = TYPES if shape == (4, 2) else TYPES[1:]
        record("svd", lambda x: svd(apart(x), lambda x: nl.svd(x, full_matrices=False)), [shape], types=types)
    record("svdvals", lambda x: nl.svdvals(apart(x)), [(4, 2)])
    record("svd_hermitian", lambda x: svd(hermitian(x), lambda x: nl.svd(x, hermitian=True)), [(3, 3)])
    record("svdvals_hermitian", lambda x: nl.svd(hermitian(x), compute_uv=False, hermitian=True), [(3, 3)])


def systems():
    for a, b in [((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (3, 1)), ((2, 2), (2, 0))]:
        record("solve", lambda a, b: nl.solve(turned(a), b), [a, b])
    for shape in [(3, 3), (2, 2, 2), (0, 0)]:
        record("inv", lambda a: nl.inv(turned(a)), [shape])
    for trans in (False, True):
        record("lu_solve", lambda a, b: sl.lu_solve(sl.lu_factor(turned(a)), b, int(trans)), [(3, 3), (3, 2)], {"transpose": trans})
    for lower in (False, True):
        params = {"lower": lower}
        record("cho_solve", lambda a, b: sl.cho_solve(sl.cho_factor(positive(a), lower), b), [(3, 3), (3, 2)], params)
        record("solve_triangular", lambda a, b: sl.solve_triangular(apart(a), b, lower=lower), [(3, 3), (3, 2)], params)
    for flags in range(16):
        names = ("left_side", "lower", "transpose_a", "conjugate_a")
        params = {name: bool(flags >> i & 1) for i, name in enumerate(names)} | {"unit_diagonal": flags in (3, 5, 13)}
        record("triangular_solve", lambda a, b: ll.triangular_solve(apart(a), b, **params), [(3, 3), (3, 2) if flags & 1 else (2, 3)],
               params, types=TYPES[1:])
    dominant = lambda dl, d, du, b: ll.tridiagonal_solve(dl, d + 8, du, b)
    for shape in [(5,), (2, 3)]:
        record("tridiagonal_solve", dominant, [shape, shape, shape, (*shape, 2)])
    record("lstsq", lambda a, b: nl.lstsq(apart(a), b)[:2], [(4, 2), (4, 3)])
    record("lstsq", lambda a, b: nl.lstsq(apart(a), b)[0], [(2, 4), (2,)])
    for op in ("cg", "bicgstab", "gmres"):
        record(op, lambda a, b: nl.solve(positive(a) if op == "cg" else turned(a), b), [(4, 4), (4,)], types=TYPES[1:])


def functions():
    for shape in [(1, 1), (2, 2), (3, 3), (4, 4), (2, 5, 5)]:
        record("det", lambda x: nl.det(turned(x)), [shape])
        record("slogdet", lambda x: nl.slogdet(turned(x)), [shape])
    for shape in [(4, 2), (2, 3)]:
        record("pinv", lambda x: nl.pinv(apart(x)), [shape], types=TYPES[1:])
    record("pinv_hermitian", lambda x: nl.pinv(hermitian(x), hermitian=True), [(3, 3)])
    record("matrix_rank", lambda x: nl.matrix_rank(x @ jnp.ones((2, 3), x.dtype)), [(4, 2)], derivative=False)
    record("matrix_rank_hermitian", lambda x: nl.matrix_rank(x @ adjoint(x), hermitian=True) + 0, [(4, 2)], derivative=False)
    for n in (3, -2, 0):
        record("matrix_power", lambda x: nl.matrix_power(turned(x) / 4, n), [(3, 3)], {"n": n}, derivative=n != 0)
    for scale in (1, 20, 200):
        record("expm", lambda x: sl.expm(turned(x) * (scale / 40)), [(3, 3)], {"scale": scale}, derivative=scale == 1)
    record("multi_dot", lambda a, b, c: nl.multi_dot([a, b, c]), [(2, 3), (3, 4), (4,)])


def main():
    for part in (factorizations, spectra, systems, functions):
        part()
    recording.write(recording.DATA / "linalg_complex", rows)


if __name__ == "__main__":
    main()
