"""The strip of time above each view, with mouse and keys, of a program with two phases and a second thread. brush.py PERFMAP ARCHIVE HTML FOLDER"""
import json
import subprocess
import sys

from browser import Browser


def fail(text):
    sys.exit(f"brush.py: {text}")


def mouse(page, kind, x, y):
    page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=0 if kind == "mouseReleased" else 1, clickCount=1)


def drag(page, low, high):
    """From one part of the strip to another, as the mouse does."""
    box = page.evaluate("(({x, y, width}) => ({x, y, width}))(document.querySelector('#strip canvas').getBoundingClientRect())")
    before = page.evaluate("document.documentElement.dataset.ready")
    mouse(page, "mousePressed", box["x"] + low * box["width"], box["y"] + 10)
    mouse(page, "mouseMoved", box["x"] + (low + high) / 2 * box["width"], box["y"] + 10)
    mouse(page, "mouseMoved", box["x"] + high * box["width"], box["y"] + 10)
    mouse(page, "mouseReleased", box["x"] + high * box["width"], box["y"] + 10)
    page.wait(f"document.documentElement.dataset.ready !== {json.dumps(before)}")


def press(page, key, **more):
    before = page.evaluate("document.documentElement.dataset.ready")
    page.call("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
    page.call("Input.dispatchKeyEvent", type="keyUp", key=key, **more)
    page.wait(f"document.documentElement.dataset.ready !== {json.dumps(before)}")


def interval(page):
    return page.evaluate("perfmap.archive.interval && [perfmap.archive.interval.from / perfmap.archive.run_ns, perfmap.archive.interval.to / perfmap.archive.run_ns]")


def near(name, found, wanted, room=0.01):
    if found is None or any(abs(a - b) > room for a, b in zip(found, wanted)):
        fail(f"{name}: {found}, not {wanted}")


def phases(page, perfmap, archive):
    """They are where --over-time has them; a click on a name is all of it."""
    done = json.loads(subprocess.run([perfmap, "report", "--json", "--over-time", "20", archive], capture_output=True, text=True).stdout)
    expected = {p["name"]: [part > 0 for part in p["own_over_time_ns"]] for p in done["view"]["over_time"]["phases"]}
    head, *lines = page.evaluate("perfmap.strip.linesOf(20)")
    found = {name[6:]: [line[at] == "yes" for line in lines] for at, name in enumerate(head) if name.startswith("phase ")}
    if found != expected or sorted(found) != ["solving", "warmup"]:
        fail(f"phases {found}, not {expected}")
    text = subprocess.run([perfmap, "report", "--over-time", "20", archive], capture_output=True, text=True).stdout
    if "phases: a warmup, b solving" not in " ".join(text.split()) or "(phases)" not in text:
        fail(f"no phases in {text}")


def main():
    perfmap, archive, html, folder = sys.argv[1:5]
    with Browser(folder) as browser:
        page = browser.open(f"file://{html}")
        page.go(tab="costs", by="function", shape="flat")
        phases(page, perfmap, archive)
        drag(page, 0.5, 0.75)
        near("mouse", interval(page), (0.5, 0.75))
        page.evaluate("perfmap.strip.focus()")
        press(page, "ArrowRight")
        near("an arrow", interval(page), (0.51, 0.76))
        press(page, "ArrowRight", modifiers=8)
        near("an arrow with Shift", interval(page), (0.51, 0.77))
        press(page, "-")
        near("longer", interval(page), (0.38, 0.90))
        # What has no times is empty, with the reason, and what is said in the terminal is the same interval.
        cells = page.evaluate("""(async () => { const s = await perfmap.archive.sheet('source', 'function'),
            c = perfmap.columnsOf(s.rows('merge', perfmap.focus, s.metricsFor(perfmap.focus))).find((x) => x.key === 'n_calls'); return [c?.number(0).value, c?.cell(0).text ?? '', c?.cell(0).title]; })()""")
        if cells[:2] != [None, ""] or "not known" not in cells[2]:
            fail(f"calls of an interval: {cells}")
        link = page.evaluate("location.hash")
        press(page, "Escape")
        if interval(page) is not None or "from" in page.evaluate("location.hash"):
            fail("Escape does not lead to the whole run")
        again = browser.open(f"file://{html}{link}")
        near("a link", interval(again), (0.38, 0.90))
        if page.errors or again.errors:
            fail(f"{page.errors} {again.errors}")
    print("the strip by mouse, keys and link")


if __name__ == "__main__":
    main()
