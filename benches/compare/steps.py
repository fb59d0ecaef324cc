"""Measures the benchmark workloads in JAX; one JSON line per workload.

    python steps.py --client plugin            # the XLA CPU plugin
    python steps.py --client jaxlib            # the client built into jaxlib
    python steps.py --client cuda              # a GPU
    python steps.py --first-step --client plugin

README.md describes the protocol. Every workload runs in a separate process.
"""

import argparse
import json
import logging
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

STEPS = {"scalar": 2000, "xor": 1000, "digits": 100, "cnn": 15, "gpt": 5, "gpt2": 1, "lstm": 10, "sample": 60,
         "leaves_10": 1000, "leaves_100": 200, "leaves_1000": 20, "leaves_10000": 2}
SAMPLES = 10
WARMUP = 3


def since_process_start():
    """Returns the seconds since this process started, by the kernel's clock (10 ms ticks)."""
    ticks = int(pathlib.Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def start_client(client, library, devices=1):
    """Selects the client and its number of devices, before JAX creates a client."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ["JAX_PLATFORMS"] = {"plugin": "xla_cpu", "jaxlib": "cpu"}.get(client, client)
    if client == "plugin":
        from jax._src import xla_bridge

        logging.getLogger("jax._src.xla_bridge").setLevel(logging.ERROR)
        # Without the option, the plugin would create four devices.
        xla_bridge.register_plugin("xla_cpu", priority=500, library_path=library, options={"cpu_device_count": devices})
    elif devices > 1:
        import jax

        jax.config.update("jax_num_cpu_devices", devices)


def platform(client):
    return client if client == "cuda" else f"cpu-{client}"


# The Python package of the XLA CPU plugin that Ramie installs on x86-64.
PLUGIN = "fastatomstruct-xla-cpu"


def default_library():
    """Returns the path of the plugin's library."""
    from importlib.metadata import distribution

    return str(distribution(PLUGIN).locate_file("fastatomstruct_xla_cpu/libpjrt_cpu.so"))


def peak_rss_mb():
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024


def measure(name, client, steps, samples, warmup):
    import jax
    from flops import of_products
    from workloads import workload

    step, state, inputs = workload(name)()
    types = jax.eval_shape(lambda *args: args, state, *inputs)
    step = jax.jit(step, donate_argnums=0)
    start = time.perf_counter()
    lowered = step.lower(state, *inputs)
    middle = time.perf_counter()
    lowered.compile()
    end = time.perf_counter()

    outputs = ()
    for _ in range(warmup):
        state, outputs = step(state, *inputs)
    jax.block_until_ready((state, outputs))
    times = []
    for _ in range(samples):
        begin = time.perf_counter()
        for _ in range(steps):
            state, outputs = step(state, *inputs)
        jax.block_until_ready((state, outputs))
        times.append((time.perf_counter() - begin) / steps)
    return {"workload": name, "framework": "jax", "platform": platform(client),
            "median_s": statistics.median(times), "best_s": min(times), "trace_lower_s": middle - start,
            "compile_s": end - middle, "peak_rss_mb": round(peak_rss_mb(), 1), "steps": steps, "samples": samples,
            "loss": float(jax.tree.leaves(outputs or state)[0].mean()), "flops": of_products(step, *types)}


def first_step():
    """Runs one digits step and prints the time since this process started."""
    import jax
    from workloads import WORKLOADS

    step, state, inputs = WORKLOADS["digits"]()
    jax.block_until_ready(jax.jit(step, donate_argnums=0)(state, *inputs))
    print(json.dumps({"inside_s": since_process_start()}), flush=True)


def measure_first_step(client, command, samples):
    """Starts `samples` fresh processes with a warm compilation cache."""
    with tempfile.TemporaryDirectory() as cache:
        env = dict(os.environ, JAX_COMPILATION_CACHE_DIR=cache, JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0",
                   JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES="-1", JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES="none")
        inside, outside = [], []
        for _ in range(samples + 2):
            begin = time.perf_counter()
            process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
            line = process.stdout.readline()
            outside.append(time.perf_counter() - begin)
            inside.append(json.loads(line)["inside_s"])
            process.stdout.close()
            if process.wait():
                raise SystemExit("the measured process failed")
        entries = len(list(pathlib.Path(cache).glob("*-cache")))
    cold, inside, outside = outside[0], inside[2:], outside[2:]
    return {"workload": "first_step", "framework": "jax", "platform": platform(client),
            "median_s": statistics.median(outside), "best_s": min(outside), "inside_median_s": statistics.median(inside),
            "empty_cache_s": cold, "cache_entries": entries, "samples": samples}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", choices=["plugin", "jaxlib", "cuda"], default="plugin")
    parser.add_argument("--library", help="path of the plugin (default: from the installed wheel)")
    parser.add_argument("--workloads", default=",".join(STEPS), help="comma-separated names")
    parser.add_argument("--steps", type=int, help="steps per sample (default: the workload's own)")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--warmup", type=int, default=WARMUP)
    parser.add_argument("--first-step", action="store_true", help="measure process start to first step instead")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    args = parser.parse_args()

    if args.inside:
        start_client(args.client, args.library)
        if args.inside == "first_step":
            return first_step()
        return print(json.dumps(measure(args.inside, args.client, args.steps, args.samples, args.warmup)), flush=True)

    library = args.library or (default_library() if args.client == "plugin" else "")
    child = [sys.executable, __file__, "--client", args.client, "--library", library]
    if args.first_step:
        print(json.dumps(measure_first_step(args.client, child + ["--inside", "first_step"], args.samples)))
        return
    for name in args.workloads.split(","):
        steps = args.steps or STEPS.get(name, 1)
        subprocess.run(child + ["--inside", name, "--steps", str(steps), "--samples", str(args.samples),
                                "--warmup", str(args.warmup)], check=True)


if __name__ == "__main__":
    main()
