"""The view of lines shows the text and the costs that `perfmap annotate` has, and says what it lacks. sources.py PERFMAP ARCHIVE FILE FOLDER"""
import json
import os
import subprocess
import sys

from browser import Browser

# What stands beside each line of the table, whether it is in sight or not.
LINES = """(async () => {
  const {archive} = perfmap, sheet = await archive.sheet("source", "line"), out = {};
  const result = sheet.rows("merge", {nouns: [], threads: null}, sheet.shownMetrics), own = result.own.get(result.primary);
  result.rows.forEach((row, i) => {
    const noun = row.members.length === 1 && row.members[0].noun !== null ? archive.nouns.noun(row.members[0].noun) : null;
    if (result.keep[i] && noun && noun.file === %s) out[noun.line] = (out[noun.line] ?? 0) + own[i];
  });
  return out;
})()"""


def fail(text):
    sys.exit(f"sources.py: {text}")


def shown(page):
    """Line number to [own, text], of those in sight."""
    return page.evaluate("""Object.fromEntries([...document.querySelectorAll('.view-source .row')].map((row) => [...row.children].map((c) => c.textContent))
        .filter((c) => c[2]).map((c) => [c[2], [c[0], c[4]]]))""")


def main():
    perfmap, archive, source, folder = sys.argv[1:5]
    notes = subprocess.run([perfmap, "annotate", "--json", "--all", source, archive], capture_output=True, text=True, check=True)
    annotated = json.loads(notes.stdout)
    with open(annotated["file"]) as text:
        lines = text.read().split("\n")

    def make(*options):
        subprocess.run([perfmap, "report", *options, "--html", f"{folder}/source.html", archive], check=True)
        page = browser.open(f"file://{folder}/source.html", height=2000)
        page.go(tab="source")
        return page

    with Browser(folder) as browser:
        page = make("--embed-source")
        found = page.evaluate(LINES % json.dumps(annotated["file"]))
        for line in annotated["lines"]:
            own, number = line["own_cpu_ns"], str(line["line_no"])
            if own != found.get(number, 0):
                fail(f"line {number} has {found.get(number)}, not {own}")
        seen = shown(page)
        if len(seen) < 30:
            fail(f"only {len(seen)} lines are shown")
        for number, (_, text) in seen.items():
            if text != lines[int(number) - 1]:
                fail(f"line {number} is {text!r}, not {lines[int(number) - 1]!r}")
        if "changed" in page.evaluate("document.querySelector('#view').textContent"):
            fail("the source counts as changed")
        page = make()
        if "--embed-source" not in page.evaluate("document.querySelector('#view').textContent"):
            fail("nothing says how sources get into the file")
        os.utime(annotated["file"])
        page = make("--embed-source")
        if "was changed after the run" not in page.evaluate("document.querySelector('#view').textContent"):
            fail("a changed source is not marked")
        os.rename(annotated["file"], annotated["file"] + ".gone")
        page = make("--embed-source")
        if "not found" not in page.evaluate("document.querySelector('#view').textContent"):
            fail("a source that is not there is not missed")
        if page.errors:
            fail(f"the console has {page.errors}")
    print(f"{len(seen)} lines")


if __name__ == "__main__":
    main()
