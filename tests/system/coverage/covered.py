"""Prints how many samples of a run have a statement and a function, and how many ranges of the late map that touch memory an object.

    covered.py PROGRAM ARCHIVE MAP      MAP: of `perfmap pif --map --json PROGRAM`

Instrumented code is what has a late map, and functions of the program that the facts name though the map does not have them. Entering and leaving a
function (prologues, epilogues, taking parameters) is a statement of its own, counted here apart too: it must not hide that others have none.
Fails below the bounds.
"""
import bisect
import collections
import json
import os
import sqlite3
import sys

BOUNDS = {"statement": 95, "function": 99, "object": 85}
MIN_SAMPLES = 1000
ENTRY_AND_EXIT = "entry and exit of "


def samples(archive, program, ranges):
    """Numbers of samples: in instrumented code, in frames, with a statement, with a function; and what has no statement."""
    base = sqlite3.connect(archive)
    nouns = {row[0]: row[1:] for row in base.execute("SELECT id, kind, name, parent, binary FROM named_nouns")}
    (binary,) = base.execute("SELECT id FROM binaries WHERE path = ? AND map_state = 'read'", (os.path.realpath(program),)).fetchone()
    symbols = {name for kind, name, _, of in nouns.values() if kind == "symbol" and of == binary}
    addresses = dict(base.execute("SELECT noun, value FROM noun_attributes WHERE key = 'address'"))
    mapped = collections.defaultdict(set)
    for source, noun in base.execute("SELECT m.source, s.noun FROM mappings m JOIN sentences s ON s.id = m.destination"):
        mapped[source].add(noun)
    n_all, n = 0, collections.Counter()
    without = collections.Counter()
    rows = base.execute("""SELECT c.sentence, s.noun, sum(k.value), (SELECT count(*) FROM sentence_nouns x WHERE x.sentence = s.id)
        FROM costs k JOIN metrics m ON m.id = k.metric JOIN contexts c ON c.id = k.context JOIN sentences s ON s.id = c.sentence
        WHERE m.name = 'n_samples' GROUP BY c.sentence""")
    for sentence, noun, value, n_further in rows:
        kind, name, parent, of = nouns[noun]
        n_all += value
        is_mapped = kind == "code" and of == binary and not n_further and parent and nouns[parent][0] == "symbol"
        is_missing = kind == "code" and of == binary and name.split(" (")[0] in symbols
        if not (is_mapped or is_missing):
            n["called" if n_further else kind] += value
            continue
        n["instrumented"] += value
        kinds = {nouns[to][0] for to in mapped[sentence]}
        functions = {up for to in mapped[sentence] if (up := function_of(nouns, to))}
        n["statement"] += value if "statement" in kinds else 0
        statements = [nouns[to][1] for to in mapped[sentence] if nouns[to][0] == "statement"]
        is_frame = bool(statements) and all(name.startswith(ENTRY_AND_EXIT) for name in statements)
        n["only entry and exit"] += value if is_frame else 0
        n["function"] += value if functions else 0
        if noun in addresses and kind_at(ranges, addresses[noun]) == "frame":
            n["frame"] += value
        if "statement" in kinds:
            continue
        without[name] += value
    print(f"{program}: {n_all} samples,", ", ".join(f"{100 * value / n_all:.2f} % {kind}" for kind, value in n.most_common()
                                                    if kind not in ("statement", "function", "frame", "only entry and exit")))
    return n, without


def function_of(nouns, noun):
    while noun and nouns[noun][0] != "function":
        noun = nouns[noun][2]
    return noun


def kind_at(ranges, addresses):
    """Of the first of the ranges `0x10-0x20 0x30-0x34`."""
    address = int(addresses.split("-")[0], 16)
    return ranges[bisect.bisect_right(ranges, address, key=lambda r: int(r["address"], 16)) - 1]["kind"]


def named(ranges):
    """Ranges that touch memory, and those of them with an object."""
    touching = [r for r in ranges if r.get("objects") or r["unnamed"]]
    return len(touching), sum(bool(r.get("objects")) for r in touching)


def main():
    program, archive, map_path = sys.argv[1:]
    ranges = [r for block in json.load(open(map_path))["blocks"] for r in block["ranges"] if r["size_bytes"]]
    ranges.sort(key=lambda r: int(r["address"], 16))
    n, without = samples(archive, program, ranges)
    n_touching, n_named = named(ranges)
    share = {
        "statement": 100 * n["statement"] / max(n["instrumented"], 1),
        "function": 100 * n["function"] / max(n["instrumented"], 1),
        "object": 100 * n_named / max(n_touching, 1),
    }
    print(f"  {n['instrumented']} samples in instrumented code: {share['statement']:.2f} % have a statement,",
          f"{share['function']:.2f} % a function; {100 * n['only entry and exit'] / max(n['instrumented'], 1):.2f} % are of entry and exit,",
          f"{100 * n['frame'] / max(n['instrumented'], 1):.2f} % in prologues and epilogues")
    print(f"  {n_touching} ranges touch memory: {share['object']:.2f} % name an object")
    print("  without a statement:", ", ".join(f"{name} {value}" for name, value in without.most_common(6)))
    if n["instrumented"] < MIN_SAMPLES:
        print(f"fewer than {MIN_SAMPLES} samples in instrumented code")
        raise SystemExit(1)
    raise SystemExit(any(share[what] < bound for what, bound in BOUNDS.items()))


main()
