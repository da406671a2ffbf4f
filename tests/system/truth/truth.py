"""Asks PerfMap about programs that print their own truth, and compares. README.md says how; `table` has the programs and questions.

    truth.py [PROGRAM ...] [--compiler NAME] [--level O2] [--all] [--list] [--verbose] [--random N [--seed S] [--language c]]
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import functools
import json
import math
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import generate

here = os.path.dirname(os.path.abspath(__file__))
programs = os.path.join(here, "programs")
perfmap = os.path.join(os.environ["PERFMAP_BUILD"], "bin/perfmap")
include = os.path.join(os.environ["PERFMAP_SOURCE"], "runtime/include")
LANGUAGES = {".c": "c", ".cc": "c++", ".f90": "fortran", ".f": "fortran"}
TIMEOUT_S = 120


class Wrong(Exception):
    """The table or the machine is wrong, not a number."""


# ---- the table

class Program:
    def __init__(self, name, place, folder):
        self.name = name
        self.place = place
        self.source = os.path.join(folder, name)
        self.flags = []
        self.library = None
        self.loaded = []  # libraries that it loads itself
        self.objects = []  # compiled without the plugin
        self.levels, self.further = None, None  # further: with --all only
        self.compilers = ["*"]
        # 1000 samples of half a second: a share of 50 % has a deviation of 1.6. So many cost more than the budget, which would leave no call followed.
        self.runs = {"default": ["--rate", "1999", "--budget", "none", "--", "./program"], "usual": ["--", "./program"]}
        self.rows = []

    def language(self):
        return LANGUAGES[os.path.splitext(self.name)[1]]


Row = collections.namedtuple("Row", "run command value truth tolerance marks place")


def read_table(path, folder):
    """Returns compilers {name: {language: command}} and the programs, which lie in `folder`."""
    compilers, all_programs, levels, further = {}, [], [], []
    for number, line in enumerate(open(path), 1):
        place = f"table:{number}"
        line = line.split(" #")[0].rstrip()
        if not line or line.startswith("#"):
            continue
        if "|" in line and not line.startswith("run "):
            fields = [field.strip() for field in re.split(r"\s\|(?:\s|$)", line)]
            if len(fields) not in (5, 6):
                raise Wrong(f"{place}: {len(fields)} fields, not 5 or 6")
            all_programs[-1].rows.append(Row(*fields[:5], tuple(fields[5].split()) if len(fields) == 6 else (), place))
            continue
        word, *rest = line.split()
        if word == "compiler":
            compilers[rest[0]] = dict(pair.split("=") for pair in rest[1:])
        elif word == "levels" and not all_programs:
            levels = rest
        elif word == "further" and not all_programs:
            further = rest
        elif word == "program":
            all_programs.append(Program(rest[0], place, folder))
            all_programs[-1].levels, all_programs[-1].further = levels, further
        elif word == "flags":
            all_programs[-1].flags = rest
        elif word == "library":
            all_programs[-1].library = os.path.join(programs, rest[0])
        elif word in ("loaded", "objects"):
            setattr(all_programs[-1], word, [os.path.join(programs, name) for name in rest])
        elif word == "levels":
            all_programs[-1].levels, all_programs[-1].further = rest, []
        elif word == "compilers":
            all_programs[-1].compilers = rest
        elif word == "run":
            words = shlex.split(line)[2:]
            cut = words.index("--") if "--" in words else len(words)
            all_programs[-1].runs[rest[0]] = words[:cut] + ["--"] + (words[cut + 1:] or ["./program"])
        else:
            raise Wrong(f"{place}: what is '{word}'?")
    return compilers, all_programs


def read_expected(path):
    """[[item, program, compiler, level, run, value], ...], patterns."""
    entries = []
    for number, line in enumerate(open(path), 1):
        if line.strip() and not line.startswith("#"):
            fields = [field.strip() for field in line.split("|")]
            if len(fields) != 6:
                raise Wrong(f"expected-failures:{number}: {len(fields)} fields, not 6")
            entries.append(fields)
    return entries


def expected_item(entries, cell, row):
    for item, *patterns in entries:
        names = (cell.program.name, cell.compiler, cell.level, row.run, f"{row.command}: {row.value}")
        if all(fnmatch.fnmatchcase(name, pattern) for name, pattern in zip(names, patterns)):
            return item
    return None


# ---- one program, one compiler, one level

def bare(name):
    """`ns::max<int>(int, int) [clone .part.0]` -> `max`"""
    name = re.sub(r"\[.*?\]", "", name)
    name = re.sub(r"operator\s*\(\)", "operator_call", name)
    while re.search(r"<[^<>]*>|\([^()]*\)", name):
        name = re.sub(r"<[^<>]*>|\([^()]*\)", "", name)
    return re.sub(r"\s+const$", "", name.split("::")[-1].strip()).split(" ")[-1]


def is_called(full, name):
    """Whether `void (anonymous namespace)::circle::draw(int)` is called `draw`, `circle::draw`, `spend<1>`: with `<` or `::` by its end."""
    if full == name or bare(full) == name:
        return True
    full = re.sub(r"\((?!anonymous)[^()]*\)", "", re.sub(r"\[.*?\]", "", full)).strip()
    return ("::" in name or "<" in name) and re.search(r"(^|[: ])" + re.escape(name) + "$", full) is not None


class Cell:
    """A program compiled by one compiler at one level, its runs and answers."""

    def __init__(self, program, compiler, command, level):
        self.program, self.compiler, self.command, self.level = program, compiler, command, level
        self.truths, self.answers = {}, {}
        self.folder = os.path.abspath(f"{program.name}.{compiler}{level}")
        self.labels = {}
        for number, line in enumerate(open(program.source), 1):
            for label in re.findall(r"@(\w+)", line.split("//")[-1] if "//" in line else line.split("/*")[-1] if "/*" in line else
                                    line.split("!")[-1] if "!" in line else ""):
                self.labels[label] = number

    def name(self):
        return f"{self.program.name} {self.compiler} {self.level}"

    def execute(self, *command):
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT_S)
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")

    def compile(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        flags = [flag.replace("{programs}", programs) for flag in self.program.flags]
        link = [flag for flag in flags if flag.startswith("-l")]
        flags = [flag for flag in flags if not flag.startswith("-l")]
        if self.compiler.startswith("clang") and any(flag.startswith("-flto") for flag in flags):
            link.append("-Wl,--plugin=" + os.environ["PERFMAP_PLUGIN"])  # its driver does not tell the linker
        common = [self.command, self.level, "-g", "-I" + programs, "-I" + include]
        plugin = "-fplugin=" + os.environ["PERFMAP_PLUGIN"]
        libraries = [(source, os.path.splitext(os.path.basename(source))[0] + ".so") for source in self.program.loaded]
        if self.program.library:
            libraries.append((self.program.library, "libtruth.so"))
            link += ["-L.", "-ltruth", "-Wl,-rpath,$ORIGIN"]
        for source, library in libraries:
            status, _, err = self.execute(*common, source, "-fPIC", "-shared", "-o", library, plugin, *flags)
            if status != 0:
                raise Wrong(f"{self.name()}: its library does not compile: {err[-800:]}")
        for source in self.program.objects:
            status, _, err = self.execute(*common, "-c", source)
            if status != 0:
                raise Wrong(f"{self.name()}: {source} does not compile: {err[-800:]}")
            flags.append(os.path.splitext(os.path.basename(source))[0] + ".o")
        base = [*common, self.program.source, "-o"]
        for target, extra in (("program", [plugin]), ("plain", [])):
            if target == "plain" and not any("plain" in run[-1] or "./plain" in run for run in self.program.runs.values()) and not any(
                    "plain." in row.truth for row in self.program.rows):
                continue
            status, _, err = self.execute(*base, target, *extra, *flags, *link)
            if status != 0:
                raise Wrong(f"{self.name()}: does not compile: {err[-800:]}")

    def truths_of(self, output):
        truths = collections.defaultdict(float)
        for name, value in re.findall(r"^ *truth (\w+) = *(\S+)$", output, re.M):
            truths[name] += float(value)
        return dict(truths)

    def measure(self, run):
        """Runs the program measured, once; the archive is RUN.perfmap."""
        if run in self.truths:
            return
        options = self.program.runs[run]
        cut = options.index("--")
        status, out, err = self.execute(perfmap, "run", *options[:cut], "-o", run + ".perfmap", *options[cut:])
        if not os.path.exists(os.path.join(self.folder, run + ".perfmap")):
            raise Wrong(f"{self.name()}: run {run}: status {status}, no archive: {err[-500:].strip()}")
        self.truths[run] = {**self.truths_of(out + err), "status": status}

    def forget(self):
        """Of all runs: they are made again."""
        self.truths, self.answers = {}, {}

    def answer(self, run, command):
        key = (run, command)
        if key not in self.answers:
            self.measure(run)
            # @label in a command is a line of the program
            words = [re.sub(r"@(\w+)", lambda found: str(self.line(found.group(1))), word) for word in shlex.split(command)]
            if words[0] == "report":
                words += ["--limit", "0"]
            status, out, err = self.execute(perfmap, *words, "--json", run + ".perfmap")
            try:
                self.answers[key] = json.loads(out)
            except json.JSONDecodeError:
                raise Wrong(f"{self.name()}: {command}: status {status}: {(out + err)[-300:]}") from None
        return self.answers[key]

    def line(self, label):
        if label not in self.labels:
            raise Wrong(f"{self.program.name}: no label @{label}")
        return self.labels[label]

    def truth(self, row):
        self.measure(row.run)
        names = {**self.truths[row.run], "max": max, "min": min}
        if "plain." in row.truth:
            if "plain" not in self.truths:
                _, out, err = self.execute("./plain")
                self.truths["plain"] = self.truths_of(out + err)
            names["plain"] = collections.namedtuple("Plain", self.truths["plain"])(**self.truths["plain"])
        try:
            return float(eval(row.truth, {"__builtins__": {}}, names))  # the table is ours
        except (NameError, AttributeError, SyntaxError) as error:
            raise Wrong(f"{row.place}: {self.name()}: {error}: the program printed {sorted(self.truths[row.run])}") from None


# ---- values: what an answer says, and how it marks it. Each returns least, most, marks.

def fits(cell, row, name):
    """Whether this row of a report is `name` alone (2), a set with it (1), or something else (0)."""
    if name.startswith("kind:"):
        return 2 * (row["kind"] == name[5:])
    if name.startswith("what:"):
        is_set = row["what"].startswith("{(no ")  # "{(no array), u}": perhaps none
        return (1 if is_set else 2) * bool(re.search(name[5:], row["what"]))
    if name.startswith("@"):
        line = cell.line(name[1:])
        own = cell.program.name  # and not line 8 of a header
        found = [noun.get("line_no") == line and os.path.basename(noun.get("file") or own) == own for noun in row["nouns"]]
    else:
        found = [is_called(noun["name"], name) for noun in row["nouns"]]
    return 2 if found and all(found) else 1 if any(found) else 0


def row_marks(row, key):
    marks = set()
    if key in (row.get("incomplete") or []):
        marks.add("≥")
    uncertain = row.get("uncertain") or []
    if key in uncertain or ("share_pct" in uncertain and key.startswith("own_")):
        marks.add("~")
    if key == "n_calls" and row.get("n_calls_complete") is False:
        marks.add("≥")
    if row.get("is_mostly_inferred") or row.get("is_inferred"):
        marks.add("inferred")
    if key.startswith("own_") and row.get("n_samples") is not None and row["n_samples"] < 10:
        marks.add("~")
    return marks


def report_value(cell, report, what, name):
    metric = report["view"]["share_of"]
    entries = "n_calls" if report["view"]["by"] == "loop" else "n_loop_entries"
    key = {"own": "own_" + metric, "incl": "inclusive_" + metric, "calls": "n_calls", "entries": entries}.get(what, what)
    total = report["total"].get("own_" + metric) or 1
    scale = 100 / total if what in ("own", "incl") else 1
    least = most = 0.0
    marks = set()
    rows = [(fits(cell, row, name), row) for row in report["rows"]]
    if what == "incl":  # of several rows of that name (clones, instances) each has its own
        rows = [(fit, row) for fit, row in rows if fit == 2] or rows
    for fit, row in rows:
        if not fit:
            continue
        if row.get(key) is None:
            marks.add("unknown")
            continue
        most += row[key] * scale
        if fit == 2:
            least += row[key] * scale
        else:
            marks.add("set")
        if row[key] or fit == 2:
            marks |= row_marks(row, key)
    if what in ("own", "incl") and report["total"].get("uncertain"):
        marks.add("~")
    if what == "calls" and not any(fit for fit, _ in rows):
        marks.add("no row")
    return least, most, marks


def tree_value(cell, report, path):
    """Inclusive share of the rows at the end of a path a/b/c: c within b within a, others may lie between. a/a: a within a."""
    by_id = {row["id"]: row for row in report["rows"]}
    metric = report["view"]["share_of"]
    total = report["total"]["own_" + metric] or 1
    names = path.split("/")
    value, marks = 0.0, set()
    for row in report["rows"]:
        if fits(cell, row, names[-1]) != 2:
            continue
        left, at, is_nested = names[:-1], by_id.get(row["parent"]), False
        while at:
            is_nested |= fits(cell, at, names[-1]) == 2 and names[-1] not in names[:-1]
            if left and fits(cell, at, left[-1]) == 2:
                left = left[:-1]
            at = by_id.get(at["parent"])
        if left or is_nested:
            continue
        value += 100 * (row["inclusive_" + metric] or 0) / total
        marks |= row_marks(row, "inclusive_" + metric)
    return value, value, marks


def ask_value(answer, what, name):
    if what == "answer":
        metric = answer["share_of"]
        total = answer["total"].get(metric) or 1
        most = answer["answer"].get("share_pct") or 0.0
        shared = 100 * sum(row.get("shared_" + metric) or 0 for row in answer["rows"]) / total
        least, marks = most - shared, {"set"} if shared else set()
        for part in [answer["answer"], *answer["rows"]]:
            marks |= {"inferred"} if part.get("is_inferred") or part.get("is_mostly_inferred") else set()
            marks |= {"≥"} if part.get("incomplete") or part.get("is_at_least") else set()
        marks |= {"~"} if answer["answer"].get("is_uncertain") else set()
        marks |= {"unknown"} if answer.get("verdict") == "not known" else set()
        at_most = answer["answer"].get("at_most_share_pct") or most
        if at_most - most >= 0.5:  # other code of the same statements
            marks.add("set")
            most = at_most
        return least, most, marks
    n_times = [row.get("n_times") for row in answer["rows"]]
    marks = {"unknown"} if not n_times or None in n_times else set()
    if any(row.get("n_times_complete") is False for row in answer["rows"]):
        marks.add("≥")
    value = float(sum(filter(None, n_times)))
    return value, value, marks


def annotate_value(cell, answer, what, name):
    """Own time (`line`) or inclusive time (`incl_line`) of a line: what brackets have is shared by all of their lines."""
    line = cell.line(name.lstrip("@"))
    total = answer["total"] or 1
    marks = set()
    row = next((row for row in answer["lines"] if row.get("line_no") == line), None)
    if what == "incl_line":
        marks |= {"unknown"} if row is None or row.get("inclusive") is None else set()
        marks |= {"≥"} if row and row.get("inclusive_is_at_least") else set()
        value = 100 * (row.get("inclusive") or 0) / total if row else 0.0
        return value, value, marks
    key = f"own_{answer['metric']}"
    own = row.get(key) or 0 if row else 0
    shared = 0
    for group in answer.get("groups", []):
        if any(of["line_no"] == line and os.path.basename(of["file"]) == cell.program.name for of in group["lines"]):
            shared += group.get(key) or 0
            marks.add("set")
    if row and row.get("n_samples") is not None and 0 < row["n_samples"] < 10:
        marks.add("~")
    return 100 * own / total, 100 * (own + shared) / total, marks


def value_of(cell, row):
    answer = cell.answer(row.run, row.command)
    what, _, name = row.value.partition(" ")
    verb = row.command.split()[0]
    notes = answer.get("warnings", []) + answer.get("notes", [])
    if "error" in answer:
        least, most, marks = 0.0, 0.0, {"error: " + "; ".join(map(str, answer["error"]["causes"]))[:120]}
    elif what == "total_ms":
        key = "own_" + answer["view"]["share_of"] if verb == "report" else answer["share_of"]
        least = most = answer["total"][key] / 1e6
        marks = set()
    elif what == "focus":
        least = most = answer["view"]["focus_share_pct"]
        marks = set()
    elif what in ("answer", "times"):
        least, most, marks = ask_value(answer, what, name)
    elif what == "path":
        least, most, marks = tree_value(cell, answer, name)
    elif what in ("line", "incl_line"):
        least, most, marks = annotate_value(cell, answer, what, name)
    elif verb == "report" and what in ("own", "incl", "calls", "entries") or what.startswith("own_"):
        least, most, marks = report_value(cell, answer, what, name)
    else:
        raise Wrong(f"{row.place}: what is '{row.value}'?")
    if verb == "ask" and any("for a part of the run only" in note for note in notes):
        marks.add("note")
    for mark in row.marks:
        if mark.startswith("note:") and any(re.search(mark[5:].replace("_", " "), note) for note in notes):
            marks.add("note")
    return least, most, marks


REAL_MARKS = ("≥", "~", "inferred", "set", "unknown", "note")


def n_samples_of(cell, row):
    """That a value stands on; 0: it is no share of samples."""
    what, verb = row.value.split()[0], row.command.split()[0]
    if what not in ("own", "incl", "answer", "path", "line", "incl_line") or row.tolerance == "exact":
        return 0
    answer = cell.answer(row.run, row.command)
    metric = answer.get("metric") or answer.get("share_of") or answer.get("view", {}).get("share_of")
    sampling = cell.answer(row.run, "report --by function")["execution"]["sampling"] if metric == "cpu_ns" else None
    return sampling["n_samples"] if sampling else 0


def pooled(tries):
    """What several runs say together, and the three deviations by which so many samples may be off (binomial; 1.3 of it was seen beside other
    programs): truth, least, most, slack."""
    truth, least, most = (sum(values) / len(tries) for values in list(zip(*tries))[:3])
    n_samples = sum(n for *_, n in tries)
    part = min(max(truth / 100, 0), 1)
    slack = 3 * 100 * math.sqrt(part * (1 - part) / n_samples) if all(n for *_, n in tries) else 0
    return truth, least, most, slack


def estimated_slack(cell, row, most):
    """By how much more than its tolerance a share of exact times marked `~` may be off: what the report itself says, for all of what was
    taken out. It differs by processor: of brief.c at -O0 a pair costs as measured at start on one, and 29 % less on another."""
    report = cell.answer(row.run, "report --by function")
    total = report["total"].get("own_wall_ns") or 0
    if report["view"]["share_of"] != "wall_ns" or not total or row.value.split()[0] not in ("own", "incl", "answer", "path"):
        return 0.0
    part = min(max(most / 100, 0), 1)
    return 100 * report["total"]["own_uncertainty_ns"] / total * max(part, 1 - part)


@functools.cache
def start_ns():
    """CPU time that a process needs to start on this machine, by the kernel: 1 ms, or 7 where page faults are slow."""
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (usage.ru_utime + usage.ru_stime) * 1e9

    tries = []
    for _ in range(5):
        before = spent()
        subprocess.run(["true"], check=True)
        tries.append(spent() - before)
    return max(tries)


def without_start(cell, row, truth):
    """The truth is a share of the program's own work. PerfMap itself may have a tenth of all CPU time on a busy machine, and the start of
    processes as much where it is slow: others' shares are smaller by that, and rows say so. Of what is outside instrumented code, no more
    than processes without PerfMap need to start, with its library about twice that."""
    if not n_samples_of(cell, row):
        return truth
    report = cell.answer(row.run, "report --by function --metric cpu_ns")
    own_ns = collections.defaultdict(float)
    for found in report["rows"]:
        own_ns[found["kind"]] += found["own_cpu_ns"] or 0
    started_ns = min(own_ns["outside"], 2 * start_ns() * report["execution"]["n_processes"])
    return truth * (1 - (own_ns["perfmap"] + started_ns) / (report["total"]["own_cpu_ns"] or 1))


def judge(row, truth, least, most, marks, least_slack=0.0, estimated=0.0):
    """Returns "right", "marked" (off, or uncertain, and it says so) or "wrong"."""
    if row.tolerance == "exact":
        slack = 0.0
    elif row.tolerance.endswith("%"):
        slack = abs(truth) * float(row.tolerance[:-1]) / 100
    else:
        slack = max(float(row.tolerance), least_slack)
    marks = {mark for mark in marks if mark in REAL_MARKS}
    if "bounded" in row.marks:
        marks.discard("inferred")
    is_right = truth - slack <= most and least <= truth + slack and ("set" in marks or abs(most - truth) <= slack)
    if "unmarked" in row.marks:
        return "right" if is_right and not marks else "wrong"
    if is_right and not marks:
        return "right"
    # `≥` is a claim, too: so much was seen.
    if "≥" in marks and least > truth + slack:
        return "wrong"
    if is_right:
        return "right"
    if marks == {"set"}:
        return "wrong"
    if marks == {"~"}:
        return "marked" if abs(most - truth) <= max(3 * slack, slack + estimated) else "wrong"
    return "marked" if marks else "wrong"


# ---- all of it

class Trial:
    """The rows of one cell. Numbers from samples may be off by chance: what is wrong is wrong three times, and all three together by more
    than so few samples may be off. Counts have one try."""

    N_TRIES = 3

    def __init__(self, cell, entries):
        self.cell, self.entries = cell, entries
        self.open_rows = [row for row in cell.program.rows
                          if not any(mark.startswith("levels:") and cell.level[2:] not in mark[7:] for mark in row.marks)]
        self.results, self.tries = {}, collections.defaultdict(list)
        self.broken = None  # why nothing of it can be tried

    def measure(self):
        """All runs that open rows ask for."""
        for row in self.open_rows:
            try:
                self.cell.truth(row)
            except Wrong:
                pass  # look() says it of the row

    def look(self, attempt):
        """What is said of the runs that are there."""
        cell = self.cell
        for row in list(self.open_rows):
            try:
                truth = cell.truth(row)
                least, most, marks = value_of(cell, row)
                self.tries[row].append((truth, least, most, n_samples_of(cell, row)))
                estimated = estimated_slack(cell, row, most) if "~" in marks else 0.0
                result = judge(row, truth, least, most, marks, estimated=estimated)
                beside_start = without_start(cell, row, truth)  # of every row: what only busy machines try fails nowhere else
                if result == "wrong" and most < truth:
                    result = judge(row, beside_start, least, most, marks, estimated=estimated)
                if result == "wrong" and attempt == self.N_TRIES - 1:
                    result = judge(row, *(together := pooled(self.tries[row]))[:3], marks, together[3], estimated)
            except Wrong as error:
                truth, least, most, marks, result = math.nan, math.nan, math.nan, {str(error)}, "wrong"
            self.results[row] = (result, truth, least, most, marks)
            if result != "wrong" or row.tolerance == "exact" or expected_item(self.entries, cell, row):
                self.open_rows.remove(row)

    def say(self, tally, verbose):
        cell = self.cell
        for row, (result, truth, least, most, marks) in self.results.items():
            item = expected_item(self.entries, cell, row)
            said = f"{least:.6g}" if least == most else f"{least:.6g} to {most:.6g}"
            line = (f"{cell.name()}: {row.run}: {row.command}: {row.value}: {said}{' (' + ', '.join(sorted(marks)) + ')' if marks else ''}, "
                    f"truth {truth:.6g}")
            if len(self.tries[row]) > 1:  # the same each time, or by chance?
                line += f" (tries: {', '.join(f'{most:.4g} of {truth:.4g}' for truth, _, most, _ in self.tries[row])})"
            if item and result == "wrong":
                result = "expected"
                line += f" [expected: {item}]"
            elif item and not item.endswith("?"):
                tally["no longer wrong"].append(f"{line}: expected to fail ({item}) and does not: take it out of expected-failures")
                continue
            tally[result].append(line)
            for mark in marks:
                tally["marks"].append(mark.split(":")[0])
            if verbose:
                print(f"{result:8} {line}", flush=True)


def guarded(step, trial, *arguments):
    """One step of a trial, unless an earlier one has failed."""
    if trial.broken:
        return
    try:
        step(*arguments)
    except (Wrong, subprocess.TimeoutExpired) as error:
        trial.broken = f"{trial.cell.name()}: {error}"


def on_all_processors(step_of, trials, *arguments):
    """A step of all trials, with all processors."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda trial: guarded(step_of(trial), trial, *arguments), trials))


def check(cells, entries, tally, verbose):
    """Runs are alone on the machine, for a busy one spoils their samples. Compilers and questions are not."""
    trials = [Trial(cell, entries) for cell in cells]
    start_ns()  # while no other process ends beside it
    on_all_processors(lambda trial: trial.cell.compile, trials)
    for trial in trials:
        guarded(trial.measure, trial)
    on_all_processors(lambda trial: trial.look, trials, 0)
    for trial in trials:
        for attempt in range(1, Trial.N_TRIES):
            if trial.open_rows:
                trial.cell.forget()
                guarded(trial.look, trial, attempt)
    for trial in trials:
        trial.say(tally, verbose)
        if trial.broken:
            tally["wrong"].append(trial.broken)
            if verbose:
                print(f"broken   {trial.broken}", flush=True)
            continue
        if not any(line.startswith(trial.cell.name()) for line in tally["wrong"]):
            shutil.rmtree(trial.cell.folder)
        tally["cells"].append(trial.cell.name())


BATCH = 60  # cells whose programs and archives are there at a time: some 3 MB each
FIRST_LEVEL = 10  # of the first program, modulo the number of levels; fixed, so that a failure can be repeated


def has_back_end(compiler):
    """gcc-13: perfmap-gcc13.so beside the plugin."""
    folder = os.path.dirname(os.environ["PERFMAP_PLUGIN"])
    return os.path.exists(os.path.join(folder, f"perfmap-{compiler.replace('-', '')}.so"))


def is_left_out(options, number, compiler, compilers):
    """A usual run tries every program with the newest GCC, and a quarter of them with those before and with Clang: at each level as many."""
    is_usual = not (options.programs or options.compiler or options.level or options.all)
    if compiler.startswith("clang-"):
        return is_usual and (number + number // 4) % 4 != 1
    newest = [name for name in compilers if has_back_end(name) and name.startswith("gcc-")][-1:]
    return is_usual and (number + number // 4) % 4 != 3 and [compiler] != newest


def cells_of(options, compilers, all_programs, missing):
    for number, program in enumerate(all_programs):
        if options.programs and not any(fnmatch.fnmatch(program.name, pattern) for pattern in options.programs):
            continue
        for place, (compiler, commands) in enumerate(compilers.items()):
            if program.language() not in commands or not any(fnmatch.fnmatch(compiler, pattern) for pattern in program.compilers):
                continue
            if options.compiler and compiler != options.compiler:
                continue
            if not has_back_end(compiler) or is_left_out(options, number, compiler, compilers):
                continue
            command = commands[program.language()]
            if not shutil.which(command):
                print(f"no {command}: {program.name} is not tried with it")
                missing.append(command)
                continue
            levels = [options.level] if options.level else program.levels + (program.further if options.all else [])
            if not options.level and not options.all:
                levels = [levels[(FIRST_LEVEL + number + place) % len(levels)]]
            for level in levels:
                yield Cell(program, compiler, command, level)


def random_table(options):
    """Writes random programs to a folder here; returns what read_table() does. Only the compilers are those of the table."""
    folder = os.path.abspath("random")
    with open(os.path.join(here, "table"), encoding="utf-8") as file:
        head = [line.rstrip("\n") for line in file if line.startswith("compiler ")] + ["levels -O0 -O1 -O2 -O3", "further -Og -Os"]
    generate.write_folder(folder, options.language, options.seed, options.random, 8, "\n".join(head))
    return read_table(os.path.join(folder, "table"), os.path.join(folder, "programs"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--compiler", default="gcc-" + os.environ["PERFMAP_GCC"] if os.environ.get("PERFMAP_GCC") else None)
    parser.add_argument("--level")
    parser.add_argument("--all", action="store_true", default=os.environ.get("PERFMAP_TRUTH") == "all")
    parser.add_argument("--flags", default="", help="further flags of the compiler: --flags=-flto")
    parser.add_argument("--list", action="store_true", help="list what would be tried")
    parser.add_argument("--verbose", action="store_true", default=os.environ.get("PERFMAP_TRUTH") == "verbose")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="try N random programs (generate.py)")
    parser.add_argument("--seed", type=int, default=1, help="of the first random program")
    parser.add_argument("--language", default="c", choices=generate.LANGUAGES, help="of random programs")
    options = parser.parse_args()
    if options.level and not options.level.startswith("-"):
        options.level = "-" + options.level
    compilers, all_programs = random_table(options) if options.random else read_table(os.path.join(here, "table"), programs)
    for program in all_programs:
        program.flags += options.flags.split()
    entries = read_expected(os.path.join(here, "expected-failures"))
    tally = collections.defaultdict(list)
    start = time.monotonic()
    cells = list(cells_of(options, compilers, all_programs, tally["missing"]))
    n_blocks = collections.Counter()
    for cell in cells:  # a program may have several blocks
        n_blocks[cell.folder] += 1
        cell.folder += f".{n_blocks[cell.folder]}" if n_blocks[cell.folder] > 1 else ""
    if options.list:
        print("\n".join(cell.name() for cell in cells))
        return 0
    for first in range(0, len(cells), BATCH):
        check(cells[first:first + BATCH], entries, tally, options.verbose)
    wrong = [f"WRONG: {line}" for line in tally["wrong"] + tally["no longer wrong"]]
    others = [f"expected: {line}" for line in tally["expected"]]
    if options.verbose:
        others += [f"marked: {line}" for line in tally["marked"]]
    # A log is cut somewhere: what is wrong stands first, and last.
    for line in wrong + others + (wrong if others or len(wrong) > 10 else []):
        print(line)
    marks = ", ".join(f"{mark} {count}" for mark, count in collections.Counter(tally["marks"]).most_common())
    print(f"{len(tally['cells'])} programs x compilers x levels in {time.monotonic() - start:.0f} s: {len(tally['right'])} right, {len(tally['marked'])} off and marked, "
          f"{len(tally['expected'])} expected failures, {len(tally['wrong'])} wrong, {len(tally['no longer wrong'])} no longer wrong; marks: {marks or 'none'}")
    if tally["missing"] and os.environ.get("PERFMAP_NO_SKIP"):
        print("no compiler may be missing here (PERFMAP_NO_SKIP)")
        return 1
    if not tally["right"] and not tally["wrong"]:
        print("nothing was tried")
        return 1
    return 1 if tally["wrong"] or tally["no longer wrong"] else 0


sys.exit(main())
