"""Each view of the page of a comparison in Firefox. firefox_looks.py HTML FOLDER"""
import sys

import firefox

firefox.VIEWS = [{"tab": "overview"}, {"tab": "rows", "row": "0"}, {"tab": "paths", "row": ""}, {"tab": "paths", "direction": "icicle", "width": "a"},
                 {"tab": "paths", "shape": "table"}, {"tab": "search"}]
html, folder = sys.argv[1:3]
with firefox.Firefox(folder) as driver:
    for width in (1280, 500):  # narrower windows Firefox does not make
        driver.open(f"file://{html}", width, 800)
        firefox.look(driver, f"{folder}/firefox-{width}")
        if driver.run("return window.problems"):
            firefox.fail(f"{driver.run('return window.problems')}")
print(f"2 looks in Firefox, {len(firefox.VIEWS)} views each")
