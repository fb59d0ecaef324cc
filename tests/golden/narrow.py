"""Writes data/narrow.json: conversions, arithmetic and text of arrays of floats
of eight and four bits and of integers of four and two.

Every row: `fn`, `dtype`, `inputs` and `output`. Values are numbers, which every
narrow type has exactly in f32, or the words nan, inf and -inf; those of other
than one axis are with their shape.
"""

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import recording

FLOATS = {"f8_e4m3fn": "float8_e4m3fn", "f8_e5m2": "float8_e5m2", "f8_e4m3fnuz": "float8_e4m3fnuz",
          "f8_e5m2fnuz": "float8_e5m2fnuz", "f8_e8m0fnu": "float8_e8m0fnu", "f4_e2m1fn": "float4_e2m1fn"}
INTEGERS = {"i4": "int4", "u4": "uint4", "i2": "int2", "u2": "uint2"}
rows = []


def numbers(x):
    """A list of the numbers of one axis; of other arrays the shape and the numbers."""
    x = np.asarray(x).astype(np.float32)
    values = [float(v) if np.isfinite(v) else str(v) for v in x.reshape(-1)]
    return values if x.ndim == 1 else {"shape": list(x.shape), "values": values}


def record(fn, dtype, inputs, output):
    rows.append({"fn": fn, "dtype": dtype, "inputs": [numbers(x) for x in inputs],
                 "output": output if isinstance(output, str) else numbers(output)})


def conversions(short, long):
    wide = [0.0, -0.0, 1e-9, -1e-9, 1e9, -1e9, np.inf, -np.inf, np.nan, 448, 449, 464, 465, 480, 57344, 61440, 65536,
            240, 248, 249, 3e38, 1.0625, 1.1875, 2.5, 3.5, 5.0, 6.9, 7.0, 0.25, 0.75, -1.0]
    rng = np.random.default_rng(5)
    wide += list(rng.normal(size=40) * 10.0 ** rng.integers(-4, 5, 40))
    if short in INTEGERS:
        wide = [float(v) for v in range(-20, 40)]
    wide = np.asarray(wide, np.float32)
    if short in INTEGERS:
        wide = wide.astype(np.int32)
    record("convert", short, [wide], jnp.asarray(wide).astype(long))


def arithmetic(short, long):
    signed = short not in ("u4", "u2", "f8_e8m0fnu")
    x = [1.0, 0.5, 1.5, 6.0, 3.0, -2.0, 0.0]
    y = [2.0, 2.0, 0.5, 4.0, -1.0, 3.0, 1.0]
    if not signed:
        x, y = np.abs(x), np.abs(y)
    if short in INTEGERS:
        y = np.where(np.asarray(y) == 0.5, 1, y)
    x, y = jnp.asarray(np.asarray(x, np.float32)).astype(long), jnp.asarray(np.asarray(y, np.float32)).astype(long)
    binary = {"add": jax.lax.add, "sub": jax.lax.sub, "mul": jax.lax.mul, "max": jax.lax.max, "min": jax.lax.min}
    unary = {}
    if short in FLOATS:
        binary["div"] = jax.lax.div
        unary |= {"neg": jax.lax.neg, "abs": jax.lax.abs, "sign": jax.lax.sign, "exp": jax.lax.exp, "log": jax.lax.log, "tanh": jax.lax.tanh, "sqrt": jax.lax.sqrt,
                  "floor": jax.lax.floor}
    for fn, f in binary.items():
        record(fn, short, [x, y], f(x, y))
    for fn, f in unary.items():
        record(fn, short, [x], f(x))
    for fn, f in (("eq", jax.lax.eq), ("lt", jax.lax.lt)):
        record(fn, short, [x, y], f(x, y))
    record("reduce_max", short, [x], jnp.max(x))
    record("reduce_min", short, [x], jnp.min(x))
    # There JAX starts from minus infinity, which this type has not: NaN.
    if short != "f8_e8m0fnu":
        record("nothing_max", short, [], jax.lax.reduce_max_p.bind(x[:0], axes=(0,), out_sharding=None))
    # What the two-bit types and float4 are sorted to there is not their order.
    if short not in ("i2", "u2", "f4_e2m1fn"):
        record("sort", short, [x], jnp.sort(x))
    if short in FLOATS and short != "f4_e2m1fn":
        record("dot_f32", short, [x, y], jax.lax.dot(x, y, preferred_element_type=jnp.float32))
        record("bits", short, [x], jax.lax.bitcast_convert_type(x, jnp.uint8))
    record("repr", short, [x], repr(x))
    record("str", short, [x], str(x))
    record("scalar", short, [x[3:4]], str(x[3]))
    record("type", short, [x], str(jax.make_jaxpr(lambda x: x)(x)))


def other_shapes(short, long):
    """The same at empty, 0-d and more shapes."""
    lax = jax.lax
    wide = np.asarray([[1.0, 0.5, 1.5], [6.0, 3.0, 0.0]], np.float32)
    unary = {"neg": lax.neg, "abs": lax.abs, "sign": lax.sign, "exp": lax.exp, "log": lax.log, "tanh": lax.tanh,
             "sqrt": lax.sqrt, "floor": lax.floor} if short in FLOATS else {}
    binary = {"add": lax.add, "sub": lax.sub, "mul": lax.mul, "max": lax.max, "min": lax.min, "eq": lax.eq, "lt": lax.lt}
    if short in FLOATS:
        binary["div"] = lax.div
    for some in (wide, wide[0, 2], wide[:0]):
        given = some if short in FLOATS else some.astype(np.int32)
        x = jnp.asarray(given).astype(long)
        record("convert", short, [given], x)
        for fn, f in unary.items():
            record(fn, short, [x], f(x))
        for fn, f in binary.items():
            record(fn, short, [x, x], f(x, x))
        for fn, f in (("repr", repr), ("str", str)):
            record(fn, short, [x], f(x))
        record("type", short, [x], str(jax.make_jaxpr(lambda x: x)(x)))
        if short in FLOATS:
            record("bits", short, [x], lax.bitcast_convert_type(x, jnp.uint8))
    x = jnp.asarray(wide).astype(long)
    for some in (x, x[:, :0]):
        record("reduce_max", short, [some], jnp.max(some, 0))
        record("reduce_min", short, [some], jnp.min(some, 0))
        record("sort", short, [some], jnp.sort(some, 0))
        if short in FLOATS:
            record("dot_f32", short, [some, x], lax.dot_general(some, x, (((0,), (0,)), ((), ())), preferred_element_type=jnp.float32))


def main():
    for short, long in (FLOATS | INTEGERS).items():
        conversions(short, long)
        arithmetic(short, long)
    # Rules do not look at the type: one of each kind.
    for short in ("f8_e4m3fn", "i4"):
        other_shapes(short, (FLOATS | INTEGERS)[short])
    recording.write(recording.DATA / "narrow", rows)


if __name__ == "__main__":
    main()
