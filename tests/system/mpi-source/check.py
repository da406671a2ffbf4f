"""check.py PERFMAP ARCHIVE TRUTH SOURCE: messages and bytes by function, line and array are what the ranks say that they sent. At least is no fault
where it is marked, and never more than the truth."""
import json
import subprocess
import sys

perfmap, archive, truth_path, source = sys.argv[1:]
truth = {}
for line in open(truth_path):
    words = line.split()
    if len(words) == 4 and words[0] in ("array", "function", "line"):
        sums = truth.setdefault((words[0], words[1]), [0, 0])
        sums[0] += int(words[2])
        sums[1] += int(words[3])
assert truth, "the program told nothing"


def view(*arguments):
    said = subprocess.run([perfmap, *arguments, "--json", "--metric", "messages,message_bytes", archive], check=True, capture_output=True)
    return json.loads(said.stdout)


def sums_of(rows):
    return [sum(row.get(key) or 0 for row in rows) for key in ("own_messages", "own_message_bytes")]


wrong = []
by_function = view("report", "--by", "function", "--limit", "0")["rows"]
by_line = view("report", "--by", "statement", "--limit", "0")["rows"]
n_exact = n_bounds = 0
for (kind, name), sent in sorted(truth.items()):
    if kind == "function":
        found = sums_of([r for r in by_function if r["what"].split("(")[0].split("::")[-1] == name])
    elif kind == "line":
        found = sums_of([r for r in by_line if (r["place"] or "").split(":")[:2] == [source, name]])
    else:
        told = view("ask", "{%s Reads}, {MPI::? ?}" % name)
        found = [told["answer"][key] for key in ("messages", "message_bytes")]
        most = told["answer"]["at_most_share_pct"]
        if found != sent and most is not None and sent[0] >= found[0] and sent[0] <= most / 100 * told["total"]["messages"] + 0.5:
            n_bounds += 1
            continue
    if found != sent:
        wrong.append(f"{kind} {name}: {found}, not {sent}")
    n_exact += 1
sys.exit("\n".join(wrong)) if wrong else print(f"{n_exact} exact, {n_bounds} bounds")
