"""The page of a comparison against `perfmap diff`. check.py PERFMAP HTML FOLDER OPTIONS... OPERANDS

Pictures are left in FOLDER, for people.
"""
import base64
import json
import re
import subprocess
import sys
import xml.etree.ElementTree

from browser import Browser

perfmap, html, folder = sys.argv[1:4]
words = sys.argv[4:]
name = html.rsplit("/", 1)[1][:-5]
wrong = []


def check(holds, text):
    if not holds:
        wrong.append(text)


def diff(*options, without=()):
    """`perfmap diff --json` with the same operands."""
    kept, skip = [], False
    for word in words:
        if not skip and word not in without:
            kept.append(word)
        skip = not skip and word in without
    return json.loads(subprocess.run([perfmap, "diff", "--json", *options, *kept], check=True, capture_output=True, text=True).stdout)


def option(word):
    return words[words.index(word) + 1] if word in words else None


def numbers_are_those_of_json(page):
    found = page.evaluate("({flat: perfmap.comparison.flat, tree: perfmap.comparison.tree, search: perfmap.comparison.search})")
    metric = ["--metric", option("--search")] if option("--search") else []
    by = option("--by") if option("--by") in ("function", "file") else "loop"
    check(found["flat"] == diff(*metric, without=["--search"]), "rows are not those of diff --json")
    if found["tree"] or option("--by") != "process":
        tree = diff("--tree", "--by", by, *metric, without=["--search", "--by"])
        check(found["tree"] == (tree if tree["is_inclusive"] else None), "paths are not those of diff --tree --json")
    if option("--search"):
        check(found["search"] == diff(without=["--by"]), "foci are not those of diff --search --json")
    return found


def text_of(value):
    return value.replace("\u202f", "").replace("\u2212", "-").replace("\u00a0", " ")


def cells_are_those_of_the_table(page, flat):
    """What is displayed, in each cell, is what the terminal prints."""
    page.go(tab="rows", sort="", find="", verdict="", row="")
    titles = page.evaluate("[...document.querySelectorAll('.table .head button')].map((b) => b.textContent)")
    rows = page.evaluate("[...document.querySelectorAll('.table .row')].map((r) => [...r.querySelectorAll('.cell')].map((c) => c.textContent))")
    metric = ["--metric", option("--search")] if option("--search") else []
    plain = [word for word in words if word not in ("--search", option("--search"))]
    told = subprocess.run([perfmap, "diff", "--limit", "0", "--width", "0", *metric, *plain], check=True, capture_output=True, text=True).stdout
    lines = [re.split(r" {2,}", line.strip()) for line in told.split("\n")]
    check(len(rows) == min(len(flat["rows"]), len(rows)) and rows, "no rows are shown")
    for row, of in zip(rows, flat["rows"]):
        cells = [text_of(cell) for title, cell in zip(titles, row) if title[0] in "ABΔ" or title == "change"]
        cells = [cell for cell in cells if cell]
        check(any(line[:len(cells)] == cells for line in lines), f"the terminal has no line of {cells} ({of['what'][:60]})")


def undefined_is_not_zero(page):
    """Cells of what was not measured are empty, have no points, and paths are hatched or counted."""
    page.evaluate("""(() => { for (const part of [perfmap.comparison.flat, perfmap.comparison.tree]) { const row = part?.rows[0]; if (!row) continue;
        row.b = {...row.b, mean: null, scaled_mean: null, state: "not measured", values: row.b.values.map(() => null)}; row.difference = row.change_pct = null; } })()""")
    page.go(tab="overview")
    page.go(tab="rows", row="0")
    cells = page.evaluate("[...document.querySelectorAll('.table .row')[0].querySelectorAll('.cell')].map((c) => [c.textContent, c.title])")
    check(sum(text == "0" or text.startswith("0.0") for text, _ in cells) == 0, f"not measured is shown as {cells}")
    check("not measured" in page.evaluate("document.querySelector('.details').textContent"), "nobody says that it was not measured")
    page.go(tab="paths", row="", width="a")
    page.go(width="")
    check("not measured in B" in page.evaluate("document.querySelector('.foot')?.textContent ?? 'not measured in B'"), "paths without a width are not told of")


def saved(page, place):
    return page.evaluate("""(() => { const out = [], click = HTMLAnchorElement.prototype.click;
        HTMLAnchorElement.prototype.click = function () { out.push([this.download, this.href.split(',')[1]]); };
        document.querySelectorAll('%s .saves .link').forEach((l) => l.click()); HTMLAnchorElement.prototype.click = click; return out; })()""" % place)


def commands_print_the_same(page, found):
    """What 'same in the terminal' copies, as JSON, is what the page has."""
    for tab, part in (("rows", "flat"), ("paths", "tree"), ("search", "search")):
        if not found[part]:
            continue
        page.go(tab=tab)
        command = page.evaluate("perfmap.command").replace("perfmap diff", f"{perfmap} diff --json", 1)
        told = json.loads(subprocess.run(["bash", "-c", command], check=True, capture_output=True, text=True).stdout)
        check(told == found[part], f"{command} prints something else than {tab}")


def pictures_can_be_saved(page):
    for tab in ("overview", "paths"):
        page.go(tab=tab, shape="", direction="", width="", color="", path="")
        if tab == "paths" and not page.evaluate("document.querySelector('#view canvas') !== null"):
            continue
        files = saved(page, "#view")
        check(len(files) == 2, f"{tab}: {[file for file, _ in files]} are saved")
        for file, data in files:
            data = base64.b64decode(data)
            if file.endswith(".svg"):
                check(len(xml.etree.ElementTree.fromstring(data)) >= 3, f"{file} has nothing in it")
            else:
                check(data.startswith(b"\x89PNG"), f"{file} is no PNG")


def flame_is_of_all(page, tree):
    """The boxes of B are as wide as B's costs, and those of A as A's; what is not drawn is told."""
    if not tree:
        page.go(tab="paths")
        check(page.evaluate("perfmap.comparison.about.why_no_tree.slice(0, 20)") in page.evaluate("document.querySelector('#view').textContent"), "nobody says why there are no paths")
        return
    for side in "ba":
        page.go(tab="paths", shape="", width="" if side == "b" else "a", direction="", find="")
        boxes = page.evaluate("""(() => { const made = perfmap.tables.find((t) => t.boxes).boxes(), all = made[0];
            return made.filter((m) => m.box.at !== undefined && m.width > 2).map((m) => [m.box.at, m.width / all.width]); })()""")
        total = tree["total"][side]["mean"]
        check(len(boxes) > 2, f"{side}: {len(boxes)} boxes")
        for at, part in boxes:
            check(abs(part - tree["rows"][at][side]["mean"] / total) < 1e-6, f"{side}: {tree['rows'][at]['what']} is {part} wide")
    page.go(width="", direction="icicle", color="own")
    page.screenshot(f"{folder}/{name}-icicle.png")


def keys_work(browser):
    page = browser.open(f"file://{html}")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="2", text="2")
    page.wait("document.querySelector('#tab-rows').getAttribute('aria-selected') === 'true'")
    page.evaluate("document.querySelector('.table .body').focus()")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="Enter")
    page.wait("document.querySelector('.details') !== null")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="Escape")
    page.wait("document.querySelector('.details') === null")
    page.call("Input.dispatchKeyEvent", type="keyDown", key="3", text="3")
    page.wait("document.querySelector('#tab-paths').getAttribute('aria-selected') === 'true'")
    if page.evaluate("document.querySelector('#view canvas') !== null"):
        page.evaluate("document.querySelector('#view canvas').focus()")
        page.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight")
        page.wait("!document.querySelector('.tip').hidden")
        tip = page.evaluate("document.querySelector('.tip').textContent")
        check(" A " in tip and ", B " in tip, f"a box says {tip}")
    check(not page.errors, f"keys: {page.errors}")


def links_open_a_view_again(browser, page):
    page.go(tab="rows", sort="a", find="i", row="1", verdict="")
    address, shown = page.evaluate("location.href"), page.evaluate("document.querySelector('#view').innerText")
    again = browser.open(address)
    check(again.evaluate("document.querySelector('#view').innerText") == shown, "a link opens another view")
    page.go(sort="", find="", row="")


VIEWS = [{"tab": "overview"}, {"tab": "rows"}, {"tab": "rows", "row": "0"}, {"tab": "paths"}, {"tab": "paths", "width": "a", "path": "1"}, {"tab": "paths", "shape": "table"}, {"tab": "search"}]


def looks(browser):
    for width, dark in ((1280, False), (400, True)):
        page = browser.open(f"file://{html}", width=width, dark=dark)
        for number, changes in enumerate(VIEWS):
            if changes["tab"] == "search" and "--search" not in words:
                continue
            page.go(**{"row": "", "path": "", "shape": "", "width": "", **changes})
            page.screenshot(f"{folder}/{name}-{width}-{number}.png")
            check(page.evaluate("document.querySelector('#view h2')?.textContent") != "The page cannot show this", f"{changes}: {page.evaluate('document.querySelector(`#view`).textContent')}")
            check(not page.evaluate("document.documentElement.scrollWidth > innerWidth"), f"{width}: {changes} is wider than the window")
        check(not page.errors and len(page.requests) == 1, f"{width}: {page.errors} {page.requests}")
        check(page.evaluate("document.title") != "taken" and page.evaluate("document.querySelectorAll('#view script, #view img').length") == 0, "a name was taken for markup")


def main():
    with Browser(folder) as browser:
        page = browser.open(f"file://{html}")
        found = numbers_are_those_of_json(page)
        cells_are_those_of_the_table(page, found["flat"])
        commands_print_the_same(page, found)
        pictures_can_be_saved(page)
        flame_is_of_all(page, found["tree"])
        links_open_a_view_again(browser, page)
        keys_work(browser)
        looks(browser)
        undefined_is_not_zero(page)
        check(not page.errors, f"{page.errors}")
    print("\n".join(wrong), file=sys.stderr)
    print(f"{name}: {len(found['flat']['rows'])} rows, {len(found['tree']['rows']) if found['tree'] else 0} paths, {len(wrong)} problems")
    sys.exit(bool(wrong))


main()
