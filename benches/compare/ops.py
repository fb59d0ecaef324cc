"""`ops` in JAX: single operations outside of `jit`. Prints a JSON line for each.

    python ops.py --client plugin
"""

import argparse
import json
import statistics
import time

from steps import SAMPLES, WARMUP, default_library, start_client

CALLS = 2000


def operations():
    import jax
    import jax.numpy as jnp

    vector = jnp.linspace(0.0, 1.0, 1000)
    matrix = jnp.linspace(0.0, 1.0, 64 * 64).reshape(64, 64)
    scalar = vector[500]
    return {
        "add": lambda: vector + vector,
        "add_scalar": lambda: vector + 1.0,
        "scalar_expression": lambda: scalar * 2.0 + 1.0,
        "exp": lambda: jnp.exp(vector),
        "greater": lambda: vector > 0.5,
        "where": lambda: jnp.where(vector > 0.5, vector, 0.0),
        "astype": lambda: vector.astype(jnp.int32),
        "sum": lambda: vector.sum(),
        "mean_axis": lambda: matrix.mean(0),
        "matmul": lambda: matrix @ matrix,
        "reshape": lambda: vector.reshape(10, 100),
        "transpose": lambda: matrix.T,
        "index": lambda: vector[3],
        "slice": lambda: vector[10:20],
        "concatenate": lambda: jnp.concatenate([vector, vector]),
        "softmax": lambda: jax.nn.softmax(matrix, axis=-1),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", choices=["plugin", "jaxlib"], default="plugin")
    parser.add_argument("--library", help="path of the plugin (default: from the installed wheel)")
    parser.add_argument("--steps", type=int, default=CALLS)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--warmup", type=int, default=WARMUP)
    args = parser.parse_args()
    start_client(args.client, args.library or (default_library() if args.client == "plugin" else ""))
    for name, operation in operations().items():
        for _ in range(args.warmup):
            operation().block_until_ready()
        times = []
        for _ in range(args.samples):
            begin = time.perf_counter()
            for _ in range(args.steps - 1):
                operation()
            operation().block_until_ready()
            times.append((time.perf_counter() - begin) / args.steps)
        print(json.dumps({"workload": "ops", "operation": name, "framework": "jax", "platform": f"cpu-{args.client}",
                          "median_s": statistics.median(times), "best_s": min(times), "steps": args.steps,
                          "samples": args.samples}), flush=True)


if __name__ == "__main__":
    main()
