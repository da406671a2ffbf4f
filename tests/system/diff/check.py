"""What a comparison says, against the tags of both sources. Arguments: the comparison (JSON), A's source, B's source, what is to hold."""
import json
import re
import sys

import make

comparison = json.load(open(sys.argv[1]))
tags = [make.tags(open(path).read()) for path in sys.argv[2:4]]
lines = [open(path).read().split("\n") for path in sys.argv[2:4]]
wrong = []


def tags_of(row, side):
    """Of a row's statements; of a line without a tag its text."""
    where = row["ab"[side]]["where"] or ""
    numbers = [int(n) for n in re.findall(r"work\.c:(\d+)", where)]
    return sorted({tags[side].get(n, lines[side][n - 1].strip()) for n in numbers})


def check(holds, text):
    if not holds:
        wrong.append(text)


def found_again(rows):
    """Each row that both have is of the same statements, and what both sources have is on both sides, or without costs."""
    for row in rows:
        a, b = tags_of(row, 0), tags_of(row, 1)
        if a and b:
            check(a == b, f"{row['what']}: {row['a']['where']} is {a}, and {row['b']['where']} is {b}")
        elif a or b:
            absent = row["b" if a else "a"]["state"] == "no such construct"
            check(absent == ("new" in b), f"{row['what']}: {a} {b} {row['a']['state']} {row['b']['state']}")


def adds_up(rows):
    for side in "ab":
        for run, total in enumerate(comparison["total"][side]["values"]):
            got = sum(row[side]["values"][run] for row in rows)
            check(got == total, f"side {side}, run {run}: rows are {got}, the total is {total}")


def tree_adds_up(rows):
    """A path has what it did itself and what lies in it; those at the top have the total, in each run."""
    below = {}
    for row in rows:
        below.setdefault(row["parent_id"], []).append(row)
    for side in "ab":
        for run, total in enumerate(comparison["total"][side]["values"]):
            got = sum(row[side]["values"][run] for row in below[None])
            check(got == total, f"side {side}, run {run}: paths are {got}, the total is {total}")
        for row in rows:
            got = row[side]["own_mean"] + sum(b[side]["mean"] for b in below.get(row["id"], []))
            check(abs(got - row[side]["mean"]) < 1, f"{row['what']}: {got} of {row[side]['mean']}")
    check(max(row["depth"] for row in rows) > 2, "no tree")
    check(all(row["parent_id"] is None or row["parent_id"] < row["id"] for row in rows), "not depth first")


def path_is_slower(rows):
    """All that the division lies in is slower, and its own costs say where."""
    most = max(rows, key=lambda row: row["own_difference"])
    check(tags_of(most, 1) == ["divide"] or "divide" in most["what"], f"most differs {most['what']} {tags_of(most, 1)}")
    while most["parent_id"] is not None:
        check(most["verdict"] == "slower", f"{most['what']}: {most['verdict']}")
        most = rows[most["parent_id"]]


def never_zero_for_unknown(rows):
    for row in rows:
        for side in "ab":
            check((row[side]["state"] == "not measured") == (row[side]["mean"] is None), f"{row['what']}: {row[side]}")


def equal_counts(rows):
    for row in rows:
        if "no such construct" not in (row["a"]["state"], row["b"]["state"]):
            check(row["difference"] == 0, f"{row['what']} ({tags_of(row, 0)}): {row['difference']} calls more")
    check(len(rows) >= 6, f"only {len(rows)} rows")


def renamed(rows):
    """name_now was name; both have the same number of calls."""
    found = 0
    for row in rows:
        now = row["what"].split(" in ")[-1].split(",")[0]
        if not now.endswith("_now"):
            check(row["was"] is None, f"{row['what']} was {row['was']}")
            continue
        found += 1
        if row["a"]["state"] == "no such construct":
            check(now == "count_now", f"{row['what']} is new")  # make.py puts a loop in there
            continue
        check(row["was"] == now[:-4] and row["is_likely"], f"{row['what']} was {row['was']}")
        check(row["difference"] == 0, f"{row['what']}: {row['difference']} calls more")
        check(row["a"]["mean"] > 0, f"{row['what']}: {row['a']}")
    check(found >= 5, f"only {found} rows of renamed functions")


def divide_is_slower(rows):
    total = comparison["total"]["a"]["mean"]
    by = {tuple(tags_of(row, 1)): row for row in rows}
    row = by[("divide",)]
    check(row["verdict"] == "slower", f"divide: {row}")
    check(comparison["total"]["verdict"] == "slower", f"total: {comparison['total']}")
    for tag, other in by.items():
        much = other["difference"] is not None and abs(other["difference"]) > 0.1 * total
        check(tag == ("divide",) or other["verdict"] != "slower" or not much, f"{tag} is called slower: {other}")


all_rows = comparison["rows"]
for holds in sys.argv[4:]:
    globals()[holds](all_rows)
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
