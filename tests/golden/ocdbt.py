"""Databases in the OCDBT format as TensorStore writes them.

`data/ocdbt/<case>/` is the folder of a database. What is in it follows from the
keys' numbers alone: see `key` and `value`, which the tests have, too.
"""
import pathlib
import shutil

import tensorstore as ts

CONTEXT = ts.Context()
DATA = pathlib.Path(__file__).parent / "data" / "ocdbt"


def key(i):
    return b"layer_%d/kernel/%d.0" % (i // 8, i % 8)


def value(i, length):
    return bytes((i * 7 + j * 13) % 251 for j in range(length))


def open_(path, **config):
    spec = {
        "driver": "ocdbt",
        "base": f"file://{path}/",
        "config": config,
        "assume_config": True,
    }
    return ts.KvStore.open(spec, context=CONTEXT).result()


def put(store, items):
    with ts.Transaction(atomic=True) as txn:
        store = store.with_transaction(txn)
        for k, v in items:
            store.write(k, v).result()


def case(name, items, commits=1, **config):
    path = DATA / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    store = open_(path, **config)
    for commit in range(commits):
        put(store, items(commit))
    return store


def several(n, length):
    return lambda _: [(key(i), value(i, length)) for i in range(n)]


def main():
    # One leaf, in Zstandard; values of the lengths 0 to 9.
    case("inline", lambda _: [(key(i), value(i, i)) for i in range(10)])
    case("raw", lambda _: [(key(i), value(i, i)) for i in range(10)], compression=None)
    # Values of 300 bytes outside of the nodes.
    case("outside", several(6, 300), max_inline_value_bytes=100)
    # Nodes of at most 200 bytes: a tree of several levels.
    case("tall", several(64, 8), max_decoded_node_bytes=200)
    case("tall_raw", several(64, 8), max_decoded_node_bytes=200, compression=None)
    # Version g has the keys 0 to g - 1, each with the value of version g.
    growing = lambda commit: [(key(i), value(i + commit, 4)) for i in range(commit + 1)]
    case("versions", growing, commits=11, version_tree_arity_log2=1)
    case("numbered", growing, commits=3, manifest_kind="numbered")
    # No keys: all that was written was deleted.
    emptied = lambda commit: [(key(0), b"x" if commit == 0 else None)]
    case("empty", emptied, commits=2)
    # Keys that are not text, one a prefix of the next.
    binary = [b"", b"\x00", b"\x00\xff", b"\xff", b"\xff\xff" * 100]
    case("binary", lambda _: [(k, value(i, 3)) for i, k in enumerate(binary)])
    # Two processes' databases as one, as Orbax makes it.
    path = DATA / "merged"
    shutil.rmtree(path, ignore_errors=True)
    config = dict(max_inline_value_bytes=100)
    children = []
    for process in range(2):
        folder = path / f"ocdbt.process_{process}"
        folder.mkdir(parents=True)
        child = open_(folder, **config)
        mine = [i for i in range(12) if i % 2 == process]
        put(child, [(key(i), value(i, 50 if i < 6 else 200)) for i in mine])
        children.append(child)
    with ts.Transaction(atomic=True) as txn:
        parent = open_(path, **config).with_transaction(txn)
        for child in children:
            child.experimental_copy_range_to(parent).result()


if __name__ == "__main__":
    main()
