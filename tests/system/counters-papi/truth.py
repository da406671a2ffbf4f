"""truth.py TOLD REPORT.json WHAT=WORD:METRIC,METRIC...: the program's line "WORD NUMBER NUMBER..." is what the row WHAT has of its own, metric by
metric. METRIC? is at most that, and the row's number carries a mark or is not there."""
import json
import sys

told, report, *wanted = sys.argv[1:]
truth = {line.split()[0]: [int(n) for n in line.split()[1:]] for line in open(told) if line.strip()}
rows = json.load(open(report))["rows"]
for want in wanted:
    what, rest = want.rsplit("=", 1)
    word, metrics = rest.split(":")
    name, _, place = what.partition("@")
    found = [row for row in rows if row["what"] == name and (not place or row["place"] == place)]
    assert len(found) == 1, (want, [(row["what"], row.get("place")) for row in rows])
    for metric, number in zip(metrics.split(","), truth[word]):
        own = found[0]["own_" + metric.rstrip("?")]
        if metric.endswith("?"):
            assert (own or 0) <= number, (want, metric, own, number)
            continue
        assert own == number, (want, metric, own, number)
