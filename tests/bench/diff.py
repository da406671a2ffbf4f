"""Part `diff`: SQLite compared with itself after lines were put in: what is found again, how long that takes; and whether runs of one
binary are called different."""
import json
import random
import re

from common import PERFMAP, TOP, WORK, call, cpu_s, output_and_memory, plugin
from costs import shell
from programs import source_of

FOLDER = WORK / "diff"


def put_in(source):
    """The text with lines put in between statements, always at the same places; and the new number of each line."""
    random.seed(7)
    lines, out, moved, in_comment = source.split("\n"), [], {}, False
    for number, line in enumerate(lines, 1):
        out.append(line)
        moved[number] = len(out)
        opened, closed = line.rfind("/*"), line.rfind("*/")
        in_comment = opened > closed or (in_comment and closed < 0)
        follows = lines[number] if number < len(lines) else "#"
        fits = line.startswith("  ") and line.rstrip().endswith(";") and not follows.lstrip().startswith("#")
        if fits and not in_comment and not lines[number - 2].rstrip().endswith("\\") and random.random() < 0.01:
            out += ["/* put in */"] * random.randint(1, 3)
    return "\n".join(out), moved


def measure(program, archive):
    with open(TOP / "examples/sqlite/workload.sql", encoding="utf-8") as script:
        call(PERFMAP, "run", "-o", archive, "--", program, "-batch", ":memory:", stdin=script)


def wrong_rows(rows, moved):
    """Rows of both sides that are of other lines; rows of one side whose construct the other build has, and is said not to have."""
    wrong = 0
    for row in rows:
        before, after = ([int(n) for n in re.findall(r"sqlite3\.c:(\d+)", row[side]["where"] or "")] for side in "ab")
        if before and after:
            wrong += sorted(moved[n] for n in before) != sorted(after)
        elif before or after:
            wrong += row["b" if before else "a"]["state"] == "no such construct"
    return wrong


def moved_lines(bench, before):
    amalgamation = source_of("sqlite") / "amalgamation"
    text, moved = put_in((amalgamation / "sqlite3.c").read_text(encoding="utf-8"))
    (FOLDER / "sqlite3.c").write_text(text, encoding="utf-8")
    call("cp", amalgamation / "shell.c", amalgamation / "sqlite3.h", FOLDER)
    call("gcc", "-O2", "-g", f"-fplugin={plugin()}", "shell.c", "sqlite3.c", "-o", "shell", "-lm", cwd=FOLDER)
    after = FOLDER / "moved.perfmap"
    measure(FOLDER / "shell", after)
    for by, most_s in (("function", 0.3), ("statement", 1.0)):
        seconds = min(cpu_s(PERFMAP, "diff", "--by", by, before, after) for _ in range(bench.number(5, 2)))
        bench.row(f"diff --by {by}, SQLite, lines put in", f"{seconds:.2f} s CPU", f"at most {most_s} s", seconds <= most_s, cpu_s=seconds)
    out, size = output_and_memory(PERFMAP, "diff", "--by", "statement", "--json", before, after)
    bench.row("diff --by statement, memory", f"{size / 2**20:.0f} MiB", "at most 64 MiB", size <= 64 * 2**20, bytes=size)
    said = json.loads(out)
    part = said["n_matched"] / said["n_constructs_in_functions"]
    bench.row("diff, constructs found again", f"{100 * part:.3f} % of {said['n_constructs_in_functions']}", "at least 99.9 %", part >= 0.999, part=part)
    wrong = wrong_rows(said["rows"], moved)
    bench.row("diff, rows matched wrongly", f"{wrong} of {len(said['rows'])}", "none", wrong == 0, n=wrong)


def equal_runs(bench, first):
    """Random halves of ten runs of one binary: in how many comparisons is some row called different?"""
    archives = [first, *(FOLDER / f"run{i}.perfmap" for i in range(1, 10))]
    for archive in archives[1:]:
        measure(WORK / "shell", archive)
    n_any, n = 0, bench.number(40, 5)
    random.seed(1)
    for _ in range(n):
        random.shuffle(archives)
        rows = json.loads(call(PERFMAP, "diff", "--by", "function", "--json", *archives[:5], "--", *archives[5:]))["rows"]
        n_any += any(row["verdict"] in ("slower", "faster") for row in rows)
    bench.row("diff, runs of one binary called different", f"{n_any} of {n} comparisons", "at most 5 %", n_any <= max(1, 0.05 * n), n=n_any, of=n)


def diff(bench):
    call("rm", "-rf", FOLDER)
    FOLDER.mkdir(parents=True)
    before = FOLDER / "before.perfmap"
    measure(shell(), before)
    moved_lines(bench, before)
    equal_runs(bench, before)
