"""What a search found. Arguments: the search (JSON), the source of side B, what is to hold and its words."""
import json
import sys

search = json.load(open(sys.argv[1]))
lines = open(sys.argv[2]).read().split("\n")
holds, words = sys.argv[3], sys.argv[4:]
foci, total = search["foci"], search["total"]
wrong = []


def check(is_so, text):
    if not is_so:
        wrong.append(text)


def text_of(focus):
    """Its lines in B's source, and what it is called."""
    where = (focus["b"]["where"] or "").replace("{", "").split(":")
    number = int(where[1].split(",")[0].rstrip("}")) if len(where) > 1 else 0
    return focus["what"] + " " + (lines[number - 1] if number else "")


def first():
    """The first failed focus has all of the words, and explains at least two thirds of what was planted."""
    failed = [focus for focus in foci if focus["is_failed"]]
    check(failed, "nothing fails")
    if failed:
        text = text_of(failed[0])
        check(all(word in text for word in words), f"first is '{text}', not {words}")
        check(failed[0]["difference"] > 0, f"'{text}' is less")


def rank_is_named():
    """One failed focus of that rank explains most of the first one."""
    best = max((focus["difference"] for focus in foci if focus["place"] == words[0]), default=0)
    check(best > foci[0]["difference"] * 0.6, f"{words[0]}: {best} of {foci[0]['difference']}")


def none():
    check(search["n_failed"] == 0, f"{search['n_failed']} fail, {foci[0]['what'] if foci else ''}")


def compensates():
    """A focus within the threshold has a part that costs more, and one that costs less."""
    around = [focus for focus in foci if focus["is_compensating"] and words[0] in text_of(focus)]
    check(around, f"no compensating focus has {words[0]}: {[focus['what'] for focus in foci]}")
    parts = [focus for focus in foci if around and focus["parent_id"] == around[0]["id"]]
    for word, sign in zip(words[1:], (1, -1)):
        check(any(word in text_of(focus) and focus["difference"] * sign > 0 for focus in parts), f"no part {word} {sign}")


def sound():
    """Totals are those of the runs, and no part has more than what it is in."""
    for side in "ab":
        for value, run in zip(total[side]["values"], search["runs"][side]):
            check(value == run["total"], f"side {side}: {value} is not {run['total']}")
    for focus in foci:
        check(abs(focus["difference"]) <= focus["differences_of_parts"] * 1.000001 + 1, f"{focus['what']}: L1")
        for side in "ab":
            values, whole = focus[side]["values"], total[side]["values"]
            if focus["parent_id"] is not None:
                whole = foci[focus["parent_id"]][side]["values"]
            check(all(x <= y for x, y in zip(values, whole)), f"{focus['what']} has more than its parent")


def whole_is_sum():
    """With --all: the whole program's measured totals."""
    sound()
    check(search["n_looked_at"] == len(foci) + 1 and search["n_not_looked_at"] == 0, "not all are listed")


globals()[holds]()
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
