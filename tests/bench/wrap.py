"""Part `wrap`: what a call of a function costs that `perfmap wrap` has wrapped, over the plain call."""
import os

from common import HERE, PERFMAP, WORK, call
from pair import figures, measured_environment

# zlib's crc32 calls crc32_z through the loader, so without a pattern it is two wrapped calls.
KINDS = {"crc32 wrapped": (["--annotations", "none", "crc32"], 15), "crc32 and crc32_z wrapped": (["--annotations", "none", "crc32*"], 15),
         "crc32 wrapped, with bytes_in": (["crc32"], 15), "both wrapped, with bytes_in": (["crc32*"], 15)}


def environment(mode, adapter):
    made = dict(os.environ) if mode == "none" else measured_environment(mode)
    if adapter:
        made["LD_PRELOAD"] = " ".join(filter(None, (made.get("LD_PRELOAD") if mode != "none" else "", str(adapter))))
    return made


def shortest(program, turns, mode, adapter=None):
    return min(figures(call(program, env=environment(mode, adapter)))["call_ns"] for _ in range(turns))


def wrap(bench):
    program, turns = WORK / "wrap", bench.number(6, 2)
    call("gcc", "-O2", HERE / "wrap.c", "-lz", "-o", program)
    for what, (options, bound) in KINDS.items():
        adapter = WORK / "wrap.so"
        call(PERFMAP, "wrap", "zlib.h", "--library", "libz.so.1", "-o", adapter, *options)
        for mode in ("none", "active", "exact"):
            plain, with_it = shortest(program, turns, "none"), shortest(program, turns, mode, adapter)
            limit = bound if mode == "active" else None
            bench.row(f"wrap, {'without PerfMap' if mode == 'none' else 'mode ' + mode}, {what}", f"+{with_it - plain:.2f} ns on {plain:.2f} ns",
                      f"at most +{limit} ns" if limit else "", with_it - plain <= limit if limit else "", ns=with_it - plain)
