"""Writes data/functions.safetensors and data/functions.json.

Rows are laid out as in primitives.py, but of functions that are made of several
primitives: `jax.nn`, reductions and mathematics of `jax.numpy`. Besides the
cases there, `edge` has the points where pieces of a definition meet and where
intermediate results overflow, with derivatives.
"""

import pathlib

import primitives as p  # First: it sets the environment that JAX reads.
from primitives import FLOATS, SHORT, draw, record, rng_of, specials

import jax
import jax.numpy as jnp
import numpy as np

EDGES = [-1e4, -200.0, -89.0, -20.0, -6.0, -3.0, -1.0, -0.5, -0.0, 0.0, 1e-4, 0.5, 1.0, 3.0, 6.0, 20.0, 89.0, 200.0, 1e4]


def pointwise():
    functions = {
        "relu": jax.nn.relu, "relu6": jax.nn.relu6, "leaky_relu": lambda x: jax.nn.leaky_relu(x, 0.01),
        "elu": lambda x: jax.nn.elu(x, 1.5), "celu": lambda x: jax.nn.celu(x, 1.5), "selu": jax.nn.selu,
        "gelu": jax.nn.gelu, "gelu_exact": lambda x: jax.nn.gelu(x, approximate=False), "sigmoid": jax.nn.sigmoid,
        "silu": jax.nn.silu, "softplus": jax.nn.softplus, "soft_sign": jax.nn.soft_sign,
        "log_sigmoid": jax.nn.log_sigmoid, "hard_tanh": jax.nn.hard_tanh, "hard_sigmoid": jax.nn.hard_sigmoid,
        "hard_silu": jax.nn.hard_silu, "mish": jax.nn.mish, "squareplus": lambda x: jax.nn.squareplus(x, 4.0),
        "sparse_plus": jax.nn.sparse_plus, "sparse_sigmoid": jax.nn.sparse_sigmoid,
        "deg2rad": jnp.deg2rad, "rad2deg": jnp.rad2deg, "trunc": jnp.trunc, "reciprocal": jnp.reciprocal,
        "nan_to_num": jnp.nan_to_num,
    }
    for op, fun in functions.items():
        for dtype in FLOATS:
            record(op, fun, [draw(rng_of(op, dtype), dtype, (2, 3), -4, 4)])
            edges = [x for x in EDGES if x or op != "reciprocal"]
            record(op, fun, [np.array(edges).astype(SHORT[dtype])], case="edge")
            record(op, fun, [specials(dtype)], case="special")
    for op in ("log2", "log10"):
        for dtype in FLOATS:
            record(op, getattr(jnp, op), [draw(rng_of(op, dtype), dtype, (2, 3), 0.1, 4)])
            record(op, getattr(jnp, op), [specials(dtype)], case="special")
    for op, fun in {**functions, "log2": jnp.log2, "log10": jnp.log10}.items():
        for case, shape in (("scalar", ()), ("empty", (0, 3))):
            record(op, fun, [draw(rng_of(op, case), "f32", shape, 0.1, 4)], case=case)


def pairs():
    for op, fun in {"logaddexp": jnp.logaddexp, "hypot": jnp.hypot, "isclose": jnp.isclose}.items():
        for dtype in FLOATS:
            rng = rng_of(op, dtype)
            record(op, fun, [draw(rng, dtype, (2, 3)), draw(rng, dtype, (2, 3))])
            edges = np.array([0.0, 1.0, -3.0, 300.0, 1e4]).astype(SHORT[dtype])
            x, y = (g.reshape(-1) for g in np.meshgrid(edges, edges, indexing="ij"))
            # Both zero is left out: the derivative of a length is NaN there.
            record(op, fun, [x[1:], y[1:]], case="edge")
            s = specials(dtype)
            x, y = (g.reshape(-1) for g in np.meshgrid(s, s, indexing="ij"))
            record(op, fun, [x, y], case="special")
        for case, shape in (("scalar", ()), ("empty", (0, 3))):
            rng = rng_of(op, case)
            record(op, fun, [draw(rng, "f32", shape), draw(rng, "f32", shape)], case=case)


def over_axes():
    functions = {
        "softmax": lambda x, a: jax.nn.softmax(x, a), "log_softmax": lambda x, a: jax.nn.log_softmax(x, a),
        "logsumexp": lambda x, a: jax.nn.logsumexp(x, a), "glu": lambda x, a: jax.nn.glu(x, a),
        "standardize": lambda x, a: jax.nn.standardize(x, a), "sum": lambda x, a: jnp.sum(x, a),
        "prod": lambda x, a: jnp.prod(x, a), "mean": lambda x, a: jnp.mean(x, a), "var": lambda x, a: jnp.var(x, a),
        "std": lambda x, a: jnp.std(x, a), "max": lambda x, a: jnp.max(x, a), "min": lambda x, a: jnp.min(x, a),
        "ptp": lambda x, a: jnp.ptp(x, a), "norm": lambda x, a: jnp.linalg.norm(x, axis=a),
        "count_nonzero": lambda x, a: jnp.count_nonzero(x, a).astype(jnp.int32),
        "cumlogsumexp": lambda x, a: jax.lax.cumlogsumexp(x, a),
    }
    for op, fun in functions.items():
        for dtype in FLOATS:
            for axis in (0, 1):
                x = draw(rng_of(op, dtype, axis), dtype, (4, 6))
                record(op, lambda x: fun(x, axis), [x], {"axis": axis})
            large = np.array([[100.0, 200.0, -300.0, 200.0], [0.0, 0.0, 0.0, 1.0]]).astype(SHORT[dtype])
            record(op, lambda x: fun(x, 1), [large], {"axis": 1}, "edge")
            infinite = np.array([[1, np.inf, 0, 2], [-np.inf, -np.inf, -np.inf, -np.inf], [-np.inf, 0, 1, 2],
                                 [np.nan, 1, 2, 3]]).astype(SHORT[dtype])
            record(op, lambda x: fun(x, 1), [infinite], {"axis": 1}, "special")
        nothing = np.zeros((0, 4), np.float32)
        for axis in (1,) if op in ("max", "min", "ptp") else (1, 0):
            record(op, lambda x: fun(x, axis), [nothing], {"axis": axis}, "empty")
        if op not in ("glu", "cumlogsumexp"):
            # A 0-d array has no axis: all of none. JAX's norm takes one, or all.
            axes = None if op == "norm" else ()
            record(op, lambda x: fun(x, axes), [draw(rng_of(op, "scalar"), "f32", ())], {"axis": None}, "scalar")


def main():
    for part in (pointwise, pairs, over_axes):
        part()
    data = pathlib.Path(__file__).parent / "data"
    p.write(data / "functions")


if __name__ == "__main__":
    main()
