"""Writes data/function_options.json: options of functions that fewer programs of
JAX pass, of JAX 0.12: kept axes and dtypes of indices, an axis, modes, methods.

Rows are those of ports_arrays.py, and the operands are made by `x` as there.
"""

import json
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, random

rows = []
NAMES = {"bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint32": "u32",
         "float16": "f16", "float32": "f32", "float64": "f64"}


def x(*shape):
    """The numbers from 1, with alternating signs."""
    n = np.arange(np.prod(shape), dtype=np.float32)
    return jnp.asarray(((n + 1) * (-1) ** n).reshape(shape))


def record(case, out):
    out = np.asarray(out)
    numbers = [(int(v) if v == int(v) else float(v)) if np.isfinite(v) else str(v)
               for v in out.astype(np.float64).reshape(-1)]
    rows.append({"case": case, "dtype": NAMES[out.dtype.name], "shape": list(out.shape), "out": numbers})


def extremes():
    for name, f in {"argmax": lax.argmax, "argmin": lax.argmin}.items():
        for dtype in ("int8", "uint8", "uint32"):
            record(f"{name}_{dtype}", f(x(3, 4), 1, dtype))
    nan = jnp.where(x(3, 4) == 5.0, jnp.nan, x(3, 4)).at[2].set(jnp.nan)
    for name, f in {"nanargmax": jnp.nanargmax, "nanargmin": jnp.nanargmin}.items():
        record(f"{name}_keepdims", f(nan, axis=-1, keepdims=True))
        record(f"{name}_all", f(nan, keepdims=True))
    tied = jnp.asarray([[3, 1, 3, 2], [3, 0, 0, 5], [1, 1, 1, 5]])
    for axis in (0, 1, -2):
        for i, part in enumerate(lax.top_k(tied, 2, axis=axis)):
            record(f"top_k_{axis}_{i}", part)
    for i, part in enumerate(lax.approx_max_k(x(4, 3), 2, reduction_dimension=0)):
        record(f"approx_max_k_{i}", part)


def indices():
    a, i = x(5), jnp.asarray([-1, 0, 7, 2])
    off = {"wrap_negative_indices": False}
    record("at_get", a.at[i].get(**off))
    record("at_get_fill", a.at[i].get(mode="fill", **off))
    record("at_get_clip", a.at[i].get(mode="clip", **off))
    for name in ("set", "add", "multiply", "divide", "power", "min", "max"):
        record(f"at_{name}", getattr(a.at[i], name)(2.0, **off))
    record("at_set_clip", a.at[i].set(9.0, mode="clip", **off))
    record("at_apply", a.at[jnp.asarray([-1, 1, 1])].apply(lambda v: v + 1, **off))
    record("at_static_fill", a.at[-1].get(mode="fill", **off))
    record("at_static_clip", a.at[-1].get(mode="clip", **off))
    record("at_static_drop", a.at[-1].set(9.0, mode="drop", **off))
    record("at_range", a.at[-2:].get(**off))
    record("at_scalar", jax.jit(lambda i: a.at[i].get(**off))(-1))
    record("at_scalar_set", jax.jit(lambda i: a.at[i].set(9.0, **off))(-1))
    record("at_rows", x(3, 4).at[jnp.asarray([-1, 1]), 1:3].add(10.0, **off))
    b = x(4, 5)
    start = [jnp.asarray(-1), jnp.asarray(-3)]
    for name, allow in {"yes": True, "no": False, "first": (True, False)}.items():
        option = {"allow_negative_indices": allow}
        record(f"dynamic_slice_{name}", lax.dynamic_slice(b, start, (2, 2), **option))
        record(f"dynamic_update_slice_{name}", lax.dynamic_update_slice(b, jnp.zeros((2, 2)), start, **option))
    option, at = {"allow_negative_indices": False}, jnp.asarray(-2)
    record("dynamic_slice_in_dim", lax.dynamic_slice_in_dim(b, at, 2, 1, **option))
    record("dynamic_index_in_dim", lax.dynamic_index_in_dim(b, at, 0, **option))
    record("dynamic_update_slice_in_dim", lax.dynamic_update_slice_in_dim(b, jnp.zeros((4, 2)), at, 1, **option))
    record("dynamic_update_index_in_dim", lax.dynamic_update_index_in_dim(b, jnp.zeros(5), at, 0, **option))


def one_hot():
    hot = {"mode": "one_hot"}
    a = x(2, 3, 4)
    record("one_hot_vector", jnp.take_along_axis(x(3), jnp.asarray([0, 1, 0, 7, -1]), 0, **hot))
    record("one_hot_row", jnp.take_along_axis(a, jnp.asarray([2, 0, 5]).reshape(1, 3, 1), 1, **hot))
    record("one_hot_full", jnp.take_along_axis(a, jnp.arange(16).reshape(2, 2, 4) % 5 - 1, 1, **hot))
    record("one_hot_last", jnp.take_along_axis(a, jnp.asarray([[[3], [0], [-4]], [[1], [9], [2]]]), -1, **hot))
    record("one_hot_i32", jnp.take_along_axis(a.astype(jnp.int32), jnp.ones((2, 1, 1), int), 1, **hot))
    record("one_hot_none", jnp.take_along_axis(a, jnp.asarray([5, -1, 24]), None, **hot))


def traces():
    a = x(2, 3, 4)
    record("trace", jnp.trace(a, 1))
    record("trace_axes", jnp.trace(a, 1, axis1=1, axis2=2))
    record("trace_swapped", jnp.trace(a, 1, axis1=2, axis2=0))
    record("trace_dtype", jnp.trace(a.astype(jnp.int8), dtype=jnp.float32))
    record("trace_i8", jnp.trace(a.astype(jnp.int8) * 50, axis1=-1, axis2=-2))


def paddings():
    a = x(3, 2)
    widths = ((2, 5), (1, 3))
    for mode in ("reflect", "symmetric"):
        record(f"pad_{mode}_odd", jnp.pad(a, widths, mode=mode, reflect_type="odd"))
        record(f"pad_{mode}_odd_i32", jnp.pad(a.astype(jnp.int32), widths, mode=mode, reflect_type="odd"))
        record(f"pad_{mode}_odd_one", jnp.pad(x(1), (2, 3), mode=mode, reflect_type="odd"))
        record(f"pad_{mode}_odd_far", jnp.pad(x(4), (9, 11), mode=mode, reflect_type="odd"))
    record("pad_empty", jnp.pad(a, widths, mode="empty"))
    record("pad_empty_none", jnp.pad(x(0, 2), widths, mode="empty"))
    for mode in ("maximum", "minimum", "mean", "median"):
        record(f"pad_{mode}_sides", jnp.pad(x(5, 3), ((1, 2), (2, 1)), mode=mode, stat_length=(2, 3)))
        record(f"pad_{mode}_i32", jnp.pad(x(5).astype(jnp.int32), (1, 1), mode=mode, stat_length=(1, 4)))


def elementwise():
    a = x(2, 3)
    record("mul_i32", lax.mul(a.astype(jnp.int8) * 20, a.astype(jnp.int8) * 20, out_dtype=jnp.int32))
    record("mul_f32", lax.mul(a.astype(jnp.float16), a.astype(jnp.float16) * 0.1, out_dtype=jnp.float32))
    record("clamp", lax.clamp(-2.0, a, 2.5))
    record("clamp_crossed", lax.clamp(2.0, a, -1.0))
    record("clamp_nan", lax.clamp(-1.0, jnp.asarray([jnp.nan, 3.0]), 1.0))
    record("clamp_arrays", lax.clamp(a - 1, a * 0, a + 2))
    which = jnp.asarray([[0, 1, 2], [2, 5, -3]])
    record("select_n", lax.select_n(which, a, a * 10, a * 100))
    record("select_n_scalar", lax.select_n(jnp.asarray(1), a, a * 10, a * 100))
    record("select_n_bool", lax.select_n(a > 0, a, a * 10))
    record("select_n_one", lax.select_n(which, a))
    b = x(2, 3, 4)
    record("reshape_dimensions", lax.reshape(b, (6, 4), dimensions=(2, 0, 1)))
    record("reshape_transposed", lax.reshape(b, (24,), dimensions=(2, 1, 0)))


def samplers():
    key = random.key(7)
    a = jnp.asarray([0.05, 0.5, 1.0, 4.0, 300.0])
    how = {"method": "approximate"}
    record("gamma", random.gamma(key, a, (3, 5), **how))
    record("gamma_f16", random.gamma(key, a, (3, 5), jnp.float16, **how))
    record("loggamma", random.loggamma(key, a, (3, 5), **how))
    record("loggamma_slope", jax.grad(lambda a: random.loggamma(key, a, (3, 5), **how).sum())(a))
    record("beta", random.beta(key, a, a[::-1], (3, 5), **how))
    record("chisquare", random.chisquare(key, a, (3, 5), **how))
    record("beta_exact", random.beta(key, a, a[::-1], (3, 5)))
    lam = jnp.asarray([0.0, 0.3, 6.9, 7.0, 25.0, 1e4])
    record("poisson", random.poisson(key, lam, (20, 6), **how))
    record("poisson_rbg", random.poisson(random.key(7, impl="rbg"), lam, (2, 6), **how))
    with jax.enable_x64(True):
        record("gamma_f64", random.gamma(key, a, (3, 5), jnp.float64, **how))
        record("poisson_i64", random.poisson(key, lam.astype(jnp.float64), (5, 6), jnp.int64, **how))


def accuracies():
    """The operation with an accuracy in the lowered text, and the equation in the printed jaxpr."""
    modes = {"HIGHEST": lax.AccuracyMode.HIGHEST, "DEFAULT": lax.AccuracyMode.DEFAULT,
             "both": lax.Tolerance(atol=1e-5, ulps=1), "rtol": lax.Tolerance(rtol=0.1)}
    names = ["exp", "exp2", "expm1", "log", "log2", "log1p", "sqrt", "rsqrt", "cbrt", "sin", "cos", "tan", "tanh"]
    for name in names:
        for mode, accuracy in modes.items():
            f = lambda x: getattr(lax, name)(x, accuracy=accuracy)
            lines = jax.jit(f).lower(x(2)).as_text().splitlines()
            texts = [line.split("= ", 1)[1] for line in lines if "result_accuracy" in line]
            texts = [line.split(" %")[0] + " {" + line.split(" {", 1)[1] for line in texts]
            if mode in ("HIGHEST", "DEFAULT"):
                texts.append(str(jax.make_jaxpr(f)(x(2)).eqns[0]).split("=", 1)[1].strip().rsplit(" ", 1)[0])
            rows.append({"case": f"accuracy {name} {mode}", "texts": texts})


for part in (extremes, indices, one_hot, traces, paddings, elementwise, samplers, accuracies):
    part()
data = pathlib.Path(__file__).parent / "data"
data.mkdir(exist_ok=True)
text = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
(data / "function_options.json").write_text(f"[\n{text}\n]\n")
print(len(rows), "rows", jax.__version__)
