"""Side C of `perfmap compare` against `perfmap diff` of A and that side. beside.py BESIDE ALONE"""
import json
import sys

beside, alone = (json.load(open(path)) for path in sys.argv[1:3])
wrong = []


def strip(numbers):
    """Without the place in C, which is not known there, and cells that differ only in what the other sides are."""
    numbers = json.loads(json.dumps(numbers))
    for side in "ab":
        numbers[side].pop("where")
        numbers[side].pop("state")
    return numbers


def path_of(rows, row):
    path = []
    while row is not None:
        path.append((row["what"], (row.get("a") or row["sides"][1]["a"])["where"]))
        row = None if row.get("parent_id") is None else rows[row["parent_id"]]
    return tuple(path)


def by_path(comparison):
    found = {}
    for row in comparison["rows"]:
        found.setdefault(path_of(comparison["rows"], row), []).append(row)
    return found


rows, n = by_path(beside), 0
for path, twins in by_path(alone).items():
    for row, twin in zip(twins, rows.get(path, [])):
        numbers = {key: value for key, value in row.items() if key in twin["sides"][1]}
        n += 1
        if len(twins) == 1 and strip(numbers) != strip(twin["sides"][1]):
            wrong.append(f"{path}: {strip(numbers)} alone, {strip(twin['sides'][1])} beside")
    if path not in rows:
        wrong.append(f"no row {path}")
total = {key: value for key, value in alone["total"].items() if key in beside["total"]["sides"][1]}
if strip(total) != strip(beside["total"]["sides"][1]):
    wrong.append(f"the total is {total} alone, {beside['total']['sides'][1]} beside")
if n < 5:
    wrong.append(f"only {n} rows")
print("\n".join(wrong), file=sys.stderr)
sys.exit(bool(wrong))
