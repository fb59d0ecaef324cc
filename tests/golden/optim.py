"""Writes data/optim.json: optimizers of Optax on a small problem.

The parameters are a vector and a matrix; the objective is a quadratic bowl with
a coupling, written out below, so that gradients change from step to step.
`trajectories` holds the parameters after each of 20 updates.
"""

import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import optax

STEPS = 20


def parameters():
    return {"a": jnp.array([1.0, -2.0, 0.5], jnp.float32),
            "b": jnp.array([[0.3, -0.7, 1.1], [2.0, 0.0, -1.5]], jnp.float32)}


def objective(params):
    a, b = params["a"], params["b"]
    return jnp.sum(jnp.array([1.0, 10.0, 0.1]) * a**2) + jnp.sum((b @ a - 1.0) ** 2) + 0.5 * jnp.sum(b**2)


def decaying(count):
    return 0.1 / (1.0 + count)


OPTIMIZERS = {
    "sgd": optax.sgd(0.02),
    "sgd_momentum": optax.sgd(0.01, momentum=0.9),
    "sgd_nesterov": optax.sgd(0.01, momentum=0.9, nesterov=True),
    "sgd_schedule": optax.sgd(decaying),
    "adam": optax.adam(0.05),
    "adam_nesterov": optax.adam(0.05, b1=0.8, b2=0.95, eps=1e-4, eps_root=1e-6, nesterov=True),
    "adamw": optax.adamw(0.05, weight_decay=0.1),
    "adamw_mask": optax.adamw(0.05, weight_decay=0.1, mask={"a": False, "b": True}),
    "clipped": optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1, momentum=0.5)),
    "clipped_elements": optax.chain(optax.clip(0.3), optax.scale(-0.2)),
}


def trajectory(tx):
    params = parameters()
    state = tx.init(params)
    out = {name: [] for name in params}
    for _ in range(STEPS):
        updates, state = tx.update(jax.grad(objective)(params), state, params)
        params = optax.apply_updates(params, updates)
        for name, value in params.items():
            out[name].append(np.asarray(value).ravel().tolist())
    return out


def main():
    document = {"optax": optax.__version__, "jax": jax.__version__,
                "trajectories": {name: trajectory(tx) for name, tx in OPTIMIZERS.items()}}
    path = pathlib.Path(__file__).parent / "data" / "optim.json"
    path.write_text(json.dumps(document, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
