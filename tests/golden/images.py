"""Writes data/images.safetensors and data/images.json.

Rows are laid out as in primitives.py: `resize` and `scale_and_translate` of
`jax.image`, with derivatives.
"""

import pathlib

import primitives as p  # First: it sets the environment that JAX reads.
from primitives import draw, record, rng_of

import jax
import numpy as np

METHODS = ["nearest", "linear", "lanczos3", "lanczos5", "cubic", "cubic-pytorch", "area"]
SHAPES = [((4, 5), (7, 3)), ((2, 6, 6, 1), (2, 3, 4, 1)), ((5,), (5,)), ((3,), (8,)), ((8,), (3,)), ((0, 4), (0, 6))]


def main():
    for method in METHODS:
        for antialias in (True, False):
            for dtype in ("f32", "f64", "bf16", "u8"):
                for old, new in SHAPES if dtype == "f32" else SHAPES[:1]:
                    x = draw(rng_of(method, dtype, old), dtype, old)
                    record("resize", lambda x: jax.image.resize(x, new, method, antialias=antialias), [x],
                           {"shape": new, "method": method, "antialias": antialias}, "empty" if 0 in old else "regular")
            if method == "nearest":
                continue
            for old, new, axes in [((4, 5), (6, 4), [0, 1]), ((2, 6, 3), (2, 4, 3), [1]), ((6,), (6,), [-1])]:
                rng = rng_of(method, old)
                x = draw(rng, "f32", old)
                scale = rng.uniform(0.6, 1.7, len(axes)).astype(np.float32)
                move = rng.uniform(-1, 1, len(axes)).astype(np.float32)
                # With a=-0.75 JAX needs no derivative of kernels at their edges here: draws are off them.
                record("scale_and_translate",
                       lambda x, s, t: jax.image.scale_and_translate(x, new, [a % x.ndim for a in axes], s, t, method, antialias),
                       [x, scale, move], {"shape": new, "axes": axes, "method": method, "antialias": antialias})
    for method in ("nearest", "linear", "cubic"):
        params = {"method": method, "antialias": True}
        for case, old, new in (("scalar", (), ()), ("empty", (3, 2), (0, 2))):
            x = draw(rng_of(method, old), "f32", old)
            record("resize", lambda x: jax.image.resize(x, new, method), [x], params | {"shape": new}, case)
        if method == "nearest":
            continue
        for case, old, new, axes in (("scalar", (), (), []), ("empty", (0, 4), (0, 6), [1])):
            x, scale, move = draw(rng_of(method, old), "f32", old), np.full(len(axes), 1.3, np.float32), np.full(len(axes), 0.4, np.float32)
            record("scale_and_translate", lambda x, s, t: jax.image.scale_and_translate(x, new, axes, s, t, method),
                   [x, scale, move], params | {"shape": new, "axes": axes}, case)
    # Colours beyond the numbers: an infinity next to numbers, and NaN.
    x = np.array([1, np.inf, 2, 3, np.nan, 4], np.float32)
    for method in ("nearest", "linear"):
        record("resize", lambda x: jax.image.resize(x, (3,), method, antialias=False), [x],
               {"method": method, "antialias": False, "shape": [3]}, "special")
    p.write(pathlib.Path(__file__).parent / "data" / "images")


if __name__ == "__main__":
    main()
