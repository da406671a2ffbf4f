"""check.py PERFMAP ARCHIVE TRUTH: calls and bytes of operations, and calls while arrays were read, are what the ranks counted."""
import json
import subprocess
import sys

perfmap, archive, truth_path = sys.argv[1:]


def view(*arguments):
    return json.loads(subprocess.run([perfmap, *arguments, "--json", archive], check=True, capture_output=True).stdout)


by_operation = {}
for row in view("report", "--level", "MPI", "--by", "operation", "--metric", "message_bytes", "--limit", "0")["rows"]:
    by_operation[row["what"].split()[-1]] = (row["n_calls"], row["own_message_bytes"])
n = 0
for line in open(truth_path):
    words = line.split()
    if words[0] == "operation":
        found, wanted = by_operation[words[1]], (int(words[2]), int(words[3]))
    elif words[0] == "reads":
        told = view("ask", "{cg_data::%s Reads}, {MPI::? ?}" % words[1], "--metric", "message_bytes")
        found, wanted = sum(row["n_times"] for row in told["rows"] if "Source" in str(row)), int(words[2])
        assert not told["answer"]["is_at_least"] and not told["answer"]["is_at_most"], told["answer"]
    else:
        continue
    assert found == wanted, (line, found)
    n += 1
assert n == 6, n
waited = view("report", "--by", "function", "--metric", "mpi_wait_ns,mpi_ns", "--limit", "0")
at = {row["what"].split("::")[-1].split(",")[0]: row for row in waited["rows"]}
assert at["dot"]["own_mpi_ns"] > 0 and at["multiply"]["own_mpi_ns"] > 0, list(at)
assert sum(row["own_mpi_wait_ns"] or 0 for row in waited["rows"]) == waited["total"]["own_mpi_wait_ns"]
print(f"{n} numbers as the ranks count")
