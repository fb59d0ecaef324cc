"""Writes data/control.safetensors and data/control.json.

Rows are laid out as in primitives.py. An operation is a whole program with
control flow; `testing/src/control.rs` has the same programs.
"""

import pathlib

import primitives as p  # First: it sets the environment that JAX reads.
from primitives import draw, record, rng_of

import jax
from jax import lax
import jax.numpy as jnp
import numpy as np


def operands(op, dtype, *shapes):
    rng = rng_of(op, dtype, shapes[0])
    return [draw(rng, dtype, shape) for shape in shapes]


def case_of(arrays):
    if any(a.size == 0 for a in arrays):
        return "empty"
    return "scalar" if all(a.ndim == 0 for a in arrays) else "regular"


def row(op, fun, arrays, params=None, **options):
    record(op, fun, arrays, params, case_of([np.asarray(a) for a in arrays]), **options)


def recurrent(c, w, xs, **options):
    """A constant, a carry and elements, on any numbers."""
    def step(c, x):
        c = c * w + x
        return c, (c - x, x)
    c, (ys, zs) = lax.scan(step, c, xs, **options)
    return c, ys, zs


def smooth(c, w, xs, **options):
    """The same with functions that need their operands for the derivative."""
    def step(carry, x):
        c, n = carry
        c = jnp.tanh(c * w) + lax.sin(w) * x
        return (c, n + 1), c * n.astype(c.dtype)
    (c, n), ys = lax.scan(step, (c, jnp.int32(0)), xs, **options)
    return c, n, ys


def nested(c, w, xs):
    """A scan over rows, each a scan over its elements."""
    def inner(c, x):
        c = lax.sin(c * w + x)
        return c, c * x
    def outer(c, row):
        c, ys = lax.scan(inner, c, row)
        return c * w, ys.sum()
    return lax.scan(outer, c, xs)


def choice(p, x, y):
    return lax.cond(p, lambda x, y: (x * y, y), lambda x, y: (x - y, x), x, y)


def choice_of_three(i, x, y):
    return lax.switch(i, [lambda x: lax.sin(x) * y, lambda x: x, lambda x: lax.exp(x) - y], x)


def guarded(x):
    """A branch that has no finite derivative where it is not taken."""
    return lax.cond(x > 0.0, lambda x: jnp.sqrt(x), lambda x: 0.0 * x, x)


def halve(x, limit):
    """A condition on the values, and a counter."""
    x, n = lax.while_loop(lambda c: c[0] > limit, lambda c: (c[0] / 2, c[1] + 1), (x, 0))
    return x, n.astype(jnp.int32)


def powers(n, x, w):
    """A number of times that is an operand."""
    return lax.fori_loop(0, n, lambda i, c: c * w + i.astype(x.dtype), x)


def known_times(x, w, **options):
    return lax.fori_loop(1, 6, lambda i, c: lax.sin(c * w) + i, x, **options)


def mapped(xs, w, batch_size=None):
    def f(x):
        return lax.tanh(x * w), x.sum()
    return lax.map(f, xs, batch_size=batch_size)


def main():
    for reverse in (False, True):
        for unroll in (1, 2, 0):
            how = {"reverse": reverse, "unroll": unroll}
            for length in (5, 1, 0):
                for dtype in ("f32", "i32") if unroll == 2 else ("f32", "bf16", "u8"):
                    arrays = operands("recurrent", dtype, (3,), (3,), (length, 3))
                    row("recurrent", lambda *a: recurrent(*a, **how), arrays, how)
            for length in (5, 1):
                arrays = operands("smooth", "f64", (), (), (length,))
                row("smooth", lambda *a: smooth(*a, **how), arrays, how)
    how = {"reverse": False, "unroll": 1}
    for shape, length in (((), 0), ((2,), 3), ((0,), 2)):
        row("smooth", smooth, operands("smooth", "f32", shape, shape, (length, *shape)), how)
    for length in (4, 0):
        row("recurrent", recurrent, operands("recurrent", "f32", (), (), (length,)), how)
    for shape in ((3, 2), (1, 4), (2, 0)):
        for dtype in ("f32", "f64"):
            row("nested", nested, operands("nested", dtype, (), (), shape))
    for shape in ((2, 3), (), (0, 3)):
        for pred in (True, False):
            for dtype in ("f64", "i32"):
                row("choice", choice, [np.bool_(pred), *operands("choice", dtype, shape, shape)])
        row("choice", choice, [np.float32(0.5), *operands("choice", "f32", shape, shape)], wrt=(1, 2))
        for index in (-3, 0, 1, 2, 7):
            row("choice_of_three", choice_of_three, [np.int32(index), *operands("choice", "f64", shape, shape)])
        for n in (0, 4):
            for dtype in ("f32", "i32"):
                row("powers", powers, [np.int32(n), *operands("powers", dtype, shape, shape)], derivative=False)
        row("known_times", known_times, operands("known_times", "f64", shape, shape), {"unroll": 1})
        row("known_times", lambda *a: known_times(*a, unroll=2), operands("known_times", "f32", shape, shape), {"unroll": 2})
    for shape in ((2, 3), (), (0, 3)):
        pred = np.arange(4) % 2 == 0
        arrays = operands("choice", "f64", (4, *shape), (4, *shape))
        row("vmap_choice", jax.vmap(choice), [pred, *arrays])
        arrays = operands("choice", "f64", (5, *shape), (5, *shape))
        row("vmap_choice_of_three", jax.vmap(choice_of_three), [np.array([2, 0, 1, -4, 9], np.int32), *arrays])
        arrays = operands("powers", "f32", (4, *shape), shape)
        row("vmap_powers", jax.vmap(powers, (0, 0, None)), [np.array([3, 0, 5, 1], np.int32), *arrays], derivative=False)
    for n in (5, 1, 0):
        x = np.linspace(-1.0, 1.5, n)
        row("vmap_guarded", jax.vmap(guarded), [x])
    for x in (100.0, 0.5, -3.0, np.inf, np.nan):
        if x != np.inf:
            record("halve", halve, [np.float32(x), np.float32(1.0)], {}, "special", derivative=False)
    for values in ([100.0, 0.5, np.nan, -0.0, 3.0], [64.0], []):
        record("vmap_halve", jax.vmap(halve, (0, None)), [np.array(values, np.float32), np.float32(1.0)],
               {}, "special", derivative=False)
    for dtype, long in (("f32", np.float32), ("f64", np.float64)):
        push = lambda x, t: jax.jvp(lambda x: halve(x, jnp.asarray(1.0, x.dtype))[0], (x,), (t,))
        for x, t in (([9.0, 1.0], [1.0, -2.0]), ([5.0], [1.0]), ([], [])):
            row("jvp_halve", jax.vmap(push), [np.array(x, long), np.array(t, long)], derivative=False)
        push = lambda n, x, w, t: jax.jvp(lambda x, w: powers(n, x, w), (x, w), (t, w))
        for shape in ((2, 3), (), (0, 3)):
            row("jvp_powers", push, [np.int32(3), *operands("powers", dtype, shape, shape, shape)], derivative=False)
    for batch_size in (None, 0, 1, 2, 3, 7):
        for length in (7, 3, 0):
            arrays = operands("mapped", "f32", (length, 2), ())
            row("mapped", lambda *a: mapped(*a, batch_size=batch_size), arrays, {"batch_size": batch_size})
    p.write(pathlib.Path(__file__).parent / "data" / "control")


if __name__ == "__main__":
    main()
