"""check.py PERFMAP ARCHIVE WHAT OUTPUT: is level OpenMP what the program does?

WHAT is gcc, clang (constructs.c; OUTPUT has its own clocks) or fortran (sweep.f90). Two threads, three rounds. The line is that of the construct's
pragma, or of the statement behind it, as the compiler has it.
"""
import json
import re
import subprocess
import sys

perfmap, archive, what, output = sys.argv[1:]
METRICS = ["omp_wait_ns", "omp_chunks", "omp_iterations", "n_calls"]


def run(*words):
    return json.loads(subprocess.run([perfmap, *words, archive], check=True, capture_output=True, text=True).stdout)


report = run("report", "--level", "OpenMP", "--limit", "0", "--json", "--metric", ",".join(METRICS))
rows = [row for row in report["rows"] if all(noun["level"] == "OpenMP" for noun in row["nouns"])]
for row in rows:  # without the plugin GCC gives some no place: then they have an address
    row["what"] = re.sub(r" at 0x[0-9a-f]+", "", row["what"])
bad = 0


def fail(*words):
    global bad
    bad += 1
    print("check.py:", *words, file=sys.stderr)


def total(name, verb, metric):
    key = "n_calls" if metric == "n_calls" else "own_" + metric
    return sum(row[key] for row in rows if row["what"] == f"{name} {verb}")


def expect(name, verb, n_calls, chunks=None, iterations=None):
    for metric, wanted in (("n_calls", n_calls), ("omp_chunks", chunks), ("omp_iterations", iterations)):
        found = total(name, verb, metric)
        if wanted is not None and found != wanted:
            fail(f"{metric} of {{{name} {verb}}} is {found}, not {wanted}")


def expect_lines(name, lines):
    """Each pair: the pragma's line, and that of its statement."""
    found = sorted({row["nouns"][0]["line_no"] for row in rows if row["nouns"][0]["name"] == name})
    if len(found) != len(lines) or any(not low <= line <= high for line, (low, high) in zip(found, sorted(lines))):
        fail(f"'{name}' is at {found}, not {lines}")


def line_of(text, nth=0):
    with open(sys.path[0] + "/" + ("sweep.f90" if what == "fortran" else "constructs.c")) as file:
        lines = [number + 1 for number, line in enumerate(file) if text in line]
    return lines[nth], lines[nth] + 1


def waits():
    """Within 3 ms and 2 % of the program's own clocks, of all threads together; more where others had the processor, which may be between two clocks."""
    slack = 3e6 + sum(8e6 * int(line.split()[1]) for line in open(output) if line.startswith("switches "))
    own = {line.split()[1]: [int(word) for word in line.split()[2:]] for line in open(output) if line.startswith("wait ")}
    for key, name, verb in (("barrier", "barrier in regions", "Barrier"), ("end", "barrier of parallel in regions", "Barrier"),
                            ("critical", "totals", "Acquire"), ("lock", "door", "Acquire")):
        found, (least, most) = total(name, verb, "omp_wait_ns"), own[key]
        if not least * 0.98 - slack <= found <= most * 1.02 + slack:
            fail(f"waiting in {name} was {found / 1e6} ms, the program says {least / 1e6} to {most / 1e6}")


def constructs():
    is_clang = what == "clang"
    expect("parallel in regions", "Parallel", 6)
    expect("barrier in regions", "Barrier", 6)
    expect("barrier of parallel in regions", "Barrier", 6)
    expect_lines("parallel in regions", [line_of("#pragma omp parallel num_threads(2)")])
    expect_lines("barrier in regions", [line_of("#pragma omp barrier")])
    expect("parallel in loops", "Parallel", 12)
    expect("loop in loops", "Loop", 24, 3 * (15 + 30 + 10 + 6), 3 * (100 + 30 + 90 + 21))
    expect("barrier of loop in loops", "Barrier", 12)
    expect_lines("loop in loops", [line_of(f"schedule({text}") for text in ("dynamic, 7", "dynamic) no", "dynamic, 9", "dynamic, 4")])
    expect("parallel in even", "Parallel", 6)
    # GCC divides these without a call. Where the loop is the region's last, GCC leaves its barrier to the region.
    expect("loop in even", "Loop", 12, 6 + 3 * 13, 600)
    expect("barrier of loop in even", "Barrier", 12 if is_clang else 6)
    expect_lines("loop in even", [line_of("schedule(static)"), line_of("schedule(static, 8)")])
    expect("loop in turns", "Loop", 2, 12, 12)
    expect("ordered in turns", "Ordered", 12)
    expect("ordered in turns", "Acquire", 12)
    for name in ("totals", "(unnamed critical)"):
        expect(name, "Critical", 6)
        expect(name, "Acquire", 6)
    expect("door", "Acquire", 6)
    expect_lines("door", [line_of("static omp_lock_t door")])
    expect("gate", "Acquire", 3)
    expect("lock in make_lock", "Acquire", 20)
    expect_lines("lock in make_lock", [line_of("omp_init_lock(lock)")])
    expect("sections in parts", "Sections", 2, 3)
    expect("single in parts", "Single", 4)
    expect("master in locks", "Masked", 1)
    expect("task in creator", "Create", 41)
    expect("task in creator", "Task", 41)
    expect("taskwait in creator", "TaskWait", 1)
    expect("task in fib", "Create", 176)
    expect("task in fib", "Task", 176)
    expect("taskwait in fib", "TaskWait", 88)
    expect("task in groups", "Task", 2)
    expect("taskloop in groups", "Create", 1)
    expect("taskloop in groups", "Task", 5)
    expect("parallel in others", "Parallel", 1 + 2 + 2 + 2 + 2)
    expect("parallel in cancelled", "Parallel", 6)
    answer = run("ask", "--json", "{creator Executes}, {leaf Executes}")
    found = sum(row["n_times"] for row in answer["rows"])
    if found != 41:
        fail("leaf was done", found, "times for creator, not 41")
    waits()


def fortran():
    expect("parallel in m::sweep", "Parallel", 6)
    expect("loop in m::sweep", "Loop", 6, 3 * 15, 300)
    expect("totals", "Critical", 6)
    expect("m::door", "Acquire", 6)
    expect("task in m::sweep", "Create", 30)
    expect("task in m::sweep", "Task", 30)
    expect("taskwait in m::sweep", "TaskWait", 3)
    expect("single in m::sweep", "Single", 3)
    expect_lines("parallel in m::sweep", [line_of("!$omp parallel")])


# A loop's code leaves it behind the last call, with which Loop has ended.
for warning in report["warnings"]:
    if "without an entry" in str(warning):
        fail(warning)
fortran() if what == "fortran" else constructs()
sys.exit(bad != 0)
