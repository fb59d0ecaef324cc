"""`checkpoint` with Orbax: saves a state of 1 GB in the background and restores it. Prints a JSON line.

    pip install orbax-checkpoint==0.12.8
    python checkpoint.py --samples 10
    python checkpoint.py --arrays 10000 --elements 256
"""

import argparse
import json
import statistics
import tempfile
import time

import jax
import jax.numpy as jnp
import orbax.checkpoint as ocp


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--arrays", type=int, default=60)
    parser.add_argument("--elements", type=int, default=1 << 22, help="number of elements of an array")
    args = parser.parse_args()
    samples = args.samples
    # Random numbers, which compress as poorly as weights.
    values = jax.random.normal(jax.random.key(0), (args.elements,), jnp.float32)
    state = jax.block_until_ready({f"layer_{i}": values + i for i in range(args.arrays)})
    target = jax.tree.map(ocp.utils.to_shape_dtype_struct, state)
    blocking, saves, restores = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        options = ocp.CheckpointManagerOptions(max_to_keep=1, enable_async_checkpointing=True)
        with ocp.CheckpointManager(folder, options=options) as manager:
            for step in range(samples + 1):
                start = time.perf_counter()
                assert manager.save(step, args=ocp.args.StandardSave(state))
                blocked = time.perf_counter() - start
                manager.wait_until_finished()
                save = time.perf_counter() - start
                start = time.perf_counter()
                restored = manager.restore(step, args=ocp.args.StandardRestore(target))
                jax.block_until_ready(restored)
                restore = time.perf_counter() - start
                del restored
                if step > 0:
                    blocking.append(blocked)
                    saves.append(save)
                    restores.append(restore)
    both = [s + r for s, r in zip(saves, restores)]
    line = {
        "workload": "checkpoint",
        "framework": "orbax",
        "bytes": args.arrays * args.elements * 4,
        "median_s": statistics.median(both),
        "best_s": min(both),
        "samples": samples,
        "versions": {"jax": jax.__version__, "orbax": ocp.__version__},
    }
    for name, times in [("blocking", blocking), ("save", saves), ("restore", restores)]:
        line[f"{name}_median_s"] = round(statistics.median(times), 6)
        line[f"{name}_best_s"] = round(min(times), 6)
    print(json.dumps(line))


if __name__ == "__main__":
    main()
