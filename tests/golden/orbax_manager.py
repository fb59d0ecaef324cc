"""Writes data/orbax_manager.json, which steps Orbax's CheckpointManager saves and keeps, and data/orbax_run/,
a small run of its own.
"""

import datetime
import itertools
import json
import logging
import os
import pathlib
import shutil
import tempfile

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import orbax.checkpoint as ocp
from orbax.checkpoint._src.checkpoint_managers import preservation_policy, save_decision_policy

logging.disable(logging.WARNING)

DATA = pathlib.Path(__file__).parent / "data"

# Two equal values, one step without metrics, the best neither first nor last.
METRICS = [3.0, 1.0, 4.0, 1.0, 5.0, None, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0, 9.0, 7.0, 9.0]


def save(step, force=False):
    return ["save", step, METRICS[step], force]


# Off the interval by force, a step that is there, an older one, a manager that is made anew.
SCRIPT = [
    *map(save, range(8)),
    save(6),
    save(6, True),
    ["reopen"],
    *map(save, range(6, 12)),
    save(13, True),
    save(12),
    ["delete", 13],
    save(14),
    ["delete", 999],
    save(15),
]


def preservation(spec):
    """A policy of its name and arguments."""
    name, args = spec[0], dict(spec[1])
    if name == "AnyPreservationPolicy":
        return preservation_policy.AnyPreservationPolicy([preservation(p) for p in args["policies"]])
    if name == "BestN":
        args["get_metric_fn"] = lambda m: m["m"]
    if name == "LatestDuration":
        args = {"duration": datetime.timedelta(seconds=args["seconds"])}
    if name == "CustomSteps":
        return preservation_policy.CustomSteps(args["steps"])
    return getattr(preservation_policy, name)(**args)


def decision(spec):
    name, args = spec[0], dict(spec[1])
    if name == "AnySavePolicy":
        return save_decision_policy.AnySavePolicy([decision(p) for p in args["policies"]])
    return getattr(save_decision_policy, name)(**args)


def make(root, options):
    options = dict(options)
    if options.pop("best", False):
        options["best_fn"] = lambda m: m["m"]
    if "keep_time_interval" in options:
        options["keep_time_interval"] = datetime.timedelta(seconds=options["keep_time_interval"])
    if options.pop("doubles", False):
        options["should_save_fn"] = lambda step, last: last is None or step >= 2 * last
    if "preservation_policy" in options:
        options["preservation_policy"] = preservation(options["preservation_policy"])
    if "save_decision_policy" in options:
        options["save_decision_policy"] = decision(options["save_decision_policy"])
    return ocp.CheckpointManager(
        root, options=ocp.CheckpointManagerOptions(enable_async_checkpointing=False, **options)
    )


def run(options):
    """What the script does under these options."""
    root = pathlib.Path(tempfile.mkdtemp()) / "run"
    manager = make(root, options)
    rows = []
    for operation, *args in SCRIPT:
        try:
            if operation == "save":
                step, metric, force = args
                metrics = None if metric is None else {"m": metric}
                result = manager.save(step, args=ocp.args.JsonSave({"step": step}), metrics=metrics, force=force)
            elif operation == "delete":
                result = manager.delete(args[0])
            else:
                manager.close()
                manager, result = make(root, options), None
        except (ValueError, FileNotFoundError) as e:
            result = type(e).__name__
        rows.append([result, list(manager.all_steps()), manager.latest_step(), manager.best_step()])
    manager.close()
    names = sorted(p.name for p in root.iterdir())
    shutil.rmtree(root.parent)
    return {"options": options, "rows": rows, "names": names}


def runs():
    grid = itertools.product([1, 3], [None, 1, 3], [None, 4], [None, "max", "min"], [None, [1, 7]])
    for interval, n, period, mode, on_steps in grid:
        options = {"save_interval_steps": interval, "max_to_keep": n, "keep_period": period}
        options |= {"best": True, "best_mode": mode} if mode else {}
        options |= {"save_on_steps": on_steps} if on_steps else {}
        yield {k: v for k, v in options.items() if v is not None}
    for mode, n in itertools.product(["max", "min"], [1, 2, 5]):
        yield {"best": True, "best_mode": mode, "max_to_keep": n, "keep_checkpoints_without_metrics": False}
    yield {"best": True, "max_to_keep": 2, "prevent_write_metrics": True}
    yield {"keep_time_interval": 100000, "max_to_keep": 2}
    yield {"keep_time_interval": 0, "max_to_keep": 2}
    yield {"keep_time_interval": 100000, "max_to_keep": 2, "keep_period": 3, "best": True}
    yield {"doubles": True, "max_to_keep": 3}
    yield {"doubles": True, "save_on_steps": [5], "save_interval_steps": 2}
    yield {"read_only": False, "todelete_subdir": "old", "max_to_keep": 2}
    for prefix, length in itertools.product([None, "ckpt", "a_b"], [None, 1, 4]):
        options = {"step_prefix": prefix, "step_format_fixed_length": length, "max_to_keep": 3}
        yield {k: v for k, v in options.items() if v is not None}
    for policy in PRESERVATION:
        if policy[0] != "LatestDuration":
            yield {"preservation_policy": policy}
    for policy in DECISIONS:
        yield {"save_decision_policy": policy, "max_to_keep": 4}


PRESERVATION = [
    ["PreserveAll", {}],
    *[["LatestN", {"n": n}] for n in [None, 0, 1, 3, 100]],
    *[["EveryNSeconds", {"interval_secs": n}] for n in [0, 1, 10, 1000]],
    *[["EveryNSteps", {"interval_steps": n}] for n in [1, 3, 7]],
    *[["EveryNSteps", {"interval_steps": n, "exact_interval": False}] for n in [1, 3, 7]],
    *[["EveryNSteps", {"interval_steps": 2, "max_to_keep": n}] for n in [0, 1, 2]],
    ["EveryNSteps", {"interval_steps": 2, "exact_interval": False, "max_to_keep": 2}],
    *[["EveryNStepsClosest", {"interval_steps": n}] for n in [1, 2, 3, 4, 10]],
    *[["EveryNStepsClosest", {"interval_steps": 3, "max_to_keep": n}] for n in [0, 1, 2]],
    ["CustomSteps", {"steps": [0, 3, 11, 50]}],
    *[["BestN", {"n": n, "reverse": r}] for n in [None, 0, 1, 3] for r in [False, True]],
    *[["BestN", {"n": n, "keep_checkpoints_without_metrics": False}] for n in [0, 1, 3]],
    *[["LatestDuration", {"seconds": n}] for n in [0.001, 3600, 36000]],
    ["AnyPreservationPolicy", {"policies": [["LatestN", {"n": 1}], ["EveryNSteps", {"interval_steps": 4}]]}],
    [
        "AnyPreservationPolicy",
        {"policies": [["BestN", {"n": 2}], ["CustomSteps", {"steps": [1]}], ["EveryNSteps", {"interval_steps": 5}]]},
    ],
]

DECISIONS = [
    *[["FixedIntervalPolicy", {"interval": n}] for n in [1, 2, 5]],
    ["SpecificStepsPolicy", {"steps": [0, 4, 9, 10]}],
    ["ContinuousCheckpointingPolicy", {}],
    ["ContinuousCheckpointingPolicy", {"minimum_interval_secs": 100000}],
    ["PreemptionCheckpointingPolicy", {}],
    ["InitialSavePolicy", {}],
    ["AnySavePolicy", {"policies": [["FixedIntervalPolicy", {"interval": 4}], ["InitialSavePolicy", {}]]}],
]


class Info:
    def __init__(self, step, seconds, metric, now):
        self.step = step
        self.time = now + datetime.timedelta(seconds=seconds)
        self.metrics = None if metric is None else {"m": metric}


# Step, time in seconds from now, metric.
LISTS = [
    [],
    [[5, -100, 1.0]],
    [[i, 7200 * (i - 12), METRICS[i]] for i in range(12)],
    [[0, -50, 2.0], [3, -49.5, None], [4, -48, None], [9, -40, 2.0], [10, -30, 2.0], [11, -29, 1.0], [12, -20, 3.0]],
    [[1, -9000, None], [2, -8999, None], [5, -100, None], [50, -10, None]],
    [[i * i, -1000 + 10 * i, float((7 * i) % 5)] for i in range(9)],
    [[15, -20, 1.0], [25, -15, 2.0], [35, -10, 3.0], [36, -5, 4.0]],
]


def kept():
    """What each policy keeps of each list."""
    for policy, infos in itertools.product(PRESERVATION, LISTS):
        now = datetime.datetime.now(tz=datetime.timezone.utc)
        context = preservation_policy.PreservationContext()
        answer = preservation(policy).should_preserve([Info(*i, now) for i in infos], context=context)
        yield {"policy": policy, "checkpoints": infos, "kept": [bool(k) for k in answer]}


def decided():
    """What each policy says of a step after each list."""
    cases = itertools.product(DECISIONS, LISTS[:4], [12, 20, 51], [False, True], [False, True])
    for policy, infos, step, saving, preempted in cases:
        now = datetime.datetime.now(tz=datetime.timezone.utc)
        context = save_decision_policy.DecisionContext(
            is_saving_in_progress=saving,
            reached_preemption=preempted,
            multiprocessing_options=ocp.options.MultiprocessingOptions(),
        )
        previous = [Info(*i, now) for i in infos]
        answer = decision(policy).should_save(Info(step, 0, None, now), previous, context=context)
        yield {
            "policy": policy,
            "previous": infos,
            "step": step,
            "saving": saving,
            "preempted": preempted,
            "save": bool(answer),
        }


def small_run():
    """A run of three steps: items with names, metrics that are no numbers, metadata, a key."""
    root = pathlib.Path(tempfile.mkdtemp()) / "run"
    options = ocp.CheckpointManagerOptions(best_fn=lambda m: m["loss"], best_mode="min", step_prefix="step")
    with ocp.CheckpointManager(root, options=options, metadata={"language": "en", "version": 2}) as manager:
        for step, loss in [(0, 0.5), (10, float("nan")), (20, 0.25)]:
            items = ocp.args.Composite(
                settings=ocp.args.JsonSave({"width": 8 + step}),
                loader=ocp.args.JsonSave([step, "epoch"]),
                **({"key": ocp.args.JaxRandomKeySave(jax.random.key(3))} if step == 20 else {}),
            )
            manager.save(step, args=items, metrics={"loss": loss}, custom_metadata={"rate": 0.1 * step})
    to = DATA / "orbax_run"
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(root, to)
    for path in to.rglob("commit_success.txt"):
        path.write_text(path.read_text().replace(str(root), "run"))
    for path in to.rglob("_CHECKPOINT_METADATA"):
        metadata = json.loads(path.read_text())
        metadata["init_timestamp_nsecs"], metadata["commit_timestamp_nsecs"] = 1700000000000000000, 1700000001000000000
        path.write_text(json.dumps(metadata))
    shutil.rmtree(root.parent)


def lines(items):
    return "[\n" + ",\n".join(json.dumps(item) for item in items) + "\n]"


if __name__ == "__main__":
    small_run()
    parts = {"script": json.dumps(SCRIPT), "runs": lines(map(run, runs())), "kept": lines(kept())}
    parts["decided"] = lines(decided())
    text = ",\n".join(f'"{key}": {value}' for key, value in parts.items())
    (DATA / "orbax_manager.json").write_text("{" + text + "}\n")
