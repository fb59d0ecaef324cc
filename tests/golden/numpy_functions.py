"""Writes data/numpy_*.safetensors and data/numpy_*.json, a pair for each part.

Rows are laid out as in primitives.py, but of functions of `jax.numpy`,
`jax.nn`, `jax.scipy` and `jax.ops` that are made of several primitives.
Derivatives are recorded for f64 only: the rules do not look at the type. Rows of
f32 and of integers are computed without 64-bit types, as Ramie's defaults are;
places and counts are i32 in all rows.
"""

import pathlib
import sys

from numpy_rows import case_of, draw, mask_of, of, ones, p, refuses, rng_of, row, specials, zeros  # First: it sets the environment that JAX reads.
from numpy_layouts import layouts
from numpy_networks import networks, special_functions

import jax.numpy as jnp
import numpy as np


def pointwise():
    def unary(op, fun, low=-2.0, high=2.0, special=True):
        options = {"derivative": False} if op == "spacing" else {}  # JAX has no rule for it.
        for dtype in ("f64", "f32"):
            row(op, fun, [draw(rng_of(op, dtype), dtype, (2, 3), low, high)], **options)
        row(op, fun, [draw(rng_of(op, "0d"), "f64", (), low, high)], case="scalar", **options)
        row(op, fun, [np.zeros((0, 2), np.float32)], case="empty")
        if special:
            row(op, fun, [specials("f32")], case="special")

    for op in ("fabs", "rint", "sinc", "signbit", "logical_not", "isposinf", "isneginf", "isinf", "isnan",
               "isfinite", "spacing", "frexp", "modf", "positive"):
        unary(op, getattr(jnp, op))
    unary("round_2", lambda x: jnp.round(x, 2))
    unary("round_-1", lambda x: jnp.round(x, -1), -50.0, 50.0)
    unary("sinc_at_zero", lambda x: jnp.sinc(x * 0))
    unary("nan_to_num_with", lambda x: jnp.nan_to_num(x, nan=1.0, posinf=2.0, neginf=3.0))
    ints = np.array([-7, -1, 0, 1, 6], np.int32)
    for op in ("floor", "ceil", "round", "trunc", "abs", "logical_not", "sign", "bitwise_count", "rint", "fabs"):
        further = [[np.int32(-7)], [np.int8(-128)], [zeros(0, 2, dtype=np.int32)], [specials("i32")], [specials("u8")]]
        row(op + "_ints", getattr(jnp, op), [ints], also=further)
        row(op + "_ints", getattr(jnp, op), [np.array([0, 7, 200], np.uint8)])
    row("abs_ints", jnp.abs, [np.array([True, False])])

    def binary(op, fun, low=-3.0, high=3.0):
        for dtype in ("f64", "f32"):
            rng = rng_of(op, dtype)
            row(op, fun, [draw(rng, dtype, (2, 3), low, high), draw(rng, dtype, (3,), low, high)])
        row(op, fun, [draw(rng_of(op, "a"), "f64", (), low, high), draw(rng_of(op, "b"), "f64", (2,), low, high)],
            also=[[np.float32(1.25), np.float32(-0.75)]])
        row(op, fun, [np.zeros((0, 2), np.float32), np.ones((2,), np.float32)], case="empty")
        s = specials("f32")
        x, y = (g.reshape(-1) for g in np.meshgrid(s, s, indexing="ij"))
        row(op, fun, [x, y], case="special")

    for op in ("fmax", "fmin", "fmod", "logaddexp2", "heaviside", "copysign", "logical_and", "logical_or",
               "logical_xor", "remainder", "floor_divide", "divmod"):
        binary(op, getattr(jnp, op))
    binary("float_power", jnp.float_power, 0.5, 2.0)
    binary("isclose_or_nan", lambda x, y: jnp.isclose(x, y, 0.1, 0.2, equal_nan=True))
    for op in ("remainder", "floor_divide", "divmod", "fmod", "float_power", "logical_xor"):
        a, b = (g.reshape(-1) for g in np.meshgrid(ints, np.array([-3, -1, 0, 2, 5], np.int32), indexing="ij"))
        row(op + "_ints", getattr(jnp, op), [a, b])
        extremes = (g.reshape(-1) for g in np.meshgrid(*[specials("i32")] * 2, indexing="ij"))
        bytes_ = (g.reshape(-1) for g in np.meshgrid(*[specials("u8")] * 2, indexing="ij"))
        for x, y in (extremes, bytes_, (np.int32(-7), np.int32(2)), (zeros(0, 2, dtype=np.int32), ints[3:])):
            row(op + "_ints", getattr(jnp, op), [x, y], case=case_of([x, y]))
    powers = np.array([-200, -3, 0, 5, 130, 300], np.int32)
    for dtype in ("f64", "f32"):
        row("ldexp", jnp.ldexp, [draw(rng_of("ldexp", dtype), dtype, (6,)), powers // (1 if dtype == "f32" else 4)])
    further = [[np.float32(0.75), np.int32(-3)], [of(2, 3), np.array([-1, 0, 4], np.int32)], [zeros(0, 2), powers[:2]]]
    row("ldexp", jnp.ldexp, [specials("f32")[:, None], powers], case="special", also=further)


def over(op, fun, special=True, shape=(2, 3, 2), ints=True, low=-2.0, high=2.0, none=True):
    """A reduction over each of several sets of axes; of nothing, too, if `none`."""
    for axes in ((0,), (-1, 0), None):
        name = "all" if axes is None else list(axes)
        x = draw(rng_of(op, str(axes)), "f64", shape, low, high)
        row(op, lambda x: fun(x, axes), [x], {"axes": name})
    if "median_keepdims" in op:  # JAX adds an axis to a single number's.
        row(op, lambda x: fun(x, (1,)), [of(2, 4)], {"axes": [1]})
    else:
        row(op, lambda x: fun(x, None), [np.float32(-0.75)], {"axes": "all"}, "scalar")
        row(op, lambda x: fun(x, ()), [np.float32(0.75)], {"axes": []}, "scalar")
    row(op, lambda x: fun(x, (1,)), [zeros(0, 3)], {"axes": [1]}, "empty")
    if none:
        row(op, lambda x: fun(x, (0,)), [zeros(0, 3)], {"axes": [0]}, "empty")
    else:
        refuses(op, lambda x: fun(x, (0,)), [zeros(0, 3)])
    x = draw(rng_of(op, "f32"), "f32", shape, low, high)
    row(op, lambda x: fun(x, (1,)), [x], {"axes": [1]})
    if ints:
        x = draw(rng_of(op, "i32"), "i32", (3, 4))
        row(op, lambda x: fun(x, (0,)), [x], {"axes": [0]})
    if special:
        infinite = np.array([[1, np.inf, 0, 2], [-np.inf, -np.inf, 3, -np.inf], [np.nan, 0, 1, 2],
                             [np.nan, np.nan, np.nan, np.nan]], np.float32)
        row(op, lambda x: fun(x, (1,)), [infinite], {"axes": [1]}, "special")


def reductions():
    for op in ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "median", "nanmedian"):
        none = op not in ("nanmax", "nanmin", "median")
        over(op, lambda x, axes: getattr(jnp, op)(x, axis=axes), none=none)
        over(op + "_keepdims", lambda x, axes: getattr(jnp, op)(x, axis=axes, keepdims=True), special=False, ints=False, none=none)
    with_mask = {
        "sum_masked": lambda x, a, m: jnp.sum(x, a, where=m, initial=3.0),
        "prod_masked": lambda x, a, m: jnp.prod(x, a, where=m, initial=2.0),
        "max_masked": lambda x, a, m: jnp.max(x, a, where=m, initial=-1.5),
        "min_masked": lambda x, a, m: jnp.min(x, a, where=m, initial=1.5),
        "mean_masked": lambda x, a, m: jnp.mean(x, a, where=m),
        "var_masked": lambda x, a, m: jnp.var(x, a, where=m, ddof=1),
        "std_masked": lambda x, a, m: jnp.std(x, a, where=m, keepdims=True),
        "all_masked": lambda x, a, m: jnp.all(x > -1, a, where=m),
        "any_masked": lambda x, a, m: jnp.any(x > 1, a, where=m),
        "nanmean_masked": lambda x, a, m: jnp.nanmean(x, a, where=m),
        "nanmax_masked": lambda x, a, m: jnp.nanmax(x, a, where=m, initial=-1.5),
    }
    for op, fun in with_mask.items():
        over(op, lambda x, axes: fun(x, axes, mask_of(x.shape)), shape=(4, 3, 2), ints=op not in ("max_masked", "min_masked", "nanmax_masked", "sum_masked", "prod_masked"))
    over("sum_f64", lambda x, axes: jnp.sum(x, axes, dtype=jnp.float32), special=False)
    over("var_mean", lambda x, axes: jnp.var(x, axes, mean=jnp.full([1 if axes is None or d in [a % x.ndim for a in axes] else n
                                                                       for d, n in enumerate(x.shape)], 0.25, x.dtype)), special=False, ints=False)
    x = np.array([[1.5, np.nan, 2.0], [np.nan, np.nan, np.nan], [3.0, -1.0, 2.5]], np.float32)
    for op in ("nanargmax", "nanargmin", "nancumsum", "nancumprod"):
        row(op, lambda x: getattr(jnp, op)(x, axis=1), [x], case="special",
            also=[[zeros(0, 3)], [of(2, 4, dtype="i32")]], refused=[[np.float32(1)]])
        row(op, lambda x: getattr(jnp, op)(x, axis=1), [draw(rng_of(op), "f64", (2, 3))])
    for op in ("cumulative_sum", "cumulative_prod"):
        for initial in (False, True):
            fun = lambda x: getattr(jnp, op)(x, axis=1, include_initial=initial)
            name = op + ("_initial" if initial else "")
            row(name, fun, [draw(rng_of(op), "f64", (2, 3))],
                also=[[zeros(0, 3)], [zeros(2, 0)], [x], [specials("i32")[None]], [specials("i8")[None]]],
                refused=[[np.float32(1)]])
            row(name, fun, [draw(rng_of(op), "i8", (2, 3))])
            row(name, fun, [draw(rng_of(op), "bool", (2, 3))])


def quantiles():
    q = np.array([0.0, 0.3, 0.5, 0.77, 1.0])
    for method in ("linear", "lower", "higher", "midpoint", "nearest"):
        for op in ("quantile", "nanquantile"):
            name = f"{op}_{method}"
            fun = lambda x, q: getattr(jnp, op)(x, q, axis=(0, 2), method=method)
            # Half way between elements, the nearest one jumps.
            case = "ties" if method == "nearest" else "regular"
            row(name, fun, [draw(rng_of(name), "f64", (2, 3, 2)), q[1:4]], case=case)
            nothing = [[zeros(2, 3, 0), np.float32(0.5)], [zeros(2, 3, 0), np.float32([0.25, 0.5])]]
            nan = op == "nanquantile"
            row(name, fun, [draw(rng_of(name), "f64", (2, 3, 2)), q[1]],
                also=[[of(2, 3, 2), zeros(0)], [of(2, 0, 2), np.float32(0.5)], *(nothing if nan else [])], refused=[] if nan else nothing)
            with_nan = np.array([[[1, 2, np.nan, 4], [np.nan] * 4], [[5, -np.inf, 2, 1], [3, 4, np.inf, 8]]], np.float32)
            row(name, lambda x, q: getattr(jnp, op)(x, q, axis=2, method=method), [with_nan, q.astype(np.float32)],
                case="special")
    x = draw(rng_of("percentile"), "f32", (3, 4))
    with_nan = np.array([[1, np.nan, 3], [np.inf, -np.inf, 0.5]], np.float32)
    row("percentile", lambda x, q: jnp.percentile(x, q, axis=1), [x, np.array([10.0, 50.0, 95.0], np.float32)],
        also=[[x, np.float32(40)], [zeros(0, 3), np.float32([25, 75])], [with_nan, np.float32([50, 90])]],
        refused=[[zeros(2, 0), np.float32(50)]])
    row("nanpercentile", lambda x, q: jnp.nanpercentile(x, q), [x, np.float32(33.0)],
        also=[[np.float32(2.5), np.float32(33)], [of(3), zeros(0)], [with_nan, np.float32([30, 50])], [zeros(0, 3), np.float32(50)]])
    row("quantile_keepdims", lambda x, q: jnp.quantile(x, q, axis=(0, 1), keepdims=True), [x, q[1:3].astype(np.float32)],
        also=[[of(3, 2, 2), np.float32(0.4)], [zeros(2, 3, 0), np.float32([0.5])]], refused=[[zeros(0, 2), np.float32([0.5])]])
    w = draw(rng_of("weights"), "f32", (3, 4), 0.1, 2.0)
    for op in ("quantile", "nanquantile"):
        fun = lambda x, q, w: getattr(jnp, op)(x, q, axis=1, weights=w, method="inverted_cdf")
        row(op + "_weighted", fun, [x, q.astype(np.float32), w],
            also=[[x, np.float32(0.4), w], [x[:2, :3], q.astype(np.float32), w[0, :3]], [zeros(0, 3), np.float32([0.5]), zeros(0, 3)]])
        bad = x.copy()
        bad[1, 2] = np.nan
        row(op + "_weighted", fun, [bad, q.astype(np.float32), w], case="special")


def searches():
    edges = np.array([-2.0, -0.5, -0.5, 0.0, 1.0, 3.0], np.float32)
    values = np.array([[-3.0, -2.0, -0.5, -0.0], [0.5, 3.0, 4.0, 1.0]], np.float32)
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0], np.float32)
    for side in ("left", "right"):
        fun = lambda a, v: jnp.searchsorted(a, v, side=side)
        for case, a, v in (("regular", edges, values), ("special", edges, odd), ("special", np.sort(odd), odd),
                           ("empty", edges[:0], values), ("regular", edges, np.float32(0.3)),
                           ("regular", np.arange(33, dtype=np.int32), np.array([-1, 0, 31, 32, 40], np.int32))):
            row("searchsorted_" + side, fun, [a, v], case=case, derivative=False)
    for right in (False, True):
        name = "digitize_right" if right else "digitize"
        for bins in (edges, edges[::-1], edges[:1]):
            row(name, lambda x, b: jnp.digitize(x, b, right=right), [values, bins], derivative=False)
        row(name, lambda x, b: jnp.digitize(x, b, right=right), [odd, edges], case="special",
            also=[[np.float32(0.3), edges], [zeros(0, 2), edges], [np.int32(3), np.array([5, 3, -1], np.int32)]])
    x = np.array([[0, 3, 0], [1, 0, 2]], np.int32)
    row("nonzero", lambda x: jnp.nonzero(x, size=4, fill_value=-1), [x])
    row("nonzero", lambda x: jnp.nonzero(x, size=4, fill_value=-1), [x > 0])
    row("nonzero", lambda x: jnp.nonzero(x, size=4, fill_value=-1), [np.zeros((0, 2), np.float32)], case="special",
        also=[[odd], [of(2, 1, 3, dtype="bool")]], refused=[[np.int32(1)]])
    further = [[odd], [np.float32(2)], [zeros(0, 2)], [np.bool_(False)]]
    row("flatnonzero", lambda x: jnp.flatnonzero(x, size=2, fill_value=9), [x], also=further)
    row("argwhere", lambda x: jnp.argwhere(x, size=5, fill_value=7), [x], also=further)
    data = draw(rng_of("compress"), "f64", (3, 4))
    keep = np.array([True, False, True])
    row("compress", lambda c, x: jnp.compress(c, x, axis=0, size=3, fill_value=5), [keep, data],
        also=[[keep, of(5, dtype="i32")], [keep, zeros(3, 0)], [keep, odd]], refused=[[keep, np.float32(1)], [keep[:0], of(2, 2)]])
    row("compress_last", lambda c, x: jnp.compress(c, x, axis=1, size=1, fill_value=5), [keep, data],
        also=[[keep, of(2, 4)], [keep, zeros(0, 4)]], refused=[[keep, np.float32(1)], [keep[:0], of(2, 2)]])
    row("extract", lambda c, x: jnp.extract(c, x, size=min(7, x.size), fill_value=-2), [data > 0, data],
        also=[[keep, np.float32([np.nan, 1, -0.0])], [np.bool_(True), np.float32(3)], [x > 0, x], [keep[:0], zeros(0)]])
    numbers = np.array([1, 3, 1, -2, 5, 0, 3], np.int32)
    row("bincount", lambda x: jnp.bincount(x, length=4), [numbers],
        also=[[numbers[:0]], [numbers[:3].astype(np.uint8)], [specials("i32")]], refused=[[np.int32(1)]])
    row("bincount_weighted", lambda x, w: jnp.bincount(x, w, length=6), [numbers, draw(rng_of("w"), "f64", (7,))],
        also=[[numbers[:0], zeros(0)], [numbers[:5], odd], [numbers[:3], numbers[:3]]], refused=[[np.int32(1), np.float32(1)]])
    row("isin", jnp.isin, [x, np.array([0, 2, 9], np.int32)],
        also=[[np.int32(2), x], [x, np.int32(3)], [zeros(0, 2), edges], [values, edges[:0]]])
    row("isin", jnp.isin, [values, odd], case="special")


def orders():
    for dtype in ("f64", "f32", "i32", "u8"):
        x = draw(rng_of("orders", dtype), dtype, (3, 5))
        for op in ("partition", "argpartition"):
            for kth, axis in ((1, 1), (-2, 0)):
                row(op, lambda x: getattr(jnp, op)(x, kth, axis=axis), [x], {"kth": kth, "axis": axis})
        row("sort_descending", lambda x: jnp.sort(x, axis=0, descending=True), [x])
        row("argsort_descending", lambda x: jnp.argsort(x, axis=1, descending=True), [x])
    ties = np.array([[1, 2, 1, 2], [0, 0, 0, 1]], np.int32)
    row("sort_descending", lambda x: jnp.sort(x, axis=0, descending=True), [specials("f32")], case="special",
        also=[[zeros(0, 2)], [zeros(2, 0)], [of(3, 2, 2)]], refused=[[np.float32(1)]])
    for op in ("partition", "argpartition"):
        row(op, lambda x: getattr(jnp, op)(x, 1, axis=1), [of(2, 3, 2)], {"kth": 1, "axis": 1},
            also=[[zeros(0, 3)], [specials("f32")[None]]], refused=[[np.float32(1)]])
    row("argsort_descending", lambda x: jnp.argsort(x, axis=1, descending=True), [ties], case="ties",
        also=[[zeros(0, 2)], [zeros(2, 0)]], refused=[[np.float32(1)]])
    row("argsort_descending", lambda x: jnp.argsort(x, axis=0, descending=True), [specials("f32")[:, None]], case="special")
    row("lexsort", lambda a, b: jnp.lexsort((a, b), axis=1), [ties[::-1], ties],
        also=[[zeros(0, 2, dtype=np.int32)] * 2, [of(2, 3, 2, dtype="i32")] * 2, [np.int32(1)] * 2])
    row("lexsort", lambda a, b: jnp.lexsort((a, b), axis=0), [ties, ties[::-1] * 0.5])
    row("lexsort", lambda a, b: jnp.lexsort((a, b), axis=0), [specials("f32"), np.float32([0, -0.0] * 6)], case="special")
    x = np.array([3, 1, 3, 2, 1, 3], np.int32)
    f = np.array([np.nan, 1.0, -0.0, 0.0, np.nan, np.inf], np.float32)
    everything = {"return_index": True, "return_inverse": True, "return_counts": True}
    row("unique", lambda x: jnp.unique(x, size=5, fill_value=-1, **everything), [x],
        also=[[np.int32(4)], [np.float32(np.nan)], [zeros(0, 2)], [of(2, 2, 2, dtype="i32")]])
    row("unique", lambda x: jnp.unique(x, size=2, fill_value=-1, **everything), [x])
    row("unique", lambda x: jnp.unique(x, size=5, fill_value=-1, **everything), [f], case="special")
    row("unique_nan", lambda x: jnp.unique(x, size=6, fill_value=7, equal_nan=False, **everything), [f], case="special",
        also=[[np.float32(np.nan)], [zeros(0)], [f.reshape(2, 3)]])
    m = np.array([[1, 2, 1], [0, 5, 0], [1, 2, 1]], np.int32)
    row("unique_rows", lambda x: jnp.unique(x, axis=0, size=3, fill_value=9, **everything), [m],
        also=[[zeros(0, 2)], [m[0]], [np.float32([[np.nan, 1], [np.nan, 1], [0.0, 2], [-0.0, 2]])]], refused=[[np.int32(1)]])
    row("unique_columns", lambda x: jnp.unique(x, axis=1, size=2, **everything), [m],
        also=[[of(3, 2, dtype="bool")], [of(2, 3)]], refused=[[np.int32(1)], [zeros(2, 0)]])
    row("unique_flat", lambda x: jnp.unique(x, size=4, **everything), [m],
        also=[[np.int32(3)], [specials("f32")]], refused=[[zeros(0, 2)]])


def calculus():
    for dtype in ("f64", "f32"):
        x = draw(rng_of("calculus", dtype), dtype, (4, 5))
        places = np.array([0.0, 0.5, 0.75, 2.0], x.dtype)
        none, number = zeros(0, 3), np.float32(1.5)
        odd = np.array([[1, np.nan, -0.0], [np.inf, 2, 0.0], [-np.inf, 1, np.inf]], np.float32)

        def once(*more):
            """Further inputs, of f32 only."""
            return more if dtype == "f32" else ()

        row("diff", lambda x: jnp.diff(x, axis=0), [x], also=once([odd]), refused=once([number]))
        row("diff_2", lambda x: jnp.diff(x, n=2), [x], also=once([none], [zeros(2, 0)], [odd], [of(2, 2, 1)]), refused=once([number]))
        row("ediff1d", jnp.ediff1d, [x], also=once([number], [none], [odd], [of(1)]))
        row("gradient", lambda x: jnp.gradient(x, axis=0), [x], also=once([zeros(2, 0)], [odd], [of(3)]), refused=once([number], [none]))
        row("gradients", lambda x: jnp.gradient(x), [x], also=once([odd], [of(2, 3, 2)], [number]), refused=once([none], [zeros(2, 0)]))
        row("gradient_spaced", lambda x: jnp.gradient(x, 0.25, axis=1), [x], also=once([none], [odd], [of(2, 2, 2)]),
            refused=once([number], [zeros(2, 0)]))
        row("gradient_at", lambda x, h: jnp.gradient(x, h, axis=0), [x, places],
            also=once([zeros(4, 0), places], [x[:2], np.float32(0.5)], [of(3), places[:3]], [odd, places[:3]]), refused=once([number, places]))
        row("trapezoid", lambda x: jnp.trapezoid(x, axis=0), [x], also=once([zeros(2, 0)], [odd], [of(3)]), refused=once([number], [none]))
        row("trapezoid_spaced", lambda x: jnp.trapezoid(x, dx=0.5), [x], also=once([none], [odd], [of(3)]),
            refused=once([number], [zeros(2, 0)]))
        row("trapezoid_at", lambda x, at: jnp.trapezoid(x, at, axis=0), [x, places],
            also=once([zeros(4, 0), places], [zeros(0), places[:0]], [odd, places[:3]]), refused=once([number, places]))
        row("trapezoid_at", lambda x, at: jnp.trapezoid(x, at, axis=0), [x, np.cumsum(np.abs(x), 0)])
        fp = draw(rng_of("fp", dtype), dtype, (4,))
        at = np.array([[-1.0, 0.2, 0.6], [1.1, 1.9, 3.0]], x.dtype)
        points = once([np.float32(0.3), places, fp], [zeros(0, 2), places, fp], [at[0], places[:1], fp[:1]],
                      [np.float32([np.nan, np.inf, -np.inf, -0.0]), places, fp], [at[0], places, np.float32([1, np.inf, np.nan, 0])])
        row("interp", jnp.interp, [at, places, fp], also=points)
        row("interp_sides", lambda x, xp, fp: jnp.interp(x, xp, fp, left=-1.0, right=2.0), [at, places, fp], also=points)
        line = [p for p in points if p[1].size > 1]
        row("interp_line", lambda x, xp, fp: jnp.interp(x, xp, fp, left="extrapolate", right="extrapolate"), [at, places, fp], also=line)
        row("interp_period", lambda x, xp, fp: jnp.interp(x, xp, fp, period=1.7), [at, places, fp], also=points)
        row("unwrap", jnp.unwrap, [np.array([0.0, 3.0, 6.0, -1.0, 2.5, 9.0], x.dtype)],
            also=once([none], [zeros(2, 0)], [of(2, 4, low=-9, high=9)], [odd]), refused=once([number]))
    row("interp", jnp.interp, [specials("f32"), np.array([-1.0, 0.0, 0.0, 2.0], np.float32), np.array([1, 2, 3, 4], np.float32)],
        case="special")
    row("diff", lambda x: jnp.diff(x, axis=0), [np.array([True, True, False])])
    row("diff", lambda x: jnp.diff(x, axis=0), [np.array([3, 5, 1], np.int32)])
    row("diff", lambda x: jnp.diff(x, axis=0), [np.zeros((0, 2), np.float32)], case="empty")
    x = draw(rng_of("stats"), "f64", (3, 6))
    y = draw(rng_of("more"), "f64", (2, 6))
    f = np.array([1, 2, 0, 3, 1, 1], np.int32)
    w = draw(rng_of("w"), "f64", (6,), 0.2, 2.0)
    row("cov", jnp.cov, [x])
    row("cov", jnp.cov, [x[0]])
    row("cov", jnp.cov, [x.astype(np.float32)], also=[[number], [none], [zeros(2, 0)], [odd]])
    row("cov_columns", lambda x: jnp.cov(x, rowvar=False, ddof=0), [x], also=[[number], [none], [of(4)], [odd]])
    row("cov_and", jnp.cov, [x, y], also=[[of(4), of(4)], [zeros(2, 0), zeros(1, 0)], [number, number], [odd, odd[::-1]]])
    row("cov_frequencies", lambda x, f: jnp.cov(x, fweights=f), [x, f],
        also=[[of(6), f], [zeros(2, 0), f[:0]], [odd, f[:3]]], refused=[[number, np.int32(1)]])
    for ddof in (None, 0):
        row("cov_weights" + ("" if ddof is None else "_0"), lambda x, f, w: jnp.cov(x, fweights=f, aweights=w, ddof=ddof), [x, f, w],
            also=[[of(6), f, np.float32(w)], [zeros(2, 0), f[:0], zeros(0)], [odd, f[:3], np.float32(w[:3])]],
            refused=[[number, np.int32(1), number]])
    row("corrcoef", jnp.corrcoef, [x], also=[[number], [zeros(2, 0)], [odd]])
    row("corrcoef", jnp.corrcoef, [x[0]], derivative=False)
    row("average", lambda x, w: jnp.average(x, axis=1, weights=w, returned=True), [x, w],
        also=[[none, of(3)], [zeros(2, 0), zeros(0)], [odd, of(3)], [of(2, 3, 2), of(3)]], refused=[[number, number]])
    row("average", lambda x, w: jnp.average(x, axis=1, weights=w, returned=True), [x, np.abs(x)])
    row("average_all", lambda x, w: jnp.average(x, weights=w, returned=True), [x, np.abs(x)],
        also=[[number, number], [none, none], [odd, ones(3, 3)], [of(4), of(4)]])
    row("histogram", lambda x: jnp.histogram(x, 4), [x.ravel()], derivative=False,
        also=[[number], [none], [of(2, 3)], [np.float32([np.nan, 1, 2])]])
    row("histogram", lambda x: jnp.histogram(x, 4), [np.ones((3,), np.float32)])
    row("histogram", lambda x: jnp.histogram(x, 4), [np.array([1, 5, 3, 2], np.int32)])
    row("histogram_weights", lambda x, w: jnp.histogram(x, 3, range=(-1.0, 1.5), weights=w), [x[0], w], derivative=False,
        also=[[number, number], [none, none], [of(2, 3), of(2, 3)], [odd, ones(3, 3)]])
    row("histogram_density", lambda x, e: jnp.histogram(x, e, density=True), [x.astype(np.float32), np.array([-2, -1, 0.5, 1.5], np.float32)],
        also=[[np.float32(0.25), np.float32([0, 1, 2])], [none, np.float32([0, 1, 2])], [odd, np.float32([-1, 0, 1])]])


PARTS = (pointwise, reductions, quantiles, searches, orders, calculus, layouts, networks, special_functions)


def main():
    """Records the parts that are named, or all."""
    data = pathlib.Path(__file__).parent / "data"
    for part in PARTS:
        if part.__name__ in sys.argv[1:] or len(sys.argv) == 1:
            for kept in (p.tensors, p.rows, p.counts):
                kept.clear()
            part()
            p.write(data / f"numpy_{part.__name__}")


if __name__ == "__main__":
    main()
