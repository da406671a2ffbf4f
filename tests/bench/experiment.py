"""Part `experiment`: a thousand archives of SQLite in one experiment, made of one by changing its costs: how long adding, comparing and
trends take, how large the file is; and whether halves of twenty real runs of one binary are called different."""
import json
import os
import random
import sqlite3

from common import PERFMAP, WORK, call, cpu_s, output_and_memory
from costs import shell
from diff import measure

FOLDER = WORK / "experiment"
BATCH = 20


def vary(path, factor):
    """Other costs: each somewhat, all of them by the factor."""
    db = sqlite3.connect(path)
    metric = db.execute("SELECT id FROM metrics WHERE name = 'cpu_ns'").fetchone()[0]
    for thread, context, text in db.execute("SELECT thread, context, list FROM cost_lists WHERE metric = ?", (metric,)).fetchall():
        values = [int(value * factor * random.uniform(0.9, 1.1)) for value in json.loads(text)]
        db.execute("UPDATE cost_lists SET list = ? WHERE thread = ? AND metric = ? AND context = ?", (json.dumps(values, separators=(",", ":")), thread, metric, context))
    db.commit()
    db.close()


def make(first, number):
    """Archives that differ; from three fifths on 5 % more costs. In the end their sizes and times stay, and their bytes do not: nobody
    reads them again, and a thousand take 12 GB."""
    archives = []
    for i in range(first, min(first + BATCH, number)):
        archives.append(FOLDER / f"v{i}.perfmap")
        call("cp", FOLDER / "base.perfmap", archives[-1])
        vary(archives[-1], random.gauss(1, 0.01) * (1.05 if i >= number * 3 // 5 else 1))
    return archives


def empty(path):
    stat = os.stat(path)
    os.truncate(path, 0)
    os.truncate(path, stat.st_size)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def fill(experiment, number):
    """CPU seconds for each archive."""
    seconds = 0
    for first in range(0, number, BATCH):
        archives = make(first, number)
        seconds += cpu_s(PERFMAP, "experiment", "add", experiment, *archives)
        for archive in archives:
            empty(archive)
    call(PERFMAP, "experiment", "set", f"{experiment}?member<={number // 2}", "side=old")
    call(PERFMAP, "experiment", "set", f"{experiment}?member>{number // 2}", "side=new")
    step = number // 50
    for i in range(50):
        call(PERFMAP, "experiment", "set", f"{experiment}?member>{i * step}&member<={(i + 1) * step}", f"commit={i}")
    return seconds / number


def large(bench):
    number = bench.number(1000, 100)
    experiment = FOLDER / "large.perfexp"
    call(PERFMAP, "experiment", "create", experiment)
    each = fill(experiment, number)
    bench.row(f"experiment add, {number} archives of 12 MB", f"{each:.2f} s CPU each", "at most 0.15 s", each <= 0.15, cpu_s=each)
    size = experiment.stat().st_size
    bench.row(f"experiment file, {number} members", f"{size / 1e6:.1f} MB", "at most 40 MB", size <= 40e6, bytes=size)
    sides = (f"{experiment}?side=old", f"{experiment}?side=new")
    for what, command in (("diff of two halves", ("diff", "--by", "statement", *sides)),
                          ("trend", ("experiment", "trend", experiment, "--by", "commit", "--rows", "statement"))):
        seconds = cpu_s(PERFMAP, *command)
        bench.row(f"{what}, {number} members, statements", f"{seconds:.2f} s CPU", "at most 2 s", seconds <= 2, cpu_s=seconds)
        _, memory = output_and_memory(PERFMAP, *command)
        bench.row(f"{what}, memory", f"{memory / 2**20:.0f} MiB", "at most 256 MiB", memory <= 2**28, bytes=memory)


def found(bench):
    said = json.loads(call(PERFMAP, "experiment", "trend", FOLDER / "large.perfexp", "--by", "commit", "--json"))
    at = [change["value"] for change in said["total"]["changes"]]
    bench.row("trend, 5 % more from commit 30 of 50 on", "changes at " + (", ".join(at) or "none"), "30", at == ["30"], at=at)


def equal_runs(bench):
    """Of what is kept, so that hundreds of comparisons take seconds."""
    n_runs, n = bench.number(20, 8), bench.number(200, 20)
    experiment = FOLDER / "equal.perfexp"
    call(PERFMAP, "experiment", "create", experiment)
    for i in range(n_runs):
        measure(WORK / "shell", FOLDER / f"run{i}.perfmap")
    call(PERFMAP, "experiment", "add", experiment, *(FOLDER / f"run{i}.perfmap" for i in range(n_runs)))
    random.seed(3)
    members = list(range(1, n_runs + 1))
    n_any = 0
    for _ in range(n):
        random.shuffle(members)
        sides = ["|".join(map(str, half)) for half in (members[: n_runs // 2], members[n_runs // 2 :])]
        rows = json.loads(call(PERFMAP, "diff", "--json", *(f"{experiment}?member={side}" for side in sides)))["rows"]
        n_any += any(row["verdict"] in ("slower", "faster") for row in rows)
    bench.row(f"diff of {n_runs} runs of one binary in halves, called different", f"{n_any} of {n} comparisons", "at most 5 %", n_any <= max(1, 0.05 * n), n=n_any, of=n)


def experiment(bench):
    call("rm", "-rf", FOLDER)
    FOLDER.mkdir(parents=True)
    measure(shell(), FOLDER / "base.perfmap")
    random.seed(2)
    large(bench)
    found(bench)
    equal_runs(bench)
