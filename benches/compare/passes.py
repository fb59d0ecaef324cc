"""Compares the passes of a compiled step over memory with the rate of this machine.

    python passes.py --program FILE --workloads cnn     # a binary of `cargo bench --bench steps --no-run`

The first line per workload gives the megabytes that the operations of the step outside loops read and write, by kind, as
counted in the program that XLA writes with `--xla_dump_to`. The last line gives the rate at which one thread per core
adds two arrays into a third, in gigabytes per second, by the size of an array in megabytes.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import time

import numpy as np

from budget import instructions, kind_of

SIZES = {"pred": 1, "s8": 1, "u8": 1, "bf16": 2, "f16": 2, "f32": 4, "s32": 4, "u32": 4, "f64": 8, "s64": 8, "u64": 8}
TYPE = re.compile(rf"\b({'|'.join(SIZES)})\[([\d,]*)\]")
INSTRUCTION = re.compile(r"\s*(?:ROOT )?(%\S+) = (.*?) ([\w\-]+)\((.*?)\)(?:,|$)")
# Operations that neither read nor write arrays.
FREE = {"parameter", "constant", "get-tuple-element", "bitcast", "tuple", "after-all"}
# Number of arrays that a thread goes through in turns.
ARRAYS = 8
SECONDS = 0.5


def size(shape):
    """Returns the number of bytes of a shape as HLO prints it."""
    return sum(SIZES[dtype] * math.prod(int(n) for n in sizes.split(",") if n) for dtype, sizes in TYPE.findall(shape))


def kind(operation, text):
    """Returns the kind of an operation with its program's text, as in the budget of a step."""
    if operation == "while":
        return "arguments and results of loops"
    return "products" if operation == "custom-call" else kind_of(text).split(":")[0]


def passes(hlo):
    """Returns the bytes that the operations of a module's entry read and write, by kind."""
    entry = re.search(r"^ENTRY[^\n]*\{\n(.*?)^\}", hlo, re.S | re.M)[1]
    texts, sizes, found = instructions(hlo), {}, collections.Counter()
    for name, shape, operation, operands in INSTRUCTION.findall(entry):
        sizes[name] = size(shape)
        if operation not in FREE:
            read = sum(sizes.get(operand, 0) for operand in re.findall(r"%[\w.\-]+", operands))
            found[kind(operation, texts[name[1:]])] += read + sizes[name]
    return found


def step(program, workload):
    """Returns the passes of a workload's step: of the compiled program with the most bytes."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"XLA_FLAGS": f"--xla_dump_to={folder}", "RAMIE_COMPILATION_CACHE": "off"}
        command = [program, "--inside", workload, "--samples", "1", "--steps", "1"]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        modules = pathlib.Path(folder).glob("*_after_optimizations.txt")
        return max((passes(module.read_text()) for module in modules), key=lambda found: found.total())


def rate(megabytes):
    """Returns the bytes per second that all cores together read and write."""
    threads = os.cpu_count()
    elements = int(megabytes * 1e6 / 4 / threads)
    rounds, start = [0] * threads, threading.Barrier(threads)
    end = [0.0]

    def work(thread):
        # Unlike `zeros`, this writes the pages, so that they are mapped.
        arrays = np.full((ARRAYS, elements), 0, np.float32)
        if start.wait() == 0:
            end[0] = time.perf_counter() + SECONDS
        start.wait()
        while time.perf_counter() < end[0]:
            for i in range(ARRAYS):
                np.add(arrays[i - 1], arrays[i - 2], out=arrays[i])
            rounds[thread] += 1

    workers = [threading.Thread(target=work, args=(thread,)) for thread in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(rounds) * ARRAYS * 3 * 4 * elements / SECONDS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="binary of the workloads")
    parser.add_argument("--workloads", default="cnn", help="names, separated by commas")
    args = parser.parse_args()
    for workload in args.workloads.split(","):
        found = {name: round(n / 1e6, 1) for name, n in step(args.program, workload).most_common()}
        print(json.dumps({"workload": workload, "megabytes": found}), flush=True)
    print(json.dumps({"gigabytes_per_second": {n: round(rate(n) / 1e9, 1) for n in (0.1, 3.2, 6.4, 32)}}))


if __name__ == "__main__":
    main()
