"""Values of Flax's RNG methods for initializers and of Optax on pytrees: ports_nets.json."""

import json
import pathlib

import jax
import jax.numpy as jnp
import optax
from flax import nnx


def initializers():
    rngs = nnx.Rngs(7)
    draws = {
        "lecun_normal": rngs.lecun_normal(),
        "glorot_uniform": rngs.glorot_uniform(),
        "he_normal": rngs.he_normal(),
        "variance_scaling": rngs.variance_scaling(2.0, "fan_out", "uniform"),
    }
    return {name: draw((2, 3), jnp.float32).ravel().tolist() for name, draw in draws.items()}


def trees():
    params = {"layers": [jnp.array([1.0, 2.0]), jnp.array([3.0])], "scale": jnp.array(0.5)}
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(0.1, weight_decay=0.01))
    state = tx.init(params)
    for _ in range(3):
        grads = jax.tree.map(lambda p: p * p, params)
        updates, state = tx.update(grads, state, params)
        params = optax.apply_updates(params, updates)
    decay = optax.add_decayed_weights(0.5, mask={"layers": [True, False], "scale": False})
    decayed, _ = decay.update(params, decay.init(params), params)
    up = optax.scale_by_learning_rate(0.1, flip_sign=False)
    scaled, _ = up.update(params, up.init(params))
    flat = lambda tree: [x.ravel().tolist() for x in jax.tree.leaves(tree)]
    return {
        "params": flat(params),
        "norm": float(optax.tree.norm(params)),
        "decayed": flat(decayed),
        "scaled": flat(scaled),
    }


data = {"initializers": initializers(), "trees": trees()}
path = pathlib.Path(__file__).parent / "data" / "ports_nets.json"
path.write_text(json.dumps(data, indent=1) + "\n")
