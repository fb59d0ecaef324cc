"""Writes data/control_jaxprs.json: programs of control flow and the text of
their jaxprs, in the form of jaxprs.py."""

import jaxprs

PROGRAMS = [
    ("scan_captured", ["f32[2]", "f32[2]", "f32[4,2]"], """
        def f(w, c, xs):
            return lax.scan(lambda c, x: (lax.tanh(c * w + x), c), c, xs)
    """),
    ("scan_reverse_unroll", ["f32[]", "f32[5]"], """
        def f(c, xs):
            return lax.scan(lambda c, x: (c * x, c + x), c, xs, reverse=True, unroll=2)
    """),
    ("scan_without_elements", ["f32[]"], """
        def f(c):
            return lax.scan(lambda c, _: (lax.sin(c), c), c, None, length=3)
    """),
    ("scan_counter", ["f32[3]"], """
        def f(xs):
            return lax.scan(lambda c, x: ((c[0] + x, c[1] + 1), c[1]), (jnp.float32(0.0), 0), xs)
    """),
    ("scan_forwarded", ["f32[2]", "f32[]", "f32[3]"], """
        def f(k, c, xs):
            return lax.scan(lambda kc, x: ((kc[0], kc[1] + x), (x, kc[1])), (k, c), xs)
    """),
    ("scan_weak_carry", ["f32[3]"], """
        def f(xs):
            return lax.scan(lambda c, x: (c + x, c), 0, xs)
    """),
    ("scan_nested", ["f32[]", "f32[3,2]"], """
        def f(c, xss):
            inner = lambda c, x: (c * x, lax.sin(c))
            return lax.scan(lambda c, xs: lax.scan(inner, c, xs), c, xss)
    """),
    ("scan_of_cond", ["f32[]", "f32[3]"], """
        def f(c, xs):
            step = lambda c, x: (lax.cond(x > 0.0, lambda c: c * x, lambda c: -c, c), x)
            return lax.scan(step, c, xs)
    """),
    ("jvp_scan", ["f32[]", "f32[3]", "f32[]"], """
        def f(c, xs, t):
            g = lambda c: lax.scan(lambda c, x: (c * x, lax.sin(c)), c, xs)
            return jax.jvp(g, (c,), (t,))
    """),
    ("jvp_scan_carry_without_tangent", ["f32[2]", "f32[2]"], """
        def f(xs, t):
            g = lambda xs: lax.scan(lambda c, x: ((c[1], x), c[0]), (jnp.float32(0.0), jnp.float32(1.0)), xs)
            return jax.jvp(g, (xs,), (t,))
    """),
    ("grad_scan", ["f32[]", "f32[3]"], """
        def f(c, xs):
            g = lambda c, xs: lax.scan(lambda c, x: (lax.sin(c * x), c), c, xs)[0]
            return jax.grad(g, (0, 1))(c, xs)
    """),
    ("grad_scan_captured", ["f32[]", "f32[]", "f32[3]"], """
        def f(w, c, xs):
            g = lambda w, c: lax.scan(lambda c, x: (lax.sin(c * w) + x, None), c, xs)[0]
            return jax.grad(g, (0, 1))(w, c)
    """),
    ("grad_scan_hoisted", ["f32[2]", "f32[2]", "f32[3,2]"], """
        def f(w, c, xs):
            def g(c):
                c, _ = lax.scan(lambda c, x: (c * lax.sin(w) + x, None), c, xs)
                return lax.reduce_sum(c, axes=(0,))
            return jax.grad(g)(c)
    """),
    ("grad_scan_zero_carry", ["f32[]", "f32[3]"], """
        def f(w, xs):
            g = lambda w: lax.scan(lambda c, x: (c + w * x, None), jnp.float32(0.0), xs)[0]
            return jax.grad(g)(w)
    """),
    ("vmap_scan", ["f32[]", "f32[4,3]"], """
        def f(c, xs):
            g = lambda c, xs: lax.scan(lambda c, x: (c * x, c), c, xs)
            return jax.vmap(g, (None, 0))(c, xs)
    """),
    ("vmap_scan_elements_shared", ["f32[4]", "f32[3]"], """
        def f(c, xs):
            g = lambda c, xs: lax.scan(lambda c, x: (c * x, lax.sin(x)), c, xs)
            return jax.vmap(g, (0, None), (0, None))(c, xs)
    """),
    ("map_sine", ["f32[3,2]"], """
        def f(xs):
            return lax.map(lambda x: lax.sin(x), xs)
    """),
    ("cond_captured", ["bool[]", "f32[2]", "f32[2]"], """
        def f(p, x, y):
            return lax.cond(p, lambda: x * y, lambda: -y)
    """),
    ("cond_number", ["i32[]", "f32[2]"], """
        def f(n, x):
            return lax.cond(n, lambda x: (x, lax.sin(x)), lambda x: (x, x), x)
    """),
    ("switch_three", ["i32[]", "f32[3]"], """
        def f(i, x):
            return lax.switch(i, [lax.sin, lax.cos, lambda x: x * 2.0], x)
    """),
    ("jvp_cond", ["bool[]", "f32[]", "f32[]"], """
        def f(p, x, t):
            return jax.jvp(lambda x: lax.cond(p, lax.sin, lambda x: lax.exp(x), x), (x,), (t,))
    """),
    ("grad_cond", ["bool[]", "f32[]"], """
        def f(p, x):
            return jax.grad(lambda x: lax.sin(lax.cond(p, lambda x: x * 2.0, lambda x: -x, x)))(x)
    """),
    ("vmap_cond_predicate", ["bool[3]", "f32[3]"], """
        def f(p, x):
            return jax.vmap(lambda p, x: lax.cond(p, lax.sin, lax.cos, x))(p, x)
    """),
    ("vmap_cond_operand", ["bool[]", "f32[3]", "f32[]"], """
        def f(p, x, y):
            g = lambda x: lax.cond(p, lambda x: (x, y), lambda x: (lax.sin(x), -y), x)
            return jax.vmap(g)(x)
    """),
    ("vmap_switch", ["i32[3]", "f32[3,2]"], """
        def f(i, x):
            g = lambda i, x: lax.switch(i, [lax.sin, lax.cos, lax.tanh], x)
            return jax.vmap(g)(i, x)
    """),
    ("while_captured", ["f32[]", "f32[]", "f32[2]"], """
        def f(limit, w, x):
            return lax.while_loop(lambda c: c[0] < limit, lambda c: (c[0] + 1.0, c[1] * w), (w, x))
    """),
    ("while_forwarded", ["f32[]", "f32[2]"], """
        def f(x, k):
            return lax.while_loop(lambda c: c[0] < 9.0, lambda c: (c[0] * 2.0, c[1]), (x, k))
    """),
    ("jvp_while", ["f32[]", "f32[]", "f32[]"], """
        def f(w, x, t):
            g = lambda x: lax.while_loop(lambda c: c[1] < 3, lambda c: (c[0] * w, c[1] + 1), (x, 0))
            return jax.jvp(lambda x: g(x)[0], (x,), (t,))
    """),
    ("vmap_while", ["f32[4]", "i32[]"], """
        def f(x, n):
            g = lambda x: lax.while_loop(lambda c: c[1] < n, lambda c: (c[0] * 2.0, c[1] + 1), (x, 0))
            return jax.vmap(g)(x)
    """),
    ("vmap_while_predicate", ["f32[4]"], """
        def f(x):
            return jax.vmap(lambda x: lax.while_loop(lambda c: c > 1.0, lambda c: c * 0.5, x))(x)
    """),
    ("fori_static", ["f32[]"], """
        def f(x):
            return lax.fori_loop(0, 5, lambda i, c: c * i, x)
    """),
    ("fori_dynamic", ["f32[]", "i32[]"], """
        def f(x, n):
            return lax.fori_loop(0, n, lambda i, c: c * 2.0, x)
    """),
    ("grad_fori_static", ["f32[]"], """
        def f(x):
            return jax.grad(lambda x: lax.fori_loop(1, 4, lambda i, c: lax.sin(c) * i, x))(x)
    """),
]

if __name__ == "__main__":
    jaxprs.main("control_jaxprs", PROGRAMS)
