"""Writes and reads OCDBT databases with TensorStore.

    ocdbt.py write <folder> <config as JSON> <keys per version> < content
    ocdbt.py read <folder> > content

A content is keys and values, each a length of 8 bytes, little-endian, and its bytes.
"""
import json
import struct
import sys

import tensorstore as ts


def open_(folder, config=None):
    spec = {"driver": "ocdbt", "base": f"file://{folder}/"}
    if config is not None:
        spec |= {"config": config, "assume_config": True}
    return ts.KvStore.open(spec).result()


def write(folder, config, keys_per_version):
    data, at, parts = sys.stdin.buffer.read(), 0, []
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        parts.append(data[at + 8 : at + 8 + length])
        at += 8 + length
    items = list(zip(parts[::2], parts[1::2]))
    store = open_(folder, json.loads(config))
    step = int(keys_per_version)
    for start in range(0, len(items), step):
        with ts.Transaction(atomic=True) as txn:
            version = store.with_transaction(txn)
            for key, value in items[start : start + step]:
                version.write(key, value).result()


def read(folder):
    store = open_(folder)
    keys = sorted(store.list().result())
    for key, value in zip(keys, [store.read(key) for key in keys]):
        for part in key, value.result().value:
            sys.stdout.buffer.write(struct.pack("<Q", len(part)) + part)


{"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])
