"""Orbax on the other side: restores what Ramie wrote (`check FOLDER`), and writes what
Ramie is to restore (`write FOLDER`)."""

import json
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
from flax.training.train_state import TrainState
from jax.sharding import NamedSharding, PartitionSpec as P

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_num_cpu_devices", 8)
assert ocp.__version__ == "0.12.8", ocp.__version__

folder = pathlib.Path(sys.argv[2]).resolve()


def ramp(shape, start=0):
    return (jnp.arange(np.prod(shape), dtype=jnp.float32) + start).reshape(shape)


def params(start):
    layer = lambda n, m, s: {"kernel": ramp((n, m), s), "bias": ramp((m,), s)}
    return {"hid": layer(4, 3, start), "out": layer(3, 2, start + 100)}


def train_state():
    state = TrainState.create(apply_fn=None, params=params(1), tx=optax.adam(0.125))
    adam = state.opt_state[0]._replace(count=jnp.int32(7), mu=params(2), nu=params(3))
    return state.replace(step=jnp.int32(7), opt_state=(adam, state.opt_state[1]))


def equal(got, expected, where):
    """The same elements at the same places, whatever holds them."""
    name = lambda k: str(getattr(k, "key", getattr(k, "name", getattr(k, "idx", None))))
    flat = lambda t: {
        ".".join(map(name, path)): np.asarray(x) for path, x in jax.tree_util.tree_flatten_with_path(t)[0]
    }
    got, expected = flat(got), flat(expected)
    assert got.keys() == expected.keys(), (where, got.keys() ^ expected.keys())
    for key, x in expected.items():
        y = got[key]
        assert (y.dtype, y.shape) == (x.dtype, x.shape), (where, key, y.dtype, x.dtype, y.shape)
        assert y.tobytes() == x.tobytes(), (where, key)


def check():
    state = train_state()
    abstract = jax.tree.map(ocp.utils.to_shape_dtype_struct, state)
    zeros = jax.tree.map(jnp.zeros_like, state)
    seen = 0
    for path in sorted((folder / "trees").iterdir()):
        standard = ocp.StandardCheckpointer()
        equal(standard.restore(path, abstract), state, path.name)
        equal(standard.restore(path, zeros), state, path.name)
        equal(standard.restore(path), state, path.name)
        pytree = ocp.Checkpointer(ocp.PyTreeCheckpointHandler())
        equal(pytree.restore(path, args=ocp.args.PyTreeRestore(item=zeros)), state, path.name)
        equal(pytree.restore(path), state, path.name)
        metadata = standard.metadata(path).item_metadata
        assert metadata["params"]["hid"]["kernel"].shape == (4, 3), path
        seen += 1
    assert seen == 8, seen

    types = ocp.StandardCheckpointer().restore(folder / "types")
    for name, x in types.items():
        assert np.asarray(x).dtype == jnp.dtype(name), name
        expected = np.asarray([1, 0, 1]).astype(jnp.dtype(name))
        if name == "float8_e8m0fnu":
            continue
        assert (np.asarray(x) == expected).all(), (name, x)
    assert len(types) == 23, len(types)

    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    for kind in ("files", "database"):
        restored = ocp.Checkpointer(ocp.PyTreeCheckpointHandler()).restore(folder / f"sharded_{kind}")
        specs = {"both": P("x", "y"), "whole": P(), "rows": P(("x", "y"))}
        for name, spec in specs.items():
            assert restored[name].sharding.is_equivalent_to(NamedSharding(mesh, spec), 2), name
            equal(restored[name], ramp((8, 6)), name)
        target = jax.ShapeDtypeStruct((8, 6), jnp.bfloat16, sharding=NamedSharding(mesh, P("y")))
        target = {name: target for name in specs}
        restored = ocp.StandardCheckpointer().restore(folder / f"sharded_{kind}", target)
        equal(restored["both"], ramp((8, 6)).astype(jnp.bfloat16), "resharded")

    keys = ocp.StandardCheckpointer().restore(folder / "keys", {"key": jax.random.key(0)})
    equal(jax.random.key_data(keys["key"]), jax.random.key_data(jax.random.key(3)), "key")
    array = ocp.Checkpointer(ocp.ArrayCheckpointHandler()).restore(folder / "array")
    equal(array, ramp((5,)), "array")
    odd = ocp.Checkpointer(ocp.PyTreeCheckpointHandler()).restore(folder / "odd")
    assert odd["note"] == "a note" and odd["none"] is None and odd["list"][1] is None, odd
    equal(odd["list"][0], ramp((2,)), "odd")

    numbers = [{"count": 7, "large": 2**31 - 1}, 0.5, True]
    standard = ocp.StandardCheckpointer()
    assert standard.restore(folder / "numbers") == numbers
    target = [{"count": 0, "large": 0}, 0.0, False]
    assert standard.restore(folder / "numbers", target) == numbers
    texts = ocp.Checkpointer(ocp.PyTreeCheckpointHandler()).restore(folder / "texts")
    assert texts == [numbers, "a text"], texts

    with ocp.CheckpointManager(folder / "manager") as manager:
        assert manager.all_steps() == [1, 2], manager.all_steps()
        equal(manager.restore(2, args=ocp.args.StandardRestore(abstract)), state, "manager")
        equal(manager.restore(2, args=ocp.args.StandardRestore()), state, "manager")
    print("checked")


def write():
    state = train_state()
    for ocdbt in (False, True):
        for zarr3 in (False, True):
            handler = ocp.PyTreeCheckpointHandler(use_ocdbt=ocdbt, use_zarr3=zarr3)
            path = folder / f"python_{int(ocdbt)}{int(zarr3)}"
            ocp.Checkpointer(handler).save(path, args=ocp.args.PyTreeSave(state))
    with ocp.StandardCheckpointer() as standard:
        standard.save(folder / "python_standard", state)
    with ocp.CheckpointManager(folder / "python_manager") as manager:
        manager.save(3, args=ocp.args.Composite(state=ocp.args.StandardSave(state)))
    print("written")


{"check": check, "write": write}[sys.argv[1]]()
