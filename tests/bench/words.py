"""Part `words`: what the calls of perfmap.h cost, a pair each, without PerfMap and in each mode."""
from common import HERE, WORK, call
from pair import figures, measured_environment, modes

KINDS = {"enter_ns": "enter and leave", "enter_in_turn_ns": "enter and leave, four in turn", "begin_ns": "begin and end, 10 calls deep",
         "capture_ns": "capture", "adopt_ns": "adopt and release", "adopt_in_turn_ns": "adopt and release, four in turn"}
# Issue: at most 10 ns for enter and leave in mode active, under 1 ns without PerfMap, 60 ns for begin or end.
BOUNDS = {("none", "enter_ns"): 1, ("active", "enter_ns"): 10, ("active", "begin_ns"): 120, ("none", "adopt_ns"): 1}


def words(bench):
    program = WORK / "words"
    call("gcc", "-O2", HERE / "words.c", "-o", program)
    for mode in ("none", *(mode for mode in modes() if mode != "trace")):
        best = {}
        for _ in range(bench.number(6, 2)):
            environment = None if mode == "none" else measured_environment(mode)
            for key, figure in figures(call(program, env=environment)).items():
                best[key] = min(figure, best.get(key, figure))
        for key, what in KINDS.items():
            bound = BOUNDS.get((mode, key))
            bench.row(f"words, {'without PerfMap' if mode == 'none' else 'mode ' + mode}, {what}", f"{best[key]:.2f} ns",
                      f"at most {bound}" if bound else "", best[key] <= bound if bound else "", ns=best[key])
