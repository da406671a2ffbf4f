"""check.py PERFMAP ARCHIVE EXPECTED: asks the archive the questions of EXPECTED, lines "QUESTION|METRIC|ALL|DEFERRED" (DEFERRED -1: not looked
at), and compares."""

import json
import subprocess
import sys

perfmap, archive, expected = sys.argv[1:]
n_bad = 0
n_asked = 0
for line in open(expected, encoding="utf-8"):
    question, metric, everything, deferred = line.rstrip("\n").split("|")
    shown = "n_calls" if metric == "times" else metric
    done = subprocess.run([perfmap, "ask", "--json", "--metric", shown, question, archive],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(question, done.stderr.strip())
        n_bad += 1
        continue
    answer = json.loads(done.stdout)
    if metric == "times":
        got = sum(row["n_times"] or 0 for row in answer["rows"])
    else:
        got = answer["answer"][metric]
    got_deferred = answer["answer"].get(f"deferred_{shown}", 0)
    n_asked += 1
    if got != int(everything) or (int(deferred) >= 0 and got_deferred != int(deferred)):
        print(f"{question}: {metric} {got}, deferred {got_deferred}; should be {everything}, {deferred}")
        n_bad += 1
if n_bad or n_asked == 0:
    sys.exit(f"{n_bad} of {n_asked} answers are wrong")
