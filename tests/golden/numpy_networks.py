"""The parts of numpy_functions.py of `jax.nn`, `jax.ops`, `jax.scipy.special` and `jax.scipy.stats`."""

from numpy_rows import draw, mask_of, of, ones, rng_of, row, specials, zeros

import jax
import jax.numpy as jnp
import numpy as np


def networks():
    number, none = np.float32(0.75), zeros(0, 3)
    special = np.array([[-np.inf, -np.inf], [np.inf, 0.0], [np.nan, 1.0], [200.0, -200.0]], np.float32)
    for axes in ([1], [0, 1], []):
        a = tuple(axes)
        x, b = (draw(rng_of("networks"), "f64", (3, 4)), draw(rng_of("b"), "f64", (3, 4), -1.0, 2.0)) if axes else (number, number)
        further = [[none], [special]] if axes == [1] else []
        params = {"axes": axes}

        def over(op, fun, *more, also=further, refused=()):
            row(op, lambda x, *more: fun(x, mask_of(x.shape), *more), [x, *more], params, also=also, refused=refused)

        over("softmax_axes", lambda x, m: jax.nn.softmax(x, a))
        over("softmax_where", lambda x, m: jax.nn.softmax(x, a, where=m))
        over("log_softmax_axes", lambda x, m: jax.nn.log_softmax(x, a))
        over("log_softmax_where", lambda x, m: jax.nn.log_softmax(x, a, where=m))
        over("logsumexp_with", lambda x, m: jax.nn.logsumexp(x, a, where=m, keepdims=True))
        pairs = [[none, none], [zeros(2, 0), zeros(2, 0)], [special, np.array([[1.0, -2.0]], np.float32)], [special, np.where(special > 0, special, np.float32(-0.0))]] if further else []
        over("logsumexp_weighted", lambda x, m, b: jax.nn.logsumexp(x, a, b=b), np.abs(b), also=pairs)
        over("logsumexp_signed", lambda x, m, b: jax.nn.logsumexp(x, a, b=b, return_sign=True), b, also=pairs)
        over("logmeanexp", lambda x, m: jax.nn.logmeanexp(x, a))
        over("logmeanexp_where", lambda x, m: jax.nn.logmeanexp(x, a, where=m))
        over("standardize_where", lambda x, m: jax.nn.standardize(x, a, where=m))
        over("standardize_stable", lambda x, m: jax.nn.standardize(x, a, algorithm="stable", epsilon=0.1))
        over("standardize_given", lambda x, m: jax.nn.standardize(x, a, mean=0.5, variance=2.0))
    row("softmax_axes", lambda x: jax.nn.softmax(x, (0, 1)), [special[3:]], {"axes": [0, 1]}, "special")
    row("one_hot", lambda i: jax.nn.one_hot(i, 3, axis=0, dtype=jnp.float32), [np.array([[0, 2], [5, -1]], np.int32)],
        also=[[np.int32(2)], [zeros(0, 2, dtype=np.int32)], [specials("i32")], [np.uint8([0, 255, 2])]])
    row("log1mexp", jax.nn.log1mexp, [np.array([1e-9, 0.1, 0.69, 0.7, 3.0, 50.0])], case="edge")
    row("log1mexp", jax.nn.log1mexp, [np.array([1e-5, 0.1, 0.69, 0.7, 3.0, 50.0], np.float32)])
    row("log1mexp", jax.nn.log1mexp, [specials("f32")], case="special", also=[[np.float32(0.7)], [zeros(0, 2)], [of(2, 3, low=0.1)]])

    def attention(name, fun, batch=2, t=3, s=4, n=4, k=2, h=4, dtype="f64", extra=(), **options):
        rng = rng_of(name, dtype)
        q = draw(rng, dtype, (batch, t, n, h), -1, 1)
        keys, values = (draw(rng, dtype, (batch, s, k, h), -1, 1) for _ in range(2))
        row(name, lambda q, k, v, *more: fun(q, k, v, *more), [q, keys, values, *extra], **options)

    dpa = jax.nn.dot_product_attention
    lengths = [(np.array([2, 3], np.int32), np.array([4, 1], np.int32)), (np.array([1], np.int32), np.array([2], np.int32)),
               (np.array([], np.int32), np.array([], np.int32))]
    biases = [(draw(rng_of("bias"), "f32", (1, 4, 3, 4)), mask_of((2, 1, 3, 4))), (of(1, 2, 2, 3), mask_of((1, 2, 2, 3))),
              (of(1, 4, 3, 4), mask_of((1, 1, 3, 4)))]
    for name, fun, extra in (
        ("attention", dpa, [()] * 3),
        ("attention_causal", lambda q, k, v: dpa(q, k, v, is_causal=True), [()] * 3),
        ("attention_scale_window", lambda q, k, v: dpa(q, k, v, scale=0.3, local_window_size=(1, 0)), [()] * 3),
        ("attention_lengths", lambda q, k, v, a, b: dpa(q, k, v, query_seq_lengths=a, key_value_seq_lengths=b, return_residual=True), lengths),
        ("attention_bias_mask", lambda q, k, v, b, m: dpa(q, k, v, b, m), biases),
        ("attention_plain", dpa, [()] * 3),
    ):
        if name == "attention_plain":
            attention(name, fun, n=2, k=2, batch=1, dtype="f32", derivative=True)
        else:
            attention(name, fun, dtype="f32", extra=extra[0])
        attention(name, fun, batch=1, t=2, s=3, n=2, k=2, dtype="f32", extra=extra[1])
        attention(name, fun, batch=0, dtype="f32", extra=extra[2], case="empty")
        if not extra[0]:
            row(name, fun, [np.float32([[[[1, np.nan]], [[-np.inf, 0]], [[np.inf, -0.0]]]])] * 3, case="special")
    attention("attention", dpa, dtype="bf16", derivative=False)
    rng = rng_of("segments")
    data = draw(rng, "f64", (6, 2))
    ids = np.array([2, 0, 2, -1, 1, 7], np.int32)
    for op in ("segment_sum", "segment_max", "segment_min"):
        fun = getattr(jax.ops, op)
        further = [[zeros(0, 2), ids[:0]], [zeros(3, 0), ids[:3]], [np.float32([np.nan, -0.0, np.inf]), ids[:3]]]
        row(op, lambda x, i: fun(x, i, 4), [data, ids], also=further)
        row(op, lambda x, i: fun(x, i, 4), [draw(rng, "i32", (6,)), ids])
        row(op + "_buckets", lambda x, i: fun(x, i, 4, bucket_size=4), [data[:, 0], ids], refused=[[number, np.int32(1)]],
            also=further if op == "segment_sum" else [[zeros(3, 0), ids[:3]], further[2]])
    row("segment_prod", lambda x, i: jax.ops.segment_prod(x, i, 4), [data.astype(np.float32), ids], also=further)
    row("segment_sorted", lambda x, i: jax.ops.segment_sum(x, i, 8, indices_are_sorted=True, unique_indices=True), [data, np.array([0, 1, 3, 4, 6, 7], np.int32)],
        also=[[zeros(0, 2), ids[:0]], [of(3, dtype="i32"), np.int32([1, 2, 5])], [np.float32([np.nan, -0.0]), np.int32([0, 7])]])


def special_functions():
    from jax.scipy import special as sp

    def unary(op, low, high, edges=(), derivative=True):
        fun = getattr(sp, op)
        row(op, fun, [draw(rng_of(op), "f64", (2, 3), low, high)], derivative=derivative)
        row(op, fun, [draw(rng_of(op), "f32", (2, 3), low, high)], derivative=False)
        row(op, fun, [np.float32((low + high) / 2 + 0.1)])
        row(op, fun, [np.zeros((0,), np.float32)], case="empty")
        values = [v for v in specials("f32") if np.isfinite(v) or op not in ("gamma",)]
        row(op, fun, [np.array(values, np.float32)], case="special")
        if edges:
            row(op, fun, [np.array(edges)], case="edge", derivative=derivative)

    unary("logit", 0.1, 0.9, (1e-9, 0.5, 0.999))
    unary("entr", 0.2, 2.0, (1e-9, 1.0, 3.0))
    unary("ndtr", -3.0, 3.0, (-9.0, -1.1, 0.3, 1.2, 9.0))
    unary("log_ndtr", -3.0, 3.0, (-40.0, -21.0, -9.0, 0.0, 4.0, 9.0))
    unary("ndtri", 0.05, 0.8, (1e-20, 1e-3, 0.13, 0.2, 0.5, 0.87, 0.999))
    unary("gammaln", 0.5, 4.0)
    unary("loggamma", 0.5, 4.0)
    unary("gamma", 0.5, 4.0, (-1.5, -0.5, 6.0))
    unary("factorial", 0.5, 4.0)
    unary("erfcx", -1.0, 3.0, (-2.0, 0.0, 20.0, 40.0))
    unary("expit", -3.0, 3.0)

    for op in ("i0", "i1", "i0e", "i1e"):
        unary(op, 0.5, 4.0, (-3.0, 9.0))
    row("i0_of_numpy", jnp.i0, [np.array([0.0, 1.0, -2.0])], case="edge", also=[[np.float32(1.5)], [zeros(0, 2)], [specials("f32")]])
    for n in (6, 0, 1, 2):
        row("kaiser", lambda: jnp.kaiser(n, 2.5).astype(jnp.float32), [], {"n": n})

    def binary(op, low, high, cross=None):
        fun = getattr(sp, op)
        rng = rng_of(op)
        # The derivative in the parameter of an incomplete gamma function has none itself.
        case = "edge" if op.startswith("gammainc") else "regular"
        row(op, fun, [draw(rng, "f64", (2, 3), low, high), draw(rng, "f64", (3,), low, high)], case=case)
        row(op, fun, [draw(rng, "f32", (2, 3), low, high), draw(rng, "f32", (2, 3), low, high)], derivative=False)
        row(op, fun, [draw(rng, "f32", (), low, high), draw(rng, "f32", (2,), low, high)], derivative=False, also=[[zeros(0, 2), ones(2)]])
        x, y = (g.reshape(-1) for g in np.meshgrid(*[np.array(cross or [np.nan, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, np.inf], np.float32)] * 2, indexing="ij"))
        row(op, fun, [x, y], case="special")

    for op in ("xlogy", "xlog1py", "rel_entr", "kl_div", "boxcox", "boxcox1p"):
        binary(op, 0.2, 2.0)
    for op in ("gammainc", "gammaincc"):
        binary(op, 0.5, 3.0, [0.5, 1.0, 3.0, 20.0, 0.0])
    binary("betaln", 0.5, 12.0, [0.5, 2.0, 8.0, 20.0, 1e3])
    binary("beta", 0.5, 3.0, [0.5, 2.0, 8.0, -0.5])
    binary("comb", 0.5, 5.0, [0.0, 1.0, 2.0, 5.0, -1.0])
    row("multigammaln", lambda x: sp.multigammaln(x, 3), [draw(rng_of("multi"), "f64", (2, 2), 2.0, 5.0)],
        also=[[np.float32(3.5)], [zeros(0, 2)], [specials("f32")]])
    from jax.scipy import stats
    x = draw(rng_of("stats"), "f64", (3,), 0.1, 0.9)
    for family, parameters in {"norm": (0.3, 1.7), "laplace": (0.3, 1.7), "logistic": (0.3, 1.7), "cauchy": (0.3, 1.7),
                               "uniform": (0.0, 2.0), "expon": (0.05, 1.7)}.items():
        module = getattr(stats, family)
        for op in ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"):
            if hasattr(module, op):
                row(f"{family}_{op}", lambda x: getattr(module, op)(x, *[np.float64(v) for v in parameters]).astype(x.dtype), [x])
                fun = lambda x: getattr(module, op)(x, *[np.float32(v) for v in parameters])
                row(f"{family}_{op}", fun, [np.float32(0.6)], case="scalar", also=[[zeros(0, 2)], [of(2, 3, low=0.1, high=0.9)]])
                values = [-0.5, 0.0, 1.0, 1.5, np.nan] if op in ("ppf", "isf") else [-np.inf, -1.0, 0.0, 2.0, 2.5, np.inf, np.nan]
                if family == "cauchy" and op in ("logcdf", "logsf"):
                    values = values[1:-2]  # Fused, 0.5 - 0.5 is not 0 in its distribution function.
                row(f"{family}_{op}", fun, [np.array(values, np.float32)], case="special")
