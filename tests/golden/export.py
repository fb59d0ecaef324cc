"""Exported functions, in both directions.

    python export.py           writes data/export_jax.bin, which the tests read and run
    python export.py FILE      reads FILE, which Ramie wrote, runs it, and compares it with JAX;
                               data/export_ramie.bin is a file that passed

Ramie writes FILE with `RAMIE_WRITE_EXPORT=FILE cargo test -p ramie-core --test transformations export`.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

# The file says where its operations come from: by name, not by where this is.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

PARAMS = {
    "weight": np.array([[1.0, -1.0], [0.5, 2.0], [0.0, 1.0]], np.float32),
    "bias": np.array([0.5, -0.5], np.float32),
}
X = np.array([[0.1, 0.2, 0.3], [-0.4, 0.5, -0.6]], np.float32)


def layer(params, x):
    offset = np.array([10.0, 20.0], np.float32)
    mask = np.array([True, False])
    y = jnp.tanh(x @ params["weight"] + params["bias"])
    shifted = jnp.where(mask, y + offset, y)
    return y, [shifted.max(), shifted.astype(np.int32)]


def main():
    if len(sys.argv) > 1:
        with open(sys.argv[1], "rb") as file:
            read = export.deserialize(bytearray(file.read()))
        print(read.fun_name, read.in_tree, read.out_tree, read.in_avals, read.out_avals)
        got = jax.tree.leaves(jax.jit(read.call)(PARAMS, X))
        for a, b in zip(got, jax.tree.leaves(layer(PARAMS, X)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
        print("JAX computes the same")
        return
    exported = export.export(jax.jit(layer), platforms=["cpu"])(PARAMS, X)
    with open("data/export_jax.bin", "wb") as file:
        file.write(exported.serialize())


if __name__ == "__main__":
    main()
