"""Writes data/ports_arrays.json: options of functions that most programs of
JAX pass: an inferred size, an order, a mode, a dtype, an axis.

Every row: the name of the `case`, and the `dtype`, `shape` and elements `out`
of its result, with the words nan and inf. The operands are made by `x`.
"""

import json
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

rows = []
NAMES = {"bool": "bool", "int32": "i32", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int8": "i8",
         "uint8": "u8"}


def x(*shape):
    """The numbers from 1, with alternating signs."""
    n = np.arange(np.prod(shape), dtype=np.float32)
    return jnp.asarray(((n + 1) * (-1) ** n).reshape(shape))


def record(case, out):
    out = np.asarray(out)
    dtype = NAMES[out.dtype.name]
    numbers = [(int(v) if v == int(v) else float(v)) if np.isfinite(v) else str(v)
               for v in out.astype(np.float64).reshape(-1)]
    rows.append({"case": case, "dtype": dtype, "shape": list(out.shape), "out": numbers})


def shapes():
    record("reshape_2_-1", x(3, 4).reshape(2, -1))
    record("reshape_-1", x(3, 4).reshape(-1))
    record("reshape_-1_empty", x(0, 4).reshape(-1, 2))
    record("reshape_0_4_of_empty", x(0, 4).reshape(4, -1))
    record("reshape_scalar", x().reshape(-1))
    record("reshape_to_scalar", x(1, 1).reshape(()))
    record("reshape_F", jnp.reshape(x(2, 3, 4), (4, -1), order="F"))
    record("reshape_F_vector", jnp.reshape(x(6), (2, 3), order="F"))
    record("reshape_F_empty", jnp.reshape(x(2, 0), (0, 5), order="F"))
    record("ravel_F", jnp.ravel(x(2, 3, 2), order="F"))


def extremes():
    tied = jnp.asarray([[3, 1, 3], [3, 0, 0]])
    for name, f in {"argmax": jnp.argmax, "argmin": jnp.argmin}.items():
        record(f"{name}_all", f(x(3, 4)))
        record(f"{name}_all_tied", f(tied))
        record(f"{name}_all_nan", f(jnp.asarray([[1.0, jnp.nan], [jnp.nan, 0.0]])))
        record(f"{name}_all_scalar", f(x()))
        record(f"{name}_all_keepdims", f(x(3, 4), keepdims=True))
        record(f"{name}_0_keepdims", f(x(3, 4), axis=0, keepdims=True))
        record(f"{name}_-1_keepdims", f(tied, axis=-1, keepdims=True))
    with_nan = jnp.asarray([[1.0, jnp.nan, 5.0], [7.0, 0.0, jnp.nan]])
    for name, f in {"nanargmax": jnp.nanargmax, "nanargmin": jnp.nanargmin}.items():
        record(f"{name}_all", f(with_nan))
        record(f"{name}_1_keepdims", f(with_nan, axis=1, keepdims=True))


def creation():
    record("eye_2_3", jnp.eye(2, 3))
    record("eye_3_2_1", jnp.eye(3, 2, 1))
    record("eye_3_4_-1", jnp.eye(3, 4, k=-1, dtype=jnp.int32))
    record("eye_2_2_9", jnp.eye(2, 2, 9))
    record("eye_0_3", jnp.eye(0, 3))
    a = x(2, 3).astype(jnp.float16)
    record("zeros_like_i32", jnp.zeros_like(a, dtype=jnp.int32))
    record("ones_like_shape", jnp.ones_like(a, shape=(4,)))
    record("full_like_both", jnp.full_like(a, 7, dtype=jnp.uint8, shape=(2, 1)))
    record("full_like_scalar_shape", jnp.full_like(a, 2.5, shape=()))
    for case, options in {"": {}, "_end": {"endpoint": False}, "_axis": {"axis": -1}, "_f16": {"dtype": jnp.float16}}.items():
        numbers, step = jnp.linspace(jnp.asarray([0.0, 2.0]), jnp.asarray([4.0, -6.0]), 5, retstep=True, **options)
        record(f"linspace{case}", numbers)
        record(f"linspace{case}_step", step)
    for n in (0, 1):
        for end in (True, False):
            record(f"linspace_{n}_{end}_step", jnp.linspace(1.0, 3.0, n, endpoint=end, retstep=True)[1])


def repeats():
    counts = jnp.asarray([1, 0, 3])
    for total in (0, 2, 4, 7):
        record(f"repeat_0_{total}", jnp.repeat(x(3, 2), counts, axis=0, total_repeat_length=total))
    record("repeat_1", jnp.repeat(x(2, 3), counts, axis=-1, total_repeat_length=5))
    record("repeat_one_count", jnp.repeat(x(2, 3), 2, axis=1, total_repeat_length=6))
    record("repeat_none", jnp.repeat(x(2, 2), jnp.asarray([0, 1, 2, 1]), total_repeat_length=4))
    record("repeat_zeros", jnp.repeat(x(3), jnp.asarray([0, 0, 0]), total_repeat_length=2))
    record("repeat_empty", jnp.repeat(x(0, 2), jnp.zeros((0,), jnp.int32), axis=0, total_repeat_length=3))


def takes():
    i = jnp.asarray([-1, 9, 0, -7, 2, -4])
    a = x(4, 3)
    for mode in ("clip", "wrap", "fill"):
        record(f"take_0_{mode}", jnp.take(a, i, axis=0, mode=mode))
        record(f"take_1_{mode}", jnp.take(a, i, axis=1, mode=mode))
        record(f"take_none_{mode}", jnp.take(a, i, mode=mode))
        record(f"take_small_{mode}", jnp.take(a, i.astype(jnp.int8), axis=0, mode=mode))
    record("take_u8_wrap", jnp.take(a, jnp.asarray([200, 3, 4], jnp.uint8), axis=0, mode="wrap"))
    record("take_fill_value", jnp.take(a, i, axis=0, mode="fill", fill_value=-7.5))
    record("take_i32_fill_value", jnp.take(a.astype(jnp.int32), i, axis=0, fill_value=-7))
    record("take_empty", jnp.take(x(4, 0), i, axis=0, mode="wrap"))
    within = jnp.asarray([3, 0, -1, -4])
    record("take_promise", jnp.take(a, within % 4, axis=0, mode="clip"))
    column = jnp.broadcast_to(i[:, None], (6, 3))
    modes = {"clip": "clip", "fill": "fill", "promise": "promise_in_bounds", "default": None}
    for name, mode in modes.items():
        places = within if name == "promise" else i
        record(f"along_0_{name}", jnp.take_along_axis(a, jnp.broadcast_to(places[:, None], (places.size, 3)), 0, mode=mode))
        record(f"along_1_{name}", jnp.take_along_axis(a, jnp.broadcast_to((places % 3 if name == "promise" else places)[None], (4, places.size)), 1, mode=mode))
    record("along_fill_value", jnp.take_along_axis(a, column, 0, mode="fill", fill_value=-7.5))
    record("along_none", jnp.take_along_axis(a, i, None))


def flags():
    """Single booleans in an index."""
    a, rows, columns = x(2, 3), jnp.asarray([1, 0, 1]), jnp.asarray([0, 2])
    record("flag_true", a[True])
    record("flag_false", a[False])
    record("flag_last", a[..., True])
    record("flag_between", a[:, True])
    record("flag_element", a[1, True])
    record("flag_new", a[None, True, 0])
    record("flag_two", a[True, False])
    record("flag_places", a[True, rows])
    record("flag_apart", a[True, :, columns])
    record("flag_set", a.at[True].set(5.0))
    record("flag_not_set", a.at[False].set(5.0))
    record("flag_add", a.at[:, True].add(jnp.asarray([[[1.0, 2.0, 3.0]]])))
    record("flag_multiply", a.at[True, rows].multiply(2.0))


def bounds():
    """Open bounds of `clip`, defaults of `nan_to_num`."""
    a = x(2, 3)
    record("clip_min", jnp.clip(a, -2))
    record("clip_max", jnp.clip(a, None, 2.5))
    record("clip_none", jnp.clip(a))
    record("clip_row", jnp.clip(a, None, jnp.asarray([0.0, 1.0, 2.0])))
    wrong = jnp.asarray([jnp.nan, jnp.inf, -jnp.inf, 1.0])
    for name in ("nan", "posinf", "neginf"):
        record(f"nan_to_num_{name}", jnp.nan_to_num(wrong, **{name: 7.5}))
    record("nan_to_num_bf16", jnp.nan_to_num(wrong.astype(jnp.bfloat16), nan=7.5))


def products():
    a, b = x(2, 3, 4), x(3, 4)
    record("vecdot_-1", jnp.vecdot(a, b))
    record("vecdot_0", jnp.vecdot(x(3, 2), x(3, 2), axis=0))
    record("vecdot_1", jnp.vecdot(x(2, 3, 4), x(2, 3, 4), axis=1))
    record("vecdot_-2", jnp.vecdot(a, b, axis=-2))


def paddings():
    a = x(2, 3)
    widths = ((1, 2), (0, 1))
    record("pad_each", jnp.pad(a, widths, constant_values=((1, 2), (3, 4))))
    record("pad_pair", jnp.pad(a, widths, constant_values=(5, 6)))
    record("pad_vector", jnp.pad(x(2), (2, 1), constant_values=(-1, 9)))
    record("pad_i32", jnp.pad(a.astype(jnp.int32), widths, constant_values=((1, 2), (3, 4))))
    record("pad_none", jnp.pad(a, ((0, 0), (0, 0)), constant_values=((1, 2), (3, 4))))


def contractions():
    numbers = (((1,), (2,)), ((0,), (0,)))
    record("dot_numbers", lax.dot(x(2, 3, 4), x(2, 5, 3), dimension_numbers=numbers))
    small = x(3, 4).astype(jnp.bfloat16)
    record("dot_f32", jnp.dot(small, small.T, preferred_element_type=jnp.float32))
    record("dot_scalar_f32", jnp.dot(small, jnp.bfloat16(2), preferred_element_type=jnp.float32))
    record("matmul_f32", jnp.matmul(small, small.T, preferred_element_type=jnp.float32))
    record("tensordot_1_f32", jnp.tensordot(small, small.T, axes=1, preferred_element_type=jnp.float32))
    record("tensordot_f32", jnp.tensordot(small, small, axes=([0, 1], [0, 1]), preferred_element_type=jnp.float32))
    record("inner_f32", jnp.inner(small, small[1:], preferred_element_type=jnp.float32))
    record("inner_scalar_f32", jnp.inner(small, jnp.bfloat16(2), preferred_element_type=jnp.float32))
    record("vdot_f32", jnp.vdot(small, small, preferred_element_type=jnp.float32))
    record("vecdot_f32", jnp.vecdot(small, small, axis=0, preferred_element_type=jnp.float32))
    bytes_ = x(3, 4).astype(jnp.int8)
    record("matmul_i32", jnp.matmul(bytes_, bytes_.T, preferred_element_type=jnp.int32))
    record("matmul_i8", jnp.matmul(bytes_, bytes_.T))


def precisions():
    """The parameter `precision` of each product, as a jaxpr prints it."""
    both = (lax.Precision.DEFAULT, lax.Precision.HIGHEST)
    dot = lambda p: lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), precision=p)
    conv = lambda p: lambda a, b: lax.conv(a[None, None], b[None, None], (1, 1), "SAME", precision=p)
    operands = x(3, 3), x(3, 3)
    for name, f in {"dot": dot, "conv": conv}.items():
        for case, p in {"none": None, "high": lax.Precision.HIGH, "both": both}.items():
            for default in (None, "float32", "bfloat16"):
                with jax.default_matmul_precision(default):
                    plain = jax.make_jaxpr(f(p))(*operands)
                    reverse = jax.make_jaxpr(jax.grad(lambda a, b: f(p)(a, b).sum(), (0, 1)))(*operands)
                found = [str(e.params["precision"]) for e in [*plain.eqns, *reverse.eqns] if "precision" in e.params]
                texts = [t.replace("<", "").split(":")[0] if t.startswith("<") else t for t in found]
                rows.append({"case": f"precision_{name}_{case}_{default}", "texts": texts})


for part in (shapes, extremes, creation, repeats, takes, flags, bounds, products, contractions, precisions, paddings):
    part()
data = pathlib.Path(__file__).parent / "data"
text = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
(data / "ports_arrays.json").write_text(f"[\n{text}\n]\n")
print(len(rows), "rows", jax.__version__)
