"""Measures the matrix products and convolutions of each workload in isolation: what they take of its step.

    python parts.py --client plugin --workloads digits,cnn,gpt,lstm

Every distinct product or convolution of the step's jaxpr is compiled alone and called for some time, with all
arguments on the device. The line of a workload contains the sum of the best times, each as often as the step runs
it, and the slowest ones.
"""

import argparse
import json
import time

from flops import convolution, dot, inner
from steps import default_library, start_client

COUNTS = {"dot_general": dot, "conv_general_dilated": convolution}
SECONDS = 0.3
# Calls per sample, so that the waiting at the end counts little.
CALLS = 20


def products(jaxpr, times, found):
    """Adds the products and convolutions of a jaxpr to `found`, by what identifies them."""
    for eqn in jaxpr.eqns:
        if eqn.primitive.name in COUNTS:
            key = (eqn.primitive.name, str([v.aval for v in eqn.invars]), str(eqn.params))
            found[key] = (eqn, found.get(key, (eqn, 0))[1] + times)
        for part, more in inner(eqn):
            products(part, times * more, found)
    return found


def best_seconds(eqn):
    """Returns the best time of a call of this operation alone."""
    import jax
    import numpy as np

    rng = np.random.default_rng(0)
    operands = [jax.device_put(rng.normal(size=v.aval.shape).astype(v.aval.dtype)) for v in eqn.invars]
    run = jax.jit(lambda *xs: eqn.primitive.bind(*xs, **eqn.params))
    run(*operands).block_until_ready()
    best, end = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(CALLS):
            out = run(*operands)
        out.block_until_ready()
        best = min(best, (time.perf_counter() - start) / CALLS)
    return best


def measure(name, client):
    import jax
    from workloads import WORKLOADS

    step, state, inputs = WORKLOADS[name]()
    types = jax.eval_shape(lambda *args: args, state, *inputs)
    found = products(jax.make_jaxpr(step)(*types).jaxpr, 1, {})
    rows = []
    for eqn, times in found.values():
        seconds = best_seconds(eqn)
        shapes = " ".join("x".join(map(str, v.aval.shape)) for v in [*eqn.invars, *eqn.outvars])
        rows.append({"operation": f"{eqn.primitive.name} {shapes}", "times": times, "us": round(seconds * 1e6, 1),
                     "gflops": round(COUNTS[eqn.primitive.name](eqn) / seconds / 1e9, 1)})
    rows.sort(key=lambda row: -row["times"] * row["us"])
    total = sum(row["times"] * row["us"] for row in rows) / 1e6
    return {"workload": name, "framework": "jax", "platform": f"cpu-{client}", "products_s": total, "slowest": rows[:6]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", choices=["plugin", "jaxlib"], default="plugin")
    parser.add_argument("--library", help="path of the plugin (default: from the installed wheel)")
    parser.add_argument("--workloads", default="digits,cnn,gpt,lstm", help="comma-separated names")
    args = parser.parse_args()
    start_client(args.client, args.library or (default_library() if args.client == "plugin" else ""))
    for name in args.workloads.split(","):
        print(json.dumps(measure(name, args.client)), flush=True)


if __name__ == "__main__":
    main()
