"""truth.py PERFMAP ARCHIVE OUTPUT: does level OpenMP say what the program has said (rare.c)?"""
import json
import re
import subprocess
import sys

perfmap, archive, output = sys.argv[1:4]
METRICS = ["omp_wait_ns", "omp_chunks", "omp_iterations", "n_calls"]
command = [perfmap, "report", "--level", "OpenMP", "--limit", "0", "--json", "--metric", ",".join(METRICS), archive]
report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
rows = [row for row in report["rows"] if all(noun["level"] == "OpenMP" for noun in row["nouns"])]
for row in rows:  # without the plugin GCC gives some no place: then they have an address
    row["what"] = re.sub(r" at 0x[0-9a-f]+", "", row["what"])
lines = [line.strip() for line in open(output)]
slack = 3e6 + sum(8e6 * int(line.split()[1]) for line in lines if line.startswith("switches "))
bad = 0


def total(name, verb, metric):
    key = "n_calls" if metric == "n_calls" else "own_" + metric
    return sum(row[key] or 0 for row in rows if row["what"] == f"{name} {verb}")


for line in lines:
    kind, _, rest = line.partition(" ")
    words = rest.split("|")
    if kind == "wrong":
        bad += 1
        print("truth.py: the program went wrong:", line, file=sys.stderr)
    elif kind == "is":
        for metric, wanted in zip(("n_calls", "omp_chunks", "omp_iterations"), words[2:]):
            found = total(words[0], words[1], metric)
            if wanted != "-" and found != int(wanted):
                bad += 1
                print(f"truth.py: {metric} of {{{words[0]} {words[1]}}} is {found}, not {wanted}", file=sys.stderr)
    elif kind == "wait":
        found, least, most = total(words[0], words[1], "omp_wait_ns"), int(words[2]), int(words[3])
        if not least * 0.98 - slack <= found <= most * 1.02 + slack:
            bad += 1
            print(f"truth.py: waiting in {words[0]} was {found / 1e6} ms, the program says {least / 1e6} to {most / 1e6}", file=sys.stderr)
sys.exit(bad != 0)
