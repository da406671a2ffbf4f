"""mappings.py FILE: what `perfmap pif FILE` says of statements and pointers, a line each, sorted."""
import re
import sys

lines = set()
for record in re.split(r"\n(?=[A-Z]+\n)", open(sys.argv[1]).read()):
    if not record.startswith("MAPPING"):
        continue
    source, destination = re.findall(r"= \{(.*)\}$", record, re.M)
    if "Refers" not in record and "{#" in record:
        lines.add(f"a noun is not declared: {source} -> {destination}")
    if "Base::Executes" not in source and "#" not in source + destination:
        lines.add(f"{source} -> {destination}")
print("\n".join(sorted(lines)))
