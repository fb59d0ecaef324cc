"""Writes data/shard_map_jaxprs.json: programs that devices run for their parts,
and the text of their jaxprs, in the form of jaxprs.py. Gradients are not among
them: JAX has residuals in front of results, and Ramie behind them. `m` is a mesh of 8
virtual devices with automatic axes x (4) and y (2)."""

import jax

jax.config.update("jax_num_cpu_devices", 8)

import jaxprs

MESH = """
        from jax.sharding import AxisType, PartitionSpec as P
        m = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
        def smap(f, in_specs, out_specs, **o):
            return jax.shard_map(f, mesh=m, in_specs=in_specs, out_specs=out_specs, axis_names={"x"}, **o)
"""

PROGRAMS = [(name, avals, MESH + source) for name, avals, source in [
    ("elementwise", ["f32[8,2]"], """
        f = smap(lambda x: jnp.sin(x), P("x"), P("x"))
    """),
    ("all_axes", ["f32[8,2]"], """
        f = jax.shard_map(lambda x: jnp.sin(x), mesh=m, in_specs=P("x"), out_specs=P("x"), axis_names={"x", "y"})
    """),
    ("invariant_operand_varies", ["f32[8]", "f32[2]"], """
        f = smap(lambda x, w: x * w, (P("x"), P()), P("x"))
    """),
    ("sum_is_invariant", ["f32[8]"], """
        f = smap(lambda x: lax.psum(x, "x"), P("x"), P())
    """),
    ("mean_of_invariant", ["f32[2]"], """
        f = smap(lambda x: lax.pmean(x, "x"), P(), P())
    """),
    ("greatest", ["f32[8]"], """
        f = smap(lambda x: lax.pmax(x, "x"), P("x"), P())
    """),
    ("sum_without_check", ["f32[8]"], """
        f = smap(lambda x: lax.psum(x, "x"), P("x"), P(), check_vma=False)
    """),
    ("gather_and_scatter", ["f32[8,3]"], """
        def body(x):
            g = lax.all_gather(x, "x", axis=0, tiled=True)
            return lax.psum_scatter(jnp.sin(g), "x", scatter_dimension=0, tiled=True)
        f = smap(body, P("x"), P("x"))
    """),
    ("gather_invariant", ["f32[8,3]"], """
        f = smap(lambda x: lax.all_gather(x, "x", axis=1, tiled=True, to="invarying"), P("x"), P())
    """),
    ("ring_of_parts", ["f32[8]"], """
        f = smap(lambda x: x + lax.ppermute(x, "x", [(i, (i + 1) % 4) for i in range(4)]), P("x"), P("x"))
    """),
    ("place", ["f32[8]"], """
        f = smap(lambda x: x * lax.axis_index("x").astype(jnp.float32), P("x"), P("x"))
    """),
    ("constant_varies", ["f32[8]"], """
        f = smap(lambda x: lax.select(x > jnp.float32(0), x, jnp.zeros((2,), jnp.float32)), P("x"), P("x"))
    """),
    ("captured", ["f32[8]", "f32[2]"], """
        def f(x, w):
            return smap(lambda x: x * w, P("x"), P("x"))(x)
    """),
    ("scan_carry", ["f32[8]"], """
        def body(x):
            start = lax.pcast(jnp.float32(0.0), "x", to="varying")
            return lax.scan(lambda c, e: (c + e, c), start, x)[1]
        f = smap(body, P("x"), P("x"))
    """),
    ("jvp_elementwise", ["f32[8]", "f32[2]", "f32[8]"], """
        def f(x, w, t):
            return jax.jvp(lambda x: smap(lambda x, w: jnp.sin(x) * w, (P("x"), P()), P("x"))(x, w), (x,), (t,))
    """),
    ("grad_inside", ["f32[8]", "f32[2]"], """
        def body(x, w):
            return jax.grad(lambda w: lax.psum((x * w).sum(), "x"))(w)
        f = smap(body, (P("x"), P()), P())
    """),
    ("batched", ["f32[3,8]", "f32[3,2]"], """
        f = jax.vmap(smap(lambda x, w: x * w + lax.psum(x, "x"), (P("x"), P()), P("x")))
    """),
    ("inner_jit", ["f32[8]"], """
        f = smap(lambda x: jax.jit(lambda y: lax.psum(y * jnp.float32(2), "x"))(x), P("x"), P())
    """),
    ("checkpointed", ["f32[8]"], """
        f = smap(lambda x: jax.checkpoint(lambda y: lax.psum(jnp.sin(y), "x"))(x), P("x"), P())
    """),
    ("nested", ["f32[8,4]"], """
        inner = lambda x: jax.shard_map(lambda x: lax.psum(x, "y"), in_specs=P(None, "y"), out_specs=P(), axis_names={"y"})(x)
        f = smap(lambda x: inner(jnp.sin(x)), P("x"), P("x"))
    """),
]]


if __name__ == "__main__":
    # A mesh that comes from what is around does not know its devices in JAX.
    jaxprs.main("shard_map_jaxprs", PROGRAMS, [
        (r"AbstractMesh\((.*), device_kind=.*\)", r"Mesh(\1)"),
    ])
