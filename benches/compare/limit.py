"""Measures this machine's peak rate with f32 products of square matrices. Prints a JSON line for each size.

    python limit.py --client numpy             # the BLAS in NumPy's wheel
    python limit.py --client plugin            # XLA
    python limit.py --client jaxlib
"""

import argparse
import json
import time

from steps import default_library, start_client

SIZES = (512, 1024, 2048)
SECONDS = 0.5


def gflops(size, product):
    """Returns the best rate of a product, measured for some seconds; `product` waits for its result."""
    product()
    best, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        product()
        best = min(best, time.perf_counter() - start)
    return 2 * size**3 / best / 1e9


def products(client, size):
    import numpy as np

    a, b = np.random.default_rng(0).normal(size=(2, size, size)).astype(np.float32)
    if client == "numpy":
        return lambda: a @ b
    import jax

    a, b = jax.device_put((a, b))
    matmul = jax.jit(lambda a, b: a @ b)
    return lambda: matmul(a, b).block_until_ready()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", choices=["numpy", "plugin", "jaxlib"], default="numpy")
    parser.add_argument("--library", help="path of the plugin (default: from the installed wheel)")
    args = parser.parse_args()
    if args.client != "numpy":
        start_client(args.client, args.library or (default_library() if args.client == "plugin" else ""))
    for size in SIZES:
        print(json.dumps({"workload": "matmul", "framework": args.client, "size": size,
                          "gflops": round(gflops(size, products(args.client, size)), 1)}), flush=True)


if __name__ == "__main__":
    main()
