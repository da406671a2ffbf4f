"""check.py PERFMAP ARCHIVE TRUTH: does level MPI say what the ranks printed, verb by verb?"""

import json
import subprocess
import sys

perfmap, archive, truth_file = sys.argv[1:]
NAMES = ["calls", "messages", "message_bytes", "received_bytes"]


def ask(verb):
    command = [perfmap, "ask", "--json", "--metric", ",".join(NAMES[1:]), "{MPI::? %s}" % verb, archive]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return [sum(row["n_times"] for row in answer["rows"])] + [answer["answer"][name] for name in NAMES[1:]]


truth = {}
for line in open(truth_file):
    verb, *numbers = line.split()
    sums = truth.setdefault(verb, [0] * len(NAMES))
    truth[verb] = [a + int(b) for a, b in zip(sums, numbers)]
assert truth, "the ranks printed nothing"
bad = 0
for verb, wanted in sorted(truth.items()):
    told = ask(verb)
    if told != wanted:
        bad += 1
        print(verb, "is", dict(zip(NAMES, wanted)), "but perfmap says", dict(zip(NAMES, told)))
print(len(truth), "verbs,", sum(t[0] for t in truth.values()), "calls")
sys.exit(bad != 0)
