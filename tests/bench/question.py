"""Part `question`: what a pair costs that is armed for a question of three sentences, against one that is armed for itself."""
from common import HERE, PERFMAP, WORK, call
from pair import figures

QUESTION = "{request Executes} then {part Executes} then {step Executes}"
KINDS = {"dormant": ("--off", "*"), "one function": ("--off", "*", "--active", "func:step"), "three sentences": ("--ask", QUESTION),
         "three, one denied": ("--ask", "{part Executes}, {step Executes}, not {main Executes}")}


def question(bench):
    program = WORK / "question"
    plugin = call(PERFMAP, "plugin-path").strip()
    call("gcc", "-O2", "-g", f"-fplugin={plugin}", HERE / "question.c", "-o", program)
    best = {}
    for _ in range(bench.number(8, 4)):
        for kind, options in KINDS.items():
            out = call(PERFMAP, "run", "--no-collect", "--rate", "0", "--budget", "none", *options, "-o", WORK / "question.run", "--", program)
            best[kind] = min(figures(out)["pair_ns"], best.get(kind, 1e9))
    for kind in list(KINDS)[1:]:
        more = best[kind] - best["one function"]
        bench.row(f"question, a pair armed for {kind}", f"{best[kind] - best['dormant']:.2f} ns ({more:+.2f} ns)", "at most +2 ns", more <= 2,
                  ns=best[kind] - best["dormant"], more_ns=more)
