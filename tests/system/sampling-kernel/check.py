"""check.py REPORT TRUTH: no function has time that is another's; one that lacks some says so."""
import json
import sys

TOLERANCE = 5
report = json.load(open(sys.argv[1]))
truth = {name: float(value) for name, value in (line.split() for line in open(sys.argv[2]))}
total = report["total"]["own_cpu_ns"]
wrong = []


def check(row, name, share):
    found, least = 100 * (row.get(name) or 0) / total, name in row.get("incomplete", ())
    print(f"{row['what']}: {name} {'>= ' if least else ''}{found:.1f} %, truth {share:.1f} %")
    if found > share + TOLERANCE or (found < share - TOLERANCE and not least):
        wrong.append(f"{row['what']} has {found:.1f} % {name}, not {share:.1f} %")


for row in report["rows"]:
    if row["what"] in truth:
        check(row, "own_cpu_ns", truth[row["what"]])
        check(row, "inclusive_cpu_ns", truth[row["what"]])
    elif row["what"] == "main":
        check(row, "own_cpu_ns", 0)
        check(row, "inclusive_cpu_ns", 100)
located = 100 - sum(100 * row["own_cpu_ns"] / total for row in report["rows"] if row["what"] == "(not located)")
if located < 97 and not any("which could not be sampled" in text for text in report["warnings"]):
    wrong.append("no warning tells of the kernel")
sys.exit("\n".join(wrong) or 0)
