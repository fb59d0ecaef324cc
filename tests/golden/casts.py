"""Records which element types have all numbers of which others, as ml_dtypes and NumPy convert."""

import json
import pathlib
import warnings
from fractions import Fraction

import ml_dtypes
import numpy as np

# A complex number that loses its imaginary part is what is looked for.
warnings.simplefilter("ignore")
OUT = pathlib.Path(__file__).parent / "data"
DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 bfloat16 float16 float32 float64 "
    "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn "
    "int4 uint4 int2 uint2 complex64 complex128"
).split()


def dtype(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def numbers(name):
    """All numbers of narrow types, and the edges of wide ones, as Python has them."""
    d = dtype(name)
    kind = np.dtype(name).kind if hasattr(np, name) else None
    if name == "bool":
        return [False, True]
    if kind in "iu" if kind else name.startswith(("int", "uint")):
        info = ml_dtypes.iinfo(d) if kind is None else np.iinfo(d)
        low, high = int(info.min), int(info.max)
        return sorted({low, low + 1, 0, 1, high - 1, high})
    if name.startswith("complex"):
        return [complex(x, y) for x in numbers("float32" if name == "complex64" else "float64") for y in (0.0, 1.5)]
    if d.itemsize <= 2:
        raw = np.arange(16 if name == "float4_e2m1fn" else 2 ** (8 * d.itemsize))
        with np.errstate(all="ignore"):
            values = raw.astype(f"uint{8 * d.itemsize}").view(d).astype(np.float64)
        return [float(x) for x in values if not np.isnan(x)]
    info = np.finfo(d)
    edges = [0.0, -0.0, 1.0, info.max, info.min, info.tiny, info.smallest_subnormal, 1 + info.eps, np.inf, -np.inf]
    return [float(x) for x in edges]


def has(name, number):
    """Whether a type has a number, the sign of zero included."""
    try:
        with np.errstate(all="ignore"):
            converted = np.array([number]).astype(dtype(name))[0]
    except (OverflowError, TypeError):
        return False
    if isinstance(number, complex):
        if not name.startswith("complex"):
            return False
        return complex(converted) == number
    if isinstance(number, bool):
        return float(converted) == number if not name.startswith("complex") else complex(converted) == number
    if name == "bool":
        return False
    if name.startswith("complex"):
        converted = converted.real
    if isinstance(number, int):
        back = float(converted)
        if name.startswith(("int", "uint")):
            return int(converted) == number
        return np.isfinite(back) and Fraction(back) == number
    if name.startswith(("int", "uint")):
        return False
    back = float(converted)
    return back == number and np.signbit(back) == np.signbit(number)


table = {}
for source in DTYPES:
    values = numbers(source)
    table[source] = [target for target in DTYPES if target == source or all(has(target, x) for x in values)]
(OUT / "casts.json").write_text(json.dumps(table, indent=1) + "\n")
