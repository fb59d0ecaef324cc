"""Writes data/lax.safetensors and data/lax.json.

Rows are laid out as in primitives.py: products in groups, halves of products,
and functions of `jax.lax` that are made of other operations.
"""

import pathlib

import primitives as p  # First: it sets the environment that JAX reads.
from primitives import FLOATS, INTS, draw, record, rng_of, specials

import numpy as np
from jax import lax


def ragged():
    for dtype in FLOATS + INTS:
        full = dtype in ("f32", "f64")
        shapes = [("regular", 5, 2, 3, [2, 0, 2]), ("regular", 4, 3, 2, [1, 3]), ("empty", 0, 2, 1, [0, 0]),
                  ("regular", 3, 2, 2, [3, 2])]
        for case, m, k, n, sizes in shapes if full else shapes[:1]:
            rng = rng_of("ragged", dtype, m, k, n)
            x, y = draw(rng, dtype, (m, k)), draw(rng, dtype, (len(sizes), k, n))
            sizes = np.array(sizes, np.int32)
            record("ragged_dot", lax.ragged_dot, [x, y, sizes], case=case)
    # Groups of rows with batch and other axes before; of a contracted axis; of the batch.
    configs = [
        ((2, 4, 3), (2, 2, 3, 2), [[[2], [2]], [[0], [0]]], 1, [1], [[1, 2], [4, 0]], True),
        ((3, 2, 4), (3, 2, 2), [[[0], [0]], [[], []]], 2, [2], [[1, 2], [2, 2]], True),
        ((4, 3), (2, 5, 3), [[[1], [2]], [[], []]], 0, [0], [3, 1], True),
        ((3, 4), (4, 2), [[[1], [0]], [[], []]], 1, [], [2, 1, 1], False),
        ((2, 4, 3), (2, 4, 2), [[[1], [1]], [[0], [0]]], 1, [], [[1, 2], [4, 0]], False),
        ((3, 2), (3, 2), [[[1], [1]], [[0], [0]]], 0, [], [1, 2], False),
    ]
    for dtype in ("f32", "f64"):
        for index, (left, right, dims, ragged_dim, group, sizes, derivative) in enumerate(configs):
            rng = rng_of("ragged_general", dtype, index)
            numbers = lax.RaggedDotDimensionNumbers(dims, [ragged_dim], group)
            fun = lambda x, y, s: lax.ragged_dot_general(x, y, s, numbers)
            params = {"dimension_numbers": dims, "lhs_ragged": ragged_dim, "rhs_group": group}
            record("ragged_dot_general", fun, [draw(rng, dtype, left), draw(rng, dtype, right), np.array(sizes, np.int32)],
                   params, derivative=derivative)


def functions():
    for dtype in INTS:
        s = specials(dtype)
        x, y = (g.reshape(-1) for g in np.meshgrid(s, s, indexing="ij"))
        record("mulhi", lax.mulhi, [x, y], case="special")
    for case, shape in (("regular", (2, 3)), ("scalar", ()), ("empty", (0, 2))):
        rng = rng_of("mulhi", shape)
        record("mulhi", lax.mulhi, [draw(rng, "i32", shape) * 2**28, draw(rng, "i32", shape)], case=case)
    x = draw(rng_of("lax"), "f32", (2, 3, 4))
    record("broadcast", lambda x: lax.broadcast(x, (2, 1)), [x])
    record("collapse", lambda x: lax.collapse(x, 1, 3), [x])
    record("collapse", lambda x: lax.collapse(x, 1, 3), [np.zeros((2, 0, 3), np.float32)], case="empty")
    for keepdims in (True, False):
        record("index_in_dim", lambda x: lax.index_in_dim(x, -1, 1, keepdims), [x], {"keepdims": keepdims})
        for index in (1, -1, 7):
            record("dynamic_index_in_dim", lambda x, i: lax.dynamic_index_in_dim(x, i, 1, keepdims),
                   [x, np.int32(index)], {"keepdims": keepdims})
    for shape in ((2, 4), (2, 1, 4)):
        record("dynamic_update_index_in_dim", lambda x, u, i: lax.dynamic_update_index_in_dim(x, u, i, 1),
               [x, draw(rng_of("update"), "f32", shape), np.int32(2)])
    record("index_take", lambda x, i, j: lax.index_take(x, (i, j), (0, 2)),
           [x, np.array([1, -1, 5], np.int32), np.array([0, 3, -6], np.int32)])
    record("index_take", lambda x, i: lax.index_take(x, (i,), (1,)), [x, np.array([2, 2], np.int32)])
    for left, right, lhs_scale, rhs_scale in (((2, 4), (4, 3), (2, 2), (1, 3)), ((2, 3, 6), (2, 6, 2), (2, 3, 2), (2, 3, 2))):
        rng = rng_of("scaled_dot", left)
        operands = [draw(rng, "bf16", shape) for shape in (left, right, lhs_scale, rhs_scale)]
        fun = lambda x, y, s, t: lax.scaled_dot(x, y, lhs_scale=s, rhs_scale=t, preferred_element_type=np.float32)
        record("scaled_dot", fun, operands, derivative=False)
    record("scaled_dot", lambda x, y: lax.scaled_dot(x, y), operands[:2], derivative=False)
    record("batch_matmul", lax.batch_matmul, [x, draw(rng_of("matmul"), "f32", (2, 4, 2))])
    keys = np.array([[2, 1, 2, 0], [0, 0, 1, -1]], np.int32)
    record("sort_key_val", lambda k, v: lax.sort_key_val(k, v, 1), [keys, np.arange(8, dtype=np.int32).reshape(2, 4)])
    for op in ("approx_max_k", "approx_min_k"):
        fun = getattr(lax, op)
        record(op, lambda x: fun(x, 2, 1), [x])


def other_shapes():
    """Empty and 0-d operands, and operands of other sizes."""
    new = lambda *shape: draw(rng_of("other_shapes", shape), "f32", shape)
    numbers = [[[1], [2]], [[], []]]
    native = lax.RaggedDotDimensionNumbers(numbers, [0], [0])
    record("ragged_dot_general", lambda x, y, s: lax.ragged_dot_general(x, y, s, native), [new(0, 3), new(2, 5, 3), np.zeros(2, np.int32)],
           {"dimension_numbers": numbers, "lhs_ragged": 0, "rhs_group": [0]}, "empty")
    for case, shape in (("scalar", ()), ("empty", (0, 2))):
        record("broadcast", lambda x: lax.broadcast(x, (2, 1)), [new(*shape)], case=case)
    record("collapse", lambda x: lax.collapse(x, 1, 3), [new(2, 1, 3, 2)])
    record("collapse", lambda x: lax.collapse(x, 0, 0), [new()], case="scalar")
    for keepdims in (True, False):
        params = {"keepdims": keepdims}
        for case, shape in (("regular", (2, 1)), ("empty", (0, 3))):
            record("index_in_dim", lambda x: lax.index_in_dim(x, -1, 1, keepdims), [new(*shape)], params, case)
            record("dynamic_index_in_dim", lambda x, i: lax.dynamic_index_in_dim(x, i, 1, keepdims), [new(*shape), np.int32(-1)], params, case)
    record("dynamic_update_index_in_dim", lambda x, u, i: lax.dynamic_update_index_in_dim(x, u, i, 1),
           [new(0, 3), new(0), np.int32(-1)], case="empty")
    for case, shape, count in (("empty", (2, 3), 0), ("empty", (0, 3), 2)):
        record("index_take", lambda x, i: lax.index_take(x, (i,), (1,)), [new(*shape), np.arange(count, dtype=np.int32)], case=case)
    operands = [draw(rng_of("scaled_dot", "empty"), "bf16", shape) for shape in ((0, 4), (4, 3), (0, 2), (1, 3))]
    fun = lambda x, y, s, t: lax.scaled_dot(x, y, lhs_scale=s, rhs_scale=t, preferred_element_type=np.float32)
    record("scaled_dot", fun, operands, case="empty", derivative=False)
    for case, left, right in (("regular", (2, 3), (3, 2)), ("empty", (0, 2, 3), (0, 3, 1)), ("empty", (2, 0), (0, 2))):
        record("batch_matmul", lax.batch_matmul, [new(*left), new(*right)], case=case)
    for case, shape in (("regular", (1, 3)), ("empty", (0, 3)), ("empty", (2, 0))):
        values = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
        record("sort_key_val", lambda k, v: lax.sort_key_val(k, v, 1), [new(*shape), values], case=case)
    keys = specials("f32").reshape(2, 6)
    record("sort_key_val", lambda k, v: lax.sort_key_val(k, v, 1), [keys, np.arange(12, dtype=np.int32).reshape(2, 6)], case="special")
    for op in ("approx_max_k", "approx_min_k"):
        fun = getattr(lax, op)
        for case, shape in (("regular", (2, 5)), ("empty", (0, 3))):
            record(op, lambda x: fun(x, 2, 1), [new(*shape)], case=case)


def main():
    for part in (ragged, functions, other_shapes):
        part()
    p.write(pathlib.Path(__file__).parent / "data" / "lax")


if __name__ == "__main__":
    main()
