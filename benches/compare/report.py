"""Creates the tables of `docs/performance.md` from the lines of a run."""

import statistics

BEGIN = "<!-- Written by benches/compare/table.py, up to the end mark. -->"
END = "<!-- The end of what benches/compare/table.py wrote. -->"

# The sides of the ratios, and frameworks that compile nothing.
COMPARED = {"ramie": "Ramie", "ramie_plugin": "Ramie, plugin", "jax_plugin": "JAX, plugin", "jax_jaxlib": "JAX, jaxlib"}
OTHERS = {"candle": "Candle", "burn": "Burn"}
SIDES = COMPARED | OTHERS
JAX = ("jax_plugin", "jax_jaxlib")
STEPS = ("scalar", "xor", "digits", "cnn", "gpt", "gpt2", "lstm", "sample",
         "leaves_10", "leaves_100", "leaves_1000", "leaves_10000")


def duration(seconds):
    """Formats a duration with a unit and three digits."""
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1 or unit == "µs":
            value = seconds * factor
            return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} {unit}"


def operations(count):
    for prefix, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= factor or prefix == "k":
            return f"{count / factor:.3g} {prefix}FLOP"


def percent(share):
    return f"{100 * share:.0f} %" if share >= 0.01 else "below 1 %"


def megabytes(value):
    return f"{value:.0f} MB"


def ratio(value):
    return f"{value:.{2 if value >= 0.1 else 3}f}"


def spread(values, form):
    """Formats the median of rounds; if there are several, with minimum and maximum."""
    middle = form(statistics.median(values))
    low, high = form(min(values)), form(max(values))
    if low == high:
        return middle
    # A common unit is written once.
    if low.split(" ")[1:] == high.split(" ")[1:]:
        low = low.split(" ")[0]
    return f"{middle} ({low} to {high})"


class Run:
    """The numbers of a run, by workload, side and round."""

    def __init__(self, lines):
        self.head = lines[0]
        self.lines = [line for line in lines if "round" in line]
        measured = {line["side"] for line in self.lines}
        self.compared = [side for side in COMPARED if side in measured]
        self.others = [side for side in OTHERS if side in measured]

    def rounds(self, workload, side, field):
        """Returns the values of a field by round, for rounds that have it."""
        return {line["round"]: line[field] for line in self.lines
                if line["workload"] == workload and line["side"] == side and field in line}

    def failure(self, workload, side):
        said = [line["failed"] for line in self.lines
                if line["workload"] == workload and line["side"] == side and "failed" in line]
        return said[-1] if said else None

    def cell(self, workload, side, field, form=duration):
        values = self.rounds(workload, side, field).values()
        if values:
            return spread(values, form)
        return "failed" if self.failure(workload, side) else ""

    def ratios(self, workload, field, sides):
        """Returns the ratio of Ramie to the best of other sides in each round."""
        ours = self.rounds(workload, "ramie", field)
        theirs = [self.rounds(workload, side, field) for side in sides]
        best = {n: min(t[n] for t in theirs if n in t) for n in ours if any(n in t for t in theirs)}
        return [ours[n] / best[n] for n in best]

    def ratio(self, workload, field, sides=JAX):
        """Returns a cell with the ratio of Ramie to the best of other sides."""
        values = self.ratios(workload, field, sides)
        return spread(values, ratio) if values else ""

    def gflops(self):
        """Returns the best rate and its line."""
        best = max((line for line in self.lines if "gflops" in line), key=lambda line: line["gflops"], default=None)
        return (best["gflops"], best) if best else (None, None)

    def flops(self, workload):
        counts = [n for side in JAX for n in self.rounds(workload, side, "flops").values()]
        return counts[0] if counts else None

    def has(self, workload):
        return any(line["workload"] == workload for line in self.lines)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def step_table(run):
    head = ["workload", *(SIDES[s] for s in run.compared), "ratio", *(SIDES[s] for s in run.others)]
    rows = [[f"`{w}`", *(run.cell(w, s, "median_s") for s in run.compared), run.ratio(w, "median_s"),
             *(run.cell(w, s, "median_s") for s in run.others)] for w in STEPS if run.has(w)]
    if run.others:
        head.append("ratio to the faster" if len(run.others) > 1 else "ratio")
        rows = [[*row, run.ratio(row[0].strip("`"), "median_s", run.others)] for row in rows]
    return "### Step time\n\n" + table(head, rows)


def limit_table(run):
    limit, line = run.gflops()
    if limit is None:
        return ""
    rows = []
    for workload in STEPS:
        ours, flops = run.rounds(workload, "ramie", "median_s").values(), run.flops(workload)
        theirs = [run.rounds(workload, side, "median_s").values() for side in JAX]
        best = min((statistics.median(t) for t in theirs if t), default=None)
        if not ours or not flops or not best:
            continue
        least = flops / limit / 1e9
        rows.append([f"`{workload}`", operations(flops), duration(least), percent(least / statistics.median(ours)),
                     percent(least / best)])
    who = {"numpy": "NumPy"}.get(line["side"], SIDES.get("jax_" + line["side"]))
    text = (f"The fastest product of two `f32` matrices in this run reached {limit:.0f} GFLOP/s ({who}, "
            f"{line['size']}×{line['size']}). The table shows how long a step would take if its matrix products and "
            "convolutions ran at this peak rate and everything else took no time:\n\n")
    return ("### Arithmetic limit\n\n" + text
            + table(["workload", "products", "time at peak rate", "Ramie, share of peak", "JAX, share of peak"], rows))


def start_table(run):
    rows = []
    for field, what in (("trace_lower_s", "trace and lower"), ("compile_s", "compile")):
        rows += [[f"{what} `{w}`", *(run.cell(w, s, field) for s in run.compared), run.ratio(w, field)]
                 for w in STEPS if run.has(w)]
    if run.has("trace"):
        rows.append(["trace and lower 24 layers of 1,024 (`trace`)",
                     *(run.cell("trace", s, "median_s") for s in run.compared), run.ratio("trace", "median_s")])
    if run.has("first_step"):
        for field, what in (("median_s", "warm"), ("empty_cache_s", "cold")):
            rows.append([f"process start to first `digits` step, {what}",
                         *(run.cell("first_step", s, field) for s in run.compared), run.ratio("first_step", field)])
    text = "\n" + start_of_others(run) if run.others and run.has("first_step") else ""
    return ("### Before the first step\n\n"
            + table(["", *(SIDES[s] for s in run.compared), "ratio"], rows) + text)


def start_of_others(run):
    """Frameworks that compile nothing have a single number."""
    cells = [(SIDES[side], run.cell("first_step", side, "median_s")) for side in run.others]
    said = [f"{name} after {cell}" for name, cell in cells if cell and cell != "failed"]
    return f"Frameworks that compile nothing finish the first `digits` step: {', '.join(said)}.\n" if said else ""


def memory_table(run):
    rows = [[f"`{w}`", *(run.cell(w, s, "peak_rss_mb", megabytes) for s in run.compared),
             run.ratio(w, "peak_rss_mb"), *(run.cell(w, s, "peak_rss_mb", megabytes) for s in run.others)]
            for w in STEPS if run.has(w)]
    head = ["workload", *(SIDES[s] for s in run.compared), "ratio", *(SIDES[s] for s in run.others)]
    return "### Peak memory\n\n" + table(head, rows)


def version_table(run):
    rows = [[name, found] for name, found in run.head["versions"].items()]
    rows.append(["load average before the run", f"{run.head['load']}"])
    return "### Versions and machine\n\n" + table(["", ""], rows)


def failures(run):
    found = {(line["workload"], line["side"]): line["failed"] for line in run.lines if "failed" in line}
    rows = [f"- `{workload}`, {SIDES.get(side, side)}: {said}" for (workload, side), said in found.items()]
    return "### Failures\n\n" + "\n".join(rows) + "\n" if rows else ""


def introduction(run):
    rounds = f"{run.head['rounds']} rounds" if run.head["rounds"] != 1 else "one round"
    return (f"Measured on {run.head['date']} in {rounds}, in which all libraries took turns, with "
            f"{run.head['samples']} samples of many steps per round. A time is the median of the rounds' medians, "
            "with their minimum and maximum in parentheses. `Ramie` runs its own CPU backend, and `plugin` is an XLA plugin. "
            "A ratio compares Ramie with the better of JAX's two clients in the same round; the tables show the "
            "median, minimum and maximum over the rounds.\n")


def tables(lines):
    run = Run(lines)
    parts = [introduction(run), step_table(run), limit_table(run), start_table(run), memory_table(run), failures(run),
             version_table(run)]
    return "\n".join(part for part in parts if part)


def replaced(document, text):
    """Returns the document with the text between the marks replaced."""
    before, rest = document.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{text}\n{END}{after}"
