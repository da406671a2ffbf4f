"""The truth: events as `perfmap trace --json` prints them, and what they say of any stretch of time."""
import bisect
import json
import subprocess
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "page"))


class Thread:
    def __init__(self, head):
        self.tid = head["tid"]
        self.ns, self.who, self.calls = [], [], []
        stack = []
        for event in head["events"]:
            if event["event"] == "enter":
                stack.append((event["name"], event["time_ns"]))
            else:
                name, begin = stack.pop()
                self.calls.append((begin, event["time_ns"], len(stack), name, event["inclusive_ns"]))
            self.ns.append(event["time_ns"])
            self.who.append(stack[-1][0] if stack else None)
        self.calls.sort()

    def shares(self, begin, end):
        """{name: ns that it was innermost}, and how many events were there."""
        out = {}
        first = max(0, bisect.bisect_left(self.ns, begin) - 1)
        last = bisect.bisect_left(self.ns, end)
        for i in range(first, min(last, len(self.ns) - 1)):
            length = min(self.ns[i + 1], end) - max(self.ns[i], begin)
            if length > 0 and self.who[i] is not None:
                out[self.who[i]] = out.get(self.who[i], 0) + length
        return out, last - first


def threads_of(perfmap, archive):
    text = subprocess.run([perfmap, "trace", "--json", archive], check=True, capture_output=True).stdout
    return [Thread(head) for head in json.loads(text)["threads"]]


def fail(text):
    print(text)
    sys.exit(1)


# What the page has of a window: per thread its calls, or shares of steps; and always what the table has.
WINDOW = """(async (from, to, n) => {
  const t = perfmap.timeline.trace, threads = t.threads.length, data = await t.window(from, to, n, 0, threads);
  return {steps: data.steps, rows: data.rows.map((row) => {
    const shares = t.sharesOf(row, data.steps), out = {steps: [], totals: [...shares.totals].map(([name, ns]) => [t.names[name].name, ns]), calls: null, level: shares.level};
    for (let i = 0; i < shares.number.length; i++) {
      const parts = [];
      for (let k = shares.first[i]; k < shares.first[i + 1]; k++) parts.push([t.names[shares.what[k]].name, shares.ns[k]]);
      out.steps.push([shares.number[i], shares.rest[i], parts]);
    }
    if (row.lanes) out.calls = row.lanes.flatMap((lane, depth) => lane.start.map((start, i) => [start, lane.end[i], depth, t.names[lane.what[i]].name, lane.spent[i], lane.flags[i]]));
    return out;
  })};
})(%d, %d, %d)"""


def add_up(parts):
    out = {}
    for name, ns in parts:
        out[name] = out.get(name, 0) + ns
    return out


def near(where, expected, found, most):
    for name in set(expected) | set(found):
        if abs(expected.get(name, 0) - found.get(name, 0)) > most:
            fail(f"{where}: {name} has {found.get(name, 0)} ns, not {expected.get(name, 0)}")


def check_step(where, thread, level, step):
    number, rest, parts = step
    expected, n_events = thread.shares(number << level, number + 1 << level)
    found = add_up(parts)
    if abs(sum(expected.values()) - sum(found.values()) - rest) > n_events + 2:
        fail(f"{where}: step {number} has {sum(found.values()) + rest} ns, not {sum(expected.values())}")
    near(f"{where}, step {number}", {name: expected.get(name, 0) for name in found}, found, n_events + 2)


def check_calls(where, thread, begin, end, calls):
    """Flag 32: the end is elsewhere. The page has when a call began and ended, trace how many ticks it lasted."""
    expected = sorted(call for call in thread.calls if call[0] >= begin and call[1] < end)
    found = sorted(tuple(call[:5]) for call in calls if call[0] >= begin and call[1] < end and not call[5] & 32)
    if len(expected) != len(found) or any(a[:4] != b[:4] or abs(a[4] - b[4]) > 1 for a, b in zip(expected, found)):
        odd = [call for call in expected if call not in found][:3], [call for call in found if call not in expected][:3]
        fail(f"{where}: {len(found)} calls, not {len(expected)}: {odd}")


def check_window(page, threads, begin, end, n_steps):
    """Returns how many numbers were compared."""
    answer = page.evaluate(WINDOW % (begin, end, n_steps))
    steps = answer["steps"]
    n = 0
    for thread, row in zip(threads, answer["rows"]):
        where = f"thread {thread.tid}, {begin} to {end}"
        for step in row["steps"]:
            if row["calls"] is not None and not begin <= step[0] << row["level"] <= end - (1 << row["level"]):
                continue # of calls there are those of the window
            check_step(where, thread, row["level"], step)
            n += len(step[2]) + 1
        low, high = steps["first"] << steps["level"], steps["first"] + steps["n"] << steps["level"]
        if row["calls"] is not None:
            check_calls(where, thread, begin, end, row["calls"])
            n += len(row["calls"])
            low, high = max(low, begin), min(high, end)
        expected, n_events = thread.shares(low, high)
        if row["calls"] is None or (low, high) == (steps["first"] << steps["level"], steps["first"] + steps["n"] << steps["level"]):
            near(f"{where}: table", expected, add_up(row["totals"]), n_events + 2)
    return n
