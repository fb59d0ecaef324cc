"""Measures one update of 50 million parameters by optimizers of Optax. Prints a JSON line for each.

    python optim.py --client plugin
    python optim.py --client plugin --optimizers adam,adamw --samples 20

Gradients are given; parameters and the optimizer's state are donated. `held_mb` is the size of
parameters, state and gradients. `peak_mb` adds the outputs and intermediate values of the step that do
not reuse the memory of donated inputs, as planned by the compiler. Every optimizer runs in a separate
process.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

from steps import default_library, start_client

OPTIMIZERS = ["sgd", "adam", "adamw", "lion", "adafactor", "muon"]
BLOCK = {"bias": (4096,), "in": (256, 4096), "out": (4096, 256), "scale": (1024,), "up": (256, 4096), "down": (4096, 256)}


def measure(name, client, steps, samples, warmup):
    import jax
    import optax

    make = getattr(optax, name, None) or getattr(optax.contrib, name)
    tx = make(1e-3)

    @jax.jit
    def normal(key):
        def draw(i, j, shape):
            return 0.02 * jax.random.normal(jax.random.fold_in(key, 6 * i + j), shape)
        return {f"block_{i:02}": {n: draw(i, j, s) for j, (n, s) in enumerate(BLOCK.items())} for i in range(12)}

    grads, params = normal(jax.random.key(1)), normal(jax.random.key(0))
    state = (params, jax.jit(tx.init)(params))
    del params
    held = sum(x.nbytes for x in jax.tree.leaves((state, grads)))

    def step(state, grads):
        params, moments = state
        updates, moments = tx.update(grads, moments, params)
        params = optax.apply_updates(params, updates)
        return (params, moments), params["block_00"]["bias"][0]

    step = jax.jit(step, donate_argnums=0)
    start = time.perf_counter()
    lowered = step.lower(state, grads)
    middle = time.perf_counter()
    compiled = lowered.compile()
    end = time.perf_counter()
    memory = compiled.memory_analysis()
    peak = memory.argument_size_in_bytes + memory.output_size_in_bytes
    peak += memory.temp_size_in_bytes - memory.alias_size_in_bytes
    state, last = step(state, grads)
    jax.block_until_ready(state)
    for _ in range(1, warmup):
        state, last = step(state, grads)
    jax.block_until_ready(state)
    times = []
    for _ in range(samples):
        begin = time.perf_counter()
        for _ in range(steps):
            state, last = step(state, grads)
        jax.block_until_ready(state)
        times.append((time.perf_counter() - begin) / steps)
    return {"workload": "optim", "optimizer": name, "framework": "jax", "platform": f"cpu-{client}",
            "median_s": statistics.median(times), "best_s": min(times), "trace_lower_s": middle - start,
            "compile_s": end - middle, "held_mb": round(held / 2**20, 1),
            "peak_mb": round(peak / 2**20, 1), "steps": steps, "samples": samples, "loss": float(last)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", choices=["plugin", "jaxlib"], default="plugin")
    parser.add_argument("--library", help="path of the plugin (default: from the installed wheel)")
    parser.add_argument("--optimizers", default=",".join(OPTIMIZERS), help="comma-separated names")
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--warmup", type=int, default=3)
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.inside:
        start_client(args.client, args.library)
        return print(json.dumps(measure(args.inside, args.client, args.steps, args.samples, args.warmup)), flush=True)
    library = args.library or (default_library() if args.client == "plugin" else "")
    for name in args.optimizers.split(","):
        subprocess.run([sys.executable, __file__, "--client", args.client, "--library", library, "--inside", name,
                        "--steps", str(args.steps), "--samples", str(args.samples), "--warmup", str(args.warmup)],
                       check=True)


if __name__ == "__main__":
    main()
