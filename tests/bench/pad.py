"""Two objects of one program, made comparable: each section of code gets the size that the larger of the two has, so that in the same order of sections all
functions lie at the same addresses in both. Where functions come to lie moves times by 6 to 8 %, far more than what is to be measured."""
import struct

SLOT = 64  # bytes
HEADER = "<IIQQQQIIQQ"  # of a section: name, type, flags, address, offset, size, link, info, alignment, size of entries
NAME, TYPE, OFFSET, SIZE, ALIGNMENT = 0, 1, 4, 5, 8
SHT_NULL, SHT_PROGBITS, SHT_NOBITS = 0, 1, 8
NO_OPERATION = b"\x90"


class Relocatable:
    """An ELF file of 64 bits with relocations: what stands in its sections."""

    def __init__(self, path):
        content = path.read_bytes()
        if content[:5] != b"\x7fELF\x02":
            raise ValueError(f"{path} is no ELF file of 64 bits")
        self.head = content[:64]
        table, n = struct.unpack_from("<Q", content, 40)[0], struct.unpack_from("<H", content, 60)[0]
        n = n or struct.unpack_from("<Q", content, table + 32)[0]
        self.sections = [list(struct.unpack_from(HEADER, content, table + 64 * i)) for i in range(n)]
        self.contents = [b"" if s[TYPE] in (SHT_NULL, SHT_NOBITS) else content[s[OFFSET]:s[OFFSET] + s[SIZE]] for s in self.sections]
        names = struct.unpack_from("<H", content, 62)[0]
        self.names_index = self.sections[0][6] if names == 0xffff else names
        names = self.contents[self.names_index]
        self.names = [names[s[NAME]:names.index(b"\0", s[NAME])].decode() for s in self.sections]

    def code(self):
        return {name: len(content) for name, content, s in zip(self.names, self.contents, self.sections) if name.startswith(".text") and s[TYPE] == SHT_PROGBITS}

    def rename(self, i, name):
        self.sections[i][NAME] = len(self.contents[self.names_index])
        self.contents[self.names_index] += name.encode() + b"\0"
        self.sections[self.names_index][SIZE] = len(self.contents[self.names_index])

    def resize(self, slots):
        """Code whose section the other object does not have is called otherwise, so that it has no place in the order."""
        for i, name in enumerate(self.names):
            if name not in self.code():
                continue
            if name not in slots:
                self.rename(i, ".alone" + name)
                continue
            self.contents[i] += NO_OPERATION * (slots[name] - len(self.contents[i]))
            self.sections[i][SIZE], self.sections[i][ALIGNMENT] = slots[name], SLOT

    def write(self, path):
        out = bytearray(self.head)
        for section, content in zip(self.sections, self.contents):
            if section[TYPE] == SHT_NULL:
                continue
            out += b"\0" * (-len(out) % max(section[ALIGNMENT], 1))
            section[OFFSET] = len(out)
            out += content
        out += b"\0" * (-len(out) % 8)
        struct.pack_into("<Q", out, 40, len(out))
        for section in self.sections:
            out += struct.pack(HEADER, *section)
        path.write_bytes(out)


def pad(path_a, path_b, out_a, out_b):
    a, b = Relocatable(path_a), Relocatable(path_b)
    sizes_a, sizes_b = a.code(), b.code()
    slots = {name: -(-max(sizes_a[name], sizes_b[name]) // SLOT) * SLOT for name in sizes_a if name in sizes_b}
    for padded, out in ((a, out_a), (b, out_b)):
        padded.resize(slots)
        padded.write(out)
