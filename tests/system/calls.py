"""Number of calls of one function in the CSV of `perfmap report --level base --by function --metric n_calls`.

    python3 calls.py REPORT.csv FUNCTION
"""
import csv
import sys


def main():
    total = 0
    with open(sys.argv[1], newline="", errors="surrogateescape") as file:
        for row in csv.DictReader(file):
            if sys.argv[2] in (row.get("linkage"), row["what"]):
                total += int(row["n_calls"] or 0)
    print(total)


main()
