"""Rows by thread and by process against the CPU times that the program said of itself."""
import json

truth = dict((key, int(value)) for key, value in (line.split() for line in open('truth.txt')))
views = {by: json.load(open(f'{by}.json')) for by in ('process', 'thread', 'function')}
totals = {by: view['total']['own_cpu_ns'] for by, view in views.items()}
assert len(set(totals.values())) == 1, totals
threads, processes = views['thread']['rows'], views['process']['rows']
assert len(processes) == 2 and all(row['process']['command'] == './names' for row in processes), processes
main_pid = next(row['process']['pid'] for row in threads if row['thread']['name'] == 'stays')


def of(**want):
    rows = [row for row in threads if all(row['thread'][key] == value for key, value in want.items())]
    assert len(rows) == 1, (want, threads)
    return rows[0]['own_cpu_ns']


child = next(row['own_cpu_ns'] for row in processes if row['process']['pid'] != main_pid)
for name, found in ('ends', of(name='ends')), ('stays', of(name='stays')), ('child', child):
    assert abs(found - truth[name]) < 0.1 * truth[name] + 5e6, (name, found, truth)
