"""Parts `text`, `compile` and `report`: what the plugin adds to code and to compiling, and how long collect and report take."""
import resource

from common import PERFMAP, TOP, WORK, call, percent, plugin, shortest_in_turns, wall_and_cpu_s
from programs import make_object, source_of


def text_bytes(path):
    return sum(int(line.split()[1]) for line in call("size", "-A", path).splitlines() if line.startswith(".text"))


def text(bench):
    for name, program in (("SQLite", "sqlite"), ("Lua", "lua"), ("bzip2", "bzip2"), ("C++", "cxx")):
        a, b = (text_bytes(make_object(program, kind)) for kind in ("plain", "plugin"))
        bound = program in ("sqlite", "lua")
        bench.row(f"text growth, {name}", f"{percent(b / a - 1)} of {a} bytes", "at most +7 %" if bound else "", b / a <= 1.07 if bound else "", growth=b / a - 1)


def compile_time(bench):
    """SQLite's amalgamation without and with the plugin, user times, in turns."""
    source = source_of("sqlite") / "amalgamation/sqlite3.c"

    def build(*more):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        call("gcc", "-O2", "-g", *more, "-c", source, "-o", WORK / "compiled.o")
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    best, _ = shortest_in_turns(bench.number(2, 1, 4), {"plain": build, "plugin": lambda: build(f"-fplugin={plugin()}")})
    growth = best["plugin"] / best["plain"] - 1
    bench.row("compile time, SQLite -O2 -g", f"{percent(growth)} of {best['plain']:.1f} s user", "at most +5 %", growth <= 0.05, growth=growth)


def shell():
    """SQLite's shell with the plugin."""
    program = WORK / "shell"
    call("gcc", "-O2", "-g", f"-fplugin={plugin()}", source_of("sqlite") / "amalgamation/shell.c", make_object("sqlite", "plugin"), "-o", program, "-lm")
    return program


def report(bench):
    """The demo's run: collect and report, wall time."""
    run, archive = WORK / "demo.run", WORK / "demo.perfmap"
    call("rm", "-rf", run, archive)
    with open(TOP / "examples/sqlite/workload.sql", encoding="utf-8") as script:
        call(PERFMAP, "run", "--no-collect", "-o", run, "--", shell(), "-batch", ":memory:", stdin=script)
    verbs = {"collect": [], "report": []}
    for _ in range(bench.number(5, 2)):
        call("rm", "-rf", archive)
        verbs["collect"].append(wall_and_cpu_s(PERFMAP, "collect", run, "-o", archive))
        verbs["report"].append(wall_and_cpu_s(PERFMAP, "report", "--level", "source", archive))
    wall = {verb: min(wall for wall, _ in times) for verb, times in verbs.items()}
    for verb, times in verbs.items():
        bench.row(f"{verb}, demo run", f"{wall[verb]:.3f} s ({min(cpu for _, cpu in times):.3f} s CPU)", wall_s=wall[verb])
    both = sum(wall.values())
    bench.row("collect + report, demo run", f"{both:.3f} s", "under 1 s", both < 1, wall_s=both)
