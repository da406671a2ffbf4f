"""A trace that is in the file as a whole: few.py PERFMAP ARCHIVE HTML FOLDER"""
import json
import random
import subprocess
import sys

from model import check_window, fail, threads_of
from browser import Browser

CALLS = "JSON.stringify([...document.querySelectorAll('.time-table tbody tr')].map((r) => [...r.children].map((c) => c.textContent)))"


def settled(page, action):
    before = page.evaluate("document.querySelector('.view-timeline').dataset.settled ?? ''")
    action()
    page.wait(f"document.querySelector('.view-timeline').dataset.settled > {before or 0}")


def mouse(page, kind, x, y, **more):
    page.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)


def key(page, text):
    page.call("Input.dispatchKeyEvent", type="keyDown", key=text, text=text if len(text) == 1 else "")


def span_of(page):
    return page.evaluate("[perfmap.timeline.view.from, perfmap.timeline.view.to]")


def zooms(page):
    """By wheel, drag, brush and keys."""
    box = page.evaluate("(() => { const r = document.querySelector('.time-rows').getBoundingClientRect(); return [r.left, r.top, r.width]; })()")
    x, y, middle = box[0], box[1], box[0] + box[2] / 2
    whole = span_of(page)
    settled(page, lambda: mouse(page, "mouseWheel", middle, y + 60, deltaX=0, deltaY=-1000))
    near = span_of(page)
    if not (whole[1] - whole[0]) / 17 < near[1] - near[0] < (whole[1] - whole[0]) / 15:
        fail(f"the wheel made {near} of {whole}")

    def drag(shift):
        mouse(page, "mousePressed", middle, y + 60, button="left", buttons=1, clickCount=1, modifiers=8 if shift else 0)
        mouse(page, "mouseMoved", middle + 100, y + 60, button="left", buttons=1, modifiers=8 if shift else 0)
        mouse(page, "mouseReleased", middle + 100, y + 60, button="left", clickCount=1, modifiers=8 if shift else 0)

    settled(page, lambda: drag(False))
    moved = span_of(page)
    if not moved[0] < near[0] or abs((moved[1] - moved[0]) - (near[1] - near[0])) > 2:
        fail(f"a drag made {moved} of {near}")
    settled(page, lambda: drag(True))
    brushed = span_of(page)
    if not (moved[1] - moved[0]) / 20 < brushed[1] - brushed[0] < (moved[1] - moved[0]) / 5:
        fail(f"a brush made {brushed} of {moved}")
    for text, holds in (("s", lambda a, b: b[1] - b[0] > a[1] - a[0]), ("w", lambda a, b: b[1] - b[0] < a[1] - a[0]), ("d", lambda a, b: b[0] > a[0]), ("a", lambda a, b: b[0] < a[0])):
        before = span_of(page)
        settled(page, lambda text=text: key(page, text))
        if not holds(before, span_of(page)):
            fail(f"key {text} made {span_of(page)} of {before}")
    settled(page, lambda: key(page, "0"))
    if span_of(page) != whole:
        fail(f"0 shows {span_of(page)}, not {whole}")


def chooses(page, browser, address, thread):
    """A call, by its table and by keys; its facts; a link."""
    begin, end, depth, name, _ = next(call for call in thread.calls if call[3] == "step" and call[0] > thread.ns[200])
    settled(page, lambda: page.evaluate(f"perfmap.timeline.zoom({begin} - 1000, {end} + 1000)"))
    settled(page, lambda: page.evaluate(f"perfmap.timeline.choose(0, {depth}, {begin})"))
    text = page.evaluate("document.querySelector('.time-side').textContent")
    for wanted in (name, "heat.c:16", "called by", "main"):
        if wanted not in text:
            fail(f"the chosen call lacks {wanted!r}: {text}")
    key(page, "u")
    if page.evaluate("perfmap.timeline.chosen.depth") != depth - 1:
        fail("u does not lead to the caller")
    settled(page, lambda: page.evaluate(f"perfmap.timeline.choose(0, {depth}, {begin})"))
    again = browser.open(address + page.evaluate("location.hash"))
    again.wait("perfmap.timeline?.chosen")
    for what in ("perfmap.timeline.chosen.start", "document.querySelector('.time-side').textContent", "Math.round(perfmap.timeline.view.from)"):
        if again.evaluate(what) != page.evaluate(what):
            fail(f"the link shows another {what}")
    page.evaluate("[...document.querySelectorAll('.time-side .link')].find((l) => l.textContent === 'costs').click()")
    page.wait("perfmap.state.tab === 'costs' && document.querySelector('.details h3')")
    if "step" not in page.evaluate("document.querySelector('.details h3').textContent"):
        fail("costs of another construct")
    page.go(tab="timeline", row="")
    return again


def equals_report(perfmap, archive, page):
    """All of the run by construct, to the rounding of each context."""
    report = json.loads(subprocess.run([perfmap, "report", "--json", "--no-compensation", "--by", "loop", "--limit", "0", "--metric", "wall_ns", archive],
                                       check=True, capture_output=True).stdout)
    rows = {row["place"]: row["own_wall_ns"] for row in report["rows"]}
    page.go(tab="timeline", window="", slice="")
    page.wait("document.querySelector('.time-table tbody tr')")
    found = dict(page.evaluate("""(() => { const t = perfmap.timeline.trace, d = perfmap.timeline.data;
        return [...t.sharesOf(d.rows[0], d.steps).totals].map(([n, ns]) => [t.names[n].file.replace(/^.*\\//, '') + ':' + t.names[n].line, ns]); })()"""))
    for place, ns in found.items():
        if abs(rows.get(place, 0) - ns) > 1 + 2000:
            fail(f"{place}: {ns} ns, report has {rows.get(place)}")
    return len(found)


def main():
    perfmap, archive, html, folder = sys.argv[1:5]
    threads = threads_of(perfmap, archive)
    (thread,) = threads
    number = random.Random(5)
    with Browser(folder) as browser:
        address = f"file://{html}"
        page = browser.open(f"{address}#tab=timeline")
        page.wait("document.querySelector('[data-settled]')")
        n = 0
        for _ in range(25):
            length = (thread.ns[-1] - thread.ns[0]) >> number.randrange(16)
            begin = number.randrange(thread.ns[0], thread.ns[-1])
            n += check_window(page, threads, begin, begin + length, number.choice((4, 100, 1000)))
        zooms(page)
        again = chooses(page, browser, address, thread)
        n_rows = equals_report(perfmap, archive, page)
        page.evaluate("[...document.querySelectorAll('.time-table button')].find((b) => b.textContent === 'calls').click()")
        page.wait("document.querySelector('.time-table tbody').children.length > 100")
        for width, dark in ((1280, False), (1280, True), (400, False), (400, True)):
            look = browser.open(f"{address}#tab=timeline", width=width, dark=dark)
            look.wait("document.querySelector('[data-settled]')")
            look.screenshot(f"{folder}/few-{width}-{'dark' if dark else 'light'}.png")
            if look.evaluate("document.documentElement.scrollWidth > innerWidth"):
                fail(f"wider than {width}")
        for one in (page, again, look):
            if one.errors or len(one.requests) != 1:
                fail(f"console {one.errors}, requests {one.requests}")
    print(f"{n} numbers of windows, {n_rows} rows as in report")


if __name__ == "__main__":
    main()
