"""Is what a run left whole? Reads a run folder and its archive, adds up and compares.

    python3 sane.py RUN ARCHIVE [--processes AT_LEAST] [--threads AT_LEAST] [--killed]

Every process has a file that is readable to its end and undamaged, ended as it should (--killed: or was killed), lost nothing, and its counts add
up: calls over contexts are the calls of the process; times of contexts (mode exact) are the time of their thread. The archive has the same
processes and the same calls of functions. Prints one line. PERFMAP names the command.
"""
import argparse
import csv
import glob
import io
import json
import os
import subprocess
import sys

PERFMAP = os.environ.get("PERFMAP", "perfmap")


def wrong(text):
    sys.exit(f"sane: {text}")


def output(*command):
    done = subprocess.run([PERFMAP, *command], capture_output=True)
    if done.returncode != 0:
        wrong(f"perfmap {' '.join(command)} failed ({done.returncode}): {done.stderr[-500:]!r}")
    return done.stdout.decode("utf-8", "replace")


def check_times(name, thread):
    """Own times of a thread's contexts are its time; a context's own time is its time without its children's."""
    contexts = thread["contexts"]
    own = sum(context["own_ns"] for context in contexts)
    whole = contexts[0]["inclusive_ns"]
    # Each is rounded from clock ticks.
    if abs(own - whole) > len(contexts):
        wrong(f"{name}: thread {thread['tid']}: own times add up to {own} ns of {whole}")
    for i, context in enumerate(contexts):
        if context["own_ns"] < 0 or context["inclusive_ns"] < context["own_ns"]:
            wrong(f"{name}: thread {thread['tid']}: context {i} has {context['own_ns']} of {context['inclusive_ns']} ns for itself")


def check_process(path, killed):
    """Returns the calls of functions and the number of threads."""
    name = os.path.basename(path)
    dump = json.loads(output("dump", "--json", path))
    process = dump["process"]
    if dump["damage"]:
        wrong(f"{name}: damaged: {dump['damage'][:3]}")
    if process["end_kind"] == "killed" and not killed:
        wrong(f"{name} ({process['command']}): was killed")
    if process["n_foreign_stack"] != 0:
        wrong(f"{name} ({process['command']}): {process['n_foreign_stack']} calls on a foreign stack")
    # Calls without contexts of their own are said to be so.
    if process["n_lost_contexts"] != 0 and not any(message["kind"] == "limit" for message in dump["messages"]):
        wrong(f"{name} ({process['command']}): {process['n_lost_contexts']} calls lost their contexts, and nothing is said")
    for thing in dump["objects"]:
        if thing["n_bad_sleds"] != 0:
            wrong(f"{name}: {thing['n_bad_sleds']} bad sleds in {thing['path']}")
    calls, of_functions = 0, 0
    for thread in dump["threads"]:
        for context in thread["contexts"]:
            if "noun" in context and dump["nouns"][context["noun"]]["kind"] != "cause":  # a thread begins within what created it
                calls += context["n_calls"]
                if dump["nouns"][context["noun"]]["kind"] == "function":
                    of_functions += context["n_calls"]
        if process["mode"] in ("exact", "trace"):
            check_times(name, thread)
    for counts in dump["counts"]:
        first = dump["objects"][counts["object"]]["first_noun"]
        for i, n_calls in enumerate(counts["n_calls"]):
            calls += n_calls
            if dump["nouns"][first + i]["kind"] == "function":
                of_functions += n_calls
    if calls != process["n_calls"]:
        wrong(f"{name}: contexts have {calls} calls, the process {process['n_calls']}")
    return of_functions, sum(thread["n_threads"] for thread in dump["threads"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("run")
    parser.add_argument("archive")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--killed", action="store_true")
    given = parser.parse_args()
    files = sorted(glob.glob(os.path.join(given.run, "*.pmr")))
    calls = threads = 0
    for path in files:
        of_functions, n_threads = check_process(path, given.killed)
        calls += of_functions
        threads += n_threads
    if len(files) < given.processes or threads < given.threads:
        wrong(f"{len(files)} processes with {threads} threads, not {given.processes} with {given.threads}")
    report = output("report", "--level", "base", "--by", "function", "--metric", "n_calls", "--limit", "0", "--csv", given.archive)
    in_archive = sum(int(line["n_calls"] or 0) for line in csv.DictReader(io.StringIO(report)))
    if in_archive != calls:
        wrong(f"the archive has {in_archive} calls of functions, the run {calls}")
    print(f"{len(files)} processes, {threads} threads, {calls} calls of functions")


main()
