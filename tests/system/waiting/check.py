"""What the three views say of each line that waits, against what the program said: at least 90 % of it (a wait that ends while others
have the processors is longer by the program's clock than by its switches), and nothing beside it."""
import json
import sys

wall = sys.argv[1] == 'wall'
truth = dict((key, int(value)) for key, value in (line.split() for line in open('truth.txt')))
wall_ns, cpu_ns = truth.pop('wall'), truth.pop('cpu')
waits = {int(line): ns for line, ns in truth.items()}
assert len(waits) == 10, waits


def check(what, is_good, *shown):
    if not is_good:
        sys.exit(f'{what}: {shown}')


def check_waits(what, found):
    for line, ns in waits.items():
        got = found.get(line, 0)
        check(f'{what}, line {line}', 0.9 * ns < got < 1.02 * ns + 2e6, got, ns)
    others = sum(found.values()) - sum(found.get(line, 0) for line in waits)
    check(f'{what}: waiting elsewhere', others < 0.1 * sum(waits.values()), others, found)


for name in 'lines', 'statements':
    report = json.load(open(f'{name}.json'))
    rows = report['rows']
    found = {}
    for row in rows:
        nouns = [noun for noun in row['nouns'] if noun['file'].endswith('waits.c')]
        if nouns:
            line = nouns[0]['line_no']
            found[line] = found.get(line, 0) + row['own_waiting_ns']
    check_waits(name, found)
    own = 'own_sampled_wall_ns' if wall else 'own_cpu_ns'
    total = report['total'][own]
    check(f'{name}: sum of rows', sum(row[own] for row in rows) == total, total)
    if wall: # what the program does before main and after its last word is not in its sum
        check(f'{name}: wall time', abs(total - wall_ns) < 0.05 * wall_ns, total, wall_ns)
        off = total - report['total']['own_waiting_ns'] - report['total'].get('own_preempted_ns', 0)
        check(f'{name}: CPU time in wall time', abs(off - cpu_ns) < 0.15 * cpu_ns, off, cpu_ns)
    else:
        check(f'{name}: CPU time', abs(total - cpu_ns) < 0.15 * cpu_ns, total, cpu_ns)

annotation = json.load(open('annotate.json'))
check_waits('annotate', {line['line_no']: line['waiting_ns'] for line in annotation['lines']})
