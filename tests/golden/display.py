"""Writes data/display.json: how JAX prints arrays, as `str(x)` and `repr(x)`.

Each case has the element type, the shape, and either `values` in row-major
order (NaN and infinities as text) or `arange`, the number of elements of
0, 1, 2, ... multiplied by `times`.
"""

import json
import math
import os
import pathlib

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np

NAN, INF = math.nan, math.inf

# dtype, shape, values
VALUES = [
    ("float32", [3], [1, 2, 3]),
    ("float32", [3], [1.5, 2.25, -3]),
    ("float32", [4], [0.1, 0.2, 0.3, 1 / 3]),
    ("float32", [2, 2], [1, -2, 3.5, 1000]),
    ("float32", [2, 2, 2], [1, 2, 3, 4, 5, 6, 7, 8]),
    ("float32", [1, 1, 1, 1], [0.5]),
    ("float32", [3], [1e-5, 1, 2]),
    ("float32", [3], [1e-4, 1e-2, 0.05]),
    ("float32", [3], [9.9e-5, 1e-2, 0.05]),
    ("float32", [2], [1, 1001]),
    ("float32", [2], [1, 1000]),
    ("float32", [2], [999999, 1000]),
    ("float32", [2], [1000000, 1000]),
    ("float32", [2], [123456.789, 1000]),
    ("float32", [3], [1e20, -1e-20, 0]),
    ("float32", [3], [1e38, 1e-38, 3.4028235e38]),
    ("float32", [3], [1e-45, 1, -1]),
    ("float32", [3], [NAN, INF, -INF]),
    ("float32", [4], [NAN, 1, -INF, 2.5]),
    ("float32", [2], [INF, 1]),
    ("float32", [2], [-INF, 1]),
    ("float32", [3], [NAN, 1e10, -1]),
    ("float32", [2], [-0.0, 0.0]),
    ("float32", [3], [0, 0, 0]),
    ("float32", [5], [3.1415927, 2.7182817, 1.4142135, 0.5772157, 1.618034]),
    ("float32", [2, 3], [0.00012345678, 0.001, 0.01, 0.02, 0.1, 0.12]),
    ("float32", [16], [0.1234567 * i for i in range(16)]),
    ("float32", [2, 16], [0.1234567 * i for i in range(32)]),
    ("float32", [6], [-1.5 * 10**i for i in range(6)]),
    ("float32", [3], [16777216, 16777215, 8388608.5]),
    ("float64", [3], [0.1, 1 / 3, 2]),
    ("float64", [2], [1e100, 1e-100]),
    ("float64", [2], [12345678.9, 1e5]),
    ("float64", [2], [123456789.0, 1e6]),
    ("float64", [2], [0.1 + 0.2, 0.30000001]),
    ("float64", [2], [1e-9, 0.123456785]),
    ("float64", [2], [1e300, -1.7976931348623157e308]),
    ("float16", [3], [1, 0.1, 3.14159]),
    ("float16", [3], [65504, 1, 0.5]),
    ("float16", [2], [999, 1]),
    ("float16", [2], [1000, 1]),
    ("float16", [3], [6e-8, 1, NAN]),
    ("float16", [2], [0.0001, 0.01]),
    ("bfloat16", [3], [1, 2.5, -3]),
    ("bfloat16", [4], [0.1, 1e10, 1e-10, 123456]),
    ("bfloat16", [3], [NAN, INF, -INF]),
    ("bfloat16", [2, 2], [1, -0.5, 100, 0]),
    ("int32", [3], [1, 2, 3]),
    ("int32", [2, 3], [1, -20, 300, 4, 5, -6]),
    ("int32", [1], [-2147483648]),
    ("int8", [3], [-128, 0, 127]),
    ("uint8", [4], [0, 9, 10, 255]),
    ("int64", [2], [2**62, -1]),
    ("uint64", [2], [2**64 - 1, 0]),
    ("uint32", [2], [2**32 - 1, 7]),
    ("int16", [2], [-5, 3]),
    ("uint16", [2], [65535, 3]),
    ("bool", [3], [1, 0, 1]),
    ("bool", [2, 2], [1, 0, 0, 0]),
    ("bool", [1], [1]),
    ("bool", [1], [0]),
    ("float32", [0], []),
    ("float32", [2, 0], []),
    ("float32", [0, 3], []),
    ("int32", [0, 2, 3], []),
    ("bool", [0], []),
    ("int32", [1, 0, 1], []),
]
SCALARS = [
    ("float32", [1, -2.5, 0.1, 1 / 3, 0, 100, 1e5, 999999, 1e6, 1234567, 12345678, 1e10, 1e15,
                 1e16, 1e20, 1e-3, 1e-4, 9.9e-5, 1e-5, 1e-45, 123456.789, 3.4028235e38,
                 NAN, INF, -INF, -0.0]),
    ("float64", [1, 0.1, 1 / 3, 1e5, 1e15, 9999999999999998, 1e16, 1e17, 1e-4, 1e-5, 0.1 + 0.2]),
    ("float16", [1, 0.1, 3.14159, 999, 1000, 65504, 0.0001, 6e-8, INF]),
    ("bfloat16", [1, 0.1, 3.14159, 1e10, 1e-5, NAN]),
    ("int32", [7, -2147483648]),
    ("uint8", [255]),
    ("bool", [1, 0]),
]
# dtype, shape, times
RANGES = [
    ("int32", [1000], 1),
    ("int32", [1001], 1),
    ("float32", [1001], 1),
    ("float32", [2000], 0.25),
    ("float32", [10000], 1000),
    ("int32", [100, 100], 1),
    ("float32", [3, 400], 0.5),
    ("int32", [400, 3], 1),
    ("int32", [10, 11, 12], 1),
    ("int32", [2, 3, 4, 50], 1),
    ("bfloat16", [1024], 1),
    ("float32", [30], 1),
    ("float32", [40], 0.125),
    ("float32", [6, 6], 1.1),
    ("int32", [25], 1000),
    ("int32", [2, 2, 2, 2], 1),
    ("bool", [20], 1),
    ("float32", [7, 1], 0.1),
    ("int32", [17], 100),
    ("int32", [18], 100),
]


def plain(value):
    return value if math.isfinite(value) else str(value)


def case(x, **given):
    return {"dtype": x.dtype.name, "shape": list(x.shape), **given, "weak": x.weak_type,
            "str": str(x), "repr": repr(x)}


def main():
    cases = []
    for dtype, shape, values in VALUES:
        x = jnp.asarray(np.array(values, dtype).reshape(shape))
        cases.append(case(x, values=[plain(v) for v in values]))
    for dtype, values in SCALARS:
        for v in values:
            cases.append(case(jnp.asarray(np.array(v).astype(dtype)), values=[plain(v)]))
    for dtype, shape, times in RANGES:
        n = math.prod(shape)
        x = jnp.asarray((np.arange(n) * times).reshape(shape).astype(dtype))
        cases.append(case(x, arange=n, times=times))
    with jax.enable_x64(False):
        for v in (2.5, 3, True):
            cases.append(case(jnp.asarray(v), values=[float(v)]))
    path = pathlib.Path(__file__).parent / "data" / "display.json"
    document = {"jax": jax.__version__, "numpy": np.__version__, "cases": cases}
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    print(f"{len(cases)} cases, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
