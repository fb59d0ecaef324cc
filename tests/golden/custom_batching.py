"""Writes data/custom_batching.safetensors and data/custom_batching.json.

Rows are laid out as in primitives.py. They have batches of functions with
batching rules of their own: one whose rule is no batch of the function, so that
the use of the rule shows (`told`), and one that is batched by a loop
(`sequential`), whose reverse mode JAX refuses. `x` and `y` are the axes of the
arguments.
"""

import pathlib

import primitives as p  # First: it sets the environment that JAX reads.
from primitives import draw, record, rng_of

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap, sequential_vmap


def function(x, y):
    return jnp.sum(jnp.sin(x) * y)


told = custom_vmap(function)


@told.def_vmap
def rule(size, batched, x, y):
    x = x if batched[0] else jnp.broadcast_to(x, (size, *x.shape))
    y = y if batched[1] else jnp.broadcast_to(y, (size, *y.shape))
    return jnp.sum(jnp.cos(x) * y * 3, axis=tuple(range(1, x.ndim))), True


def main():
    for name, f in {"told": told, "sequential": sequential_vmap(function)}.items():
        for dtype in ["f32", "f64"]:
            for shape in [(2,), (), (0,), (2, 3)]:
                for axes in [(0, 0), (0, None), (None, 0)]:
                    params = {"x": axes[0], "y": axes[1]}
                    rng = rng_of(name, dtype, shape, axes)
                    whole = [shape if at is None else (3, *shape) for at in axes]
                    inputs = [draw(rng, dtype, s) for s in whole]
                    record(name, jax.vmap(f, axes), inputs, {**params, "map": "vmap"}, derivative=f is told)
                    outer = [draw(rng, dtype, (2, *s)) for s in whole]
                    record(name, jax.vmap(jax.vmap(f, axes)), outer, {**params, "map": "nested"}, derivative=f is told)
                    if axes != (0, 0):
                        # JAX gives a result of two batch axes where only one of a value and its tangent is batched.
                        continue
                    push = lambda x, y, dx, dy: jax.jvp(f, (x, y), (dx, dy))
                    directions = [draw(rng, dtype, s) for s in whole]
                    record(name, jax.vmap(push), [*inputs, *directions], {**params, "map": "vmap_of_jvp"}, derivative=False)
    p.write(pathlib.Path(__file__).parent / "data" / "custom_batching")


if __name__ == "__main__":
    main()
