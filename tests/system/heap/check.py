#!/usr/bin/env python3
"""check.py ARCHIVE SOURCE MARK N_ALLOCATIONS BYTES [KEY=VALUE]...: what was allocated on the line with that mark.

Sums the archive's own tables over the heap nouns of the line. Keys: live (bytes alive at the end), peak (bytes, the largest cost), name
(of the noun), least, most (bytes of a block), blocks (nouns below), process (pid order, from 0).
"""
import re
import sqlite3
import sys

archive, source, mark, n_allocations, n_bytes = sys.argv[1:6]
wanted = dict(word.split("=", 1) for word in sys.argv[6:])
line_no = next(i for i, text in enumerate(open(source), 1) if re.search(rf"mark: {mark}\b", text))
db = sqlite3.connect(archive)
nouns = db.execute("SELECT id, name FROM named_nouns WHERE kind='heap' AND line=? AND file LIKE ?", (line_no, "%" + source.split("/")[-1])).fetchall()
bad = 0


def same(what, got, expected):
    global bad
    if str(got) != str(expected):
        print(f"{mark} (line {line_no}): {what} is {got}, not {expected}")
        bad = 1


def attribute(noun, key):
    row = db.execute("SELECT value FROM noun_attributes WHERE noun=? AND key=?", (noun, key)).fetchone()
    return row and row[0]


if len(nouns) != (0 if n_allocations == "0" else 1):
    sys.exit(f"{mark}: {len(nouns)} heap nouns at line {line_no}: {nouns}")
if not nouns:
    sys.exit(0)
noun, name = nouns[0]
# The costs of the sentences that map to {noun Allocates}.
costs = dict(db.execute("""
    SELECT m.name, CASE m.aggregation WHEN 'maximum' THEN max(c.value) ELSE sum(c.value) END
    FROM sentences d JOIN verbs v ON v.id = d.verb AND v.name = 'Allocates' JOIN mappings map ON map.destination = d.id
    JOIN contexts x ON x.sentence = map.source JOIN costs c ON c.context = x.id JOIN metrics m ON m.id = c.metric
    WHERE d.noun = ? GROUP BY m.name""", (noun,)))
same("n_allocations", costs.get("n_allocations", 0), n_allocations)
same("allocated_bytes", costs.get("allocated_bytes", 0), n_bytes)
same("attribute n_allocations", attribute(noun, "n_allocations"), n_allocations)
for key, value in wanted.items():
    if key == "live":
        same("live_bytes", costs.get("live_bytes", 0), value)
        same("attribute live_bytes", attribute(noun, "live_bytes"), value)
    elif key == "peak":
        same("peak_bytes", costs.get("peak_bytes", 0), value)
    elif key == "name":
        same("name", name, value.replace("LINE", str(line_no)))
    elif key in ("least", "most"):
        same(key, attribute(noun, key + "_bytes"), value)
    elif key == "blocks":
        blocks = db.execute("SELECT id FROM nouns WHERE parent=? AND kind='heap'", (noun,)).fetchall()
        same("blocks", len(blocks), value)
        for block, in blocks:
            life = [attribute(block, k) for k in ("address", "size_bytes", "allocated_ns", "freed_ns")]
            if life[0] is None or not life[0].startswith("0x") or (life[3] is not None and int(life[3]) < int(life[2])):
                same("life of a block", life, "sensible")
    else:
        sys.exit(f"no such key: {key}")
sys.exit(bad)
