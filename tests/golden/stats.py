"""Writes data/stats.json: values of the distributions, kernel density estimates, ranks and modes of jax.scipy.stats.

Each row has the name of a function, its operands in f64, the value, and the derivatives of the value's sum with respect to
the operands that JAX differentiates. Numbers that JSON lacks are texts.
"""

import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import stats

jax.config.update("jax_enable_x64", True)

# Operands: the points, then the parameters. Points outside the support and at its ends are rows of their own without
# derivatives, which are not defined there.
INSIDE = {
    "bernoulli": ([0.0, 1.0, 2.0], [0.3, 0.8, 0.5], [0.0, 0.0, 1.0]),
    "beta": ([0.2, 0.6, 1.5], [0.7, 2.0, 3.5], [1.3, 0.6, 2.0], [0.0, 0.1, 1.0], [1.0, 1.2, 2.0]),
    "betabinom": ([1.0, 3.0, 0.0], [4.0, 5.0, 2.0], [0.7, 2.0, 1.5], [1.3, 0.6, 2.5], [0.0, 0.0, 0.0]),
    "binom": ([1.0, 3.0, 2.0], [4.0, 5.0, 3.0], [0.3, 0.8, 0.5], [0.0, 0.0, 1.0]),
    "chi2": ([0.5, 2.0, 7.5], [1.5, 3.0, 4.0], [0.0, 0.3, -1.0], [1.0, 0.5, 2.0]),
    "gamma": ([0.5, 2.0, 7.5], [0.7, 3.0, 4.0], [0.0, 0.3, -1.0], [1.0, 0.5, 2.0]),
    "gennorm": ([-0.5, 2.0, 0.7], [0.7, 2.0, 1.3]),
    "geom": ([1.0, 3.0, 4.0], [0.3, 0.8, 0.5], [0.0, 0.0, 1.0]),
    "gumbel_l": ([-2.0, 0.5, 1.2], [0.0, 0.3, -0.5], [1.0, 0.5, 2.0]),
    "gumbel_r": ([-2.0, 0.5, 3.0], [0.0, 0.3, -0.5], [1.0, 0.5, 2.0]),
    "nbinom": ([1.0, 3.0, 2.0], [4.0, 1.5, 3.0], [0.3, 0.8, 0.5], [0.0, 0.0, 1.0]),
    "pareto": ([1.5, 2.0, 7.5], [0.7, 3.0, 1.2], [0.0, 0.3, -1.0], [1.0, 0.5, 2.0]),
    "poisson": ([0.0, 3.0, 5.0], [0.3, 4.0, 2.5], [0.0, 0.0, 1.0]),
    "t": ([-1.5, 0.2, 7.5], [0.7, 3.0, 12.0], [0.0, 0.3, -1.0], [1.0, 0.5, 2.0]),
    "truncnorm": ([-0.5, 2.2, 1.3], [-1.0, 0.5, -3.0], [1.0, 4.0, -0.2], [0.0, 1.0, 2.0], [1.0, 0.7, 0.5]),
    "vonmises": ([-0.5, 2.2, 1.3], [0.5, 4.0, 20.0]),
    "wrapcauchy": ([0.5, 2.2, 6.0], [0.1, 0.5, 0.9]),
}
OUTSIDE = {
    "bernoulli": ([-1.0, 0.5, 3.0, 1.0], [0.3, 0.3, 0.3, 1.0], [0.0] * 4),
    "beta": ([-0.5, 1.5, 0.5, 0.5], [1.2, 1.2, -1.0, 1.2], [1.3] * 4, [0.0] * 4, [1.0, 1.0, 1.0, -1.0]),
    "betabinom": ([-1.0, 5.0, 0.0, 1.0], [4.0, 4.0, 0.0, 4.0], [0.7, 0.7, 0.7, -1.0], [1.3] * 4, [0.0] * 4),
    "binom": ([-1.0, 5.0, 0.0, 4.0], [4.0, 4.0, 0.0, 4.0], [0.3, 0.3, 0.3, 1.0], [0.0] * 4),
    "chi2": ([-0.5, -3.0, 0.1], [1.5, 3.0, 4.0], [0.0] * 3, [1.0] * 3),
    "gamma": ([-0.5, -3.0, 0.1], [1.5, 3.0, 4.0], [0.0] * 3, [1.0] * 3),
    "gennorm": ([0.0, 12.0], [0.7, 2.0]),
    "geom": ([0.0, -1.0], [0.3, 0.8], [0.0] * 2),
    "gumbel_l": ([0.5, 0.0], [0.0, 0.3], [-1.0, 0.0]),
    "gumbel_r": ([0.5, 0.0], [0.0, 0.3], [-1.0, 0.0]),
    "nbinom": ([-1.0, 0.0], [4.0, 1.5], [0.3, 1.0], [0.0] * 2),
    "pareto": ([0.5, -1.0], [0.7, 3.0], [0.0] * 2, [1.0] * 2),
    "poisson": ([-1.0, 1.5, 0.0], [0.3, 4.0, 0.0], [0.0] * 3),
    "t": ([0.0, 1e8], [3.0, 3.0], [0.0] * 2, [1.0] * 2),
    "truncnorm": ([-1.5, 2.0, 0.0, np.nan], [-1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, 1.0], [0.0] * 4, [1.0] * 4),
    "vonmises": ([0.5, 0.5], [-1.0, 0.0]),
    "wrapcauchy": ([-0.5, 7.0, 1.0, 1.0], [0.1, 0.5, 1.5, 0.0]),
}
QUANTILES = {
    "bernoulli": ([0.2, 0.9, 0.7, -0.1, np.nan, 0.5], [0.3, 0.8, 0.3, 0.5, 0.5, 1.5]),
    "gumbel_l": ([0.2, 0.9, 0.5, 0.0, 1.5], [0.0, 0.3, -0.5, 0.0, 0.0], [1.0, 0.5, 2.0, 1.0, 1.0]),
    "gumbel_r": ([0.2, 0.9, 0.5, 0.0, 1.5], [0.0, 0.3, -0.5, 0.0, 0.0], [1.0, 0.5, 2.0, 1.0, 1.0]),
    "pareto": ([0.2, 0.9, 0.5, -0.1, np.nan], [0.7, 3.0, 1.2, 1.0, 1.0], [0.0, 0.3, -1.0, 0.0, 0.0], [1.0, 0.5, 2.0, 1.0, 1.0]),
}


def numbers(x):
    return [float(v) if np.isfinite(v) else str(float(v)) for v in np.ravel(np.asarray(x, np.float64))]


ROWS = []


def derivative(f, arrays, i):
    """The derivative with respect to one operand, or None if JAX has none."""
    try:
        return numbers(jax.grad(lambda *a: jnp.sum(f(*a)), argnums=i)(*arrays))
    except (TypeError, ValueError) as error:
        assert "not supported" in str(error) or "float0" in str(error)
        return None


def row(name, f, *operands, slopes=True):
    arrays = [jnp.asarray(x, jnp.float64) for x in operands]
    found = {"name": name, "operands": [numbers(x) for x in arrays], "shapes": [list(x.shape) for x in arrays],
             "value": numbers(f(*arrays))}
    if slopes:
        found["derivatives"] = [derivative(f, arrays, i) for i in range(len(arrays))]
    ROWS.append(found)


def distributions():
    for module in sorted(INSIDE):
        functions = [n for n in ("logpdf", "pdf", "logpmf", "pmf", "cdf", "logcdf", "sf", "logsf") if hasattr(getattr(stats, module), n)]
        for name in functions:
            f = getattr(getattr(stats, module), name)
            count = 2 if (module, name) == ("bernoulli", "cdf") else len(INSIDE[module])
            row(f"{module}.{name}", f, *INSIDE[module][:count])
            row(f"{module}.{name}", f, *OUTSIDE[module][:count], slopes=False)
        if module in QUANTILES:
            row(f"{module}.ppf", getattr(stats, module).ppf, *QUANTILES[module], slopes=False)
    row("poisson.entropy", stats.poisson.entropy, [0.3, 4.0, 15.0, 80.0, 250.0])
    row("poisson.entropy", stats.poisson.entropy, [0.0], slopes=False)


def vectors():
    x = [[0.2, 0.1], [0.3, 0.6], [0.5, 0.3]]
    alpha = [0.7, 2.0, 3.5]
    for name in ("logpdf", "pdf"):
        f = getattr(stats.dirichlet, name)
        row(f"dirichlet.{name}", f, x, alpha)
        row(f"dirichlet.{name}", f, [0.2, 0.3], alpha)
        row(f"dirichlet.{name}", f, [0.2, 0.3, 0.9], alpha, slopes=False)
        f = getattr(stats.multivariate_normal, name)
        mean, cov = [0.3, -0.5], [[2.0, 0.5], [0.5, 1.0]]
        row(f"multivariate_normal.{name}", f, [[0.1, 0.5], [2.0, -1.0]], mean, cov)
        row(f"multivariate_normal.{name}", f, [0.1, 0.5], mean, [cov, [[1.0, 0.0], [0.0, 3.0]]])
        row(f"multivariate_normal.{name}", f, [[0.1, 0.5], [2.0, -1.0]], mean, 1.7)
        row(f"multivariate_normal.{name}", f, [0.1, 0.5], 0.3, 1.7)
    for name in ("logpmf", "pmf"):
        f = getattr(stats.multinomial, name)
        counts = [[1, 2, 0], [0, 1, 2], [1, 1, 3]]
        row(f"multinomial.{name}", lambda p: f(jnp.array(counts), jnp.array([3, 3, 3]), p), [0.2, 0.5, 0.3])


def density(name, f, *operands, weights=None, bw_method=None):
    data = operands[0]
    row(name, lambda data, *rest: f(stats.gaussian_kde(data, bw_method, None if weights is None else jnp.array(weights)), *rest), *operands)


def densities():
    # Of the covariance only the symmetric part has a derivative that is defined.
    line, plane = [0.1, 0.5, 0.7, 2.0, -1.2], [[0.1, 0.5, 0.7, 2.0, -1.2], [1.0, 0.2, -0.5, 0.4, 0.9]]
    weights = [1.0, 2.0, 0.5, 0.7, 1.2]
    points = [[0.0, 1.0, -0.3], [0.5, 0.1, 2.0]]
    for name, options in {"": {}, "_silverman": {"bw_method": "silverman"}, "_factor": {"bw_method": 0.3}, "_weighted": {"weights": weights}}.items():
        density("kde.pdf" + name, lambda kde, x: kde.pdf(x), line, [0.0, 1.0, 8.0], **options)
        density("kde.logpdf" + name, lambda kde, x: kde.logpdf(x), plane, points, **options)
        density("kde.integrate_box_1d" + name, lambda kde, low, high: kde.integrate_box_1d(low, high), line, -0.5, 1.5, **options)
        density("kde.integrate_gaussian" + name, lambda kde, mean, cov: kde.integrate_gaussian(mean, (cov + cov.T) / 2), plane, [0.3, -0.5], [[2.0, 0.5], [0.5, 1.0]], **options)
    row("kde.integrate_kde", lambda a, b: stats.gaussian_kde(a).integrate_kde(stats.gaussian_kde(b)), plane, points)
    key = jax.random.key(3)
    row("kde.resample", lambda data: stats.gaussian_kde(data).resample(key, (4,)), plane, slopes=False)


def summaries():
    x = [[3.0, 1.0, 2.0, 1.0], [0.0, 1.0, 2.0, 2.0], [3.0, -1.0, 2.0, 2.0]]
    for method in ("average", "min", "max", "dense", "ordinal"):
        row(f"rankdata_{method}", lambda x: stats.rankdata(x, method), x, slopes=False)
        row(f"rankdata_{method}_rows", lambda x: stats.rankdata(x, method, axis=1), x, slopes=False)
    row("rankdata_average", stats.rankdata, [1.0, np.nan, 0.0], slopes=False)
    for axis in (0, 1, None):
        row(f"mode_{axis}", lambda x: jnp.stack(stats.mode(x, axis=axis)), x, slopes=False)
        row(f"sem_{axis}", lambda x: stats.sem(x, axis=axis), x)


if __name__ == "__main__":
    distributions()
    vectors()
    densities()
    summaries()
    text = json.dumps({"jax": jax.__version__, "rows": ROWS}, separators=(",", ":"), allow_nan=False)
    path = pathlib.Path(__file__).parent / "data" / "stats.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text + "\n")
