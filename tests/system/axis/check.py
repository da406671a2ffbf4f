"""check.py PERFMAP ARCHIVE TRUTH KIND N: is what `report --axis KIND` says of burn what the locations' own clocks say, with N locations in all, and
exactly what `report --by KIND` says of each?"""

import json
import subprocess
import sys

perfmap, archive, truth_file, kind, n_all = sys.argv[1:6]
n_all = int(n_all)


def report(*options):
    return json.loads(subprocess.run([perfmap, "report", "--json", *options, archive], check=True, capture_output=True, text=True).stdout)


def near(name, told, truth, most):
    assert abs(told - truth) <= most, f"{name}: {told:.1f}, by the program's own clocks {truth:.1f}"


# The program may print beside what its launcher says.
truth = {int(a): float(b) for a, b in (line.split() for line in open(truth_file) if len(line.split()) == 2)}
told = report("--tree", "--by", "function", "--axis", kind)
assert told["view"]["axis"]["kind"] == kind and told["view"]["axis"]["n_locations"] == n_all, told["view"]
rows = [row for row in told["rows"] if row["what"] == "burn"]
assert len(rows) == 1, [row["what"] for row in told["rows"]]
row = rows[0]
zero = [0] if n_all > len(truth) else []
for name, value in (
    ("min", min(list(truth.values()) + zero)),
    ("average", sum(truth.values()) / n_all),
    ("max", max(truth.values())),
):
    near(name, row[f"{name}_cpu_ns"] / 1e6, value, 8 + 0.04 * value)
near("imbalance", row["imbalance_pct"], 100 * (max(truth.values()) * n_all / sum(truth.values()) - 1), 6 + 0.06 * row["imbalance_pct"])
assert row["n_locations_with_cost"] == len(truth), row
assert row["max_location"] == max(truth, key=truth.get), (row, truth)

# The same costs, one location at a time.
of = {}
for other in report("--by", kind, "--focus", "func:burn")["rows"]:
    of[other["thread"]["tid"] if kind == "thread" else other["rank"]] = other["own_cpu_ns"]
assert of.keys() == truth.keys(), (of, truth)
costs = list(of.values()) + [0] * (n_all - len(of))
assert row["min_cpu_ns"] == min(costs) and row["max_cpu_ns"] == max(costs), (row, of)
assert abs(row["average_cpu_ns"] - sum(costs) / n_all) < 1, (row, of)

# All that is in no location is said.
everything = report("--by", kind)["rows"]
without = sum(other["own_cpu_ns"] for other in everything if (other["rank"] is None if kind == "rank" else other["process"]["pid"] == 0))
assert told["view"]["axis"]["left_out"] == without, (told["view"], without)
print(f"{kind}: {row['min_cpu_ns'] / 1e6:.1f} {row['average_cpu_ns'] / 1e6:.1f} {row['max_cpu_ns'] / 1e6:.1f} ms, {row['imbalance_pct']:.1f} %")
