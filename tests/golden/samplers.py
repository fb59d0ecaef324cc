"""Writes data/samplers.{json,safetensors}: JAX's draws from distributions with
parameters, and keys of the generators rbg and unsafe_rbg.

Every row: `fn`, `impl`, `key` (its words), `args` (numbers, or nested lists of
them; infinity is a string), `shape`, `dtype` and `output` (a tensor's name).
"""

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import recording
from jax import random

LONG = {"f32": "float32", "f64": "float64", "bf16": "bfloat16", "f16": "float16", "i32": "int32",
        "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64"}
tensors, rows = {}, []


def record(fn, key, args, shape, dtype, output):
    name = f"{fn}/{len(rows)}"
    output = np.asarray(output)
    tensors[name] = np.ascontiguousarray(output).reshape(output.shape)
    rows.append({"fn": fn, "impl": str(random.key_impl(key)) if not isinstance(key, int) else "seed",
                 "key": key if isinstance(key, int) else np.asarray(random.key_data(key)).tolist(),
                 "args": args, "shape": list(shape), "dtype": dtype, "output": name})


def sample(fn, args, shape, dtype, key=None, **kwargs):
    key = random.key(42) if key is None else key
    given = [jnp.asarray(np.asarray(a, np.float64), LONG[dtype]) for a in args]
    out = getattr(random, fn)(key, *given, shape=shape, dtype=LONG[dtype], **kwargs)
    record(fn, key, args, shape, dtype, out)


def samplers(dtype):
    sample("wald", [2.0], (7,), dtype)
    sample("wald", [[0.5, 3.0]], (3, 2), dtype)
    sample("wald", [1.0], (), dtype)
    sample("wald", [1.0], (0,), dtype)
    # With 64-bit types enabled JAX draws signs in f64, which are others.
    if dtype != "f64":
        sample("double_sided_maxwell", [1.0, 2.0], (7,), dtype)
        sample("double_sided_maxwell", [[0.0, 1.0], 0.5], (3,), dtype)
    for fn in ("gamma", "loggamma"):
        sample(fn, [[0.01, 0.5, 1.0, 3.7, 50.0]], (2, 5), dtype)
        if dtype == "f32":
            sample(fn, [2.0], (), dtype)
            sample(fn, [2.0], (0,), dtype)
    if dtype in ("f16", "bf16"):
        return
    if dtype == "f32":
        for shape in ((), (0,)):
            sample("double_sided_maxwell", [1.0, 2.0], shape, dtype)
            sample("beta", [0.5, 3.0], shape, dtype)
            sample("dirichlet", [[1.0, 2.0, 0.5]], shape, dtype)
            sample("chisquare", [3.0], shape, dtype)
            sample("t", [1.5], shape, dtype)
            sample("f", [1.5, 4.0], shape, dtype)
            sample("binomial", [20.0, 0.4], shape, dtype)
            key = random.key(42)
            record("generalized_normal", key, [0.7], shape, dtype, random.generalized_normal(key, 0.7, shape, LONG[dtype]))
            record("ball", key, [3, 2.0], shape, dtype, random.ball(key, 3, 2.0, shape, LONG[dtype]))
    sample("beta", [[0.5, 5.0], 3.0], (3, 2), dtype)
    sample("dirichlet", [[[1.0, 2.0, 0.5], [9.0, 9.0, 9.0]]], (4, 2), dtype)
    sample("chisquare", [[1.0, 10.0]], (3, 2), dtype)
    sample("t", [[1.5, 10.0]], (3, 2), dtype)
    sample("f", [[[1.5, 10.0]], 4.0], (3, 2), dtype)
    if dtype in ("f32", "f64"):
        key = random.key(42)
        if dtype == "f32":
            for p in (0.7, 2.0):
                record("generalized_normal", key, [p], (6,), dtype, random.generalized_normal(key, p, (6,), LONG[dtype]))
            for d, p in ((3, 2.0), (2, 1.0)):
                record("ball", key, [d, p], (4,), dtype, random.ball(key, d, p, (4,), LONG[dtype]))
        sample("binomial", [[5.0, 100.0, 1000.0], 0.4], (4, 3), dtype)
        sample("binomial", [[20.0, 1000.0], [0.9, 0.95]], (3, 2), dtype)
        sample("binomial", [[-1.0, "inf", 7.0, 7.0, 0.0, 7.5], [0.5, 0.5, 0.0, 1.0, 0.5, -0.5]], (6,), dtype)
        wide = np.float64 if dtype == "f64" else np.float32
        for n, p in ((20.0, [0.2, 0.3, 0.5]), (4.0, [1.0]), ([5.0, 500.0], [[0.25, 0.25, 0.5], [0.1, 0.9, 0.0]])):
            out = random.multinomial(key, np.asarray(n, wide), np.asarray(p, wide), dtype=LONG[dtype])
            record("multinomial", key, [n, p], np.shape(p), dtype, out)


def poisson():
    key = random.key(42)
    for lam, shape in ((0.5, (12,)), (4.0, (8,)), (9.9, ()), (10.0, (12,)), (300.0, (12,)),
                       ([0.0, 3.0, 40.0], (4, 3)), (2.0, (0,))):
        out = random.poisson(key, np.asarray(lam, np.float32), shape)
        record("poisson", key, [lam], shape, "i32", out)


def generators():
    for impl in ("rbg", "unsafe_rbg"):
        for seed in (0, 42, 2**31):
            row = random.key(np.uint32(seed), impl=impl)
            record("key", row, [seed], (), "u32", random.key_data(row))
        key = random.key(7, impl=impl)
        for shape in ((1,), (3,), (2, 3)):
            record("split", key, [], shape, "u32", random.key_data(random.split(key, shape)))
        for data in (0, 5, 2**32 - 1):
            record("fold_in", key, [data], (), "u32", random.key_data(random.fold_in(key, np.uint32(data))))
        for dtype in ("u8", "u16", "u32"):
            for shape in ((), (5,), (4, 3), (0,)):
                record("bits", key, [], shape, dtype, random.bits(key, shape, LONG[dtype]))
        record("split", key, [], (0,), "u32", random.key_data(random.split(key, 0)))
        for dtype, shape in (("f32", (7,)), ("bf16", (7,)), ("f32", ()), ("f32", (0,))):
            record("normal", key, [], shape, dtype, random.normal(key, shape, LONG[dtype]))
        keys = random.split(key, 3)
        for shape in ((4,), (), (0,)):
            record("bits_of_each", key, [], shape, "u32", jax.vmap(lambda k: random.bits(k, shape))(keys))
    for algorithm in ("DEFAULT", "THREE_FRY", "PHILOX"):
        key = random.key(7, impl="rbg")
        chosen = getattr(jax.lax.RandomAlgorithm, "RNG_" + algorithm)
        for shape in ((5,), (1,), (0,)):
            after, bits = jax.lax.rng_bit_generator(random.key_data(key), shape, np.uint32, chosen)
            record("rng_bit_generator", key, [algorithm], shape, "u32", jnp.concatenate([after, bits]))


def main():
    for dtype in ("f32", "f16", "bf16"):
        samplers(dtype)
    poisson()
    generators()
    with jax.enable_x64(True):
        samplers("f64")
        key = random.key(7, impl="rbg")
        record("bits", key, [], (5,), "u64", random.bits(key, (5,), "uint64"))
    recording.write(recording.DATA / "samplers", rows, tensors)


if __name__ == "__main__":
    main()
