"""compare.py PERFMAP ARCHIVE STRACE STATEMENTS VERB... [+ COUNTED]: the answers of `perfmap ask`, by statement, are what strace saw of the same program
without PerfMap: calls and bytes. Marks tell which line of STATEMENTS runs: "mark/LINE/VERB" that is asked for, or "out-LINE" that is opened. COUNTED are the
numbers of SQLite itself (statements.c)."""
import collections
import json
import re
import subprocess
import sys

perfmap, archive, log, statements = sys.argv[1:5]
verbs, counted = sys.argv[5:], None
if "+" in verbs:
    verbs, counted = verbs[: verbs.index("+")], verbs[-1]
CALLS = {**dict.fromkeys(("read", "pread64", "readv"), "ReadFile"), **dict.fromkeys(("write", "pwrite64", "writev"), "WriteFile"),
         **dict.fromkeys(("fsync", "fdatasync"), "Sync")}
PAGE_BYTES = 4096


def name_of(line):
    """What a statement is called: values are ?."""
    return re.sub(r"'(?:[^']|'')*'|(?<![\w])\d[\d.]*(?:e\d+)?", "?", line)


lines = [name_of(line.rstrip("\n")) for line in open(statements)]
expected = collections.Counter()
at, verb = None, "?"
for line in open(log, errors="replace"):
    call = re.match(r"(?:\d+ +)?(\w+)\((.*)\) += (-?\d+)", line)
    if not call:
        continue
    mark = re.search(r'"(?:mark/(\d+)/(\w+)|out-(\d+))"', line)
    if mark:
        at, verb = int(mark.group(1) or mark.group(3)), mark.group(2) or "?"
    path = re.match(r"\d+<([^>]*)>", call.group(2))
    if mark or call.group(1) not in CALLS or re.search(r"/out-\d+$|\.sql$|/(out|counted)$", path.group(1)):
        continue
    key = (lines[at - 1] if at else None, verb, CALLS[call.group(1)])
    expected[key + ("calls",)] += 1
    if key[2] != "Sync":
        expected[key + ("bytes",)] += int(call.group(3))


def ask(question, metric):
    """What the question costs, and how often it became active."""
    done = subprocess.run([perfmap, "ask", "--json", "--metric", metric, question, archive], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        return 0, 0  # nothing has that name
    answer = json.loads(done.stdout)
    return int(answer["answer"][metric]), sum(row["n_times"] for row in answer["rows"] if row["n_times_complete"])


def quoted(name):
    return '"' + name.replace('"', '\\"') + '"'


wrong, compared = 0, 0


def compare(what, theirs, ours):
    global wrong, compared
    compared += theirs != 0
    if theirs != ours:
        print(f"{what}: {theirs}, PerfMap {ours}", file=sys.stderr)
        wrong += 1


def sentence(name, verb):
    """VACUUM says some of them again."""
    return f"{{SQL::{quoted(name)} {verb}}}" + (", not {SQL::VACUUM ?}" if name != "VACUUM" and verb != "Ends" else "")


for name in sorted({line for line in lines if not line.startswith(".")}):
    for verb in verbs:
        for call in ("ReadFile", "WriteFile", "Sync"):
            metric = {"ReadFile": "bytes_read", "WriteFile": "bytes_written", "Sync": "io_ns"}[call]
            cost, calls = ask(f"{{Base::? {call}}}, {sentence(name, verb)}", metric)
            compare(f"{name} {verb}, {call} calls, strace", expected[name, verb, call, "calls"], calls)
            if call != "Sync":
                compare(f"{name} {verb}, {call} bytes, strace", expected[name, verb, call, "bytes"], cost)
for key, n in expected.items():
    if key[1] not in [*verbs, "opens"] and key[0]:
        compare(f"outside of statements: {key}, strace", n, 0)

numbers = collections.defaultdict(lambda: [0] * 7)
for line in open(counted) if counted else ():
    line_no, *these = map(int, line.split())
    numbers[lines[line_no - 1]] = [a + b for a, b in zip(numbers[lines[line_no - 1]], these)]
for name, (runs, rows, steps, missing, written, run_missing, run_written) in sorted(numbers.items()):
    n_rows, n_steps = ask(sentence(name, "Executes"), "rows")
    compare(f"{name}: steps, the program", steps, n_steps)
    compare(f"{name}: rows, SQLite", rows, n_rows)
    # SQLite counts a trigger's runs as well, and a statement that is given up is not stepped to its end.
    if not re.match(r"UPDATE|.*RETURNING", name):
        compare(f"{name}: runs and rows, SQLite", runs + rows, n_steps)
    # Pages of 4096 bytes; a SELECT looks at 16 bytes of the header as well. By a statement's rules: what is rolled back, is copied, or goes to the
    # write-ahead log is not counted, or not there.
    if name.lower().startswith("select"):
        cost, _ = ask(f"{{Base::x.db ReadFile}}, {sentence(name, 'Executes')}", "bytes_read")
        compare(f"{name}: pages read, SQLite", run_missing, cost // PAGE_BYTES)
    if re.match("CREATE|UPDATE|DELETE|COMMIT|DROP|ALTER|ANALYZE|INSERT INTO t", name):
        cost = sum(ask(f"{{Base::x.db WriteFile}}, {sentence(name, verb)}", "bytes_written")[0] for verb in ("Executes", "Ends"))
        compare(f"{name}: bytes of pages written, SQLite", run_written * PAGE_BYTES, cost)
if wrong or compared < 100:
    sys.exit(f"{wrong} numbers are wrong, {compared} compared that are not 0")
print(f"{compared} numbers are equal")
