"""Opens each view of a page, chooses a focus, switches the rule, and looks for what is wrong. looks.py HTML FOLDER [hostile]

Pictures are left in FOLDER, for people.
"""
import base64
import sys
import xml.etree.ElementTree

from browser import Browser

VIEWS = [{"tab": "overview"}, {"tab": "costs", "by": "loop", "shape": "flat"}, {"tab": "costs", "by": "array"}, {"tab": "costs", "by": "loop", "shape": "tree"},
         {"tab": "where", "shape": "flat"}, {"tab": "source"}, {"tab": "flame", "by": "loop"}, {"tab": "flame", "sort": "icicle", "by": "function"},
         {"tab": "levels"}, {"tab": "locations"}, {"tab": "ask"}, {"tab": "ask", "ask": "{? ?}"}]


def fail(text):
    sys.exit(f"looks.py: {text}")


def look(page, name):
    for number, changes in enumerate(VIEWS):
        page.go(**changes)
        page.screenshot(f"{name}-{number}.png")
        if page.evaluate("document.querySelector('#view h2')?.textContent === 'The page cannot show this'"):
            fail(f"{changes}: {page.evaluate('document.querySelector(`#view`).textContent')}")
        wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
        if wide:
            fail(f"{name}: {changes} is wider than the window")


def look_at_paths(page, name):
    """The picture is of all that the table adds up to; a sandwich of the construct that cost most."""
    page.go(tab="costs", by="function", shape="tree", sort="")
    total = page.evaluate("document.querySelector('.foot').textContent.match(/total (.*?) ·/)[1]")
    page.go(tab="flame", by="function", sort="")
    if not page.evaluate("document.querySelector('.foot').textContent").startswith(total.split(" CPU")[0]):
        fail(f"{name}: the picture is not of {total}")
    inked = """(() => { const c = document.querySelector('#view canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n / (c.width * c.height); })()"""
    if page.evaluate(inked) < 0.02:
        fail(f"{name}: the picture is empty")
    first = page.evaluate("""(async () => { const s = await perfmap.archive.sheet('source', 'function', 'tree');
        const r = s.rows('merge', {nouns: [], threads: null}, s.shownMetrics), k = perfmap.orderOf(r, [], '')[1]; return JSON.stringify([r.rows[k].what, r.rows[k].place]); })()""")
    page.go(tab="flame", across=first)
    page.screenshot(f"{name}-sandwich.png")
    if page.evaluate("document.querySelectorAll('#view canvas').length") != 2 or page.evaluate(inked) < 0.02:
        fail(f"{name}: no sandwich of {first}")
    page.go(across="", by="loop", shape="flat")


def saved(page, number):
    """What the links of the view that save pictures would save: [(name, bytes)]."""
    return [(name, base64.b64decode(data)) for name, data in page.evaluate("""(() => { const out = [], click = HTMLAnchorElement.prototype.click;
        HTMLAnchorElement.prototype.click = function () { out.push([this.download, this.href.split(',')[1]]); };
        document.querySelectorAll('%s .saves .link').forEach((l) => l.click()); HTMLAnchorElement.prototype.click = click; return out; })()""" % number)]


def look_at_pictures(page, name):
    """Each picture as PNG and as SVG, which XML can be read, whatever names are in it."""
    page.go(tab="flame", by="loop", sort="", across="")
    pictures = saved(page, "#view")
    page.evaluate("(async () => { const t = document.querySelector('.strip-table'); t.open = true; await new Promise((r) => setTimeout(r, 100)); })()")
    pictures += saved(page, "#strip") if page.evaluate("!document.querySelector('#strip').hidden") else []
    page.evaluate("document.querySelector('.strip-table').open = false")
    for file, data in pictures:
        if file.endswith(".png") and not data.startswith(b"\x89PNG"):
            fail(f"{name}: {file} is no PNG")
        if file.endswith(".svg") and len(xml.etree.ElementTree.fromstring(data)) < 3:
            fail(f"{name}: {file} has nothing in it")
    if len(pictures) < 2:
        fail(f"{name}: no pictures were saved: {pictures}")


def look_at_levels(page, name):
    """All that the array that cost most has lies in machine code, and the edges lead there."""
    noun = page.evaluate("""(async () => { const s = await perfmap.archive.sheet('source', 'array', 'flat'), r = s.rows('merge', {nouns: [], threads: null}, s.shownMetrics);
        const k = perfmap.orderOf(r, [], '').find((i) => r.rows[i].members.length === 1 && r.rows[i].members[0].noun !== null); return r.rows[k].members[0].noun; })()""")
    page.go(tab="levels", axes=f"source/array/flat|base/statement/flat|{noun}|left|only")
    page.screenshot(f"{name}-linked.png")
    shares = page.evaluate("[...document.querySelectorAll('.levels .axis:last-child .row')].map((row) => parseFloat(row.lastChild.textContent))")
    if not shares or abs(sum(shares) - 100) > 0.1 * len(shares):
        fail(f"{name}: shares of the linked level add up to {sum(shares)}")
    if page.evaluate("innerWidth > 700 && document.querySelectorAll('.edges path').length") not in (False, len(shares)):
        fail(f"{name}: there are not {len(shares)} edges")
    page.go(axes="")


def main():
    html, folder = sys.argv[1:3]
    with Browser(folder) as browser:
        for width, dark in ((1280, False), (1280, True), (400, False), (400, True)):
            page = browser.open(f"file://{html}", width=width, dark=dark)
            title = page.evaluate("document.title")
            look(page, f"{folder}/look-{width}-{'dark' if dark else 'light'}")
            look_at_pictures(page, f"{folder}/look-{width}")
            if len(sys.argv) == 3:
                look_at_levels(page, f"{folder}/look-{width}-{'dark' if dark else 'light'}")
                look_at_paths(page, f"{folder}/look-{width}-{'dark' if dark else 'light'}")
            # A focus, by the keyboard: the first row of the first axis but the machine.
            page.go(tab="where")
            page.evaluate("document.querySelector('[data-axis=Code] .body').focus()")
            for key in ("ArrowDown", "ArrowRight", "Enter"):
                page.call("Input.dispatchKeyEvent", type="keyDown", key=key)
            page.go(tab="costs", by="statement", shape="flat", rule="split")
            if page.evaluate("document.querySelector('.segments [aria-checked=true]').textContent") != "split":
                fail("the rule is not in sight")
            # A link opens the same view.
            again = browser.open(f"file://{html}{page.evaluate('location.hash')}", width=width)
            for what in ("document.querySelector('#focus').textContent", "document.querySelector('.pool').textContent"):
                if page.evaluate(what) != again.evaluate(what):
                    fail(f"the link shows another view: {what}")
            for one in (page, again):
                if one.errors:
                    fail(f"the console has {one.errors}")
                if len([r for r in one.requests if not r.startswith("data:")]) != 1:
                    fail(f"asked for {one.requests}")
                if one.evaluate("document.title") != title or "taken" == title:
                    fail("a name was run")
                if one.evaluate("document.querySelectorAll('main script, main img, header script, header img').length"):
                    fail("a name became markup")
    print(f"4 looks, {len(VIEWS)} views each")


if __name__ == "__main__":
    main()
