"""Writes data/differentiation.json: how JAX differentiates each of its primitives.

`zero` are those whose tangent is zero everywhere, `undefined` those without a
rule, whose derivative JAX refuses, `defined` the others.
"""

import gc
import json
import pathlib

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import jax._src.ad_checkpoint
from jax._src import core
from jax._src.interpreters import ad

RULES = [ad.primitive_jvps, ad.primitive_linearizations, ad.primitive_transposes, ad.fancy_transposes]


def kind(primitive):
    rule = ad.primitive_jvps.get(primitive)
    if getattr(rule, "func", None) is ad.zero_jvp:
        return "zero"
    return "defined" if any(primitive in rules for rules in RULES) else "undefined"


def main():
    found = {"zero": set(), "undefined": set(), "defined": set()}
    for thing in gc.get_objects():
        if isinstance(thing, core.Primitive):
            found[kind(thing)].add(thing.name)
    # One name may be that of several primitives.
    found["undefined"] -= found["defined"] | found["zero"]
    document = {"jax": jax.__version__} | {k: sorted(v) for k, v in found.items()}
    path = pathlib.Path(__file__).parent / "data" / "differentiation.json"
    path.write_text(json.dumps(document, indent=1) + "\n")
    print({k: len(v) for k, v in found.items()})


if __name__ == "__main__":
    main()
