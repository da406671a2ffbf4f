"""instructions.py REPORT: of the instructions that were sampled in the lines of a function, has the line within its loop two thirds?"""
import json
import sys

spent = {}
for row in json.load(open(sys.argv[1]))["rows"]:
    if row["kind"] == "line" and row["nouns"][0]["function"] == "first":
        spent[row["place"]] = row["own_lua_instructions"]
share = 100 * spent["shares.lua:5"] / sum(spent.values())
print(f"{share:.1f} % of {sum(spent.values())} instructions", file=sys.stderr)
sys.exit(abs(share - 100 * 2 / 3) > 2 or sum(spent.values()) < 100000)
