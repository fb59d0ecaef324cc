"""Writes data/jaxprs.json: small programs and the text of their jaxprs.

Each row holds the program as Python source (defining `f`), the avals of its
arguments, and exactly what `print(jax.make_jaxpr(f)(*args))` shows.
"""

import json
import pathlib
import re
import textwrap

import jax
import jax.numpy as jnp
from jax import lax

# name, argument avals ("f32[3]"), source. Arguments are zeros of the aval.
PROGRAMS = [
    ("simple_graph", ["f32[3]"], """
        def f(x):
            x = x + 2
            x = x ** 2
            x = x + 3
            return x.mean()
    """),
    ("simple_graph_grad", ["f32[3]"], """
        def simple_graph(x):
            return ((x + 2) ** 2 + 3).mean()
        f = jax.grad(simple_graph)
    """),
    ("identity", ["f32[]"], """
        def f(x):
            return x
    """),
    ("no_arguments", [], """
        def f():
            return lax.iota(jnp.int32, 4)
    """),
    ("constant_output", ["f32[2]"], """
        def f(x):
            return 1.0, x, 3
    """),
    ("elementwise_chain", ["f32[2,3]", "f32[2,3]"], """
        def f(x, y):
            return lax.tanh(lax.sin(x) * y) - lax.exp(-y)
    """),
    ("literals", ["f32[]", "i32[]"], """
        def f(x, n):
            return x * 0.1 + 1e-8, n * 7 - 1, x / 1e20, x < 3, n == 2
    """),
    ("literal_nonfinite", ["f32[4]"], """
        def f(x):
            return lax.max(lax.min(x, jnp.float32(jnp.inf)), -jnp.float32(jnp.inf))
    """),
    ("integer_and_shift", ["i32[4]", "i32[4]"], """
        def f(a, b):
            c = lax.shift_left(lax.bitwise_and(a, b), lax.bitwise_xor(a, b))
            return lax.rem(c, b), lax.div(c, a), lax.population_count(c)
    """),
    ("compare_select", ["f32[5]"], """
        def f(x):
            return lax.select(x > 0.0, x, x * 0.01)
    """),
    ("clamp_and_powers", ["f32[3]"], """
        def f(x):
            return lax.clamp(0.0, x, 1.0), lax.integer_pow(x, 3), lax.pow(x, 2.5), lax.square(x), lax.rsqrt(x), lax.round(x)
    """),
    ("convert_types", ["f32[3]", "bool[3]"], """
        def f(x, m):
            return (lax.convert_element_type(x, jnp.bfloat16),
                    lax.convert_element_type(m, jnp.int32),
                    lax.convert_element_type(x, jnp.float16),
                    lax.bitcast_convert_type(x, jnp.uint32))
    """),
    ("promotion", ["i32[3]", "f32[3]", "bf16[3]"], """
        def f(n, x, h):
            return n + x, h + x, h * 2, n * 2.5
    """),
    ("weak_scalar", ["f32[3]"], """
        def f(x):
            s = jnp.sin(1.0)
            return x * s
    """),
    ("unused_result", ["f32[3]", "f32[4]"], """
        def f(x, unused):
            lax.exp(x)
            _, i = lax.top_k(x, 2)
            return i
    """),
    ("reductions", ["f32[2,3,4]"], """
        def f(x):
            return (jnp.sum(x), jnp.sum(x, axis=1), lax.reduce_max(x, (0, 2)),
                    lax.reduce_min(x, (0,)), lax.reduce_prod(x, (2,)), lax.argmax(x, 1, jnp.int32))
    """),
    ("reduce_logical", ["bool[2,3]"], """
        def f(m):
            return lax.reduce_and(m, (1,)), lax.reduce_or(m, (0, 1)), ~m
    """),
    ("cumulative", ["f32[2,3]"], """
        def f(x):
            return lax.cumsum(x, 1), lax.cummax(x, 0), lax.cumprod(x, 1, reverse=True)
    """),
    ("matmul", ["f32[2,3]", "f32[3,4]"], """
        def f(a, b):
            return a @ b
    """),
    ("dot_general_batched", ["f32[5,2,3]", "f32[5,3,4]"], """
        def f(a, b):
            return lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,))))
    """),
    ("dot_precision", ["bf16[2,3]", "bf16[3,4]"], """
        def f(a, b):
            return lax.dot_general(a, b, (((1,), (0,)), ((), ())),
                                   precision=lax.Precision.HIGHEST,
                                   preferred_element_type=jnp.float32)
    """),
    ("reshape_transpose", ["f32[2,3,4]"], """
        def f(x):
            y = lax.transpose(lax.reshape(x, (6, 4)), (1, 0))
            return lax.squeeze(lax.expand_dims(y, (0,)), (0,)), lax.rev(y, (0,))
    """),
    ("broadcasts", ["f32[3]", "f32[]"], """
        def f(x, s):
            return lax.broadcast_in_dim(x, (2, 3), (1,)), lax.broadcast(s, (4,)), x + s
    """),
    ("slices", ["f32[6,4]", "i32[]"], """
        def f(x, i):
            a = lax.slice(x, (1, 0), (5, 4), (2, 1))
            b = lax.slice(x, (0, 1), (6, 3))
            c = lax.dynamic_slice(x, (i, 0), (2, 4))
            d = lax.dynamic_update_slice(x, c, (i, i))
            return a, b, c, d
    """),
    ("concatenate_pad", ["f32[2,3]", "f32[1,3]"], """
        def f(x, y):
            z = lax.concatenate([x, y], 0)
            return lax.pad(z, 0.0, ((1, 2, 0), (0, -1, 1)))
    """),
    ("sorts", ["f32[4]", "i32[4]"], """
        def f(x, n):
            return lax.sort(x), lax.sort((x, n), num_keys=1), lax.top_k(x, 2)
    """),
    ("gather_rows", ["f32[5,3]", "i32[2]"], """
        def f(x, i):
            dn = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
            return lax.gather(x, i[:, None], dn, (1, 3), mode="clip")
    """),
    ("nested_jit", ["f32[3]"], """
        @jax.jit
        def g(x):
            return jnp.sin(x) * 2.0
        def f(x):
            return g(x) + 1.0
    """),
    ("nested_jit_twice", ["f32[3]"], """
        @jax.jit
        def g(x):
            return jnp.sin(x) * 2.0
        def f(x):
            return g(g(x) + 1.0)
    """),
    ("nested_jit_two_shapes", ["f32[3]", "f32[2]"], """
        @jax.jit
        def g(x):
            return jnp.sin(x) * 2.0
        def f(x, y):
            return g(x), g(y)
    """),
    ("nested_jit_deep", ["f32[3]", "f32[3]"], """
        @jax.jit
        def inner(a, b):
            return a * b, a + b
        @jax.jit
        def outer(a, b):
            p, s = inner(a, b)
            return p - s
        f = outer
    """),
    ("nested_jit_closure", ["f32[3]", "f32[3]"], """
        def f(x, y):
            @jax.jit
            def g(z):
                return z * y
            return g(x)
    """),
    ("captured_array", ["f32[3]"], """
        table = jnp.array([1.0, 2.0, 3.0])
        def f(x):
            return x * table
    """),
    ("jit_donate", ["f32[3]"], """
        @jax.jit(donate_argnums=0)
        def f(x):
            return x + 1.0
    """),
    ("nested_jit_state", ["f32[3]", "f32[]"], """
        @jax.jit(donate_argnums=0)
        def g(x, y):
            x = x * y
            return x, jnp.sin(x)
        def f(x, y):
            x, s = g(x, y)
            return *jax.vmap(g, in_axes=(0, None))(x, y), s
    """),
    ("scatter_types", ["f32[5]", "i32[5]", "bf16[5]", "i32[2]"], """
        def f(x, n, h, i):
            return x.at[i].add(1.0), x.at[i].add(2.0), n.at[i].max(3), h.at[i].multiply(2.0)
    """),
    ("grad_product", ["f32[]", "f32[]"], """
        f = jax.grad(lambda x, y: jnp.sin(x) * y, argnums=(0, 1))
    """),
    ("value_and_grad_sum_squares", ["f32[3]"], """
        f = jax.value_and_grad(lambda x: jnp.sum(x * x))
    """),
    ("grad_linear_loss", ["f32[3,2]", "f32[2]", "f32[4,3]", "f32[4,2]"], """
        def loss(w, b, x, y):
            p = x @ w + b
            return jnp.mean((p - y) ** 2)
        f = jax.grad(loss, argnums=(0, 1))
    """),
    ("grad_tanh_mlp", ["f32[3,4]", "f32[4,1]", "f32[2,3]"], """
        def loss(w1, w2, x):
            return jnp.sum(jnp.tanh(x @ w1) @ w2)
        f = jax.grad(loss)
    """),
    ("jvp_exp_log", ["f32[3]", "f32[3]"], """
        f = lambda x, t: jax.jvp(lambda x: jnp.exp(x) + jnp.log(x), (x,), (t,))
    """),
    ("grad_of_jit", ["f32[3]"], """
        @jax.jit
        def g(x):
            return jnp.sin(x)
        f = jax.grad(lambda x: jnp.sum(g(x)))
    """),
    ("vmap_dot", ["f32[5,3]", "f32[3]"], """
        f = jax.vmap(lambda a, b: jnp.dot(a, b), in_axes=(0, None))
    """),
    ("vmap_grad", ["f32[3]", "f32[5,3]"], """
        f = jax.vmap(jax.grad(lambda w, x: jnp.tanh(jnp.dot(w, x))), in_axes=(None, 0))
    """),
    ("composed_predict", ["f32[3,4]", "f32[4]", "f32[4,2]", "f32[2]", "f32[3]"], """
        def predict(params, x):
            for w, b in params:
                y = jnp.dot(x, w) + b
                x = jnp.tanh(y)
            return y
        f = lambda w1, b1, w2, b2, x: predict([(w1, b1), (w2, b2)], x)
    """),
    ("composed_vmap_predict", ["f32[3,4]", "f32[4]", "f32[4,2]", "f32[2]", "f32[5,3]"], """
        def predict(params, x):
            for w, b in params:
                y = jnp.dot(x, w) + b
                x = jnp.tanh(y)
            return y
        batched = jax.vmap(predict, in_axes=(None, 0))
        f = lambda w1, b1, w2, b2, x: batched([(w1, b1), (w2, b2)], x)
    """),
    ("composed_grad_loss", ["f32[3,4]", "f32[4]", "f32[4,2]", "f32[2]", "f32[5,3]", "f32[5,2]"], """
        def predict(params, x):
            for w, b in params:
                y = jnp.dot(x, w) + b
                x = jnp.tanh(y)
            return y
        def loss(params, x, target):
            return jnp.mean((predict(params, x) - target) ** 2)
        f = lambda w1, b1, w2, b2, x, y: jax.grad(loss)([(w1, b1), (w2, b2)], x, y)
    """),
    ("composed_gradients_of_examples", ["f32[3,4]", "f32[4]", "f32[4,2]", "f32[2]", "f32[5,3]", "f32[5,2]"], """
        def predict(params, x):
            for w, b in params:
                y = jnp.dot(x, w) + b
                x = jnp.tanh(y)
            return y
        def loss(params, x, target):
            return jnp.mean((predict(params, x) - target) ** 2)
        each = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0))
        f = lambda w1, b1, w2, b2, x, y: each([(w1, b1), (w2, b2)], x, y)
    """),
    ("many_arguments", ["f32[10]"] * 14, """
        def f(*xs):
            return tuple(x + 1.0 for x in xs)
    """),
    ("many_names", ["f32[]"], """
        def f(x):
            for _ in range(30):
                x = lax.sin(x)
            return x
    """),
    ("long_line", ["f32[128,256,512]", "f32[128,256,512]"], """
        def f(x, y):
            return lax.dot_general(x, y, (((1, 2), (1, 2)), ((0,), (0,))), preferred_element_type=jnp.float32)
    """),
    ("nested_unused_result", ["f32[3]"], """
        @jax.jit
        def g(x):
            lax.exp(x)
            _, i = lax.top_k(x, 2)
            return i
        def f(x):
            return g(x), lax.log(x)
    """),
    ("nested_jit_long", ["f32[3]"], """
        @jax.jit
        def long(x):
            for _ in range(11):
                x = lax.sin(x)
            return x
        def f(x):
            return long(x) * 2.0
    """),
    ("nested_jit_same_name", ["f32[3]"], """
        def make(c):
            def g(x):
                return x * c
            return jax.jit(g)
        double, triple = make(2.0), make(3.0)
        def f(x):
            return triple(double(triple(double(x))))
    """),
    ("scan_cumulative", ["f32[3]"], """
        def f(xs):
            return lax.scan(lambda c, x: (c + x, c * x), jnp.float32(0.0), xs)
    """),
    ("cond_branches", ["bool[]", "f32[3]"], """
        def f(p, x):
            return lax.cond(p, lax.sin, lax.cos, x)
    """),
    ("while_countdown", ["f32[]"], """
        def f(x):
            return lax.while_loop(lambda c: c > 1.0, lambda c: c * 0.5, x)
    """),
    ("scalar_types", ["i8[2]", "u16[2]", "f16[2]", "bf16[2]", "bool[2]", "u8[]", "i32[0,3]"], """
        def f(a, b, c, d, e, g, h):
            return -a, b + b, c * c, d - d, ~e, g + g, h + h
    """),
]

DTYPES = {"f": "float", "i": "int", "u": "uint"}


def zeros(aval):
    """An array of zeros of an aval written the way JAX prints it, e.g. `f32[2,3]`."""
    dtype, shape = aval.rstrip("]").split("[")
    if dtype == "bf16":
        dtype = "bfloat16"
    elif dtype != "bool":
        dtype = DTYPES[dtype[0]] + dtype[1:]
    return jnp.zeros([int(d) for d in shape.split(",") if d], dtype)


def leaves(tree):
    return 1 if tree is None else sum(map(leaves, tree))


def counted(text):
    """The text with the numbers of a scan's constants and carried values, as Ramie prints them.

    Since 0.12 JAX prints the trees that hold its arguments and results instead.
    """
    lines, pending = [], {}
    for line in text.split("\n"):
        indent, name = re.match(r"( *)(\w*)", line).groups()
        if name == "ft_in":
            tree = re.sub(r"Left\(None\)", "()", line.split("=", 1)[1])
            flat = re.match(r".*PyTreeDef\((.*)\)\)", tree)
            tree = flat[1].replace("*", "None") if flat else re.sub(r"RightsOnly|Right", "", tree)
            pending[indent] = [leaves(part) for part in eval(tree)]
        elif name != "ft_out":
            lines.append(line)
        if name == "length" and indent in pending:
            consts, carry, _ = pending.pop(indent)
            lines += [f"{indent}num_carry={carry}", f"{indent}num_consts={consts}"]
    return "\n".join(lines)


def in_order(text):
    """The text with the operands of each sum of cotangents in the order of their computation.

    Since 0.12 the order depends on how the rule of the last operation is written.
    """
    order = lambda found: "add_any " + " ".join(sorted(found.groups(), key=lambda name: (len(name), name)))
    return re.sub(r"add_any (\w+) (\w+)\b(?!:)", order, text)


def main(recording, programs, replacements=()):
    rows = []
    for name, avals, source in programs:
        source = textwrap.dedent(source).strip() + "\n"
        scope = {"jax": jax, "jnp": jnp, "lax": lax}
        exec(source, scope)
        text = in_order(counted(str(jax.make_jaxpr(scope["f"])(*map(zeros, avals)))))
        # Some rules leave NumPy's integers in parameters, which print as such.
        for pattern, text_of in [(r"np\.int64\((-?\d+)\)", r"\1"), *replacements]:
            text = re.sub(pattern, text_of, text)
        rows.append({"name": name, "args": avals, "source": source, "text": text})
    path = pathlib.Path(__file__).parent / "data" / f"{recording}.json"
    document = {"jax": jax.__version__, "programs": rows}
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    print(f"{len(rows)} programs, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main("jaxprs", PROGRAMS)
