"""Writes data/checkpoint_policies.json: the types of the values that reverse mode
saves of functions under `jax.checkpoint`, for every policy.

An object for each program: the sorted types of the residuals by policy.
"""

import json
import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
from jax._src.ad_checkpoint import saved_residuals
from jax.ad_checkpoint import checkpoint_name

policies = jax.checkpoint_policies
NAMES = ("hidden", "scores")


def layer(x, w):
    return jnp.sin(checkpoint_name(x @ w, "hidden"))


def chain(x, w):
    hidden = checkpoint_name(jnp.sin(x), "hidden")
    return jnp.sin(jnp.sin(hidden))


def two_layers(x, w):
    return layer(layer(x, w), w)


def two_names(x, w):
    a = checkpoint_name(jnp.sin(x @ w), "hidden")
    b = checkpoint_name(jnp.exp(a), "other")
    return (b * a).sum()


def batched_scores(x, w):
    q = checkpoint_name(x @ w, "hidden").reshape(2, 2, 4)
    scores = checkpoint_name(jnp.einsum("bid,bjd->bij", q, q), "scores")
    return jnp.einsum("bij,bjd->bid", jnp.sin(scores), q)


def shared_name(x, w):
    hidden = checkpoint_name(x * x, "hidden")
    return jnp.sin(hidden) + jnp.cos(hidden)


def jitted(x, w):
    y = jax.jit(layer)(x, w)
    return jnp.cos(y) * y


POLICIES = {
    "none": None,
    "everything": policies.everything_saveable,
    "nothing": policies.nothing_saveable,
    "dots": policies.dots_saveable,
    "dots_no_batch": policies.dots_with_no_batch_dims_saveable,
    "only": policies.save_only_these_names(*NAMES),
    "any_name_but": policies.save_any_names_but_these(*NAMES),
    "anything_except": policies.save_anything_except_these_names(*NAMES),
    "both": policies.save_from_both_policies(policies.dots_saveable, policies.save_only_these_names("hidden")),
    "offload": policies.save_and_offload_only_these_names(
        names_which_can_be_saved=["other"], names_which_can_be_offloaded=["hidden"],
        offload_src="device", offload_dst="pinned_host"),
    "offload_dots": policies.offload_dot_with_no_batch_dims("device", "pinned_host"),
}

x = w = jnp.ones((4, 4))
programs = [chain, two_layers, two_names, batched_scores, shared_name, jitted]
rows = {}
for f in programs:
    row = rows[f.__name__] = {}
    for name, policy in POLICIES.items():
        kept = saved_residuals(jax.checkpoint(f, policy=policy), x, w)
        row[name] = sorted("f32" + str(list(aval.shape)).replace(" ", "") for aval, _ in kept)
data = pathlib.Path(__file__).parent / "data"
(data / "checkpoint_policies.json").write_text(json.dumps(rows, indent=1) + "\n")
print(sum(map(len, rows.values())), "rows", jax.__version__)
