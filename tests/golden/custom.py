"""Writes data/custom.safetensors and data/custom.json.

Rows are laid out as in primitives.py. `edge` rows have the derivatives that JAX
gives where pieces of a definition meet, at singular points, and where a branch
that is not taken is not finite. `jacobian` rows are of whole Jacobians and
Hessians. `rule` rows are of functions with derivatives of their own, and of
functions under `checkpoint`.
"""

import pathlib

import primitives as p  # First: it sets the environment that JAX reads.
from primitives import SHORT, draw, record, rng_of

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name

DTYPES = ["f32"]
INF, NAN = np.inf, np.nan


def edges():
    unary = {
        "abs": (jnp.abs, [-1, -0.0, 0, 1]),
        "relu": (jax.nn.relu, [-1, -0.0, 0, 1, INF, -INF]),
        "relu6": (jax.nn.relu6, [0, 6, 7]),
        "leaky_relu": (jax.nn.leaky_relu, [0, -0.0, -INF]),
        "elu": (jax.nn.elu, [0, -0.0, 100, -1000]),
        "selu": (jax.nn.selu, [0, -0.0, 100, -1000]),
        "celu": (jax.nn.celu, [0, -0.0, 100, -1000]),
        "silu": (jax.nn.silu, [0, 100, -100]),
        "softplus": (jax.nn.softplus, [0, 1000, -1000]),
        "log_sigmoid": (jax.nn.log_sigmoid, [0, 1000, -1000]),
        "hard_tanh": (jax.nn.hard_tanh, [-1, 1, 2]),
        "sqrt": (jnp.sqrt, [0, INF, -1]),
        "rsqrt": (lax.rsqrt, [0, INF]),
        "cbrt": (jnp.cbrt, [0]),
        "log": (jnp.log, [0, INF, -1]),
        "log1p": (jnp.log1p, [0, -1]),
        "expm1": (jnp.expm1, [0, 1000, -1000]),
        "asin": (jnp.arcsin, [0, 1, -1]),
        "acos": (jnp.arccos, [0, 1, -1]),
        "acosh": (jnp.arccosh, [1]),
        "atanh": (jnp.arctanh, [0, 1]),
        "sign": (jnp.sign, [-1, 0, 1]),
        "floor": (jnp.floor, [0, 0.5, 1]),
        "tanh": (jnp.tanh, [0, 100, -100]),
        "logistic": (jax.nn.sigmoid, [0, 1000, -1000]),
        "square": (jnp.square, [0, INF]),
        "reciprocal": (jnp.reciprocal, [0, INF]),
        "clip": (lambda x: jnp.clip(x, -1.0, 1.0), [-1, 1, 0, 2]),
        "sqrt_where": (lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0), [0, 1]),
        "sqrt_safe": (lambda x: jnp.where(x > 0, jnp.sqrt(jnp.where(x > 0, x, 1.0)), 0.0), [0, 1, -1]),
        "erf_inv": (lax.erf_inv, [0, 1, -1]),
        "lgamma": (lax.lgamma, [0.5, 3, 0]),
        "cube": (lambda x: x**3, [0, -1]),
        "inverse": (lambda x: x**-1, [0, -1]),
    }
    for op, (fun, points) in unary.items():
        for dtype in DTYPES:
            for x in (np.array(points), np.array(points[0]), np.zeros((0, 2))):
                record(op, fun, [x.astype(SHORT[dtype])], case="edge")
    binary = {
        "maximum": (jnp.maximum, [(1, 1), (0, -0.0), (INF, INF), (1, 2)]),
        "minimum": (jnp.minimum, [(1, 1), (0, -0.0), (INF, INF), (1, 2)]),
        "pow": (jnp.power, [(0, 0), (0, 1), (0, 2), (0, 0.5), (1, 0), (2, -1), (0, -1), (-2, 2), (-2, 3)]),
        "atan2": (jnp.arctan2, [(0, 0), (0, 1), (0, -1), (1, 0)]),
        "logaddexp": (jnp.logaddexp, [(0, 0), (-INF, 0), (-INF, -INF), (INF, 0), (INF, INF), (1000, 1000)]),
        "hypot": (jnp.hypot, [(0, 1), (3, 4)]),
        "div": (jnp.divide, [(0, 0), (1, 0), (0, 1)]),
        "rem": (lax.rem, [(4, 2), (5, 2), (-5, 2)]),
    }
    for op, (fun, points) in binary.items():
        for dtype in DTYPES:
            x, y = np.array(points).astype(SHORT[dtype]).T
            for at in (slice(None), 0, slice(0, 0)):
                record(op, fun, [x[at], y[at]], case="edge")
    rows = {
        "max": (jnp.max, [[1, 1, 1], [2, 3, 3], [0, -0.0, -1]]),
        "min": (jnp.min, [[1, 1, 1], [2, 3, 3], [0, -0.0, -1]]),
        "prod": (jnp.prod, [[0, 2, 3], [0, 0, 3], [0, 0, 0]]),
        "norm": (jnp.linalg.norm, [[0, 0, 0], [3, 0, 4]]),
        "std": (jnp.std, [[1, 1, 1], [1, 2, 3]]),
        "var": (jnp.var, [[1, 1, 1], [1, 2, 3]]),
        "logsumexp": (lambda x: jax.nn.logsumexp(x, -1), [[0, 0, 0], [-INF, 0, 1], [-INF, -INF, -INF], [1000, 0, 1000], [INF, 0, 1]]),
        "softmax": (jax.nn.softmax, [[0, 0, 0], [-INF, 0, 1], [1000, 0, 1000]]),
        "log_softmax": (jax.nn.log_softmax, [[0, 0, 0], [-INF, 0, 1], [1000, 0, 1000]]),
        "sort": (jnp.sort, [[2, 1, 1], [0, -0.0, 0]]),
        "cummax": (lax.cummax, [[1, 1, 2], [2, 2, 1]]),
        "cumprod": (lax.cumprod, [[0, 2, 3], [2, 0, 3], [0, 0, 3]]),
    }
    for op, (fun, points) in rows.items():
        for dtype in DTYPES:
            whole = op in ("max", "min", "prod", "norm", "std", "var")
            of = np.array(points).astype(SHORT[dtype])
            # All points at once; what takes the last axis has no 0-d operand, what chooses no empty one.
            others = [of, *([of[0, 0]] if whole else []), *([] if op in ("max", "min") else [of[:0]])]
            for x in [*of, *others]:
                record(op, fun, [x], case="edge")


# Shapes of a matrix, or a vector, and a vector.
MIXED = [[(2, 3), (3,)], [(3,), (3,)], [(0, 3), (3,)]]


def mixed(x, y):
    return jnp.sin(x) * y.sum(), x @ y


def jacobians():
    def each(op, fun, shapes):
        for dtype in DTYPES:
            inputs = [draw(rng_of(op, dtype, i), dtype, s) for i, s in enumerate(shapes)]
            record(op, fun, inputs, case="jacobian")

    for name, jac in {"jacfwd": jax.jacfwd, "jacrev": jax.jacrev}.items():
        for shape in [(3,), (), (0,), (2, 2)]:
            each(f"{name}_square", jac(lambda x: jnp.sin(x) * x), [shape])
        for last in ((3,), (), (0,)):
            each(f"{name}_outer", jac(lambda x, y: jnp.outer(x, y * x[0])), [(2,), last])

        def tree(x, y, jac=jac):
            (a, b), (c, d) = jac(lambda t: mixed(*t))((x, y))
            return a, b, c, d

        for shapes in MIXED:
            each(f"{name}_tuple", jac(mixed), shapes)
            each(f"{name}_tree", tree, shapes)
    for shape in [(3,), (), (0,), (2, 2)]:
        each("hessian", jax.hessian(lambda x: jnp.sum(jnp.sin(x) * x**2)), [shape])

    def blocks(x, y):
        (a, b), (c, d) = jax.hessian(lambda t: jnp.sum(jnp.tanh(t[0] @ t[1])))((x, y))
        return a, b, c, d

    for shapes in MIXED:
        each("hessian_tree", blocks, shapes)

    def hvp(x, v):
        return jax.jvp(jax.grad(lambda x: jnp.sum(jnp.sin(x) * x**2)), (x,), (v,))[1]

    for shape in [(3,), (), (0,)]:
        each("hvp", hvp, [shape, shape])


@jax.custom_jvp
def by_jvp(x, y):
    return jnp.sin(x) * y


@by_jvp.defjvp
def _(primals, tangents):
    (x, y), (dx, dy) = primals, tangents
    return by_jvp(x, y), 3.0 * (jnp.cos(x) * dx * y + jnp.sin(x) * dy)


@jax.custom_vjp
def by_vjp(x, y):
    return jnp.sin(x) * y


def forward(x, y):
    return jnp.sin(x) * y, (jnp.cos(x), jnp.sin(x), y)


def backward(kept, ct):
    cos, sin, y = kept
    return 3.0 * cos * y * ct, 3.0 * jnp.sum(sin * ct).reshape(y.shape)


by_vjp.defvjp(forward, backward)


def layers(w, x):
    hidden = checkpoint_name(jnp.tanh(w @ x), "hidden")
    return jnp.sum(jnp.tanh(w @ hidden))


def rules():
    both = {"custom_jvp": by_jvp, "custom_vjp": by_vjp}
    for dtype in DTYPES:
        for name, f in both.items():
            # The last argument is a scalar, shared by all examples.
            for shape in [(3,), (), (0,)]:
                x, y = draw(rng_of(name, dtype), dtype, shape), draw(rng_of(name, dtype, 1), dtype, ())
                total = lambda x, y, f=f: jnp.sum(f(x, y))
                wrt = (0, 1)
                grad = lambda x, y, total=total: jax.grad(total, wrt)(x, y)
                record(f"{name}_grad", grad, [x, y], case="rule")
            batched = lambda x, y, f=f: jnp.sum(jax.vmap(f, (0, None))(x, y) ** 2)
            for shape in [(4,), (3, 2), (0,)]:
                x = draw(rng_of(name, dtype), dtype, shape)
                record(f"{name}_vmap", lambda x, y, b=batched: jax.grad(b, (0, 1))(x, y), [x, y], case="rule")
            nested = lambda x, y, f=f: jnp.sum(jax.vmap(jax.vmap(f, (0, None)), (0, None))(x, y))
            for shape in [(4, 2), (1, 3), (2, 0)]:
                w = draw(rng_of(name, dtype, 2), dtype, shape)
                record(f"{name}_nested", lambda x, y, n=nested: jax.grad(n, (0, 1))(x, y), [w, y], case="rule")
        policies = jax.checkpoint_policies
        for name, policy in {
            "nothing": None, "everything": policies.everything_saveable, "dots": policies.dots_saveable,
            "named": policies.save_only_these_names("hidden"),
        }.items():
            for n in (3, 1, 0):
                w, x = draw(rng_of(name, dtype), dtype, (n, n)), draw(rng_of(name, dtype, 1), dtype, (n,))
                f = jax.checkpoint(layers, policy=policy)
                record("checkpoint", jax.grad(f, (0, 1)), [w, x], {"policy": name}, case="rule")


def main():
    edges()
    jacobians()
    rules()
    p.write(pathlib.Path(__file__).parent / "data" / "custom")


if __name__ == "__main__":
    main()
