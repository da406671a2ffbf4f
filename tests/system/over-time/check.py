"""check.py PERFMAP ARCHIVE TRUTH: intervals of the phases that a program told have what it told, and parts add up to rows."""
import json
import subprocess
import sys

perfmap, archive, truth = sys.argv[1:4]
POINTS = 3


def report(*options):
    done = subprocess.run([perfmap, "report", "--json", *options, archive], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


phases, cpu = {}, {}
for line in open(truth):
    words = line.split()
    if words[0] == "phase":
        phases[words[1]] = int(words[2]), int(words[3])
    elif words[0] == "cpu":
        cpu.setdefault(words[1], {})[words[2]] = int(words[3])
assert set(phases) == set(cpu) == {"first", "second", "forked", "executed", "killed"}, (phases, cpu)

whole = report("--by", "function")
start = whole["execution"]["start_realtime_ns"]
n_wrong = 0


def wrong(text):
    global n_wrong
    n_wrong += 1
    print("wrong:", text)


def function_of(row):
    return row["nouns"][0]["name"] if row["nouns"] and row["nouns"][0].get("name") else row["what"]


def by_path(view):
    """Rows by their keys, those of a tree with the keys above."""
    paths, found = {None: ""}, {}
    for row in view["rows"]:
        path = paths[row.get("parent")] + "/" + row["key"]
        if "id" in row:
            paths[row["id"]] = path
        found[path] = row
    return found


def close(what, got, expected):
    if abs(got - expected) > POINTS:
        wrong(f"{what}: {got:.1f}, expected {expected:.1f}")


for name, (begin, end) in sorted(phases.items()):
    view = report("--by", "function", "--from", f"{begin - start}ns", "--to", f"{end - start}ns", "--metric", "cpu_ns")
    had = {}
    for row in view["rows"]:
        had[function_of(row)] = had.get(function_of(row), 0) + row["own_cpu_ns"]
    all_ns = sum(had.get(f, 0) for f in [f for p in cpu.values() for f in p])
    expected_ns = sum(cpu[name].values())
    for function, ns in cpu[name].items():
        close(f"{name}: share of {function}", 100 * had.get(function, 0) / (all_ns or 1), 100 * ns / expected_ns)
    # of a phase that was killed the program knows what was done some milliseconds before
    if name != "killed" and abs(all_ns - expected_ns) > 0.1 * expected_ns:
        wrong(f"{name}: {all_ns / 1e6:.1f} ms, expected {expected_ns / 1e6:.1f}")
    if view["view"]["from_ns"] != begin - start or "wall_ns" not in view["view"]["metrics_without_times"]:
        wrong(f"{name}: interval {view['view']}")

# What is before the first phase, and between the first two, is nothing.
between = report("--by", "function", "--from", f"{phases['first'][1] - start + 5000000}ns", "--to",
                 f"{phases['second'][0] - start - 5000000}ns", "--metric", "cpu_ns")
if between["total"]["own_cpu_ns"] > 5e6:
    wrong(f"between the phases: {between['total']['own_cpu_ns']} ns")

# Parts of all the run add up to its rows, but for what has no time.
for options in (["--by", "function"], ["--by", "loop"], ["--by", "statement"], ["--by", "thread"], ["--by", "process"],
                ["--by", "function", "--tree"], ["--by", "machine"], ["--by", "function", "--metric", "n_samples"],
                ["--by", "function", "--focus", "func:main"], ["--by", "statement", "--rule", "split"],
                ["--by", "function", "--on", "thread:*"], ["--by", "function", "--metric", "waiting_ns"]):
    view = report("--over-time", "37", *options)
    over = view["view"]["over_time"]
    if "waiting_ns" in options and whole["execution"]["mode"] == "exact":
        continue  # a wait is then where its wall time is, which an interval does not have
    timed = report("--from", "0s", *options)
    metric = over["metric"]
    in_time = by_path(timed)
    for path, row in by_path(view).items():
        again = in_time.get(path, {})
        parts = sum(row["own_over_time"])
        rest = row.get("own_" + metric, parts) - parts  # exact wall times have none
        if rest < 0 or parts != again.get("own_" + metric, 0):
            wrong(f"{options} {row['what']}: parts {parts}, rest {rest}, from 0: {again.get('own_' + metric)}")
        if "--tree" in options and sum(row["inclusive_over_time"]) != again.get("inclusive_" + metric, 0):
            wrong(f"{options} {row['what']}: inclusive")
    # the start of processes, and their ends
    if over["without_time_pct"] > 5:
        wrong(f"{options}: {over['without_time_pct']:.2f} % of {metric} have no time")
    if sum(view["total"]["own_over_time"]) != timed["total"]["own_" + metric]:
        wrong(f"{options}: total {view['total']}, from 0 {timed['total']}")

sys.exit(n_wrong != 0)
