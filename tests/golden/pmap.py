"""Writes data/pmap.safetensors and data/pmap.json.

Rows are laid out as in primitives.py: functions under `jax.pmap` on 8 virtual
devices, with the axis name `i`. Parameters are the function's name, `in_axes`
and `out_axes`.
"""

import pathlib

import primitives as p  # First: it sets the environment that JAX reads.
from primitives import draw, record, rng_of

import jax

jax.config.update("jax_num_cpu_devices", 8)

import jax.numpy as jnp
from jax import lax

RING = [(k, (k + 1) % 8) for k in range(8)]
FUNCTIONS = {
    "square": lambda x: x * x,
    "normalise": lambda x: x / lax.psum(jnp.abs(x), "i"),
    "matmul": lambda x, w: jnp.tanh(x @ w),
    "sum": lambda x: lax.psum(x, "i"),
    "gather": lambda x: jnp.sin(lax.all_gather(x, "i")),
    "exchange": lambda x: lax.all_to_all(x, "i", 0, 0) * (lax.axis_index("i") + 1),
    "neighbour": lambda x: x + 2 * lax.ppermute(x, "i", RING),
    "scatter": lambda x: lax.psum_scatter(x, "i"),
    "total": lambda x: jnp.sum(x),
}

ROWS = [
    ("square", [(8, 3)], [0], 0),
    ("square", [(3, 8)], [1], 0),
    ("square", [(3, 8)], [-1], 1),
    ("square", [(4, 2, 3)], [0], -1),
    ("square", [(8,)], [0], 0),
    ("normalise", [(8, 3)], [0], 0),
    ("normalise", [(2, 5)], [0], 1),
    ("matmul", [(8, 2, 3), (3, 4)], [0, None], 0),
    ("matmul", [(2, 8, 3), (3, 4, 8)], [1, 2], 2),
    ("sum", [(8, 3)], [0], 0),
    ("sum", [(8, 3)], [0], None),
    ("gather", [(8, 3)], [0], 0),
    ("exchange", [(8, 8, 2)], [0], 0),
    ("neighbour", [(8, 3)], [0], 0),
    ("scatter", [(8, 8, 2)], [0], 0),
    ("total", [(8, 3)], [0], 0),
]


def main():
    for name, shapes, in_axes, out_axes in ROWS:
        xs = [draw(rng_of("pmap", name, shape, str(in_axes)), "f32", shape) for shape in shapes]
        # JAX takes axes from the end, and goes wrong with them.
        from_start = lambda axis, rank: axis if axis is None or axis >= 0 else axis + rank
        ins = tuple(from_start(axis, len(shape)) for axis, shape in zip(in_axes, shapes))
        fun = jax.pmap(FUNCTIONS[name], axis_name="i", in_axes=ins, out_axes=from_start(out_axes, len(shapes[0])))
        # JAX's pmap places arguments and cotangents along the first axis, whatever the mapped one is.
        first = out_axes in (0, None) and all(a in (0, None) for a in in_axes)
        fun = fun if first else jax.jit(fun)
        record("pmap", fun, xs, {"function": name, "in_axes": in_axes, "out_axes": out_axes}, derivative=first)
    p.write(pathlib.Path(__file__).parent / "data" / "pmap")


if __name__ == "__main__":
    main()
