"""Parts `dormant`, `instructions` and `default`: what the sleds cost while they do nothing, and what the default run costs."""
import json
import re
import statistics

from common import PERFMAP, WORK, call, cpu_s, is_clear, judge, percent, shortest_in_turns, trimmed
from programs import PROGRAMS, make_program, unit_command, unit_ns


def dormant(bench):
    """Many random orders of functions, each linked without and with the plugin so that functions lie at the same addresses (pad.py), measured in turns; the
    mean of the ratios. As many as it takes to tell on which side of the bound it is."""
    least, most, turns, seconds = bench.number(40, 20, 150), bench.number(150, 20, 300), 2, 0.05
    for name, program in PROGRAMS.items():
        ratios, plain_ns = [], []
        for layout in range(1, most + 1):
            paths = {kind: make_program(program, kind, layout, keep=False, padded=True) for kind in ("plain", "plugin")}
            best, _ = shortest_in_turns(turns, {kind: lambda path=path: unit_ns(program, path, seconds) for kind, path in paths.items()})
            ratios.append(best["plugin"] / best["plain"])
            plain_ns.append(best["plain"])
            if layout >= least and layout % 10 == 0 and is_clear(ratios, 0.015):
                break
        growth, error = trimmed(ratios)
        growth -= 1
        spread = statistics.stdev(ratios)
        bench.row(f"dormant, {name}", f"{percent(growth)} ± {200 * error:.1f} of {statistics.median(plain_ns) / 1e6:.3f} ms "
                  f"(median {percent(statistics.median(ratios) - 1)}; {len(ratios)} layouts, standard deviation {100 * spread:.1f} %)", "at most +1.5 %",
                  judge(growth, error, 0.015), growth=growth, error=error, ratios=ratios)


def counts_per_unit(program, path):
    """Instructions and branches of one piece of work under cachegrind, which repeats exactly: of 30 pieces less those of 10."""
    counts = []
    for repetitions in (10, 30):
        command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--branch-sim=yes", f"--cachegrind-out-file={WORK / 'cachegrind.out'}",
                   f"--log-file={WORK / 'cachegrind.log'}"]
        call(*command, *unit_command(program, path, 1000, repetitions))
        log = (WORK / "cachegrind.log").read_text(encoding="utf-8").replace(",", "")
        counts.append([int(re.search(rf"{what}: *(\d+)", log)[1]) for what in ("I +refs", "Branches")])
    return [(b - a) / 20 for a, b in zip(*counts)]


def pairs_per_unit(program, path):
    """Entries (each with its exit) of functions and of loops for one piece of work."""
    pairs = []
    for repetitions in (10, 30):
        folder = WORK / "pairs.run"
        call("rm", "-rf", folder)
        call(PERFMAP, "run", "--no-collect", "--mode", "count", "-o", folder, "--", *unit_command(program, path, 1000, repetitions))
        found = {"function": 0, "loop": 0}
        for file in folder.glob("*.pmr"):
            dump = json.loads(call(PERFMAP, "dump", "--json", file))
            for counts in dump["counts"]:
                first = dump["objects"][counts["object"]]["first_noun"]
                for i, n_calls in enumerate(counts["n_calls"]):
                    kind = dump["nouns"][first + i]["kind"]
                    found[kind] = found.get(kind, 0) + n_calls
        pairs.append(found)
    return {kind: (pairs[1][kind] - pairs[0][kind]) / 20 for kind in pairs[1]}


def instructions(bench):
    """The witness without noise: how many instructions and branches more a piece of work executes with sleds in it."""
    for name, program in PROGRAMS.items():
        (a, branches_a), (b, branches_b) = (counts_per_unit(program, make_program(program, kind)) for kind in ("plain", "plugin"))
        pairs = pairs_per_unit(program, make_program(program, "plugin"))
        sleds = 2 * sum(pairs.values()) / a
        bench.row(f"dormant instructions, {name}", f"{percent(b / a - 1)} of {a:.0f} (sleds that do nothing {percent(sleds)}: {pairs['function']:.0f} calls, "
                  f"{pairs['loop']:.0f} loops); branches {percent(branches_b / branches_a - 1)}", instructions=b / a - 1, sleds=sleds, functions=pairs["function"],
                  loops=pairs["loop"], branches=branches_b / branches_a - 1)


def default(bench):
    """What the default run (samples, contexts within the budget) adds to the same program while it is dormant: user and system CPU time of whole runs of
    the same work, start-up included. Short pieces of work say nothing here: the shortest is one without a sample. The same layout with and without
    pairs; ratios over several layouts."""
    least, most, turns, seconds = bench.number(5, 2, 8), bench.number(8, 2, 16), bench.number(3, 2), bench.number(2, 0.7)
    out = WORK / "default.run"
    for name, program in PROGRAMS.items():
        ratios, dormant_s = [], []
        repetitions = round(seconds * 1e9 / unit_ns(program, make_program(program, "plugin", 1), 0.2))

        def run(path, *front):
            call("rm", "-rf", out)
            return cpu_s(*front, *unit_command(program, path, 1000, repetitions))

        bound = 0.02 if program in ("sqlite", "lua") else 0.05
        for layout in range(1, most + 1):
            path = make_program(program, "plugin", layout)
            best, _ = shortest_in_turns(turns, {"dormant": lambda: run(path), "default": lambda: run(path, PERFMAP, "run", "--no-collect", "-o", out, "--")})
            ratios.append(best["default"] / best["dormant"])
            dormant_s.append(best["dormant"])
            if layout >= least and is_clear(ratios, bound):
                break
        growth, error = trimmed(ratios)
        growth -= 1
        bench.row(f"default run, {name}, CPU of whole runs over dormant", f"{percent(growth)} ± {200 * error:.1f} of {statistics.fmean(dormant_s):.2f} s "
                  f"({percent(min(ratios) - 1)} to {percent(max(ratios) - 1)} over {len(ratios)} layouts)", f"at most +{100 * bound:.0f} %", judge(growth, error, bound),
                  growth=growth, error=error, ratios=ratios)


def short(bench):
    """The same for runs that are over in an instant, where starting counts most: medians of the ratios of turns."""
    turns, seconds, out = bench.number(15, 5, 25), 0.13, WORK / "default.run"
    for name, program in PROGRAMS.items():
        path = make_program(program, "plugin")
        repetitions = round(seconds * 1e9 / unit_ns(program, path, 0.2))

        def run(*front, path=path, program=program, repetitions=repetitions):
            call("rm", "-rf", out)
            return cpu_s(*front, *unit_command(program, path, 1000, repetitions))

        _, seen = shortest_in_turns(turns, {"dormant": run, "default": lambda run=run: run(PERFMAP, "run", "--no-collect", "-o", out, "--")})
        ratios = [b / a for a, b in zip(seen["dormant"], seen["default"])]
        growth, error = statistics.median(ratios) - 1, 1.25 * trimmed(ratios)[1]  # of medians of what is about normal
        bench.row(f"default run, {name}, {seconds} s of work", f"{percent(growth)} ± {200 * error:.1f} of {statistics.median(seen['dormant']):.3f} s "
                  f"({1000 * (statistics.median(seen['default']) - statistics.median(seen['dormant'])):.1f} ms)", "at most +5 %", judge(growth, error, 0.05),
                  growth=growth, error=error, ratios=ratios)
