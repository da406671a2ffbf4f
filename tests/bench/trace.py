"""Part `trace`: how quickly `perfmap collect` takes up traces of SQLite and Lua, with one thread and with all processors, and what an event then takes."""
import json
import os

from common import PERFMAP, WORK, call, size_bytes, wall_and_cpu_s
from programs import make_program, unit_command, unit_ns

RUN, ARCHIVE = WORK / "trace.run", WORK / "trace.perfmap"


def n_calls_of(run):
    return sum(json.loads(call(PERFMAP, "dump", "--json", file))["process"]["n_calls"] for file in run.glob("*.pmr"))


def recorded(program, mode, repetitions):
    call("rm", "-rf", RUN)
    path = make_program(program, "plugin")
    call(PERFMAP, "run", "--no-collect", "--mode", mode, "--rate", "0", "--trace-limit", "16G", "-o", RUN, "--", *unit_command(program, path, 1000, repetitions))


def collected(*options):
    return wall_and_cpu_s(PERFMAP, "collect", *options, "-o", ARCHIVE, RUN)


def shortest(turns, *ways):
    """For each of ways (options of collect) the shortest wall time and the least CPU time, over turns."""
    seen = [[collected(*options) for options in ways] for _ in range(turns)]
    return [tuple(map(min, zip(*times))) for times in zip(*seen)]


def one(bench, name, program):
    repetitions = round(bench.number(2e9, 0.25e9) / unit_ns(program, make_program(program, "plugin"), 0.3, []))
    recorded(program, "exact", 1)
    ((facts_s, facts_cpu_s),) = shortest(3, ())
    facts_bytes = size_bytes(ARCHIVE)
    recorded(program, "trace", repetitions)
    n_calls, gigabytes = n_calls_of(RUN), size_bytes(RUN) / 1e9
    n_processors = len(os.sched_getaffinity(0))
    (one_s, one_cpu_s), (all_s, _) = shortest(bench.number(5, 3), ("--jobs", "1"), ())
    per_s = n_calls / 1e6 / all_s
    bench.row(f"collect of a trace of {name}, {n_processors} processors", f"{per_s:.0f} million calls/s ({n_calls / 1e6:.0f} million)",
              f"at least {12.5 * n_processors:.0f}", per_s >= 12.5 * n_processors, calls_per_s=1e6 * per_s)
    bench.row(f"collect of a trace of {name}, a GB", f"{all_s / gigabytes:.2f} s ({gigabytes:.2f} GB)", "at most 4 s", all_s / gigabytes <= 4, s_per_gb=all_s / gigabytes)
    bench.row(f"collect of a trace of {name}, one thread over all", f"{(one_s - facts_s) / (all_s - facts_s):.2f}", speed_up=(one_s - facts_s) / (all_s - facts_s))
    bench.row(f"collect of a trace of {name}, an event", f"{1e9 * (one_cpu_s - facts_cpu_s) / (2 * n_calls):.1f} ns of CPU time, "
              f"{(size_bytes(ARCHIVE) - facts_bytes) / (2 * n_calls):.2f} bytes", cpu_ns=1e9 * (one_cpu_s - facts_cpu_s) / (2 * n_calls))


def trace(bench):
    for name, program in (("SQLite", "sqlite"), ("Lua", "lua")):
        one(bench, name, program)
    call("rm", "-rf", RUN, ARCHIVE)
