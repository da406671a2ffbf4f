"""For the tests of perfmap import: producers run here, and what perfmap makes of their files is compared with what their own readers say."""
import json
import os
import shutil
import sqlite3
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
build, source = os.environ["PERFMAP_BUILD"], os.environ["PERFMAP_SOURCE"]
perfmap = os.path.join(build, "bin", "perfmap")


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, **more)
    if done.returncode:
        raise AssertionError(f"{command}: {done.stderr.decode('utf-8', 'replace')}")
    return done.stdout.decode("utf-8", "replace")


plugin = run(perfmap, "plugin-path").strip()


def have(tool):
    """A tool that scripts/install-deps brings; where it is missing the part is left out, and said so."""
    if shutil.which(tool):
        return True
    print(f"import: no {tool}: its format is not tried against it", file=sys.stderr)
    return False


def holds(what, good):
    if not good:
        raise AssertionError(what)


def same(what, got, expected):
    if got != expected:
        raise AssertionError(f"{what}: {got!r}, not {expected!r}")


def imported(path, *options):
    """An archive of the file."""
    archive = os.path.basename(path.rstrip("/")) + ".perfmap"
    run(perfmap, "import", *options, "-o", archive, path)
    run(perfmap, "report", archive)
    return archive


def report(archive, *options):
    return json.loads(run(perfmap, "report", "--json", "--limit", "0", *options, archive))


def rows(archive, *options):
    return {row["what"]: row for row in report(archive, *options)["rows"]}


def query(archive, sql, *values):
    with sqlite3.connect(archive) as database:
        return database.execute(sql, values).fetchall()


def total(archive, metric):
    return query(archive, "SELECT coalesce(sum(value), 0) FROM costs c JOIN metrics m ON m.id = c.metric WHERE m.name = ?", metric)[0][0]


def by_leaf(archive, metric):
    """Exclusive costs by the function of the code, whose noun is 'leaf (work)', 'leaf:12 (work)' or a part of the symbol leaf."""
    found = {}
    for name, kind, value in query(archive, """
            SELECT n.name, n.kind, sum(c.value) FROM costs c JOIN metrics m ON m.id = c.metric JOIN contexts x ON x.id = c.context
            JOIN sentences s ON s.id = x.sentence JOIN named_nouns n ON n.id = s.noun WHERE m.name = ? GROUP BY n.id""", metric):
        if kind == "process":
            name = "(process)"
        name = name.rsplit(" (", 1)[0]
        for mark in ("/", "+", ":"):
            if mark in name and not name.startswith("[") and "::" not in name:
                name = name.split(mark, 1)[0]
        found[name] = found.get(name, 0) + value
    return found
