"""waits.py REPORT.json TRUTH: does mpi_wait_ns of each function, with those that were inlined in it, equal what the program's own clocks say?"""

import json
import sys

told = {}
for row in json.load(open(sys.argv[1]))["rows"]:
    told[row["what"]] = (row["inclusive_mpi_wait_ns"] or 0) / 1e6
bad = 0
lines = open(sys.argv[2]).read().split("\n")[:-1]
assert len(lines) == 10, lines
for line in lines:
    name, ms = line.split()[0], float(line.split()[1])
    if abs(told.get(name, 0) - ms) > 3 + 0.02 * ms:
        bad += 1
        print(f"{name} waited {ms:.1f} ms, and perfmap says {told.get(name, 0):.1f}")
print(len(lines), "functions")
sys.exit(bad != 0)
