"""How often each grid was solved and smoothed, from an archive of words.f90's program: lines as that prints them."""
import sqlite3
import sys

archive = sqlite3.connect(sys.argv[1])
rows = archive.execute("""
    SELECT verbs.name, nouns.name, sum(costs.value) FROM costs
    JOIN metrics ON metrics.id = costs.metric AND metrics.name = 'n_calls' JOIN contexts ON contexts.id = costs.context
    JOIN sentences ON sentences.id = contexts.sentence JOIN nouns ON nouns.id = sentences.noun JOIN verbs ON verbs.id = sentences.verb
    JOIN levels ON levels.id = verbs.level AND levels.name = 'Grids' GROUP BY verbs.id, nouns.id""")
smoothed = 0
for verb, noun, n in rows:
    if verb == "Smooths":
        smoothed += n
    else:
        print(f"{noun},{n}")
print(f"smoothed,{smoothed}")
for name, total in archive.execute("SELECT metrics.name, sum(value) FROM costs JOIN metrics ON metrics.id = metric "
                                   "WHERE metrics.name = 'cells' GROUP BY metrics.id"):
    print(f"{name},{total}")
