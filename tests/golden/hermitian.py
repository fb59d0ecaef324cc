"""Writes data/hermitian.safetensors and data/hermitian.json.

Rows are laid out as in primitives.py. They have decompositions of symmetric
matrices by their eigenvalues: functions of `jax.numpy.linalg` with
`hermitian=True`. The matrices are made of the inputs by `symmetric` of linalg.py,
less twice the identity, so that some eigenvalues are negative.
"""

import pathlib

import linalg  # First: it sets the environment that JAX reads.
import primitives as p
from linalg import WIDE, signs, symmetric
from primitives import SHORT, draw, record, rng_of

import jax.numpy as jnp
import numpy as np
from jax.numpy import linalg as nl


def both(x):
    return symmetric(x) - 6 * jnp.eye(x.shape[-1], dtype=x.dtype)


def svd(x):
    u, s, vt = nl.svd(both(x), hermitian=True)
    sign = signs(u)
    return u * sign, s, vt * sign.mT


def main():
    for dtype in WIDE:
        for shape in [(1, 1), (3, 3), (2, 4, 4), (0, 2, 2)]:
            x = draw(rng_of("hermitian", dtype, shape), dtype, shape)
            record("svd", svd, [x])
            record("svdvals", lambda x: nl.svd(both(x), compute_uv=False, hermitian=True), [x])
            record("pinv", lambda x: nl.pinv(both(x), hermitian=True), [x])
        for values in (np.outer([1, 2, 3], [1, 2, 3]), np.diag([1, 0, -2]), np.zeros((2, 2)), np.stack([np.eye(2), np.ones((2, 2))])):
            x = values.astype(SHORT[dtype])
            record("matrix_rank", lambda x: nl.matrix_rank(x, hermitian=True).astype(np.int32), [x], None, "special")
            record("pinv_as_is", lambda x: nl.pinv(x, hermitian=True), [x], None, "special")
    p.write(pathlib.Path(__file__).parent / "data" / "hermitian")


if __name__ == "__main__":
    main()
