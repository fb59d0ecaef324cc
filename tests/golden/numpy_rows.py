"""How numpy_functions.py and its parts write rows."""

import primitives as p  # First: it sets the environment that JAX reads.
from primitives import draw, record, rng_of, specials

import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["case_of", "draw", "mask_of", "of", "ones", "p", "refuses", "rng_of", "row", "specials", "zeros"]


def of(*shape, dtype="f32", low=-2.0, high=2.0):
    """An array of random elements."""
    return draw(rng_of("of", dtype, shape), dtype, shape, low, high)


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


def mask_of(shape):
    return (np.arange(np.prod(shape)) % 5 != 1).reshape(shape)


def narrow(x):
    return x.astype(jnp.int32) if x.dtype == jnp.int64 else x


def case_of(inputs):
    """What a row of these inputs is."""
    inputs = [np.asarray(x) for x in inputs]
    floats = [x for x in inputs if x.dtype in (np.float32, np.float64)]
    if any(x.size == 0 for x in inputs):
        return "empty"
    if any(not np.isfinite(x).all() or (np.signbit(x) & (x == 0)).any() for x in floats):
        return "special"
    return "scalar" if any(x.ndim == 0 for x in inputs) else "regular"


def row(op, fun, inputs, params=None, case="regular", also=(), refused=(), **options):
    """One row, without 64-bit types unless an input has one.

    `also` has lists of other inputs, a row without derivatives each; JAX must
    refuse the lists of `refused`.
    """
    inputs = [np.asarray(x) for x in inputs]
    wide = any(x.dtype in (np.float64, np.int64) for x in inputs)

    def flat(*xs):
        out = fun(*xs)
        out = list(out) if isinstance(out, (tuple, list)) else [out]
        return [narrow(jnp.asarray(x)) for x in out]

    derivative = options.pop("derivative", wide)
    with jax.enable_x64(wide):
        record(op, flat, inputs, params, case, derivative=derivative, **options)
    for more in also:
        row(op, fun, more, params, case_of(more), derivative=False)
    for bad in refused:
        refuses(op, fun, bad)


def refuses(op, fun, inputs):
    """JAX has no result for the inputs."""
    inputs = [jnp.asarray(x) for x in inputs]
    try:
        fun(*inputs)
    except (IndexError, TypeError, ValueError, ZeroDivisionError):
        return
    raise AssertionError(f"{op}: JAX takes {[x.shape for x in inputs]}")
