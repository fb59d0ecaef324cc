"""Writes data/digits.safetensors and data/digits.json: a training run to follow.

The digits classifier Linear(64, 128) -> SELU -> Linear(128, 128) -> SELU ->
Linear(128, 10), trained with plain SGD of rate 0.05 on all 1,347 training rows
at once. Pixels are 0..16 as they are; the loss is the mean softmax cross
entropy with integer labels. The split is scikit-learn's train_test_split with
random_state=0 on the rows of load_digits, in that order.

The safetensors file holds the initial parameters, the JSON file what they lead
to. `loss` is indexed by the number of updates made before it was computed.
"""

import json
import os
import pathlib

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
import optax
from safetensors.numpy import save_file
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

RATE = 0.05
SIZES = [64, 128, 128, 10]
REPORTED = [0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500]


def initial_parameters():
    """lecun_normal kernels from fold_in(key(0), layer), zero biases."""
    params = {}
    for i, (inputs, outputs) in enumerate(zip(SIZES, SIZES[1:])):
        key = jax.random.fold_in(jax.random.key(0), i)
        kernel = jax.nn.initializers.lecun_normal()(key, (inputs, outputs), jnp.float32)
        params[f"linear{i + 1}"] = {"kernel": kernel, "bias": jnp.zeros(outputs, jnp.float32)}
    return params


def logits(params, x):
    x = jax.nn.selu(x @ params["linear1"]["kernel"] + params["linear1"]["bias"])
    x = jax.nn.selu(x @ params["linear2"]["kernel"] + params["linear2"]["bias"])
    return x @ params["linear3"]["kernel"] + params["linear3"]["bias"]


def loss(params, x, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits(params, x), labels).mean()


@jax.jit
def step(params, x, labels):
    value, grads = jax.value_and_grad(loss)(params, x, labels)
    return jax.tree.map(lambda p, g: p - RATE * g, params, grads), value, grads


def main():
    digits = load_digits()
    images, labels = digits.data.astype(np.float32), digits.target.astype(np.int32)
    train, test = train_test_split(np.arange(len(labels)), random_state=0)
    x, y = images[train], labels[train]
    params = initial_parameters()
    data = pathlib.Path(__file__).parent / "data"
    flat = {f"{layer}/{name}": np.asarray(value) for layer, group in params.items() for name, value in group.items()}
    path = os.environ.get("DIGITS_OUT", str(data / "digits"))
    save_file(flat, path + ".safetensors", {"jax": jax.__version__})

    losses, norms = {}, {}
    for count in range(REPORTED[-1] + 1):
        updated, value, grads = step(params, x, y)
        if count in REPORTED:
            losses[str(count)] = float(value)
        if count == 0:
            norms = {f"{layer}/{name}": float(jnp.linalg.norm(g)) for layer, group in grads.items() for name, g in group.items()}
        if count == 100:
            middle = params
        if count < REPORTED[-1]:
            params = updated

    def evaluate(params):
        out = logits(params, images[test])
        return {"loss": float(loss(params, images[test], labels[test])),
                "correct": int((out.argmax(-1) == labels[test]).sum()), "of": len(test)}

    document = {"jax": jax.__version__, "rate": RATE, "loss": losses, "first_gradient_norm": norms,
                "first_logits": np.asarray(logits(initial_parameters(), x[:1]))[0].tolist(),
                "test_after_100": evaluate(middle), "test_after_500": evaluate(params)}
    pathlib.Path(path + ".json").write_text(json.dumps(document, indent=1) + "\n")
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
