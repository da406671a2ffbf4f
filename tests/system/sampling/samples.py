"""Reads the samples of a run file by the letter of format/pm_run.h, without any code of PerfMap's."""
import collections
import struct

OBJECT, THREAD, NODES, MESSAGE, SAMPLING, SAMPLES = 1, 2, 3, 5, 6, 7
USER, KERNEL, OFF_CPU, LOST, WAITING, PREEMPTED = 1, 2, 3, 4, 5, 6
OFF = (OFF_CPU, WAITING, PREEMPTED)
NO_NOUN = 0xFFFFFFFF

Object = collections.namedtuple("Object", "index first_noun bias low high path build_id kind loaded unloaded nouns n_sleds")
Node = collections.namedtuple("Node", "noun parent n_calls depth kind flags thread")
Sample = collections.namedtuple("Sample", "address caller node generation kind flags n ns thread")
Thread = collections.namedtuple("Thread", "offset tid n_threads cpu_ns name ended")


class File:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = data = file.read()
        assert data[:8] == b"PerfMapR", path
        assert struct.unpack_from("<HH", data, 8) in ((1, 2), (1, 3), (1, 4)), struct.unpack_from("<HH", data, 8)
        self.flags, self.mode, self.pid = struct.unpack_from("<III", data, 24)
        self.objects, self.threads, self.messages, self.samples = [], [], [], []
        self.nodes, self.sampling = {}, None
        offset = 4096
        while offset + 64 <= len(data):
            magic, kind, size, owner, n = struct.unpack_from("<IIQQQ", data, offset)
            if magic != 0x4B434D50:
                offset += 4096
                continue
            assert size % 4096 == 0 and offset + size <= len(data), (offset, size)
            read = {OBJECT: self.read_object, THREAD: self.read_thread, NODES: self.read_nodes, MESSAGE: self.read_message,
                    SAMPLING: self.read_sampling, SAMPLES: self.read_samples}.get(kind)
            if read:
                read(offset, owner, n)
            offset += size

    def read_object(self, at, _owner, n):
        index, first = struct.unpack_from("<II", self.data, at + 64)
        bias, low, high = struct.unpack_from("<QQQ", self.data, at + 72)
        n_sleds, _bad, strings, path, build_id, nouns_at, kind, loaded, unloaded = struct.unpack_from("<IIIIIIIII", self.data, at + 144)
        text = self.data[at + strings:at + strings + path + build_id]
        nouns = [struct.unpack_from("<Q", self.data, at + nouns_at + i * 24)[0] for i in range(n)]
        self.objects.append(Object(index, first, bias, low, high, text[:path].decode(), text[path:].hex(), kind, loaded, unloaded, nouns, n_sleds))

    def read_thread(self, at, _owner, n):
        tid, n_threads, _start, end, cpu_ns, _folded = struct.unpack_from("<IIQQQQ", self.data, at + 64)
        name = self.data[at + 104:at + 120].split(b"\0")[0].decode()
        self.threads.append(Thread(at, tid, n_threads, cpu_ns, name, end != 0))
        self.take_nodes(at + 256, n, at)

    def read_nodes(self, at, owner, n):
        self.take_nodes(at + 64, n, owner)

    def take_nodes(self, at, n, thread):
        for i in range(n):
            place = at + i * 128
            noun, parent = struct.unpack_from("<II", self.data, place)
            n_calls, = struct.unpack_from("<Q", self.data, place + 32)
            depth, = struct.unpack_from("<I", self.data, place + 52)
            kind, flags = struct.unpack_from("<II", self.data, place + 80)
            self.nodes[place // 64] = Node(noun, parent, n_calls, depth, kind, flags, thread)

    def read_message(self, at, _owner, _n):
        code, bytes_ = struct.unpack_from("<II", self.data, at + 64)
        self.messages.append((code, self.data[at + 80:at + 80 + bytes_].decode()))

    def read_sampling(self, at, _owner, _n):
        assert self.sampling is None, "two SAMPLING chunks"
        names = "source clock period_ns has_kernel has_switches n_samples n_lost n_threads n_threads_failed error_no reserved n_switches active_pair_ps start_cpu_ns"
        self.sampling = collections.namedtuple("Sampling", names)(*struct.unpack_from("<IIQIIQQQQiIQQQ", self.data, at + 64))

    def read_samples(self, at, owner, n):
        for i in range(n):
            address, caller, node, generation, kind, flags, count, ns = struct.unpack_from("<QQIHBBQQ", self.data, at + 64 + i * 40)
            self.samples.append(Sample(address, caller, node, generation, kind, flags, count, ns, owner))

    # What the tests ask for.

    def noun_id(self, noun):
        for o in self.objects:
            if o.first_noun <= noun < o.first_noun + len(o.nouns):
                return o.nouns[noun - o.first_noun]
        raise AssertionError(f"noun {noun} belongs to no object")

    def path(self, place):
        """Ids of the active functions and loops, innermost first, in hex: "b<a"."""
        if place == 0:
            return "none"
        names = []
        while self.nodes[place].noun != NO_NOUN:
            names.append(f"{self.noun_id(self.nodes[place].noun):x}")
            place = self.nodes[place].parent
        return "<".join(names) or "root"

    def object_of(self, address, generation):
        """Exactly one object has the address at that time, or none."""
        found = [o for o in self.objects if o.low <= address < o.high and o.loaded <= generation and (o.unloaded == 0 or generation <= o.unloaded)]
        assert len(found) <= 1, (hex(address), generation, found)
        return found[0] if found else None

    def ns(self, kinds=(USER, KERNEL, LOST), path=None, thread=None):
        return sum(s.ns for s in self.samples if s.kind in kinds and (path is None or self.path(s.node) == path)
                   and (thread is None or s.thread == thread))

    def cpu_ns(self, thread=None):
        """CPU time, with that before the runtime began: the loader's."""
        before = self.sampling.start_cpu_ns if thread is None or thread.tid == self.pid else 0
        return before + self.ns(thread=thread.offset if thread else None)

    def count(self, kinds=(USER, KERNEL, LOST), path=None):
        return sum(s.n for s in self.samples if s.kind in kinds and (path is None or self.path(s.node) == path))


if __name__ == "__main__":
    import sys
    f = File(sys.argv[1])
    print(f.sampling)
    for o in f.objects:
        print(f"object {o.index} kind {o.kind} {o.low:x}-{o.high:x} generations {o.loaded}-{o.unloaded} {o.path} nouns {len(o.nouns)}")
    for t in f.threads:
        print(t, "sampled", f.ns(thread=t.offset), "off", f.ns(OFF, thread=t.offset))
    for m in f.messages:
        print("message", m)
    for s in sorted(f.samples, key=lambda s: -s.ns)[:40]:
        o = f.object_of(s.address, s.generation) if s.address else None
        c = f.object_of(s.caller, s.generation) if s.caller else None
        print(["?", "user", "kernel", "off", "lost"][s.kind], hex(s.address - (o.bias if o else 0)), o.path.split("/")[-1] if o else None,
              "caller", hex(s.caller - (c.bias if c else 0)), "in", f.path(s.node), "n", s.n, "ms", s.ns / 1e6, "gen", s.generation)
