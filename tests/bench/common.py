"""What all parts of the bench share: running things, turns, statistics, and the rows that come out."""
import functools
import json
import math
import os
import pathlib
import platform
import re
import resource
import statistics
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("PERFMAP_BUILD", TOP / "build/release"))
WORK = pathlib.Path(os.environ.get("PERFMAP_BENCH", TOP / "build/bench"))
PERFMAP = BUILD / "bin/perfmap"
RUNTIME = BUILD / "runtime/libperfmap-rt.so"


class Bench:
    """Settings of this run and its results."""

    def __init__(self, quick, thorough=False):
        self.quick, self.thorough = quick, thorough
        self.rows = []  # what was measured, each with its bound
        self.peers = {}  # (tool, mode) -> column -> text
        self.values = {}  # name -> number or numbers, for comparing two runs
        self.parts_s = {}  # how long each part took
        self.failed = {}  # part, or what of it -> why

    def number(self, full, quick, thorough=None):
        return quick if self.quick else thorough if self.thorough and thorough is not None else full

    def row(self, what, figure, bound="", verdict="", **values):
        """verdict: True, False, or a word."""
        word = {True: "kept", False: "over"}.get(verdict, verdict)
        self.rows.append((what, figure, bound, word))
        self.values[what] = values
        say(f"{what}: {figure}{' — ' + word if word else ''}")

    def fail(self, what, error):
        """It could not be measured; everything else is."""
        self.failed[what] = reason(error)
        self.rows.append((what, f"failed: {self.failed[what]}", "", "failed"))
        say(f"{what} failed: {self.failed[what]}")

    def peer(self, tool, mode, column, text, **values):
        self.peers.setdefault((tool, mode), {})[column] = text
        self.values[f"{tool}, {mode}, {column}"] = values
        say(f"{tool}, {mode}: {column}: {text}")


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def call(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, text=True, capture_output=True, **more).stdout


def reason(error):
    """One line that says what went wrong."""
    if isinstance(error, subprocess.CalledProcessError):
        told = (error.stderr or error.stdout or "").strip().splitlines()
        return f"{' '.join(map(str, error.cmd))[:200]}: exit status {error.returncode}{': ' + told[-1][:200] if told else ''}"
    return f"{type(error).__name__}: {error}"[:400]


@functools.cache
def plugin():
    return call(PERFMAP, "plugin-path").strip()


def cpu_s(*command, **more):
    """User and system CPU time of a command with its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call(*command, **more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def wall_and_cpu_s(*command, **more):
    start = time.monotonic()
    cpu = cpu_s(*command, **more)
    return time.monotonic() - start, cpu


def output_and_memory(*command, env=None):
    """Standard output, and the largest resident set of the command or one of its children in bytes."""
    helper, result = WORK / "maxrss", WORK / "maxrss.txt"
    if not helper.exists():
        call("gcc", "-O2", HERE / "maxrss.c", "-o", helper)
    # LD_PRELOAD is for the command, not for the helper.
    preload = [f"LD_PRELOAD={env['LD_PRELOAD']}"] if env and "LD_PRELOAD" in env else []
    quiet = {key: value for key, value in (env or os.environ).items() if key != "LD_PRELOAD"}
    out = call(helper, result, *(["env", *preload] if preload else []), *command, env=quiet)
    return out, int(result.read_text(encoding="utf-8"))


def size_bytes(path):
    path = pathlib.Path(path)
    if path.is_file():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file() and not file.is_symlink())


def shortest_in_turns(turns, measures):
    """measures: name -> function that returns a time. The shortest of each, and all of them, over A B A B ..."""
    seen = {name: [] for name in measures}
    for _ in range(turns):
        for name, measure in measures.items():
            seen[name].append(measure())
    return {name: min(times) for name, times in seen.items()}, seen


def trimmed(values, share=0.1):
    """Mean without the lowest and highest tenth, and its standard error (Tukey and McLaughlin: of the sample with these drawn in): the few that
    other work on the machine spoilt do not count."""
    ordered, n = sorted(values), len(values)
    cut = int(share * n)
    if n - 2 * cut < 2:
        return statistics.fmean(values), math.inf
    drawn_in = [ordered[cut]] * cut + ordered[cut:n - cut] + [ordered[n - cut - 1]] * cut
    return statistics.fmean(ordered[cut:n - cut]), statistics.stdev(drawn_in) / ((1 - 2 * cut / n) * math.sqrt(n))


def judge(growth, error, bound):
    """Is a growth within its bound? Two standard errors each way must agree, else the measurement does not say."""
    if growth + 2 * error <= bound:
        return True
    return False if growth - 2 * error > bound else "not shown"


def is_clear(ratios, bound):
    """Have enough ratios been measured to say whether their growth is within its bound? Three standard errors are asked for, not the two that are judged by, for
    it is asked again and again."""
    mean, error = trimmed(ratios)
    return abs(mean - 1 - bound) > 3 * error


def percent(growth):
    return f"{100 * growth:+.1f} %"


def machine():
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    load = pathlib.Path("/proc/loadavg").read_text(encoding="utf-8").split()[0]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"date": time.strftime("%Y-%m-%d"), "processor": model[1] if model else platform.machine(), "n_cores": os.cpu_count(),
            "memory_gib": round(memory), "kernel": platform.release(), "load_at_start": load}


def version(*command):
    """The first thing like a version that a tool says of itself; "-" when there is no such tool."""
    try:
        done = subprocess.run(command, text=True, capture_output=True, check=False)
    except OSError:
        return "-"
    match = re.search(r"\d+\.\d+[\w.]*", done.stdout + done.stderr)
    return match[0] if match else "?"


def versions():
    tools = {"perfmap": (str(PERFMAP), "--version"), "gcc": ("gcc", "-dumpfullversion"), "clang-19": ("clang-19", "--version"), "uftrace": ("uftrace", "--version"),
             "perf": ("perf", "--version"), "gprof": ("gprof", "--version"), "valgrind": ("valgrind", "--version"), "lld": ("ld.lld", "--version")}
    return {name: version(*command) for name, command in tools.items()}


def table(head, rows, markdown):
    if markdown:
        lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
        return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in [head, *rows]]
    return "\n".join([lines[0], "-" * len(max(lines, key=len)), *lines[1:]])


COLUMNS = ("ns a pair", "SQLite", "Lua", "bzip2", "C++", "bytes per million events", "memory", "report")


def print_results(bench, about, markdown):
    facts = about["machine"]
    print(f"{facts['date']}, {facts['processor']}, {facts['n_cores']} cores, {facts['memory_gib']} GiB, Linux {facts['kernel']}, "
          f"load {facts['load_at_start']} at the start and {about['load_at_end']} at the end{', quick' if bench.quick else ''}.")
    print(", ".join(f"{name} {word}" for name, word in about["versions"].items()) + ".")
    print("Minutes: " + ", ".join(f"{part} {seconds / 60:.1f}" for part, seconds in bench.parts_s.items()) + ".\n")
    if bench.rows:
        print(table(("what", "figure", "bound", ""), bench.rows, markdown))
    if bench.peers:
        columns = [column for column in COLUMNS if any(column in cells for cells in bench.peers.values())]
        rows = [(tool, mode, *(cells.get(column, "") for column in columns)) for (tool, mode), cells in bench.peers.items()]
        print("\n" + table(("tool", "mode", *columns), rows, markdown))


def write_json(bench, about, path):
    """Whole at any time: it is written after each part."""
    fresh = path.with_name(path.name + ".new")
    with open(fresh, "w", encoding="utf-8") as file:
        json.dump({**about, "quick": bench.quick, "parts_s": bench.parts_s, "failed": bench.failed, "values": bench.values}, file, indent=1)
        file.write("\n")
    fresh.replace(path)


def print_comparison(before_path, after_path):
    """Two files that --json wrote: every number that both have, and what became of it."""
    before, after = (json.loads(pathlib.Path(path).read_text(encoding="utf-8")) for path in (before_path, after_path))
    rows = []
    for what, values in after["values"].items():
        for key, b in values.items():
            a = before["values"].get(what, {}).get(key)
            if isinstance(a, (int, float)) and isinstance(b, (int, float)):
                rows.append((what, key, f"{a:.4g}", f"{b:.4g}", f"{b / a:.2f}" if a else ""))
    print(table(("what", "value", "before", "after", "after / before"), rows, False))
