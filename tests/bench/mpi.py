"""Part `mpi`: what a call of MPI costs with the adapter mpi, over the plain call; many ranks; files of 10 000 ranks in `perfmap collect`."""
import os
import resource
import shutil
import struct
import subprocess
import time

from common import HERE, PERFMAP, TOP, WORK, call

LAUNCHERS = {"Open MPI": ["mpirun.openmpi", "--oversubscribe"], "MPICH": ["mpirun.mpich"]}
COMPILERS = {"Open MPI": "mpicc.openmpi", "MPICH": "mpicc.mpich"}
WORDS = {"nobody_ns": ("MPI_Send to nobody", 1), "oneself_ns": ("MPI_Irecv, MPI_Send, MPI_Wait to oneself", 3), "round_trip_ns": ("a round trip of 8 bytes", 4)}
BOUND_NS = 300  # a call
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def figures(text):
    return {line.split()[0]: float(line.split()[1]) for line in text.splitlines() if len(line.split()) == 2 and line.split()[0] in WORDS}


def shortest(turns, *command):
    each = [figures(call(*command, env=dict(os.environ, **ROOT))) for _ in range(turns)]
    return {key: min(one[key] for one in each) for key in WORDS}


def calls(bench, mpi):
    program, run = WORK / "mpi-program", WORK / "mpi.run"
    call(COMPILERS[mpi], "-O2", HERE / "mpi.c", "-o", program)
    launch = [*LAUNCHERS[mpi], "-np", "2", program]
    plain = shortest(bench.number(4, 2), *launch)
    measured = shortest(bench.number(4, 2), PERFMAP, "run", "--no-collect", "-o", run, "--", *launch)
    for key, (what, n_calls) in WORDS.items():
        added = measured[key] - plain[key]
        bench.row(f"{mpi}, {what}", f"+{added:.0f} ns on {plain[key]:.0f} ns", f"at most +{BOUND_NS * n_calls} ns", added <= BOUND_NS * n_calls, ns=added)


def many_ranks(bench):
    program, archive, run = WORK / "stommel", WORK / "many.perfmap", WORK / "many.run"
    call("mpicc.openmpi", "-O2", "-g", f"-fplugin={call(PERFMAP, 'plugin-path').strip()}", TOP / "examples/stommel/stommel.c", "-o", program, "-lm")
    call(PERFMAP, "run", "--no-collect", "-o", run, "--", *LAUNCHERS["Open MPI"], "-np", "64", program, "640", "200", env=dict(os.environ, **ROOT))
    start = time.monotonic()
    call(PERFMAP, "collect", "-o", archive, run)
    seconds, size = time.monotonic() - start, archive.stat().st_size / 1e6
    bench.row("64 ranks, collect", f"{seconds:.2f} s", "at most 1 s", seconds <= 1, s=seconds)
    bench.row("64 ranks, archive", f"{size:.1f} MB", "at most 20 MB", size <= 20, mb=size)
    return run


RANK = 4000  # rank_plus_1 and n_ranks in struct pm_run_header


def rank_of(header):
    return struct.unpack_from("<I", header, RANK)[0] - 1


def many_files(bench, run, n):
    """The file of rank 1, as often as there are ranks, each with a pid and a rank of its own."""
    of_rank = {}
    for path in sorted(run.glob("*.pmr")):
        data = path.read_bytes()
        of_rank[rank_of(data)] = bytearray(data)
    data, folder = of_rank[1], WORK / "simulated.run"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(run / "manifest", folder)
    for i in range(n):
        struct.pack_into("<I", data, 32, 100000 + i)
        struct.pack_into("<II", data, RANK, i + 1, n)
        (folder / f"{100000 + i}.0.pmr").write_bytes(data)
    start = time.monotonic()
    subprocess.run([PERFMAP, "collect", "-o", WORK / "simulated.perfmap", folder], check=True, stderr=subprocess.DEVNULL)
    seconds = time.monotonic() - start
    gigabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    bench.row(f"files of {n} ranks, collect", f"{seconds:.1f} s, {gigabytes:.1f} GB", f"at most {60 * n // 10000} s, 4 GB", seconds <= 60 * n / 10000 and gigabytes <= 4, s=seconds)
    shutil.rmtree(folder)


def mpi(bench):
    for name in LAUNCHERS:
        calls(bench, name)
    run = many_ranks(bench)
    many_files(bench, run, bench.number(10000, 1000))
