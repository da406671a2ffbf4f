"""Decodes .perfmap.map by docs/formats/code-map.md alone, as a second reading of the format beside mapping/code.

    decode.py stats BINARY          sizes, and what share of the ranges is known
    decode.py many BINARY...        stats of each, to BINARY.stats
    decode.py ranges BINARY PIF     one line a range: address, end, symbol, kind, inline chain, place, loop, objects, others
    decode.py lines BINARY          against addr2line -i: the line and the inline chain of each instruction

PIF is the text of `perfmap pif BINARY`. Damage is an error.
"""
import bisect
import collections
import re
import struct
import subprocess
import sys

KINDS = ["ordinary", "frame", "spill", "sled", "call", "padding"]
REASONS = ["?", "vectorised", "stores-merged", "loop-to-call", "folded", "common-tail", "loops-fused", "combined"]
SITE, PLACE, FILE, LOOP, OBJECTS, ALSO, UNNAMED = 1, 2, 4, 8, 16, 32, 64
COLD, SHARED, IDS = 1, 2, 4
HEADER = 28

Site = collections.namedtuple("Site", "parent function file line column")
Tuple = collections.namedtuple("Tuple", "kind unnamed site file line column loop objects also")
Range = collections.namedtuple("Range", "begin end tuple")
Block = collections.namedtuple("Block", "cold address symbol functions files loops objects sites ranges n_tuples size")


def sections(path):
    """Name -> bytes, of a 64-bit little-endian ELF file."""
    data = open(path, "rb").read()
    assert data[:6] == b"\x7fELF\x02\x01", "not a 64-bit little-endian ELF file"
    (offset,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
    strings = headers[names]
    result = {}
    for header in headers:
        at = strings[4] + header[0]
        name = data[at : data.index(0, at)].decode()
        result[name] = b"" if header[1] == 8 else data[header[4] : header[4] + header[5]]
    return result


class Cursor:
    def __init__(self, data, at, end):
        self.data, self.at, self.end = data, at, end
        self.shared = None  # the ids that tables refer to, where they do not hold them

    def u(self):
        value = shift = 0
        while True:
            assert self.at < self.end, f"a number runs over the block's end at {self.end:#x}"
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                assert value < 1 << 64
                return value

    def s(self):
        value = self.u()
        return -(value >> 1) - 1 if value & 1 else value >> 1

    def ids(self):
        count = self.u()
        if self.shared is not None:
            return tuple(self.shared[self.u()] for _ in range(count))
        assert self.at + 8 * count <= self.end, "a table runs over the block's end"
        values = struct.unpack_from(f"<{count}Q", self.data, self.at)
        self.at += 8 * count
        return values


def read_sites(cursor, functions, files):
    sites, line = [], 0
    for i in range(cursor.u()):
        parent, function, file = cursor.u(), cursor.u(), cursor.u()
        line += cursor.s()
        column = cursor.u()
        assert parent <= i and function < len(functions) and line >= 0
        assert line == 0 or file < len(files)
        sites.append(Site(parent, functions[function], files[file] if line else None, line, column))
    return sites


def read_tuple(cursor, block, before):
    flags = cursor.u()
    site, file, line, column, loop = before
    assert flags >> 8 < len(KINDS) and not flags & 128
    if flags & SITE:
        site = cursor.u()
    if flags & PLACE:
        line += cursor.s()
        column = cursor.u()
    if flags & FILE:
        file = cursor.u()
    if flags & LOOP:
        loop = cursor.u()
    objects = []
    for _ in range(cursor.u() if flags & OBJECTS else 0):
        value = cursor.u()
        assert value & 3 or flags >> 8 in (KINDS.index("call"), KINDS.index("ordinary"))  # of an ordinary one: its descriptor is read
        objects.append((block.objects[value >> 3], value & 7))
    also = []
    for _ in range(cursor.u() if flags & ALSO else 0):
        reason, function, at_file, at_line, at_column = cursor.u(), cursor.u(), cursor.u(), cursor.s(), cursor.u()
        assert 0 < reason >> 1 < len(REASONS)
        also.append((reason >> 1, reason & 1, block.functions[function], block.files[at_file], line + at_line, at_column))
    assert site <= len(block.sites) and loop <= len(block.loops) and line >= 0
    known = Tuple(flags >> 8, bool(flags & UNNAMED), site, block.files[file] if line else None, line, column,
                  block.loops[loop - 1] if loop else 0, tuple(objects), tuple(also))
    return known, (site, file, line, column, loop)


def read_block(data, at):
    magic, version, flags, size, address, symbol = struct.unpack_from("<4sHHIQQ", data, at)
    assert magic == b"PMmp" and version == 1 and flags in (0, COLD, SHARED, COLD | SHARED, IDS), f"no block at {at:#x}"
    assert HEADER < size <= len(data) - at
    cursor = Cursor(data, at + HEADER, at + size)
    if flags == IDS:
        assert address == 0 and len(cursor.ids()) and cursor.at == cursor.end
        return Block(0, 0, 0, (), (), (), (), (), (), (0,), size)
    if flags & SHARED:
        (distance,) = struct.unpack_from("<I", data, cursor.at)
        cursor.at += 4
        _, _, kind, ids_size = struct.unpack_from("<4sHHI", data, at + distance)
        assert kind == IDS
        cursor.shared = Cursor(data, at + distance + HEADER, at + distance + ids_size).ids()
    functions, files, loops, objects = (cursor.ids() for _ in range(4))
    block = Block(flags & COLD, address, symbol, functions, files, loops, objects, read_sites(cursor, functions, files), [], [], size)
    before, tuples = (0, 0, 0, 0, 0), []
    while cursor.at < cursor.end:
        length, ref = cursor.u(), cursor.u()
        if ref == 0:
            known, before = read_tuple(cursor, block, before)
            tuples.append(known)
        assert ref <= len(tuples)
        block.ranges.append(Range(address, address + length, tuples[-ref if ref else -1]))
        address += length
    block.n_tuples.append(len(tuples))
    return block


def read_blocks(path):
    data = sections(path).get(".perfmap.map", b"")
    at, blocks = 0, []
    while at < len(data):
        blocks.append(read_block(data, at))
        at += blocks[-1].size
    return blocks


def is_dropped(block):
    return block.address in (0, 1, 2**64 - 1, 2**64 - 2)


def passes(known):
    """A call that is given objects and touches none."""
    return known.kind == KINDS.index("call") and not any(access & 3 for _, access in known.objects)


def stats(path):
    all_sections = sections(path)
    blocks = [block for block in read_blocks(path) if not is_dropped(block)]
    ranges = [r for block in blocks for r in block.ranges if r.tuple.kind != KINDS.index("padding")]
    code = [r for r in ranges if KINDS[r.tuple.kind] in ("ordinary", "call", "spill")]
    memory = [r for r in ranges if (r.tuple.objects or r.tuple.unnamed) and not passes(r.tuple)]
    size = len(all_sections[".perfmap.map"])
    debug = sum(len(all_sections.get(name, b"")) for name in (".debug_info", ".debug_line"))

    def share(n, of):
        return f"{100 * n / max(of, 1):.2f}"

    print("blocks", len(blocks))
    print("ranges", len(ranges))
    print("empty_ranges", sum(r.begin == r.end for r in ranges))
    print("tuples", sum(block.n_tuples[0] for block in blocks))
    print("code_bytes", sum(r.end - r.begin for r in ranges))
    print("map_bytes", size)
    print("bytes_per_range", f"{size / max(len(ranges), 1):.3f}")
    print("of_debug_pct", share(size, debug))
    print("placed_pct", share(sum(r.tuple.line != 0 for r in code), len(code)))
    print("named_pct", share(sum(bool(r.tuple.objects) for r in memory), len(memory)))
    print("in_loop_pct", share(sum(r.tuple.loop != 0 for r in code), len(code)))
    print("inlined_pct", share(sum(r.tuple.site != 0 for r in code), len(code)))


def read_names(path):
    """Id -> name, from the text form of PIF."""
    names, name = {}, None
    for line in open(path, encoding="utf-8", errors="surrogateescape"):
        key, _, value = line.strip().partition(" = ")
        if not line.startswith(" "):
            name = None
        elif key == "name":
            name = value.strip('"')
        elif key == "id":
            names[int(value, 16)] = name
    return names


def chain(block, site):
    """Innermost first: (function, place of its call)."""
    while site:
        known = block.sites[site - 1]
        yield known
        site = known.parent


def print_ranges(path, pif):
    names = read_names(pif)

    def name(noun):
        return names.get(noun, f"?{noun:016x}")

    for block in sorted(read_blocks(path), key=lambda b: b.address):
        if is_dropped(block):
            continue
        for r in block.ranges:
            t = r.tuple
            inlined = "".join(f"{name(s.function)}<{s.line}:{s.column}<" for s in chain(block, t.site))
            objects = ",".join(name(noun) + "=" + "".join(c for bit, c in ((1, "r"), (2, "w"), (4, "t")) if access & bit)
                               for noun, access in t.objects)
            also = ",".join(f"{REASONS[reason]}{'?' if inferred else ''}:{name(function)}:{line}:{column}"
                            for reason, inferred, function, _, line, column in t.also)
            print(f"{r.begin:x} {r.end:x} {name(block.symbol)}{'/cold' if block.cold else ''} {KINDS[t.kind]}"
                  f" in={inlined}{name(block.functions[0])} at={t.line}:{t.column}"
                  f" loop={name(t.loop) if t.loop else '-'} objects={objects or '-'}{'+?' if t.unnamed else ''}"
                  f" also={also or '-'}".replace("\\n", " "))


def instructions(path):
    """Addresses of all instructions, by objdump."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], check=True, capture_output=True, text=True).stdout
    return [int(m, 16) for m in re.findall(r"^ +([0-9a-f]+):\t", text, re.M)]


def witness(path, addresses):
    """Per address: lines of the inline chain, innermost first, by addr2line."""
    run = subprocess.run(["addr2line", "-f", "-i", "-a", "-e", path], input="\n".join(map(hex, addresses)), check=True,
                         capture_output=True, text=True)
    frames, known, heads = {}, None, {}
    for line in run.stdout.splitlines():
        if line.startswith("0x"):
            known, function = frames.setdefault(int(line, 16), []), None
        elif function is None:
            function = line
        else:
            number = line.rsplit(":", 1)[1].split()[0]
            number = int(number) if number.isdigit() else 0
            known.append((function, number))
            heads[function] = min(heads.get(function, number), number)
            function = None
    return {address: [line for i, (function, line) in enumerate(chain_frames)
                      if not (i > 0 and is_rest(chain_frames[i - 1][0], function, line, heads))]
            for address, chain_frames in frames.items()}


def is_rest(callee, function, line, heads):
    """GCC splits a function, and inlines the second part into the first: a call of itself at its own head, for the debug information alone."""
    return callee == function and line == heads[function]


def compare_lines(path):
    """Prints how many instructions agree; a statement of several lines agrees when the witness is within 30 lines after its beginning."""
    blocks = [block for block in read_blocks(path) if not is_dropped(block)]
    ranges = sorted((r.begin, r.end, block, r.tuple) for block in blocks for r in block.ranges if r.end > r.begin)
    begins = [r[0] for r in ranges]
    seen = witness(path, instructions(path))
    n = chains = same_line = near = covered = 0
    for address, lines in seen.items():
        at = bisect.bisect_right(begins, address) - 1
        if at < 0 or address >= ranges[at][1]:
            continue
        block, known = ranges[at][2:]
        covered += 1
        if KINDS[known.kind] not in ("ordinary", "call") or not known.line or not lines[0]:
            continue
        n += 1
        own = [known.line] + [site.line for site in chain(block, known.site)]
        chains += len(own) == len(lines) and own[1:] == lines[1:]
        same_line += own[0] == lines[0]
        near += 0 <= lines[0] - own[0] <= 30
    print("covered", covered)
    print("compared", n)
    print("same_chain_pct", f"{100 * chains / max(n, 1):.2f}")
    print("same_line_pct", f"{100 * same_line / max(n, 1):.2f}")
    print("near_line_pct", f"{100 * near / max(n, 1):.2f}")


def stats_of_many(*paths):
    for path in paths:
        with open(path + ".stats", "w", encoding="utf-8") as sys.stdout:
            try:
                stats(path)
            except AssertionError as problem:
                sys.exit(f"the map of '{path}' is not sound: {problem}")


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    {"stats": stats, "many": stats_of_many, "ranges": print_ranges, "lines": compare_lines}[command](*arguments)


if __name__ == "__main__":
    main()
