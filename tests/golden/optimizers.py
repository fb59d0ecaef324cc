"""Writes data/optimizers.json: what every optimizer and wrapper of Optax makes
of three problems in 20 steps.

The problems are a parabola, Rosenbrock's function, and a network with one
hidden layer on batches that take turns; they are written out below. For each
optimizer and problem there are the parameters after 1, 5 and 20 steps
(of line searches after 10 too), and the state after the last, by path.

Beside each array stands how far it is from itself (`spread`): the greatest
distance of an element from that of the same trajectory of Optax with other
rounding, which is one run operation by operation instead of compiled, and
three from parameters that are one unit in the last place larger or smaller.
No more can be asked of another program than to be as near.
"""

import importlib.metadata
import importlib.util
import json
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
import optax.contrib as contrib

STEPS = 20
RECORDED = (1, 5, 20)
# Line searches are for objectives that stay the same.
STEADY = {"linesearches"}
NEIGHBOURS = 3


def grid(*shape, scale=1.0, shift=0.0):
    """Numbers that look random and are easily made elsewhere."""
    n = int(np.prod(shape))
    return jnp.asarray((scale * np.sin(np.arange(1, n + 1) * 1.7 + shift)).astype(np.float32).reshape(shape))


INPUTS = grid(3, 6, 4, shift=0.3)
CLASSES = jnp.arange(18, dtype=jnp.int32).reshape(3, 6) % 3


def parabola(params, _):
    return jnp.sum(jnp.array([1.0, 4.0, 0.25, 2.0]) * (params["x"] - jnp.array([0.5, -1.0, 2.0, 0.0])) ** 2)


def rosenbrock(params, _):
    x = params["x"]
    return jnp.sum(10.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def mlp(params, step):
    x, y = INPUTS[step % 3], CLASSES[step % 3]
    h = jnp.tanh(x @ params["hidden"]["kernel"] + params["hidden"]["bias"])
    logits = h @ params["out"]["kernel"] + params["out"]["bias"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def problems():
    return {
        "parabola": (parabola, {"x": jnp.array([2.0, 1.0, -1.0, 0.5], jnp.float32)}),
        "rosenbrock": (rosenbrock, {"x": jnp.array([-0.5, 0.8, 1.2], jnp.float32)}),
        "mlp": (mlp, {"hidden": {"kernel": grid(4, 5, scale=0.6), "bias": grid(5, scale=0.1)},
                      "out": {"kernel": grid(5, 3, scale=0.8, shift=1.0), "bias": grid(3, scale=0.1, shift=2.0)}}),
    }


def decaying(count):
    return 0.03 / (1.0 + count)


def kernels(params):
    return jax.tree.map(lambda p: p.ndim > 1, params)


def labels(params):
    return jax.tree.map(lambda p: "matrix" if p.ndim > 1 else "vector", params)


def dimensions(params):
    return jax.tree.map(lambda p: contrib.MuonDimensionNumbers((1,), (0,)) if p.shape == (4, 5) else None, params)


def first_steps(step, **_):
    return step < 7


def norm(updates):
    return optax.tree.norm(updates)


def mars(learning_rate, weight_decay=0.0, **options):
    """MARS of eformer 0.0.101, from its file alone: the package imports much more."""
    jax.tree_map = jax.tree.map  # JAX removed the name that eformer calls.
    path = importlib.metadata.distribution("eformer").locate_file("eformer/optimizers/_tx/mars.py")
    spec = importlib.util.spec_from_file_location("mars", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    scaled = module.scale_by_mars(**options)
    rate = optax.scale_by_learning_rate(learning_rate)
    return optax.chain(scaled, *([optax.add_decayed_weights(weight_decay)] if weight_decay else []), rate)


GROUPS = {
    "descent": {
        "sgd": optax.sgd(0.02),
        "sgd_momentum": optax.sgd(0.01, momentum=0.9),
        "sgd_nesterov": optax.sgd(0.01, momentum=0.9, nesterov=True),
        "sgd_bf16_accumulator": optax.sgd(0.01, momentum=0.9, accumulator_dtype=jnp.bfloat16),
        "sgd_schedule": optax.sgd(decaying),
        "noisy_sgd": optax.noisy_sgd(0.02, key=jax.random.key(3)),
        "polyak_sgd": optax.polyak_sgd(max_learning_rate=0.1),
        "polyak_sgd_plus": optax.polyak_sgd(max_learning_rate=0.1, f_min=0.5, eps=0.1, variant="sps+", scaling=0.5),
        "rprop": optax.rprop(0.01),
        "optimistic_gradient_descent": optax.optimistic_gradient_descent(0.01, alpha=0.8, beta=1.2),
        "optimistic_adam": optax.optimistic_adam(0.05, optimism=0.02),
        "optimistic_adam_v2": optax.optimistic_adam_v2(0.05, beta=0.5),
    },
    "adams": {
        "adam": optax.adam(0.05),
        "adam_schedule": optax.adam(decaying),
        "adam_tuned": optax.adam(0.05, b1=0.8, b2=0.95, eps=1e-4, eps_root=1e-6, nesterov=True),
        "adam_bf16": optax.adam(0.05, mu_dtype=jnp.bfloat16),
        "adamw": optax.adamw(0.05, weight_decay=0.1),
        "adamw_mask": optax.adamw(0.05, weight_decay=0.1, mask=kernels),
        "adamw_decay_schedule": optax.adamw(0.05, weight_decay=decaying, mask=kernels),
        "nadam": optax.nadam(0.05),
        "nadamw": optax.nadamw(0.05, weight_decay=0.1),
        "amsgrad": optax.amsgrad(0.05),
        "amsgrad_uncorrected": optax.amsgrad(0.05, bias_correction_mu=False, bias_correction_nu=False),
        "adamax": optax.adamax(0.05),
        "adamaxw": optax.adamaxw(0.05, weight_decay=0.1),
        "adabelief": optax.adabelief(0.05, eps=1e-8, eps_root=1e-8),
        "adabelief_nesterov": optax.adabelief(0.05, eps=1e-8, eps_root=1e-8, nesterov=True),
        "radam": optax.radam(0.05),
        "radam_nesterov": optax.radam(0.02, nesterov=True),
        "yogi": optax.yogi(0.05),
        "adan": optax.adan(0.02, weight_decay=0.1),
    },
    "scaled": {
        "adagrad": optax.adagrad(0.1),
        "adadelta": optax.adadelta(1.0, weight_decay=0.01),
        "rmsprop": optax.rmsprop(0.02),
        "rmsprop_centered": optax.rmsprop(0.02, eps=1e-4, centered=True, momentum=0.5, nesterov=True),
        "rmsprop_corrected": optax.rmsprop(0.02, eps_in_sqrt=False, bias_correction=True, initial_scale=0.1),
        "rmsprop_centered_corrected": optax.rmsprop(0.02, eps=1e-2, eps_in_sqrt=False, centered=True, bias_correction=True, initial_scale=1.0),
        "adafactor": optax.adafactor(0.1),
        "adafactor_factored": optax.adafactor(0.1, min_dim_size_to_factor=3, momentum=0.5, weight_decay_rate=0.01, weight_decay_mask=kernels),
        "adafactor_plain": optax.adafactor(decaying, multiply_by_parameter_scale=False, clipping_threshold=None, factored=False, decay_offset=0),
        "factored_rms_linear": optax.chain(optax.scale_by_factored_rms(min_dim_size_to_factor=3, step_offset=1, decay_rate_fn=lambda step, rate: rate * (step + 1) / (step + 3)), optax.scale(-0.02)),
        "sm3": optax.sm3(0.05),
        "lamb": optax.lamb(0.05, weight_decay=0.1, mask=kernels),
        "lars": optax.lars(0.02, weight_decay=0.01, trust_coefficient=0.5, trust_ratio_mask=kernels),
        "fromage": optax.fromage(0.05),
        "fromage_schedule": optax.fromage(decaying),
        "novograd": optax.novograd(0.02, weight_decay=0.01),
        "lion": optax.lion(0.02),
        "lion_smooth": optax.chain(optax.scale_by_lion(mode="smooth", smooth_beta=2.0), optax.scale(-0.02)),
        "lion_refined": optax.chain(optax.scale_by_lion(mode="refined"), optax.scale(-0.02)),
        "sign_sgd": optax.sign_sgd(0.02),
        "signum": optax.signum(0.02),
        "distance_over_gradients": optax.chain(optax.scale_by_distance_over_gradients(reps_rel=0.01), optax.scale(-1.0)),
        "sm3_decaying": optax.chain(optax.scale_by_sm3(b2=0.9), optax.scale(-0.02)),
    },
    "transformations": {
        "clip": optax.chain(optax.clip(0.3), optax.scale(-0.2)),
        "clip_by_global_norm": optax.chain(optax.clip_by_global_norm(0.5), optax.sgd(0.1, momentum=0.5)),
        "clip_by_block_rms": optax.chain(optax.clip_by_block_rms(0.2), optax.sgd(0.1)),
        "adaptive_grad_clip": optax.chain(optax.adaptive_grad_clip(0.1), optax.sgd(0.1)),
        "adaptive_grad_clip_axis": optax.chain(optax.adaptive_grad_clip(0.1, eps=0.1, axis=-1), optax.sgd(0.1)),
        "add_noise": optax.chain(optax.add_noise(0.1, 0.5, key=jax.random.key(9)), optax.sgd(0.02)),
        "apply_every": optax.chain(optax.apply_every(3), optax.sgd(0.005)),
        "centralize": optax.chain(optax.centralize(), optax.sgd(0.02)),
        "ema": optax.chain(optax.ema(0.8), optax.sgd(0.02)),
        "ema_biased": optax.chain(optax.ema(0.8, debias=False), optax.sgd(0.02)),
        "keep_params_nonnegative": optax.chain(optax.sgd(0.05), optax.keep_params_nonnegative()),
        "normalize_by_update_norm": optax.chain(optax.normalize_by_update_norm(scale_factor=0.1), optax.scale(-1.0)),
        "param_block_norm": optax.chain(optax.scale_by_param_block_norm(), optax.sgd(0.01)),
        "param_block_rms": optax.chain(optax.scale_by_param_block_rms(), optax.sgd(0.01)),
        "zero_nans": optax.chain(optax.zero_nans(), optax.sgd(0.02)),
        "set_to_zero": optax.chain(optax.adam(0.1), optax.set_to_zero()),
    },
    "wrappers": {
        "named_chain": optax.named_chain(("clip", optax.clip(0.3)), ("adam", optax.adam(0.05))),
        "masked": optax.chain(optax.masked(optax.trace(0.9), kernels), optax.scale(-0.01)),
        "freeze": optax.chain(optax.adam(0.05), optax.freeze(kernels)),
        "partition": optax.partition({"matrix": optax.adam(0.05), "vector": optax.sgd(0.02, momentum=0.9)}, labels),
        "multi_steps": optax.MultiSteps(optax.adam(0.05), 3).gradient_transformation(),
        "multi_steps_sum": optax.MultiSteps(optax.sgd(0.02), lambda step: jnp.where(step < 2, 2, 4), use_grad_mean=False).gradient_transformation(),
        "multi_steps_skip_large": optax.MultiSteps(optax.adam(0.05), 2, should_skip_update_fn=lambda u, s, p: optax.skip_large_updates(u, s, p, 1.0)).gradient_transformation(),
        "multi_steps_skip_not_finite": optax.MultiSteps(optax.adam(0.05), 2, should_skip_update_fn=optax.skip_not_finite).gradient_transformation(),
        "apply_if_finite": optax.apply_if_finite(optax.adam(0.05), 2),
        "conditionally_transform": optax.chain(optax.conditionally_transform(optax.trace(0.9), first_steps), optax.scale(-0.01)),
        "conditionally_mask": optax.conditionally_mask(optax.adam(0.05), first_steps),
        "inject_hyperparams": optax.inject_hyperparams(optax.adamw)(learning_rate=decaying, b1=0.8, weight_decay=0.1),
        "flatten": optax.flatten(optax.adam(0.05)),
        "monitor": optax.chain(optax.snapshot("before", norm), optax.adam(0.05), optax.monitor({"after": norm, "mean": optax.measure_with_ema(norm, 0.9)})),
    },
    "linesearches": {
        "lbfgs": optax.lbfgs(),
        "lbfgs_memory": optax.lbfgs(memory_size=3, scale_init_precond=False),
        "lbfgs_rate": optax.lbfgs(0.1, linesearch=None),
        "zoom": optax.chain(optax.sgd(1.0), optax.scale_by_zoom_linesearch(15, max_learning_rate=1.0)),
        "backtracking": optax.chain(optax.sgd(1.0), optax.scale_by_backtracking_linesearch(15)),
        "backtracking_grad": optax.chain(optax.sgd(1.0), optax.scale_by_backtracking_linesearch(15, store_grad=True)),
    },
    "contrib": {
        "acprop": contrib.acprop(0.02, eps=1e-8, eps_root=1e-8),
        "ademamix": contrib.ademamix(0.02, weight_decay=0.01),
        "simplified_ademamix": contrib.simplified_ademamix(0.002, alpha=0.5),
        "adopt": contrib.adopt(0.02),
        "adopt_clipped": contrib.adopt(0.02, clip_value_fn=lambda step: 0.1 * step + 0.05),
        "adopt_nesterov": contrib.adopt(0.02, nesterov=True, use_clipping=False, eps=1e-2),
        "cocob": contrib.cocob(),
        "dadapt_adamw": contrib.dadapt_adamw(1.0, estim_lr0=1e-3, weight_decay=0.01),
        "prodigy": contrib.prodigy(1.0, estim_lr0=1e-3, weight_decay=0.01),
        "prodigy_safeguarded": contrib.prodigy(1.0, estim_lr0=1e-3, safeguard_warmup=True),
        "dog": contrib.dog(1.0, init_step=("heuristic", 1e-2)),
        "dog_learning_rate": contrib.dog(1.0, init_step=("learning_rate", 1e-2), weight_decay=0.01),
        "dowg": contrib.dowg(1.0, init_estim_sq_dist=1e-2),
        "madgrad": contrib.madgrad(0.01, weight_decay=0.01),
        "mars": mars(0.02, 0.1, b1=0.95, b2=0.99, gamma=0.025, max_grad_norm=1.0),
        "mars_unlimited": mars(0.02, b1=0.9, b2=0.99, gamma=0.1),
        "normalize": optax.chain(contrib.normalize(), optax.sgd(0.05)),
        "reduce_on_plateau": optax.chain(optax.sgd(0.01), contrib.reduce_on_plateau(factor=0.5, patience=2, rtol=0.2, cooldown=1, accumulation_size=2)),
        "sam": contrib.sam(optax.sgd(0.02), optax.chain(contrib.normalize(), optax.sgd(0.05))),
        "schedule_free_sgd": contrib.schedule_free_sgd(0.05, weight_decay=0.01),
        "schedule_free_adamw": contrib.schedule_free_adamw(0.05, weight_decay=0.01),
        "sophia": contrib.sophia(0.02, update_interval=3),
        "momo": contrib.momo(0.1, weight_decay=0.01),
        "momo_adapting": contrib.momo(0.1, lower_bound=-1.0, adapt_lower_bound=True),
        "momo_adam": contrib.momo_adam(0.05, weight_decay=0.01),
        "momo_adam_adapting": contrib.momo_adam(0.05, lower_bound=-1.0, adapt_lower_bound=True),
        "mechanize": contrib.mechanize(optax.sgd(1.0, momentum=0.9), s_init=1e-2),
        "mechanize_schedule": contrib.mechanize(optax.adam(decaying), weight_decay=0.0, num_betas=3, s_init=1e-2),
        "galore": contrib.galore(0.05, rank=2, weight_decay=0.01),
        "galore_gap": contrib.galore(0.01, rank=2, update_proj_gap=3, base_optimizer=optax.identity()),
        "galore_lion": contrib.galore(0.02, rank=1, scale=0.5, base_optimizer=optax.scale_by_lion()),
        "muon_spectral": contrib.muon(0.02, preconditioning="spectral"),
        "muon_aol": contrib.muon(0.02, preconditioning="aol"),
        "muon_schatten": contrib.muon(0.02, preconditioning="schatten", ns_steps=3),
        "muon_dion": contrib.muon(0.02, ns_coeffs="dion"),
        "muon_dimensions": contrib.muon(0.02, muon_weight_dimension_numbers=dimensions, consistent_rms=0.2),
        "muon": contrib.muon(0.02, weight_decay=0.01),
        "muon_adaptive": contrib.muon(0.02, nesterov=False, adaptive=True, consistent_rms=0.2),
    },
}

# Extra arguments of optimizers that do not ignore those of others.
TAKES = {"sophia": "objective", "sam": "nothing"}


def name_of(path):
    def step(key):
        for field in ("key", "name", "idx"):
            if hasattr(key, field):
                return str(getattr(key, field))
        raise ValueError(key)
    return ".".join(step(key) for key in path)


def numbers(x):
    if jnp.issubdtype(x.dtype, jax.dtypes.prng_key):
        x = jax.random.key_data(x)
    x = np.asarray(x.astype(jnp.float32) if x.dtype == jnp.bfloat16 else x)
    flat = x.ravel()
    if flat.dtype.kind == "f":
        return [float(str(v)) for v in flat]
    return [int(v) for v in flat]


def by_path(tree):
    leaves = jax.tree_util.tree_flatten_with_path(tree)[0]
    return {name_of(path): numbers(leaf) for path, leaf in leaves}


def trajectories(tx, objective, params, takes="all", group=""):
    """The trajectory, and those that differ from it by rounding only."""
    tx = optax.with_extra_args_support(tx)

    def step(params, state, i):
        value_fn = lambda p: objective(p, i)
        value, grads = jax.value_and_grad(value_fn)(params)
        extra = {"all": {"value": value, "grad": grads, "value_fn": value_fn}, "objective": {"obj_fn": value_fn}, "nothing": {}}[takes]
        updates, state = tx.update(grads, state, params, **extra)
        return optax.apply_updates(params, updates), state

    compiled = jax.jit(step)

    def run(step, params):
        state = tx.init(params)
        recorded = {}
        for i in range(STEPS):
            params, state = step(params, state, jnp.int32(0 if group in STEADY else i))
            if i + 1 in RECORDED or group in STEADY and i + 1 == 10:
                recorded[str(i + 1)] = by_path(params)
        return {"params": recorded, "state": by_path(state)}

    def neighbour(seed):
        rng = np.random.default_rng(seed)
        away = lambda x: np.nextafter(x, np.float32(rng.choice([-np.inf, np.inf])))
        return jax.tree.map(lambda x: jnp.asarray(np.vectorize(away, otypes=[np.float32])(np.asarray(x))), params)

    others = [run(compiled, neighbour(seed)) for seed in range(NEIGHBOURS)]
    with jax.disable_jit():
        others.append(run(step, params))
    return run(compiled, params), others


def spread(one, others):
    """The greatest distance of an element from that of the others, by array."""
    if isinstance(one, dict):
        return {key: spread(one[key], [other[key] for other in others]) for key in one}
    away = [abs(a - b) for other in others for a, b in zip(one, other)]
    return float("%.2g" % max(away, default=0.0))


def trajectory(*args, **kwargs):
    one, others = trajectories(*args, **kwargs)
    return one | {"spread": spread(one, others)}


def finite(data):
    return "NaN" not in (text := json.dumps(data)) and "Infinity" not in text


def main():
    """Names of groups, or of optimizers, as arguments: only those are made anew."""
    path = pathlib.Path(__file__).parent / "data" / "optimizers.json"
    groups = {}
    asked = sys.argv[1:]
    old = json.loads(path.read_text())["groups"] if asked else {}
    for group, optimizers in GROUPS.items():
        groups[group] = {}
        for name, tx in optimizers.items():
            if asked and group not in asked and name not in asked:
                groups[group][name] = old[group][name]
                continue
            found = {problem: trajectory(tx, *given, takes=TAKES.get(name, "all"), group=group) for problem, given in problems().items()}
            bad = [problem for problem, data in found.items() if not finite(data)]
            print(name, "is not finite on " + ", ".join(bad) if bad else "", flush=True)
            groups[group][name] = found
    document = {"optax": optax.__version__, "jax": jax.__version__, "groups": groups}
    path.write_text(json.dumps(document, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
