"""Saves and restores steps of a `CheckpointManager` in OCDBT databases with Orbax.

    ocdbt_orbax.py save <folder> <zarr 2 or 3> <target size of data files>
    ocdbt_orbax.py restore <folder> <zarr 2 or 3>

The arrays are those of the test, see `tree`.
"""
import sys

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
from jax.sharding import NamedSharding, PartitionSpec as P

jax.config.update("jax_num_cpu_devices", 8)

STEPS = 1, 2


def place(shape, *spec):
    axis_types = (jax.sharding.AxisType.Auto,) * 2
    return NamedSharding(jax.make_mesh(shape, ("x", "y"), axis_types=axis_types), P(*spec))


def tree(step, mesh):
    """Ramps that begin at the step, over the devices of a mesh."""
    ramp = lambda shape, dtype: (jnp.arange(np.prod(shape)) + step).reshape(shape).astype(dtype)
    put = lambda shape, dtype, *spec: jax.device_put(ramp(shape, dtype), place(mesh, *spec))
    return {
        "both": put((8, 4), jnp.float32, "x", "y"),
        "rows": put((8, 2), jnp.int32, ("x", "y")),
        "nested": {"whole": put((4,), jnp.bfloat16), "large": put((64, 200), jnp.float32, "y")},
        "scalar": ramp((), jnp.int32),
    }


def manager(folder, zarr):
    handler = ocp.PyTreeCheckpointHandler(use_ocdbt=True, use_zarr3=zarr == "3")
    return ocp.CheckpointManager(folder, item_handlers=handler)


def save(folder, zarr, size):
    with manager(folder, zarr) as steps:
        for step in STEPS:
            item = tree(step, (4, 2))
            args = ocp.args.PyTreeSave(item, ocdbt_target_data_file_size=int(size))
            steps.save(step, args=args)


def restore(folder, zarr):
    def check(step, restored):
        same = lambda a, b: np.testing.assert_array_equal(np.asarray(a), np.asarray(b), strict=True)
        jax.tree.map(same, tree(step, (4, 2)), restored)

    with manager(folder, zarr) as steps:
        assert tuple(steps.all_steps()) == STEPS, steps.all_steps()
        for step in STEPS:
            check(step, steps.restore(step))
            # On another mesh.
            item = tree(0, (2, 4))
            args = ocp.checkpoint_utils.construct_restore_args(item)
            restored = steps.restore(step, args=ocp.args.PyTreeRestore(item, restore_args=args))
            check(step, restored)
            assert restored["both"].sharding == item["both"].sharding
    with ocp.CheckpointManager(folder) as steps:
        check(2, steps.restore(2, args=ocp.args.StandardRestore(tree(0, (8, 1)))))


{"save": save, "restore": restore}[sys.argv[1]](*sys.argv[2:])
