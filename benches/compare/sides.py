"""The frameworks that `table.py` compares: how to build each and how to start its workloads."""

import json
import os
import pathlib
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

import report
from steps import PLUGIN, STEPS, default_library

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# The sides that load the XLA plugin.
WITH_PLUGIN = ("ramie_plugin", "jax_plugin")
# Cargo's arguments, and the directory in which it runs. Both sides of Ramie run one program.
BENCH = (ROOT, ["bench", "--bench", "steps", "--no-run"])
BUILDS = {"ramie": BENCH, "ramie_plugin": BENCH,
          "candle": (HERE / "candle", ["build", "--release", "--locked"]),
          "burn": (HERE / "burn", ["build", "--release", "--locked"])}
# `trace` does not depend on the client. Candle and Burn compile no calls, and have no caches for decoding.
OF_COMPILERS = {"sample", "leaves_10", "leaves_100", "leaves_1000", "leaves_10000"}
LACKS = {"ramie_plugin": {"trace"}, "jax_jaxlib": {"trace"}} | {side: {"trace"} | OF_COMPILERS for side in report.OTHERS}


def build(side):
    """Builds a side and returns its program, or None on failure. Cargo's output goes to the terminal."""
    folder, arguments = BUILDS[side]
    print(f"building {side} in {folder}", file=sys.stderr)
    command = ["cargo", *arguments, "--message-format", "json-render-diagnostics"]
    try:
        messages = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True).stdout
    except OSError as error:
        print(error, file=sys.stderr)
        return None
    programs = [json.loads(line).get("executable") for line in messages.splitlines()]
    return next((program for program in reversed(programs) if program), None)


def backend(side):
    """Returns the value of `RAMIE_PJRT_PLUGIN` for a side of Ramie."""
    return default_library() if side in WITH_PLUGIN else "ramie-cpu"


def command(side, program, workload, samples, faster):
    """Returns the command that prints a workload's line, and its additional environment variables.

    `faster`: the factor by which to reduce the number of steps per sample.
    """
    steps = max(1, STEPS.get(workload, 1) // faster)
    plan = ["--samples", str(samples)]
    if workload in STEPS:
        plan += ["--steps", str(steps)]
    if not side.startswith("jax"):
        extra = {"RAMIE_PJRT_PLUGIN": backend(side)} if side.startswith("ramie") else {}
        return [program, workload, *plan], extra
    client = ["--client", side.removeprefix("jax_")]
    if workload == "trace":
        return [sys.executable, str(HERE / "trace.py"), *client, *plan], {}
    chosen = ["--first-step"] if workload == "first_step" else ["--workloads", workload]
    return [sys.executable, str(HERE / "steps.py"), *client, *chosen, *plan], {}


def output(*arguments):
    return subprocess.run(arguments, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def locked(folder, package):
    """Returns the version of a package in a lock file."""
    blocks = (folder / "Cargo.lock").read_text().split("[[package]]")
    block = next(block for block in blocks if f'name = "{package}"\n' in block)
    return block.split('version = "')[1].split('"')[0]


def python_package(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def versions(sides):
    """Returns the versions of the measured libraries, and the machine."""
    changed = output("git", "status", "--porcelain", "--untracked-files=no", "--", ":!docs")
    model = next((line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), "unknown")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    commit = output("git", "log", "-1", "--format=%h of %cs")
    found = {"Ramie": f"commit {commit}" + (", changed since" if changed else "")}
    if any(side in WITH_PLUGIN for side in sides):
        found["plugin"] = f"{PLUGIN} {python_package(PLUGIN)}"
    found |= {name: python_package(name.lower()) for name in ("JAX", "jaxlib", "Flax", "Optax", "NumPy")}
    found |= {side.title(): locked(HERE / side, package)
              for side, package in (("candle", "candle-core"), ("burn", "burn")) if side in sides}
    found["rustc"] = output("rustc", "--version").removeprefix("rustc ")
    found["Python"] = sys.version.split()[0]
    found["machine"] = f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB"
    return found
