"""own.py FILE.pif: PIF text without records of system headers: nouns below a file in /usr, symbols that are mapped to them, mappings with either."""
import re
import sys

records = re.split(r"(?m)^(?=[A-Z])", open(sys.argv[1], encoding="utf-8").read())


def keys(record):
    return dict(re.findall(r"^  (\w+) = (.*)$", record, re.M))


def nouns(record):
    for side in ("source", "destination"):
        text = keys(record).get(side, "{}")[1:-1]
        yield [name.strip() for name in re.findall(r'"(?:[^"\\]|\\.)*"|[^,{}]+', text)]


foreign = {"/usr"}
parents = {}
for record in records:
    if record.startswith("NOUN"):
        noun = keys(record)
        parents[noun["name"]] = noun.get("parent")
        if noun.get("file", "").startswith("/usr/") or noun["name"].startswith(("/usr/", '"/usr/')):
            foreign.add(noun["name"])
for record in records:
    if record.startswith("MAPPING") and ", Base::Executes" in record:
        source, destination = nouns(record)
        if destination and destination[0] in foreign:
            foreign.add(source[0])


def is_foreign(name):
    while name:
        if name in foreign:
            return True
        name = parents.get(name)
    return False


for record in records:
    if record.startswith("NOUN") and is_foreign(keys(record)["name"]):
        continue
    if record.startswith("MAPPING") and any(is_foreign(name) for side in nouns(record) for name in side[:1]):
        continue
    sys.stdout.write(record)
