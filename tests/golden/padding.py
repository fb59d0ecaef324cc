"""Writes data/padding.safetensors and data/padding.json.

Rows are laid out as in primitives.py. They have `jnp.pad` with statistics of an
array, and with ramps.
"""

import pathlib

import primitives as p  # First: it sets the environment that JAX reads.
from primitives import draw, record, rng_of

import jax.numpy as jnp
import numpy as np

SHAPES = [((5,), ((2, 3),)), ((2, 3), ((1, 0), (2, 2))), ((1, 2, 2), ((1, 1), (0, 0), (0, 3))), ((), ()), ((0, 2), ((0, 0), (1, 2)))]


def main():
    for dtype in ("f32", "f64", "i32"):
        for shape, widths in SHAPES:
            at = widths or np.zeros((0, 2), int)
            x = draw(rng_of("pad", dtype, shape), dtype, shape)
            for mode in ("maximum", "mean", "median", "minimum"):
                # JAX looks at each axis, also where nothing is added.
                if 0 in shape and mode != "mean":
                    continue
                for length in (None, 2):
                    params = {"widths": widths, "stat_length": length}
                    record(mode, lambda x: jnp.pad(x, at, mode, **({"stat_length": length} if length and shape else {})), [x], params)
            for end in (0, 3) if 0 not in shape else ():
                record("linear_ramp", lambda x: jnp.pad(x, at, "linear_ramp", end_values=end), [x], {"widths": widths, "end": end})
    p.write(pathlib.Path(__file__).parent / "data" / "padding")


if __name__ == "__main__":
    main()
