"""Writes data/roots.safetensors and data/roots.json.

Rows are laid out as in primitives.py. They have roots of functions by Newton's
method (`jax.lax.custom_root`), and systems of equations by GMRES. Inputs are
parameters of the functions; matrices are made of them by `turned` of linalg.py.
"""

import pathlib

import linalg  # First: it sets the environment that JAX reads.
import primitives as p
from linalg import WIDE, apart
from primitives import draw, record, rng_of

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.sparse.linalg import gmres


def newton(steps):
    """Newton's method for functions that work on each element alone."""
    def solve(f, x):
        def step(_, x):
            y, dy = jax.jvp(f, (x,), (jnp.ones_like(x),))
            return x - y / dy
        return lax.fori_loop(0, steps, step, x)
    return solve


def each(g, y):
    return y / g(jnp.ones_like(y))


def dense(g, y):
    return jnp.linalg.solve(jax.jacobian(g)(y), y)


def cube_root(a):
    """The x with x³ + x = a."""
    return lax.custom_root(lambda x: x**3 + x - a, a / 2, newton(20), each)


def coupled(w, a):
    """The x with x + tanh(W x) / 4 = a, found by going back and forth."""
    def solve(f, x):
        return lax.fori_loop(0, 60, lambda _, x: x - f(x), x)
    return lax.custom_root(lambda x: x + jnp.tanh(w @ x) / 4 - a, a, solve, dense)


def with_aux(a):
    def solve(f, x):
        x = newton(20)(f, x)
        return x, jnp.sum(x)
    return lax.custom_root(lambda x: x**3 + x - a, a / 2, solve, each, has_aux=True)


def system(method):
    def solve(a, b):
        a = apart(a) if a.ndim else a + 4
        return gmres(lambda x: jnp.dot(a, x), b, tol=0, atol=0, restart=b.size, maxiter=3, solve_method=method)[0]
    return solve


def main():
    for dtype in WIDE:
        for shape in [(3,), (), (0,), (2, 2)]:
            x = draw(rng_of("root", dtype, shape), dtype, shape)
            record("cube_root", cube_root, [x])
            record("with_aux", with_aux, [x])
            record("batch", jax.vmap(cube_root), [x]) if shape else None
        for n in (0, 1, 2, 3):
            rng = rng_of("coupled", dtype, n)
            record("coupled", coupled, [draw(rng, dtype, (n, n)), draw(rng, dtype, (n,))])
        for method in ("batched", "incremental"):
            for shape in [(), (1,), (3,), (5,)]:
                rng = rng_of("gmres", dtype, shape)
                record("gmres", system(method), [draw(rng, dtype, shape * 2), draw(rng, dtype, shape)], {"method": method})
    p.write(pathlib.Path(__file__).parent / "data" / "roots")


if __name__ == "__main__":
    main()
