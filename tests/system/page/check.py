"""The numbers of the page against those of `perfmap report --json`, and what a page must do.

    check.py PERFMAP ARCHIVE HTML FOLDER FOCI [--brush FROM-TO | OPTION of report...]

With --brush an interval is chosen in the page of the whole run, in percent of it, as the strip above tables does.
"""
import json
import subprocess
import sys

# All rows of a sheet, as report has them.
ROWS = """(async () => {
  const w = %s, archive = w.interval ? await perfmap.whole.within(w.interval) : perfmap.archive;
  const sheet = await archive.sheet(w.level, w.by, w.shape);
  if (sheet.absent) return {absent: sheet.absent};
  const focus = {nouns: w.nouns.map((id) => [id]), threads: w.on ? Uint8Array.from(archive.runnerOf(w.on[0]), (r) => (w.on[1].includes(r) ? 1 : 0)) : null};
  const metrics = w.metric ? [archive.metrics.findIndex((m) => m.name === w.metric)] : sheet.metricsFor(focus);
  const result = sheet.rows(w.rule, focus, metrics), columns = perfmap.columnsOf(result, {bounds: w.bounds});
  const rows = result.rows.filter((_, i) => result.keep[i]).map((row) => {
    const out = {key: row.key, what: row.what, kind: row.kind, place: row.place, incomplete: [], uncertain: []};
    for (const column of columns.filter((c) => c.number)) {
      const n = column.number(row.index);
      out[column.key] = n.value;
      if (n.isAtLeast) out.incomplete.push(column.key);
      if (n.isUncertain) out.uncertain.push(column.key);
    }
    return out;
  });
  const total = {};
  for (const m of metrics) total["own_" + archive.metrics[m].name] = result.total.own.get(m);
  total.n_samples = result.total.samples;
  return {rows, total};
})()"""


class Checker:
    def __init__(self, perfmap, archive, page, options=()):
        self.perfmap, self.archive, self.page, self.options = perfmap, archive, page, list(options)
        self.interval = None
        if self.options[:1] == ["--brush"]:
            self.brush(*(float(part) for part in self.options[1].split("-")))
        self.n_numbers = self.n_views = 0
        self.problems = []

    def brush(self, low, high):
        """In percent of the run; an end of it is not given to report, as the page does not."""
        run_ns = self.page.evaluate("perfmap.whole.run_ns")
        self.interval = {"from": round(run_ns * low / 100), "to": round(run_ns * high / 100)}
        self.options = ["--from", f"{self.interval['from']}ns"] if low > 0 else []
        self.options += ["--to", f"{self.interval['to']}ns"] if high < 100 else []

    def over_time(self, n, metric, focus=()):
        """The strip is what --over-time shows of the whole run; page: in ns, rounded; report rounds each part down."""
        foci = [word for _, pattern in focus for word in ("--focus", pattern)]
        done = subprocess.run([self.perfmap, "report", "--json", "--over-time", str(n), "--metric", metric, "--limit", "0", *foci, self.archive], capture_output=True, text=True)
        expected = json.loads(done.stdout)["total"]["own_over_time"]
        self.page.go(strip=metric, nouns=[noun for noun, _ in focus], **{"from": 0, "to": 0})
        found = [line[2] for line in self.page.evaluate(f"perfmap.strip.linesOf({n})")[1:]]
        self.n_numbers += n
        room = 2 + self.page.evaluate("perfmap.archive.nContexts") * len(self.page.evaluate("perfmap.archive.runners.at(-1).items"))
        if len(found) != n or any(abs(a - b) > room for a, b in zip(expected, found)):
            self.note(f"over time {metric} {foci}", f"{found}, not {expected}")

    def report(self, *options):
        done = subprocess.run([self.perfmap, "report", "--json", "--limit", "0", *options, *self.options, self.archive], capture_output=True, text=True)
        return json.loads(done.stdout)

    def note(self, where, text):
        self.problems.append(f"{where}: {text}")

    def compare(self, level, by, shape="flat", rule="merge", nouns=(), focus=(), on=None, on_text=None, metric=None, bounds=False):
        options = ["--level", level, "--by", by]
        options += ["--tree"] if shape == "tree" else []
        options += ["--rule", rule] if rule != "merge" else []
        options += ["--bounds"] if bounds else []
        for pattern in focus:
            options += ["--focus", pattern]
        options += ["--on", on_text] if on_text else []
        options += ["--metric", metric] if metric else []
        where = " ".join(options)
        expected = self.report(*options)
        wanted = {"level": level, "by": by, "shape": shape, "rule": rule, "nouns": list(nouns), "on": on, "metric": metric, "bounds": bounds, "interval": self.interval}
        found = self.page.evaluate(ROWS % json.dumps(wanted))
        self.n_views += 1
        if "error" in expected or "absent" in found:
            if ("error" in expected) != ("absent" in found):
                self.note(where, f"one of both has nothing: {expected.get('error')} / {found.get('absent')}")
            return expected
        self.compare_rows(where, expected, found, bounds)
        return expected

    def compare_rows(self, where, expected, found, bounds):
        """By their names and places; of constructs that are called alike, by their numbers."""
        by_name = {}
        for row in expected["rows"]:
            by_name.setdefault((row["what"], row["kind"], row["place"] or ""), []).append(row)
        for row in found["rows"]:
            alike = by_name.get((row["what"], row["kind"], row["place"]), [])
            twin = next((r for r in alike if self.are_alike(r, row)), alike[0] if alike else None)
            if twin is None:
                self.note(where, f"report has no row {row['what']!r}")
            else:
                alike.remove(twin)
                self.compare_row(where, twin, row)
        for row in (row for rows in by_name.values() for row in rows):
            if not bounds: # report has rows for constructs that only occur in sets
                self.note(where, f"the page has no row {row['what']!r}")
        for name, value in found["total"].items():
            if name in expected["total"]:
                self.equal(where, "total", name, expected["total"][name], value)

    def marks_of(self, names, found):
        """In a file an interval has the whole run's marks for time that no sample stands for, and says so (docs/page.md)."""
        return sorted(k for k in names if k in found and not (self.interval and k.endswith("cpu_ns")))

    def are_alike(self, expected, found):
        marks = self.marks_of(expected.get("incomplete", []), found) == self.marks_of(found["incomplete"], found)
        return marks and all(expected[k] == found[k] for k in found if k in ("n_calls", "n_samples", "n_loop_entries") or k.startswith(("own_", "inclusive_")) if k in expected)

    def compare_row(self, where, expected, found):
        for name in ("what", "kind"):
            self.equal(where, expected["what"], name, expected[name], found[name])
        for name, value in found.items():
            if name in expected and name not in ("what", "kind", "key", "place", "incomplete", "uncertain"):
                self.equal(where, expected["what"], name, expected[name], value)
        for name in ("incomplete", "uncertain"):
            if name in expected:
                self.equal(where, expected["what"], name, self.marks_of(expected[name], found), self.marks_of(found[name], found))
        if "uncertain" not in expected and found["uncertain"] and found["uncertain"] != ["share_pct"]:
            self.note(where, f"{expected['what']!r} is uncertain: {found['uncertain']}")

    def compare_parts(self, by, kind):
        """The most that any runner has of a row, as --axis says it; of times by samples, for those of threads add up."""
        expected = self.report("--by", by, "--axis", kind, "--metric", "cpu_ns")
        found = self.page.evaluate("""(async () => {
          const interval = %s, archive = interval ? await perfmap.whole.within(interval) : perfmap.archive, sheet = await archive.sheet("source", %s, "flat"), m = archive.metrics.findIndex((x) => x.name === "cpu_ns");
          const result = sheet.rows("merge", {nouns: [], threads: null}, [m]), out = [];
          const kind = archive.runners.find((r) => r.kind === %s);
          result.rows.forEach((row, i) => {
            if (!result.keep[i] || !result.own.get(m)[i]) return;
            const s = perfmap.spreadOf(kind, perfmap.partsOf(result, i, kind.kind));
            out.push([row.what, row.place, result.own.get(m)[i], s.most, s.least, Math.round(s.average * 1000), Math.round(s.imbalance_pct * 1000)]);
          });
          return out;
        })()""" % (json.dumps(self.interval), json.dumps(by), json.dumps(kind)))
        most = sorted((r["what"], r["place"] or "", r["own_cpu_ns"], r["max_cpu_ns"], r["min_cpu_ns"], round(r["average_cpu_ns"] * 1000), round(r["imbalance_pct"] * 1000)) for r in expected["rows"] if r["own_cpu_ns"] and r["max_cpu_ns"] is not None)
        seen = sorted(tuple(r) for r in found)
        missing = [r for r in most if r not in seen]
        self.n_numbers += len(most)
        if missing:
            self.note(f"--by {by} --axis {kind}", f"the page lacks {missing[:3]}; it has {[s for s in seen if s[0] == missing[0][0]]}")

    def equal(self, where, what, name, expected, found):
        self.n_numbers += 1
        same = abs(expected - found) <= 1e-9 * max(1, abs(expected)) if isinstance(expected, float) and isinstance(found, (int, float)) else expected == found
        if not same:
            self.note(where, f"{what!r} has {name} {found}, not {expected}")

    def nouns(self, pattern_of_kind):
        """(noun, pattern) of rows that a focus can be on."""
        return self.page.evaluate(f"""(async () => {{
          const {{archive}} = perfmap, out = [];
          for (const [level, by, shape] of {json.dumps(pattern_of_kind)}) {{
            const sheet = await archive.sheet(level, by, shape);
            if (sheet.absent) continue;
            const result = sheet.rows("merge", {{nouns: [], threads: null}}, sheet.shownMetrics);
            const order = perfmap.orderOf(result, [], "");
            const named = order.filter((i) => result.rows[i].members.length === 1 && result.rows[i].members[0].noun !== null);
            for (const i of named.slice(0, 400)) {{
              const noun = archive.nouns.noun(result.rows[i].members[0].noun);
              if (noun) out.push([noun.id, perfmap.patternOf(noun), by]);
            }}
          }}
          return out;
        }})()""")


def all_views(checker):
    listed = checker.page.evaluate("perfmap.archive.sheets")
    for sheet in listed:
        shape = sheet["shape"]
        rules = ["merge", "closed", "split"] if shape == "flat" else ["merge"]
        for rule in rules:
            checker.compare(sheet["level"], sheet["by"], shape, rule)
    return listed


def main():
    sys.path.insert(0, __file__.rsplit("/", 1)[0])
    from browser import Browser
    perfmap, archive, html, folder = sys.argv[1:5]
    n_foci = int(sys.argv[5]) if len(sys.argv) > 5 else 6
    with Browser(folder) as browser:
        page = browser.open(f"file://{html}")
        checker = Checker(perfmap, archive, page, sys.argv[6:])
        listed = all_views(checker)
        for by in ("statement", "array", "loop"):
            checker.compare("source", by, bounds=True)
        foci = checker.nouns([["source", "function", "flat"], ["source", "loop", "flat"], ["source", "array", "flat"], ["source", "statement", "flat"]])
        patterns = [pattern for _, pattern, _ in foci]
        unique = [(noun, pattern, by) for noun, pattern, by in foci if patterns.count(pattern) == 1 and not set(pattern) & set("*?[")]
        for by in ("function", "loop", "array", "statement"):
            for noun, pattern, _ in [f for f in unique if f[2] == by][: max(1, n_foci // 4)]:
                for sheet in listed:
                    if sheet["by"] in ("mpi", "sync"):
                        continue
                    checker.compare(sheet["level"], sheet["by"], sheet["shape"], nouns=[noun], focus=[pattern])
                checker.compare("source", "loop", rule="split", nouns=[noun], focus=[pattern])
                checker.compare("source", "array", rule="closed", nouns=[noun], focus=[pattern])
        code = next((f for f in unique if f[2] == "function"), None)
        data = next((f for f in unique if f[2] == "array"), None)
        if code and data:
            checker.compare("source", "statement", nouns=[code[0], data[0]], focus=[code[1], data[1]])
        runners = page.evaluate("perfmap.archive.runners")
        for runner in runners:
            kind, items = runner["kind"], runner["items"]
            for at, item in enumerate(items[:3]):
                same = [i for i, other in enumerate(items) if other["number"] == item["number"]]  # a process and what it became
                if len(items) > 1 and item["number"] is not None and same[0] == at:
                    for by in ("loop", "statement"):
                        checker.compare("source", by, on=[kind, same], on_text=f"{kind}:{item['number']}")
        for runner in runners:
            if len(runner["items"]) > 1 and runner["kind"] == "thread" and not runner["items"][-1]["what"].count("later"):
                checker.compare_parts("function", runner["kind"])
        if checker.interval:
            for focus in ([], [f[:2] for f in unique if f[2] == "function"][:1]):
                checker.over_time(20, "cpu_ns", focus)
        errors, requests = page.errors, page.requests
    for problem in checker.problems[:40]:
        print(problem, file=sys.stderr)
    print(f"{checker.n_views} views, {checker.n_numbers} numbers, {len(checker.problems)} problems; {len(errors)} errors of the console, {len(requests)} requests")
    sys.exit(bool(checker.problems or errors or len(requests) != 1))


if __name__ == "__main__":
    main()
