"""The macro programs: SQLite, Lua, bzip2's library, and a C++ program, compiled for each tool, linked in random orders of their functions.

Each is one object file (of the program under test) and a small main program that repeats a piece of work and prints the shortest time.
"""
import functools
import pathlib
import shlex

from common import HERE, TOP, WORK, call, plugin
from pad import pad

PROGRAMS = {"SQLite": "sqlite", "Lua": "lua", "bzip2": "bzip2", "C++": "cxx"}
SOURCES = {"sqlite": "sqlite3", "lua": "lua5.4", "bzip2": "bzip2"}

# How each tool wants programs to be compiled: compiler (C, C++), flags, flags of the link.
KINDS = {
    "plain": (("gcc", "g++"), [], []),
    "plugin": (("gcc", "g++"), ["-fplugin={plugin}"], []),
    "pg": (("gcc", "g++"), ["-pg"], ["-pg"]),
    "fentry": (("gcc", "g++"), ["-pg", "-mfentry", "-mnop-mcount", "-fno-pie"], ["-no-pie"]),
    "cyg": (("gcc", "g++"), ["-finstrument-functions"], []),
    "clang": (("clang-19", "clang++-19"), [], []),
    "xray": (("clang-19", "clang++-19"), ["-fxray-instrument", "-fxray-instruction-threshold=1"], ["-fxray-instrument"]),
}


def source_of(program):
    return pathlib.Path(call(TOP / "scripts/debian-source", SOURCES[program]).strip())


def compile_steps(program):
    """(source files, flags) of a program; is it C++?"""
    if program == "sqlite":
        return [source_of(program) / "amalgamation/sqlite3.c"], [], False
    if program == "lua":
        (WORK / "lua5.4-deb-multiarch.h").write_text(f'#define DEB_HOST_MULTIARCH "{call("gcc", "-print-multiarch").strip()}"\n', encoding="utf-8")
        sources = sorted(path for path in (source_of(program) / "src").glob("*.c") if path.name != "luac.c")
        return sources, ["-std=gnu99", "-DLUA_COMPAT_5_3", "-DLUA_USE_LINUX", "-Dmain=lua_main", "-Dluai_makeseed(L)=1", f"-I{WORK}"], False
    if program == "bzip2":
        names = ("blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib")
        return [source_of(program) / f"{name}.c" for name in names], [], False
    return [HERE / "cxx_unit.cc"], ["-std=c++17"], True


def flags_of(kind):
    return [flag.format(plugin=plugin()) if "{plugin}" in flag else flag for flag in KINDS[kind][1]]


def up_to_date(path, words, sources):
    """Was `path` made by the same command from sources and a plugin that are not newer? Remembers the command beside it."""
    recipe = path.with_suffix(path.suffix + ".cmd")
    stamps = [pathlib.Path(source).stat().st_mtime for source in sources]
    if "plugin" in path.name:
        stamps += [file.stat().st_mtime for file in pathlib.Path(plugin()).parent.glob("perfmap*.so")]
    text = shlex.join(map(str, words))
    if path.exists() and recipe.exists() and recipe.read_text(encoding="utf-8") == text and path.stat().st_mtime > max(stamps, default=0):
        return True
    recipe.write_text(text, encoding="utf-8")
    path.unlink(missing_ok=True)
    return False


@functools.cache
def make_object(program, kind):
    """The program as one object."""
    compilers, _, _ = KINDS[kind]
    sources, flags, is_cxx = compile_steps(program)
    words = [compilers[is_cxx], "-O2", "-g", "-ffunction-sections", *flags, *flags_of(kind)]
    target = WORK / f"{program}-{kind}.o"
    if up_to_date(target, words, sources):
        return target
    parts = []
    for source in sources:
        parts.append(WORK / f"{program}-{kind}-{source.stem}.part.o")
        call(*words, "-c", source, "-o", parts[-1])
    if len(parts) == 1:
        parts[0].rename(target)
    else:
        call("ld", "-r", *parts, "-o", target)
        for part in parts:
            part.unlink()
    return target


@functools.cache
def make_padded_objects(program):
    """Without and with the plugin; with the same order of sections functions lie at the same addresses."""
    padded = {kind: WORK / f"{program}-{kind}-padded.o" for kind in ("plain", "plugin")}
    objects = {kind: make_object(program, kind) for kind in padded}
    if not all(path.exists() and path.stat().st_mtime > max(o.stat().st_mtime for o in objects.values()) for path in padded.values()):
        pad(objects["plain"], objects["plugin"], padded["plain"], padded["plugin"])
    return padded


@functools.cache
def handlers(kind):
    """The object with the handlers that "cyg" (empty) and "cyg:clock" want, or with what starts XRay's recorder."""
    if kind == "xray":
        call("clang-19", "-O2", "-c", HERE / "xray_log.c", "-o", WORK / "xray_log.o")
        return [WORK / "xray_log.o"]
    if not kind.startswith("cyg"):
        return []
    clock = int(kind.endswith(":clock"))
    call("gcc", "-O2", f"-DCLOCK={clock}", "-c", HERE / "handlers.c", "-o", WORK / f"handlers-{clock}.o")
    return [WORK / f"handlers-{clock}.o"]


@functools.cache
def main_object(source, flag):
    """The main programs are not measured, so they are compiled without any tool."""
    target = WORK / f"{source.stem}-main{flag}.o"
    call("gcc", "-O2", flag, "-c", source, "-o", target)
    return target


def make_program(program, kind, layout=None, keep=True, padded=False):
    """The object linked with its main program. layout: the seed of a random order of its functions (lld); keep: under a name of its own; padded: of those
    objects that have sections of the same sizes."""
    target = WORK / (f"{program}-{kind.replace(':', '-')}" + ("" if layout is None else f"-{layout}" if keep else "-layout"))
    thing = make_padded_objects(program)[kind] if padded else make_object(program, kind.split(":")[0])
    main = [] if program == "cxx" else [HERE / f"{program}_unit.c"]
    if keep and target.exists() and target.stat().st_mtime > max(path.stat().st_mtime for path in [thing, *main]):
        return target
    compilers, _, link = KINDS[kind.split(":")[0]]
    words = [compilers[program == "cxx"], "-O2", *link]
    if layout is not None:
        words += ["-fuse-ld=lld", "-Wl,-S", f"-Wl,--shuffle-sections=.text*={layout}"]
    if "-no-pie" in link:
        words.append("-fno-pie")
    parts = [main_object(source, "-fno-pie" if "-no-pie" in link else "-fPIE") for source in main]
    call(*words, "-Wl,-E", *parts, thing, *handlers(kind), "-o", target, "-lm")
    return target


def make_calls(kind):
    """calls.c for a tool."""
    compilers, _, link = KINDS[kind.split(":")[0]]
    target = WORK / f"calls-{kind.replace(':', '-')}"
    call(compilers[0], "-O2", *flags_of(kind.split(":")[0]), *link, HERE / "calls.c", *handlers(kind), "-o", target)
    return target


def unit_command(program, path, seconds, repetitions=None):
    script = [HERE / "lua_unit.lua"] if program == "lua" else []
    return [path, *script, str(seconds), *([] if repetitions is None else [str(repetitions)])]


def unit_ns(program, path, seconds, front=(), repetitions=None, env=None):
    """The shortest time of the piece of work, in nanoseconds."""
    return int(call(*front, *unit_command(program, path, seconds, repetitions), env=env).splitlines()[-1])
