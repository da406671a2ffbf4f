"""Good manners: a program behaves under `perfmap run` as without it, in every mode, and what it is told to have done is what it did.

    from manners import Tests
    t = Tests("signals.c")              # tests/programs/manners/signals.c, compiled with the plugin
    @t.test
    def handlers():
        for run in t.runs("handlers"):  # once without PerfMap, then in each mode; output, status and counts are compared
            ...run.calls["leaf"], run.truth["leaf"], run.processes, run.sql(...)
    t.main()

Counts are compared without a budget in each mode, where they must be equal, and once with the default budget, where what is disarmed
may have fewer.
"""
import os
import re
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

BUILD = os.environ["PERFMAP_BUILD"]
SOURCE = os.environ["PERFMAP_SOURCE"]
PROGRAMS = os.path.join(SOURCE, "tests", "programs", "manners")
PERFMAP = os.path.join(BUILD, "bin", "perfmap")
UNBOUNDED = ["--budget", "none"]
MODES = {"active": ["--mode", "active", *UNBOUNDED], "exact": ["--mode", "exact"], "count": ["--mode", "count"], "default": []}
ALL_MODES = {**MODES, "trace": ["--mode", "trace"]}


def same(what, got, expected):
    if got != expected:
        raise AssertionError(f"{what}: {got!r}, not {expected!r}")


def adapters(mode):
    """MANNERS_ADAPTERS: by these as well (memory needs call paths, and mode count has none)."""
    names = [name for name in os.environ.get("MANNERS_ADAPTERS", "").split(",") if name and (name != "memory" or mode != "count")]
    return ["--adapter", ",".join(names)] if names else []


def plugin():
    path = subprocess.run([PERFMAP, "plugin-path"], stdout=subprocess.PIPE, check=True).stdout.decode().strip()
    return "-fplugin=" + path


def compiled(name, source, *options, compiler=None):
    compiler = compiler or ("g++" if source.endswith(".cc") else "gcc")
    source = os.path.join(PROGRAMS, source)
    subprocess.run([compiler, "-O2", "-g", plugin(), "-I", PROGRAMS, "-o", name, source, *options, "-lpthread"], check=True)
    return "./" + name


def truth_of(path):
    """What a program counted itself."""
    with open(path, "rb") as file:
        data = file.read()
    counts = {}
    for at in range(0, len(data) - 31, 32):
        name, n = struct.unpack_from("<24sq", data, at)
        if name[0]:
            counts[name.rstrip(b"\0").decode()] = n
    return counts


def plain_name(name):
    """Of a function of C++ without its parameters: _ZL4leafl is leaf."""
    mangled = re.fullmatch(r"_ZL?(\d+)(\w+)", name)
    return mangled[2][:int(mangled[1])] if mangled else name


def stolen_ticks():
    """Time that the host took from this virtual machine: what the kernel's events count has it, threads' CPU clocks have not."""
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8])


class Run:
    """A measured run and its archive."""

    def __init__(self, mode, done, archive, truth):
        self.mode, self.status, self.out, self.err, self.truth = mode, done.returncode, done.stdout, done.stderr, truth
        self.stolen_ns = 0
        self.database = sqlite3.connect(f"file:{archive}?mode=ro", uri=True)
        self.calls = {}
        for name, n in self.sql("""select n.name, sum(c.value) from costs c join metrics m on c.metric = m.id and m.name = 'n_calls'
            join contexts x on c.context = x.id join sentences s on x.sentence = s.id join nouns n on s.noun = n.id group by n.name"""):
            self.calls[plain_name(name)] = self.calls.get(plain_name(name), 0) + n
        self.processes = self.sql("select id, pid, parent_pid, image, end_kind, argv from processes where pid order by start_ns, id")
        self.messages = [text for (text,) in self.sql("select text from messages") if not text.startswith("samples are taken by timers")]
        self.disarmed = {plain_name(name) for (name,) in self.sql("select n.name from disarmed d join nouns n on d.noun = n.id")}

    def sql(self, query):
        return self.database.execute(query).fetchall()

    def check_counts(self, slack=0):
        """Each is the truth; of what was disarmed for the budget not more than the truth. slack: so many threads were ended from
        outside, each at most one event before or after it counted itself."""
        for name, n in self.truth.items():
            got = self.calls.get(name, 0)
            missing = n - got
            if missing < -slack or (missing > slack and name not in self.disarmed):
                raise AssertionError(f"mode {self.mode}: {name} has {got} calls, not {n} ({self.messages})")

    def check_sums(self):
        """No thread has more time than there is: its contexts' times add up to what its clock says."""
        sums = {}
        for thread, metric, value in self.sql("""select c.thread, m.name, sum(c.value) from costs c join metrics m on c.metric = m.id
                where m.kind = 'time' group by c.thread, m.name"""):
            sums[thread, metric] = value
        for thread, tid, cpu_ns, wall_ns in self.sql("select id, tid, cpu_ns, end_ns - start_ns from threads"):
            if cpu_ns is not None and sums.get((thread, "cpu_ns"), 0) > cpu_ns * 1.02 + 5e6 + self.stolen_ns:
                raise AssertionError(f"mode {self.mode}: thread {tid} has {cpu_ns} ns, its contexts {sums[thread, 'cpu_ns']} ns")
            if sums.get((thread, "wall_ns"), 0) > wall_ns:
                raise AssertionError(f"mode {self.mode}: thread {tid} lived {wall_ns} ns, its contexts {sums[thread, 'wall_ns']} ns")

    def check_parents(self):
        """Every process but the first has its parent among the others. In mode count a shell in between has no file, for it has no sleds."""
        pids = {p[1] for p in self.processes}
        for _, pid, parent, image, _, argv in self.processes:
            if parent not in pids and pid != self.processes[0][1]:
                raise AssertionError(f"mode {self.mode}: process {pid}.{image} ({argv!r}) has parent {parent}, none of {pids}")

    def no_messages(self):
        same(f"mode {self.mode}: messages", self.messages, [])


class Tests:
    def __init__(self, source=None, *options, program=None):
        os.makedirs("work", exist_ok=True)
        self.program = program or (compiled(os.path.splitext(source)[0], source, *options) if source else None)
        self.tests = []

    def test(self, function):
        self.tests.append(function)
        return function

    def _start(self, command, **more):
        with tempfile.NamedTemporaryFile(prefix="counts.", dir=".", delete=False) as file:
            path = file.name
        environment = dict(os.environ, MANNERS_COUNTS=os.path.abspath(path), **more.pop("environment", {}))
        os.chmod(path, 0o666)
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=300, **more)
        truth = truth_of(path)
        os.remove(path)
        return done, truth

    def plain(self, *arguments, program=None, **more):
        return self._start([program or self.program, *arguments], **more)

    def measured(self, mode, *arguments, options=(), program=None, **more):
        archive = f"{mode}.perfmap"
        if os.path.exists(archive):
            os.remove(archive)
        if mode == "count":  # takes no samples
            options = [o for i, o in enumerate(options) if "--rate" not in (o, *options[max(i - 1, 0):i])]
        command = [PERFMAP, "run", *ALL_MODES[mode], *adapters(mode), *options, "-o", archive, "--", program or self.program, *arguments]
        stolen = stolen_ticks()
        done, truth = self._start(command, **more)
        stolen = stolen_ticks() - stolen
        if not os.path.exists(archive):
            raise AssertionError(f"mode {mode}: no archive: {done.returncode} {done.stdout!r} {done.stderr!r}")
        own = [line for line in done.stderr.splitlines(True) if not line.startswith(b"perfmap:")]
        run = Run(mode, done, archive, truth)
        run.stolen_ns = (stolen + 4) * 1e7 if stolen else 0
        run.said = [line.decode() for line in done.stderr.splitlines() if line.startswith(b"perfmap:")]
        run.program_err = b"".join(own)
        return run

    def runs(self, *arguments, modes=tuple(MODES), same_counts=True, counts=True, **more):
        """Without PerfMap, then measured in each mode: what the program does is the same."""
        plain, truth = self.plain(*arguments, **{k: v for k, v in more.items() if k != "options"})
        status = plain.returncode if plain.returncode >= 0 else 128 - plain.returncode
        if status in (97, 98, 99):
            raise AssertionError(f"the program itself fails: {plain.stderr!r}")
        result = []
        for mode in modes:
            run = self.measured(mode, *arguments, **more)
            what = f"{' '.join(arguments)}, mode {mode}"
            same(f"{what}: exit status ({run.err!r})", run.status, status)
            same(f"{what}: output", run.out, plain.stdout)
            same(f"{what}: standard error", run.program_err, plain.stderr)
            if same_counts:
                same(f"{what}: what it did", run.truth, truth)
            if counts:
                run.check_counts()
            run.check_sums()
            result.append(run)
        return result

    def main(self):
        wanted, n_failed = [name for name in sys.argv[1:] if name[0] != "-"], 0
        for function in self.tests:
            if (wanted and function.__name__ not in wanted) or "-" + function.__name__ in sys.argv:
                continue
            start = time.monotonic()
            try:
                skipped = function()
                if isinstance(skipped, str) and os.environ.get("PERFMAP_NO_SKIP"):
                    subprocess.run([os.path.join(SOURCE, "tests/may-skip"), skipped], check=True)
                word = "skipped, " + skipped + "," if isinstance(skipped, str) else "ok"
                print(f"{word} {function.__name__} ({time.monotonic() - start:.1f} s)", flush=True)
            except Exception as problem:  # each says what it saw; the others still run
                n_failed += 1
                print(f"FAILED {function.__name__}: {type(problem).__name__} {problem}", flush=True)
        sys.exit(1 if n_failed else 0)
