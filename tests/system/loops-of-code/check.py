"""Loops that machine code tells of: at the lines where they begin, with the time that the program says of them."""
import json
import sys

report = json.load(open('loops.json'))
total = report['total']['own_cpu_ns']
truth = [line.split() for line in open('truth.txt')]
rows = [row for row in report['rows'] if row['kind'] == 'loop']
own = {}
for row in rows:
    assert row['what'].endswith(', found in machine code'), row['what']
    own[row['nouns'][0]['line_no']] = own.get(row['nouns'][0]['line_no'], 0) + row['own_cpu_ns']
for heads, last, ns in truth:
    heads, last, ns = [int(head) for head in heads.split(',')], int(last), int(ns)
    inside = {line: value for line, value in own.items() if heads[0] <= line <= last}
    if not set(line for line, value in inside.items() if value > 0.02 * total) <= set(heads):
        sys.exit(f'loops at {inside}, not {heads}')
    found, want = 100 * sum(inside.values()) / total, 100 * ns / total
    print(f'{heads}: {found:.1f} %, truth {want:.1f} %')
    if abs(found - want) > 6:
        sys.exit('not the truth')
