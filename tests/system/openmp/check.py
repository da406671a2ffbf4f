"""check.py WHAT FOLDER: reports of one run, function.json, loop.json, tree.json (and statement.json), against what the program does.

WHAT is c or fortran (how often functions and regions are entered), or waiting (where the time of a thread that waits goes).
"""
import json
import sys

# Function -> calls; line of a region or loop -> (function, kind, entries): by all threads, so three for each of work's four calls.
CALLS = {
    "c": {"main": 1, "work": 4, "sum": 1, "tasks": 1, "nested": 1},
    "fortran": {"m::work": 3},
}
ENTRIES = {
    "c": {
        11: ("work", "region", 12), 15: ("work", "loop", 12), 24: ("sum", "region", 3), 33: ("tasks", "region", 6), 36: ("tasks", "region", 40),
        44: ("nested", "region", 2), 46: ("nested", "region", 4),
    },
    "fortran": {9: ("m::work", "region", 9)},
}
what, folder = sys.argv[1:]
reports = {by: json.load(open(f"{folder}/{by}.json")) for by in ("function", "loop", "tree")}


def fail(text):
    print("check.py:", text, file=sys.stderr)
    raise SystemExit(1)


def plain(name):
    return name.split("(")[0]  # C++ has parameters


def expect(text, found, expected):
    if found != expected:
        fail(f"{text}: {found}, not {expected}")


def only(row):
    return row["nouns"][0] if len(row["nouns"]) == 1 else {}


def counts():
    for name, calls in CALLS[what].items():
        rows = [row for row in reports["function"]["rows"] if plain(only(row).get("name", "")) == name and only(row)["level"] == "Source"]
        expect(f"calls of {name}", [row["n_calls"] for row in rows], [calls])
    for line, (function, kind, entries) in ENTRIES[what].items():
        rows = [row for row in reports["loop"]["rows"] if only(row).get("line_no") == line and only(row)["kind"] == kind]
        expect(f"entries at line {line}", [(plain(only(row)["function"]), row["n_calls"]) for row in rows], [(function, entries)])


def tree():
    """No function is below itself; regions are below their function, or begin the paths of other threads."""
    rows = {row["id"]: row for row in reports["tree"]["rows"]}
    for row in rows.values():
        above = rows.get(row["parent"], {"nouns": [], "kind": "top"})
        noun = only(row)
        if noun.get("kind") == "function" and only(above).get("name") == noun["name"]:
            fail(f"{noun['name']} calls itself")
        if noun.get("kind") == "region" and only(above).get("kind") not in ("region", "loop", "process", None) and only(above)[
                "name"] != noun["function"]:
            fail(f"{noun['name']} below {only(above)['name']}")
    for line, (_, kind, entries) in ENTRIES[what].items():
        found = sum(row["n_calls"] or 0 for row in rows.values() if only(row).get("line_no") == line and only(row)["kind"] == kind)
        expect(f"entries at line {line} in the tree", found, entries)


def same_sums():
    """What functions have by function is what they, their regions and loops have by loop."""
    metric = "own_" + reports["loop"]["view"]["share_of"]
    if metric == "own_n_calls":
        return
    of = {by: {} for by in ("function", "loop")}
    for by, sums in of.items():
        for row in reports[by]["rows"]:
            noun = only(row)
            if noun.get("level") == "Source":
                name = noun["name"] if noun["kind"] == "function" else noun["function"]
                sums[name] = sums.get(name, 0) + (row[metric] or 0)
    for name in of["function"]:
        expect(f"{metric} of {name} by loop", of["loop"].get(name, 0), of["function"][name])
    expect("totals", reports["loop"]["total"][metric], reports["function"]["total"][metric])


def waiting():
    """The library's code that waits is at the barrier, in its region and function."""
    rows = json.load(open(f"{folder}/statement.json"))["rows"]
    barrier = sum(row["share_pct"] for row in rows if only(row).get("line_no") == 19)
    region = [row for row in reports["loop"]["rows"] if only(row).get("kind") == "region"]
    expect("regions", [only(row)["line_no"] for row in region], [15])
    metric = reports["loop"]["view"]["share_of"]
    inclusive = 100 * region[0]["inclusive_" + metric] / reports["loop"]["total"]["own_" + metric]
    print(f"at the barrier {barrier:.1f} %, region inclusive {inclusive:.1f} %")
    if barrier < 15 or inclusive < 85:
        fail("waiting is not at its barrier")


if what == "waiting":
    waiting()
else:
    counts()
    tree()
    same_sums()
