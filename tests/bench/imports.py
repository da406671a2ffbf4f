"""Part `imports`: how fast `perfmap import` reads what other tools write, and in how much memory: text of perf script, and Chrome's trace events."""
from common import PERFMAP, WORK, output_and_memory, size_bytes, wall_and_cpu_s

ARCHIVE = WORK / "imported.perfmap"

SAMPLE = """heat {pid}/{pid} {s}.{us:06d}:     250000 cpu-clock:u: 
\t            {ip:x} leaf+0x13 (/tmp/heat)
\t            11c8 mid+0xe (/tmp/heat)
\t            12a0 main+0x1e (/tmp/heat)
\t           2724a __libc_start_call_main+0x7a (/usr/lib/x86_64-linux-gnu/libc.so.6)

"""
EVENTS = """{{"ts":{a:.3f},"ph":"B","pid":100,"tid":{tid},"name":"function_{f}","cat":"f","args":{{"arguments":"(12, 34)"}}}},
{{"ts":{b:.3f},"ph":"B","pid":100,"tid":{tid},"name":"leaf_{g}","cat":"f","args":{{"arguments":"(12, 34)"}}}},
{{"ts":{c:.3f},"ph":"E","pid":100,"tid":{tid},"name":"leaf_{g}"}},
{{"ts":{d:.3f},"ph":"E","pid":100,"tid":{tid},"name":"function_{f}"}},
"""


def written(name, most_bytes, piece):
    """A file of about that size, of the pieces 0, 1, 2..."""
    path = WORK / name
    n, size = 0, 0
    with open(path, "w", encoding="utf-8") as out:
        if name.endswith(".json"):
            out.write("[")
        while size < most_bytes:
            text = "".join(piece(i) for i in range(n, n + 10000))
            out.write(text)
            n, size = n + 10000, size + len(text)
    return path


def sample(i):
    return SAMPLE.format(pid=100 + i % 8, s=i // 4000, us=i % 4000 * 250, ip=0x1130 + i % 40)


def event(i):
    at = 0.2 * i
    return EVENTS.format(a=at, b=at + 0.03, c=at + 0.15, d=at + 0.18, tid=1 + i % 4, f=i % 500, g=i % 900)


def imports(bench):
    most_bytes = bench.number(1e9, 1e8)
    for what, path, least in (("perf script", written("bench.txt", most_bytes, sample), 100), ("Chrome JSON", written("bench.json", most_bytes, event), 50)):
        times = [wall_and_cpu_s(PERFMAP, "import", "-o", ARCHIVE, path)[1] for _ in range(bench.number(3, 2))]
        _, memory = output_and_memory(PERFMAP, "import", "-o", ARCHIVE, path)
        speed = size_bytes(path) / 1e6 / min(times)
        bench.row(f"import of {what}, {size_bytes(path) / 1e9:.1f} GB", f"{speed:.0f} MB/s of CPU time", f"at least {least}", speed >= least, mb_per_s=speed)
        bench.row(f"import of {what}, memory", f"{memory / 1048576:.0f} MiB", "at most 256 MiB", memory <= 256 * 1048576, memory_bytes=memory)
        path.unlink()
