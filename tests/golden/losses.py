"""Writes data/losses.json: the losses of Optax, with their gradients.

A row is a call: the name of a case, its inputs (name to shape, type and
elements), the value and the gradient of its sum with respect to `x`. The cases
are written again in optim/tests/optax/losses.rs.
"""

import json
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
import optax

losses = optax.losses
rng = np.random.RandomState(7)


def f32(*shape, low=-2.0, high=2.0):
    return rng.uniform(low, high, shape).astype(np.float32)


def probabilities(*shape):
    x = rng.uniform(0.1, 1.0, shape)
    return (x / x.sum(-1, keepdims=True)).astype(np.float32)


def masks(*shape):
    mask = rng.uniform(size=shape) < 0.6
    mask[..., 0] = True
    return mask


def classes(n, *shape):
    return rng.randint(0, n, shape).astype(np.int32)


def signs(*shape):
    return np.where(rng.uniform(size=shape) < 0.5, -1.0, 1.0).astype(np.float32)


ROWS = []


def number(e):
    """The shortest text of an element; null is NaN, a string an infinity."""
    if e.dtype.kind != "f":
        return e.item()
    if np.isnan(e):
        return None
    return float(str(e)) if np.isfinite(e) else str(e)


def row(name, f, **inputs):
    x = jnp.asarray(inputs["x"])
    rest = {k: jnp.asarray(v) for k, v in inputs.items() if k != "x"}
    call = lambda x: f(x, **rest)
    value = np.asarray(call(x))
    gradient = np.asarray(jax.grad(lambda x: jnp.sum(call(x)))(x))
    plain = lambda a: {"shape": list(a.shape), "type": str(a.dtype),
                       "elements": [number(e) for e in a.ravel()]}
    ROWS.append({"case": name, "inputs": {k: plain(np.asarray(v)) for k, v in inputs.items()},
                 "value": plain(value), "gradient": plain(gradient)})


def main():
    for shape in [(3, 5), (2, 3, 4), (4,), (0, 3)]:
        x, y = f32(*shape), f32(*shape)
        p, m = probabilities(*shape), masks(*shape)
        k = classes(shape[-1], *shape[:-1])
        t, b = signs(*shape), classes(2, *shape).astype(np.float32)
        logs = np.log(probabilities(*shape))
        row("softmax_cross_entropy", lambda x, p: losses.softmax_cross_entropy(x, p), x=x, p=p)
        row("softmax_cross_entropy_mask", lambda x, p, m: losses.softmax_cross_entropy(x, p, where=m), x=x, p=p, m=m)
        row("softmax_cross_entropy_first", lambda x, p: losses.softmax_cross_entropy(x, p, axis=0), x=x, p=p)
        row("safe_softmax_cross_entropy", lambda x, b: losses.safe_softmax_cross_entropy(x, b), x=x, b=b)
        row("integer_labels", lambda x, k: losses.softmax_cross_entropy_with_integer_labels(x, k), x=x, k=k)
        if 0 not in shape:
            row("integer_labels_mask", lambda x, k, m: losses.softmax_cross_entropy_with_integer_labels(x, k, where=m),
                x=x, k=np.zeros_like(k), m=m)
        row("sigmoid_binary_cross_entropy", lambda x, b: losses.sigmoid_binary_cross_entropy(x, b), x=x, b=b)
        row("sigmoid_focal_loss", lambda x, b: losses.sigmoid_focal_loss(x, b), x=x, b=b)
        row("sigmoid_focal_loss_alpha", lambda x, p: losses.sigmoid_focal_loss(x, p, alpha=0.3, gamma=1.5), x=x, p=p)
        row("poly_loss_cross_entropy", lambda x, p: losses.poly_loss_cross_entropy(x, p), x=x, p=p)
        row("poly_loss_cross_entropy_mask", lambda x, p, m: losses.poly_loss_cross_entropy(x, p, epsilon=0.5, where=m), x=x, p=p, m=m)
        row("smooth_labels", lambda x: losses.smooth_labels(x, 0.1), x=p)
        row("smooth_labels_mask", lambda x, m: losses.smooth_labels(x, 0.2, where=m), x=p, m=m)
        row("kl_divergence", lambda x, b: losses.kl_divergence(x, b), x=logs, b=p)
        row("kl_divergence_zero", lambda x, b: losses.kl_divergence(x, b), x=logs, b=b)
        row("kl_divergence_mask", lambda x, b, m: losses.kl_divergence(x, b, where=m), x=logs, b=p, m=m)
        row("kl_divergence_with_log_targets", lambda x, y: losses.kl_divergence_with_log_targets(x, y), x=logs, y=np.log(p))
        row("generalized_kl_divergence", lambda x, p: losses.generalized_kl_divergence(x, p), x=x, p=p)
        row("squared_error", lambda x, y: losses.squared_error(x, y), x=x, y=y)
        row("l2_loss", lambda x, y: losses.l2_loss(x, y), x=x, y=y)
        row("huber_loss", lambda x, y: losses.huber_loss(x, y), x=x, y=y)
        row("huber_loss_delta", lambda x, y: losses.huber_loss(x, y, delta=0.3), x=x, y=y)
        row("log_cosh", lambda x, y: losses.log_cosh(x, y), x=20 * x, y=y)
        row("squared_error_alone", lambda x: losses.squared_error(x), x=x)
        row("l2_loss_alone", lambda x: losses.l2_loss(x), x=x)
        row("huber_loss_alone", lambda x: losses.huber_loss(x, delta=0.3), x=x)
        row("log_cosh_alone", lambda x: losses.log_cosh(x), x=20 * x)
        row("cosine_similarity", lambda x, y: losses.cosine_similarity(x, y), x=x, y=y)
        row("cosine_similarity_mask", lambda x, y, m: losses.cosine_similarity(x, y, epsilon=0.5, where=m), x=x, y=y, m=m)
        row("cosine_distance", lambda x, y: losses.cosine_distance(x, y, epsilon=1e-3), x=x, y=y)
        row("hinge_loss", lambda x, t: losses.hinge_loss(x, t), x=x, t=t)
        row("perceptron_loss", lambda x, t: losses.perceptron_loss(x, t), x=x, t=t)
        row("multiclass_hinge_loss", lambda x, k: losses.multiclass_hinge_loss(x, k), x=x, k=k)
        row("multiclass_perceptron_loss", lambda x, k: losses.multiclass_perceptron_loss(x, k), x=x, k=k)
        row("sparsemax_loss", lambda x, b: losses.sparsemax_loss(x, b.astype(bool)), x=x, b=b)
        row("ranking_softmax_loss", lambda x, p: losses.ranking_softmax_loss(x, p, reduce_fn=None), x=x, p=p)
        row("ranking_softmax_loss_mask", lambda x, p, m, y: losses.ranking_softmax_loss(x, p, where=m, weights=y, reduce_fn=None),
            x=x, p=p, m=m, y=np.abs(y))
        row("triplet_margin_loss", lambda x, y, p: losses.triplet_margin_loss(x, y, p), x=x, y=y, p=p)
        row("triplet_margin_loss_cubic", lambda x, y, p: losses.triplet_margin_loss(x, y, p, norm_degree=4, margin=0.2), x=x, y=y, p=p)
        row("fenchel_young", losses_of_logsumexp, x=x, p=p)
    # A probability of 0 of a logit that is not there.
    row("safe_softmax_cross_entropy", lambda x, b: losses.safe_softmax_cross_entropy(x, b),
        x=np.array([[1.0, -np.inf, 2.0]], np.float32), b=np.array([[0.5, 0.0, 0.5]], np.float32))
    for n, features in [(6, 4), (4, 1), (2, 3)]:
        row("ntxent", lambda x, k: losses.ntxent(x, k), x=f32(n, features, low=0.1), k=np.arange(n, dtype=np.int32) // 2)
    row("ntxent_warm", lambda x, k: losses.ntxent(x, k, temperature=0.5), x=f32(6, 4), k=np.array([0, 1, 0, 1, 0, 2], np.int32))
    for shape in [(2, 4, 3, 5), (3, 6, 2), (1, 2, 2, 1)]:
        x = f32(*shape)
        t = np.eye(shape[-1], dtype=np.float32)[classes(shape[-1], *shape[:-1])]
        row("dice_loss", lambda x, t: losses.dice_loss(x, t, reduction="none"), x=x, t=t)
        row("tversky_loss", lambda x, t: losses.dice_loss(x, t, alpha=0.3, beta=0.7, smooth=0.1, reduction="none", ignore_background=True), x=x, t=t)
        row("multiclass_generalized_dice_loss", lambda x, t: losses.multiclass_generalized_dice_loss(x, t), x=x, t=t)
    row("dice_loss_weights", lambda x, t, w: losses.dice_loss(x, t, class_weights=w, reduction="none"),
        x=f32(2, 4, 3), t=probabilities(2, 4, 3), w=f32(3, low=0.1))
    for shape in [(2, 4, 3), (2, 4, 3, 1), (3, 5)]:
        row("binary_dice_loss", lambda x, t: losses.binary_dice_loss(x, t), x=f32(*shape), t=classes(2, *shape).astype(np.float32))
    for batch, frames, k, count, blank in [(2, 6, 5, 3, 0), (3, 8, 4, 2, 2), (1, 3, 3, 1, 0), (2, 12, 4, 4, 0)]:
        lengths = rng.randint(max(2 * count - 1, 1), frames + 1, batch)
        counts = rng.randint(1, count + 1, batch)
        labels = (1 + blank + classes(k - 1, batch, count)) % k
        row(f"ctc_loss_{blank}", lambda x, xp, y, yp: losses.ctc_loss(x, xp, y, yp, blank_id=blank),
            x=f32(batch, frames, k), xp=(np.arange(frames) >= lengths[:, None]).astype(np.float32),
            y=labels.astype(np.int32), yp=(np.arange(count) >= counts[:, None]).astype(np.float32))
    path = pathlib.Path(__file__).parent / "data" / "losses.json"
    document = {"optax": optax.__version__, "jax": jax.__version__, "rows": ROWS}
    path.write_text(json.dumps(document, separators=(",", ":")).replace("},{\"case\"", "},\n{\"case\"") + "\n")
    print(len(ROWS), path.stat().st_size)


def losses_of_logsumexp(x, p):
    return losses.make_fenchel_young_loss(jax.nn.logsumexp)(x, p)


if __name__ == "__main__":
    main()
