"""A trace that is too large for one file: many.py PERFMAP ARCHIVE HTML FOLDER"""
import random
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

from model import check_window, fail, threads_of
from browser import Browser


def refuses(address):
    for window in ("", "0", "0/1/2/3", "5/1/100/0/1", "0/100/1/0/1", "0/100/4097/0/1", "0/100/10/0/257", "0/100/10/0/1/", "-1/100/10/0/1", "0/9223372036854775808/10/0/1", "0/100/10/x/1"):
        try:
            urllib.request.urlopen(f"{address}timeline/{window}").read()
            fail(f"window {window!r} was answered")
        except urllib.error.HTTPError as error:
            if error.code != 404:
                fail(f"window {window!r}: {error.code}")
    for window in ("0/9223372036854775807/10/0/256", "7/7/2/0/1", "0/100/10/4294967295/1"):
        if urllib.request.urlopen(f"{address}timeline/{window}").read()[:4] != b"PMPG":
            fail(f"window {window!r} was not answered")


def windows(page, threads, number):
    begin, end = min(t.ns[0] for t in threads), max(t.ns[-1] for t in threads)
    n = check_window(page, threads, begin, end, 1000)
    for _ in range(30):
        length = (end - begin) >> number.randrange(20)
        at = number.randrange(begin, end)
        n += check_window(page, threads, at, at + length, number.choice((50, 300, 1200)))
    return n


def of_file(browser, html, threads, folder):
    """It has coarse steps, which are exact, too, and says so."""
    page = browser.open(f"file://{html}#tab=timeline")
    page.wait("document.querySelector('[data-settled]')")
    text = page.evaluate("document.querySelector('.warning-note').textContent")
    if "perfmap view" not in text or not re.search(r"1.000.000", text):
        fail(f"does not name the limit: {text}")
    n = check_window(page, threads, 0, threads[0].ns[-1], 100)
    page.screenshot(f"{folder}/many-file.png")
    if page.errors or len(page.requests) != 1:
        fail(f"console {page.errors}, requests {page.requests}")
    return n


def main():
    perfmap, archive, html, folder = sys.argv[1:5]
    threads = threads_of(perfmap, archive)
    n_events = sum(len(t.ns) for t in threads)
    if n_events < 1000000:
        fail(f"only {n_events} events")
    number = random.Random(7)
    server = subprocess.Popen([perfmap, "view", "--no-browser", archive], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        address = server.stdout.readline().strip()
        refuses(address)
        with Browser(folder) as browser:
            page = browser.open(f"{address}#tab=timeline")
            page.wait("document.querySelector('[data-settled]')")
            n = windows(page, threads, number)
            page.screenshot(f"{folder}/many.png")
            middle = threads[0].calls[len(threads[0].calls) // 2]
            page.evaluate(f"perfmap.timeline.zoom({middle[0] - 2000}, {middle[1] + 2000})")
            page.wait("perfmap.timeline.data.rows[0].lanes")
            page.screenshot(f"{folder}/many-near.png")
            if page.errors or [r for r in page.requests if not r.startswith(address)]:
                fail(f"console {page.errors}")
            n += of_file(browser, html, threads, folder)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)
    print(f"{n} numbers of windows of {n_events} events")


if __name__ == "__main__":
    main()
