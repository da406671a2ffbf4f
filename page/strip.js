// The strip of the run's time above each view: what was spent when, of all or of what is in focus, in
// all threads or in each, with the chosen row beside it. An interval of it is brushed by mouse or
// keys, and every number of the page is then of that interval.
//
//     const strip = makeStrip(app, element);
//     await strip.show();  // of the state
//     strip.mark();        // what row is chosen, when the view is drawn

import {contextsIn, shareOfRow} from "./model.js";
import {amountText, metricTitle, percentText} from "./format.js";
import {copyText, el, fill, link, segments, selectOf} from "./dom.js";
import {csvOf} from "./format.js";
import {intervalOf} from "./state.js";
import {addBuckets} from "./times.js";
import {colorOfStyle, paint, saveLinks} from "./picture.js";

const HEIGHT = 44, STEP = 5, LANE = 13, MOST_LANES = 12, PHASE = 13, MOST_PHASES = 6, TABLE_PARTS = 20, LEAST_UNTIMED_PCT = 1;

export function timeText(ns) {
  const [size, unit, decimals] = Math.abs(ns) >= 1e9 ? [1e9, "s", 3] : Math.abs(ns) >= 1e6 ? [1e6, "ms", 1] : [1e3, "µs", 0];
  return ns ? `${(ns / size).toFixed(decimals)}\u00a0${unit}` : "0\u00a0s";
}

// As --from and --to take it: "2.5s", "300ms", "50%", a plain number of seconds. null: none of these.
export function readTime(text, allNs) {
  const found = /^\s*(\d+\.?\d*|\.\d+)\s*(s|ms|us|µs|ns|min|h|%|)\s*$/.exec(text);
  if (!found) return null;
  const units = {"": 1e9, s: 1e9, ms: 1e6, us: 1e3, "µs": 1e3, ns: 1, min: 60e9, h: 3600e9, "%": allNs / 100};
  return Math.round(Number(found[1]) * units[found[2]]);
}

export function commandOfInterval({interval, run_ns}) {
  if (!interval) return [];
  return [...(interval.from > 0 ? [`--from ${interval.from}ns`] : []), ...(interval.to < run_ns ? [`--to ${interval.to}ns`] : [])];
}

// Ends of intervals that a mouse finds: 1, 2 or 5 of some unit, less than a pixel of the run.
function roundTime(ns, allNs) {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(allNs / 1000)));
  return Math.max(0, Math.min(allNs, Math.round(ns / unit) * unit));
}

// --- what was when ---

// Contexts of the focus, and which of them are in phases. Of the whole run, whatever is shown.
function makeSums(app, times) {
  const {whole} = app, all = {from: 0, to: whole.run_ns}, phases = [];
  whole.nouns.ids.forEach((id) => {
    const noun = whole.nouns.noun(id);
    if (noun.kind === "phase" && phases.length < MOST_PHASES) phases.push({noun, isIn: contextsIn(whole, whole.base, {nouns: [[id]]})});
  });
  const parts = (m, n, weightOf) => {
    const out = new Float64Array(n);
    addBuckets(times.get(m), all, n, weightOf, out);
    return out;
  };
  return {
    phases, metrics: [...times.keys()], times,
    // weightOf(context, thread) beside what is in focus
    parts(m, n, focus, weightOf = () => 1) {
      const isIn = contextsIn(whole, whole.base, focus);
      return parts(m, n, (c, thread) => (isIn[c] && (!focus.threads || focus.threads[thread]) ? weightOf(c, thread) : 0));
    },
    // Where costs of any metric were in it: a phase without any is not seen.
    partsOfPhase: (phase, n) => [...times.keys()].map((m) => parts(m, n, (c) => phase.isIn[c])).reduce((a, b) => a.map((value, i) => value || b[i])),
    // In percent: how much of a metric has no time.
    untimedPct(m) {
      const value = whole.base.column(`cost_${m}_value`), timed = times.get(m).timed.reduce((a, b) => a + b, 0), sum = value ? value.reduce((a, b) => a + b, 0) : 0;
      return sum > 0 ? 100 * (1 - timed / sum) : 0;
    },
  };
}

// --- the picture ---

const colors = () => ({all: colorOfStyle("--line"), bar: colorOfStyle("--bar"), chosen: colorOfStyle("--heat-color"), ink: colorOfStyle("--soft"), accent: colorOfStyle("--accent")});

function drawArea(pen, values, most, {x, y, width, height, color}) {
  const step = width / values.length;
  pen.fillStyle = color;
  values.forEach((value, i) => {
    const h = most > 0 ? (value / most) * height : 0;
    if (h > 0) pen.fillRect(x + i * step, y + height - Math.max(h, 0.7), Math.max(step, 1), Math.max(h, 0.7));
  });
}

export function makeStrip(app, element) {
  const canvas = el("canvas", {tabindex: "0", role: "slider", "aria-label": "interval of the run's time"}), brush = el("div", {class: "brush", hidden: true});
  const field = el("div", {class: "strip-field"}, canvas, brush), tools = el("div", {class: "strip-tools"}), words = el("p", {class: "note", role: "status"}), table = el("details", {class: "strip-table"});
  let sums = null, drawn = null, laid = "";

  const allNs = () => app.whole.run_ns;
  const shown = () => intervalOf(app.whole, app.state) ?? {from: 0, to: allNs()};
  const metric = () => {
    const asked = app.whole.metrics.findIndex((m) => m.name === app.state.strip.split(":")[0]);
    if (sums.metrics.includes(asked)) return asked;
    const names = ["cpu_ns", "sampled_wall_ns", "n_samples"].map((name) => app.whole.metrics.findIndex((m) => m.name === name));
    return names.find((m) => sums.metrics.includes(m)) ?? sums.metrics[0];
  };
  const isApart = () => app.state.strip.endsWith(":threads");
  const hasThreads = () => app.whole.runners.find((r) => r.kind === "thread").items.length > 1;

  // The whole run is the address without an interval.
  function choose(from, to, options) {
    const [low, high] = from < to ? [from, to] : [to, from];
    const isAll = low <= 0 && high >= allNs();
    app.change({from: isAll ? 0 : Math.max(0, Math.round(low)), to: isAll || high >= allNs() ? 0 : Math.round(high)}, options);
  }

  function lanes(m, n) {
    const {focus} = app;
    if (!isApart() || !hasThreads()) return [{name: "", values: sums.parts(m, n, focus), all: sums.parts(m, n, {nouns: [], threads: null})}];
    const {items} = app.whole.runners.find((r) => r.kind === "thread"), of = app.whole.runnerOf("thread");
    const list = items.map((item, at) => ({name: `${item.what} ${item.place}`.trim(), at, values: sums.parts(m, n, focus, (c, thread) => (of[thread] === at ? 1 : 0))}));
    list.forEach((lane) => { lane.sum = lane.values.reduce((a, b) => a + b, 0); });
    const kept = list.sort((a, b) => b.sum - a.sum).slice(0, MOST_LANES).filter((lane) => lane.sum > 0);
    return kept.length ? kept.sort((a, b) => a.at - b.at) : list.slice(0, 1);
  }

  function draw() {
    if (!sums) return;
    const width = Math.max(60, field.clientWidth), n = Math.max(20, Math.floor(width / STEP)), m = metric();
    const all = lanes(m, n), tall = all.length > 1 ? LANE : HEIGHT, phases = sums.phases.map((phase) => ({...phase, values: sums.partsOfPhase(phase, n)})).filter((phase) => phase.values.some((v) => v > 0));
    const height = all.length * tall + phases.length * PHASE + 1, chosen = chosenParts(m, n);
    drawn = {m, n, all, tall, phases, chosen, width, height};
    paint(canvas, drawn, drawWith);
    place();
  }

  function drawWith(pen) {
    const {n, all, tall, phases, chosen, width} = drawn, c = colors(), most = all.reduce((a, lane) => Math.max(a, ...(lane.all ?? lane.values)), 0);
    all.forEach((lane, i) => {
      const box = {x: 0, y: i * tall, width, height: tall - 2};
      if (lane.all) drawArea(pen, lane.all, most, {...box, color: c.all});
      drawArea(pen, lane.values, most, {...box, color: c.bar});
      if (chosen && all.length === 1) drawArea(pen, chosen.values, most, {...box, color: c.chosen});
      pen.fillStyle = c.ink;
      if (lane.name) pen.text(lane.name.slice(0, 60), 3, i * tall + tall / 2, 10);
    });
    phases.forEach((phase, i) => {
      const y = all.length * tall + i * PHASE, step = width / n, first = phase.values.findIndex((v) => v > 0);
      pen.fillStyle = c.accent;
      phase.values.forEach((value, at) => { if (value > 0) pen.fillRect(at * step, y + PHASE - 4, Math.ceil(step), 3); });
      pen.fillStyle = c.ink;
      pen.text(phase.noun.name.slice(0, 60), Math.min(first * step + 1, width - 40), y + 4, 10);
    });
  }

  // What the chosen row of the table has, where it is of costs that have times.
  function chosenParts(m, n) {
    const of = app.chosenRow;
    if (!of || !sums.metrics.includes(m)) return null;
    return {name: of.result.rows[of.i].what, values: sums.parts(m, n, of.result.focus, shareOfRow(of.result, of.i))};
  }

  function place() {
    const {from, to} = shown(), isPart = Boolean(intervalOf(app.whole, app.state)), x = (ns) => (ns / allNs()) * drawn.width;
    brush.hidden = !isPart;
    brush.style.left = `${x(from)}px`;
    brush.style.width = `${Math.max(2, x(to) - x(from))}px`;
    brush.style.height = `${drawn.height}px`;
    canvas.setAttribute("aria-valuemin", "0");
    canvas.setAttribute("aria-valuemax", String(allNs() / 1e9));
    canvas.setAttribute("aria-valuenow", String(from / 1e9));
    canvas.setAttribute("aria-valuetext", isPart ? `from ${timeText(from)} to ${timeText(to)}` : "the whole run");
  }

  // --- words and tools ---

  function tell() {
    const part = app.archive.interval, m = metric(), {metrics} = app.whole, list = [];
    if (part) {
      const lost = metrics.filter((x, i) => x.is_measured && !sums.metrics.includes(i)).map((x) => metricTitle(x));
      list.push(`every number is of ${timeText(part.from)} to ${timeText(part.to)}; headers and warnings are of the whole run`);
      if (lost.length) list.push(`${lost.join(", ")}: when it was is not known, so it is left out`);
      if (!app.archive.source.isServed) list.push("≥ for CPU time that no sample stands for is that of the whole run: perfmap view has it of the interval");
    }
    const pct = sums.untimedPct(m);
    if (pct >= LEAST_UNTIMED_PCT) list.push(`${percentText(pct)} % of ${metricTitle(metrics[m])} has no time, and is in no part`);
    if (drawn?.chosen?.values.some((v) => v > 0)) list.push(`${drawn.chosen.name} has the other colour`);
    fill(words, list.join(" · "));
    words.hidden = !list.length;
  }

  function drawTools() {
    const {from, to} = shown(), isPart = Boolean(intervalOf(app.whole, app.state)), m = metric(), {metrics} = app.whole;
    const key = JSON.stringify([from, to, m, app.state.strip]);
    if (laid === key) return;
    laid = key;
    const set = (name, threads) => app.change({strip: `${name}${threads ? ":threads" : ""}`}, {push: false});
    const end = (label, value, take) => el("label", {class: "choice"}, el("span", {}, label), el("input", {size: "8", value: timeText(value).replace("\u00a0", " "), "aria-label": `${label}: 2.5 s, 300 ms or 50 %`, onchange: (event) => {
      const ns = readTime(event.target.value, allNs());
      if (ns === null) app.say(`'${event.target.value}' is no time: write 2.5s, 300ms or 50%`);
      else take(ns);
    }}));
    fill(tools, sums.metrics.length > 1 ? selectOf("over time", sums.metrics.map((x) => [metrics[x].name, metricTitle(metrics[x])]), metrics[m].name, (name) => set(name, isApart())) : el("span", {class: "note"}, metricTitle(metrics[m])),
      hasThreads() ? segments("threads", [["", "together"], ["threads", "threads apart"]], isApart() ? "threads" : "", (value) => set(metrics[m].name, value)) : null,
      end("from", from, (ns) => choose(ns, to)), end("to", to, (ns) => choose(from, ns)),
      isPart ? link("whole run", () => choose(0, allNs())) : null);
  }

  // The strip as lines: parts of the run, and what each lane and phase has.
  function linesOf(n) {
    const m = metric(), name = app.whole.metrics[m].name, all = lanes(m, n), phases = sums.phases.map((phase) => ({name: phase.noun.name, values: sums.partsOfPhase(phase, n)}));
    const lines = [["from_ns", "to_ns", ...all.map((lane) => lane.name || name), ...phases.map((phase) => `phase ${phase.name}`)]];
    for (let i = 0; i < n; i++)
      lines.push([Math.round((allNs() * i) / n), Math.round((allNs() * (i + 1)) / n), ...all.map((lane) => Math.round(lane.values[i])), ...phases.map((phase) => (phase.values[i] > 0 ? "yes" : ""))]);
    return lines;
  }

  function drawTable() {
    if (!table.open) return;
    const [head, ...lines] = linesOf(TABLE_PARTS), unit = app.whole.metrics[metric()];
    fill(table, el("summary", {}, "as a table"), link("copy as CSV", () => copyText(csvOf(linesOf(drawn.n)))), " · save as ", saveLinks("over-time", () => ({...drawn, draw: drawWith})), el("table", {}, el("tr", {}, ...["from", "to", ...head.slice(2)].map((text) => el("th", {}, text))),
      ...lines.map((line) => el("tr", {}, ...line.map((value, i) => el("td", {}, i < 2 ? timeText(value) : typeof value === "number" ? amountText(unit, value) : value))))));
  }

  // --- mouse and keys ---

  let began = null;
  const timeAt = (event) => {
    const rect = canvas.getBoundingClientRect();
    return roundTime(Math.max(0, Math.min(1, (event.clientX - rect.left) / rect.width)) * allNs(), allNs());
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    began = {at: timeAt(event), x: event.clientX};
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!began) return;
    const [low, high] = [began.at, timeAt(event)].sort((a, b) => a - b), x = (ns) => (ns / allNs()) * drawn.width;
    brush.hidden = false;
    brush.style.left = `${x(low)}px`;
    brush.style.width = `${Math.max(1, x(high) - x(low))}px`;
    brush.style.height = `${drawn.height}px`;
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!began) return;
    const {at, x} = began, to = timeAt(event);
    began = null;
    if (Math.abs(event.clientX - x) < 3 || at === to) clickAt(event);
    else choose(at, to);
  });
  canvas.addEventListener("pointercancel", () => { began = null; place(); });
  // On the name of a phase: all of it. Elsewhere: the whole run.
  function clickAt(event) {
    const y = event.clientY - canvas.getBoundingClientRect().top, first = drawn.height - 1 - drawn.phases.length * PHASE, phase = drawn.phases[Math.floor((y - first) / PHASE)];
    if (y < first || !phase) return choose(0, allNs());
    const {values} = phase, step = allNs() / values.length, last = values.findLastIndex((v) => v > 0);
    choose(values.findIndex((v) => v > 0) * step, (last + 1) * step);
  }
  canvas.addEventListener("keydown", (event) => {
    const {from, to} = shown(), isPart = Boolean(intervalOf(app.whole, app.state)), end = allNs(), step = end / 100, length = to - from;
    const move = (by) => {
      if (!isPart) return choose(by > 0 ? 0 : end - 10 * step, by > 0 ? 10 * step : end, {push: false});
      if (event.shiftKey) return to + by > from ? choose(from, Math.min(end, to + by), {push: false}) : null;
      const low = Math.max(0, Math.min(end - length, from + by));
      return choose(low, low + length, {push: false});
    };
    const scale = (by) => {
      const middle = (from + to) / 2, half = Math.max(end / 1000, (length * by) / 2);
      choose(Math.max(0, middle - half), Math.min(end, middle + half), {push: false});
    };
    const keys = {
      ArrowRight: () => move(step), ArrowLeft: () => move(-step), PageDown: () => move(10 * step), PageUp: () => move(-10 * step), Home: () => choose(0, length, {push: false}),
      End: () => choose(end - length, end, {push: false}), "+": () => scale(0.5), "-": () => scale(2), Escape: () => choose(0, end),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key]();
  });
  table.append(el("summary", {}, "as a table"));
  table.addEventListener("toggle", drawTable);

  return {
    async show() {
      app.chosenRow = null;
      const loads = app.whole.times();
      element.hidden = !loads;
      if (!loads || sums) return;
      sums = makeSums(app, await loads);
      element.hidden = !sums.metrics.length;
      fill(element, tools, field, table, words);
    },
    mark() {
      if (!sums?.metrics.length) return;
      draw();
      drawTools();
      drawTable();
      tell();
    },
    resize() { if (sums?.metrics.length) draw(); },
    focus: () => canvas.focus(),
    linesOf, // for tests
  };
}
