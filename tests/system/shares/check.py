"""check.py REPORT.json NAME SHARE_PCT ...: compares shares with the truth, within 4.5 points. NAME is a noun's name (or its last part), `line N` the sum of
what begins in that line, `within N` the inclusive cost of what begins in line N, `{a, b}` a row of several nouns, `focus` the share of the focus.
"""
import json
import sys

# On an EPYC of family 25, beside other work, the last of three statements that wait for each other had 3.1 to 3.9 points too much.
TOLERANCE = 4.5
report = json.load(open(sys.argv[1]))


def names(row):
    return sorted(noun["name"].split("::")[-1] for noun in row["nouns"])


def share(wanted):
    if wanted == "focus":
        return report["view"]["focus_share_pct"]
    rows = report["rows"]
    if wanted.startswith("within "):
        metric = report["view"]["share_of"]
        return 100 * sum(row["inclusive_" + metric] for row in rows if [noun.get("line_no") for noun in row["nouns"]] == [
            int(wanted.split()[1])]) / report["total"]["own_" + metric]
    if wanted.startswith("line "):
        line = int(wanted.split()[1])
        rows = [row for row in rows if row["nouns"] and all(noun.get("line_no") == line for noun in row["nouns"])]
    elif wanted.startswith("{"):
        rows = [row for row in rows if names(row) == [name.strip() for name in wanted[1:-1].split(",")]]
    else:
        rows = [row for row in rows if names(row) == [wanted]]
    return sum(row["share_pct"] for row in rows)


pairs = list(zip(sys.argv[2::2], map(float, sys.argv[3::2])))
bad = False
for name, truth in pairs:
    found = share(name)
    print(f"{name}: {found:.1f} %, truth {truth:.1f} %")
    bad |= abs(found - truth) > TOLERANCE
if bad:
    for row in report["rows"][:12]:
        print(f"    {row['share_pct']:6.1f} {names(row)} {row.get('what')}", file=sys.stderr)
sys.exit(bad)
