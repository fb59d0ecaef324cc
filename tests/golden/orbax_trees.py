"""Trees of arrays in the directories that Orbax writes, small, with neutral names."""

import json
import pathlib
import shutil
import tempfile

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
from flax.training.train_state import TrainState
from jax.sharding import NamedSharding, PartitionSpec as P

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_num_cpu_devices", 8)

DATA = pathlib.Path(__file__).parent / "data" / "orbax"


class Model(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(3, name="hid", param_dtype=jnp.float32)(x))
        return nn.Dense(2, name="out", param_dtype=jnp.float32)(x)


def ramp(shape, dtype=jnp.float32):
    return jnp.arange(np.prod(shape), dtype=dtype).reshape(shape)


def train_state():
    """One step of Adam from parameters that are easy to write down."""
    shapes = Model().init(jax.random.key(0), jnp.ones((1, 4), jnp.float32))["params"]
    leaves, tree = jax.tree.flatten(shapes)
    leaves = [ramp(x.shape) * (i + 1) / 8 for i, x in enumerate(leaves)]
    params = jax.tree.unflatten(tree, leaves)
    state = TrainState.create(apply_fn=None, params=params, tx=optax.adam(0.125))
    return state.apply_gradients(grads=jax.tree.map(lambda x: x * 0.5, params))


DTYPES = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 bfloat16 float16 float32
float64 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn
int4 int2 complex64 complex128""".split()


def dtypes():
    """Three elements of every type that Orbax stores: 1, 0 and the least."""
    tree = {}
    for name in DTYPES:
        dtype = getattr(jnp, name)
        if name == "float8_e8m0fnu":
            values = [1, 2, 0.5]
        elif jnp.issubdtype(dtype, jnp.integer) and name not in ("int4", "int2"):
            values = [1, 0, np.iinfo(name).min]
        else:
            values = [1, 0, {"bool": 1, "int4": -8, "int2": -2}.get(name, -1.5)]
        tree[name] = jnp.asarray(np.asarray(values, object if "int" in name else None).astype(dtype))
        if name == "uint64":
            tree[name] = jnp.asarray([1, 0, 2**64 - 1], dtype)
    return tree


def sharded():
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    put = lambda x, *spec: jax.device_put(x, NamedSharding(mesh, P(*spec)))
    return {
        "both": put(ramp((8, 6)), "x", "y"),
        "rows": put(ramp((8, 2), jnp.int32), ("x", "y")),
        "columns": put(ramp((3, 4)), None, "y"),
        "whole": put(ramp((4,))),
        "one": ramp((5,)),
    }


def leaves():
    """All kinds of leaves and empty nodes."""
    return {
        "key": jax.random.key(3),
        "keys": jax.random.split(jax.random.key(1, impl="rbg"), 2),
        "text": "hello",
        "integer": 3,
        "float": 2.5,
        "truth": True,
        "numpy": np.arange(4),
        "numpy_scalar": np.float32(2),
        "none": None,
        "dict": {},
        "list": [],
        "tuple": (),
        "nested": [ramp((2,)), None, {"a": 1}],
        "dot.ted": 2,
        "scalar": jnp.float32(0.5),
    }


def neutral(folder):
    """Without this machine's folders and without times."""
    for path in folder.rglob("commit_success.txt"):
        path.write_text("Checkpoint commit was successful to " + path.parent.name)
    for path in folder.rglob("_CHECKPOINT_METADATA"):
        metadata = json.loads(path.read_text())
        metadata.update(init_timestamp_nsecs=0, commit_timestamp_nsecs=0)
        path.write_text(json.dumps(metadata))


def save(name, tree, save_args=None, **options):
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / name
        checkpointer = ocp.Checkpointer(ocp.PyTreeCheckpointHandler(**options))
        checkpointer.save(folder, args=ocp.args.PyTreeSave(tree, save_args))
        neutral(folder)
        shutil.rmtree(DATA / name, ignore_errors=True)
        shutil.copytree(folder, DATA / name)
    size = sum(p.stat().st_size for p in (DATA / name).rglob("*") if p.is_file())
    print(f"orbax/{name}: {size} bytes")


DATA.mkdir(exist_ok=True)
save("train_state_zarr2", train_state(), use_ocdbt=False)
save("train_state_zarr3", train_state(), use_ocdbt=False, use_zarr3=True)
save("train_state_ocdbt", train_state())
save("train_state_ocdbt_zarr3", train_state(), use_zarr3=True)
save("dtypes_zarr2", dtypes(), use_ocdbt=False)
save("dtypes_zarr3", dtypes(), use_ocdbt=True, use_zarr3=True)
save("sharded_zarr2", sharded(), use_ocdbt=False)
save("sharded_ocdbt", sharded())
save("leaves", leaves(), use_ocdbt=False)
divided = {"x": ramp((6, 8))}
save("divided_zarr3", divided, {"x": ocp.SaveArgs(chunk_byte_size=48)}, use_ocdbt=False, use_zarr3=True)

# A manager's directory: two steps of a standard item, the default storage.
with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary) / "manager"
    with ocp.CheckpointManager(folder) as manager:
        for step in (1, 2):
            state = {"w": ramp((2, 3)) + step, "step": jnp.int32(step)}
            manager.save(step, args=ocp.args.StandardSave(state))
        manager.wait_until_finished()
    neutral(folder)
    shutil.rmtree(DATA / "manager", ignore_errors=True)
    shutil.copytree(folder, DATA / "manager")

# What the tests compare with: the elements of the train state.
flat = {
    ".".join(str(getattr(k, "key", getattr(k, "name", getattr(k, "idx", None)))) for k in path): x
    for path, x in jax.tree_util.tree_flatten_with_path(train_state())[0]
}
expected = {
    name: [str(np.asarray(x).dtype), list(np.shape(x)), np.asarray(x).tobytes().hex()]
    for name, x in flat.items()
}
(DATA / "train_state.json").write_text(json.dumps(expected, indent=1))
print(f"orbax {ocp.__version__}, jax {jax.__version__}")
