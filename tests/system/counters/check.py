"""check.py REPORT.json METRIC WHAT[@PLACE]=NUMBER[+-OFF]...: each row has so many of its own, off by at most OFF; NUMBER+: or up to a few more."""
import json
import sys

report, metric, *wanted = sys.argv[1:]
rows = json.load(open(report))["rows"]
for want in wanted:
    name, number = want.rsplit("=", 1)
    what, _, where = name.partition("@")
    found = [row for row in rows if row["what"] == what and (not where or row["place"] == where)]
    least, _, off = number.partition("+-")
    more = least.endswith("+")
    own = sum(row["own_" + metric] or 0 for row in found)
    least, off = int(least.rstrip("+")), int(off or 0)
    assert len(found) == 1, (want, [(row["what"], row.get("place")) for row in rows])
    assert abs(own - least) <= off or (more and least <= own < least + 20), (want, own)
