"""Compares the keys of rows that print_keys (the first argument) finds in archives of this folder."""
import re
import subprocess
import sys

LOOP, STATEMENT, ARRAY, VARIABLE, FUNCTION, FILE, LINE = range(7)
SHAPES = [('source', by, tree) for by in range(7) for tree in (False, True) if not (tree and by in (ARRAY, VARIABLE))]
SHAPES += [('base', by, False) for by in (LOOP, FUNCTION)]

# In every run: what was called, or took long.
MUST = {
    'c': ['Source function main (one.c)', 'Source function other (two.c)', 'Source function twice (one.c)',
          'Source function sum (one.c)', 'Source function sum (two.c)'],
    'cc': ['Source function main (over.cc)', 'Source function _Z3allIdET_RKSt6vectorIS0_SaIS0_EE (over.cc)',
           'Source function _Z3allIiET_RKSt6vectorIS0_SaIS0_EE (over.cc)',
           'Source function _ZL3addRKSt6vectorIdSaIdEE (over.cc)', 'Source function _ZL3addRKSt6vectorIdSaIdEEd (over.cc)'],
}
OWN = re.compile(r'\b(one\.c|two\.c|over\.cc)\b')
problems = []


def keys(archive, shape):
    level, by, tree = shape
    command = [sys.argv[1], archive, level, str(by)] + (['tree'] if tree else [])
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    rows = [line.split('\t') for line in lines]
    if len({row[0] for row in rows}) != len(rows):
        problems.append(f'{archive} {shape}: two rows have one key')
    if not rows:
        problems.append(f'{archive} {shape}: no rows')
    for row in rows:
        if re.search(r'0x[0-9a-f]|first-c|second-c', row[2]):
            problems.append(f'{archive} {shape}: an address or the name of the program is in {row[2]}')
    return {row[0]: row[2] for row in rows}


def own(rows):
    return {key: text for key, text in rows.items() if OWN.search(text)}


def a_line_later(text):
    return re.sub(r'((?:one\.c|two\.c|over\.cc):)(\d+)', lambda m: m.group(1) + str(int(m.group(2)) + 1), text)


n_own = n_common = 0
for language in MUST:
    for mode in ('exact', 'active'):
        for shape in SHAPES:
            once, again, twice, changed = (keys(f'{language}-{mode}-{name}.perfmap', shape)
                                           for name in ('once', 'again', 'twice', 'changed'))
            where = f'{language} {mode} {shape}'
            if once != again:
                problems.append(f'{where}: one run, collected twice: {set(once.values()) ^ set(again.values())}')
            for other, name in ((twice, 'another run'), (changed, 'a line more')):
                if shape[1] == LINE:
                    if name == 'a line more' and not shape[2] and not {
                            a_line_later(text) for text in own(once).values()} & set(own(other).values()):
                        problems.append(f'{where}: {name}: no line is found a line later')
                    continue
                common = set(own(once)) & set(own(other))
                n_own += len(own(once))
                n_common += len(common)
                if shape[1] == FUNCTION and shape[0] == 'source' and not shape[2]:
                    texts = {once[key] for key in common}
                    problems += [f'{where}: {name}: {text} has no key in both' for text in MUST[language] if text not in texts]

# Code that took few samples is not found in each run; all else is.
print(f'{n_common} of {n_own} rows of the program have the key of a row of another run')
if n_common < 0.85 * n_own:
    problems.append('too few rows have equal keys')
print('\n'.join(problems))
sys.exit(1 if problems else 0)
