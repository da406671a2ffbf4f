"""Where a difference begins. Arguments: the output (JSON), by what, and "none", or the percentage of A and how far it may be off ("bin": by one);
of phases the name."""
import json
import sys

when = json.load(open(sys.argv[1]))
by, expected = sys.argv[2:4]
part = next(part for part in when["parts"] if part["by"] == by)
begins, bins = part["begins"], part["bins"]
if expected == "none":
    assert begins is None, f"begins {begins} in {part['what']}"
elif by == "phases":
    assert begins and begins["phase"] == expected, f"begins {begins}"
else:
    assert begins, f"nothing begins in {part['what']}: {bins}"
    width = begins["of_a_pct"] / begins["from"] * (bins[0]["until"] - bins[0]["from"]) if begins["from"] else 100
    off = width if sys.argv[4] == "bin" else float(sys.argv[4])
    assert abs(begins["of_a_pct"] - float(expected)) <= off, f"begins at {begins['of_a_pct']} %, not {expected} +- {off}"
    assert begins["mean_difference_behind"] > 0, begins
for bin in bins:
    assert bin["differs"] == (abs(bin["difference"]) > bin["band"]), bin
    assert abs(bin["b"] - bin["a"] - bin["difference"]) <= 1e-6 * (bin["a"] + bin["b"] + 1), bin
