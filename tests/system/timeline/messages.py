"""Messages are those that ../export/ring.c sent: messages.py HTML FOLDER"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "page"))
from browser import Browser

MESSAGES = "perfmap.timeline.trace.messages().map(({from, to}) => [perfmap.timeline.trace.threads[from.thread].rank, from.ns, perfmap.timeline.trace.threads[to.thread].rank, to.ns])"
N_RANKS, N_ROUNDS = 3, 20
DRAWN = "perfmap.timeline.arrows.length"


def fail(text):
    print(text)
    sys.exit(1)


def main():
    html, folder = sys.argv[1:3]
    with Browser(folder) as browser:
        page = browser.open(f"file://{html}#tab=timeline")
        page.wait("document.querySelector('[data-settled]')")
        messages = page.evaluate(MESSAGES)
        if len(messages) != N_RANKS * N_ROUNDS * 2:
            fail(f"{len(messages)} messages")
        around = sum((source + 1) % N_RANKS == to for source, _, to, _ in messages)
        back = sum((source - 1) % N_RANKS == to for source, _, to, _ in messages)
        if around + back != len(messages) or around < N_RANKS * N_ROUNDS: # the communicator of half of them may count backwards
            fail(f"{around} messages around the ring, {back} back")
        first = messages[0]
        page.evaluate(f"perfmap.timeline.zoom({first[1]} - 1000, {first[3]} + 1000)")
        page.wait(f"{DRAWN} > 0")
        page.screenshot(f"{folder}/messages.png")
        rows = page.evaluate("document.querySelector('.time-rows').getContext('2d') !== null && perfmap.timeline.trace.threads.filter((t) => t.rank >= 0).length")
        if rows < 3 or page.errors:
            fail(f"{rows} ranks; console {page.errors}")
    print(f"{len(messages)} messages")


if __name__ == "__main__":
    main()
