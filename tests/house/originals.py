"""Compares originals.txt with the installed originals: prints the names that they lack, and their new
public names. Needs the packages of tests/golden/requirements.txt and Grain; PyTorch is not compared."""

import dataclasses
import importlib
import pathlib
import types

import jax
import jax.numpy as jnp

# Sections whose names are no attributes, belong to a metaclass, or need TensorFlow.
UNCOMPARED = (
    "torch",
    "grain.MapDataset",
    "flax.metrics.tensorboard",
    "primitives of jaxprs",
    "earlier names of JAX",
)
# Attributes of instances, which classes do not list.
INSTANCES = {"jax.Array": lambda: jnp.zeros(3), "jax.Array.at": lambda: jnp.zeros(3).at[0]}
INSTANCES["jax.sharding.Mesh"] = lambda: jax.make_mesh((1,), ("x",))


def find(path):
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise ImportError(path)


def attributes(path):
    if path == "jax.config":
        return set(jax.config.values), set()
    found = INSTANCES[path]() if path in INSTANCES else find(path)
    names = set(dir(found))
    if dataclasses.is_dataclass(found):
        names |= {field.name for field in dataclasses.fields(found)}
    if not isinstance(found, types.ModuleType):
        return names, set()
    public = {n for n in names if not n.startswith("_") and not n.endswith("_p")}
    return names, {n for n in public if not isinstance(getattr(found, n), types.ModuleType)}


sections = {}
for line in pathlib.Path(__file__).with_name("originals.txt").read_text().splitlines():
    if line.startswith("["):
        names = sections.setdefault(line.strip("[]"), [])
    elif line and not line.startswith("#"):
        names += line.split()

for path, names in sections.items():
    if not path.startswith(UNCOMPARED):
        have, public = attributes(path)
        print(f"{path}\n  lacks {sorted(set(names) - have)}\n  also has {sorted(public - set(names))}")
