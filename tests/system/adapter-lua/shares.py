"""shares.py TOLD ANSWER: do the parts of the time that the script told ("PERCENT NAME") and those of the answer agree within 5 %?"""
import json
import sys

told = {name: float(percent) for percent, name in (line.split() for line in open(sys.argv[1]))}
rows = json.load(open(sys.argv[2]))["rows"]
spent = {name: sum(row["cpu_ns"] for row in rows if f'"{name}"' in json.dumps(row)) for name in told}
total = sum(spent.values()) or 1
for name in told:
    share = 100 * spent[name] / total
    print(f"{name}: {share:.1f} %, by the clock {told[name]:.1f} %", file=sys.stderr)
    if abs(share - told[name]) > 5:
        sys.exit(1)
