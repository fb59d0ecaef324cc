"""Measures how times and memory grow with sizes, in Ramie and JAX, and draws `docs/pictures/scale.png`.

    pip install matplotlib
    python scale.py --program FILE                    # a binary of `cargo bench --bench steps --no-run`
    python scale.py --program FILE --kinds layers,batch
    python scale.py --lines FILE                      # draws and prints the lines of an earlier run

`layers_N` is `gpt` with N layers, `batch_N` with N sequences, `leaves_N` a call with N arrays, and `save_…` saves and
restores 16 arrays of N MiB in total, or N arrays of 1 KiB. Each size runs in a separate process; the growth is the
exponent of the size between the two last sizes, where 1 is linear. Orbax must be installed for `save_…`.
"""

import argparse
import json
import math
import pathlib
import sys

import report
from table import ROOT, run

SIZES = {"layers": (1, 2, 4, 8, 16, 32, 64, 96), "leaves": (10, 100, 1000, 10000), "batch": (1, 4, 16, 64, 256),
         "save_megabytes": (1, 4, 16, 64, 256, 1024), "save_arrays": (10, 100, 1000, 10000)}
# What is drawn: the kind, the field of the lines, the title, and the form of its values.
PANELS = [("layers", "trace_lower_s", "trace and lower, layers", report.duration),
          ("layers", "compile_s", "compile, layers", report.duration),
          ("leaves", "median_s", "call, arrays", report.duration),
          ("batch", "peak_rss_mb", "peak memory, sequences", report.megabytes),
          ("save_megabytes", "save_median_s", "save, MiB", report.duration),
          ("save_arrays", "save_median_s", "save, arrays", report.duration)]
FEW = ["--samples", "1", "--steps", "1", "--warmup", "1"]


def command(side, program, kind, size):
    """Returns the command that measures one size."""
    here = pathlib.Path(__file__).parent
    plan = ["--samples", "5"] if kind.startswith(("leaves", "save")) else FEW
    if side == "Ramie":
        return [program, f"{kind}_{size}", *plan]
    if not kind.startswith("save"):
        return [sys.executable, str(here / "steps.py"), "--client", "jaxlib", "--workloads", f"{kind}_{size}", *plan]
    arrays, elements = (size, 1 << 8) if kind == "save_arrays" else (16, size << 14)
    return [sys.executable, str(here / "checkpoint.py"), "--arrays", str(arrays), "--elements", str(elements), *plan]


def measure(program, kinds, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        for kind in kinds:
            for size in SIZES[kind]:
                for side in ("Ramie", "JAX"):
                    for line in run(command(side, program, kind, size), {}):
                        print(json.dumps({"kind": kind, "size": size, "side": side} | line), file=file, flush=True)
                        print(kind, size, side, line.get("failed") or line["median_s"], flush=True)


def series(lines, kind, field, side):
    return {line["size"]: line[field] for line in lines
            if line["kind"] == kind and line["side"] == side and field in line}


def growth(values):
    """Returns the exponent of the size between the two last sizes."""
    (x1, y1), (x2, y2) = sorted(values.items())[-2:]
    return math.log(y2 / y1) / math.log(x2 / x1)


def rows(lines):
    for kind, field, title, form in PANELS:
        ours, theirs = (series(lines, kind, field, side) for side in ("Ramie", "JAX"))
        for size in sorted(ours):
            last = size == max(ours) and len(ours) > 1
            other = theirs.get(size)
            grown = f"{growth(ours):.2f}, {growth(theirs):.2f}" if last and len(theirs) > 1 else ""
            yield [title, f"{size:,}", form(ours[size]), form(other) if other else "",
                   report.ratio(ours[size] / other) if other else "", grown]


def draw(lines, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 3, figsize=(10, 5.6))
    for axis, (kind, field, title, _) in zip(axes.flat, PANELS):
        for side, style in (("Ramie", "o-"), ("JAX", "s--")):
            values = sorted(series(lines, kind, field, side).items())
            axis.loglog([x for x, _ in values], [y for _, y in values], style, label=side, markersize=4)
        axis.set_title(title, fontsize=10)
        axis.set_ylabel("MB" if field.endswith("mb") else "seconds", fontsize=9)
        axis.grid(True, alpha=0.3)
    axes[0][0].legend(fontsize=9)
    figure.tight_layout()
    figure.savefig(path, dpi=90)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", metavar="FILE", help="binary of the benchmark `steps`; without it, nothing is measured")
    parser.add_argument("--kinds", default=",".join(SIZES), help="comma-separated names")
    parser.add_argument("--lines", type=pathlib.Path, default=ROOT / "out/scale.jsonl", help="file of JSON lines")
    parser.add_argument("--picture", type=pathlib.Path, default=ROOT / "docs/pictures/scale.png")
    args = parser.parse_args()
    if args.program:
        measure(args.program, args.kinds.split(","), args.lines)
    lines = [json.loads(line) for line in args.lines.read_text().splitlines()]
    head = ["", "size", "Ramie", "JAX", "ratio", "growth of Ramie, JAX"]
    print(report.table(head, rows(lines)))
    draw(lines, args.picture)


if __name__ == "__main__":
    main()
