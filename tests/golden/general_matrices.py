"""Writes data/general_matrices.json: decompositions of general matrices, for which JAX
calls LAPACK, with derivatives.

Every row: `op`, `inputs` and `outputs`, and for 64-bit floats, where there are
derivatives, `tangent`, `jvp`, `cotangents` and `vjp`. Arrays are laid out as in
complex_numbers.py. Eigenvalues are sorted by real and then by imaginary part
(`ordered`), and the largest element of each eigenvector is positive (`unit`). Of Schur
decompositions only the sorted diagonals are recorded, since their order is arbitrary.
Inputs of `rsf2csf` are the two parts of a Schur decomposition, and of its outputs the
magnitudes are recorded, since the phases of rows are arbitrary.
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
from jax.lax import linalg as ll
from jax.numpy import linalg as nl
from linalg_complex import unit

rows = []
TYPES = [np.float32, np.float64, np.complex64, np.complex128]
SHAPES = [(4, 4), (2, 3, 3), (1, 1), (0, 0), (7, 7)]


def draw(rng, dtype, shape):
    x = rng.uniform(-2, 2, shape)
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * rng.uniform(-2, 2, shape)
    return x.astype(dtype)


def record(op, fun, shapes, derivative=True, types=TYPES, prepare=jnp.asarray):
    for dtype in types:
        for shape in shapes:
            rng = np.random.default_rng(zlib.crc32(repr((op, shape, np.dtype(dtype).name)).encode()))
            x = prepare(draw(rng, dtype, shape))
            outputs = fun(x)
            row = {"op": op, "inputs": [plain(x)], "outputs": [plain(y) for y in outputs]}
            # JAX fails to differentiate eigenvectors of no elements.
            if derivative and x.size and dtype in (np.float64, np.complex128):
                smooth = lambda x: [y for y in fun(x) if jnp.issubdtype(y.dtype, jnp.inexact)]
                tangent = jnp.asarray(draw(rng, dtype, shape))
                jvp = jax.jvp(smooth, [x], [tangent])[1]
                cotangents = [jnp.asarray(draw(rng, y.dtype, y.shape)) for y in jvp]
                (vjp,) = jax.vjp(smooth, x)[1](cotangents)
                row |= {"tangent": plain(tangent), "jvp": [plain(y) for y in jvp],
                        "cotangents": [plain(y) for y in cotangents], "vjp": plain(vjp)}
            rows.append(row)


def ordered(w):
    """The order of eigenvalues by real and then by imaginary part. Real parts of conjugate numbers may
    differ by rounding."""
    w = jax.lax.stop_gradient(w)
    return jnp.lexsort((w.imag, jnp.round(w.real * 1000)))


def eigvals(x):
    w = nl.eigvals(x)
    return [jnp.take_along_axis(w, ordered(w), -1)]


def eig(x):
    w, v = ll.eig(x, compute_left_eigenvectors=False, enable_eigvec_derivs=True)
    order = ordered(w)
    if x.size:
        v = v * unit(v)
    return [jnp.take_along_axis(w, order, -1), jnp.take_along_axis(v, order[..., None, :], -1)]


def diagonal(pair):
    w = jnp.diagonal(pair[0], axis1=-2, axis2=-1)
    return [jnp.take_along_axis(w, ordered(w), -1)]


def complex_form(pair):
    return [jnp.abs(x) for x in sl.rsf2csf(pair[0], pair[1])]


def main():
    record("eigvals", eigvals, SHAPES)
    record("eig", eig, SHAPES)
    record("schur", lambda x: diagonal(sl.schur(x)), SHAPES, derivative=False)
    record("schur_complex", lambda x: diagonal(sl.schur(x, output="complex")), SHAPES, derivative=False)
    record("rsf2csf", complex_form, [(4, 4), (1, 1), (7, 7)], derivative=False, types=TYPES[:2],
           prepare=lambda x: jnp.stack(sl.schur(x)))
    record("hessenberg", lambda x: sl.hessenberg(x, calc_q=True), SHAPES, derivative=False)
    # JAX takes one matrix at a time, and none without elements.
    record("sqrtm", lambda x: [sl.sqrtm(x)], [(4, 4), (1, 1), (7, 7)], derivative=False)
    tall = [(4, 4), (1, 1), (7, 2)]
    record("qr_reduced", lambda x: sl.qr(x, mode="economic", pivoting=True), tall)
    # JAX fails to differentiate batches, and does not differentiate wide matrices.
    others = [(2, 3, 3), (2, 5, 3), (3, 5), (3, 0)]
    record("qr_reduced", lambda x: sl.qr(x, mode="economic", pivoting=True), others, derivative=False)
    record("qr_complete", lambda x: sl.qr(x, mode="full", pivoting=True), tall + others, derivative=False)
    recording.write(recording.DATA / "general_matrices", rows)


if __name__ == "__main__":
    main()
