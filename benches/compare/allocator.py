"""Compares allocators for the memory of the CPU plugin; prints a table for `docs/performance.md`.

    python allocator.py --program FILE                     # a binary of `cargo bench --bench steps --no-run`
    python allocator.py --program FILE --least OTHER       # also a binary that replaces fewer functions
    python allocator.py --program FILE --workloads gpt,xor --rounds 5

All modes take turns in each workload, each in a separate process, starting with another one in each round. Libraries
that replace the C library's allocator are loaded with `LD_PRELOAD`; those that are not installed are skipped.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess

from report import duration, table
from steps import STEPS

LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
OFF = {"RAMIE_KEEP_BLOCKS": "0"}
PRELOADED = {"tcmalloc": "libtcmalloc_minimal.so.4", "mimalloc": "libmimalloc.so.2", "jemalloc": "libjemalloc.so.2"}
MODES = {"Ramie's blocks": {}, "C library": OFF,
         # What `mallopt` can set when a program starts: large blocks from the heap, which is never trimmed.
         "C library, tuned": OFF | {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}}
MODES |= {name: OFF | {"LD_PRELOAD": str(LIBRARIES / file)} for name, file in PRELOADED.items()
          if (LIBRARIES / file).exists()}


def measure(program, extra, workload, samples):
    """Runs a workload; returns its line with the page faults of the process."""
    command = [program, workload, "--samples", str(samples), "--steps", str(STEPS[workload])]
    process = subprocess.Popen(command, env=os.environ | extra, stdout=subprocess.PIPE, text=True)
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        raise SystemExit(f"{' '.join(command)} failed with {extra}")
    line = next(line for line in said.splitlines() if line.startswith("{"))
    return json.loads(line) | {"page_faults": usage.ru_minflt}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, metavar="FILE", help="binary of the benchmark `steps`")
    parser.add_argument("--least", metavar="FILE", help="binary with fewer functions replaced")
    parser.add_argument("--workloads", default="scalar,xor,digits,cnn,gpt,lstm", help="comma-separated names")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=5, help="samples per process")
    return parser.parse_args()


def main():
    args = arguments()
    modes = [(name, args.program, extra) for name, extra in MODES.items()]
    if args.least:
        modes.insert(1, ("fewest functions", args.least, {}))
    rows = []
    for workload in args.workloads.split(","):
        found = {name: [] for name, _, _ in modes}
        for number in range(args.rounds):
            turn = number % len(modes)
            for name, program, extra in modes[turn:] + modes[:turn]:
                line = measure(program, extra, workload, args.samples)
                found[name].append(line)
                print(json.dumps(line | {"allocator": name, "round": number}), flush=True)
        for name, lines in found.items():
            def middle(field):
                return statistics.median(line[field] for line in lines)

            rows.append([f"`{workload}`", name, duration(min(line["best_s"] for line in lines)),
                         duration(middle("median_s")), f"{middle('page_faults'):,.0f}", f"{middle('peak_rss_mb'):.0f} MB"])
    print(table(["workload", "allocator", "best step", "median step", "page faults", "peak memory"], rows))


if __name__ == "__main__":
    main()
