"""Writes data/random.safetensors and data/random.json: JAX's random numbers.

Every row: `fn`, `layout` (true: partitionable, false: original, null: the same
in both), `x64`, `key` (two u32 words), `args`, `inputs` (tensor names) and
`output` (tensor name). random.md says how each value is computed.

JAX decides on 64-bit types once per process, so this script runs itself a
second time with JAX_ENABLE_X64=1 and joins the two. Rows with `x64` null are
the same in both modes; 64-bit dtypes come from the second run.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
X64 = len(sys.argv) > 1
os.environ["JAX_ENABLE_X64"] = "1" if X64 else "0"

import jax
import jax.numpy as jnp
import numpy as np
import recording
from jax import random
from safetensors.numpy import load_file, save_file

tensors = {}
rows = []
counts = {}
LONG = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "f16": "float16"}


def put(name, value):
    value = np.asarray(value)
    tensors[name] = np.ascontiguousarray(value).reshape(value.shape)
    return name


def record(fn, layout, key, args, output, inputs=(), x64=None, summary=False):
    index = counts[fn, X64] = counts.get((fn, X64), -1) + 1
    prefix = f"{fn}/{'wide' if X64 else 'plain'}{index}"
    output = np.asarray(output)
    row = {"fn": fn, "layout": layout, "x64": x64,
           "key": None if key is None else np.asarray(random.key_data(key)).tolist(), "args": args,
           "inputs": [put(f"{prefix}/in{i}", x) for i, x in enumerate(inputs)]}
    if summary:
        # Large results: the first 64 values in row-major order and the sum in f64.
        row["sum"] = float(output.astype(np.float64).sum())
        row["shape"] = list(output.shape)
        output = output.reshape(-1)[:64] if output.size > 64 else output
    row["output"] = put(f"{prefix}/out", output)
    rows.append(row)


def seeds():
    seeds = [0, 1, 42, -1, 2**31, 2**32 - 1, 2**32 + 5, -(2**33), 2**63 - 1]
    for seed in seeds:
        same = 0 <= seed < 2**32
        if not (X64 and same):
            record("key", None, None, {"seed": seed}, random.key_data(random.key(seed)), x64=None if same else X64)
    for dtype in ("int32", "uint32"):
        if not X64:
            value = np.array(-1).astype(dtype)
            record("key", None, None, {"seed": int(value), "seed_dtype": dtype}, random.key_data(random.key(jnp.asarray(value))))


def blocks():
    from jax.extend.random import threefry2x32_p
    # The three published test vectors of Threefry-2x32 with 20 rounds, then counters of our own.
    words = np.array([[0, 0, 0, 0], [0xFFFFFFFF] * 4, [0x13198A2E, 0x03707344, 0x243F6A88, 0x85A308D3],
                      [0, 42, 0, 0], [0, 42, 0, 1], [1, 5, 7, 9]], np.uint32)
    out = jnp.stack(threefry2x32_p.bind(*map(jnp.asarray, words.T)), axis=1)
    record("threefry2x32", None, None, {}, out, [words])
    for some in (words[:1], words[:0]):
        record("threefry2x32", None, None, {}, jnp.stack(threefry2x32_p.bind(*map(jnp.asarray, some.T)), axis=1), [some])


def dtypes(*names):
    return [n for n in names if (n in ("f64", "i64", "u64")) == X64]


def layouts_apart(layout):
    key = random.key(42)
    folded = random.fold_in(random.key(7), 3)
    for name, k in (("first", key), ("second", folded)):
        if not X64:
            for n in (1, 2, 3, 5):
                record("split", layout, k, {"shape": [n]}, random.key_data(random.split(k, n)))
            record("split", layout, k, {"shape": [2, 3]}, random.key_data(random.split(k, (2, 3))))
    for width in (64,) if X64 else (8, 16, 32):
        for shape in ((), (1,), (5,), (4, 3), (0,), (33,)):
            record("bits", layout, key, {"shape": list(shape), "dtype": f"u{width}"}, random.bits(key, shape, f"uint{width}"))

    def floats(fn, shape, names=("f32", "f64", "bf16", "f16"), **kwargs):
        for name in dtypes(*names):
            args = {"shape": list(shape), "dtype": name} | kwargs
            record(fn, layout, key, args, getattr(random, fn)(key, shape=shape, dtype=LONG[name], **kwargs))

    for shape in ((), (5,), (4, 3), (0,)):
        floats("uniform", shape)
        floats("normal", shape)
    floats("uniform", (64,), minval=-2.3, maxval=5.1)
    floats("uniform", (7,), minval=-1.0, maxval=1.0)
    for fn in ("exponential", "laplace", "gumbel", "logistic", "cauchy"):
        floats(fn, (7,))
    floats("gumbel", (7,), mode="high")
    floats("gumbel", (7,), ("f32",), mode="highest")
    for name in dtypes("f32", "f64", "bf16", "f16"):
        for low, high in ((-2.0, 2.0), (-1.0, 0.5), (1.0, 4.0)):
            args = {"lower": low, "upper": high, "shape": [9], "dtype": name}
            record("truncated_normal", layout, key, args, random.truncated_normal(key, low, high, (9,), LONG[name]))

    if not X64:
        for p, shape, mode in ((0.5, (20,), "low"), (0.1, (4, 5), "low"), (0.3, (), "low"), (0.9, (12,), "high")):
            record("bernoulli", layout, key, {"p": p, "p_dtype": "f32", "shape": list(shape), "mode": mode},
                   random.bernoulli(key, jnp.float32(p), shape, mode=mode))
        record("rademacher", layout, key, {"shape": [10], "dtype": "i32"}, random.rademacher(key, (10,), "int32"))

    def integers(name, low, high, shape=(12,)):
        long = name.replace("u", "uint") if name[0] == "u" else name.replace("i", "int")
        record("randint", layout, key, {"minval": low, "maxval": high, "shape": list(shape), "dtype": name},
               random.randint(key, shape, low, high, long))

    if X64:
        integers("i64", 0, 10), integers("i64", -(2**40), 2**41 + 7), integers("u64", 3, 2**63 - 1)
        integers("i64", -(2**63), 2**63 - 1)
    else:
        integers("i32", 0, 10), integers("i32", -5, 1000003), integers("i32", 7, 7), integers("i32", 9, 2)
        integers("i32", -(2**31), 2**31 - 1), integers("i32", 0, 2, ()), integers("i32", 0, 6, (2, 3))
        integers("u32", 0, 2**31 - 1), integers("u32", 5, 6)
        integers("u8", 0, 256), integers("u8", 10, 200), integers("u8", -20, 300), integers("i8", -128, 128)
        integers("i16", -300, 301), integers("u16", 0, 65536)

    if not X64:
        for n in (1, 2, 10, 1000, 2000):
            record("permutation", layout, key, {"n": n}, random.permutation(key, n))
        table = np.arange(20, dtype=np.float32).reshape(4, 5)
        for axis in (0, 1):
            for independent in (False, True):
                record("permutation", layout, key, {"axis": axis, "independent": independent},
                       random.permutation(key, table, axis=axis, independent=independent), [table])
        record("permutation", layout, key, {"axis": 0, "independent": False}, random.permutation(key, table[:, 0]), [table[:, 0]])

        p = np.array([0.1, 0.2, 0.05, 0.4, 0.25], np.float32)
        for replace in (True, False):
            for weights in (None, p):
                given = [] if weights is None else [weights]
                record("choice", layout, key, {"n": 5, "shape": [4], "replace": replace, "weighted": bool(given)},
                       random.choice(key, 5, (4,), replace, weights), given)
                record("choice", layout, key, {"n": 5, "shape": [], "replace": replace, "weighted": bool(given)},
                       random.choice(key, 5, (), replace, weights), given)
        record("choice", layout, key, {"shape": [2, 2], "replace": True, "axis": 1, "weighted": False},
               random.choice(key, table, (2, 2), axis=1), [table])
        record("choice", layout, key, {"shape": [3], "replace": False, "axis": 0, "weighted": False},
               random.choice(key, table, (3,), False, axis=0), [table])

        logits = np.log(np.array([[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1], [0.25] * 4], np.float32))
        for args, kwargs in (({"axis": -1}, {}), ({"axis": 0}, {}), ({"axis": -1, "shape": [5, 3]}, {"shape": (5, 3)}),
                             ({"axis": -1, "mode": "high"}, {"mode": "high"})):
            axis = args["axis"]
            record("categorical", layout, key, {"replace": True} | args,
                   random.categorical(key, logits, axis=axis, **kwargs), [logits])
        record("categorical", layout, key, {"axis": -1, "shape": [2, 3], "replace": False},
               random.categorical(key, logits, axis=-1, shape=(2, 3), replace=False), [logits])

        for alpha in (0.5, 1.0, 3.7):
            record("gamma", layout, key, {"a": alpha, "shape": [6], "dtype": "f32"}, random.gamma(key, alpha, (6,), "float32"))
        record("beta", layout, key, {"a": 2.0, "b": 0.5, "shape": [6], "dtype": "f32"}, random.beta(key, 2.0, 0.5, (6,), "float32"))
        record("poisson", layout, key, {"lam": 4.0, "shape": [8]}, random.poisson(key, 4.0, (8,)))


def other_shapes(layout):
    """Draws at empty, 0-d and more shapes, in one type."""
    key = random.key(42)
    for shape in ((), (0,)):
        args = {"shape": list(shape), "dtype": "f32"}
        for fn in ("exponential", "laplace", "gumbel", "logistic", "cauchy"):
            record(fn, layout, key, args, getattr(random, fn)(key, shape=shape, dtype="float32"))
        record("truncated_normal", layout, key, {"lower": -1.0, "upper": 0.5} | args,
               random.truncated_normal(key, -1.0, 0.5, shape, "float32"))
        record("rademacher", layout, key, args | {"dtype": "i32"}, random.rademacher(key, shape, "int32"))
        record("gamma", layout, key, {"a": 0.5} | args, random.gamma(key, 0.5, shape, "float32"))
        record("beta", layout, key, {"a": 2.0, "b": 0.5} | args, random.beta(key, 2.0, 0.5, shape, "float32"))
        record("poisson", layout, key, {"lam": 4.0, "shape": list(shape)}, random.poisson(key, 4.0, shape))
    empty = {"shape": [0]}
    record("split", layout, key, empty, random.key_data(random.split(key, 0)))
    record("bernoulli", layout, key, {"p": 0.5, "p_dtype": "f32", "mode": "low"} | empty, random.bernoulli(key, jnp.float32(0.5), (0,)))
    record("randint", layout, key, {"minval": 0, "maxval": 10, "dtype": "i32"} | empty, random.randint(key, (0,), 0, 10, "int32"))
    record("permutation", layout, key, {"n": 0}, random.permutation(key, 0))
    record("choice", layout, key, {"n": 5, "replace": True, "weighted": False} | empty, random.choice(key, 5, (0,)))
    for shape in ((4,), (0, 3)):
        logits = np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
        record("categorical", layout, key, {"replace": True, "axis": -1}, random.categorical(key, logits), [logits])


def initializers():
    init = jax.nn.initializers
    made = [(name, {}, getattr(init, name)()) for name in (
        "lecun_normal", "lecun_uniform", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform")]
    made += [("normal", {}, init.normal()), ("normal", {"stddev": 0.5}, init.normal(0.5)),
             ("truncated_normal", {}, init.truncated_normal()),
             ("truncated_normal", {"stddev": 2.0, "lower": -1.0, "upper": 3.0}, init.truncated_normal(2.0, lower=-1.0, upper=3.0)),
             ("uniform", {}, init.uniform()), ("uniform", {"scale": 3.0}, init.uniform(3.0))]
    for mode in ("fan_in", "fan_out", "fan_avg", "fan_geo_avg"):
        for distribution in ("truncated_normal", "normal", "uniform"):
            made.append(("variance_scaling", {"scale": 1.7, "mode": mode, "distribution": distribution},
                         init.variance_scaling(1.7, mode, distribution)))
    key = random.key(0)
    for name, args, fn in made:
        record(f"init.{name}", True, key, args | {"shape": [64, 128], "dtype": "f32"}, fn(key, (64, 128), jnp.float32), summary=True)
    for name in ("lecun_normal", "glorot_uniform", "he_normal"):
        fn = getattr(init, name)()
        record(f"init.{name}", True, key, {"shape": [3, 3, 8, 16], "dtype": "f32"}, fn(key, (3, 3, 8, 16), jnp.float32), summary=True)
        record(f"init.{name}", True, key, {"shape": [64, 128], "dtype": "bf16"}, fn(key, (64, 128), jnp.bfloat16), summary=True)
    record("init.lecun_normal", True, key, {"in_axis": [0], "out_axis": [1, 2], "shape": [16, 4, 8], "dtype": "f32"},
           init.lecun_normal(in_axis=(0,), out_axis=(1, 2))(key, (16, 4, 8), jnp.float32), summary=True)
    for name, args, fn in made:
        plain = name in ("normal", "truncated_normal", "uniform")
        if args.get("mode", "fan_in") == "fan_in":
            # The others divide by the sizes of axes, of which there are two at least.
            for shape in ((), (0,)) if plain else ((3, 2), (1, 4)):
                record(f"init.{name}", True, key, args | {"shape": list(shape), "dtype": "f32"},
                       fn(key, shape, jnp.float32), summary=True)
    # These need a QR decomposition; signs are fixed by the diagonal of R.
    record("init.orthogonal", True, key, {"shape": [8, 5], "dtype": "f32", "needs": "qr"}, init.orthogonal()(key, (8, 5), jnp.float32))
    record("init.orthogonal", True, key, {"shape": [5, 8], "dtype": "f32", "needs": "qr"}, init.orthogonal()(key, (5, 8), jnp.float32))
    for shape in ((2, 2, 3), (0, 2)):
        record("init.orthogonal", True, key, {"shape": list(shape), "dtype": "f32", "needs": "qr"}, init.orthogonal()(key, shape, jnp.float32))
    for shape in ((3, 4, 6), (1, 2, 2), (3, 2, 1, 3), (1, 0, 2)):
        record("init.delta_orthogonal", True, key, {"shape": list(shape), "dtype": "f32", "needs": "qr"},
               init.delta_orthogonal()(key, shape, jnp.float32))


def programs():
    """The numbers that the reference programs print, per layout."""
    for layout in (False, True):
        with jax.threefry_partitionable(layout):
            key = random.key(42)
            record("program.normal", layout, key, {"program": "normal(key(42))"}, random.normal(key))
            subkeys = random.split(key, 3)
            record("program.split_normal", layout, key, {"program": "normal of subkeys 1 and 2 of split(key(42), 3)"},
                   jnp.stack([random.normal(subkeys[1]), random.normal(subkeys[2])]))


def main():
    seeds()
    if not X64:
        blocks()
        for message in (0, 1, 7, 2**31, 2**32 - 1):
            for key in (random.key(0), random.key(42)):
                record("fold_in", None, key, {"data": message}, random.key_data(random.fold_in(key, np.uint32(message))))
        initializers()
        programs()
    for layout in (True, False):
        with jax.threefry_partitionable(layout):
            layouts_apart(layout)
            if not X64:
                other_shapes(layout)
    if X64:
        save_file(tensors, sys.argv[1] + ".safetensors")
        pathlib.Path(sys.argv[1] + ".json").write_text(json.dumps(rows))
        return
    with tempfile.TemporaryDirectory() as folder:
        wide = os.path.join(folder, "wide")
        subprocess.run([sys.executable, __file__, wide], check=True)
        rows.extend(json.loads(pathlib.Path(wide + ".json").read_text()))
        tensors.update(load_file(wide + ".safetensors"))
    recording.write(recording.DATA / "random", rows, tensors)


if __name__ == "__main__":
    main()
