"""calls.py REPORT.json EXPECTED: functions of a report have been called as often as the program says ("{... Executes}, {step Executes}|times")."""

import json
import sys

rows = {}
for row in json.load(open(sys.argv[1], encoding="utf-8"))["rows"]:
    rows[row["what"]] = rows.get(row["what"], 0) + (row["n_calls"] or 0)
wanted = {"writer": 1, "polisher": 1, "funcs": 1, "others": 1, "made": 15, "makes": 5, "made_c11": 5, "func": 500, "other": 500}
bad = {name: rows.get(name) for name, n in wanted.items() if rows.get(name) != n}
if bad:
    print(bad, [name for name in rows][:20])
sys.exit(bool(bad))
