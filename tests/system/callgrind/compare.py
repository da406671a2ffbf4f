"""Compares the call counts of two independent tools, function by function.

    python3 compare.py BINARY CALLGRIND.out REPORT.csv

Compared is every function with an entry sled (read from the binary's records here, not by PerfMap). Names of one address are one function: a
constructor may be called by either of its two. Functions of ours without a sled are a failure; those of system headers have none.
"""
import collections
import csv
import os
import re
import struct
import subprocess
import sys


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def functions_of(binary):
    """Address -> (size, names) of the text symbols, without the cold parts that GCC splits off."""
    functions = {}
    for line in output("nm", "-S", "--defined-only", binary).splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwW" and not re.search(r"\.cold(\.\d+)?$", words[3]):
            functions.setdefault(int(words[0], 16), (int(words[1], 16), []))[1].append(words[3])
    return functions


def entry_sleds(binary):
    """Addresses of entry sleds, by format/pm_sled.h."""
    for line in output("readelf", "-SW", binary).splitlines():
        match = re.search(r"__perfmap_sleds\s+PROGBITS\s+(\w+) (\w+) (\w+)", line)
        if match:
            address, offset, size = (int(word, 16) for word in match.groups())
            with open(binary, "rb") as file:
                file.seek(offset)
                records = file.read(size)
            for at in range(0, size, 16):
                relative, kind = struct.unpack_from("<iB", records, at)
                if kind == 1:
                    yield address + at + relative


def with_sleds(binary, functions):
    """Names of functions with an entry sled, as tuples; and names of those without."""
    entries = sorted(entry_sleds(binary))
    have, lack = [], []
    for address, (size, names) in functions.items():
        inside = any(address <= entry < address + size for entry in entries)
        (have if inside else lack).append(tuple(names))
    return have, lack


def callgrind_calls(path, binary):
    """Sum of `calls=` by callee within the binary. Names are written once, as "(12) name", later "(12)"; 'N marks a level of recursion; `cob=`
    stands where the callee is in another object than its caller."""
    names, objects, calls = {}, {}, collections.Counter()
    here = there = callee = None
    with open(path, errors="surrogateescape") as file:
        for line in file:
            match = re.match(r"(c?fn|c?ob)=\((\d+)\)(?: (.*))?$", line)
            if match:
                known = names if match[1].endswith("fn") else objects
                if match[3] is not None:
                    known[match[2]] = match[3]
                if match[1] == "cfn":
                    callee = re.sub(r"'\d+$", "", names[match[2]])
                elif match[1] == "ob":
                    here = there = objects[match[2]]
                elif match[1] == "cob":
                    there = objects[match[2]]
            elif line.startswith("calls="):
                if os.path.basename(there) == os.path.basename(binary):
                    calls[callee] += int(line[6:].split()[0])
                there = here
    return calls


def perfmap_calls(path):
    calls = collections.Counter()
    with open(path, newline="", errors="surrogateescape") as file:
        for row in csv.DictReader(file):
            calls[row.get("linkage") or row["what"]] += int(row["n_calls"] or 0)
    return calls


# Parts of the C library's start files, and what the C++ library's headers define.
NOT_OURS = re.compile(r"^(_start|_init|atexit|at_quick_exit|_fini|_dl_relocate_static_pie|deregister_tm_clones|register_tm_clones|__do_global_dtors_aux|frame_dummy)$"
                      r"|^_Z.*(St|Ss|Sa|Sb|__gnu_cxx)|^_Z(nw|na|dl|da)[mP]|^__clang_call_terminate$")


def main():
    binary, callgrind, report = sys.argv[1:]
    have, lack = with_sleds(binary, functions_of(binary))
    theirs, ours = callgrind_calls(callgrind, binary), perfmap_calls(report)
    n_bad = n_called = n_calls = 0
    for names in sorted(have):
        a, b = (sum(calls[name] for name in names) for calls in (theirs, ours))
        if a != b:
            print(f"{'/'.join(names)}: callgrind {a}, perfmap {b}")
            n_bad += 1
        n_called += a > 0
        n_calls += a
    for names in sorted(lack):
        if not NOT_OURS.search(names[0]):
            print(f"{'/'.join(names)}: has no sled")
            n_bad += 1
    print(f"{n_called} of {len(have)} functions with sleds called, {n_calls} calls, {n_bad} wrong")
    return 1 if n_bad or not n_called else 0


sys.exit(main())
