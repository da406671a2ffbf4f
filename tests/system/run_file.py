"""Run files as tests read them: calls, times and modes by name, without the project's own reader.

    run = RunFile("h.run/4711.0.pmr", names("./h"))
    run.calls["leaf"]      # in contexts and by counters together
    run.counted["leaf"]    # by counters alone
    run.mode_of("leaf")    # at the end
"""
import ctypes
import ctypes.util
import glob
import os
import re
import struct
import subprocess

PAGE = 4096
OFF, COUNT, ACTIVE, EXACT, TRACE = range(5)
CHUNK = struct.Struct("<IIQQQ")  # magic, kind, size, owner, n_items
NODE = struct.Struct("<IIQQQQQIIQQQII")
FOLDED, FOREIGN, TIMED = 1, 2, 4


def contents(path):
    """Its bytes, as they were when it was not packed yet."""
    with open(path, "rb") as file:
        data = file.read()
    if struct.unpack_from("<H", data, 8)[0] != 2:
        return data
    zstd = ctypes.CDLL(ctypes.util.find_library("zstd"))
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    magic, _flags, n_bytes, n_packed = struct.unpack_from("<IIQQ", data, PAGE)
    assert magic == 0x4B504D50, path
    content = ctypes.create_string_buffer(n_bytes - PAGE)
    packed = data[PAGE + 64 : PAGE + 64 + n_packed]
    n = zstd.ZSTD_decompress(content, ctypes.c_size_t(len(content)), packed, ctypes.c_size_t(len(packed)))
    assert n == len(content), path
    return data[:8] + struct.pack("<H", 1) + data[10:PAGE] + content.raw


def names(binary):
    """Id -> name of all nouns of level Base of a binary."""
    perfmap = os.path.join(os.environ["PERFMAP_BUILD"], "bin", "perfmap")
    text = subprocess.run([perfmap, "pif", binary], stdout=subprocess.PIPE, check=True).stdout.decode("utf-8", "replace")
    found = {}
    for record in re.split(r"^(?=[A-Z]+$)", text, flags=re.M):
        values = dict(line.strip().split(" = ", 1) for line in record.splitlines()[1:] if " = " in line)
        if record.startswith("NOUN") and values.get("abstraction") == "Base" and "id" in values:
            found[int(values["id"], 16)] = values["name"].strip('"')
    return found


class RunFile:
    def __init__(self, path, known):
        data = self.data = contents(path)
        self.pid = int(os.path.basename(path).split(".")[0])
        self.flags, self.mode = struct.unpack_from("<II", data, 24)
        self.n_sleds, self.n_armed, self.lost, self.unmatched, self.healed, self.foreign = struct.unpack_from("<6Q", data, 144)
        self.nouns, self.own, self.nodes, self.adapted = {}, {}, {}, []
        self.counted, self.calls, self.ticks, self.overhead = {}, {}, {}, None
        objects, counts = {}, []
        at = PAGE
        while at + 64 <= len(data):
            magic, kind, size, _, n_items = CHUNK.unpack_from(data, at)
            if magic != 0x4B434D50 or size == 0:
                at += PAGE
                continue
            if kind == 1:
                self.read_object(at, n_items, known, objects)
            elif kind in (2, 3):
                self.read_nodes(at + (256 if kind == 2 else 64), n_items)
            elif kind == 4:
                counts.append((struct.unpack_from("<I", data, at + 64)[0], struct.unpack_from(f"<{n_items}Q", data, at + 128)))
            elif kind == 8:
                for i in range(n_items):  # noun, mode, reason, mode before, from, to, events
                    noun, mode, reason, before, since, until, events = struct.unpack_from("<IBBBxQQQ", data, at + 64 + 32 * i)
                    self.adapted.append((noun, mode, reason, before - 1, since, until, events))
            elif kind == 14:
                self.overhead = dict(zip(("budget_ppm", "count_ps", "active_ps", "exact_ps", "inner_ps", "cpu_ns", "events_ns", "samples_ns",
                                          "looks_ns", "n_looks", "n_changes", "n_sleds_changed", "sample_ns", "fixed_ns",
                                          "starts_ns"), struct.unpack_from("<15Q", data, at + 64)))
            at += size
        for index, counters in counts:
            for i, n in enumerate(counters):
                self.add(self.counted, self.name(objects[index] + i), n)
        for name, n in self.counted.items():
            self.add(self.calls, name, n)
        for noun, n_calls, ticks, _flags, _parent, _sp in self.nodes.values():
            if noun != 0xFFFFFFFF:
                self.add(self.calls, self.name(noun), n_calls)
                self.add(self.ticks, self.name(noun), ticks)

    @staticmethod
    def add(where, name, n):
        where[name] = where.get(name, 0) + n

    def name(self, noun):
        return self.nouns.get(noun, f"noun {noun}")

    def read_object(self, at, n_items, known, objects):
        index, first = struct.unpack_from("<II", self.data, at + 64)
        nouns_at = struct.unpack_from("<I", self.data, at + 164)[0]
        objects[index] = first
        for i in range(n_items):
            ident, kind, own = struct.unpack_from("<QHB", self.data, at + nouns_at + 24 * i)
            if kind in (20, 22):  # causes: where a thread was created
                continue
            self.nouns[first + i] = known.get(ident, f"{ident:x}")
            self.own[first + i] = own - 1 if own else self.mode

    def read_nodes(self, at, n_items):
        for i in range(n_items):
            where = at + 128 * i
            noun, parent, _, sp, _start, n_calls, ticks, _, _, _, _, _, kind, flags = NODE.unpack_from(self.data, where)
            if kind != 0 or noun == 0xFFFFFFFF:
                self.nodes[where // 64] = (noun, n_calls, ticks, flags, parent, sp)

    def path(self, place):
        found = []
        while place in self.nodes and self.nodes[place][0] != 0xFFFFFFFF:
            found.append(self.name(self.nodes[place][0]))
            place = self.nodes[place][4]
        return "<".join(found)

    def paths(self):
        """Calls by path, innermost first."""
        found = {}
        for place, node in self.nodes.items():
            if node[0] != 0xFFFFFFFF and node[1]:
                self.add(found, self.path(place), node[1])
        return found

    def mode_of(self, name):
        number = next(n for n, found in self.nouns.items() if found == name)
        last = [item for item in self.adapted if item[0] == number and item[5] == 0]
        return last[-1][1] if last else self.own[number]


def run_files(folder, *binaries):
    known = {}
    for binary in binaries:
        known.update(names(binary))
    return [RunFile(path, known) for path in sorted(glob.glob(os.path.join(folder, "*.pmr")))]
