"""Reads the tensors of a published PyTorch file with Python's own unpickler, without PyTorch."""

import pickle
import struct
import zipfile

import numpy as np

DTYPES = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}


class Unpickler(pickle.Unpickler):
    """Returns `((key, dtype), offset, shape, strides)` for each tensor."""

    def persistent_load(self, where):
        kind, dtype, key, *_ = where
        assert kind == "storage", where
        return key, dtype

    def find_class(self, module, name):
        if name in DTYPES:
            return DTYPES[name]
        if name == "_rebuild_tensor_v2":
            return lambda storage, offset, shape, strides, *_: (storage, offset, shape, strides)
        return super().find_class(module, name)


def load(path):
    """The arrays of a state dict."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as file:
            folder = file.namelist()[0].split("/")[0]
            tensors = Unpickler(file.open(f"{folder}/data.pkl")).load()
            storages = {key: file.read(f"{folder}/data/{key}") for (key, _), *_ in tensors.values()}
    else:
        with open(path, "rb") as file:
            *_, tensors, keys = (Unpickler(file).load() for _ in range(5))
            dtypes = {key: dtype for (key, dtype), *_ in tensors.values()}
            storages = {}
            for key in keys:
                (count,) = struct.unpack("<q", file.read(8))
                storages[key] = file.read(dtypes[key].itemsize * count)
    arrays = {}
    for name, ((key, dtype), offset, shape, strides) in tensors.items():
        numbers = np.frombuffer(storages[key], dtype)[offset:]
        steps = [stride * dtype.itemsize for stride in strides]
        arrays[name] = np.lib.stride_tricks.as_strided(numbers, shape, steps)
    return arrays
