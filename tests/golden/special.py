"""Writes data/special.safetensors and data/special.json.

Rows are laid out as in primitives.py: special functions of one to three
operands. `wrt` lists the operands that have a derivative. `erfcinv` is that
of SciPy 1.18.1, whose derivative the tests compare with differences.
"""

import pathlib

import primitives as p  # First: it sets the environment that JAX reads.
from primitives import FLOATS, SHORT, draw, record, rng_of

import numpy as np
import scipy.special
from jax import lax


def erfcinv(x):
    """SciPy computes it in f64."""
    return scipy.special.erfcinv(np.asarray(x, np.float64)).astype(x.dtype)


# For each function, intervals for its operands, and values where it is special.
FUNCTIONS = {
    "igamma": (lax.igamma, [(0.3, 6), (0.2, 9)]),
    "igammac": (lax.igammac, [(0.3, 6), (0.2, 9)]),
    "igamma_grad_a": (lax.igamma_grad_a, [(0.3, 6), (0.2, 9)]),
    "random_gamma_grad": (lambda a, x: lax.random_gamma_grad(a, x), [(0.3, 6), (0.2, 9)]),
    "regularized_incomplete_beta": (lax.betainc, [(0.3, 5), (0.3, 5), (0.05, 0.95)]),
    "zeta": (lax.zeta, [(1.5, 6), (0.3, 5)]),
    "bessel_i0e": (lax.bessel_i0e, [(-12, 12)]),
    "bessel_i1e": (lax.bessel_i1e, [(-12, 12)]),
    "erfcinv": (erfcinv, [(0.01, 1.99)]),
}
ENDS = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1.0, 0.5, 1e-30, 40.0, 300.0]
# JAX has no derivative of these; of the incomplete gamma functions, none of second order in a.
DERIVATIVES = {
    "igamma": {"f32": [0, 1], "f64": [1]}, "igammac": {"f32": [0, 1], "f64": [1]},
    "regularized_incomplete_beta": {"f32": [2], "f64": [2]},
    "bessel_i0e": {"f32": [0], "f64": [0]}, "bessel_i1e": {"f32": [0], "f64": [0]},
}


def main():
    for op, (fun, intervals) in FUNCTIONS.items():
        for dtype in FLOATS:
            wrt = DERIVATIVES.get(op, {}).get(dtype)
            full = dtype in ("f32", "f64")
            # Their programs are long: one shape has derivatives and batches.
            for case, shape in [("regular", (3, 5)), ("scalar", ()), ("empty", (0, 3))][:3 if dtype == "f64" else 1]:
                rng = rng_of(op, dtype, case)
                operands = [draw(rng, dtype, shape, low, high) for low, high in intervals]
                record(op, fun, operands, {"wrt": wrt}, case, derivative=wrt is not None and case == "regular", wrt=wrt)
            if full and len(intervals) == 2:
                rng = rng_of(op, dtype, "ends")
                # In f32, most digits at (300, 300) are rounding of the exponent.
                ends = ENDS[:8] if op == "zeta" else ENDS if dtype == "f64" else ENDS[:9]
                grids = np.meshgrid(ends, ends, indexing="ij")
                record(op, fun, [g.reshape(-1).astype(SHORT[dtype]) for g in grids], {"wrt": wrt}, "special")
            if full and len(intervals) == 3:
                grids = np.meshgrid([np.nan, np.inf, 0.0, 1.0, 1e-40, 50.0], [np.inf, 0.0, -1.0, 2.0, 30.0],
                                    [np.nan, 0.0, 1.0, 2.0, 0.5, 1e-5], indexing="ij")
                record(op, fun, [g.reshape(-1).astype(SHORT[dtype]) for g in grids], {"wrt": wrt}, "special")
            if len(intervals) == 1:
                values = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 8.0, -8.0, 1e-9, 3e4]).astype(SHORT[dtype])
                record(op, fun, [values], {"wrt": wrt}, "special")
    # Far ends of both series.
    for dtype in ("f32", "f64"):
        a = np.array([1e-3, 0.1, 30, 100, 500, 2]).astype(SHORT[dtype])
        x = np.array([1e-3, 5, 28, 140, 480, 60]).astype(SHORT[dtype])
        for op in ("igamma", "igammac", "igamma_grad_a", "random_gamma_grad"):
            record(op, FUNCTIONS[op][0], [a, x], {"wrt": None}, "special")
        small = np.array([1e-5, 1e-15, 1e-30, 1e-35, 0.27, 0.271, 2.0, 1.0] + [1e-100, 1e-300] * (dtype == "f64"))
        record("erfcinv", erfcinv, [small.astype(SHORT[dtype])], {"wrt": None}, "special")
    p.write(pathlib.Path(__file__).parent / "data" / "special")


if __name__ == "__main__":
    main()
