"""Writes data/custom_jaxprs.json: programs of functions with derivatives of
their own, and under `checkpoint`, in the form of jaxprs.py."""

import jaxprs

import jax.ad_checkpoint  # Programs name it.

BY_JVP = """
        @jax.custom_jvp
        def g(x, y):
            return lax.sin(x) * y
        @g.defjvp
        def g_jvp(primals, tangents):
            (x, y), (dx, dy) = primals, tangents
            return lax.sin(x) * y, lax.cos(x) * dx * y + lax.sin(x) * dy
"""
BY_VJP = """
        @jax.custom_vjp
        def g(x, y):
            return lax.sin(x) * y
        def g_fwd(x, y):
            return lax.sin(x) * y, (lax.cos(x), lax.sin(x), y)
        def g_bwd(kept, ct):
            cos, sin, y = kept
            return cos * y * ct, sin * ct
        g.defvjp(g_fwd, g_bwd)
"""
SINES = """
        def sines(x):
            return lax.sin(lax.sin(jax.ad_checkpoint.checkpoint_name(lax.sin(x), "a")))
"""
TWO = ["f32[3]", "f32[3]"]

PROGRAMS = [
    ("custom_jvp_call", TWO, BY_JVP + """
        def f(x, y):
            return g(x, y) + 1.0
    """),
    ("custom_jvp_jvp", TWO, BY_JVP + """
        def f(x, y):
            return jax.jvp(lambda x: g(x, y), (x,), (y,))
    """),
    ("custom_jvp_captured", TWO, """
        def f(x, y):
            g = jax.custom_jvp(lambda x: lax.sin(x) * y)
            @g.defjvp
            def g_jvp(primals, tangents):
                return primals[0], tangents[0]
            return g(x)
    """),
    ("custom_jvp_two_results", TWO, """
        @jax.custom_jvp
        def g(x, y):
            return x * y, x
        @g.defjvp
        def g_jvp(primals, tangents):
            return primals, tangents
        def f(x, y):
            a, b = g(x, y)
            return a + b
    """),
    ("custom_vjp_call", TWO, BY_VJP + """
        def f(x, y):
            return g(x, y) + 1.0
    """),
    ("custom_vjp_vmap", ["f32[2,3]", "f32[2,3]"], BY_VJP + """
        f = jax.vmap(g)
    """),
    ("checkpoint_call", ["f32[3]"], SINES + """
        f = jax.checkpoint(sines)
    """),
    ("checkpoint_grad", ["f32[3]"], SINES + """
        f = jax.grad(lambda x: jax.numpy.sum(jax.checkpoint(sines)(x)))
    """),
    ("checkpoint_named_grad", ["f32[3]"], SINES + """
        policy = jax.checkpoint_policies.save_only_these_names("a")
        f = jax.grad(lambda x: jax.numpy.sum(jax.checkpoint(sines, policy=policy)(x)))
    """),
    ("checkpoint_vmap", ["f32[2,3]"], SINES + """
        f = jax.vmap(jax.checkpoint(sines, prevent_cse=False))
    """),
    ("checkpoint_jvp", TWO, SINES + """
        f = lambda x, t: jax.jvp(jax.checkpoint(sines), (x,), (t,))
    """),
    ("checkpoint_dots", ["f32[3,3]", "f32[3]"], """
        def layers(w, x):
            return lax.tanh(w @ lax.tanh(w @ x))
        policy = jax.checkpoint_policies.dots_saveable
        f = jax.grad(lambda w, x: jax.numpy.sum(jax.checkpoint(layers, policy=policy)(w, x)))
    """),
    ("barrier", TWO, """
        def f(x, y):
            return lax.optimization_barrier((x, y))
    """),
    ("barrier_grad", ["f32[3]"], """
        def f(x):
            return jax.vjp(lambda x: lax.optimization_barrier(lax.sin(x)), x)[1](x)
    """),
]

# What a checkpoint policy is in JAX's text, and its name.
POLICIES = [
    (r"<function dots_saveable at \w+>", "DotsSaveable(only_if_no_batch_dims=False)"),
    (r"<function save_only_these_names.<locals>.policy at \w+>", "SaveOnlyTheseNames(saveable_names=frozenset({'a'}))"),
]

if __name__ == "__main__":
    jaxprs.main("custom_jaxprs", PROGRAMS, POLICIES)
