"""Writes data/convolution.safetensors and data/convolution.json.

Rows are laid out as in primitives.py: `conv_general_dilated` with every kind of
layout, stride, padding, dilation and group, and the functions that are made of
it. Layouts are letters; paddings are names or pairs of numbers.
"""

import pathlib

import primitives as p  # First: it sets the environment that JAX reads.
from primitives import FLOATS, SHORT, draw, record, rng_of, specials

import jax.numpy as jnp
import numpy as np
from jax import lax

LAST = ["NHWC", "HWIO", "NHWC"]
FIRST = ["NCHW", "OIHW", "NCHW"]
LINE = ["NWC", "WIO", "NWC"]


def config(lhs, rhs, layout, strides=None, padding="VALID", lhs_dilation=None, rhs_dilation=None,
           feature_group_count=1, batch_group_count=1, case="regular"):
    ones = [1] * (len(lhs) - 2)
    return case, lhs, rhs, {
        "layout": layout, "strides": strides or ones, "padding": padding,
        "lhs_dilation": lhs_dilation or ones, "rhs_dilation": rhs_dilation or ones,
        "feature_group_count": feature_group_count, "batch_group_count": batch_group_count,
    }


CONVOLUTIONS = [
    config((2, 4, 4, 2), (3, 3, 2, 3), LAST, padding="SAME"),
    config((1, 5, 2), (3, 2, 2), LINE),
    config((2, 5, 4, 2), (2, 3, 2, 2), LAST, [2, 1]),
    config((1, 5, 6, 1), (3, 2, 1, 2), LAST, [2, 2], "SAME"),
    config((1, 4, 5, 2), (2, 2, 2, 1), LAST, [1, 2], "SAME_LOWER"),
    config((1, 4, 4, 1), (2, 3, 1, 2), LAST, None, [[1, 0], [-1, 2]]),
    config((1, 6, 1), (2, 1, 1), LINE, [3], [[-2, 1]]),
    config((1, 3, 3, 1), (2, 2, 1, 2), LAST, None, [[1, 1], [0, 2]], [2, 3]),
    config((1, 6, 5, 1), (2, 2, 1, 2), LAST, None, "SAME", None, [2, 3]),
    config((1, 3, 4, 1), (2, 2, 1, 1), LAST, [2, 1], [[2, 1], [1, 0]], [3, 2], [2, 1]),
    config((2, 4, 3, 4), (2, 2, 2, 6), LAST, feature_group_count=2),
    config((1, 4, 3, 3), (3, 1, 1, 6), LAST, [2, 1], "SAME", feature_group_count=3),
    config((4, 3, 3, 2), (2, 2, 2, 4), LAST, batch_group_count=2),
    config((6, 4, 1), (2, 1, 3), LINE, [2], [[1, 1]], [2], batch_group_count=3),
    config((2, 2, 3, 4), (3, 2, 2, 3), FIRST, padding="SAME"),
    config((2, 3, 4, 2), (2, 2, 3, 3), ["CNWH", "WIHO", "HNWC"], [2, 1], "SAME"),
    config((4, 2, 3, 3), (2, 2, 2, 2), ["HCNW", "OWHI", "WCHN"], feature_group_count=1),
    config((1, 3, 4, 3, 2), (2, 2, 2, 2, 1), ["NDHWC", "DHWIO", "NDHWC"], [1, 2, 1], "SAME"),
    config((3, 4), (4, 2), ["NC", "IO", "NC"]),
    config((0, 4, 4, 2), (3, 3, 2, 3), LAST, padding="SAME", case="empty"),
    config((2, 2, 2), (3, 2, 2), LINE, case="empty"),
    config((2, 4, 0), (3, 0, 2), LINE, case="empty"),
]


def apply_convolution(x, y, q, preferred=None):
    return lax.conv_general_dilated(
        x, y, q["strides"], q["padding"] if isinstance(q["padding"], str) else [tuple(a) for a in q["padding"]],
        q["lhs_dilation"], q["rhs_dilation"], tuple(q["layout"]), q["feature_group_count"],
        q["batch_group_count"], preferred_element_type=SHORT[preferred] if preferred else None)


def convolutions():
    op = "conv_general_dilated"
    for dtype in FLOATS + p.INTS:
        full = dtype in ("f32", "f64")
        chosen = CONVOLUTIONS if full else CONVOLUTIONS[:2] + CONVOLUTIONS[10:11] + CONVOLUTIONS[19:20]
        for index, (case, left, right, params) in enumerate(chosen):
            rng = rng_of(op, dtype, index)
            x, y = draw(rng, dtype, left), draw(rng, dtype, right)
            record(op, lambda a, b: apply_convolution(a, b, params), [x, y], params, case)
    for dtype, preferred in (("bf16", "f32"), ("f16", "f32"), ("i8", "i32"), ("f32", "f64")):
        case, left, right, params = CONVOLUTIONS[0]
        rng = rng_of(op, dtype, preferred)
        x, y = draw(rng, dtype, left), draw(rng, dtype, right)
        params = params | {"preferred_element_type": preferred}
        record(op, lambda a, b: apply_convolution(a, b, params, preferred), [x, y], params, case)
    case, left, right, params = config((1, 12, 1), (2, 1, 1), LINE, padding="SAME")
    for dtype in FLOATS:
        x = specials(dtype).reshape(left)
        y = np.array([1, 1]).astype(SHORT[dtype]).reshape(right)
        record(op, lambda a, b: apply_convolution(a, b, params), [x, y], params, "special")


def transposed():
    op = "conv_transpose"
    configs = [
        ((1, 3, 4, 2), (3, 3, 2, 2), {"strides": [2, 2], "padding": "SAME"}),
        ((1, 3, 4, 2), (3, 2, 2, 1), {"strides": [2, 1], "padding": "VALID"}),
        ((1, 3, 1), (2, 1, 2), {"strides": [3], "padding": "SAME"}),
        ((1, 3, 1), (2, 1, 2), {"strides": [3], "padding": "VALID"}),
        ((1, 3, 3, 1), (3, 2, 1, 2), {"strides": [1, 2], "padding": [[1, 2], [0, 1]]}),
        ((1, 3, 3, 1), (3, 2, 1, 2), {"strides": [1, 2], "padding": [[1, 2], [0, 1]], "use_consistent_padding": True}),
        ((1, 4, 3, 1), (2, 2, 1, 2), {"strides": [2, 2], "padding": "SAME", "rhs_dilation": [2, 3]}),
        ((1, 3, 4, 3), (3, 2, 2, 3), {"strides": [2, 2], "padding": "SAME", "transpose_kernel": True}),
        ((1, 2, 3, 2), (2, 3, 3, 2), {"strides": [2, 2], "padding": "VALID", "layout": FIRST, "transpose_kernel": True}),
        ((2, 3), (3, 2), {"strides": [], "padding": "VALID"}),
        ((0, 3, 1), (2, 1, 2), {"strides": [3], "padding": "SAME"}),
    ]
    for dtype in ("f32", "f64"):
        for index, (left, right, params) in enumerate(configs):
            rng = rng_of(op, dtype, index)
            native = dict(params)
            layout = native.pop("layout", None)
            if not isinstance(native["padding"], str):
                native["padding"] = [tuple(a) for a in native["padding"]]
            if layout and not native["transpose_kernel"]:
                native["dimension_numbers"] = tuple(layout)
            if layout:
                native["dimension_numbers"] = tuple(layout)
            fun = lambda a, b: lax.conv_transpose(a, b, **native)
            case = "empty" if 0 in left else "regular"
            record(op, fun, [draw(rng, dtype, left), draw(rng, dtype, right)], params, case)


def made_of_it():
    patches = [
        ((1, 4, 4, 2), [2, 3], {"layout": LAST, "strides": [1, 1], "padding": "VALID"}),
        ((2, 5, 2), [3], {"layout": LINE, "strides": [2], "padding": "SAME"}),
        ((2, 2, 4, 3), [2, 2], {"layout": ["NCHW", "HIWO", "CNHW"], "strides": [2, 1], "padding": [[1, 0], [0, 1]]}),
        ((0, 5, 2), [3], {"layout": LINE, "strides": [2], "padding": "SAME"}),
    ]
    for dtype in ("f32", "f64"):
        for index, (shape, window, params) in enumerate(patches):
            x = draw(rng_of("patches", dtype, index), dtype, shape)
            native = dict(params)
            native["dimension_numbers"] = tuple(native.pop("layout"))
            if not isinstance(native["padding"], str):
                native["padding"] = [tuple(a) for a in native["padding"]]
            native["window_strides"] = native.pop("strides")
            fun = lambda a: lax.conv_general_dilated_patches(a, window, **native)
            params = params | {"filter_shape": window}
            case = "empty" if 0 in shape else "regular"
            record("conv_general_dilated_patches", fun, [x], params, case)
            spec = native["dimension_numbers"][1]
            out = np.shape(fun(x))
            outs = dict(zip(native["dimension_numbers"][2], out))
            right = tuple(2 if c == "O" else outs["C"] if c == "I" else outs[c] for c in spec)
            y = draw(rng_of("local", dtype, index), dtype, right)
            fun = lambda a, b: lax.conv_general_dilated_local(a, b, filter_shape=window, **native)
            record("conv_general_dilated_local", fun, [x, y], params, case)
    for op, fun in (("convolve", jnp.convolve), ("correlate", jnp.correlate)):
        for dtype in ("f32", "f64", "bf16", "i32", "bool"):
            for mode in ("full", "same", "valid"):
                for left, right in ((5, 3), (2, 5), (4, 4), (3, 2))[:4 if dtype == "f32" else 2]:
                    rng = rng_of(op, dtype, left, right)
                    x, y = draw(rng, dtype, (left,)), draw(rng, dtype, (right,))
                    record(op, lambda a, b: fun(a, b, mode=mode), [x, y], {"mode": mode})
        values = specials("f32")
        record(op, lambda a, b: fun(a, b, mode="same"), [values, np.array([1, 1], np.float32)], {"mode": "same"}, "special")


def main():
    for part in (convolutions, transposed, made_of_it):
        part()
    p.write(pathlib.Path(__file__).parent / "data" / "convolution")


if __name__ == "__main__":
    main()
