"""The slow, plain model of words: does a script of generate.py, one thread after the other between barriers, and answers questions of its own.

    model.py SCRIPT SEED N [threads] >questions-and-answers     N random questions: QUESTION <tab> sums of the metrics, and of
                                                                what of them is deferred, `-` where that is not modelled
                                                                with `threads` each is about one thread

A cost is kept by what was active: (thread, ambient sentences, path), where a path is of sentences ('s', number) and causes ('c', ambient, path). How
often and when does not matter; threads only meet at barriers, and sentences of the process begin and end there."""
import functools
import random
import sys

METRICS = 2
OPENS = {'enter', 'active', 'lost', 'try', 'adopt', 'adopted', 'spawn'}


class Script:
    def __init__(self, path):
        self.levels, self.nouns, self.verbs, self.sentences, self.maps, self.threads = {}, {}, {}, {}, [], {}
        operations = None
        for line in open(path):
            word, *rest = line.split()
            if word == 'thread':
                operations = self.threads[int(rest[0])] = []
            elif operations is not None:
                operations.append((word, *map(int, rest)))
            elif word == 'noun':
                self.nouns[int(rest[0])] = (int(rest[1]), rest[2], rest[3], None if rest[4] == '-' else int(rest[4]))
            elif word == 'verb':
                self.verbs[int(rest[0])] = (int(rest[1]), rest[2])
            elif word == 'sentence':
                self.sentences[int(rest[0])] = (int(rest[1]), [int(n) for n in rest[2:]])
            elif word == 'phase':  # {NAME Runs} of the level Phases
                self.nouns['p' + rest[0]] = (2, rest[1], 'phase', None)
                self.verbs['Runs'] = (2, 'Runs')
                self.sentences[int(rest[0])] = ('Runs', ['p' + rest[0]])
            elif word == 'map':
                self.maps.append((int(rest[0]), int(rest[1])))
        self.ends = {number: find_ends(operations) for number, operations in self.threads.items()}
        # What is active with a sentence: all that mappings lead to.
        self.reached = {}
        for s in self.sentences:
            found, todo = {s}, [s]
            while todo:
                at = todo.pop()
                for a, b in self.maps:
                    if a == at and b not in found:
                        found.add(b)
                        todo.append(b)
            self.reached[s] = found


def find_ends(operations):
    ends, opened = {}, []
    for i, operation in enumerate(operations):
        if operation[0] in OPENS:
            opened.append(i)
        elif operation[0] == 'end' and opened:
            ends[opened.pop()] = i
    return ends


class Process:
    def __init__(self, script):
        self.script = script
        self.begun = []  # in the process
        self.was_begun = set()  # sentences that were begun anywhere, and what they map to
        self.slots = {}
        self.costs = {}  # what was active: sums

    def run(self):
        threads = [self.thread(number, 0, []) for number in sorted(self.script.threads)]
        while threads:
            for thread in list(threads):
                try:
                    next(thread)
                except StopIteration:
                    threads.remove(thread)

    def thread(self, number, at, path):
        """From an operation to the end of its block; yields at barriers. path: what it begins with."""
        operations, ends = self.script.threads[number], self.script.ends[number]
        blocks = []  # operation, length of the path before it
        begun = []
        path = list(path)
        while True:
            word, *arguments = operations[at]
            at += 1
            if word == 'end':
                if not blocks:
                    return
                path = path[:blocks.pop()[1]]
            elif word == 'barrier':
                yield
            elif word == 'cost':
                sums = self.costs.setdefault((number, self.ambient(begun), tuple(path)), [0] * METRICS)
                sums[arguments[0]] += arguments[1]
            elif word == 'throw':
                for _ in range(arguments[0]):
                    while operations[blocks[-1][0]][0] != 'try':
                        blocks.pop()
                    start, length = blocks.pop()
                    at, path = ends[start] + 1, path[:length]
            elif word == 'spawn':
                for _ in self.thread(number, at, [('c', self.ambient(begun), tuple(path))]):
                    raise ValueError('a barrier in a thread that is waited for')
                at = ends[at - 1] + 1
            elif word in OPENS:
                blocks.append((at - 1, len(path)))
                if word in ('enter', 'active', 'lost'):
                    path.append(('s', arguments[0]))
                elif word in ('adopt', 'adopted'):
                    path.append(('c', *self.slots[arguments[0]]))
            elif word == 'capture':
                self.slots[arguments[0]] = (self.ambient(begun), tuple(path))
            elif word in ('begin', 'beginp'):
                (begun if word == 'begin' else self.begun).append(arguments[0])
                self.was_begun |= self.script.reached[arguments[0]]
            elif word in ('unbegin', 'unbeginp'):
                of = begun if word == 'unbegin' else self.begun
                if arguments[0] in of:
                    of.remove(arguments[0])
            elif word != 'leave':  # which leaves what is not active
                raise ValueError(word)

    def ambient(self, begun):
        return frozenset(begun + self.begun)


@functools.lru_cache(maxsize=None)
def links(ambient, path):
    """The paths without causes that are active by a captured one: its own, then those of its causes, from the nearest on."""
    found = [(ambient, tuple(e for e in path if e[0] == 's'))]
    for element in reversed(path):
        if element[0] == 'c':
            found += [link for link in links(*element[1:]) if link not in found]
    return found


@functools.lru_cache(maxsize=None)
def without_repeats(ambient, path):
    """Captured paths with the same links are one, whichever came first: what work comes back to is not kept twice. So is the order on such paths."""
    found, kept = [(ambient, tuple(e for e in path if e[0] == 's'))], []
    for element in reversed(path):
        if element[0] == 'c':
            more = [link for link in links(*element[1:]) if link not in found]
            found += more
            if not more:
                continue
            element = ('c', *without_repeats(*element[1:]))
        kept.append(element)
    return ambient, tuple(reversed(kept))


class Asking:
    """Questions are trees: ('s', fit) where fit is a frozenset of sentences; ('and', a, b), ('or', a, b), ('not', a), ('then', choices),
    ('begun', fit): one of them was begun."""

    def __init__(self, process):
        self.keys = list(process.costs)
        self.sums = list(process.costs.values())
        self.reached = process.script.reached
        self.plain = [tuple(('c', *without_repeats(*e[1:])) if e[0] == 'c' else e for e in path) for _, _, path in self.keys]
        self.leads_to = {s: sum(s in reached for reached in self.reached.values()) for s in self.reached}
        self.open = set()  # questions of `then` that depend on the order on paths that repeat

    def fits(self, sentence, fit):
        return not fit.isdisjoint(self.reached[sentence])

    def is_active(self, ambient, path, fit):
        return any(self.fits(s, fit) for s in ambient) or any(
            self.fits(element[1], fit) if element[0] == 's' else self.is_active(*element[1:], fit) for element in path)

    def is_begun(self, ambient, path, fit):
        return any(self.fits(s, fit) for s in ambient) or any(
            element[0] == 'c' and self.is_begun(*element[1:], fit) for element in path)

    def progress(self, ambient, path, parts):
        """How many of the parts became active one inside the other, from the outside in. What is begun is in no order but outermost: one part
        at most. What a cause brings and what it was adopted in have no order either; what is inside of the adoption is inside of both."""
        done = int(any(self.fits(s, parts[0]) for s in ambient))
        for element in path:
            if element[0] == 'c':
                done = max(done, self.progress(*element[1:], parts))
            elif done < len(parts) and self.fits(element[1], parts[done]):
                done += 1
        return done

    @functools.lru_cache(maxsize=None)
    def mask(self, question):
        """The keys at which it is true, as bits."""
        word = question[0]
        if word == 'not':
            return ~self.mask(question[1]) & ((1 << len(self.keys)) - 1)
        if word == 'and':
            return self.mask(question[1]) & self.mask(question[2])
        if word == 'or':
            return self.mask(question[1]) | self.mask(question[2])
        if word == 's':
            true = (self.is_active(ambient, path, question[1]) for _, ambient, path in self.keys)
        elif word == 'begun':
            true = (self.is_begun(ambient, path, question[1]) for _, ambient, path in self.keys)
        else:
            true, plain = ([self.progress(ambient, path, question[1]) == len(question[1])
                            for (_, ambient, _), path in zip(self.keys, paths)]
                           for paths in ([path for _, _, path in self.keys], self.plain))
            if true != plain:
                self.open.add(question)
        return sum(1 << i for i, yes in enumerate(true) if yes)

    def singles(self, question):
        """What a conjunction asks for, when each is one sentence that nothing else is mapped to. None: it is something else."""
        if question[0] == 'and':
            a, b = self.singles(question[1]), self.singles(question[2])
            return a + b if a and b else None
        single = question[0] == 's' and len(question[1]) == 1 and all(self.leads_to[s] == 1 for s in question[1])
        return [question[1]] if single else None

    def deferred(self, question):
        """Of the answer, what was active by a cause only in one of them."""
        fits = self.singles(question)
        if fits is None:
            return ['-'] * METRICS
        mask = self.mask(question)
        late = [i for i, (_, ambient, path) in enumerate(self.keys) if mask >> i & 1 and not all(
            any(self.fits(s, fit) for s in [*ambient, *(e[1] for e in path if e[0] == 's')]) for fit in fits)]
        return [sum(self.sums[i][m] for i in late) for m in range(METRICS)]

    def is_open(self, question):
        return question in self.open or (question[0] in ('and', 'or', 'not') and any(map(self.is_open, question[1:])))

    def answer(self, question, thread=None):
        mask = self.mask(question)
        return [sum(sums[m] for i, sums in enumerate(self.sums) if mask >> i & 1 and thread in (None, self.keys[i][0]))
                for m in range(METRICS)]


class Questions:
    """Random ones, as text and as trees."""

    def __init__(self, script, was_begun, rng):
        self.script, self.was_begun, self.rng = script, was_begun, rng

    def noun_word(self, level):
        rng, nouns = self.rng, [(n, *of) for n, of in self.script.nouns.items() if of[0] == level]
        noun = rng.choice(nouns)
        names = {0: 'Low', 1: 'Up', 2: 'Phases'}
        kind = rng.random()
        if kind < 0.25:
            return '?', lambda n: True
        if kind < 0.60:
            text, fits = noun[2], lambda n: self.script.nouns[n][1] == noun[2]
        elif kind < 0.75:
            text, fits = noun[2][:2] + '*', lambda n: self.script.nouns[n][1].startswith(noun[2][:2])
        elif kind < 0.85:
            text, fits = noun[3] + ':?', lambda n: self.script.nouns[n][2] == noun[3]
        else:
            text = f'{noun[3]}:{noun[2]}'
            fits = lambda n: self.script.nouns[n][1] == noun[2]
        if rng.random() < 0.2:
            text = f'{names[level]}::{text}'
            return text, lambda n: self.script.nouns[n][0] == level and self.is_part(n, fits)
        return text, lambda n: self.is_part(n, fits)

    def is_part(self, noun, fits):
        while noun is not None:
            if fits(noun):
                return True
            noun = self.script.nouns[noun][3]
        return False

    def assigned(self, words, nouns):
        """Each word to a noun of its own?"""
        if not words:
            return True
        return any(words[0](n) and self.assigned(words[1:], nouns[:i] + nouns[i + 1:]) for i, n in enumerate(nouns))

    def sentence(self):
        """The verb always names its level, so that words fit there alone."""
        rng = self.rng
        while True:
            verb, nouns = self.script.sentences[rng.choice(sorted(self.script.sentences))]
            level, name = self.script.verbs[verb]
            words = [self.noun_word(level) for _ in range(rng.choice([1, 1, 1, 2]))]
            any_verb = rng.random() < 0.4
            prefix = ['Low', 'Up', 'Phases'][level]
            text = '{' + ', '.join(w for w, _ in words) + ' ' + prefix + '::' + ('?' if any_verb else name) + '}'
            fit = frozenset(s for s, (v, of) in self.script.sentences.items()
                            if self.script.verbs[v][0] == level and (any_verb or v == verb) and self.assigned([f for _, f in words], of))
            if fit:
                return text, ('s', fit)

    def exact(self):
        """All words of one sentence."""
        verb, nouns = self.script.sentences[self.rng.choice(sorted(self.script.sentences))]
        level, name = self.script.verbs[verb]
        words = [self.script.nouns[n][1] for n in nouns]
        fits = [lambda n, word=word: self.is_part(n, lambda m: self.script.nouns[m][1] == word) for word in words]
        fit = frozenset(s for s, (v, of) in self.script.sentences.items() if v == verb and self.assigned(fits, of))
        return '{' + ', '.join(words) + ' ' + ['Low', 'Up', 'Phases'][level] + '::' + name + '}', ('s', fit)

    def during(self, text, tree):
        """... during or outside of what was begun."""
        level = self.rng.randrange(3)
        while True:
            word, fits = self.noun_word(level)
            if word != '?' and (level == 2 or '::' in word):
                break
        fit = frozenset(s for s in self.was_begun if any(fits(n) for n in self.script.sentences[s][1]))
        if self.rng.random() < 0.5:
            return f'{text} during {word}', ('and', tree, ('begun', fit))
        return f'{text} outside {word}', ('and', tree, ('not', ('begun', fit)))

    def choice(self):
        text, tree = self.sentence()
        if self.rng.random() < 0.25:
            other, other_tree = self.sentence()
            return f'({text} or {other})', ('or', tree, other_tree)
        return text, tree

    def ordered(self):
        parts = [self.choice() for _ in range(self.rng.choice([2, 2, 2, 3]))]
        return ' then '.join(t for t, _ in parts), ('then', tuple(fit_of(tree) for _, tree in parts))

    def question(self, depth=0):
        rng = self.rng
        kind = rng.random()
        if depth > 2 or kind < 0.25:
            return self.sentence()
        if kind < 0.3:
            return self.exact()
        if kind < 0.5:
            text, tree = self.ordered()
            return (f'({text})' if depth else text), tree
        if kind < 0.62:
            text, tree = self.question(depth + 1)
            return f'not ({text})', ('not', tree)
        if kind < 0.68:
            (a, a_tree), (b, b_tree) = self.exact(), self.exact()
            return (f'({a}, {b})' if depth else f'{a}, {b}'), ('and', a_tree, b_tree)
        word = 'and' if kind < 0.86 else 'or'
        (a, a_tree), (b, b_tree) = self.question(depth + 1), self.question(depth + 1)
        text = f'({a}), ({b})' if word == 'and' and rng.random() < 0.5 else f'({a}) {word} ({b})'
        return (f'({text})' if depth else text), (word, a_tree, b_tree)


def fit_of(tree):
    return tree[1] if tree[0] == 's' else fit_of(tree[1]) | fit_of(tree[2])


def main():
    script = Script(sys.argv[1])
    process = Process(script)
    process.run()
    asking = Asking(process)
    questions = Questions(script, process.was_begun, random.Random(int(sys.argv[2])))
    print(f'{len(process.costs)} states, {sum(s[0] for s in asking.sums)} rows', file=sys.stderr)
    n = 0
    while n < int(sys.argv[3]):
        text, tree = questions.question()
        if process.was_begun and questions.rng.random() < 0.15:
            text, tree = questions.during(text, tree)
        thread = questions.rng.randrange(8) if sys.argv[4:] else None
        answer = asking.answer(tree, thread)
        if not asking.is_open(tree):
            deferred = asking.deferred(tree) if thread is None else ['-'] * METRICS
            print(text + ('' if thread is None else f' on thread w{thread}'), *answer, *deferred, sep='\t')
            n += 1


if __name__ == '__main__':
    main()
