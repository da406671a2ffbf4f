"""Writes another version of a program: `make.py FROM TO` puts lines between its statements, at random but always the same places, and into
its functions. `make.py --tags FILE` prints which line has which tag."""
import random
import re
import sys


def move(source):
    random.seed(4)
    out = []
    for line in source.split("\n"):
        out.append(line)
        if line.rstrip().endswith(("{", ";", "*/")) and random.random() < 0.4:
            out += ["/* put in */"] * random.randint(1, 3)
        if line.strip() == "uint32_t n = 0;":
            out += ["    for (int i = 0; i < N; i += 64)", "        text[i] = 'x'; /* @new */"]
    return "\n".join(out)


def tags(source):
    return {n: tag.group(1) for n, line in enumerate(source.split("\n"), 1) if (tag := re.search(r"@(\w+)", line))}


if __name__ == "__main__":
    if sys.argv[1] == "--tags":
        for number, tag in tags(open(sys.argv[2]).read()).items():
            print(number, tag)
    else:
        open(sys.argv[2], "w").write(move(open(sys.argv[1]).read()))
