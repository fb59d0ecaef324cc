"""Writes data/windows.safetensors and data/windows.json.

Rows are laid out as in primitives.py: reductions of windows, what their
derivatives are made of, general reductions, and pooling. `computation` names
the program of a general reduction:

  product   a * b                   magnitude  max(|a|, |b|)
  pair      (a0 + b0, a1 * b1)      logsum     logaddexp(a, b)
"""

import pathlib

import primitives as p  # First: it sets the environment that JAX reads.
from primitives import ALL, FLOATS, INTS, SHORT, draw, record, rng_of, specials

import flax.linen as nn
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.lax import windowed_reductions as windowed


def config(shape, dimensions, strides=None, padding="VALID", base=None, window=None, case="regular"):
    ones = [1] * len(shape)
    return case, shape, {"dimensions": dimensions, "strides": strides or ones, "padding": padding,
                         "base_dilation": base or ones, "window_dilation": window or ones}


WINDOWS = [
    config((2, 4, 4, 1), [1, 2, 2, 1], [1, 2, 2, 1]),
    config((5,), [3]),
    config((2, 5, 4), [1, 3, 2], [1, 2, 2], "SAME"),
    config((4, 5), [2, 2], [1, 2], "SAME_LOWER"),
    config((3, 4), [2, 3], [2, 1], [[1, 0], [2, 1]]),
    config((5, 3), [2, 1], None, [[-1, 0], [0, -1]]),
    config((3, 3), [2, 2], [1, 2], [[0, 1], [1, 0]], [2, 3]),
    config((2, 3, 3, 2, 2), [1, 2, 2, 1, 1], [1, 1, 2, 1, 1], "SAME"),
    config((), [], case="scalar"),
    config((0, 3), [1, 2], case="empty"),
    config((2,), [3], case="empty"),
]
DILATED = [
    config((6, 5), [2, 2], [1, 2], "SAME", None, [2, 3]),
    config((4, 4), [2, 2], [2, 1], [[1, 2], [0, 1]], [2, 1], [1, 2]),
]


def pads(q):
    return q["padding"] if isinstance(q["padding"], str) else [tuple(a) for a in q["padding"]]


def reduce_by(x, init, computation, q):
    return lax.reduce_window(x, init, computation, tuple(q["dimensions"]), tuple(q["strides"]), pads(q),
                             tuple(q["base_dilation"]), tuple(q["window_dilation"]))


def explicit(x, q):
    """The window's padding in numbers."""
    padding = q["padding"]
    if isinstance(padding, str):
        window = [d * (n - 1) + 1 for n, d in zip(q["dimensions"], q["window_dilation"])]
        padding = lax.padtype_to_pads(x.shape, window, q["strides"], padding)
    return tuple(map(tuple, padding))


def identity(op, dtype):
    if op == "sum":
        return np.array(0, SHORT[dtype])
    if dtype == "bool":
        return np.array(op == "min")
    if dtype in INTS:
        info = np.iinfo(SHORT[dtype])
        return np.array(info.max if op == "min" else info.min, SHORT[dtype])
    return np.array(np.inf if op == "min" else -np.inf).astype(SHORT[dtype])


def windows():
    for op, computation in (("sum", lax.add), ("max", lax.max), ("min", lax.min)):
        name = f"reduce_window_{op}"
        for dtype in ALL:
            if dtype == "bool" and op == "sum":
                continue
            full = dtype in ("f32", "f64")
            chosen = WINDOWS + DILATED if full else WINDOWS[:1]
            for index, (case, shape, params) in enumerate(chosen):
                x = draw(rng_of(name, dtype, index), dtype, shape)
                fun = lambda x: reduce_by(x, identity(op, dtype), computation, params)
                # JAX has no reverse derivative of a choice in these; a 0-d one crashes XLA.
                refused = op != "sum" and (index >= len(WINDOWS) or index in (5, 8))
                record(name, fun, [x], params, case, derivative=not refused)
            if dtype in FLOATS:
                case, shape, params = config((12,), [2], padding="SAME")
                record(name, lambda x: reduce_by(x, identity(op, dtype), computation, params), [specials(dtype)],
                       params, "special")
            if full and op != "sum":
                tied = np.array([[1, 2, 2, 1], [2, 0, 0, 1], [2, 2, 2, 2]], SHORT[dtype])
                case, shape, params = config((3, 4), [2, 2])
                record(name, lambda x: reduce_by(x, identity(op, dtype), computation, params), [tied], params, "ties")


def selecting():
    for name, prim in (("ge", lax.ge_p), ("le", lax.le_p)):
        for dtype in FLOATS + INTS:
            some = WINDOWS[:3] + WINDOWS[9:10] if name == "ge" else WINDOWS[:1]
            chosen = {"f64": WINDOWS, "f32": some}.get(dtype, some[:1])
            for index, (case, shape, params) in enumerate(chosen):
                # A 0-d window crashes XLA.
                if case == "scalar" or any(d != 1 for d in params["base_dilation"]):
                    continue
                rng = rng_of("select", name, dtype, index)
                x = draw(rng, dtype, shape)
                window = dict(window_dimensions=tuple(params["dimensions"]), window_strides=tuple(params["strides"]),
                              padding=explicit(x, params))
                if any(lo < 0 or hi < 0 for lo, hi in window["padding"]):
                    continue
                params = params | {"select": name}
                out = windowed.reduce_window_shape_tuple(shape, *window.values())
                source = draw(rng, dtype, out)
                fun = lambda s, x: windowed._select_and_scatter_add(s, x, prim, **window)
                record("select_and_scatter_add", fun, [source, x], params, case, wrt=[0])
                ones = (1,) * len(shape)
                fun = lambda t, x: windowed._select_and_gather_add(
                    t, x, prim, base_dilation=ones, window_dilation=ones, **window)
                if dtype in FLOATS:
                    tangents = draw(rng, dtype, shape)
                    record("select_and_gather_add", fun, [tangents, x], params, case, wrt=[0])


def magnitude(a, b):
    return lax.max(lax.abs(a), lax.abs(b))


def general():
    for dtype in FLOATS + INTS:
        full = dtype in ("f32", "f64")
        signed = dtype not in p.UNSIGNED
        chosen = WINDOWS[:8] + WINDOWS[9:] + DILATED if full else WINDOWS[:1]
        for index, (case, shape, params) in enumerate(chosen):
            x = draw(rng_of("reduce_window", dtype, index), dtype, shape)
            one = np.array(1, SHORT[dtype])
            # JAX has no reverse derivative of it.
            record("reduce_window", lambda x: reduce_by(x, one, lax.mul, params), [x],
                   params | {"computation": "product", "init": [1]}, case, derivative=False)
            if full and index < 3:
                pair = lambda a, b: (a[0] + b[0], a[1] * b[1])
                y = draw(rng_of("pair", dtype, index), dtype, shape)
                record("reduce_window", lambda x, y: reduce_by((x, y), (one * 0, one), pair, params), [x, y],
                       params | {"computation": "pair", "init": [0, 1]}, case, derivative=False)
            if signed and index == 0:
                record("reduce_window", lambda x: reduce_by(x, one * 0, magnitude, params), [x],
                       params | {"computation": "magnitude", "init": [0]}, case, derivative=False)
        axes_of = [("regular", (2, 3), [0]), ("regular", (2, 5), [1]), ("regular", (2, 3, 2), [0, 2]),
                   ("regular", (2, 3), [0, 1]), ("regular", (2, 3), []), ("scalar", (), []),
                   ("empty", (0, 3), [0]), ("empty", (0, 3), [1])]
        if dtype == "f32":
            case, shape, params = WINDOWS[8]
            record("reduce_window", lambda x: reduce_by(x, np.float32(1), lax.mul, params), [np.float32(-2.5)],
                   params | {"computation": "product", "init": [1]}, case, derivative=False)
        for case, shape, axes in axes_of if full else axes_of[1:2]:
            rng = rng_of("reduce", dtype, shape, axes)
            x, y = draw(rng, dtype, shape), draw(rng, dtype, shape)
            pair = lambda a, b: (a[0] + b[0], a[1] * b[1])
            zero, one = np.array(0, SHORT[dtype]), np.array(1, SHORT[dtype])
            record("reduce", lambda x, y: lax.reduce((x, y), (zero, one), pair, tuple(axes)), [x, y],
                   {"axes": axes, "computation": "pair", "init": [0, 1]}, case)
            # The start is no identity of one element, which JAX's derivative takes it for.
            if signed and axes:
                record("reduce", lambda x: lax.reduce(x, zero, magnitude, tuple(axes)), [x],
                       {"axes": axes, "computation": "magnitude", "init": [0]}, case)


def pooling():
    configs = [
        ((2, 4, 4, 2), [2, 2], [2, 2], "VALID"),
        ((2, 5, 4, 1), [3, 2], [2, 1], "SAME"),
        ((1, 4, 5, 1), [2, 3], [1, 2], [[1, 0], [1, 1]]),
        ((5, 2), [2], [2], "SAME"),
        ((2, 1, 5, 2), [3], [1], "SAME"),
        ((0, 4, 2), [2], [1], "VALID"),
    ]
    for dtype in ("f32", "f64", "bf16"):
        chosen = {"f64": configs, "f32": configs[1:4]}.get(dtype, configs[:1])
        for index, (shape, window, strides, padding) in enumerate(chosen):
            x = draw(rng_of("pool", dtype, index), dtype, shape)
            params = {"window_shape": window, "strides": strides, "padding": padding}
            args = tuple(window), tuple(strides), pads(params)
            case = "empty" if 0 in shape else "regular"
            record("max_pool", lambda x: nn.max_pool(x, *args), [x], params, case)
            record("min_pool", lambda x: nn.pooling.min_pool(x, *args), [x], params, case)
            for counted in (True, False):
                # Flax counts in its default type, to which it promotes the result.
                fun = lambda x: nn.avg_pool(x, *args, count_include_pad=counted).astype(x.dtype)
                record("avg_pool", fun, [x], params | {"count_include_pad": counted}, case)
            fun = lambda x: nn.pooling.pool(x, np.array(1, SHORT[dtype]), lax.mul, *args)
            record("pool", fun, [x], params, case, derivative=False)


def main():
    for part in (windows, selecting, general, pooling):
        part()
    p.write(pathlib.Path(__file__).parent / "data" / "windows")


if __name__ == "__main__":
    main()
