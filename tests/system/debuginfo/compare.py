#!/usr/bin/env python3
"""Do debuginfo_frames and addr2line say the same of every instruction of a file?

    compare.py FRAMES_TOOL FILE [--witness FILE] [--min-lines N] [--functions-only] [--allow N] [--section NAME]...

Addresses are those of all instructions that objdump lists, but for padding. Compared are the number of frames, each frame's function, file name and line.
The witness is read from another file when FILE is stripped. addr2line does not say more than we do anywhere, and where we say more (a
symbol of assembler, a name of the procedure linkage table) only the rest is compared. Exit status 1 with the first differences.
"""
import argparse
import os
import re
import subprocess
import sys


def instructions(path, sections):
    command = ["objdump", "-d", "--no-show-raw-insn"] + ["--section=" + name for name in sections] + [path]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    # Padding between functions belongs to none; addr2line gives it to the one before.
    return [int(m.group(1), 16) for m in re.finditer(r"^ *([0-9a-f]+):\t(?!.*nop|xchg +%ax,%ax|int3)", text, re.M)]


def ask(command, addresses):
    text = "".join(f"{address:#x}\n" for address in addresses)
    done = subprocess.run(command, input=text, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        sys.exit(f"{command[0]}: exit status {done.returncode}: {done.stderr[-500:]}")
    return done.stdout.splitlines()


def addr2line_frames(lines):
    frames, found = None, {}
    for line in lines:
        if re.fullmatch(r"0x[0-9a-f]+", line):
            frames = found.setdefault(int(line, 16), [])
            function = None
        elif function is None:
            function = line
        else:
            place = re.sub(r" \(discriminator \d+\)$", "", line)
            name, _, number = place.rpartition(":")
            frames.append((function, name, int(number) if number.isdigit() else 0))
            function = None
    return found


def our_frames(lines):
    frames, found, tail = None, {}, []
    for line in lines:
        if line.startswith("#"):
            tail.append(line)
        elif re.fullmatch(r"0x[0-9a-f]+", line):
            frames = found.setdefault(int(line, 16), [])
        else:
            function, linkage, place, kind, _, source = line.split("\t")
            name, number, _ = place.rsplit(":", 2)
            frames.append((function, name, int(number), linkage, kind, source))
    return found, tail


def same_function(theirs, ours, linkage):
    theirs = re.sub(r" \[clone [^]]*\]", "", theirs)
    theirs = theirs.removeprefix("__GI_")  # libc's second names of its own functions
    ours = re.sub(r" \[clone [^]]*\]", "", ours)
    # Variants of constructors (C1, C2, C4) and destructors: the debug information's or the symbol's.
    theirs, linkage = (re.sub(r"([CD])[0-5](?=E|I)", r"\1", name) for name in (theirs, linkage))
    return theirs == "??" or theirs in (ours, linkage, linkage.split(".")[0])


def is_stand_in(theirs, ours, outer):
    """Has an inlined function no linkage name (a lambda among its template arguments), addr2line calls it as the symbol around it."""
    if ours[4] == "inlined":
        return ours[3] == "??" and same_function(theirs, outer[0], outer[3])
    # And the other way round: the plain name of a function whose symbol we show.
    return theirs.split("<")[0] in ours[3]


def difference(theirs, ours, options):
    theirs = [frame for frame in theirs if frame[:2] != ("??", "??")]
    if not theirs:
        return None
    # Without lines addr2line guesses the file of the object from the symbol table, and the function from the symbol before.
    if len(theirs) == 1 and theirs[0][2] == 0 and (not ours or ours[0][5] == "symbol"):
        return None if not ours or ours[0][4] == "function" else "inlined without lines"
    if len(theirs) != len(ours) and not options.functions_only:
        return f"{len(ours)} frames, {len(theirs)} expected"
    for a, b in zip(theirs, ours):
        if not same_function(a[0], b[0], b[3]) and not is_stand_in(a[0], b, ours[-1]):
            return f"function {b[0]}, {a[0]} expected"
        if options.functions_only:
            continue
        if a[1] != "??" and os.path.normpath(a[1]) != os.path.normpath(b[1]):
            return f"file {b[1]}, {a[1]} expected"
        if a[2] != b[2]:
            return f"line {b[2]}, {a[2]} expected"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("file")
    parser.add_argument("--witness")
    parser.add_argument("--addr2line", default="addr2line")
    parser.add_argument("--min-lines", type=int, default=1, help="addresses whose line must be known")
    parser.add_argument("--functions-only", action="store_true")
    parser.add_argument("--allow", type=float, default=0, help="share of addresses that may differ")
    parser.add_argument("--section", action="append", default=[])
    options = parser.parse_args()
    addresses = sorted(set(instructions(options.witness or options.file, options.section)))
    # LLVM demangles otherwise than libstdc++: mangled names are compared.
    names = "-fia" if "llvm" in options.addr2line else "-fiaC"
    theirs = addr2line_frames(ask([options.addr2line, names, "-e", options.witness or options.file], addresses))
    ours, tail = our_frames(ask([options.tool, options.file], addresses))
    n_lines, different = 0, []
    for address in addresses:
        text = difference(theirs.get(address, []), ours.get(address, []), options)
        n_lines += any(frame[2] for frame in ours.get(address, []))
        if text:
            different.append(f"{address:#x}: {text}")
    print(f"{options.file}: {len(addresses)} instructions, {n_lines} with lines, {len(different)} different")
    for line in different[:10] + tail:
        print("   ", line)
    return 1 if len(different) > options.allow * len(addresses) or n_lines < options.min_lines else 0


sys.exit(main())
