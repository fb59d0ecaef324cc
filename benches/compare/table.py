"""Measures Ramie (with its own backend and with the XLA plugin), JAX, Candle and Burn in turns, and writes the tables of `docs/performance.md`.

    python table.py                                # everything: builds, measures, writes
    python table.py --without candle,burn          # excludes frameworks
    python table.py --quick --workloads digits     # quick check: one round of few steps, writes nothing
    python table.py --lines FILE --write           # rewrites the tables from the lines of an earlier run

In each round, all frameworks take turns in each workload, each in a separate process, starting with another
one each time. The output of the processes is stored in a file of JSON lines. README.md describes the protocol.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import report

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Mean duration of a process in seconds, to estimate the duration of a run.
WORKLOADS = {"scalar": 2, "xor": 2, "digits": 4, "cnn": 10, "gpt": 14, "gpt2": 40, "lstm": 14, "sample": 6,
             "leaves_10": 2, "leaves_100": 3, "leaves_1000": 6, "leaves_10000": 60, "trace": 6, "first_step": 6}
# Workloads of three samples per process.
FEW = ("gpt2", "trace", "first_step")
LIMIT_SECONDS = 12
TIMEOUT = 300


def run(command, extra):
    """Returns the JSON lines that a command prints, or a line with the error."""
    try:
        done = subprocess.run(command, env=os.environ | extra, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return [{"failed": f"took more than {TIMEOUT} s"}]
    except OSError as error:
        return [{"failed": str(error)}]
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        return [{"failed": said[-1]}]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def shown(line):
    """Formats a line of the record for the terminal."""
    if "failed" in line:
        return "failed: " + line["failed"]
    if "gflops" in line:
        return f"{line['gflops']:.0f} GFLOP/s, size {line['size']}"
    return report.duration(line["median_s"])


class Record:
    """The lines of a run, which are also written to a file immediately."""

    def __init__(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file, self.lines = open(path, "w"), []

    def add(self, line):
        self.lines.append(line)
        print(json.dumps(line), file=self.file, flush=True)
        if "round" in line:
            name = f"{line['round']}  {line['workload']:<11}{line['side']:<13}"
            print(f"{time.strftime('%H:%M:%S')}  round {name}{shown(line)}", flush=True)


def measure_limit(record, number, clients):
    script = str(pathlib.Path(__file__).with_name("limit.py"))
    for client in clients:
        for line in run([sys.executable, script, "--client", client], {}):
            record.add({"round": number, "side": client, "workload": "matmul"} | line)


def measure(args, record, programs):
    """Runs all rounds. `programs`: the programs of the frameworks that were built."""
    from sides import LACKS, command

    clients = ["numpy"] + [side.removeprefix("jax_") for side in args.sides if side.startswith("jax_")]
    begin = time.monotonic()
    for number in range(1, args.rounds + 1):
        measure_limit(record, number, clients)
        turn = (number - 1) % len(args.sides)
        for workload in args.workloads:
            for side in args.sides[turn:] + args.sides[:turn]:
                if workload in LACKS.get(side, ()):
                    continue
                samples = min(args.samples, 3) if workload in FEW else args.samples
                arguments, extra = command(side, programs.get(side), workload, samples, 5 if args.quick else 1)
                lines = run(arguments, extra) if arguments[0] else [{"failed": "was not built"}]
                for line in lines:
                    record.add({"round": number, "side": side, "workload": workload} | line)
        spent = time.monotonic() - begin
        left = spent / number * (args.rounds - number)
        print(f"round {number} of {args.rounds} finished after {spent:.0f} s; about {left:.0f} s left", flush=True)


def names(text):
    return [name for name in text.split(",") if name]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=6, help="samples per process (3 for gpt2, trace and first_step)")
    parser.add_argument("--workloads", type=names, default=list(WORKLOADS), help="comma-separated names")
    parser.add_argument("--without", type=names, default=[], help="frameworks to exclude, out of: " + ", ".join(report.SIDES))
    parser.add_argument("--program", action="append", default=[], metavar="SIDE=FILE",
                        help="existing binary of ramie, candle or burn")
    parser.add_argument("--quick", action="store_true", help="quick check: one round, two samples, a fifth of the steps; writes nothing")
    parser.add_argument("--lines", type=pathlib.Path, default=ROOT / "out/compare.jsonl", help="file of JSON lines")
    parser.add_argument("--write", action="store_true", help="only rewrite the tables from the file of JSON lines")
    parser.add_argument("--into", type=pathlib.Path, default=ROOT / "docs/performance.md", help="document to update")
    args = parser.parse_args()
    for wrong in [w for w in args.workloads if w not in WORKLOADS] + [s for s in args.without if s not in report.SIDES]:
        parser.error(f"unknown name: {wrong}")
    args.program = dict(pair.split("=", 1) for pair in args.program)
    args.program.setdefault("ramie_plugin", args.program.get("ramie"))
    args.sides = [side for side in report.SIDES if side not in args.without]
    if args.quick:
        args.rounds, args.samples = 1, 2
    return args


def measured(args):
    """Builds and measures; returns the lines."""
    from sides import BUILDS, LACKS, build, versions

    programs = {side: args.program.get(side) or build(side) for side in BUILDS if side in args.sides}
    turns = [(w, s) for w in args.workloads for s in args.sides if w not in LACKS.get(s, ())]
    seconds = args.rounds * (LIMIT_SECONDS + sum(WORKLOADS[workload] for workload, _ in turns))
    how = "less than " if args.quick else "about "
    print(f"{args.rounds} times {len(turns)} processes: {how}{seconds / 60:.0f} minutes on two idle cores", flush=True)
    record = Record(args.lines)
    load = os.getloadavg()[0]
    if load > 0.5 * os.cpu_count():
        print(f"warning: the load average is {load:.1f}; times will be too long", flush=True)
    record.add({"versions": versions(args.sides), "date": time.strftime("%Y-%m-%d"), "load": round(load, 2),
                "rounds": args.rounds, "samples": args.samples})
    measure(args, record, programs)
    return record.lines


def main():
    args = arguments()
    if args.write:
        lines = [json.loads(line) for line in args.lines.read_text().splitlines()]
    else:
        lines = measured(args)
    tables = report.tables(lines)
    if args.quick:
        print(tables)
        return
    args.into.write_text(report.replaced(args.into.read_text(), tables))
    print(f"wrote {args.into}")


if __name__ == "__main__":
    main()
