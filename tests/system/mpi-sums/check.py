"""check.py PERFMAP ARCHIVE TRUTH SOURCE: messages while data was read or written, and within statements of main, are what the ranks say, or bounds that
hold them and are marked."""
import json
import subprocess
import sys

perfmap, archive, truth_path, source = sys.argv[1:]
truth = {}
for line in open(truth_path):
    kind, name, n = line.split()
    truth[kind, name] = truth.get((kind, name), 0) + int(n)
assert truth, "the program told nothing"


def ask(question):
    said = subprocess.run([perfmap, "ask", "--json", "--metric", "messages", question, archive], capture_output=True, text=True)
    assert said.returncode == 0 or "nothing" in said.stderr, (question, said.stderr)
    return json.loads(said.stdout) if said.returncode == 0 else None


wrong, bounds, n_exact = [], [], 0
for (kind, name), sent in sorted(truth.items()):
    if name == "nothing":
        continue
    asked = {"array": "{%s Reads}", "writes": "{%s Writes}", "line": "{%s:%s Executes}"}[kind] % ((source, name) if kind == "line" else name)
    told = ask(asked + ", {MPI::? ?}")
    assert told, asked
    answer, total = told["answer"], told["total"]["messages"]
    least, most = answer["messages"] or 0, answer.get("at_most_share_pct")
    most = total if most is None and (answer["is_at_least"] or not told["is_complete"]) else least if most is None else round(most / 100 * total)
    if least == sent == most:
        n_exact += 1
    elif least <= sent <= most:
        bounds.append(f"{kind} {name}: {least} to {most} of {sent}")
    else:
        wrong.append(f"{kind} {name}: {least} to {most}, not {sent}")
print("; ".join(bounds))
sys.exit("\n".join(wrong)) if wrong else print(f"{n_exact} exact, {len(bounds)} bounds")
