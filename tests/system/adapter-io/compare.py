"""compare.py ARCHIVE STRACE FOLDER [KIND...]: calls and bytes by file below FOLDER, and in all for kinds pipe and socket, are those that strace -f -y
saw of the same program without PerfMap."""
import collections
import re
import sqlite3
import sys

archive, log, folder, *KINDS = sys.argv[1:]
READ, WRITE = ("read", "pread64", "readv", "preadv", "preadv2"), ("write", "pwrite64", "writev", "pwritev", "pwritev2")
VERBS = {**dict.fromkeys(READ, "ReadFile"), **dict.fromkeys(WRITE, "WriteFile"), "fsync": "Sync", "fdatasync": "Sync", "ftruncate": "Resize",
         "close": "Close", "recvfrom": "Receive", "recvmsg": "Receive", "recvmmsg": "Receive", "sendto": "Send", "sendmsg": "Send",
         "sendmmsg": "Send", "connect": "Connect", "accept": "Accept", "accept4": "Accept", "poll": "Wait"}
BYTES = {"bytes_read": "ReadFile", "bytes_written": "WriteFile", "bytes_received": "Receive", "bytes_sent": "Send"}


def kind_of(path):
    if path.startswith(folder + "/"):
        return path
    kind = "socket" if re.match(r"TCP|UDP|UNIX|NETLINK|socket", path) else path.split(":")[0]
    return kind if kind in KINDS else None


expected, got = collections.Counter(), collections.Counter()


def note(path, verb, result, n_bytes=None):
    path = kind_of(path)
    if not path:
        return
    if path == "socket":
        verb = {"ReadFile": "Receive", "WriteFile": "Send"}.get(verb, verb)
    expected[path, verb, "calls"] += 1
    if result > 0 and verb in BYTES.values():
        expected[path, verb, "bytes"] += result if n_bytes is None else n_bytes


unfinished = {}
for line in open(log, errors="replace"):
    pid, line = re.match(r"(\d+) +(.*)", line.rstrip("\n")).groups()
    if line.endswith("<unfinished ...>"):
        unfinished[pid] = line[: -len("<unfinished ...>")].rstrip()
        continue
    resumed = re.match(r"<\.\.\. \w+ resumed>,? ?(.*)", line)
    if resumed:
        line = unfinished.pop(pid) + resumed.group(1)
    call = re.match(r"(\w+)\((.*)\) += (-?\d+)(<.*>)?", line)
    if not call:
        continue
    name, arguments, result, made = call.group(1), call.group(2), int(call.group(3)), call.group(4)
    paths = re.findall(r"\d+<((?:TCP|UDP|UNIX|NETLINK)[^]]*\]?[^>]*|[^>]*)>", arguments)
    if name in ("openat", "open", "creat"):
        if made:
            note(made[1:-1], "Open", 0)
    elif name in ("sendfile", "copy_file_range"):
        source, target = (paths[1], paths[0]) if name == "sendfile" else (paths[0], paths[1])
        note(source, "ReadFile", result)
        note(target, "WriteFile", result)
    elif name in ("recvmmsg", "sendmmsg"):
        note(paths[0], VERBS[name], result, sum(int(n) for n in re.findall(r"msg_len=(\d+)", arguments)))
    elif name in VERBS and paths:
        note(paths[0], VERBS[name], result)

db = sqlite3.connect(archive)
# What a sentence costs stands at it or below, as that of the code around.
SQL = """WITH RECURSIVE said(context, noun, kind, verb) AS (
    SELECT contexts.id, nouns.name, nouns.kind, verbs.name FROM contexts JOIN sentences ON sentences.id = sentence JOIN verbs ON verbs.id = verb
        JOIN levels ON levels.id = verbs.level AND levels.name = 'Base' JOIN nouns ON nouns.id = noun WHERE verbs.name != 'Executes'
    UNION SELECT contexts.id, said.noun, said.kind, said.verb FROM contexts JOIN said ON contexts.parent = said.context)
    SELECT said.noun, said.kind, said.verb, metrics.name, sum(value) FROM costs JOIN said ON said.context = costs.context JOIN metrics ON metrics.id = metric
    JOIN contexts ON contexts.id = said.context JOIN sentences ON sentences.id = sentence JOIN verbs own ON own.id = sentences.verb
    WHERE metrics.name IN ('n_calls', 'bytes_read', 'bytes_written', 'bytes_received', 'bytes_sent')
        AND (metrics.name != 'n_calls' OR own.name = said.verb) AND (metrics.name = 'n_calls' OR metrics.name = CASE said.verb
            WHEN 'ReadFile' THEN 'bytes_read' WHEN 'WriteFile' THEN 'bytes_written' WHEN 'Receive' THEN 'bytes_received' ELSE 'bytes_sent' END)
    GROUP BY said.noun, said.kind, said.verb, metrics.name"""
for noun, kind, verb, metric, value in db.execute(SQL):
    path = kind_of(noun if kind == "file" else kind)
    if path:
        got[path, verb, "calls" if metric == "n_calls" else "bytes"] += value

wrong = 0
for key in sorted(set(expected) | set(got)):
    if key[0].endswith("/reopened.txt") and key[1] == "Close":
        continue  # freopen closes one more, within libc
    if expected[key] != got[key]:
        print(f"{key}: strace {expected[key]}, PerfMap {got[key]}", file=sys.stderr)
        wrong += 1
if wrong or sum(expected.values()) == 0:
    sys.exit(f"{wrong} of {len(expected)} numbers are wrong")
print(f"{len(expected)} numbers are equal")
