"""generate.py SEED FEATURES >script: a random program of words: what eight threads enter, leave, begin, end, hand over and throw, line by line.

    level L ABOVE / noun N LEVEL NAME KIND PARENT / verb V LEVEL NAME / sentence S VERB NOUN... / phase S NAME / map S S: what there is, by numbers
    thread T: its operations follow
    cost M VALUE                 so much was spent
    enter S ... end              entered and left in one frame
    active S ... end             the same as an object of C++
    lost S ... end               entered in a function that returns without leaving
    try ... end, throw N         thrown to the N-th try around it; what is between never ends
    begin S, unbegin S           pm_begin and pm_end; beginp and unbeginp: in the process
    capture C                    into slot C
    adopt C ... end, adopted C ... end
    spawn ... end                a thread, which is waited for
    leave S                      of what is not active here
    barrier                      all eight meet

FEATURES: letters; a: ambient sentences, c: causes. What throws ends the blocks that it leaves, so everything in the script is executed."""
import random
import sys

THREADS, ROUNDS, MAX_DEPTH, OPERATIONS = 8, 12, 9, 14
METRICS = 2
MAX_LINKS = 3  # of a chain of causes


class Words:
    """Two levels, one above the other, of a few nouns, some of which are parts of others."""

    def __init__(self, rng, out):
        self.sentences = []
        print('level 0 -\nlevel 1 0', file=out)
        nouns = []
        for n in range(14):
            level = n % 2
            parts_of = [m for m in nouns if m % 2 == level]
            parent = rng.choice(parts_of) if parts_of and rng.random() < 0.4 else '-'
            print(f'noun {n} {level} {"nm"[level]}{n} {rng.choice(["thing", "table"])} {parent}', file=out)
            nouns.append(n)
        for v in range(6):
            print(f'verb {v} {v % 2} {"VW"[v % 2]}{v}', file=out)
        seen = set()
        while len(self.sentences) < 26:
            verb = rng.randrange(6)
            some = tuple(rng.sample([n for n in nouns if n % 2 == verb % 2], rng.choice([1, 1, 1, 2, 2, 3])))
            if (verb, tuple(sorted(some))) in seen:
                continue
            seen.add((verb, tuple(sorted(some))))
            print('sentence', len(self.sentences), verb, *some, file=out)
            self.sentences.append((verb, some))
        # From lower sentences to higher ones, each to some with a greater number: there are no circles.
        for _ in range(9):
            a, b = sorted(rng.sample(range(26), 2))
            print('map', a, b, file=out)
        self.phases = [26, 27]
        for i, phase in enumerate(self.phases):
            print(f'phase {phase} phase{i}', file=out)


class Thread:
    """Its script as it comes into being; a coroutine that yields at barriers."""

    def __init__(self, number, rng, features, shared):
        self.number, self.rng, self.features, self.shared = number, rng, features, shared
        self.lines = []
        self.begun = []
        self.active = []  # sentences entered, and None for adopted causes
        self.links = 0  # of the causes that are adopted now
        self.tries = 0
        self.left = 0  # operations of this round

    def say(self, *words):
        self.lines.append(' '.join(map(str, words)))

    def cost(self):
        self.say('cost', self.rng.randrange(METRICS), self.rng.randrange(1, 1000))

    def sentence(self):
        return self.rng.choice(self.shared.hot if self.rng.random() < 0.6 else range(26))

    def run(self):
        """All rounds; whatever is open at a barrier stays open over it."""
        for number in range(ROUNDS):
            self.left = OPERATIONS
            yield from self.block(0)
            if number < ROUNDS - 1:
                yield from self.barriers()
        self.say('end')

    def barriers(self):
        self.say('barrier')
        yield
        if self.number == 0 and 'a' in self.features:
            self.process_wide()
        self.say('barrier')
        yield
        self.left = OPERATIONS

    def process_wide(self):
        begun = self.shared.begun
        for _ in range(self.rng.randrange(3)):
            if begun and self.rng.random() < 0.5:
                self.say('unbeginp', begun.pop(self.rng.randrange(len(begun))))
            else:
                begun.append(self.rng.choice(self.shared.words.phases + [self.sentence()]))
                self.say('beginp', begun[-1])

    def block(self, depth, in_spawned=False):
        """Returns how many tries a throw still has to leave; 0: it ended as it began."""
        while self.left > 0:
            self.left -= 1
            thrown = yield from self.operation(depth, in_spawned)
            if thrown:
                return thrown
            if depth and self.rng.random() < 0.16:
                break
        return 0

    def operation(self, depth, in_spawned):
        rng = self.rng
        kind = rng.random()
        if kind < 0.3 or depth >= MAX_DEPTH:
            self.cost()
        elif kind < 0.62:
            return (yield from self.word(depth, in_spawned))
        elif kind < 0.70:
            return (yield from self.attempt(depth, in_spawned))
        elif kind < 0.74:
            if self.tries:
                levels = rng.randrange(1, min(self.tries, 3) + 1)
                self.say('throw', levels)
                return levels
            self.cost()
        elif kind < 0.76:
            self.say('leave', rng.choice([s for s in range(26) if s not in self.active]))
        elif kind < 0.82 and 'a' in self.features:
            self.begin_or_end()
        elif kind < 0.86 and 'c' in self.features:
            self.capture()
        elif kind < 0.93 and 'c' in self.features:
            return (yield from self.adopt(depth, in_spawned))
        elif kind < 0.95 and 'c' in self.features and not in_spawned:
            yield from self.spawn(depth)
        elif kind < 0.98 and not in_spawned and self.left < 3 and self.shared.round_goes_on(self):
            yield from self.barriers()
        else:
            self.cost()
        return 0

    def nested(self, head, active, depth, in_spawned):
        self.say(*head)
        self.active.append(active)
        thrown = yield from self.block(depth + 1, in_spawned)
        self.active.pop()
        self.say('end')
        return thrown

    def word(self, depth, in_spawned):
        sentence, kind = self.sentence(), self.rng.choice(['enter', 'enter', 'active', 'active', 'lost'])
        thrown = yield from self.nested((kind, sentence), sentence, depth, in_spawned)
        if kind == 'lost' and not thrown:
            self.after_lost()
        return thrown

    def after_lost(self):
        """That a frame is gone is seen in the frame of its caller, by whatever is said there first."""
        if self.rng.random() < 0.2 and 'c' in self.features:
            self.capture()
        elif self.rng.random() < 0.2:
            self.say('leave', self.rng.choice([s for s in range(26) if s not in self.active]))
        self.cost()

    def attempt(self, depth, in_spawned):
        self.tries += 1
        thrown = yield from self.nested(('try',), None, depth, in_spawned)
        self.tries -= 1
        if thrown == 1:
            self.after_lost()
        return max(thrown - 1, 0)

    def begin_or_end(self):
        if self.begun and self.rng.random() < 0.55:
            self.say('unbegin', self.begun.pop(self.rng.randrange(len(self.begun))))
        elif self.rng.random() < 0.1:
            self.say('unbegin', self.rng.choice([s for s in range(26) if s not in self.begun]))
        else:
            self.begun.append(self.sentence())
            self.say('begin', self.begun[-1])

    def capture(self):
        slot = self.shared.new_slot(self.links)
        self.say('capture', slot)
        self.shared.fresh.setdefault(self.number, []).append(slot)

    def adopt(self, depth, in_spawned):
        slots = [s for s in self.shared.known + self.shared.fresh.get(self.number, [])
                 if self.links + self.shared.links[s] + 1 <= MAX_LINKS]
        if not slots:
            self.cost()
            return 0
        slot = self.rng.choice(slots[-20:])
        before, self.links = self.links, self.links + self.shared.links[slot] + 1
        thrown = yield from self.nested((self.rng.choice(['adopt', 'adopted']), slot), None, depth, in_spawned)
        self.links = before
        return thrown

    def spawn(self, depth):
        """A thread of its own, with nothing active; the thread that made it waits."""
        if self.links + 1 > MAX_LINKS:
            return
        saved = self.active, self.begun, self.tries, self.links, self.left
        self.active, self.begun, self.tries, self.links, self.left = [], [], 0, self.links + 1, 6
        self.say('spawn')
        yield from self.block(depth + 1, True)
        self.say('end')
        self.active, self.begun, self.tries, self.links, self.left = saved


class Shared:
    def __init__(self, words, rng):
        self.words = words
        self.hot = rng.sample(range(26), 6)
        self.begun, self.links = [], []
        self.known, self.fresh = [], {}
        self.barriers_left = {}

    def new_slot(self, links):
        self.links.append(links)
        return len(self.links) - 1

    def round_goes_on(self, thread):
        """Barriers in the middle of blocks; all threads have the same number of them."""
        left = self.barriers_left.setdefault(thread.number, 8)
        self.barriers_left[thread.number] = left - 1
        return left > 0


def main():
    rng = random.Random(int(sys.argv[1]))
    words = Words(rng, sys.stdout)
    shared = Shared(words, rng)
    threads = [Thread(n, random.Random(rng.random()), sys.argv[2], shared) for n in range(THREADS)]
    running = {t.number: t.run() for t in threads}
    segments = {t.number: 0 for t in threads}
    while running:
        for number, run in list(running.items()):
            try:
                next(run)
                segments[number] += 1
            except StopIteration:
                del running[number]
        shared.known += [slot for slots in shared.fresh.values() for slot in slots]
        shared.fresh.clear()
    most = max(segments.values())
    for thread in threads:
        print('thread', thread.number)
        print(*thread.lines[:-1], sep='\n')
        # Those that were at fewer barriers meet the others at the end.
        print('barrier\n' * (most - segments[thread.number]) + 'end')


main()
