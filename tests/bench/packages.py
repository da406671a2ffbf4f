"""Part `packages`: what the plugin adds to building whole packages, many small files among them, with -g and without, and to the size of what is built."""
import os
import pathlib
import shutil
import statistics

from common import TOP, WORK, call, cpu_s, percent, plugin, size_bytes

# Debian's source package, how it is configured (None: not), what is made, and a file of it.
PACKAGES = {
    "lz4": (None, ["-C", "lib"], "lib/liblz4.a"),
    "gzip": (["--quiet"], ["all"], "gzip"),
    "zlib": (["--static"], ["libz.a"], "libz.a"),
    "libxml2": (["--quiet", "--without-python", "--disable-shared"], ["libxml2.la", "xmllint"], "xmllint"),
}
# Their own makefiles would make these again where files are newer than they look.
QUIET = [f"{tool}=:" for tool in ("ACLOCAL", "AUTOMAKE", "AUTOCONF", "AUTOHEADER", "MAKEINFO")]
TEMPLATES = ["unit-readme.cpp", "unit-merge_patch.cpp", "unit-meta.cpp"]  # of nlohmann-json3
VERSION = os.environ.get("PERFMAP_BENCH_GCC", "")  # "-11": of another compiler than the machine's own
COMPILER = {"c": "gcc" + VERSION, "c++": "g++" + VERSION, "fortran": "gfortran" + VERSION}


def folder_of(package, kind):
    """A copy of the sources for each of the two, configured."""
    folder = WORK / "packages" / f"{package}-{kind}"
    if folder.exists():
        return folder
    source = call(TOP / "scripts/debian-source", package).strip()
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(source, fresh, symlinks=True)
    if PACKAGES[package][0] is not None:
        call("./configure", *PACKAGES[package][0], cwd=fresh)
    fresh.rename(folder)
    return folder


def build_s(package, kind, debug):
    folder = folder_of(package, kind)
    call("make", *QUIET, "clean", cwd=folder)
    compiler = COMPILER["c"] if kind == "plain" else f"{COMPILER['c']} -fplugin={plugin()}"
    return cpu_s("make", "-j1", *QUIET, f"CC={compiler}", f"CFLAGS=-O2 {debug}", *PACKAGES[package][1], cwd=folder)


def compile_s(language, sources, kind, debug, *flags):
    """Each source by a compiler of its own, as make would."""
    more = [] if kind == "plain" else [f"-fplugin={plugin()}"]
    return sum(cpu_s(COMPILER[language], "-O2", debug, *more, *flags, "-c", source, "-o", object_of(source, kind)) for source in sources)


def object_of(source, kind):
    return WORK / "packages" / f"{source.stem}-{kind}.o"


def row(bench, what, measure, files):
    """Turns plain, plugin; the median of their ratios, for the machine may do other things meanwhile, and by how much a ratio of them deviates."""
    turns = [(measure("plain"), measure("plugin")) for _ in range(bench.number(5, 2, 9))]
    ratios = [b / a for a, b in turns]
    growth, deviation = statistics.median(ratios) - 1, statistics.stdev(ratios) / len(ratios) ** 0.5
    least = min(b for _, b in turns) / min(a for a, _ in turns) - 1
    sizes = [sum(size_bytes(file) for file in files(kind)) for kind in ("plain", "plugin")]
    bench.row(f"building {what}", f"{percent(growth)} ± {100 * deviation:.1f} (of the shortest {percent(least)}) of {min(a for a, _ in turns):.1f} s CPU; "
              f"{sizes[0]} -> {sizes[1]} bytes", "at most +8 %", growth <= 0.08, growth=growth, deviation=deviation, least=least,
              growth_bytes=sizes[1] / sizes[0] - 1)


def packages(bench):
    (WORK / "packages").mkdir(exist_ok=True)
    json, lapack, sqlite = (pathlib.Path(call(TOP / "scripts/debian-source", name).strip()) for name in ("nlohmann-json3", "lapack", "sqlite3"))
    parts = {
        f"nlohmann-json's {len(TEMPLATES)} tests": ("c++", [json / "tests/src" / name for name in TEMPLATES],
                                                    f"-I{json}/single_include", f"-I{json}/tests/thirdparty/doctest"),
        "LAPACK's DG*": ("fortran", sorted((lapack / "SRC").glob("dg*.f"))[::2]),
        "SQLite": ("c", [sqlite / "amalgamation/sqlite3.c"]),
    }
    for debug in ("-g", "-g0"):
        for package in PACKAGES:
            row(bench, f"{package}, -O2 {debug}", lambda kind, package=package, debug=debug: build_s(package, kind, debug),
                lambda kind, package=package: [folder_of(package, kind) / PACKAGES[package][2]])
        for what, (language, sources, *flags) in parts.items():
            row(bench, f"{what}, -O2 {debug}",
                lambda kind, language=language, sources=sources, flags=flags, debug=debug: compile_s(language, sources, kind, debug, *flags),
                lambda kind, sources=sources: [object_of(source, kind) for source in sources])
