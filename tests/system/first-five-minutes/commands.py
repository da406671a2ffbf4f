"""Runs the commands of pages, in order, in the current folder: commands.py PAGE...

A block that starts with ```sh holds commands, a line each. A block that starts with ``` right behind
it shows their output. It must have the shape of the real one: each line occurs, compared without
numbers, units, bars and what depends on the machine. Then, of all pages below the folder
of the last page: each option that they show with a command of perfmap must be in its help.
"""
import glob
import os
import re
import subprocess
import sys

UNITS = {"ns", "µs", "us", "ms", "s", "%", "·", "-", "≥", "~", "?"}
BY_LUCK = {"preempted", "waiting"}  # columns of a busy machine
FEW = "; ~: fewer than 10 samples"
NUMBER = re.compile(r"\(?[≥~<]?\d[\d.,]*%?[,)]*")


def fail(text):
    print(text, file=sys.stderr)
    sys.exit(1)


def blocks(page):
    """(commands, shown): lines each."""
    found, kind, lines, wants_output = [], None, [], False
    with open(page, encoding="utf-8") as file:
        for line in file.read().split("\n"):
            if line.startswith("```") and kind is None:
                kind, lines = line[3:], []
            elif line == "```":
                if kind == "sh":
                    found.append((lines, []))
                elif kind == "" and wants_output:
                    found[-1] = (found[-1][0], lines)
                wants_output, kind = kind == "sh", None
            elif kind is not None:
                lines.append(line)
            elif line.strip():
                wants_output = False
    return found


def shape(line):
    line = line.replace(FEW, "")  # the legend of a mark that a line has by chance
    # members of a set are in the order in which they were met
    line = re.sub(r"\{([^{}]*)\}", lambda found: " ".join(sorted(found.group(1).split(", "))), line)
    words = re.sub(r"[█▉▊▋▌▍▎▏─┌├└┐┘│]", " ", line).split()
    return [w for w in words if w not in UNITS | BY_LUCK and not NUMBER.fullmatch(w)]


def is_legend(line):
    return re.match(r"(≥|~|\?|[a-z]): ", line)


def n_without_samples(printed):
    """Rows that are not printed because no sample fell on them: which instruction of a loop waits differs between processors."""
    found = re.search(r"\((\d+) more rows? of less than 0\.001 ms own", "\n".join(printed))
    return int(found.group(1)) if found else 0


def is_small_row(line):
    share = re.match(r" *[\d.]+ +[~≥]? ?([\d.]+) ", line)
    return share is not None and float(share.group(1)) < 25


def compare(page, shown, printed):
    """Rows may change places, for times vary. What is cut (…) is compared up to there."""
    real = [shape(line) for line in printed]
    n_spare = n_without_samples(printed)
    for line in shown:
        words = shape(line)
        if not words or is_legend(line):
            continue
        if "wall" in words:  # what follows depends on how busy the machine is
            words = words[: words.index("wall") + 1]
        if "…" in words:
            words = words[: words.index("…")]
        if words not in (r[: len(words)] for r in real):
            if n_spare and is_small_row(line):
                n_spare -= 1
                continue
            fail(f"{page}: no such line was printed: {line}\n" + "\n".join(printed))
        real.remove(next(r for r in real if r[: len(words)] == words))


def run(page):
    n_commands = n_shown = 0
    for commands, shown in blocks(page):
        printed = []
        for command in commands:
            if not command.strip() or command.startswith("#"):
                continue
            print("+", command, flush=True)
            done = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True)
            if done.returncode != 0:
                fail(f"{page}: does not work: {command}\n{done.stdout}{done.stderr}")
            printed += done.stdout.split("\n")
            n_commands += 1
        compare(page, shown, printed)
        n_shown += bool(shown)
    print(f"{page}: {n_commands} commands work, {n_shown} outputs have the shape that is shown")
    return n_commands, n_shown


def check_options(folder):
    helps, n_options = {}, 0
    for page in [os.path.join(folder, "..", "README.md")] + sorted(glob.glob(folder + "/**/*.md", recursive=True)):
        with open(page, encoding="utf-8") as file:
            text = file.read()
        for verb, rest in re.findall(r"\bperfmap ([a-z-]+)((?: [^`|;&#\n]*)?)", text):
            rest = re.split(r" -- |  +", rest)[0]
            options = re.findall(r"(?<= )--[a-z][a-z-]*", rest)
            if not options:
                continue
            if verb not in helps:
                helps[verb] = subprocess.run(["perfmap", verb, "--help"], capture_output=True, text=True).stdout
            for option in options:
                n_options += 1
                if not re.search(re.escape(option) + r"(?![a-z-])", helps[verb]):
                    fail(f"{page}: perfmap {verb} has no option {option}")
    print(f"{n_options} options that pages show are there")
    return n_options


def main():
    n_commands = n_shown = 0
    for page in sys.argv[1:]:
        counts = run(page)
        n_commands, n_shown = n_commands + counts[0], n_shown + counts[1]
    if n_commands < 20 or n_shown < 4:
        fail(f"only {n_commands} commands and {n_shown} outputs found: are the pages as they were?")
    if check_options(os.path.dirname(sys.argv[-1])) < 50:
        fail("too few options found in the pages")


main()
