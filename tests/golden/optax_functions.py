"""Writes data/optax_functions.json: functions and transformations of Optax that
need more than parameters and gradients, or are no optimizers: lookahead, SAM
in opaque mode, private gradients, gradients that are not finite, projections,
arithmetic of trees, perturbations, microbatches, linear algebra.

The cases are written again in optim/tests/optax/functions.rs and
optim/tests/optax/special_trajectories.rs.
"""

import json
import pathlib
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import optax
import optax.contrib as contrib
from optax import microbatching, perturbations, projections, second_order

from optimizers import by_path, grid, mlp, numbers, problems, spread

warnings.filterwarnings("ignore")
PARAMS = {"a": grid(3, scale=1.5), "b": {"w": grid(2, 3, scale=2.0, shift=0.7)}}
OTHER = {"a": grid(3, scale=0.8, shift=2.0), "b": {"w": grid(2, 3, scale=1.1, shift=1.3)}}


def neighbours(params, count=3):
    """Parameters that differ by one unit in the last place."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        away = lambda x: np.nextafter(x, np.float32(rng.choice([-np.inf, np.inf])))
        yield jax.tree.map(lambda x: jnp.asarray(np.vectorize(away, otypes=[np.float32])(np.asarray(x))), params)


def followed(run, params):
    """A run and how far it is from itself, as in optimizers.py."""
    one = run(params)
    return one | {"spread": spread(one, [run(other) for other in neighbours(params)])}


def steps(step, params, state, count=20, recorded=(1, 5, 20)):
    found = {}
    step = jax.jit(step)
    for i in range(count):
        params, state = step(params, state, jnp.int32(i))
        if i + 1 in recorded:
            found[str(i + 1)] = by_path(params)
    return {"params": found, "state": by_path(state)}


def lookahead(reset):
    tx = optax.lookahead(optax.adam(0.05), 4, 0.3, reset_state=reset)

    def run(objective):
        def step(params, state, i):
            grads = jax.grad(lambda p: objective(p, i))(params.fast)
            updates, state = tx.update(grads, state, params)
            return optax.apply_updates(params, updates), state

        def whole(params):
            params = optax.LookaheadParams.init_synced(params)
            return steps(step, params, tx.init(params))
        return whole

    return {name: followed(run(f), p) for name, (f, p) in problems().items()}


def opaque_sam(adversary, sync_period, reset_state=True):
    tx = contrib.sam(optax.sgd(0.01, momentum=0.5), adversary, sync_period=sync_period, opaque_mode=True, reset_state=reset_state)

    def run(objective):
        def step(params, state, i):
            grad_fn = jax.grad(lambda p, _: objective(p, i))
            updates, state = tx.update(grad_fn(params, 0), state, params, grad_fn=grad_fn)
            return optax.apply_updates(params, updates), state
        return lambda params: steps(step, params, tx.init(params))

    return {name: followed(run(f), p) for name, (f, p) in problems().items()}


def private(tx):
    _, params = problems()["mlp"]
    examples = jnp.arange(6)

    def step(params, state, i):
        one = lambda p, k: mlp_of_example(p, i, k)
        grads = jax.vmap(jax.grad(one), (None, 0))(params, examples)
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state

    return followed(lambda p: steps(step, p, tx.init(p)), params)


def mlp_of_example(params, step, k):
    from optimizers import CLASSES, INPUTS
    x, y = INPUTS[step % 3][k], CLASSES[step % 3][k]
    h = jnp.tanh(x @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    logits = h @ params["out"]["kernel"] + params["out"]["bias"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, y)


# Steps whose gradients are not finite: the rest of the trajectory says what was made of them.
BAD = {2: jnp.nan, 5: jnp.inf, 6: jnp.nan, 7: -jnp.inf, 8: jnp.nan, 12: jnp.inf}


def not_finite(tx):
    bad = jnp.array([BAD.get(i, 0.0) for i in range(20)], jnp.float32)

    def run(objective):
        def step(params, state, i):
            grads = jax.grad(lambda p: objective(p, i))(params)
            grads = jax.tree.map(lambda g: g + bad[i], grads)
            updates, state = tx.update(grads, state, params)
            return optax.apply_updates(params, updates), state
        return lambda params: steps(step, params, tx.init(params))

    f, p = problems()["mlp"]
    return followed(run(f), p)


def per_example():
    grads = {"a": grid(4, 3, scale=2.0), "b": {"w": grid(4, 2, 3, scale=1.5, shift=0.5)}}
    clipped, count = optax.per_example_global_norm_clip(jax.tree.leaves(grads), 2.5)
    layers, counts = optax.per_example_layer_norm_clip(jax.tree.leaves(grads), 2.0)
    scaled, scaled_counts = optax.per_example_layer_norm_clip(jax.tree.leaves(grads), 2.0, uniform=False)
    return {"global": by_path(tuple(clipped)), "num_clipped": numbers(count),
            "layers": by_path(tuple(layers)), "layers_clipped": by_path(tuple(counts)),
            "scaled": by_path(tuple(scaled)), "scaled_clipped": by_path(tuple(scaled_counts))}


def projected():
    p = projections
    lower, upper = jax.tree.map(lambda x: x - 0.5, OTHER), jax.tree.map(lambda x: x + 0.5, OTHER)
    cases = {
        "non_negative": p.projection_non_negative(PARAMS), "box": p.projection_box(PARAMS, lower, upper),
        "hypercube": jax.tree.map(lambda x: p.projection_hypercube(x, 0.7), PARAMS), "simplex": p.projection_simplex(PARAMS),
        "simplex_scaled": p.projection_simplex(PARAMS, 2.5), "l1_sphere": p.projection_l1_sphere(PARAMS, 3.0),
        "l1_ball": p.projection_l1_ball(PARAMS, 3.0), "l1_ball_inside": p.projection_l1_ball(PARAMS, 300.0),
        "l2_sphere": p.projection_l2_sphere(PARAMS, 1.5), "l2_ball": p.projection_l2_ball(PARAMS, 1.5),
        "l2_ball_inside": p.projection_l2_ball(PARAMS, 150.0), "linf_ball": jax.tree.map(lambda x: p.projection_linf_ball(x, 0.9), PARAMS),
        "vector": p.projection_vector(PARAMS, OTHER), "hyperplane": p.projection_hyperplane(PARAMS, OTHER, 0.5),
        "halfspace": p.projection_halfspace(PARAMS, OTHER, -3.0), "halfspace_inside": p.projection_halfspace(PARAMS, OTHER, 300.0),
    }
    slopes = {name: jax.grad(lambda x: optax.tree.vdot(f(x), OTHER))(PARAMS) for name, f in {
        "simplex": p.projection_simplex, "l1_ball": lambda x: p.projection_l1_ball(x, 3.0),
        "l2_ball": lambda x: p.projection_l2_ball(x, 1.5)}.items()}
    return {"values": {k: by_path(v) for k, v in cases.items()}, "gradients": {k: by_path(v) for k, v in slopes.items()}}


def trees():
    t = optax.tree
    c = {"a": PARAMS["a"] + 1j * OTHER["a"], "b": PARAMS["b"]["w"]}
    count = jnp.int32(3)
    nan = {"a": jnp.array([jnp.nan, 1.0])}
    states = {
        "add": t.add(PARAMS, OTHER), "sub": t.sub(PARAMS, OTHER), "mul": t.mul(PARAMS, OTHER), "div": t.div(PARAMS, OTHER),
        "scale": t.scale(0.3, PARAMS), "add_scale": t.add_scale(PARAMS, -1.7, OTHER), "clip": t.clip(PARAMS, -0.5, 0.8),
        "clip_above": t.clip(PARAMS, None, 0.8), "clip_below": t.clip(PARAMS, -0.5),
        "where": t.where(True, PARAMS, OTHER), "full_like": t.full_like(PARAMS, 2.5), "zeros_like": t.zeros_like(PARAMS),
        "ones_like": t.ones_like(PARAMS), "real": t.real(c), "conj_imag": jax.tree.map(jnp.imag, t.conj(c)),
        "cast": jax.tree.map(lambda x: x.astype(jnp.float32), t.cast(PARAMS, jnp.bfloat16)),
        "random_like": t.random_like(jax.random.key(5), PARAMS),
        "random_like_uniform": t.random_like(jax.random.key(5), PARAMS, sampler=jax.random.uniform),
        "split_key_like": t.split_key_like(jax.random.key(5), PARAMS),
        "update_moment": t.update_moment(PARAMS, OTHER, 0.9, 3), "update_infinity_moment": t.update_infinity_moment(PARAMS, OTHER, 0.9, 0.1),
        "update_moment_per_elem_norm": t.update_moment_per_elem_norm(PARAMS, OTHER, 0.9, 2),
        "bias_correction": t.bias_correction(PARAMS, 0.9, count),
        "incremental_update": optax.incremental_update(PARAMS, OTHER, 0.2),
        "periodic_update_due": optax.periodic_update(PARAMS, OTHER, jnp.int32(6), 3),
        "periodic_update_not": optax.periodic_update(PARAMS, OTHER, jnp.int32(7), 3),
    }
    single = {
        "sum": t.sum(PARAMS), "max": t.max(PARAMS), "min": t.min(PARAMS), "vdot": t.vdot(PARAMS, OTHER), "norm": t.norm(PARAMS),
        "squared_norm": t.norm(PARAMS, squared=True), "l1_norm": t.norm(PARAMS, ord=1), "max_norm": t.norm(PARAMS, ord="inf"),
        "complex_norm": t.norm(c), "complex_vdot_real": jnp.real(t.vdot(c, c)), "allclose": t.allclose(PARAMS, OTHER),
        "allclose_same": t.allclose(PARAMS, PARAMS), "allclose_nan": t.allclose(nan, nan), "allclose_equal_nan": t.allclose(nan, nan, equal_nan=True),
        "size": jnp.int32(t.size(PARAMS)),
        "safe_norm": optax.safe_norm(PARAMS["a"], 0.1), "safe_norm_least": optax.safe_norm(PARAMS["a"], 10.0),
        "safe_norm_axis": optax.safe_norm(PARAMS["b"]["w"], 2.5, axis=-1), "safe_norm_one": optax.safe_norm(PARAMS["b"]["w"], 0.5, ord=1, axis=0, keepdims=True),
        "safe_root_mean_squares": optax.safe_root_mean_squares(PARAMS["a"], 0.1),
        "safe_increment": optax.safe_increment(jnp.int32(2**31 - 1)),
        "scale_gradient": optax.scale_gradient(PARAMS, 0.3)["a"],
        "scale_gradient_slope": jax.grad(lambda x: jnp.sum(optax.scale_gradient(x, 0.3) ** 2))(PARAMS["a"]),
        "safe_norm_slope": jax.grad(lambda x: optax.safe_norm(x, 1e-6))(jnp.zeros(3)),
    }
    return {"states": {k: by_path(v) for k, v in states.items()}, "arrays": {k: numbers(jnp.ravel(v)) for k, v in single.items()}}


def perturbed():
    f = lambda x: jax.tree.map(lambda a: jnp.sign(a) * a ** 2, x)
    found = {}
    for name, noise in {"gumbel": perturbations.Gumbel(), "normal": perturbations.Normal()}.items():
        for use_baseline in (True, False):
            g = perturbations.make_perturbed_fun(f, num_samples=20, sigma=0.3, noise=noise, use_baseline=use_baseline)
            key = jax.random.key(11)
            value = g(key, PARAMS)
            slope = jax.grad(lambda x: optax.tree.vdot(g(key, x), OTHER))(PARAMS)
            found[f"{name}_{use_baseline}"] = {"value": by_path(value), "gradient": by_path(slope)}
    return found


def loss(params, inputs, targets):
    return jnp.sum(jnp.tanh(inputs @ params["b"]["w"]) ** 2 * params["a"] ** 2) + jnp.sum((params["a"] - targets) ** 4)


def derivatives():
    inputs, targets = grid(4, 2, shift=0.2), grid(3, scale=0.5)
    flat, unravel = jax.flatten_util.ravel_pytree(PARAMS)
    v = jax.flatten_util.ravel_pytree(OTHER)[0]
    return {name: by_path(unravel(x)) for name, x in {
        "hvp": jax.flatten_util.ravel_pytree(second_order.hvp(loss, v, PARAMS, inputs, targets))[0],
        "hessian_diag": second_order.hessian_diag(loss, PARAMS, inputs, targets),
        "fisher_diag": second_order.fisher_diag(loss, PARAMS, inputs, targets)}.items()}


def microbatches():
    kind = microbatching.AccumulationType
    x = grid(12, 3, scale=1.2)
    rows, total = lambda x: jnp.tanh(x) * 2, lambda x: jnp.sum(x ** 2, axis=0)
    both = microbatching.microbatch(lambda x: (rows(x), total(x)), 0, 4, (kind.CONCAT, kind.SUM))(x)
    found = {"concat": both[0], "sum": both[1],
             "mean": microbatching.microbatch(total, 0, 3, kind.MEAN)(x),
             "running_mean": microbatching.microbatch(total, 0, 3, kind.RUNNING_MEAN)(x),
             "early": microbatching.microbatch(total, 0, 3, kind.RUNNING_MEAN, num_real_microbatches=2)(x),
             "axis": microbatching.microbatch(lambda x: jnp.sum(x ** 2, axis=1), 0, 4, kind.SUM, in_axes=1)(x.T),
             "reshaped": microbatching.reshape_batch_axis(x, 4),
             "vmap": microbatching.micro_vmap(lambda r: jnp.sum(r ** 3), microbatch_size=4)(x),
             "vmap_sum": microbatching.micro_vmap(lambda r: r ** 3, microbatch_size=4, accumulator=kind.SUM)(x)}
    w, y = grid(3, scale=0.7), grid(12, shift=0.4)
    objective = lambda w, x, y: jnp.mean((jnp.tanh(x @ w) - y) ** 2)
    (grads, squares), aux = microbatching.micro_grad(
        objective, batch_argnums=(1, 2), microbatch_size=4, accumulator=kind.MEAN,
        transform_fn=lambda g: (g, g ** 2), metrics_fn=jnp.linalg.norm)(w, x, y)
    found |= {"grad": grads, "grad_squares": squares, "grad_values": aux.values, "grad_metrics": aux.metrics}
    return {k: numbers(jnp.ravel(v)) for k, v in found.items()}


def matrices():
    x = grid(5, 5, scale=1.3)
    m = x @ x.T
    value, vector = optax.power_iteration(m)
    found = {"eigenvalue": value, "eigenvector": vector}
    for p in (1, 2, 4, 8):
        root, error = optax._src.linear_algebra.matrix_inverse_pth_root(m, p, ridge_epsilon=1e-3)
        found[f"root_{p}"] = root
    found["root_of_number"] = optax._src.linear_algebra.matrix_inverse_pth_root(jnp.array([[16.0]]), 4)[0]
    # The sines alone have rank 2, and rounding would choose among solutions.
    a, b = grid(6, 4) + 2 * jnp.eye(6, 4), grid(6, 2, shift=0.6)
    found |= {"nnls": optax.nnls(a, b[:, 0], 2000), "nnls_columns": optax.nnls(a, b, 2000),
              "nnls_bound": optax.nnls(a, b[:, 1], 2000, L=20.0)}
    for name, shape in {"wide": (4, 7), "tall": (7, 4), "square": (6, 6)}.items():
        i, j = optax.assignment.hungarian_algorithm(grid(*shape, scale=3.0, shift=0.1))
        # Optax gives the pairs in no order.
        order = jnp.argsort(i)
        found |= {f"rows_{name}": i[order], f"columns_{name}": j[order]}
    scores, labels = grid(5, 4, scale=1.4), jnp.arange(5) % 4
    f = lambda s: optax.losses.multiclass_sparsemax_loss(s, labels)
    found |= {"sparsemax": f(scores), "sparsemax_slope": jax.grad(lambda s: jnp.sum(f(s)))(scores)}
    return {k: numbers(jnp.ravel(v)) for k, v in found.items()}


def complex_steps():
    tx = contrib.split_real_and_imaginary(optax.adam(0.05))
    target = grid(4) + 1j * grid(4, shift=1.0)

    def step(params, state, i):
        f = lambda p: jnp.sum(jnp.abs(p["z"] ** 2 - target) ** 2) + jnp.sum(p["x"] ** 2)
        grads = jax.tree.map(jnp.conj, jax.grad(f)(params))
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state

    params = {"x": grid(2), "z": grid(4, shift=0.5) + 1j * grid(4, shift=2.0)}
    state, found = tx.init(params), {}
    for i in range(20):
        params, state = jax.jit(step)(params, state, i)
        if i + 1 in (1, 5, 20):
            found[str(i + 1)] = by_path({"x": params["x"], "real": params["z"].real, "imaginary": params["z"].imag})
    return {"params": found, "state": by_path(state)}


def skip(tx):
    return optax.MultiSteps(tx, 2, should_skip_update_fn=optax.skip_not_finite).gradient_transformation()


def main():
    climb = optax.chain(contrib.normalize(), optax.sgd(0.05))
    document = {
        "lookahead": lookahead(False), "lookahead_reset": lookahead(True),
        "sam_opaque": opaque_sam(climb, 2), "sam_opaque_three": opaque_sam(optax.sgd(0.002, momentum=0.5), 3),
        "sam_opaque_kept": opaque_sam(optax.sgd(0.002, momentum=0.5), 3, reset_state=False),
        "dpsgd": private(contrib.dpsgd(0.1, l2_norm_clip=0.8, noise_multiplier=0.3, seed=4, momentum=0.9, nesterov=True)),
        "aggregate": private(optax.chain(contrib.differentially_private_aggregate(0.5, 1.1, jax.random.key(9)), optax.scale(-0.2))),
        "apply_if_finite": not_finite(optax.apply_if_finite(optax.adam(0.05), 10)),
        "skip_not_finite": not_finite(skip(optax.adam(0.05))), "zero_nans": not_finite(optax.chain(optax.clip(1.0), optax.zero_nans(), optax.adam(0.05))),
        "per_example": per_example(), "projections": projected(), "trees": trees(), "perturbations": perturbed(),
        "second_order": derivatives(), "microbatching": microbatches(), "matrices": matrices(), "complex": complex_steps(),
    }
    path = pathlib.Path(__file__).parent / "data" / "optax_functions.json"
    text = json.dumps({"optax": optax.__version__, "jax": jax.__version__, "found": document}, separators=(",", ":"), allow_nan=False)
    path.write_text(text + "\n")
    print(path.stat().st_size)


if __name__ == "__main__":
    main()
