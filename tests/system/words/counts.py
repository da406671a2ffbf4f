"""How often each query was executed and waits were entered, from an archive of words.c's program: lines as that prints them."""
import sqlite3
import sys

rows = sqlite3.connect(sys.argv[1]).execute("""
    SELECT verbs.name, nouns.name, sum(costs.value) FROM costs
    JOIN metrics ON metrics.id = costs.metric AND metrics.name = 'n_calls' JOIN contexts ON contexts.id = costs.context
    JOIN sentences ON sentences.id = contexts.sentence JOIN nouns ON nouns.id = sentences.noun JOIN verbs ON verbs.id = sentences.verb
    JOIN levels ON levels.id = verbs.level AND levels.name = 'SQL' GROUP BY verbs.id, nouns.id""")
waited = 0
for verb, noun, n in rows:
    if verb == "Waits":
        waited += n
    else:
        print(f"{noun.split(',')[0]},{n}")
print(f"waited,{waited}")
for name, total in sqlite3.connect(sys.argv[1]).execute("""SELECT metrics.name, sum(value) FROM costs JOIN metrics ON metrics.id = metric
        WHERE metrics.name IN ('rows', 'spilled_bytes') GROUP BY metrics.id"""):
    print(f"{name},{total}")
