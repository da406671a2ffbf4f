"""check-sync.py PERFMAP ARCHIVE: is level Coarray what sync.f90 does? 3 images, 5 rounds."""

import json
import subprocess
import sys

perfmap, archive = sys.argv[1:]
command = [perfmap, "report", "--level", "Coarray", "--by", "loop", "--limit", "0", "--json", "--metric", "n_calls,coarray_bytes", archive]
rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["rows"]
found = {row["what"]: (row["n_calls"], row["own_coarray_bytes"]) for row in rows if row["nouns"][0]["level"] == "Coarray"}
wanted = {
    "m::box, image 1 Send": (15, 15 * 16),
    "m::box, image 2 Get": (3, 3 * 16),
    "m::counter, image 1 Get": (15, 15 * 4),
    "m::counter, image 1 Send": (15, 15 * 4),
    "m::door, image 1 Lock": (15, 0),
    "m::door, image 1 Unlock": (15, 0),
    "critical 1 of the program, image 1 Lock": (15, 0),
    "critical 1 of the program, image 1 Unlock": (15, 0),
    "m::ready Wait": (15, 0),
    "images SyncImages": (15, 0),
    "images SyncAll": (6, 0),
    "m::tally, image 1 Atomic": (2 + 15 + 2, 0),  # define, add, and each image's ref of image 1
    "m::tally, image 2 Atomic": (1, 0),
    "m::tally, image 3 Atomic": (1, 0),
    "variable of the main program CoReduce": (3, 3 * 4),
}
wanted.update({f"m::ready, image {i} Post": (5, 0) for i in (1, 2, 3)})
wanted.update({f"m::ready, image {i} Query": (1, 0) for i in (1, 2, 3)})
bad = [(what, told, found.get(what)) for what, told in wanted.items() if found.get(what) != told]
for what, told, other in bad:
    print("check-sync.py:", what, "is", told, "but perfmap says", other)
sys.exit(bool(bad))
