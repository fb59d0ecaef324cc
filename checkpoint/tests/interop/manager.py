"""Reads a run that Ramie's manager wrote, and saves one more step of it."""

import math
import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import orbax.checkpoint as ocp

options = ocp.CheckpointManagerOptions(
    step_prefix="step", step_format_fixed_length=5, best_fn=lambda m: m["loss"], max_to_keep=3
)
with ocp.CheckpointManager(sys.argv[1], options=options) as manager:
    assert manager.all_steps() == [0, 3, 6], manager.all_steps()
    assert manager.metadata().custom_metadata == {"language": "en"}
    for step in manager.all_steps():
        items = ocp.args.Composite(settings=ocp.args.JsonRestore(), key=ocp.args.JaxRandomKeyRestore())
        restored = manager.restore(step, args=items)
        assert restored.settings == {"width": step}, restored.settings
        assert jax.random.key_data(restored.key).tolist() == [0, step]
        metadata = manager.metadata(step)
        assert metadata.custom_metadata == {"rate": 0.25}, metadata
        assert metadata.commit_timestamp_nsecs >= metadata.init_timestamp_nsecs
    assert manager.metrics(0) == {"loss": 0.5} and math.isnan(manager.metrics(3)["loss"])
    # Without arguments, by what the step says of its items.
    assert manager.restore(6).settings == {"width": 6}
    manager.delete(3)
    items = ocp.args.Composite(settings=ocp.args.JsonSave({"width": 12}))
    assert manager.save(12, args=items, metrics={"loss": 9.0})
