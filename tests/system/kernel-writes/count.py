"""count.py TRACE FILE...: bytes of each file's blocks in the requests of a text of block_rq_complete events (issued they are twice when the queue is full), by what the file system says of where
the file is."""
import array
import fcntl
import os
import re
import sys

FS_IOC_FIEMAP, SYNC, MAX_EXTENTS = 0xC020660B, 1, 512


def extents(path):
    """(first byte, bytes) on the disk."""
    room = array.array("Q", [0, 2**64 - 1, SYNC, MAX_EXTENTS] + [0] * (7 * MAX_EXTENTS))
    with open(path, "rb") as file:
        fcntl.ioctl(file, FS_IOC_FIEMAP, room)
        device = os.fstat(file.fileno()).st_dev
    found = room[2] >> 32
    assert found < MAX_EXTENTS, path
    start = f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/start"
    offset = 512 * int(open(start).read()) if os.path.exists(start) else 0
    return [(room[4 + 7 * i + 1] + offset, room[4 + 7 * i + 2]) for i in range(found)]


REQUESTS = []
for line in open(sys.argv[1], errors="replace"):
    match = re.search(r"block_rq_complete: \S+ (\w+) \(.*\) (\d+) \+ (\d+) ", line)
    if match and "W" in match[1]:
        REQUESTS.append((512 * int(match[2]), 512 * int(match[3])))
for name in sys.argv[2:]:
    blocks = extents(name)
    print(name, sum(max(0, min(at + n, first + size) - max(at, first)) for at, n in REQUESTS for first, size in blocks))
