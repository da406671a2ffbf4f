"""counts.py ARCHIVE: how often each path of entered sentences of level Stress was entered below each set of what was begun, as stress.c prints it.
counts.py ARCHIVE begun: how often each was begun. counts.py ARCHIVE phases: checks wall times of phases.c's program."""
import collections
import sqlite3
import sys

AMBIENT, FOLDED = 32, 1
db = sqlite3.connect(sys.argv[1])
what = sys.argv[2] if len(sys.argv) > 2 else "paths"
contexts = {row[0]: row[1:] for row in db.execute("""
    SELECT c.id, c.parent, c.flags, n.name, l.name FROM contexts c JOIN sentences s ON s.id = c.sentence
    JOIN nouns n ON n.id = s.noun JOIN verbs v ON v.id = s.verb JOIN levels l ON l.id = v.level ORDER BY c.id""")}


def costs(metric):
    return db.execute("SELECT context, thread, value FROM costs JOIN metrics ON metrics.id = metric WHERE metrics.name = ?", (metric,))


def place(context):
    """Names of the set, and of the path of level Stress."""
    names, path = set(), ""
    while context is not None:
        parent, flags, name, level = contexts[context]
        if flags & AMBIENT:
            names.add(name)
        elif level == "Stress":
            path = name[1:] + path
        context = parent
    return "+".join(sorted(names)), path


def is_stress(context):
    return contexts[context][3] == "Stress" and not contexts[context][1] & AMBIENT


def phases():
    threads = dict(db.execute("SELECT id, end_ns - start_ns FROM threads"))
    spent = collections.defaultdict(lambda: collections.defaultdict(int))
    for context, thread, value in costs("wall_ns"):
        spent[thread][place(context)[0]] += value
    assert len(spent) == 4, spent
    for thread, sets in spent.items():
        assert sum(sets.values()) == threads[thread], (sets, threads[thread])
    main, others = spent[1], [spent[t] for t in spent if t != 1]
    with_request = [s for s in others if any("r1" in name for name in s)]

    def same(a, b):
        return abs(a - b) <= 10  # rounding of ticks of the clock
    sleepers = [s for s in others if same(s["store"], main["store"])]
    workers = [s for s in others if s not in sleepers and s not in with_request]
    assert len(with_request) == len(sleepers) == len(workers) == 1, spent
    for name in ("load", "solve", "solve+store", "store"):
        assert main[name] > 0 and same(main[name], sleepers[0][name]), (name, spent)
    for name in ("load", "solve"):
        assert same(main[name], workers[0][name]), (name, spent)
        assert same(main[name], with_request[0][name + "+r1" if name < "r1" else "r1+" + name]), (name, spent)
    assert same(main["solve+store"], with_request[0]["r1+solve+store"])


if what == "phases":
    phases()
elif what == "begun":
    n = collections.Counter()
    for context, _, value in costs("n_calls"):
        parent, flags, name, level = contexts[context]
        if flags & AMBIENT:
            assert flags & FOLDED, contexts[context]
            n[name] += value
    for name, value in sorted(n.items()):
        print(f"{name}|{value}")
else:
    n = collections.Counter()
    for context, _, value in costs("n_calls"):
        if is_stress(context):
            n[place(context)] += value
    for (names, path), value in n.items():
        print(f"{names}|{path}|{value}")
