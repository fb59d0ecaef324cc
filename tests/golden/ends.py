"""Writes data/ends.safetensors and data/ends.json.

Rows are laid out as in primitives.py: values and derivatives of functions of one
and two numbers where a definition ends: NaN, infinities, both zeros, subnormal
and huge numbers, and the points where its pieces meet.
"""

import pathlib

import primitives as p  # First: it sets the environment that JAX reads.
from primitives import SHORT, record

import jax
import jax.numpy as jnp
import jax.scipy.special as js
import numpy as np
from jax import lax

MAGNITUDES = [1e-45, 1e-39, 1e-30, 1e-8, 0.125, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 9.0, 13.0, 20.0, 40.0, 89.0, 200.0, 1e4,
              1e10, 1e20, 3e38]
POINTS = [np.nan, np.inf, -np.inf, 0.0, -0.0] + MAGNITUDES + [-x for x in MAGNITUDES]
PAIRS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 100.0, -100.0, 1e30, -1e30]

nn = jax.nn
ONE = {
    "relu": nn.relu, "relu6": nn.relu6, "leaky_relu": lambda x: nn.leaky_relu(x, 0.01), "elu": lambda x: nn.elu(x, 1.5),
    "celu": lambda x: nn.celu(x, 1.5), "selu": nn.selu, "gelu": nn.gelu, "gelu_exact": lambda x: nn.gelu(x, approximate=False),
    "sigmoid": nn.sigmoid, "silu": nn.silu, "softplus": nn.softplus, "soft_sign": nn.soft_sign, "log_sigmoid": nn.log_sigmoid,
    "hard_tanh": nn.hard_tanh, "hard_sigmoid": nn.hard_sigmoid, "hard_silu": nn.hard_silu, "mish": nn.mish,
    "squareplus": lambda x: nn.squareplus(x, 4.0), "sparse_plus": nn.sparse_plus, "sparse_sigmoid": nn.sparse_sigmoid,
    "abs": jnp.abs, "sign": jnp.sign, "square": jnp.square, "sqrt": jnp.sqrt, "rsqrt": lax.rsqrt, "cbrt": jnp.cbrt, "exp": jnp.exp,
    "exp2": jnp.exp2, "expm1": jnp.expm1, "log": jnp.log, "log1p": jnp.log1p, "log2": jnp.log2, "log10": jnp.log10,
    "tanh": jnp.tanh, "sinh": jnp.sinh, "cosh": jnp.cosh, "arcsin": jnp.arcsin, "arccos": jnp.arccos, "arctan": jnp.arctan,
    "arcsinh": jnp.arcsinh, "arccosh": jnp.arccosh, "arctanh": jnp.arctanh, "reciprocal": jnp.reciprocal, "sinc": jnp.sinc,
    "floor": jnp.floor, "ceil": jnp.ceil, "trunc": jnp.trunc, "round": jnp.round, "nan_to_num": jnp.nan_to_num,
    "clip": lambda x: jnp.clip(x, -1.0, 1.0), "maximum": lambda x: jnp.maximum(x, 0.0), "minimum": lambda x: jnp.minimum(x, 0.0),
    "erf": js.erf, "erfc": js.erfc, "erf_inv": js.erfinv, "ndtr": js.ndtr, "log_ndtr": js.log_ndtr, "ndtri": js.ndtri,
    "logit": js.logit, "entr": js.entr, "integer_pow": lambda x: x ** 3, "inverse_cube": lambda x: x ** -3,
}
TWO = {
    "add": jnp.add, "sub": jnp.subtract, "mul": jnp.multiply, "div": jnp.divide, "maximum": jnp.maximum, "minimum": jnp.minimum,
    "fmax": jnp.fmax, "fmin": jnp.fmin, "power": jnp.power, "arctan2": jnp.arctan2, "hypot": jnp.hypot, "logaddexp": jnp.logaddexp,
    "logaddexp2": jnp.logaddexp2, "remainder": jnp.remainder, "fmod": jnp.fmod, "floor_divide": jnp.floor_divide,
    "copysign": jnp.copysign, "heaviside": jnp.heaviside, "xlogy": js.xlogy, "xlog1py": js.xlog1py, "rel_entr": js.rel_entr,
    "kl_div": js.kl_div,
}


# Rules do not depend on the type; these have another approximation for each.
WIDE = ["gelu_exact", "erf", "erfc", "erf_inv", "ndtr", "log_ndtr", "ndtri", "expm1", "log1p", "tanh", "logit"]


def points(op):
    if op == "cbrt":  # Vectorized and scalar code differ in whether subnormal numbers count as zero.
        return [x for x in POINTS if not 0 < abs(x) < 1e-38]
    if op == "arcsin":  # JAX 0.12 computes NaN for subnormal numbers.
        return [x for x in POINTS if not 0 < abs(x) < 1e-38]
    if op == "arccosh":  # Outside of its domain JAX has derivatives of some numbers.
        return [x for x in POINTS if not x < 0]
    return POINTS


def main():
    with np.errstate(all="ignore"):
        for op, fun in ONE.items():
            for dtype in ("f32", "f64") if op in WIDE else ("f32",):
                record(op, fun, [np.array(points(op)).astype(SHORT[dtype])], case="ends")
        for op, fun in TWO.items():
            # What rounding leaves of the difference of two logarithms grows with their factors.
            values = PAIRS[:-2] if op in ("rel_entr", "kl_div") else PAIRS
            x, y = (g.reshape(-1).astype(np.float32) for g in np.meshgrid(values, values, indexing="ij"))
            if op == "hypot":  # It has no derivative at the origin.
                x, y = x[(x != 0) | (y != 0)], y[(x != 0) | (y != 0)]
            record(op + "_of_two", fun, [x, y], case="ends")
    p.write(pathlib.Path(__file__).parent / "data" / "ends")


if __name__ == "__main__":
    main()
