"""Files as `torch.save` of PyTorch 2.8 writes them, without PyTorch.

    data/pytorch/archive.pt      an archive: pickle protocol 2, as `torch.save` writes by default
    data/pytorch/protocol4.pt    an archive with pickle protocol 4
    data/pytorch/legacy.pth      the form before PyTorch 1.6

All contain the same checkpoint. Python's own pickler writes it, with classes and functions of the
names and modules that PyTorch's and NumPy's have. Only the standard library is needed.

With REAL_MODELS set to PyTorch files, separated by spaces, it also writes

    data/pytorch/real.json       name, shape and a weighted sum of each tensor of published files

which `pytorch_reader.py` reads with NumPy.
"""

import collections
import io
import json
import os
import pathlib
import pickle
import struct
import sys
import types
import zipfile

OUT = pathlib.Path(__file__).parent / "data" / "pytorch"

NAMES = ["torch", "torch._utils", "torch.storage", "torch.nn.parameter", "numpy", "numpy._core", "numpy._core.multiarray"]
MODULES = {name: types.ModuleType(name) for name in NAMES}


def place(module, name, value):
    """Gives a function or class its name in a module of PyTorch or NumPy."""
    value.__module__, value.__name__, value.__qualname__ = module, name, name
    setattr(MODULES[module], name, value)
    return value


class Storage:
    def __init__(self, *values):
        self.values = values

    def bytes(self):
        return b"".join(self.pack(v) for v in self.values)


def bf16(value):
    return struct.pack("<f", value)[2:]


def parts(letter):
    return lambda v: struct.pack("<" + 2 * letter, v.real, v.imag)


def packed(letter):
    return lambda v: struct.pack("<" + letter, v)


# The number of bytes of an element, and its representation.
KINDS = {
    "FloatStorage": (4, packed("f")), "DoubleStorage": (8, packed("d")), "HalfStorage": (2, packed("e")),
    "BFloat16Storage": (2, bf16), "LongStorage": (8, packed("q")), "IntStorage": (4, packed("i")),
    "ShortStorage": (2, packed("h")), "CharStorage": (1, packed("b")), "ByteStorage": (1, packed("B")),
    "BoolStorage": (1, packed("?")), "ComplexFloatStorage": (8, parts("f")),
    "ComplexDoubleStorage": (16, parts("d")), "UntypedStorage": (1, packed("B")),
}
CLASSES = {
    name: place("torch.storage" if name == "UntypedStorage" else "torch", name, type(name, (Storage,), {"width": width, "pack": staticmethod(pack)}))
    for name, (width, pack) in KINDS.items()
}
function = lambda name: place("torch._utils", name, lambda *_: None)
rebuild_v2, rebuild_v3 = function("_rebuild_tensor_v2"), function("_rebuild_tensor_v3")
rebuild_parameter = function("_rebuild_parameter")


class Dtype:
    __module__ = "torch"

    def __init__(self, name):
        self.name = name
        setattr(MODULES["torch"], name, self)

    def __reduce__(self):
        return self.name


class Device:
    def __init__(self, *arguments):
        self.arguments = arguments

    def __reduce__(self):
        return device, self.arguments


class Size(tuple):
    def __reduce__(self):
        return size, (tuple(self),)


device, size = place("torch", "device", Device), place("torch", "Size", Size)


numpy_dtype = place("numpy", "dtype", type("dtype", (), {}))
numpy_scalar = place("numpy._core.multiarray", "scalar", lambda *_: None)


class NumPyDtype:
    def __init__(self, name):
        self.name = name

    def __reduce__(self):
        order = "|" if self.name[1:] == "1" else "<"
        return numpy_dtype, (self.name, False, True), (3, order, None, None, None, -1, -1, 0)


class NumPyScalar:
    def __init__(self, dtype, letter, *values):
        self.arguments = (dtype, struct.pack(f"<{letter}", *values))

    def __reduce__(self):
        return numpy_scalar, self.arguments


class Tensor:
    def __init__(self, storage, shape, strides=None, offset=0, dtype=None):
        if strides is None:
            strides, n = [], 1
            for d in reversed(shape):
                strides.insert(0, n)
                n *= d
        self.arguments = (storage, offset, tuple(shape), tuple(strides), False, collections.OrderedDict())
        self.dtype = dtype

    def __reduce__(self):
        if self.dtype is None:
            return rebuild_v2, self.arguments
        return rebuild_v3, (*self.arguments, self.dtype)


class Parameter:
    def __init__(self, tensor):
        self.tensor = tensor

    def __reduce__(self):
        return rebuild_parameter, (self.tensor, True, collections.OrderedDict())


def tensor(kind, values, shape, *rest):
    return Tensor(CLASSES[kind](*values), shape, *rest)


def weights():
    numbers = CLASSES["FloatStorage"](*[n + 0.5 for n in range(6)])
    first = Tensor(numbers, [2, 3])
    all = collections.OrderedDict()
    all["f32"] = Parameter(first)
    all["transposed"] = Tensor(numbers, [3, 2], [1, 3])
    all["row"] = Tensor(numbers, [3], None, 3)
    all["column"] = Tensor(numbers, [2], [3], 1)
    all["tied"] = Tensor(numbers, [2, 3])
    all["same"] = first
    all["empty"] = tensor("FloatStorage", [], [0, 4])
    all["bn.num_batches_tracked"] = tensor("LongStorage", [7], [])
    all["f64"] = tensor("DoubleStorage", [0.1, -1e300], [2])
    all["f16"] = tensor("HalfStorage", [0.25, -2.0], [2])
    all["bf16"] = tensor("BFloat16Storage", [1.5, -3.0], [2])
    all["i64"] = tensor("LongStorage", [-(2**63), 2**63 - 1], [2])
    all["i32"] = tensor("IntStorage", [-(2**31), 5], [2])
    all["i16"] = tensor("ShortStorage", [-(2**15), 5], [2])
    all["i8"] = tensor("CharStorage", [-128, 5], [2])
    all["u8"] = tensor("ByteStorage", [255, 5], [2])
    all["bool"] = tensor("BoolStorage", [True, False], [2])
    all["c64"] = tensor("ComplexFloatStorage", [1 + 2j, -0.5j], [2])
    all["c128"] = tensor("ComplexDoubleStorage", [1 + 2j, -0.5j], [2])
    # Dtypes without a class of storages.
    all["u16"] = tensor("UntypedStorage", [1, 0, 255, 255], [2], None, 0, Dtype("uint16"))
    all["f8"] = tensor("UntypedStorage", [0x38, 0xC0], [2], None, 0, Dtype("float8_e4m3fn"))
    all._metadata = collections.OrderedDict([("", {"version": 1})])
    return all


def numpy_scalars():
    f64 = NumPyDtype("f8")
    return {
        "f64": NumPyScalar(f64, "d", 0.1),
        # The same dtype.
        "best": NumPyScalar(f64, "d", -2.5),
        "f32": NumPyScalar(NumPyDtype("f4"), "f", 0.5),
        "f16": NumPyScalar(NumPyDtype("f2"), "e", 1.5),
        "i64": NumPyScalar(NumPyDtype("i8"), "q", -3),
        "i8": NumPyScalar(NumPyDtype("i1"), "b", -128),
        "u64": NumPyScalar(NumPyDtype("u8"), "Q", 2**64 - 1),
        "u8": NumPyScalar(NumPyDtype("u1"), "B", 255),
        "bool": NumPyScalar(NumPyDtype("b1"), "?", True),
        "c128": NumPyScalar(NumPyDtype("c16"), "dd", 1.0, -2.0),
    }


def checkpoint():
    state = {
        i: {"step": tensor("FloatStorage", [3.0], []), "exp_avg": tensor("FloatStorage", [i, 0.25], [2])}
        for i in range(2)
    }
    group = {"lr": 1e-3, "betas": (0.9, 0.999), "amsgrad": False, "foreach": None, "params": [0, 1]}
    return {
        "epoch": 3,
        "state_dict": weights(),
        "optimizer": {"state": state, "param_groups": [group]},
        "name": "naïve",
        "rng": b"\x00\xff\x80",
        "size": Size([2, 3]),
        "dtype": Dtype("float16"),
        "device": Device("cuda", 0),
        "tags": {"a"},
        "seed": 2**64 - 1,
        "huge": 2**70,
        "negative": -70000,
        "complex": 1 - 2j,
        "nothing": {},
        "numpy": numpy_scalars(),
        (1, 2): "the entry is omitted",
    }


class Pickler(pickle.Pickler):
    """Writes storages by their keys."""

    def __init__(self, file, protocol, legacy):
        super().__init__(file, protocol)
        self.legacy, self.keys, self.storages = legacy, {}, {}

    def persistent_id(self, value):
        if not isinstance(value, Storage):
            return None
        # The legacy form has addresses as keys.
        number = 94000000 + 64 * len(self.keys) if self.legacy else len(self.keys)
        key = self.keys.setdefault(id(value), str(number))
        self.storages[key] = value
        where = ("storage", type(value), key, "cpu", len(value.values))
        return (*where, None) if self.legacy else where


def archive(path, protocol):
    data = io.BytesIO()
    pickler = Pickler(data, protocol, False)
    pickler.dump(checkpoint())
    entries = {"data.pkl": data.getvalue(), ".format_version": b"1", ".storage_alignment": b"64", "byteorder": b"little"}
    entries |= {f"data/{key}": storage.bytes() for key, storage in pickler.storages.items()}
    entries |= {"version": b"3\n", ".data/serialization_id": b"0" * 40}
    with zipfile.ZipFile(path, "w") as out:
        for name, content in entries.items():
            info = zipfile.ZipInfo(f"{path.stem}/{name}")
            # PyTorch aligns the contents with an extra field, and writes sizes of 64 bits.
            padding = -(out.start_dir + 30 + len(info.filename) + 20 + 4) % 64
            info.extra = struct.pack("<2sH", b"FB", padding) + b"Z" * padding
            with out.open(info, "w", force_zip64=True) as file:
                file.write(content)


def legacy(path):
    system = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    with path.open("wb") as file:
        for value in [0x1950A86A20F9469CFC6C, 1001, system]:
            pickle.dump(value, file, 2)
        pickler = Pickler(file, 2, True)
        pickler.dump(checkpoint())
        keys = sorted(pickler.storages)
        pickle.dump(keys, file, 2)
        for key in keys:
            storage = pickler.storages[key]
            file.write(struct.pack("<q", len(storage.values)) + storage.bytes())


def real(paths):
    from pytorch_reader import load

    files = {}
    for path in map(pathlib.Path, paths):
        rows = files[path.name] = []
        for name, array in load(path).items():
            total = 0.0
            for i, number in enumerate(array.ravel().tolist()):
                total += (i % 7) * number
            rows.append([name, list(array.shape), total])
    lines = [f"{json.dumps(name)}: [\n  " + ",\n  ".join(map(json.dumps, rows)) + "\n ]" for name, rows in files.items()]
    (OUT / "real.json").write_text("{\n " + ",\n ".join(lines) + "\n}\n")


def main():
    OUT.mkdir(exist_ok=True)
    if "REAL_MODELS" in os.environ:
        real(os.environ["REAL_MODELS"].split())
    # The pickler finds classes in their modules.
    sys.modules.update(MODULES)
    archive(OUT / "archive.pt", 2)
    archive(OUT / "protocol4.pt", 4)
    legacy(OUT / "legacy.pth")
    for file in sorted(OUT.iterdir()):
        print(file.name, f"{file.stat().st_size / 1000:.1f} kB")


if __name__ == "__main__":
    main()
