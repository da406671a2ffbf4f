"""Compares the call counts of two independent tools, function by function.

    python3 compare.py OBJECT.o CALLGRIND.out REPORT.csv

Functions are the text symbols of the object file, without the cold parts that GCC splits off. Both tools must give the same number for
each; a function that neither has seen was not called.
"""
import collections
import csv
import re
import subprocess
import sys


def functions_of(path):
    listed = subprocess.run(["nm", "--defined-only", path], check=True, capture_output=True, text=True).stdout
    names = (line.split()[2] for line in listed.splitlines() if line.split()[1] in "tTwW")
    return {name for name in names if not re.search(r"\.cold(\.\d+)?$", name)}


def callgrind_calls(path):
    """Sum of `calls=` by callee. Names are written once, as "(12) name", later "(12)"; 'N marks a level of recursion."""
    names, calls, callee = {}, collections.Counter(), None
    with open(path, errors="surrogateescape") as file:
        for line in file:
            match = re.match(r"(c?fn)=\((\d+)\)(?: (.*))?$", line)
            if match:
                if match[3] is not None:
                    names[match[2]] = re.sub(r"'\d+$", "", match[3])
                if match[1] == "cfn":
                    callee = names[match[2]]
            elif line.startswith("calls="):
                calls[callee] += int(line[6:].split()[0])
    return calls


def perfmap_calls(path):
    calls = collections.Counter()
    with open(path, newline="", errors="surrogateescape") as file:
        for row in csv.DictReader(file):
            calls[row.get("linkage") or row["name"]] += int(row["n_calls"])
    return calls


def main():
    functions = functions_of(sys.argv[1])
    theirs, ours = callgrind_calls(sys.argv[2]), perfmap_calls(sys.argv[3])
    wrong = [name for name in sorted(functions) if theirs[name] != ours[name]]
    for name in wrong:
        print(f"{name}: callgrind {theirs[name]}, perfmap {ours[name]}")
    called = [name for name in functions if theirs[name] > 0]
    print(f"{len(called)} functions called, {sum(theirs[name] for name in called)} calls, {len(wrong)} differ")
    return 1 if wrong or not called else 0


sys.exit(main())
