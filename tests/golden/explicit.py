"""Writes data/explicit.json: types and programs on a mesh with explicit axes.

The mesh is X: 2, Y: 2, Z: 2. Each of `types` is one operation on operands of given shapes
and shardings: the types of its results, as `jax.typeof` prints them, or the first line of
the error. Each of `programs` is the jaxpr of a function, without what its lines say of the
kind of devices. The operations are named; core/tests/explicit_types.rs and
core/tests/meshes/explicit_programs.rs have the same functions under these names.
"""

import json
import pathlib
import re

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AxisType, NamedSharding, reshard
from jax.sharding import PartitionSpec as P

import jaxprs

jax.config.update("jax_num_cpu_devices", 8)
jax.config.update("jax_platforms", "cpu")

MESH = jax.make_mesh((2, 2, 2), ("X", "Y", "Z"), axis_types=(AxisType.Explicit,) * 3)

OPS = {
    "sin": jnp.sin,
    "add": lax.add,
    "mul_scalar": lambda x: x * 2.0,
    "numpy_add": jnp.add,
    "lt": lax.lt,
    "convert": lambda x: x.astype("int32"),
    "clamp": lambda x: lax.clamp(0.0, x, 1.0),
    "select": lambda x, y: lax.select(lax.gt(x, y), x, y),
    "where_row": lambda x, y: jnp.where(x > 0, x, y),
    "stop_gradient": lax.stop_gradient,
    "optimization_barrier": lax.optimization_barrier,
    "broadcast_in_dim": lambda x: lax.broadcast_in_dim(x, (8, *x.shape), tuple(range(1, x.ndim + 1))),
    "expand_dims": lambda x: jnp.expand_dims(x, 1),
    "squeeze": lambda x: jnp.squeeze(x, 1),
    "transpose": lambda x: jnp.transpose(x, tuple(reversed(range(x.ndim)))),
    "move_axis": lambda x: jnp.moveaxis(x, 0, -1),
    "reshape_split_first": lambda x: lax.reshape(x, (4, 2, *x.shape[1:])),
    "reshape_split_unevenly": lambda x: lax.reshape(x, (1, 8, *x.shape[1:])),
    "reshape_split_odd": lambda x: lax.reshape(x, (3, 4)),
    "reshape_split_three": lambda x: lax.reshape(x, (2, 2, 2, *x.shape[1:])),
    "reshape_merge": lambda x: lax.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:])),
    "reshape_merge_last": lambda x: lax.reshape(x, (*x.shape[:-2], x.shape[-2] * x.shape[-1])),
    "reshape_other": lambda x: lax.reshape(x, (x.shape[0] * 2, x.shape[1] // 2)),
    "reshape_sharded": lambda x: lax.reshape(x, (4, 32), out_sharding=P("X", "Y")),
    "rev": lambda x: lax.rev(x, (0,)),
    "pad": lambda x: lax.pad(x, 0.0, [(1, 1, 0)] + [(0, 0, 0)] * (x.ndim - 1)),
    "pad_odd": lambda x: lax.pad(x, 0.0, [(1, 0, 0)] + [(0, 0, 0)] * (x.ndim - 1)),
    "slice_half": lambda x: lax.slice_in_dim(x, 0, 4),
    "slice_one": lambda x: lax.slice_in_dim(x, 0, 1),
    "dynamic_slice": lambda x: lax.dynamic_slice_in_dim(x, 1, 4),
    "dynamic_slice_one": lambda x: lax.dynamic_slice_in_dim(x, 1, 1),
    "dynamic_update_slice": lambda x, y: lax.dynamic_update_slice(x, y, (0, 0)),
    "concatenate": lambda x, y: lax.concatenate([x, y], 0),
    "stack": lambda x, y: jnp.stack([x, y]),
    "split": lambda x: jnp.split(x, 2),
    "reduce_sum": lambda x: jnp.sum(x, 0),
    "reduce_all": jnp.sum,
    "reduce_last": lambda x: jnp.max(x, -1),
    "reduce_prod": lambda x: jnp.prod(x, 0),
    "mean_kept": lambda x: jnp.mean(x, -1, keepdims=True),
    "argmax": lambda x: lax.argmax(x, 1, "int32"),
    "cumsum": lambda x: lax.cumsum(x, 1),
    "cummax": lambda x: lax.cummax(x, 0),
    "sort": lambda x: lax.sort(x, dimension=0),
    "top_k": lambda x: lax.top_k(x, 2),
    "softmax": lambda x: jax.nn.softmax(x, -1),
    "matmul": jnp.matmul,
    "matmul_xy": lambda x, w: jnp.matmul(x, w, out_sharding=P("X", "Y")),
    "matmul_x": lambda x, w: jnp.matmul(x, w, out_sharding=P("X", None)),
    "matmul_unreduced": lambda x, w: jnp.matmul(x, w, out_sharding=P("X", None, unreduced={"Y"})),
    "matmul_summed": lambda x, w: reshard(jnp.matmul(x, w, out_sharding=P("X", None, unreduced={"Y"})), P("X", None)),
    "batched_dot": lambda x, y: lax.dot_general(x, y, (((2,), (1,)), ((0,), (0,)))),
    "tensordot": lambda x, y: jnp.tensordot(x, y, 1),
    "einsum_attention": lambda q, k: jnp.einsum("bqhd,bkhd->bhqk", q, k),
    "einsum_out": lambda x, w: jnp.einsum("bd,df->fb", x, w, out_sharding=P("Y", "X")),
    "gather_rows": lambda x, i: x[i],
    "gather_sharded": lambda x, i: x.at[i].get(out_sharding=P(None, "Y")),
    "take_columns": lambda x, i: jnp.take(x, i, axis=1, mode="clip"),
    "index_last": lambda x: x[..., 0],
    "index_first": lambda x: x[0],
    "scatter_set": lambda x, i: x.at[i].set(0.0),
    "scatter_add": lambda x, i: x.at[i].add(1.0),
    "conv": lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME"),
    "reduce_window": lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2), (1, 2), "VALID"),
    "cholesky": lambda x: lax.linalg.cholesky(x, symmetrize_input=False),
    "triangular_solve": lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True),
    "qr": lambda x: lax.linalg.qr(x, full_matrices=False),
    "eigh": lambda x: lax.linalg.eigh(x, symmetrize_input=False),
    "svd": lambda x: lax.linalg.svd(x, full_matrices=False),
    "lu": lambda x: lax.linalg.lu(x),
    "fft": lambda x: lax.fft(x.astype("complex64"), "fft", (x.shape[-1],)),
    "reshard": lambda x: reshard(x, P("Z", "X")),
    "unreduced": lambda x: reshard(x, P("X", None, unreduced={"Y"})),
    "unreduced_add": lambda x: (lambda u: u + u)(reshard(x, P("X", None, unreduced={"Y"}))),
    "unreduced_sin": lambda x: jnp.sin(reshard(x, P("X", None, unreduced={"Y"}))),
    "reduced": lambda x: reshard(x, P("X", None, reduced={"Y"})),
    "zeros": lambda x: x + jnp.zeros((8, 16), out_sharding=P("X", "Y")),
    "iota": lambda x: x * jnp.arange(8, out_sharding=P("X")).astype("float32"),
    "random": lambda x: x + jax.random.uniform(jax.random.key(0), (8, 16), out_sharding=P("X", "Y")),
    "scan_rows": lambda x: lax.scan(lambda c, r: (c + r, r * 2), jnp.zeros(x.shape[1:], out_sharding=P(*jax.typeof(x).sharding.spec[1:])), x),
    "scan_mismatch": lambda x: lax.scan(lambda c, r: (c + r, r), jnp.zeros(16), x),
    "while": lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, x))[1],
    "cond": lambda x: lax.cond(jnp.sum(x) > 0, lambda x: x * 2, jnp.sin, x),
    "vmap_dot": lambda x, y: jax.vmap(jnp.dot)(x, y),
    "vmap_add_row": lambda x, y: jax.vmap(lambda a, b: a + b, (0, None))(x, y),
    "vmap_concatenate": lambda x: jax.vmap(lambda r: lax.concatenate([r, jnp.zeros(2)], 0))(x),
    "vmap_reduce": lambda x: jax.vmap(lambda r: r.sum())(x),
    "auto_cumsum": lambda x: jax.sharding.auto_axes(lambda x: jnp.cumsum(x, 0), out_sharding=P("X", "Y"))(x),
}

XY = (8, 16)
TABLE = {
    **dict.fromkeys(
        ["sin", "mul_scalar", "convert", "clamp", "stop_gradient", "optimization_barrier", "broadcast_in_dim",
         "expand_dims", "transpose", "move_axis", "rev", "pad", "pad_odd", "slice_half", "slice_one",
         "dynamic_slice", "dynamic_slice_one", "split", "reduce_sum", "reduce_all", "reduce_last", "reduce_prod",
         "mean_kept", "argmax", "cumsum", "cummax", "sort", "top_k", "softmax", "index_last", "index_first",
         "reduce_window", "fft", "reshard", "reshape_split_first", "reshape_split_unevenly", "reshape_split_three",
         "reshape_merge", "reshape_other", "reshape_sharded", "scan_rows", "scan_mismatch", "while", "cond",
         "vmap_concatenate", "vmap_reduce", "auto_cumsum", "unreduced", "unreduced_add", "unreduced_sin",
         "reduced", "zeros"],
        [[(XY, P("X", "Y"))], [(XY, P(None, "Y"))], [(XY, P("X", None))], [(XY, P(("X", "Y"), None))]],
    ),
    "random": [[(XY, P("X", "Y"))]],
    "reshape_split_odd": [[((12,), P("X"))], [((12,), P(("X", "Y")))]],
    "reshape_merge_last": [[((4, 2, 8), P("X", None, "Y"))], [((4, 2, 8), P("X", "Y", None))], [((4, 2, 8), P(None, None, "Y"))]],
    "squeeze": [[((8, 1, 16), P("X", None, "Y"))]],
    **dict.fromkeys(
        ["add", "lt", "select", "concatenate", "stack", "dynamic_update_slice"],
        [[(XY, P("X", "Y")), (XY, P("X", "Y"))], [(XY, P("X", "Y")), (XY, P("Y", "X"))],
         [(XY, P("X", None)), (XY, P(None, "Y"))], [(XY, P("X", None)), (XY, P(None, None))]],
    ),
    **dict.fromkeys(
        ["numpy_add", "where_row", "vmap_add_row"],
        [[(XY, P("X", "Y")), ((16,), P("Y"))], [(XY, P("X", "Y")), ((16,), P(None))], [(XY, P("X", None)), ((16,), P("Y"))],
         [(XY, P("X", "Y")), ((16,), P("X"))]],
    ),
    **dict.fromkeys(
        ["matmul", "matmul_xy", "matmul_x", "matmul_unreduced", "matmul_summed", "tensordot", "einsum_out"],
        [[(XY, P("X", "Y")), ((16, 8), P("Y", None))], [(XY, P("X", None)), ((16, 8), P(None, "Y"))],
         [(XY, P("X", "Y")), ((16, 8), P(None, None))], [(XY, P("X", "Y")), ((16, 8), P("Z", None))],
         [(XY, P("X", None)), ((16, 8), P(None, "X"))], [(XY, P(None, ("X", "Y"))), ((16, 8), P(("X", "Y"), None))]],
    ),
    "batched_dot": [
        [((4, 8, 16), P("X", "Y", None)), ((4, 16, 8), P("X", None, "Z"))],
        [((4, 8, 16), P("X", None, None)), ((4, 16, 8), P("Y", None, None))],
        [((4, 8, 16), P("X", None, "Y")), ((4, 16, 8), P("X", "Y", None))],
    ],
    "einsum_attention": [
        [((4, 8, 2, 16), P("X", None, "Y", None)), ((4, 8, 2, 16), P("X", None, "Y", None))],
        [((4, 8, 2, 16), P("X", "Y", None, None)), ((4, 8, 2, 16), P("X", None, None, None))],
    ],
    **dict.fromkeys(
        ["gather_rows", "gather_sharded", "scatter_set", "scatter_add"],
        [[(XY, P(None, "Y")), ((4,), P(None), "int32")], [(XY, P("X", "Y")), ((4,), P(None), "int32")],
         [(XY, P(None, "Y")), ((4,), P("X"), "int32")]],
    ),
    "take_columns": [[(XY, P("X", None)), ((4,), P(None), "int32")], [(XY, P("X", "Y")), ((4,), P(None), "int32")]],
    "conv": [
        [((8, 3, 16, 16), P("X", None, None, None)), ((4, 3, 3, 3), P(None, None, None, None))],
        [((8, 3, 16, 16), P("X", None, "Y", None)), ((4, 3, 3, 3), P(None, None, None, None))],
        [((8, 4, 16, 16), P("X", "Y", None, None)), ((4, 4, 3, 3), P(None, None, None, None))],
        [((8, 4, 16, 16), P("X", None, None, None)), ((4, 4, 3, 3), P("Y", None, None, None))],
    ],
    **dict.fromkeys(
        ["cholesky", "qr", "eigh", "svd", "lu"],
        [[((8, 4, 4), P("X", None, None))], [((8, 4, 4), P("X", "Y", None))]],
    ),
    "triangular_solve": [
        [((8, 4, 4), P("X", None, None)), ((8, 4, 4), P("X", None, None))],
        [((8, 4, 4), P("X", None, None)), ((8, 4, 4), P("Y", None, None))],
    ],
    "iota": [[((8,), P("X"))], [((8,), P("Y"))]],
    "vmap_dot": [
        [(XY, P("X", "Y")), (XY, P("X", None))], [(XY, P("X", None)), (XY, P("X", None))],
        [(XY, P("X", None)), (XY, P("Y", None))], [(XY, P("X", "Y")), (XY, P("X", "Y"))],
    ],
}


def loss(x, w):
    return jnp.sum(jnp.sin(jnp.matmul(x, w, out_sharding=P("X", "Y"))))


PROGRAMS = {
    "square_matmul": (
        lambda x, w: jnp.einsum("bd,df->bf", jnp.square(x), w, out_sharding=P("X", "Y")),
        [(XY, P("X", "Y")), ((16, 8), P("Y", None))],
    ),
    "elementwise": (lambda x, y: jnp.sin(x) * y + 1.0, [(XY, P("X", "Y")), (XY, P("X", "Y"))]),
    "bias": (lambda x, b: jnp.tanh(x + b), [(XY, P("X", "Y")), ((16,), P("Y"))]),
    "softmax": (lambda x: jax.nn.softmax(x, -1), [(XY, P("X", None))]),
    "reshape": (lambda x: lax.reshape(x, (4, 2, 16)), [(XY, P("X", "Y"))]),
    "reshape_sharded": (lambda x: lax.reshape(x, (4, 32), out_sharding=P("X", "Y")), [(XY, P("X", "Y"))]),
    "iota": (lambda x: x * jnp.arange(8, out_sharding=P("X")), [((8,), P("X"), "int32")]),
    "zeros": (lambda x: x + jnp.zeros(XY, out_sharding=P("X", None)), [(XY, P("X", None))]),
    "reshard": (lambda x: reshard(x, P(None, "Y")) * 2.0, [(XY, P("X", "Y"))]),
    "dot_jvp": (
        lambda x, w: jax.jvp(lambda x: jnp.matmul(x, w, out_sharding=P("X", None)), (x,), (x,)),
        [(XY, P("X", "Y")), ((16, 8), P("Y", None))],
    ),
    "dot_vjp": (
        lambda x, w, ct: jax.vjp(lambda x, w: jnp.matmul(x, w, out_sharding=P("X", "Y")), x, w)[1](ct),
        [(XY, P("X", "Y")), ((16, 8), P("Y", None)), ((8, 8), P("X", "Y"))],
    ),
    "sum_vjp": (lambda x, ct: jax.vjp(lambda x: jnp.sum(x, 0), x)[1](ct), [(XY, P("X", "Y")), ((16,), P("Y"))]),
    "reshape_vjp": (
        lambda x, ct: jax.vjp(lambda x: lax.reshape(x, (4, 2, 16)), x)[1](ct),
        [(XY, P("X", "Y")), ((4, 2, 16), P("X", None, "Y"))],
    ),
    "vmap_dot": (lambda x, y: jax.vmap(jnp.dot)(x, y), [(XY, P("X", None)), (XY, P("X", None))]),
    "vmap_matmul": (
        lambda x, w: jax.vmap(lambda x, w: jnp.matmul(x, w, out_sharding=P("Y")), (0, None))(x, w),
        [(XY, P("X", None)), ((16, 8), P(None, "Y"))],
    ),
    "scan": (
        lambda x: lax.scan(lambda c, r: (c + r, jnp.sin(c)), jnp.zeros(16, out_sharding=P("Y")), x),
        [(XY, P(None, "Y"))],
    ),
}


def operand(shape, spec, dtype="float32"):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(MESH, spec))


def told(shape, spec, dtype="float32"):
    entries = [list(e) if isinstance(e, tuple) else e for e in spec]
    return {"dtype": dtype, "shape": list(shape), "spec": entries}


def type_row(op, args):
    row = {"op": op, "args": [told(*a) for a in args]}
    try:
        jaxpr = jax.make_jaxpr(OPS[op])(*[operand(*a) for a in args])
        return {**row, "outs": [a.str_short().replace("~", "") for a in jaxpr.out_avals]}
    except Exception as e:
        return {**row, "error": f"{type(e).__name__}: {str(e).strip().splitlines()[0]}"}


def program(name):
    fun, args = PROGRAMS[name]
    text = jaxprs.counted(str(jax.make_jaxpr(fun)(*[operand(*a) for a in args])))
    text = re.sub(r", device_kind=\w+, num_cores=None, platform=\w+", "", text)
    text = re.sub(r"np\.int64\((\d+)\)", r"\1", text)
    return {"name": name, "args": [told(*a) for a in args], "jaxpr": text}


def main():
    with jax.set_mesh(MESH):
        types = [type_row(op, args) for op, rows in TABLE.items() for args in rows]
        programs = [program(name) for name in PROGRAMS]
    assert set(TABLE) == set(OPS), set(TABLE) ^ set(OPS)
    data = pathlib.Path(__file__).parent / "data" / "explicit.json"
    data.write_text(json.dumps({"jax": jax.__version__, "types": types, "programs": programs}, indent=1) + "\n")
    print(len(types), "types,", sum("error" in r for r in types), "errors,", len(programs), "programs")


if __name__ == "__main__":
    main()
