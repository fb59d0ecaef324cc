"""Writes data/distributions.json: values, divergences, samples and derivatives of distributions.

Every row: `op` (the distribution), `inputs` (its parameters), the parameters `other` of a second distribution, a `value`, `seed`
and `shape` of a draw, and what Distrax computes: `log_prob`, `entropy`, `mean`, `mode`, `variance`,
`stddev`, `kl` (to the second distribution), `sample`, `log_prob_of_sample` (of `sample_and_log_prob`),
`d_sample` (the gradients of `sum(cos(sample))` with respect to the parameters, of distributions of
floats) and `d_log_prob` (those of `sum(log_prob(value))`). A method that Distrax lacks is null.

LogNormal, Exponential and Poisson are not in Distrax: their values are those of TensorFlow
Probability, and their samples transform those of `jax.random`.

Needs the versions that requirements.txt names for this script.
"""

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import distrax
import jax
import jax.numpy as jnp
import numpy as np
import recording
from complex_numbers import plain
from jax import random
from tensorflow_probability.substrates import jax as tfp

tfd = tfp.distributions
rows = []
rng = np.random.default_rng(2026)


class FromTfp:
    """A distribution of TensorFlow Probability with a sampler of `jax.random`."""

    def __init__(self, inner, draw):
        self.inner, self.draw = inner, draw

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def sample(self, seed, sample_shape):
        return self.draw(seed, tuple(sample_shape) + tuple(self.inner.batch_shape))

    def sample_and_log_prob(self, seed, sample_shape):
        x = self.sample(seed, sample_shape)
        return x, self.inner.log_prob(x)

    def kl_divergence(self, other):
        return self.inner.kl_divergence(other.inner)


def log_normal(loc, scale):
    return FromTfp(tfd.LogNormal(loc, scale), lambda key, shape: jnp.exp(scale * random.normal(key, shape) + loc))


class Exponential(FromTfp):
    """TensorFlow Probability returns NaN, the mode of Gamma with concentration 1. The density is largest at 0."""

    def mode(self):
        return jnp.zeros(self.inner.batch_shape)


def exponential(rate):
    return Exponential(tfd.Exponential(rate), lambda key, shape: random.exponential(key, shape) / rate)


def poisson(rate):
    return FromTfp(tfd.Poisson(rate), lambda key, shape: random.poisson(key, rate, shape, jnp.int32))


def affine(shift, scale):
    return distrax.ScalarAffine(shift, scale)


MAKE = {
    "Normal": distrax.Normal,
    "Laplace": distrax.Laplace,
    "LogNormal": log_normal,
    "Uniform": distrax.Uniform,
    "Bernoulli.logits": lambda x: distrax.Bernoulli(logits=x),
    "Bernoulli.probs": lambda x: distrax.Bernoulli(probs=x),
    "Categorical.logits": lambda x: distrax.Categorical(logits=x),
    "Categorical.probs": lambda x: distrax.Categorical(probs=x),
    "OneHotCategorical.logits": lambda x: distrax.OneHotCategorical(logits=x),
    "OneHotCategorical.probs": lambda x: distrax.OneHotCategorical(probs=x),
    "Beta": distrax.Beta,
    "Gamma": distrax.Gamma,
    "Dirichlet": distrax.Dirichlet,
    "Exponential": exponential,
    "Poisson": poisson,
    "MultivariateNormalDiag": distrax.MultivariateNormalDiag,
    "MultivariateNormalTri": distrax.MultivariateNormalTri,
    "Independent": lambda loc, scale: distrax.Independent(distrax.Normal(loc, scale), 1),
    "Transformed.affine": lambda loc, scale: distrax.Transformed(distrax.Normal(loc, scale), affine(0.5, -2.0)),
    "Transformed.tanh": lambda loc, scale: distrax.Transformed(distrax.Normal(loc, scale), distrax.Tanh()),
    "Transformed.sigmoid": lambda loc, scale: distrax.Transformed(distrax.Normal(loc, scale), distrax.Sigmoid()),
    "Transformed.wider": lambda shift, scale: distrax.Transformed(distrax.Normal(0.0, 1.0), affine(shift, scale)),
    "Transformed.block": lambda loc, scale: distrax.Transformed(
        distrax.MultivariateNormalDiag(loc, scale),
        distrax.Block(distrax.Chain([affine(1.0, 3.0), distrax.Tanh()]), 1)),
    "MixtureSameFamily": lambda logits, loc, scale: distrax.MixtureSameFamily(
        distrax.Categorical(logits=logits), distrax.Normal(loc, scale)),
}
DISCRETE = ("Bernoulli", "Categorical", "OneHotCategorical", "Poisson")


def maybe(f):
    try:
        return plain(f())
    except (NotImplementedError, AttributeError):
        return None


def gradients(f, parameters):
    return [plain(g) for g in jax.grad(f, argnums=tuple(range(len(parameters))))(*parameters)]


def record(name, parameters, other, value, shape):
    parameters, other = ([jnp.asarray(x, jnp.float32) for x in xs] for xs in (parameters, other))
    make, seed = MAKE[name], len(rows)
    key, d = random.key(seed), MAKE[name](*parameters)
    value = jnp.asarray(value)
    sample, log_prob_of_sample = d.sample_and_log_prob(seed=key, sample_shape=shape)
    np.testing.assert_array_equal(sample, d.sample(seed=key, sample_shape=shape))
    row = {"op": name, "inputs": [plain(x) for x in parameters], "other": [plain(x) for x in other],
           "value": plain(value), "seed": seed, "shape": list(shape),
           "log_prob": plain(d.log_prob(value)), "entropy": maybe(d.entropy), "mean": maybe(d.mean),
           "mode": maybe(d.mode), "variance": maybe(d.variance), "stddev": maybe(d.stddev),
           "kl": maybe(lambda: d.kl_divergence(make(*other))), "sample": plain(sample),
           "log_prob_of_sample": plain(log_prob_of_sample), "d_sample": None,
           "d_log_prob": gradients(lambda *p: make(*p).log_prob(value).sum(), parameters)}
    if name.split(".")[0] not in DISCRETE:
        draw = lambda *p: jnp.cos(make(*p).sample(seed=key, sample_shape=shape)).sum()
        row["d_sample"] = gradients(draw, parameters)
    rows.append(row)


def uniform(lo, hi, shape):
    return rng.uniform(lo, hi, shape).astype(np.float32)


# Pairs of shapes of two parameters, the shape of a draw and that of the value.
SHAPES = [((), (), (5,), (4,)), ((3,), (3,), (), (3,)), ((2, 1), (3,), (4,), (2, 3)), ((0,), (0,), (2,), (0,)),
          ((3,), (), (2, 2), (5, 3))]


def two(name, first, second, value, shapes=SHAPES):
    """Records a distribution of two parameters, each given by its range."""
    for a, b, draw, v in shapes:
        parameters, other = ([uniform(*first, a), uniform(*second, b)] for _ in range(2))
        record(name, parameters, other, uniform(*value, v), draw)


def one(name, parameter, value, convert=lambda x: x):
    for a, _, draw, v in SHAPES:
        record(name, [uniform(*parameter, a)], [uniform(*parameter, a)], convert(uniform(*value, v)), draw)


LOCATION, SCALE = (-2, 2), (0.3, 2.0)
for name, value in [("Normal", (-4, 4)), ("Laplace", (-4, 4)), ("LogNormal", (0.1, 5)), ("Transformed.affine", (-4, 4)),
                    ("Transformed.tanh", (-0.9, 0.9)), ("Transformed.sigmoid", (0.05, 0.95))]:
    two(name, LOCATION, SCALE, value)
two("Transformed.wider", LOCATION, SCALE, (-4, 4), [((3,), (), (4,), (4, 3)), ((2, 1), (3,), (), (2, 3))])
two("Uniform", (-2, 0), (1, 2), (-3, 3))
record("Uniform", [-1.0, 1.0], [-2.0, 2.0], uniform(-2, 2, (4,)), (3,))
record("Uniform", [-2.0, 1.0], [-1.0, 2.0], np.float32([-2.0, 1.0]), (3,))
bits = lambda x: (x > 0.5).astype(np.int32)
one("Bernoulli.logits", (-4, 4), (0, 1), bits)
one("Bernoulli.probs", (0.05, 0.95), (0, 1), bits)
one("Bernoulli.logits", (-40, 40), (0, 1))
record("Bernoulli.logits", [uniform(-2, 2, (3,))], [uniform(-2, 2, (3,))], bits(uniform(0, 1, (3,))) > 0, (2,))
# At probabilities of 0 and 1 derivatives do not exist.
record("Bernoulli.probs", [np.float32([0, 1, 0.5])], [np.float32([0.1, 0.9, 0.5])], np.int32([0, 1, 1]), (2,))
rows[-1]["d_log_prob"] = None
for batch, draw, v in [((), (5,), (4,)), ((3,), (), (3,)), ((2, 3), (4,), (2, 3)), ((0,), (2,), (0,))]:
    for kind, lo, hi in [("logits", -3, 3), ("probs", 0.1, 3)]:
        parameters = [[uniform(lo, hi, batch + (4,))] for _ in range(2)]
        index = rng.integers(0, 4, v).astype(np.int32)
        record(f"Categorical.{kind}", *parameters, index, draw)
        record(f"OneHotCategorical.{kind}", *parameters, np.eye(4, dtype=np.int32)[index], draw)
record("Categorical.logits", [uniform(-1, 1, (3,))], [uniform(-1, 1, (3,))], np.int32([-1, 0, 2, 3]), (2,))
record("Categorical.probs", [np.float32([0.5, 0.0, 0.5])], [np.float32([0.25, 0.5, 0.25])], np.int32([0, 1, 2]), (6,))
rows[-1]["d_log_prob"] = None
two("Gamma", (0.3, 6), (0.3, 3), (0.1, 5))
two("Beta", (0.3, 5), (0.3, 5), (0.05, 0.95))
one("Exponential", (0.2, 4), (0.1, 5))
one("Poisson", (0.3, 25), (0, 20), lambda x: x.astype(np.int32))
for batch, draw, v in [((), (5,), (4,)), ((3,), (), (3,)), ((2, 3), (4,), (2, 3)), ((0,), (2,), (0,))]:
    points = rng.dirichlet([2.0, 2.0, 2.0], v).astype(np.float32)
    record("Dirichlet", *[[uniform(0.3, 5, batch + (3,))] for _ in range(2)], points, draw)
for loc, scale, draw, v in [((3,), (3,), (5,), (4, 3)), ((2, 3), (3,), (), (2, 3)), ((2, 1, 3), (4, 3), (3,), (2, 4, 3)),
                            ((0, 3), (3,), (2,), (0, 3))]:
    for name, value in [("MultivariateNormalDiag", (-3, 3)), ("Independent", (-3, 3)), ("Transformed.block", (-1, 3))]:
        two(name, LOCATION, SCALE, value, [(loc, scale, draw, v)])
    tri = [[uniform(*LOCATION, loc), uniform(-1, 1, scale + (3,)) + 1.5 * np.eye(3)] for _ in range(2)]
    record("MultivariateNormalTri", *tri, uniform(-3, 3, v), draw)
    mixture = [[uniform(-1, 1, loc), uniform(*LOCATION, loc), uniform(*SCALE, loc)] for _ in range(2)]
    record("MixtureSameFamily", *mixture, uniform(-3, 3, v[:-1]), draw)
recording.write(recording.DATA / "distributions", rows)
