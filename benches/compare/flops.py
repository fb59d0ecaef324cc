"""Floating-point operations of a function's matrix products and convolutions, counted in its jaxpr.

XLA's own estimate counts the body of a loop once, and an elementwise operation as one instruction. This
module counts the multiplications and additions, and loop bodies as often as they run.
"""

import math


def dot(eqn):
    (contracted, _), _ = eqn.params["dimension_numbers"]
    lhs, out = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    return 2 * math.prod(out) * math.prod(lhs[axis] for axis in contracted)


def convolution(eqn):
    """Counts two operations for each element of the window of each element of the result, including padding."""
    kernel, out = eqn.invars[1].aval.shape, eqn.outvars[0].aval.shape
    out_features = kernel[eqn.params["dimension_numbers"].rhs_spec[0]]
    return 2 * math.prod(out) * math.prod(kernel) // out_features // eqn.params["batch_group_count"]


def inner(eqn):
    """Returns the jaxprs that an equation runs, each with the number of times."""
    times = eqn.params.get("length", 1) if eqn.primitive.name == "scan" else 1
    for value in eqn.params.values():
        for part in value if isinstance(value, (tuple, list)) else (value,):
            part = getattr(part, "jaxpr", part)
            if hasattr(part, "eqns"):
                yield part, times


def of_jaxpr(jaxpr):
    total = 0
    for eqn in jaxpr.eqns:
        count = {"dot_general": dot, "conv_general_dilated": convolution}.get(eqn.primitive.name)
        total += count(eqn) if count else sum(times * of_jaxpr(part) for part, times in inner(eqn))
    return total


def of_products(function, *types):
    """Returns the number of operations of a call of `function` with arguments of these types."""
    import jax

    return of_jaxpr(jax.make_jaxpr(function)(*types).jaxpr)
