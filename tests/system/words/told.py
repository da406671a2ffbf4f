"""From the JSON of `perfmap report --level plan|sql`: own time of the one sentence there, and the total."""
import json
import sys

report = json.load(open(sys.argv[1]))
own = sum(row["own_wall_ns"] for row in report["rows"] if row["kind"] == "noun" or any(noun["level"] in ("Plan", "SQL") for noun in row.get("nouns", [])))
print(own, report["total"]["own_wall_ns"])
