"""Prints the greatest error of elementary functions in units in the last place, beside those of XLA.

    python accuracy.py make FOLDER     # writes programs, their arguments and XLA's results
    cargo run --release -p ramie-cpu --example conformance FOLDER --results
    python accuracy.py table FOLDER    # compares both with numbers of 60 digits

Needs jax==0.12.0.1, mpmath==1.3.0, safetensors. Complex errors are those of the worse part, in units of that part
(`parts`). Arguments are random with magnitudes that are uniform in their logarithm, the ends of the range of each
function included; results that are subnormal are not compared, because XLA flushes them to zero.
"""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import ml_dtypes
import mpmath
import numpy as np
from jax import lax
from jax import scipy as jsp
from safetensors.numpy import load_file, save_file

jax.config.update("jax_enable_x64", True)
mpmath.mp.dps = 60
mp = mpmath.mp
BIG = {"f16": 11, "bf16": 88, "f32": 88, "f64": 709}
DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
SMALLEST = {"f16": -14, "bf16": -126, "f32": -126, "f64": -1022}
DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}
COMPLEX = {"c64": ("f32", np.complex64), "c128": ("f64", np.complex128)}
COUNT = 2000

# Function, exact function, whether it has complex arguments, and the range of real arguments: the smallest
# and the largest magnitude as powers of two, or `exp` for the range of the exponential, and the signs.
FUNCTIONS = {
    "exp": (lax.exp, mp.exp, True, "exp", "±"),
    "expm1": (lax.expm1, mp.expm1, True, "exp", "±"),
    "log": (lax.log, mp.log, True, "all", "+"),
    "log1p": (lax.log1p, mp.log1p, True, "all", "+"),
    "sin": (lax.sin, mp.sin, True, (-20, 20), "±"),
    "cos": (lax.cos, mp.cos, True, (-20, 20), "±"),
    "tan": (lax.tan, mp.tan, True, (-20, 20), "±"),
    "tanh": (lax.tanh, mp.tanh, True, (-20, 6), "±"),
    "logistic": (lax.logistic, lambda x: 1 / (1 + mp.exp(-x)), False, "exp", "±"),
    "sqrt": (lax.sqrt, mp.sqrt, True, "all", "+"),
    "rsqrt": (lax.rsqrt, lambda x: 1 / mp.sqrt(x), True, "all", "+"),
    "cbrt": (lax.cbrt, lambda x: mp.sign(x) * mp.cbrt(abs(x)), False, "all", "±"),
    "erf": (lax.erf, mp.erf, False, (-20, 3), "±"),
    "erfc": (lax.erfc, mp.erfc, False, (-20, 3), "±"),
    "erf_inv": (lax.erf_inv, mp.erfinv, False, (-20, 0), "±"),
    "asin": (lax.asin, mp.asin, True, (-20, 0), "±"),
    "acos": (lax.acos, mp.acos, True, (-20, 0), "±"),
    "atan": (lax.atan, mp.atan, True, (-20, 20), "±"),
    "asinh": (lax.asinh, mp.asinh, True, (-20, 60), "±"),
    "acosh": (lax.acosh, mp.acosh, True, (0, 60), "+"),
    "atanh": (lax.atanh, mp.atanh, True, (-20, 0), "±"),
    "sinh": (lax.sinh, mp.sinh, True, "exp", "±"),
    "cosh": (lax.cosh, mp.cosh, True, "exp", "±"),
    "lgamma": (lax.lgamma, lambda x: mp.log(abs(mp.gamma(x))), False, (-10, 10), "±"),
    "digamma": (lax.digamma, mp.digamma, False, (-10, 10), "±"),
    "i1e": (lax.bessel_i1e, lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), False, (-10, 8), "±"),
    "pow": (lax.pow, lambda x, y: mp.mpf(x) ** y, False, (-6, 6), "+"),
    "atan2": (lax.atan2, mp.atan2, False, (-20, 20), "±"),
    "zeta": (lax.zeta, lambda s, q: mp.zeta(s, q), False, (0, 5), "+"),
    "polygamma": (lax.polygamma, None, False, (0, 4), "+"),
}
BINARY = {"pow", "atan2", "zeta", "polygamma"}
SLOW = {"zeta", "polygamma", "erf_inv", "i1e", "digamma", "lgamma"}


def samples(rng, name, kind):
    """Returns real arguments of a function."""
    _, _, _, bounds, signs = FUNCTIONS[name]
    n = 300 if name in SLOW else COUNT
    if bounds == "exp":
        bounds = (-20, np.log2(BIG[kind]))
    elif bounds == "all":
        bounds = (SMALLEST[kind], 15 if kind == "f16" else -SMALLEST[kind])
    low, high = max(bounds[0], SMALLEST[kind]), min(bounds[1], 15 if kind == "f16" else 1e9)
    magnitude = np.exp2(rng.uniform(low, high, n))
    sign = rng.choice([-1, 1], n) if signs == "±" else 1
    return (sign * magnitude).astype(np.float64).astype(DTYPES[kind])


def make(folder):
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(20261129)
    for name, (function, _, has_complex, _, _) in FUNCTIONS.items():
        for kind in [*DTYPES, *(COMPLEX if has_complex else [])]:
            if kind in COMPLEX:
                real, dtype = COMPLEX[kind]
                args = [(samples(rng, name, real) + 1j * samples(rng, name, real)).astype(dtype)]
            else:
                args = [samples(rng, name, kind) for _ in range(2 if name in BINARY else 1)]
            if name == "polygamma":
                args[0] = rng.integers(1, 5, len(args[0])).astype(args[1].dtype)
            if name == "zeta":
                args[0] = (args[0].astype(np.float64) + 1.1).astype(args[0].dtype)
            lowered = jax.jit(function).lower(*args)
            (folder / f"{name}.{kind}.mlir").write_text(lowered.as_text())
            out = np.asarray(lowered.compile()(*args))
            raw = lambda x: np.ascontiguousarray(x).view(np.uint8)
            arrays = {f"in.{i}": raw(a) for i, a in enumerate(args)} | {"out.0": raw(out)}
            save_file(arrays, folder / f"{name}.{kind}.safetensors")


def error(exact, got, kind):
    """Returns the error of one real number in units in the last place."""
    exact = mp.mpf(exact)
    if not mp.isfinite(exact) or exact == 0:
        return 0.0
    _, exponent = mp.frexp(exact)
    if exponent - 1 < SMALLEST[kind] or exponent > -SMALLEST[kind] + (2 if kind != "f16" else 2):
        return 0.0
    if not np.isfinite(got):
        return float("inf")
    return float(abs(mp.mpf(float(got)) - exact) / mp.mpf(2) ** (exponent - DIGITS[kind]))


def exact_of(name, args):
    """Returns the exact result, or infinity at a pole."""
    try:
        if name == "polygamma":
            return mp.polygamma(int(args[0]), args[1])
        return FUNCTIONS[name][1](*args)
    except (ValueError, ZeroDivisionError):
        return mp.inf


def table(folder):
    print("| function | " + " | ".join([*DTYPES, *COMPLEX]) + " |")
    print("|---" * (1 + len(DTYPES) + len(COMPLEX)) + "|")
    for name in FUNCTIONS:
        cells = []
        for kind in [*DTYPES, *COMPLEX]:
            recorded = folder / f"{name}.{kind}.safetensors"
            if not recorded.exists():
                cells.append("")
                continue
            real, dtype = COMPLEX.get(kind, (kind, DTYPES.get(kind)))
            arrays = load_file(recorded)
            args = [arrays[f"in.{i}"].view(dtype) for i in range(2 if name in BINARY else 1)]
            ours = np.frombuffer((folder / f"{name}.{kind}.results").read_bytes(), dtype)
            worst = [0.0, 0.0]
            for row in zip(*args, ours, arrays["out.0"].view(dtype)):
                given = [mp.mpc(complex(x)) if kind in COMPLEX else mp.mpf(float(x)) for x in row[:-2]]
                exact = exact_of(name, given)
                for i, got in enumerate(row[-2:]):
                    if kind in COMPLEX:
                        e = max(error(exact.real, got.real, real), error(exact.imag, got.imag, real))
                    else:
                        e = error(exact, got, kind)
                    worst[i] = max(worst[i], e)
            cells.append(f"{worst[0]:.3g} ({worst[1]:.3g})")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    {"make": make, "table": table}[sys.argv[1]](Path(sys.argv[2]))
