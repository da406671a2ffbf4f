"""Compares the keys of rows in `report --json` of archives of this folder. The first argument: perfmap."""
import json
import re
import subprocess
import sys

SHAPES = [('source', by, tree) for by in ('loop', 'statement', 'array', 'variable', 'function', 'file', 'line')
          for tree in (False, True) if not (tree and by in ('array', 'variable'))]
SHAPES += [('base', by, False) for by in ('loop', 'function')]

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
    command = [sys.argv[1], 'report', '--json', '--limit', '0', '--level', level, '--by', by] + (['--tree'] if tree else [])
    rows = json.loads(subprocess.run(command + [archive], check=True, stdout=subprocess.PIPE, text=True).stdout)['rows']
    if len({row['key_id'] for row in rows}) != len(rows):
        problems.append(f'{archive} {shape}: two rows have one key')
    if not rows:
        problems.append(f'{archive} {shape}: no rows')
    for row in rows:
        if re.search(r'0x[0-9a-f]|first-c|second-c', row['key']):
            problems.append(f'{archive} {shape}: an address or the name of the program is in ' + row['key'])
    return {row['key_id']: row['key'] for row in rows}


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
                if shape[1] == 'line':
                    if name == 'a line more' and not shape[2] and not {
                            a_line_later(text) for text in own(once).values()} & set(own(other).values()):
                        problems.append(f'{where}: {name}: no line is found a line later')
                    continue
                common = set(own(once)) & set(own(other))
                n_own += len(own(once))
                n_common += len(common)
                if shape[1] == 'function' and shape[0] == 'source' and not shape[2]:
                    texts = {once[key] for key in common}
                    problems += [f'{where}: {name}: {text} has no key in both' for text in MUST[language] if text not in texts]

# Code that took few samples is not found in each run; all else is.
print(f'{n_common} of {n_own} rows of the program have the key of a row of another run')
if n_common < 0.85 * n_own:
    problems.append('too few rows have equal keys')
print('\n'.join(problems))
sys.exit(1 if problems else 0)
