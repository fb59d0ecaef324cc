"""Measures how long a client of XLA takes to compile programs that Ramie has lowered.

    RAMIE_DUMP_IR_TO=ir FILE --inside gpt       # FILE: a binary of `cargo bench --bench steps --no-run`
    python compile.py --client jaxlib ir/0004_trainer.mlir
    python compile.py --client plugin ir/0004_trainer.mlir

Prints a line per program with the median and best time of `--samples` compilations. The options are the client's own.
"""

import argparse
import json
import pathlib
import statistics
import time

from steps import default_library, start_client


def seconds(text):
    """Returns the time of one compilation."""
    import jax.extend
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jaxlib.mlir import ir

    backend = jax.extend.backend.get_backend()
    devices = xla_client.DeviceList(tuple(backend.local_devices()[:1]))
    options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        start = time.perf_counter()
        backend.compile_and_load(module, devices, options)
        return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--client", choices=["plugin", "jaxlib"], default="plugin")
    parser.add_argument("--library", help="path of the plugin (default: from the installed wheel)")
    parser.add_argument("--samples", type=int, default=5, help="compilations of each program")
    parser.add_argument("programs", nargs="+", type=pathlib.Path, help="files of StableHLO")
    args = parser.parse_args()
    start_client(args.client, args.library or (default_library() if args.client == "plugin" else ""))
    for program in args.programs:
        taken = [seconds(program.read_text()) for _ in range(args.samples)]
        print(json.dumps({"program": program.name, "platform": f"cpu-{args.client}",
                          "median_s": statistics.median(taken), "best_s": min(taken)}), flush=True)


if __name__ == "__main__":
    main()
