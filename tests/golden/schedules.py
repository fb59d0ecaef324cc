"""Writes data/schedules.json: schedules of Optax at several steps,
and their slopes between steps.

The cases are written again in optim/tests/optax/schedules.rs.
"""

import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import optax

STEPS = [0, 1, 2, 3, 5, 7, 9, 10, 11, 15, 19, 20, 21, 29, 30, 31, 40, 99, 100, 101, 150, 1000]

CASES = {
    "constant": optax.constant_schedule(0.3),
    "linear": optax.linear_schedule(1.0, 0.1, 20),
    "linear_from": optax.linear_schedule(0.0, 2.0, 10, 5),
    "polynomial": optax.polynomial_schedule(1.0, 0.2, 2.0, 30, 3),
    "cosine": optax.cosine_decay_schedule(0.5, 30),
    "cosine_alpha": optax.cosine_decay_schedule(0.5, 30, 0.1, 1.5),
    "exponential": optax.exponential_decay(1.0, 10, 0.5),
    "exponential_stairs": optax.exponential_decay(1.0, 10, 0.5, transition_begin=5, staircase=True, end_value=0.1),
    "exponential_growth": optax.exponential_decay(0.01, 10, 1.7, end_value=1.0),
    "piecewise_constant": optax.piecewise_constant_schedule(1.0, {10: 0.5, 30: 0.1}),
    "piecewise_linear": optax.piecewise_interpolate_schedule("linear", 1.0, {10: 0.5, 30: 3.0}),
    "piecewise_cosine": optax.piecewise_interpolate_schedule("cosine", 1.0, {10: 0.5, 30: 3.0}),
    "linear_onecycle": optax.linear_onecycle_schedule(100, 0.4),
    "cosine_onecycle": optax.cosine_onecycle_schedule(100, 0.4, div_factor=10.0, final_div_factor=100.0),
    "join": optax.join_schedules([optax.linear_schedule(0.0, 1.0, 10), optax.constant_schedule(1.0),
                                  optax.cosine_decay_schedule(1.0, 20)], [10, 20]),
    "warmup_constant": optax.warmup_constant_schedule(0.0, 0.3, 10),
    "warmup_cosine": optax.warmup_cosine_decay_schedule(0.0, 1.0, 10, 100, 0.05, 1.2),
    "warmup_exponential": optax.warmup_exponential_decay_schedule(0.0, 1.0, 10, 20, 0.7, staircase=True),
    "warmup_cosine_none": optax.warmup_cosine_decay_schedule(0.3, 1.0, 0, 40),
    "warmup_exponential_none": optax.warmup_exponential_decay_schedule(0.3, 1.0, 0, 20, 0.7),
    "sgdr": optax.sgdr_schedule([dict(init_value=0.0, peak_value=1.0, warmup_steps=2, decay_steps=20),
                                 dict(init_value=0.1, peak_value=0.5, warmup_steps=5, decay_steps=80, end_value=0.01)]),
}

# Where slopes are taken: between steps, where schedules have them.
BETWEEN = [0.5, 4.25, 12.75, 25.25, 60.5, 170.5]


def main():
    values = {name: [float(str(np.float32(f(jnp.int32(step))))) for step in STEPS] for name, f in CASES.items()}
    path = pathlib.Path(__file__).parent / "data" / "schedules.json"
    slope = lambda f, at: float(str(np.float32(jax.grad(lambda count: jnp.float32(f(count)))(jnp.float32(at)))))
    slopes = {name: [slope(f, at) for at in BETWEEN] for name, f in CASES.items()}
    document = {"optax": optax.__version__, "steps": STEPS, "values": values, "between": BETWEEN, "slopes": slopes}
    path.write_text(json.dumps(document).replace("], \"", "],\n\"") + "\n")
    print(path.stat().st_size)


if __name__ == "__main__":
    main()
