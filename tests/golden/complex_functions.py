"""Writes data/complex_functions.json: NumPy's, `jax.nn`'s and `jax.scipy`'s functions
of complex numbers, with derivatives where JAX has them.

The rows are those of complex_numbers.py, each under the name of Ramie's function.
Numbers are ordered by their real parts, then by their imaginary parts; some of the
recorded real parts are therefore equal.
"""


import complex_numbers
import jax
import jax.numpy as jnp
import numpy as np
import recording
from complex_numbers import record

lax, nn, special = jax.lax, jax.nn, jax.scipy.special
norm = jnp.linalg.norm
rng = np.random.default_rng(5)

MASK = jnp.array([True, False, True])


def numbers(shape, dtype):
    """Numbers away from zero, of which some have equal real parts."""
    n = int(np.prod(shape))
    z = rng.choice([-0.75, 0.5, 1.25], n) + 1j * rng.uniform(0.2, 1.2, n) * rng.choice([-1, 1], n)
    return z.astype(dtype).reshape(shape)


# Functions that take arrays of all shapes.
UNARY = {
    "square": jnp.square, "reciprocal": jnp.reciprocal, "exp2": jnp.exp2, "log2": jnp.log2, "log10": jnp.log10,
    "deg2rad": jnp.deg2rad, "rad2deg": jnp.rad2deg, "sinc": jnp.sinc, "positive": jnp.positive,
    "round": jnp.round, "rint": jnp.rint, "round_decimals": lambda x: jnp.round(x * 1.234, 1),
    "is_finite": jnp.isfinite, "is_nan": jnp.isnan, "is_inf": jnp.isinf, "is_real": jnp.isreal,
    "is_complex": jnp.iscomplex, "logical_not": jnp.logical_not, "nan_to_num": jnp.nan_to_num,
    "relu": nn.relu, "leaky_relu": nn.leaky_relu, "elu": nn.elu, "selu": nn.selu, "gelu": nn.gelu,
    "sigmoid": nn.sigmoid, "silu": nn.silu, "swish": nn.swish, "softplus": nn.softplus, "log_sigmoid": nn.log_sigmoid,
    "relu6": nn.relu6, "celu": nn.celu, "soft_sign": nn.soft_sign, "hard_tanh": nn.hard_tanh,
    "hard_sigmoid": nn.hard_sigmoid, "hard_silu": nn.hard_silu, "hard_swish": nn.hard_swish, "mish": nn.mish,
    "squareplus": nn.squareplus, "sparse_plus": nn.sparse_plus, "logit": special.logit, "expit": special.expit,
    "log1mexp": nn.log1mexp,
    "sum": jnp.sum, "prod": jnp.prod, "mean": jnp.mean, "var": jnp.var, "std": jnp.std,
    "nansum": jnp.nansum, "nanprod": jnp.nanprod, "nanmean": jnp.nanmean, "nanvar": jnp.nanvar, "nanstd": jnp.nanstd,
    "max": jnp.max, "min": jnp.min, "ptp": jnp.ptp, "nanmax": jnp.nanmax, "nanmin": jnp.nanmin,
    "all": jnp.all, "any": jnp.any, "count_nonzero": jnp.count_nonzero, "norm": lambda x: norm(x.ravel()),
    "ravel": jnp.ravel, "unique": jnp.unique, "ediff1d": jnp.ediff1d,
    "logsumexp": special.logsumexp, "logmeanexp": nn.logmeanexp, "histogram": lambda x: jnp.histogram(x, 2)[0],
    "var_with": lambda x: jnp.var(x, ddof=0.5, keepdims=True), "var_dtype": lambda x: jnp.var(x, dtype=x.dtype),
    "max_initial": lambda x: jnp.max(x, initial=0.5), "min_initial": lambda x: jnp.min(x, initial=0.5),
}

BINARY = {
    "maximum": jnp.maximum, "minimum": jnp.minimum, "fmax": jnp.fmax, "fmin": jnp.fmin,
    "lt": jnp.less, "le": jnp.less_equal, "gt": jnp.greater, "ge": jnp.greater_equal,
    "arctan2": jnp.arctan2, "logaddexp": jnp.logaddexp, "logaddexp2": jnp.logaddexp2, "power": jnp.power,
    "float_power": jnp.float_power, "true_divide": jnp.true_divide, "xlogy": special.xlogy, "xlog1py": special.xlog1py,
    "boxcox": special.boxcox, "boxcox1p": special.boxcox1p, "logical_and": jnp.logical_and,
    "logical_or": jnp.logical_or, "logical_xor": jnp.logical_xor, "isclose": jnp.isclose, "allclose": jnp.allclose,
    "array_equal": jnp.array_equal, "array_equiv": jnp.array_equiv, "isin": jnp.isin,
    "vdot": jnp.vdot, "outer": jnp.outer, "kron": jnp.kron, "union1d": jnp.union1d, "intersect1d": jnp.intersect1d,
    "setdiff1d": jnp.setdiff1d, "setxor1d": jnp.setxor1d,
}

# Functions of one axis or more.
OF_AXES = {
    "sort": lambda x: jnp.sort(x, 0), "argsort": lambda x: jnp.argsort(x, 0),
    "sort_descending": lambda x: jnp.sort(x, 0, descending=True),
    "argsort_descending": lambda x: jnp.argsort(x, 0, descending=True),
    "cumsum": lambda x: jnp.cumsum(x, 0), "cumprod": lambda x: jnp.cumprod(x, 0),
    "cummax": lambda x: lax.cummax(x, 0), "cummin": lambda x: lax.cummin(x, 0),
    "cummax_reversed": lambda x: lax.cummax(x, 0, reverse=True), "cumlogsumexp": lambda x: lax.cumlogsumexp(x, 0),
    "nancumsum": lambda x: jnp.nancumsum(x, 0), "nancumprod": lambda x: jnp.nancumprod(x, 0),
    "softmax": lambda x: nn.softmax(x, 0), "log_softmax": lambda x: nn.log_softmax(x, 0),
    "diff": lambda x: jnp.diff(x, axis=0), "gradient": lambda x: jnp.gradient(x, axis=0),
    "trapezoid": lambda x: jnp.trapezoid(x, axis=0), "flip": lambda x: jnp.flip(x, 0),
    "var_axes": lambda x: jnp.var(x, 0), "std_ddof": lambda x: jnp.std(x, 0, ddof=1),
    "norm_axes": lambda x: jnp.linalg.vector_norm(x, axis=0), "cov": jnp.cov, "corrcoef": jnp.corrcoef,
    "reduce_window_max": lambda x: lax.reduce_window(
        x, jnp.array(-np.inf, x.dtype), lax.max, (2,) + (1,) * (x.ndim - 1), (1,) * x.ndim, "VALID"),
    "reduce_window_min": lambda x: lax.reduce_window(
        x, jnp.array(np.inf, x.dtype), lax.min, (2,) + (1,) * (x.ndim - 1), (1,) * x.ndim, "VALID"),
    "reduce_window_sum": lambda x: lax.reduce_window(
        x, jnp.array(0, x.dtype), lax.add, (2,) + (1,) * (x.ndim - 1), (1,) * x.ndim, "VALID"),
    "pad_maximum": lambda x: jnp.pad(x, [(1, 2)] + [(0, 0)] * (x.ndim - 1), "maximum"),
    "pad_minimum": lambda x: jnp.pad(x, [(1, 2)] + [(0, 0)] * (x.ndim - 1), "minimum"),
    "pad_mean": lambda x: jnp.pad(x, [(1, 2)] + [(0, 0)] * (x.ndim - 1), "mean"),
    "pad_linear_ramp": lambda x: jnp.pad(x, [(1, 2)] + [(0, 0)] * (x.ndim - 1), "linear_ramp"),
    "glu": lambda x: nn.glu(jnp.concatenate([x, x * 1j]), 0), "pmax": lambda x: jax.vmap(
        lambda a: lax.pmax(a, "i"), axis_name="i")(x),
    "nonzero": lambda x: jnp.nonzero(x)[0],
} | {
    f"vector_norm_{p}": (lambda p: lambda x: jnp.linalg.vector_norm(x, axis=0, ord=p))(p)
    for p in (0, 1, 2, 3, np.inf, -np.inf)
}

# Functions of vectors of three numbers.
VECTORS = {
    "lexsort": (lambda x, y: jnp.lexsort([x, y]), 2), "searchsorted": (lambda x, y: jnp.searchsorted(jnp.sort(x), y), 2),
    "searchsorted_right": (lambda x, y: jnp.searchsorted(jnp.sort(x), y, side="right"), 2),
    "digitize": (lambda x, y: jnp.digitize(x, jnp.sort(y)), 2),
    "vecdot": (jnp.vecdot, 2), "inner": (jnp.inner, 2), "dot": (jnp.dot, 2), "cross": (jnp.cross, 2),
    "convolve": (jnp.convolve, 2), "correlate_full": (lambda x, y: jnp.correlate(x, y[:2], mode="full"), 2),
    "correlate_same": (lambda x, y: jnp.correlate(x[:2], y, mode="same"), 2),
    "correlate_valid": (lambda x, y: jnp.correlate(x, y[:2], mode="valid"), 2),
    "vecmat": (lambda x, y: jnp.vecmat(x, jnp.stack([y, x, y * 1j])), 2),
    "matvec": (lambda x, y: jnp.matvec(jnp.stack([y, x, y * 1j]), x), 2),
    "average": (lambda x, y: jnp.average(x, weights=y), 2), "polyval": (jnp.polyval, 2), "polyadd": (jnp.polyadd, 2),
    "polymul": (jnp.polymul, 2), "polydiv": (lambda x, y: jnp.polydiv(x, y)[1], 2), "polyder": (jnp.polyder, 1),
    "polyint": (jnp.polyint, 1), "poly": (jnp.poly, 1), "vander": (lambda x: jnp.vander(x, 3), 1),
    "max_where": (lambda x: jnp.max(x, where=MASK, initial=-9), 1), "var_where": (lambda x: jnp.var(x, where=MASK), 1),
    "softmax_where": (lambda x: nn.softmax(x, where=MASK), 1),
    "logsumexp_where": (lambda x: special.logsumexp(x, where=MASK), 1),
    "logsumexp_weighted": (lambda x, y: special.logsumexp(x, b=y), 2),
    "logsumexp_size": (lambda x, y: special.logsumexp(x, b=y, return_sign=True)[0], 2),
    "logsumexp_sign": (lambda x, y: special.logsumexp(x, b=y, return_sign=True)[1], 2),
    "cov_of_two": (jnp.cov, 2), "cov_weighted": (lambda x, y: jnp.cov(x, y, aweights=jnp.array([1.0, 2.0, 3.0])), 2),
    "standardize": (lambda x: nn.standardize(x, mean=x.mean(), variance=jnp.array(2.0, x.real.dtype)), 1),
    "interp": (lambda x: jnp.interp(jnp.array([-1.0, 0.3, 1.5]), jnp.array([0.0, 1.0, 2.0]), x), 1),
    "histogram_weighted": (lambda x: jnp.histogram(jnp.array([0.0, 1.0, 1.0]), 2, weights=x)[0], 1),
    "bincount_weighted": (lambda x: jnp.bincount(jnp.array([0, 1, 1]), x), 1),
    "segment_sum": (lambda x: jax.ops.segment_sum(x, jnp.array([0, 1, 1]), 2), 1),
    "segment_prod": (lambda x: jax.ops.segment_prod(x, jnp.array([0, 1, 1]), 2), 1),
    "segment_max": (lambda x: jax.ops.segment_max(x, jnp.array([0, 1, 1]), 2), 1),
    "segment_min": (lambda x: jax.ops.segment_min(x, jnp.array([0, 1, 1]), 2), 1),
    "at_max": (lambda x, y: x.at[jnp.array([0, 1])].max(y[:2]), 2),
    "at_min": (lambda x, y: x.at[jnp.array([0, 1])].min(y[:2]), 2),
    "at_add": (lambda x, y: x.at[jnp.array([0, 1])].add(y[:2]), 2),
    "at_multiply": (lambda x, y: x.at[jnp.array([0, 1])].multiply(y[:2]), 2),
    "trim_zeros": (lambda x: jnp.trim_zeros(jnp.concatenate([jnp.zeros(1, x.dtype), x])), 1),
    "linspace": (lambda x, y: jnp.linspace(x, y, 4), 2), "logspace": (lambda x, y: jnp.logspace(x, y, 3), 2),
    "geomspace": (lambda x, y: jnp.geomspace(x, y, 3), 2),
    "extract": (lambda x: jnp.extract(MASK, x), 1), "piecewise": (
        lambda x: jnp.piecewise(x, [MASK], [lambda x: x * 2, lambda x: x * 1j]), 1),
    "conv": (lambda x, y: lax.conv(x[None, None], y[None, None, :2], (1,), "VALID"), 2),
    "image": (lambda x: jax.image.resize(x, (5,), "linear"), 1),
    "square_of_imaginary": (lambda x: (x.real * 1j) * (1j * x.imag), 1),
}

MATRICES = {
    f"matrix_norm_{p}": (lambda p: lambda x: norm(x, ord=p))(p) for p in ("fro", 1, -1, np.inf, -np.inf)
}

# Those whose derivative JAX lacks or has at another branch, or that jump.
WITHOUT_DERIVATIVE = {
    # JAX lowers no `select_and_scatter` of complex numbers.
    "reduce_window_max", "reduce_window_min",
    # The sign of a complex number has a derivative in complex_numbers.py.
    "logsumexp_sign",
    # JAX 0.12 differentiates no comparison of complex numbers.
    "celu", "cummax", "cummax_reversed", "cummin", "log_softmax", "max_initial", "max_where", "maximum",
    "min_initial", "minimum", "softmax", "softmax_where",
    "unique", "union1d", "intersect1d", "setdiff1d", "setxor1d", "trim_zeros", "extract",
    # The derivative of the scatter is not the one of the largest.
    "at_max", "at_min",
    # Those of products at repeated places.
    "segment_prod", "at_multiply",
    "pmax", "nonzero", "positive", "poly",
}


# Those of which derivatives are recorded in double precision, too.
IN_DOUBLE = {
    "var", "std", "nanvar", "norm", "max", "min", "maximum", "minimum", "logaddexp", "logsumexp", "softmax", "sort",
    "cummax", "cumlogsumexp", "vdot", "vecmat", "correlate_full", "correlate_same", "cov", "vector_norm_3", "arctan2",
}

# Of no elements JAX has another type, or NaN.
NOT_OF_NONE = {"cov", "corrcoef", "pad_mean"}


def attempt(name, f, inputs, derivative):
    """A row, unless JAX refuses such shapes."""
    if name in NOT_OF_NONE and inputs[0].size == 0:
        return
    derivative = derivative and (inputs[0].dtype == np.complex64 or name in IN_DOUBLE)
    try:
        record(name, f, inputs, derivative=derivative and name not in WITHOUT_DERIVATIVE)
    except (TypeError, ValueError, IndexError, AssertionError, ZeroDivisionError, NotImplementedError) as e:
        print(f"{name} of {[x.shape for x in inputs]}: {str(e)[:100]}")


def everywhere(functions, arity, dtype, shapes):
    for name, f in functions.items():
        for i, shape in enumerate(shapes):
            attempt(name, f, [numbers(shape, dtype) for _ in range(arity)], i == 0)


def special_values(dtype):
    nan, inf = np.nan, np.inf
    z = np.array([complex(nan, 1), complex(inf, -inf), complex(1, nan), complex(-inf, nan), 0, complex(-0.0, -0.0),
                  complex(inf, inf), 1 + 1j], dtype)
    for name in ("is_finite", "is_nan", "is_inf", "nan_to_num", "nansum", "nanmax", "nanmin", "count_nonzero", "round"):
        record(name, UNARY[name], [z], {"special": True}, derivative=False)
    for name in ("sort", "argsort", "nancumsum"):
        record(name, OF_AXES[name], [z], {"special": True}, derivative=False)
    for name in ("isclose", "array_equal"):
        record(name, BINARY[name], [z, z], {"special": True}, derivative=False)
    record("isclose_or_nan", lambda x, y: jnp.isclose(x, y, equal_nan=True), [z, z], {"special": True}, derivative=False)
    record("searchsorted", VECTORS["searchsorted"][0], [z, z], {"special": True}, derivative=False)
    record("searchsorted_right", VECTORS["searchsorted_right"][0], [z, z], {"special": True}, derivative=False)
    far = np.array([1000 + 1j, 1000 - 2j, -1000 + 3j], dtype)
    for name in ("softmax", "log_softmax", "cumlogsumexp"):
        record(name, OF_AXES[name], [far], derivative=False)
    record("logsumexp", UNARY["logsumexp"], [far], derivative=False)
    record("logaddexp", BINARY["logaddexp"], [far, far[::-1]], derivative=False)


def samplers(dtype):
    key, init = jax.random.key(7), nn.initializers
    rows = {
        "normal": lambda: jax.random.normal(key, (2, 3), dtype),
        "lognormal": lambda: jax.random.lognormal(key, 0.5, (3,), dtype),
        "rademacher": lambda: jax.random.rademacher(key, (5,), dtype),
        "init_normal": lambda: init.normal(0.5)(key, (3, 2), dtype),
        "init_lecun_normal": lambda: init.lecun_normal()(key, (3, 2), dtype),
        "init_lecun_uniform": lambda: init.lecun_uniform()(key, (3, 2), dtype),
        "init_variance_normal": lambda: init.variance_scaling(2.0, "fan_avg", "normal")(key, (3, 2), dtype),
    }
    # Of those of JAX's default float, which has 64 bits beside complex128.
    if dtype == np.complex128:
        del rows["rademacher"]
    for name, draw in rows.items():
        complex_numbers.rows.append({"op": name, "sampler": True, "inputs": [], "output": complex_numbers.plain(draw())})


def derivatives(dtype):
    z = jnp.asarray(numbers((3,), dtype))
    add = lambda name, value: complex_numbers.rows.append(
        {"op": name, "derivative": True, "inputs": [complex_numbers.plain(z)], "output": complex_numbers.plain(value)})
    f = lambda x: x * x[::-1] + jnp.sin(x)
    add("jacrev_holomorphic", jax.jacrev(f, holomorphic=True)(z))
    add("jacfwd_holomorphic", jax.jacfwd(f, holomorphic=True)(z))
    add("hessian_holomorphic", jax.hessian(lambda x: (x * x * x[::-1]).sum(), holomorphic=True)(z))
    add("value_and_grad_holomorphic", jax.value_and_grad(lambda x: (x * x * x[::-1]).sum(), holomorphic=True)(z)[1])
    add("jacrev_to_real", jax.jacrev(jnp.abs)(z))
    add("jacfwd_from_real", jax.jacfwd(lambda x: x * z)(z.real))


def functions(real, cplx):
    everywhere(UNARY, 1, cplx, [(3,)])
    everywhere(BINARY, 2, cplx, [(3,)])
    everywhere(OF_AXES, 1, cplx, [(4,)])
    for name, (f, arity) in VECTORS.items():
        attempt(name, f, [numbers((3,), cplx) for _ in range(arity)], True)
    everywhere(MATRICES, 1, cplx, [(2, 3)])
    special_values(cplx)
    samplers(cplx)
    derivatives(cplx)


def other_shapes():
    small = np.complex64
    for name, f in UNARY.items():
        for shape in ((), (0, 2)):
            attempt(name, f, [numbers(shape, small)], False)
    for name, f in BINARY.items():
        for shapes in (((), ()), ((0, 2), (0, 2))):
            attempt(name, f, [numbers(shape, small) for shape in shapes], False)
    for name, f in OF_AXES.items():
        for shape in ((2, 3), (0, 2)):
            attempt(name, f, [numbers(shape, small)], False)
    for name, f in MATRICES.items():
        for shape in ((3, 2), (1, 1)):
            attempt(name, f, [numbers(shape, small)], False)


def main():
    functions(np.float32, np.complex64)
    with jax.enable_x64(True):
        functions(np.float64, np.complex128)
    other_shapes()
    recording.write(recording.DATA / "complex_functions", complex_numbers.rows)


if __name__ == "__main__":
    main()
