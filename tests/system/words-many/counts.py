"""How often hot requests and all others were served, and what was answered, from an archive of many.c's program: lines as that prints them.
Second argument: how many nouns may be there."""
import sqlite3
import sys

archive = sqlite3.connect(sys.argv[1])
rows = archive.execute("""
    SELECT verbs.name, nouns.name, sum(costs.value) FROM costs
    JOIN metrics ON metrics.id = costs.metric AND metrics.name = 'n_calls' JOIN contexts ON contexts.id = costs.context
    JOIN sentences ON sentences.id = contexts.sentence JOIN nouns ON nouns.id = sentences.noun JOIN verbs ON verbs.id = sentences.verb
    JOIN levels ON levels.id = verbs.level AND levels.name = 'Service' GROUP BY verbs.id, nouns.id""")
served = read = 0
for verb, noun, n in rows:
    if verb == "Reads":
        read += n
    elif noun.startswith("hot "):
        print(f"{noun},{n}")
    else:
        served += n
print(f"serves,{served}\nreads,{read}")
print("answered_bytes,%d" % archive.execute("""SELECT sum(value) FROM costs JOIN metrics ON metrics.id = metric
        WHERE metrics.name = 'answered_bytes'""").fetchone())
n_nouns, = archive.execute("SELECT count(*) FROM nouns JOIN levels ON levels.id = nouns.level WHERE levels.name = 'Service'").fetchone()
if n_nouns > int(sys.argv[2]):
    print(f"{n_nouns} nouns")
