"""Parts `pair` and `scaling`: what one entry and exit costs, on one thread and on two."""
import os
import re

from common import HERE, PERFMAP, RUNTIME, TOP, WORK, call, say

# Bounds as multiples of what two reads of the clock cost in the same process (issue: count 0.1, active 0.3, exact 1.1, trace 1.3 times exact).
BOUNDS = {"count": 0.1, "active": 0.3, "exact": 1.1, "trace": 1.3 * 1.1}
KINDS = {"pair_ns": "one function", "in_turn_ns": "four in turn", "no_free_register_ns": "no free register"}


def modes():
    """The measuring modes that this perfmap has."""
    text = call(PERFMAP, "run", "--help")
    return [mode for mode in ("count", "active", "exact", "trace") if re.search(rf"\b{mode}\b", text)]


def measured_environment(mode):
    """A fresh run folder and the environment under which the runtime works by itself, without `perfmap run`."""
    folder = WORK / "pair.run"
    call("rm", "-rf", folder)
    folder.mkdir()
    return dict(os.environ, PERFMAP_RUN_DIR=str(folder), PERFMAP_MODE=mode, PERFMAP_BUDGET="0", LD_PRELOAD=str(RUNTIME))


def figures(text):
    return {key: float(figure) for key, figure in re.findall(r"(\w+)=([-0-9.]+)", text)}


def build():
    program = WORK / "pair"
    call("gcc", "-O2", "-pthread", f"-I{TOP}", HERE / "pair.c", "-o", program)
    return program


def shortest(program, mode, turns, threads=1):
    best = {}
    for _ in range(turns):
        for key, figure in figures(call(program, threads, env=measured_environment(mode))).items():
            best[key] = min(figure, best.get(key, figure))
    return best


def pair(bench):
    program = build()
    turns = bench.number(6, 2)
    best = {mode: shortest(program, mode, turns) for mode in ("off", *modes())}
    clocks = min(figure["two_clocks_ns"] for figure in best.values())
    for mode, figure in best.items():
        for key, what in KINDS.items():
            ratio = figure[key] / clocks
            bound = BOUNDS.get(mode) if key == "pair_ns" else None
            bench.row(f"pair, mode {mode.replace('off', 'off (dormant)')}, {what}", f"{figure[key]:.2f} ns, {ratio:.3f} of two rdtsc ({clocks:.1f} ns)",
                      f"at most {bound:.2f}" if bound else "", ratio <= bound if bound else "", ns=figure[key], ratio=ratio)


def scaling(bench):
    """Two threads against one, in turns. On a machine with other work two threads take turns on what is left: the shortest repetitions count."""
    program = build()
    turns = bench.number(8, 3)
    if os.cpu_count() < 2:
        say("one processor only: no scaling")
        return
    for mode in modes():
        one, two = {}, {}
        for _ in range(turns):
            for best, threads in ((one, 1), (two, 2)):
                for key, figure in shortest(program, mode, 1, threads).items():
                    best[key] = min(figure, best.get(key, figure))
        growth = two["pair_ns"] / one["pair_ns"] - 1
        bench.row(f"scaling, mode {mode}, a pair with 2 threads against 1", f"{100 * growth:+.1f} % of {one['pair_ns']:.2f} ns", "at most +5 %",
                  growth <= 0.05, growth=growth)
