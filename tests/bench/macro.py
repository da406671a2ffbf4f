"""Part `macro`: what a pair costs within SQLite and Lua, where it is not alone with the processor's caches, and what mode trace costs over exact."""
import statistics

from common import PERFMAP, WORK, call, cpu_s, shortest_in_turns
from dormant import pairs_per_unit
from pair import BOUNDS, build, figures
from programs import make_program, unit_command, unit_ns

MODES = ("count", "active", "exact")


def front(mode):
    """The command before the program, with a fresh run folder."""
    out = WORK / "macro.run"
    call("rm", "-rf", out)
    return [] if mode == "dormant" else [PERFMAP, "run", "--no-collect", "--mode", mode, "--rate", "0", "--budget", "none", "-o", out, "--"]


def macro(bench):
    clocks = figures(call(build()))["two_clocks_ns"]
    for name, program in (("SQLite", "sqlite"), ("Lua", "lua")):
        path = make_program(program, "plugin")
        n_pairs = sum(pairs_per_unit(program, path).values())
        best, _ = shortest_in_turns(bench.number(6, 3, 12), {mode: lambda mode=mode: unit_ns(program, path, 0.3, front(mode)) for mode in ("dormant", *MODES)})
        for mode in MODES:
            ns = (best[mode] - best["dormant"]) / n_pairs
            bench.row(f"pair within {name}, mode {mode}", f"{ns:.2f} ns, {ns / clocks:.3f} of two rdtsc ({clocks:.1f} ns)", f"at most {BOUNDS[mode]:.2f}",
                      ns / clocks <= BOUNDS[mode], ns=ns, ratio=ns / clocks)
        trace_over_exact(bench, name, program, path, best["dormant"])


def trace_over_exact(bench, name, program, path, dormant_ns):
    """User and system CPU time of whole runs, so that what the kernel does to write the trace counts; less the program's own; the shortest of each. A trace is
    measured right behind another one, whose memory it gets: virtual machines hand back what is free for two seconds, and taking it again costs more than all
    the rest of the writing (2.7 times exact in place of 1.25)."""
    repetitions = round(0.2e9 / dormant_ns)

    def run(mode):
        return cpu_s(*front(mode), *unit_command(program, path, 1000, repetitions))

    def again():
        run("trace")
        return run("trace")

    best, seen = shortest_in_turns(bench.number(9, 3, 15), {"dormant": lambda: run("dormant"), "exact": lambda: run("exact"), "trace": again})
    call("rm", "-rf", WORK / "macro.run")
    ratio = (best["trace"] - best["dormant"]) / (best["exact"] - best["dormant"])
    median = statistics.median((trace - own) / (exact - own) for own, exact, trace in zip(*seen.values()))
    bench.row(f"pair within {name}, mode trace over exact, with the kernel's writing",
              f"{ratio:.3f} (median of turns {median:.3f}; whole runs {best['trace'] / best['exact']:.3f})", "at most 1.30", ratio <= 1.3, ratio=ratio,
              median=median, **seen)
