"""Part `peers`: PerfMap's modes beside other tools, on the same functions and the same macro programs."""
import dataclasses
import json
import os
import shutil
import statistics
import subprocess

from common import PERFMAP, WORK, call, cpu_s, output_and_memory, reason, say, size_bytes, wall_and_cpu_s
from pair import figures, modes
from programs import PROGRAMS, make_calls, make_program, unit_command, unit_ns

OUT = WORK / "peer.out"


@dataclasses.dataclass
class Tool:
    """One tool in one mode. OUT in words stands for its output folder, PROGRAM for what it measured."""
    name: str
    mode: str
    kind: str  # how programs are compiled for it: programs.KINDS
    front: tuple = ()
    env: dict = dataclasses.field(default_factory=dict)
    collect: tuple = ()
    report: tuple = ()
    writes: bool = False  # does it leave files?
    pairs: bool = True  # does it act at calls?
    samples: bool = False  # then whole runs are compared: the shortest piece of work is one without a sample
    n_units: int = 0  # tracers write much: so many pieces of work at most


def perfmap_tools():
    def tool(name, *options, **more):
        return Tool("PerfMap", name, "plugin", (PERFMAP, "run", "--no-collect", *options, "-o", "OUT/run", "--"), writes=True,
                    collect=(PERFMAP, "collect", "OUT/run", "-o", "OUT/x.perfmap"), report=(PERFMAP, "report", "--level", "source", "OUT/x.perfmap"), **more)

    yield Tool("PerfMap", "dormant", "plugin")
    yield tool("default run", samples=True, pairs=False)
    for mode in modes():
        yield tool(mode, "--mode", mode, "--rate", "0", "--budget", "none", **({"n_units": 30} if mode == "trace" else {}))


def xray(mode, **env):
    # Without a threshold of time below which it drops calls, as the others.
    env["XRAY_OPTIONS"] = env.get("XRAY_OPTIONS", "") + " xray_logfile_base=OUT/xray."
    return Tool("XRay (clang-19)", mode, "xray", env=env, writes=True, n_units=30, report=("sh", "-c", "llvm-xray-19 account -k -instr_map=PROGRAM OUT/xray.*"))


PEERS = (
    Tool("uftrace", "dormant (-mnop-mcount)", "fentry", env={"GMON_OUT_PREFIX": "OUT/gmon"}),  # else what is linked with -pg leaves gmon.out where we are
    Tool("uftrace", "record", "pg", ("uftrace", "record", "--no-pager", "-d", "OUT/uf"), report=("uftrace", "report", "--no-pager", "-d", "OUT/uf"), writes=True,
         n_units=30),
    Tool("gprof", "-pg", "pg", env={"GMON_OUT_PREFIX": "OUT/gmon"}, report=("sh", "-c", "gprof -b PROGRAM OUT/gmon.*"), writes=True),
    Tool("-finstrument-functions", "empty handlers", "cyg"),
    Tool("-finstrument-functions", "rdtsc, event to a ring", "cyg:clock"),
    Tool("XRay (clang-19)", "dormant", "xray"),
    xray("basic", XRAY_OPTIONS="patch_premain=true xray_mode=xray-basic", XRAY_BASIC_OPTIONS="func_duration_threshold_us=0"),
    xray("flight recorder", XRAY_BENCH_MODE="xray-fdr"),
    Tool("perf", "record -F 401 -g", "plain", ("perf", "record", "-q", "-F", "401", "-g", "-o", "OUT/perf.data", "--"),
         report=("perf", "report", "--stdio", "-i", "OUT/perf.data"), writes=True, pairs=False, samples=True),
    Tool("valgrind", "callgrind", "plain", ("valgrind", "--tool=callgrind", "--callgrind-out-file=OUT/callgrind.out"),
         report=("callgrind_annotate", "OUT/callgrind.out"), writes=True, pairs=False, n_units=30),
)


def prepared(tool):
    """A fresh output folder; the command's front and the environment with its name in them."""
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    front = [str(word).replace("OUT", str(OUT)) for word in tool.front]
    return front, dict(os.environ, **{key: value.replace("OUT", str(OUT)) for key, value in tool.env.items()})


def measured(bench, tool, column, measure, *arguments):
    """Does a measurement; a tool that does not survive it must not take along the others."""
    try:
        return measure(*arguments)
    except (OSError, ValueError, KeyError, IndexError, subprocess.SubprocessError) as error:
        bench.peer(tool.name, tool.mode, column, "fails")
        bench.failed[f"{tool.name}, {tool.mode}: {column}"] = reason(error)
        say(f"{tool.name}, {tool.mode}: {column} fails: {reason(error)}")
        return None


def run_pairs(bench, tool):
    """The micro program: the cost of a pair, and what its events take on disk."""
    program = make_calls(tool.kind)
    n_repetitions = 500
    best = {}
    for _ in range(bench.number(4, 2)):
        front, env = prepared(tool)
        for key, figure in figures(call(*front, program, n_repetitions, env=env)).items():
            best[key] = min(figure, best.get(key, figure))
    bench.peer(tool.name, tool.mode, "ns a pair", f"{best['pair_ns']:.2f}", ns=best["pair_ns"], ratio=best["pair_ns"] / best["two_clocks_ns"])
    if tool.writes:
        values = {"bytes": size_bytes(OUT)}  # 500 000 pairs: a million events
        words = size_words(values["bytes"])
        if tool.collect:
            call(*fill(tool.collect, program))
            values["collected_bytes"] = size_bytes(OUT / "x.perfmap")
            words += f", {size_words(values['collected_bytes'])} collected"
        bench.peer(tool.name, tool.mode, "bytes per million events", words, **values)


def size_words(n):
    return f"{n / 1e6:.1f} MB" if n >= 1e6 else f"{n / 1e3:.0f} kB"


def fill(command, program):
    return [str(word).replace("OUT", str(OUT)).replace("PROGRAM", str(program)) for word in command]


def one_turn(tool, program, seconds, whole):
    """CPU time of a whole run for a sampler, else the shortest piece of work."""
    path = make_program(program, tool.kind)
    front, env = prepared(tool)
    if tool.samples:
        return cpu_s(*front, *unit_command(program, path, 1000, whole), env=env)
    return unit_ns(program, path, 1000 if tool.n_units else seconds, front, tool.n_units or None, env)


def slowdowns(bench, tools, name, program):
    """All tools in turns with the same program without any; ratios of the shortest times, for tools that sample of CPU times of whole runs."""
    able = [tool for tool in tools if works(tool, program)]
    for tool in tools:
        if tool not in able:
            bench.peer(tool.name, tool.mode, name, "fails")
    tools = able
    turns, seconds = bench.number(4, 2, 8), 0.3
    plain = {kind: make_program(program, kind) for kind in ("plain", *(["clang"] if any(tool.kind == "xray" for tool in tools) else []))}
    whole = round(bench.number(2, 0.7) * 1e9 / unit_ns(program, plain["plain"], 0.2))
    seen = {}
    for _ in range(turns):
        for kind, path in plain.items():
            seen.setdefault(kind, []).append(unit_ns(program, path, seconds))
        for i, tool in enumerate(tools):
            if tool.samples:
                seen.setdefault("whole", []).append(cpu_s(*unit_command(program, plain["plain"], 1000, whole)))
            seen.setdefault(i, []).append(measured(bench, tool, name, one_turn, tool, program, seconds, whole))
    for i, tool in enumerate(tools):
        if None in seen[i]:
            continue  # it has failed
        base = seen["whole" if tool.samples else "clang" if tool.kind == "xray" else "plain"]
        ratio = min(seen[i]) / min(base)
        bench.peer(tool.name, tool.mode, name, f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}", ratio=ratio,
                   median=statistics.median(seen[i]) / statistics.median(base), times=seen[i], plain=base)


def memory_and_report(bench, tool, program):
    """One run of a fixed amount of work: the largest process's memory over that of the program alone, and how long the tool's report takes."""
    path, n_units = make_program(program, tool.kind), tool.n_units or 100
    _, alone = output_and_memory(*unit_command(program, make_program(program, "plain"), 1000, n_units))
    front, env = prepared(tool)
    _, with_tool = output_and_memory(*front, *unit_command(program, path, 1000, n_units), env=env)
    bench.peer(tool.name, tool.mode, "memory", f"+{(with_tool - alone) / 2**20:.0f} MiB", bytes=with_tool - alone)
    report_time(bench, tool, path)
    if tool.mode == "trace":
        trace_size(bench, program)


def trace_size(bench, program):
    """What an event of a real program takes in the archive (those of the micro program are all alike)."""
    n_calls = sum(json.loads(call(PERFMAP, "dump", "--json", file))["process"]["n_calls"] for file in (OUT / "run").glob("*.pmr"))
    raw, collected = size_bytes(OUT / "run"), size_bytes(OUT / "x.perfmap")
    each = collected / (2 * n_calls)
    bench.row(f"trace of {program}, on disk after collect", f"{each:.2f} bytes an event ({2 * n_calls} events, {size_words(raw)} before)", "at most 6", each <= 6,
              bytes=each, raw_bytes=raw / (2 * n_calls))


def report_time(bench, tool, path):
    """How long it takes from the end of the run to a table; not longer than a minute."""
    if not tool.report:
        return
    try:
        seconds = sum(wall_and_cpu_s(*fill(step, path), timeout=60)[0] for step in (tool.collect, tool.report) if step)
    except subprocess.TimeoutExpired:
        bench.peer(tool.name, tool.mode, "report", "over 60 s")
        return
    bench.peer(tool.name, tool.mode, "report", f"{seconds:.2f} s", wall_s=seconds)


def works(tool, program):
    """Is the tool there and able to run here? Says why not."""
    front, env = prepared(tool)
    try:
        call(*front, *unit_command(program, make_program(program, tool.kind), 1000, 3), env=env, timeout=300)
    except (OSError, subprocess.SubprocessError) as error:
        say(f"{tool.name}, {tool.mode} fails with {program}: {reason(error)}")
        return False
    return True


def peers(bench):
    programs = {name: program for name, program in PROGRAMS.items() if not bench.quick or program in ("bzip2", "cxx")}
    last = "bzip2" if bench.quick else "sqlite"
    tools = [tool for tool in (*perfmap_tools(), *PEERS) if works(tool, "bzip2")]  # is it there, and does it work on this machine at all?
    for tool in tools:
        if tool.pairs:
            measured(bench, tool, "ns a pair", run_pairs, bench, tool)
    for name, program in programs.items():
        slowdowns(bench, tools, name, program)
    for tool in tools:
        if tool.writes:
            measured(bench, tool, "memory", memory_and_report, bench, tool, last)
    shutil.rmtree(OUT, ignore_errors=True)
