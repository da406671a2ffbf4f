"""Parts `memory`, `startup` and `brief`: what a thread costs in memory, what a program with 5000 sleds waits for until main, and the CPU time of
threads and processes that hardly do anything."""
import statistics
import subprocess
import time

from common import HERE, PERFMAP, TOP, WORK, call, output_and_memory, plugin
from pair import measured_environment

N_FUNCTIONS = 2500  # entry and exit each: 5000 sleds


def many_sleds():
    """A program of 2500 functions that prints how long it was on its way to main: it is told when it was started."""
    source, program = WORK / "many.c", WORK / "many"
    lines = ["#include <stdio.h>", "#include <stdlib.h>", "#include <time.h>"]
    lines += [f"__attribute__((noinline)) int f{i}(int x) {{ __asm__ volatile(\"\"); return x + {i}; }}" for i in range(N_FUNCTIONS)]
    lines += ["int main(int argc, char **argv)", "{", "    struct timespec t;", "    clock_gettime(CLOCK_MONOTONIC, &t);",
              '    printf("%lld\\n", t.tv_sec * 1000000000LL + t.tv_nsec - (argc > 1 ? atoll(argv[1]) : 0));', "    int x = argc;", "    if (argc > 2) {"]
    lines += [f"        x = f{i}(x);" for i in range(N_FUNCTIONS)] + ["    }", "    return x == -1;", "}"]
    text = "\n".join(lines) + "\n"
    if not source.exists() or source.read_text(encoding="utf-8") != text:
        source.write_text(text, encoding="utf-8")
    call("gcc", "-O2", f"-fplugin={plugin()}", source, "-o", program)
    return program


def ms_to_main(program, env=None):
    """From just before the process is made to its main."""
    return int(subprocess.run([program, str(time.monotonic_ns())], env=env, check=True, capture_output=True, text=True).stdout) / 1e6


def startup(bench):
    program = many_sleds()
    best = {}
    modes = ("off", "count", "active", "exact")
    for _ in range(bench.number(60, 15)):
        times = {"none": ms_to_main(program), **{mode: ms_to_main(program, measured_environment(mode)) for mode in modes}}
        for key, ms in times.items():
            best[key] = min(ms, best.get(key, ms))
    for mode in modes:
        added = best[mode] - best["none"]
        bench.row(f"start-up, 5000 sleds, mode {mode}", f"{added:.2f} ms over {best['none']:.2f} ms without PerfMap", "at most 10 ms", added <= 10, ms=added)
    arming = best["exact"] - best["off"]
    bench.row("arming 5000 sleds (exact less off; a bound from above, for `off` looks at them too)", f"{arming:.2f} ms", "at most 2 ms", arming <= 2, ms=arming)
    empty = WORK / "empty"
    (WORK / "empty.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    call("gcc", "-O2", WORK / "empty.c", "-o", empty)
    command = min(wall_ms(PERFMAP, "run", "--no-collect", "-o", WORK / "empty.run", "--", empty) for _ in range(10)) - min(wall_ms(empty) for _ in range(10))
    bench.row("`perfmap run` around an empty program", f"{command:.1f} ms", ms=command)


def wall_ms(*command):
    start = time.monotonic()
    call(*command)
    return 1000 * (time.monotonic() - start)


def memory(bench):
    """Resident memory of 200 threads that are there at once, less that of 8, less the same without PerfMap."""
    program = WORK / "threads"
    call("gcc", "-O2", "-pthread", f"-I{TOP}", HERE / "threads.c", "-o", program)
    for mode in ("count", "active", "exact"):
        added = []
        for threads in (8, 200):
            _, plain = output_and_memory(program, threads)
            _, measured = output_and_memory(program, threads, env=measured_environment(mode))
            added.append(measured - plain)
        each = (added[1] - added[0]) / 192
        bench.row(f"memory per thread, mode {mode}, 16 contexts", f"{each / 1024:.0f} KiB", "at most 1 MiB", each <= 2**20, bytes=each)


def brief(bench):
    """CPU time of a thread and of a process from start to end: in turns without PerfMap, in a default run, and in one without samples."""
    program, empty, folder = WORK / "brief", WORK / "empty", WORK / "brief.run"
    (WORK / "empty.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    call("gcc", "-O2", WORK / "empty.c", "-o", empty)
    for name, flags in (("brief", (f"-fplugin={plugin()}",)), ("brief-plain", ())):
        call("gcc", "-O2", "-pthread", *flags, HERE / "brief.c", "-o", WORK / name)
    cases = {"a thread": (("threads", bench.number(20000, 5000)), program), "a process without sleds": (("processes", bench.number(300, 100), empty), WORK / "brief-plain"),
             "a process with sleds": (("processes", bench.number(300, 100), many_sleds()), WORK / "brief-plain")}
    for case, (arguments, of) in cases.items():
        took = {"plain": [], "default": [], "--rate 0": []}
        for _ in range(bench.number(9, 3)):
            for key, values in took.items():
                options = ["--rate", "0"] if key == "--rate 0" else []
                run = [] if key == "plain" else [PERFMAP, "run", "--no-collect", *options, "-o", folder, "--"]
                call("rm", "-rf", folder)
                done = subprocess.run([str(word) for word in (*run, of, *arguments)], check=True, capture_output=True, text=True)
                values.append(float(done.stdout.split()[-1]))
        plain = statistics.median(took["plain"])
        for key in ("default", "--rate 0"):
            ratio = statistics.median(measured / bare for measured, bare in zip(took[key], took["plain"]))
            bench.row(f"CPU time of {case}, start to end, {'default run' if key == 'default' else 'without samples'}", f"{ratio:.2f} times {plain:.0f} us", ratio=ratio, us=plain * (ratio - 1))
