"""Writes data/primitives.safetensors and data/primitives.json.

Every row of the index is one application of one `jax.lax` operation: its
parameters, the names of its input and output tensors and, where the operation
can be differentiated in f32 and f64, a forward derivative (tangents, jvp) and a
reverse derivative (cotangents, vjp). Entries of these lists are null where an
input or output is not of a floating dtype or no derivative is taken of it. `case` says what the inputs are:

  regular  random values inside the operation's domain
  scalar   shape []          empty   an axis of size 0
  ties     equal values, where a derivative has to choose
  special  NaN, infinities, signed zeros, extremes, overflow, division by zero;
           no derivatives are recorded

Run with JAX_ENABLE_X64=1 and JAX_PLATFORMS=cpu (set below).
"""

import os

os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"

import itertools
import pathlib
import zlib

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import recording
from jax import lax

FLOATS = ["f32", "f64", "bf16", "f16"]
SIGNED = ["i8", "i16", "i32", "i64"]
UNSIGNED = ["u8", "u16", "u32", "u64"]
INTS = SIGNED + UNSIGNED
ALL = FLOATS + INTS + ["bool"]
# Every shape and variant is recorded for these; the other dtypes have the first variant and the special values.
FULL = ["f32", "i32", "bool"]
SHORT = {
    "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "f16": np.float16,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "bool": np.bool_,
}
NAMES = {np.dtype(v): k for k, v in SHORT.items()}

tensors = {}
rows = []
counts = {}


def short(x):
    return NAMES[np.dtype(x.dtype)]


def is_differentiable(x):
    return short(x) in ("f32", "f64")


def draw(rng, dtype, shape, low=-2.0, high=2.0):
    """Random values of a dtype; bounds are for floats and clip integers."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(np.bool_)
    if dtype in FLOATS:
        return rng.uniform(low, high, shape).astype(SHORT[dtype])
    info = np.iinfo(SHORT[dtype])
    return rng.integers(max(info.min, -9), min(info.max, 10), shape).astype(SHORT[dtype])


def specials(dtype):
    if dtype == "bool":
        return np.array([False, True])
    if dtype in INTS:
        info = np.iinfo(SHORT[dtype])
        values = {info.min, info.max, 0, 1, 2, 3, info.max // 2 + 1} | ({-1} if info.min else set())
        return np.array(sorted(values), SHORT[dtype])
    info = ml_dtypes.finfo(SHORT[dtype])
    values = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.5, float(info.max), -float(info.max), float(info.smallest_normal)]
    return np.array(values).astype(SHORT[dtype])


def record(op, fun, inputs, params=None, case="regular", derivative=True, wrt=None,
           may_refuse=False):
    """Evaluates `fun(*inputs)` and stores one row; False when JAX may refuse the dtypes and does.

    Derivatives are taken of the inputs in `wrt` (default: all of a floating dtype).
    """
    params = params or {}
    inputs = [np.asarray(x) for x in inputs]
    # NumPy keeps a 0-d result as a scalar type; JAX needs arrays to take the dtype strictly.
    arrays = [jnp.asarray(x) for x in inputs]
    try:
        outputs = fun(*arrays)
    except TypeError:
        if not may_refuse:
            raise
        return False
    outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    index = counts[op] = counts.get(op, -1) + 1
    prefix = f"{op}/{index}"
    rng = np.random.default_rng(zlib.crc32(prefix.encode()))

    def put(kind, values):
        names = []
        for i, value in enumerate(values):
            if value is None:
                names.append(None)
                continue
            names.append(f"{prefix}/{kind}{i}")
            tensors[names[-1]] = np.ascontiguousarray(np.asarray(value)).reshape(np.shape(value))
        return names

    row = {"op": op, "params": params, "case": case,
           "dtype": short(arrays[0] if arrays else outputs[0]),
           "inputs": put("in", inputs), "outputs": put("out", outputs)}
    which = [i for i, x in enumerate(arrays) if is_differentiable(x) and (wrt is None or i in wrt)]
    into = [i for i, x in enumerate(outputs) if is_differentiable(x)]
    if derivative and which and into and case != "special":
        def restricted(*xs):
            full = list(arrays)
            for i, x in zip(which, xs):
                full[i] = x
            result = fun(*full)
            result = list(result) if isinstance(result, (tuple, list)) else [result]
            return [result[i] for i in into]

        primals = [arrays[i] for i in which]
        spread = lambda values, at, length: [values[at.index(i)] if i in at else None for i in range(length)]
        tangents = [jnp.asarray(draw(rng, short(x), x.shape)) for x in primals]
        _, jvp = jax.jvp(restricted, primals, tangents)
        cotangents = [jnp.asarray(draw(rng, short(outputs[i]), outputs[i].shape)) for i in into]
        vjp = jax.vjp(restricted, *primals)[1](cotangents)
        row["tangents"] = put("tan", spread(tangents, which, len(arrays)))
        row["jvp"] = put("jvp", spread(jvp, into, len(outputs)))
        row["cotangents"] = put("cot", spread(cotangents, into, len(outputs)))
        row["vjp"] = put("vjp", spread(vjp, which, len(arrays)))
    rows.append(row)
    return True


SHAPES = [("regular", (2, 3)), ("scalar", ()), ("empty", (0, 3))]


def variants(dtype, choices, short_list=1):
    """All choices for the dtypes of FULL, the first few for the others."""
    return choices if dtype in FULL else choices[:short_list]


def rng_of(*key):
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def unary(op, fun, low=-2.0, high=2.0, params=None, dtypes=ALL, derivative=True):
    for dtype in dtypes:
        for case, shape in variants(dtype, SHAPES):
            x = draw(rng_of(op, dtype, case), dtype, shape, low, high)
            if not record(op, fun, [x], params, case, derivative, may_refuse=True):
                break
        else:
            record(op, fun, [specials(dtype)], params, "special")


def binary(op, fun, low=-2.0, high=2.0, dtypes=ALL, positive_right=False, shift=False, derivative=True):
    for dtype in dtypes:
        for case, shape in variants(dtype, SHAPES):
            rng = rng_of(op, dtype, case)
            x, y = draw(rng, dtype, shape, low, high), draw(rng, dtype, shape, low, high)
            if dtype in INTS and positive_right:
                y = np.where(y == 0, np.array(3, y.dtype), y).astype(y.dtype)
            if shift:
                y = rng.integers(0, y.dtype.itemsize * 8, shape).astype(y.dtype)
            if not record(op, fun, [x, y], None, case, derivative, may_refuse=True):
                break
        else:
            s = specials(dtype)
            if dtype in FLOATS:
                s = s[[0, 1, 2, 3, 4, 5, 6, 8, 9]]
            x, y = (g.reshape(-1) for g in np.meshgrid(s, s, indexing="ij"))
            record(op, fun, [x, y], None, "special")


def elementwise():
    for op, low, high in [
        ("neg", -2, 2), ("sign", -2, 2), ("abs", -2, 2), ("exp", -2, 2), ("exp2", -2, 2), ("expm1", -2, 2),
        ("log", 0.1, 3), ("log1p", -0.9, 3), ("log2", 0.1, 3), ("sqrt", 0.1, 3), ("rsqrt", 0.1, 3), ("cbrt", 0.1, 3),
        ("sin", -4, 4), ("cos", -4, 4), ("tan", -1.2, 1.2), ("tanh", -3, 3), ("sinh", -2, 2), ("cosh", -2, 2),
        ("asin", -0.9, 0.9), ("acos", -0.9, 0.9), ("atan", -3, 3), ("asinh", -3, 3), ("acosh", 1.1, 3),
        ("atanh", -0.9, 0.9), ("logistic", -4, 4), ("erf", -2, 2), ("erf_inv", -0.9, 0.9), ("erfc", -2, 2),
        ("floor", -3, 3), ("ceil", -3, 3), ("is_finite", -2, 2), ("population_count", -2, 2), ("clz", -2, 2),
        ("square", -2, 2), ("one_minus_square", -2, 2), ("lgamma", 0.2, 4), ("digamma", 0.2, 4),
    ]:
        unary(op, getattr(lax, op), low, high)
    unary("not", lax.bitwise_not)
    for method in lax.RoundingMethod:
        unary("round", lambda x, m=method: lax.round(x, m), -3, 3, {"rounding_method": method.name})
        for dtype in FLOATS:
            halves = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5]).astype(SHORT[dtype])
            record("round", lambda x, m=method: lax.round(x, m), [halves], {"rounding_method": method.name}, "special")
    for y in (2, 3, -1, -2, 0):
        dtypes = ALL if y >= 0 else FLOATS
        unary("integer_pow", lambda x, y=y: lax.integer_pow(x, y), 0.5, 2, {"y": y}, dtypes)

    for op in ["add", "sub", "mul", "max", "min"]:
        binary(op, getattr(lax, op))
    binary("div", lax.div, 0.5, 2, positive_right=True)
    binary("rem", lax.rem, 0.5, 3, positive_right=True)
    binary("pow", lax.pow, 0.3, 2, FLOATS)
    binary("atan2", lax.atan2, dtypes=FLOATS)
    binary("nextafter", lax.nextafter, dtypes=FLOATS)
    for op in ["and", "or", "xor"]:
        binary(op, getattr(lax, "bitwise_" + op))
    for op in ["shift_left", "shift_right_logical", "shift_right_arithmetic"]:
        binary(op, getattr(lax, op), dtypes=INTS, shift=True)
    for op in ["eq", "ne", "lt", "le", "gt", "ge"]:
        binary(op, getattr(lax, op))
    for exponent in ("i32", "u8"):
        for dtype in FLOATS + INTS:
            rng = rng_of("pow", dtype, exponent)
            x = draw(rng, dtype, (2, 3), 0.5, 2)
            record("pow", lax.pow, [x, rng.integers(0, 4, (2, 3)).astype(SHORT[exponent])], may_refuse=True)

    for dtype in ("f32", "f64"):
        tied = np.array([1.0, -1.0, 0.0, 2.0]).astype(SHORT[dtype])
        other = np.array([1.0, 2.0, 0.0, 1.0]).astype(SHORT[dtype])
        record("max", lax.max, [tied, other], case="ties")
        record("min", lax.min, [tied, other], case="ties")
        record("abs", lax.abs, [tied], case="ties")
        record("sign", lax.sign, [tied], case="ties")
        # Dividing, taking powers and angles on both signs, where no derivative is infinite.
        record("div", lax.div, [other, np.array([-2.0, 4.0, -0.5, 3.0]).astype(SHORT[dtype])])
        record("integer_pow", lambda x: lax.integer_pow(x, 3), [-other], {"y": 3})
        record("atan2", lax.atan2, [np.array([1.0, -1.0, -1.0, 1.0]).astype(SHORT[dtype]),
                                    np.array([1.0, 1.0, -1.0, -1.0]).astype(SHORT[dtype])])
        record("rem", lax.rem, [np.array([5.0, -5.0, 5.0, -5.0]).astype(SHORT[dtype]),
                                np.array([3.0, 3.0, -3.0, -3.0]).astype(SHORT[dtype])])


def selecting():
    for dtype in ALL:
        for case, shape in variants(dtype, SHAPES):
            rng = rng_of("select_n", dtype, case)
            a, b, c = (draw(rng, dtype, shape) for _ in range(3))
            record("select_n", lax.select_n, [draw(rng, "bool", shape), a, b], case=case)
            record("select_n", lax.select_n, [rng.integers(0, 3, shape).astype(np.int32), a, b, c], case=case)
            record("select_n", lax.select_n, [np.bool_(True), a, b], case=case)
            if dtype != "bool":
                lo, hi = draw(rng, dtype, (), -1, 0), draw(rng, dtype, (), 0, 1)
                lo, hi = np.minimum(lo, hi), np.maximum(lo, hi)
                # JAX itself cannot differentiate scalar bounds of an array operand.
                record("clamp", lax.clamp, [lo, a, hi], case=case, wrt=None if case == "scalar" else [1])
                record("clamp", lax.clamp, [np.minimum(b, c), a, np.maximum(b, c)], case=case)
        if dtype in FLOATS:
            s = specials(dtype)
            record("clamp", lax.clamp, [np.array(-1, SHORT[dtype]), s, np.array(1, SHORT[dtype])], case="special")
            nan = np.array(np.nan, SHORT[dtype])
            record("clamp", lax.clamp, [nan, s, np.array(1, SHORT[dtype])], case="special")
    for dtype in ("f32", "f64"):
        record("clamp", lax.clamp, [np.array(-1, SHORT[dtype]), np.array([-2, -1, 0, 1, 2], SHORT[dtype]),
                                    np.array(1, SHORT[dtype])], case="ties", wrt=[1])


def converting():
    for source, target in itertools.product(ALL, ALL):
        convert = lambda x, t=SHORT[target]: lax.convert_element_type(x, t)
        params = {"new_dtype": target}
        if source == "bool":
            record("convert_element_type", convert, [np.array([False, True])], params)
        elif source in INTS:
            small = np.array([0, 1, 2, 7, 100] if source in UNSIGNED else [0, 1, -1, 7, 100, -100]).astype(SHORT[source])
            record("convert_element_type", convert, [small], params, derivative=False)
            record("convert_element_type", convert, [specials(source)], params, "special")
        else:
            low = 0.0 if target in UNSIGNED else -2.75
            values = np.array([0.0, 0.5, 1.5, 2.5, 100.25, 0.1, low]).astype(SHORT[source])
            record("convert_element_type", convert, [values], params)
            record("convert_element_type", convert, [specials(source)], params, "special")
    for width in (1, 2, 4, 8):
        same = [d for d in ALL if d != "bool" and np.dtype(SHORT[d]).itemsize == width]
        for source, target in itertools.product(same, same):
            cast = lambda x, t=SHORT[target]: lax.bitcast_convert_type(x, t)
            record("bitcast_convert_type", cast, [specials(source)], {"new_dtype": target}, "special")


def shaping():
    tuples = lambda value: tuple(map(tuples, value)) if isinstance(value, list) else value
    for dtype in ALL:
        rng = rng_of("shaping", dtype)
        new = lambda *shape: draw(rng, dtype, shape)
        seen = set()

        def on(op, inputs, case="regular", fun=None, **params):
            if dtype not in FULL and op in seen:
                return
            seen.add(op)
            fun = fun or getattr(lax, op)
            native = {key: tuples(value) for key, value in params.items()}
            record(op, lambda *xs: fun(*xs, **native), inputs, params, case)

        on("broadcast_in_dim", [new(3)], shape=[2, 3], broadcast_dimensions=[1])
        on("broadcast_in_dim", [new()], "scalar", shape=[2, 2], broadcast_dimensions=[])
        on("broadcast_in_dim", [new(2, 1)], shape=[2, 2, 3], broadcast_dimensions=[1, 2])
        on("broadcast_in_dim", [new(0, 3)], "empty", shape=[2, 0, 3], broadcast_dimensions=[1, 2])
        on("reshape", [new(2, 3)], new_sizes=[3, 2])
        on("reshape", [new(1, 1)], "scalar", new_sizes=[])
        on("reshape", [new(0, 3)], "empty", new_sizes=[3, 0, 2])
        on("transpose", [new(2, 3, 2)], permutation=[2, 0, 1])
        on("transpose", [new()], "scalar", permutation=[])
        on("transpose", [new(0, 3)], "empty", permutation=[1, 0])
        on("squeeze", [new(1, 3, 1)], dimensions=[0, 2])
        on("squeeze", [new(1, 0)], "empty", dimensions=[0])
        on("expand_dims", [new(3)], dimensions=[0, 2])
        on("expand_dims", [new()], "scalar", dimensions=[0])
        on("rev", [new(2, 3)], dimensions=[1])
        on("rev", [new(2, 3)], dimensions=[0, 1])
        on("rev", [new(0, 3)], "empty", dimensions=[0])
        concatenate = lambda *xs, dimension: lax.concatenate(xs, dimension)
        on("concatenate", [new(2, 3), new(2, 1), new(2, 2)], fun=concatenate, dimension=1)
        on("concatenate", [new(0, 3), new(2, 3)], "empty", fun=concatenate, dimension=0)
        on("concatenate", [new(2)], fun=concatenate, dimension=0)
        for case, operand, config in [
            ("regular", new(2, 3), [[1, 2, 0], [0, 1, 0]]),
            ("regular", new(2, 3), [[0, 0, 2], [1, 0, 1]]),
            ("regular", new(3, 4), [[-1, 2, 0], [1, -2, 1]]),
            ("regular", new(3, 4), [[-1, -1, 0], [0, -4, 0]]),
            ("scalar", new(), []),
            ("empty", new(0, 3), [[1, 1, 0], [0, 0, 0]]),
        ]:
            on("pad", [operand, new()], case, padding_config=config)
        on("slice", [new(4, 5)], start_indices=[1, 0], limit_indices=[4, 3], strides=None)
        on("slice", [new(5, 6)], start_indices=[0, 1], limit_indices=[5, 6], strides=[2, 3])
        on("slice", [new(0, 3)], "empty", start_indices=[0, 1], limit_indices=[0, 2], strides=None)
        on("slice", [new()], "scalar", start_indices=[], limit_indices=[], strides=None)
        dynamic_slice = lambda x, *i, **kw: lax.dynamic_slice(x, i, **kw)
        for start in ([1, 2], [7, -3], [-1, 0]):
            start = [np.int32(i) for i in start]
            on("dynamic_slice", [new(4, 5), *start], fun=dynamic_slice, slice_sizes=[2, 3], allow_negative_indices=False)
            on("dynamic_slice", [new(4, 5), *start], fun=dynamic_slice, slice_sizes=[2, 3], allow_negative_indices=True)
        update = lambda x, u, *i, **kw: lax.dynamic_update_slice(x, u, i, **kw)
        for start in ([1, 2], [7, -3], [-1, 0]):
            start = [np.int32(i) for i in start]
            on("dynamic_update_slice", [new(4, 5), new(2, 3), *start], fun=update, allow_negative_indices=False)
        on("dynamic_update_slice", [new(4), new(0), np.int32(1)], "empty", fun=update, allow_negative_indices=False)
        if dtype != "bool":
            for shape, dimension in variants(dtype, [([2, 3], 1), ([5], 0), ([2, 3], 0), ([0, 3], 1)]):
                record("iota", lambda d=SHORT[dtype], s=shape, k=dimension: lax.broadcasted_iota(d, s, k), [],
                       {"dtype": dtype, "shape": shape, "dimension": dimension}, "empty" if 0 in shape else "regular")


def indexing():
    index = lambda values: np.array(values, np.int32)
    gathers = [
        # rows along axis 0; then a window with two indexed axes; a batched axis; a 0-d index.
        ((5, 3), [[0], [4], [2], [2]], dict(offset_dims=[1], collapsed_slice_dims=[0], start_index_map=[0]), [1, 3]),
        ((5, 3), [[-1], [9], [1]], dict(offset_dims=[1], collapsed_slice_dims=[0], start_index_map=[0]), [1, 3]),
        ((4, 5, 3), [[[1, 2]], [[3, 0]], [[7, 4]]],
         dict(offset_dims=[1, 2], collapsed_slice_dims=[0], start_index_map=[0, 1]), [1, 2, 3]),
        ((2, 5, 3), [[[1], [4]], [[0], [2]]],
         dict(offset_dims=[2], collapsed_slice_dims=[1], start_index_map=[1], operand_batching_dims=[0],
              start_indices_batching_dims=[0]), [1, 1, 3]),
        ((5,), [2], dict(offset_dims=[], collapsed_slice_dims=[0], start_index_map=[0]), [1]),
    ]
    for dtype in ALL:
        rng = rng_of("gather", dtype)
        for shape, indices, numbers, sizes in variants(dtype, gathers, 2):
            for mode in ("clip", "fill"):
                numbers = {"operand_batching_dims": [], "start_indices_batching_dims": []} | numbers
                native = lax.GatherDimensionNumbers(**{k: tuple(v) for k, v in numbers.items()})
                fun = lambda x, i, n=native, s=sizes, m=mode: lax.gather(x, i, n, tuple(s), mode=m)
                params = {"dimension_numbers": numbers, "slice_sizes": sizes, "mode": mode,
                          "indices_are_sorted": False, "unique_indices": False, "fill_value": None}
                record("gather", fun, [draw(rng, dtype, shape), index(indices)], params)
        scatters = [
            ((5, 3), [[0], [4], [2]], (3, 3), dict(update_window_dims=[1], inserted_window_dims=[0], scatter_dims_to_operand_dims=[0])),
            ((5, 3), [[1], [9], [3]], (3, 3), dict(update_window_dims=[1], inserted_window_dims=[0], scatter_dims_to_operand_dims=[0])),
            ((4, 5), [[1, 2], [0, 0]], (2, 2), dict(update_window_dims=[1], inserted_window_dims=[0], scatter_dims_to_operand_dims=[0, 1])),
            ((2, 4), [[[1], [3]], [[0], [2]]], (2, 2),
             dict(update_window_dims=[], inserted_window_dims=[1], scatter_dims_to_operand_dims=[1],
                  operand_batching_dims=[0], scatter_indices_batching_dims=[0])),
        ]
        repeated = ((5, 3), [[2], [2], [0]], (3, 3), dict(update_window_dims=[1], inserted_window_dims=[0], scatter_dims_to_operand_dims=[0]))
        for op in ("scatter", "scatter_add", "scatter_mul", "scatter_min", "scatter_max"):
            cases = scatters if op in ("scatter", "scatter_mul") else scatters + [repeated]
            for shape, indices, updates, numbers in variants(dtype, cases, 2):
                unique = (shape, indices, updates, numbers) is not repeated
                numbers = {"operand_batching_dims": [], "scatter_indices_batching_dims": []} | numbers
                native = lax.ScatterDimensionNumbers(**{k: tuple(v) for k, v in numbers.items()})
                for mode in ("clip", "fill") if op in ("scatter", "scatter_add") else ("fill",):
                    fun = lambda x, i, u, n=native, o=op, m=mode, q=unique: getattr(lax, o)(x, i, u, n, mode=m, unique_indices=q)
                    params = {"dimension_numbers": numbers, "mode": mode, "indices_are_sorted": False, "unique_indices": unique}
                    record(op, fun, [draw(rng, dtype, shape), index(indices), draw(rng, dtype, updates)], params,
                           derivative=op in ("scatter", "scatter_add", "scatter_mul"),
                           may_refuse=dtype == "bool")


def contracting():
    shapes = [
        ("regular", (2, 3), (3, 4), [[[1], [0]], [[], []]]),
        ("regular", (3, 2), (4, 3), [[[0], [1]], [[], []]]),
        ("regular", (2, 2, 3), (2, 3, 2), [[[2], [1]], [[0], [0]]]),
        ("regular", (3, 2, 2), (2, 3, 2), [[[2], [0]], [[1], [2]]]),
        ("regular", (3,), (3,), [[[0], [0]], [[], []]]),
        ("regular", (2, 3), (3,), [[[1], [0]], [[], []]]),
        ("regular", (2,), (3,), [[[], []], [[], []]]),
        ("regular", (2, 3, 2), (3, 2, 4), [[[1, 2], [0, 1]], [[], []]]),
        ("regular", (2, 3, 2), (2, 3, 2), [[[2, 0], [2, 0]], [[1], [1]]]),
        ("scalar", (), (), [[[], []], [[], []]]),
        ("empty", (0, 3), (3, 2), [[[1], [0]], [[], []]]),
        ("empty", (2, 0), (0, 2), [[[1], [0]], [[], []]]),
    ]
    for dtype in FLOATS + INTS:
        preferred = [None]
        if dtype in ("bf16", "f16"):
            preferred = [None, "f32"]
        elif dtype == "i8":
            preferred = [None, "i32"]
        for case, left, right, numbers in variants(dtype, shapes, 3):
            for target in preferred:
                rng = rng_of("dot_general", dtype, left, right)
                x, y = draw(rng, dtype, left), draw(rng, dtype, right)
                native = tuple(tuple(map(tuple, pair)) for pair in numbers)
                fun = lambda a, b, n=native, t=target: lax.dot_general(a, b, n, preferred_element_type=SHORT[t] if t else None)
                record("dot_general", fun, [x, y], {"dimension_numbers": numbers, "preferred_element_type": target}, case)


def reducing():
    axes_of = [("regular", (2, 3), [0]), ("regular", (2, 3), [1]), ("regular", (2, 3, 2), [0, 2]),
               ("regular", (2, 3), [0, 1]), ("regular", (2, 3), []), ("scalar", (), []),
               ("empty", (0, 3), [0]), ("empty", (0, 3), [1])]
    reducers = {"reduce_sum": lax.reduce_sum, "reduce_max": lax.reduce_max, "reduce_min": lax.reduce_min,
                "reduce_prod": lax.reduce_prod, "reduce_and": lax.reduce_and, "reduce_or": lax.reduce_or}
    for op, reducer in reducers.items():
        for dtype in ALL:
            if (op in ("reduce_and", "reduce_or")) != (dtype == "bool"):
                if dtype != "bool" or op in ("reduce_sum", "reduce_prod"):
                    continue
            for case, shape, axes in variants(dtype, axes_of, 3):
                x = draw(rng_of(op, dtype, shape, axes), dtype, shape)
                record(op, lambda x, a=tuple(axes): reducer(x, a), [x], {"axes": axes}, case)
            if dtype in FLOATS:
                s = specials(dtype)
                record(op, lambda x: reducer(x, (0,)), [np.stack([s, np.roll(s, 5)])], {"axes": [0]}, "special")
            if dtype in ("f32", "f64"):
                tied = np.array([[1, 2, 2], [2, 0, 0]], SHORT[dtype])
                record(op, lambda x: reducer(x, (1,)), [tied], {"axes": [1]}, "ties")
    for op in ("argmax", "argmin"):
        for dtype in ALL:
            for index in ("i32", "u32", "i64") if dtype == "f32" else ("i32",):
                fun = lambda x, a, i=index: getattr(lax, op)(x, a, SHORT[i])
                for shape, axis in variants(dtype, [((2, 3), 0), ((2, 3), 1), ((5,), 0)]):
                    x = draw(rng_of(op, dtype, shape, axis), dtype, shape)
                    record(op, lambda x: fun(x, axis), [x], {"axes": [axis], "index_dtype": index})
            record(op, lambda x: fun(x, 0), [draw(rng_of(op, dtype), dtype, (2, 0))],
                   {"axes": [0], "index_dtype": index}, "empty")
            record(op, lambda x: fun(x, 0), [np.array([1, 0, 1, 0], SHORT[dtype])], {"axes": [0], "index_dtype": index}, "ties")
            if dtype in FLOATS:
                s = specials(dtype)
                record(op, lambda x: fun(x, 0), [np.stack([s, np.roll(s, 5)])], {"axes": [0], "index_dtype": index}, "special")
    for op in ("cumsum", "cummax", "cummin", "cumprod"):
        for dtype in FLOATS + INTS:
            for case, shape, axis in variants(dtype, [("regular", (3, 4), 1), ("regular", (3, 4), 0), ("regular", (5,), 0), ("empty", (0, 3), 0)]):
                for reverse in (False, True):
                    x = draw(rng_of(op, dtype, shape, axis), dtype, shape, 0.5, 2)
                    record(op, lambda x, o=op, a=axis, r=reverse: getattr(lax, o)(x, a, r), [x],
                           {"axis": axis, "reverse": reverse}, case)


def sorting():
    for dtype in ALL:
        for case, shape, dimension in variants(dtype, [("regular", (3, 4), 1), ("regular", (6,), 0), ("regular", (3, 4), 0), ("empty", (0, 3), 0)]):
            rng = rng_of("sort", dtype, shape, dimension)
            key, payload = draw(rng, dtype, shape), np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
            params = {"dimension": dimension, "is_stable": True, "num_keys": 1}
            record("sort", lambda x, d=dimension: lax.sort(x, dimension=d), [key], params, case)
            record("sort", lambda x, p, d=dimension: lax.sort((x, p), dimension=d, num_keys=1), [key, payload], params, case)
        second = draw(rng, dtype, (6,))
        record("sort", lambda x, y: lax.sort((x, y), num_keys=2), [np.array([1, 0, 1, 0, 1, 0], SHORT[dtype]), second],
               {"dimension": 0, "is_stable": True, "num_keys": 2}, derivative=False)
        record("sort", lambda x, y: lax.sort((x, y), num_keys=1),
               [np.array([1, 0, 1, 0, 1, 0], SHORT[dtype]), np.arange(6, dtype=np.int32)],
               {"dimension": 0, "is_stable": True, "num_keys": 1}, "special")
        if dtype in FLOATS:
            s = specials(dtype)
            record("sort", lambda x, y: lax.sort((x, y), num_keys=1), [s, np.arange(len(s), dtype=np.int32)],
                   {"dimension": 0, "is_stable": True, "num_keys": 1}, "special")
        if dtype == "bool":
            continue
        for shape, k in variants(dtype, [((2, 5), 2), ((6,), 3), ((2, 5), 5), ((2, 5), 0)]):
            x = draw(rng_of("top_k", dtype, shape), dtype, shape)
            record("top_k", lambda x, k=k: lax.top_k(x, k), [x], {"k": k, "axis": -1}, "empty" if k == 0 else "regular",
                   derivative=k > 0)
        record("top_k", lambda x: lax.top_k(x, 3), [np.array([1, 2, 2, 1, 2], SHORT[dtype])], {"k": 3, "axis": -1}, "special")
        if dtype in FLOATS:
            record("top_k", lambda x: lax.top_k(x, 6), [specials(dtype)], {"k": 6, "axis": -1}, "special")


def other_shapes():
    """The operations at shapes that their families' rows leave out: empty, 0-d, of other sizes."""
    new = lambda op, *shape: draw(rng_of("other_shapes", op, shape), "f32", shape)
    index = lambda *shape: np.zeros(shape, np.int32)

    def on(op, shapes, fun=None, *more, **params):
        native = {key: tuple(value) if isinstance(value, list) else value for key, value in params.items()}
        apply = fun or getattr(lax, op)
        for shape in shapes:
            case = "empty" if 0 in shape else "regular" if shape else "scalar"
            record(op, lambda *xs: apply(*xs, **native), [new(op, *shape), *more], params, case)

    for source, target in (("f32", "i32"), ("i32", "f32"), ("f32", "bf16"), ("bool", "f32")):
        for case, shape in SHAPES[1:]:
            x = draw(rng_of("convert", source, target), source, shape)
            record("convert_element_type", lambda x: lax.convert_element_type(x, SHORT[target]), [x], {"new_dtype": target}, case)
    for case, shape in SHAPES:
        x = draw(rng_of("bitcast", case), "f32", shape)
        record("bitcast_convert_type", lambda x: lax.bitcast_convert_type(x, np.int32), [x], {"new_dtype": "i32"}, case)
    on("reshape", [()], new_sizes=[1, 1])
    on("squeeze", [()], dimensions=[])
    on("squeeze", [(2, 1)], dimensions=[1])
    on("expand_dims", [(0, 2)], dimensions=[1])
    on("rev", [()], dimensions=[])
    on("rev", [(4,)], dimensions=[0])
    dynamic_slice = lambda x, *i, **kw: lax.dynamic_slice(x, i, **kw)
    update = lambda x, u, *i, **kw: lax.dynamic_update_slice(x, u, i, **kw)
    wrap = {"allow_negative_indices": False}
    on("dynamic_slice", [()], dynamic_slice, slice_sizes=[], **wrap)
    on("dynamic_slice", [(0, 3)], dynamic_slice, np.int32(0), np.int32(2), slice_sizes=[0, 2], **wrap)
    on("dynamic_slice", [(4,)], dynamic_slice, np.int32(-2), slice_sizes=[2], **wrap)
    on("dynamic_update_slice", [()], update, new("update"), **wrap)
    on("dynamic_update_slice", [(0, 3)], update, new("update", 0, 2), np.int32(0), np.int32(1), **wrap)
    indexed = {"operand_batching_dims": [], "start_indices_batching_dims": []}
    rows = {"offset_dims": [1], "collapsed_slice_dims": [0], "start_index_map": [0]} | indexed
    none = {"offset_dims": [], "collapsed_slice_dims": [], "start_index_map": []} | indexed
    for shape, where, numbers, sizes in [((), (0,), none, []), ((), (3, 0), none, []), ((5, 3), (0, 1), rows, [1, 3]),
                                         ((4, 0), (2, 1), rows, [1, 0])]:
        for mode in ("clip", "fill"):
            native = lax.GatherDimensionNumbers(**{k: tuple(v) for k, v in numbers.items()})
            params = {"dimension_numbers": numbers, "slice_sizes": sizes, "mode": mode,
                      "indices_are_sorted": False, "unique_indices": False, "fill_value": None}
            record("gather", lambda x, i: lax.gather(x, i, native, tuple(sizes), mode=mode),
                   [new("gather", *shape), index(*where)], params, "empty" if shape else "scalar",
                   derivative=where != (3, 0))  # XLA fails to add several updates to a 0-d array.
    indexed = {"operand_batching_dims": [], "scatter_indices_batching_dims": []}
    rows = {"update_window_dims": [1], "inserted_window_dims": [0], "scatter_dims_to_operand_dims": [0]} | indexed
    none = {"update_window_dims": [], "inserted_window_dims": [], "scatter_dims_to_operand_dims": []} | indexed
    for op in ("scatter", "scatter_add", "scatter_mul", "scatter_min", "scatter_max"):
        for shape, where, updates, numbers in [((), (0,), (), none), ((5, 3), (0, 1), (0, 3), rows), ((4, 0), (2, 1), (2, 0), rows)]:
            native = lax.ScatterDimensionNumbers(**{k: tuple(v) for k, v in numbers.items()})
            params = {"dimension_numbers": numbers, "mode": "clip", "indices_are_sorted": False, "unique_indices": True}
            record(op, lambda x, i, u: getattr(lax, op)(x, i, u, native, mode="clip", unique_indices=True),
                   [new(op, *shape), index(*where), new("updates", *updates)], params, "empty" if shape else "scalar",
                   derivative=op in ("scatter", "scatter_add", "scatter_mul"))
    top_k = lambda x, k, axis: lax.top_k(x, k, axis=axis)
    on("top_k", [(0, 5)], top_k, k=2, axis=-1)
    on("top_k", [(2, 0)], top_k, k=0, axis=-1)


def more_specials():
    """Values that are not finite, and sums and products that overflow, where a family has finite ones only."""
    for dtype in FLOATS + ["i8", "i32", "u32"]:
        s = specials(dtype)
        x = np.stack([s, np.roll(s, 5)])
        for op in ("cumsum", "cumprod", "cummax", "cummin"):
            record(op, lambda x: getattr(lax, op)(x, 0), [x], {"axis": 0, "reverse": False}, "special")
        if dtype in INTS:
            for op in ("reduce_sum", "reduce_prod"):
                record(op, lambda x: getattr(lax, op)(x, (0,)), [x], {"axes": [0]}, "special")
        numbers = [[[0], [0]], [[1], [1]]]
        native = tuple(tuple(map(tuple, pair)) for pair in numbers)
        # The compiler chooses the sign of a sum of zeros, which `special` rows would compare.
        record("dot_general", lambda a, b: lax.dot_general(a, b, native), [x, x[::-1].copy()],
               {"dimension_numbers": numbers, "preferred_element_type": None}, "edge", derivative=False)


def write(path):
    """Writes the recorded rows: tensors to `path`.safetensors, the index to `path`.json."""
    recording.write(path, rows, tensors)


def main():
    for part in (elementwise, selecting, converting, shaping, indexing, contracting, reducing, sorting,
                 other_shapes, more_specials):
        before = len(rows)
        part()
        print(f"{part.__name__}: {len(rows) - before} rows")
    write(pathlib.Path(__file__).parent / "data" / "primitives")
    print({op: n + 1 for op, n in counts.items()})


if __name__ == "__main__":
    main()
