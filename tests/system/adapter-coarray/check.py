"""check.py PERFMAP ARCHIVE: are answers about examples/bow what its text says? 4 images, 20 rounds, arrays of 1000."""

import json
import subprocess
import sys

perfmap, archive = sys.argv[1:]
ROUNDS, N, IMAGES = 20, 1000, 4
NAMES = ["coarray_bytes", "messages", "message_bytes", "received_bytes"]


def ask(question):
    """times, then each of NAMES"""
    command = [perfmap, "ask", "--json", "--metric", ",".join(NAMES), question, archive]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    # that samples are missing says nothing of what is counted; what the budget disarmed does, and a note says so
    unexplained = answer["answer"]["is_at_least"] and not answer["notes"]
    if unexplained or any("no sample stands for" in note for note in answer["notes"]):
        sys.exit(f"{question}: counts of an adapter are marked: {answer['notes']}")
    return [sum(row["n_times"] for row in answer["rows"])] + [answer["answer"][name] for name in NAMES]


bad = 0


def expect(question, wanted):
    """wanted: times, then NAMES; None: anything"""
    global bad
    told = ask(question)
    if any(w is not None and w != t for w, t in zip(wanted, told)):
        bad += 1
        print(question, "is", wanted, "but perfmap says", told)


# What is sent: three images, ten numbers each round; got: three images, one number each round.
expect("{Coarray::b Send}", [3 * ROUNDS, 3 * ROUNDS * 80, 3 * ROUNDS, 3 * ROUNDS * 80, 0])
for image in (2, 3, 4):
    expect('{Coarray::b, "image %d" Send}' % image, [ROUNDS, ROUNDS * 80, ROUNDS, ROUNDS * 80, 0])
    expect('{Coarray::b Send} on rank %d' % (image - 2), [ROUNDS, ROUNDS * 80, ROUNDS, ROUNDS * 80, 0])
expect("{Coarray::tot Get}", [3 * ROUNDS, 3 * ROUNDS * 8, 0, 0, 3 * ROUNDS * 8])
# Reductions: of numbers that are no coarrays.
for verb in ("CoSum", "CoMax"):
    expect("{Coarray::? %s}" % verb, [IMAGES * ROUNDS, IMAGES * ROUNDS * 8, 0, IMAGES * ROUNDS * 8, IMAGES * ROUNDS * 8])
    expect("{corner Executes}, {Coarray::? %s}, {MPI::? AllReduce}" % verb, [IMAGES * ROUNDS, 0, 0, None, None])
# The whole of tot, from image 1.
expect("{Coarray::tot CoBroadcast}", [IMAGES, IMAGES * N * 8, 0, N * 8, (IMAGES - 1) * N * 8])
expect("{share Executes}, {Coarray::tot ?}", [None, IMAGES * N * 8, 0, N * 8, (IMAGES - 1) * N * 8])
expect("{corner Executes}, {Coarray::tot CoBroadcast}", [0, 0, 0, 0, 0])
expect("{corner Executes}, {Coarray::images SyncAll}", [3 * IMAGES * ROUNDS, 0, 0, 0, 0])
print("14 kinds of questions,", bad, "wrong")
sys.exit(bad != 0)
