// The trace as a picture: a row for each rank, process and thread; nested calls where they are wide
// enough, and elsewhere whose time each step was, exactly. Zoom and pan by mouse and keys.

import {CALL_BEGIN_CUT, CALL_CUT, CALL_GOES_ON, addShares, lowerBound, openTrace, stepsOf} from "./trace.js";
import {finderOf} from "./find.js";
import {pictureOfCanvas, saveLinks} from "./picture.js";
import {copyText, el, fill, link, segments} from "./dom.js";
import {amountText, countText, csvOf, percentText} from "./format.js";
import {intervalOf} from "./state.js";

const NANOSECONDS = {kind: "time"}, CALL_PX = 16, RULER_PX = 22, OVERVIEW_PX = 40, LEAST_NS = 20, MOST_ARROWS = 400, MOST_TABLE_ROWS = 200, MOST_LETTERS = 200;
// The constructs with the most time have a colour each, of these, twice; others are grey.
const TIME_HUES = [210, 28, 140, 285, 350, 55, 180, 320, 95, 240, 10, 165];

const spanText = (ns) => amountText(NANOSECONDS, ns);
const kindText = (name) => (name.level === "Source" || name.level === "Base" ? name.kind : name.level);
const titleText = (name) => (name.kind === "loop" ? `loop ${name.name}` : name.name);
const placeText = (name) => (name.file ? `${name.file.replace(/^.*\//, "")}${name.line ? `:${name.line}` : ""}` : "");

// --- colours ---

function paletteOf(trace, shares, isDark) {
  const order = [...shares.totals].sort((a, b) => b[1] - a[1]).map(([name]) => name), rank = new Map(order.map((name, i) => [name, i]));
  const rgb = new Map(), probe = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const textOf = (name) => {
    const at = rank.get(name) ?? Infinity;
    const isSecond = at >= TIME_HUES.length;
    if (at < 2 * TIME_HUES.length) return `hsl(${TIME_HUES[at % TIME_HUES.length]} ${isDark ? 50 : 62}% ${(isDark ? 42 : 66) + (isSecond ? (isDark ? -14 : 15) : 0)}%)`;
    return `hsl(220 8% ${(isDark ? 36 : 68) + (name % 5) * 3}%)`;
  };
  const toNumber = (text) => {
    probe.fillStyle = text;
    probe.fillRect(0, 0, 1, 1);
    const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
    return (255 << 24) | (b << 16) | (g << 8) | r;
  };
  const style = getComputedStyle(document.documentElement), of = (name) => style.getPropertyValue(name).trim();
  const colors = {ink: of("--ink"), soft: of("--soft"), line: of("--line"), card: of("--card"), accent: of("--accent"), hover: of("--hover"), back: of("--back")};
  const grey = isDark ? "#2d333d" : "#e3e6eb", rest = isDark ? "#5a6270" : "#b9bfc9";
  return {
    ...colors, rank: (name) => rank.get(name) ?? Infinity, text: (name, isGrey) => (isGrey ? grey : textOf(name)), restText: rest,
    number(name, isGrey) {
      const key = isGrey ? -1 : name;
      if (!rgb.has(key)) rgb.set(key, toNumber(isGrey ? grey : textOf(name)));
      return rgb.get(key);
    },
    restNumber: toNumber(rest), backNumber: toNumber(colors.card), idleNumber: toNumber(colors.hover),
  };
}

// --- rows ---

const groupOf = (thread) => (thread.rank >= 0 ? `rank ${thread.rank}` : `process ${thread.pid}`);

// Groups are ranks, else processes; one with one thread is a row, and so is a closed one.
function makeTimeRows(trace, closed) {
  const groups = new Map();
  trace.threads.forEach((thread, i) => {
    if (!thread.n_events) return; // of libraries that made no call
    const key = groupOf(thread);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(i);
  });
  const nameOf = (thread) => `${thread.name || "thread"} ${thread.tid}`, rows = [];
  for (const [key, threads] of groups) {
    const first = trace.threads[threads[0]], isClosed = closed.has(key), isOfSeveral = groups.size > 1 || threads.length > 3;
    const note = `${first.exe.replace(/^.*\//, "")}${first.node ? ` on ${first.node}` : ""}`;
    if (threads.length === 1) rows.push({key, label: groups.size > 1 ? key : nameOf(first), note: `${note}, thread ${first.tid}`, threads});
    else {
      if (isOfSeveral || isClosed) rows.push({key, label: key, note, threads, isGroup: true, isClosed});
      if (!isClosed) for (const i of threads) rows.push({key: `thread ${i}`, label: nameOf(trace.threads[i]), note: `${key}, ${note}`, threads: [i], isInner: isOfSeveral});
    }
  }
  return rows;
}

// --- drawing ---

function drawTimeSteps(pen, view, palette, shares, y, height, fits) {
  const {ratio, left, width} = view, x0 = Math.round(left * ratio), w = Math.round(width * ratio) - x0, h = Math.max(1, Math.round(height * ratio));
  if (w <= 0) return;
  const image = pen.createImageData(w, h), pixels = new Uint32Array(image.data.buffer).fill(palette.idleNumber), size = 2 ** shares.level;
  const xOf = (ns) => ((ns - view.from) / (view.to - view.from)) * w;
  for (let i = 0; i < shares.number.length; i++) {
    const begin = shares.number[i] * size, a = Math.max(0, Math.round(xOf(begin))), b = Math.min(w, Math.max(a + 1, Math.round(xOf(begin + size))));
    if (b <= 0 || a >= w) continue;
    const scale = h / (size * (shares.nLines ?? 1));
    let at = h, exact = h;
    const stack = (amount, color) => {
      exact -= amount * scale;
      for (const end = Math.max(0, Math.round(exact)); at > end; ) pixels.fill(color, --at * w + a, at * w + b);
    };
    for (let k = shares.first[i]; k < shares.first[i + 1]; k++) stack(shares.ns[k], palette.number(shares.what[k], fits && !fits[shares.what[k]]));
    stack(shares.rest[i], palette.restNumber);
  }
  pen.putImageData(image, x0, Math.round(y * ratio));
}

// What is narrower than a pixel shares it: by how much of it each was, one above the other.
function drawTimeLane(pen, view, palette, lane, y, names, fits) {
  const xOf = (ns) => view.left + ((ns - view.from) / (view.to - view.from)) * (view.width - view.left);
  const pixel = new Map();
  let pixelAt = -1;
  const flush = () => {
    let at = y + CALL_PX - 1;
    for (const [name, part] of [...pixel].sort((a, b) => palette.rank(a[0]) - palette.rank(b[0]))) {
      const h = part * (CALL_PX - 1);
      pen.fillStyle = palette.text(name, fits && !fits[name]);
      pen.fillRect(pixelAt, at - h, 1, h);
      at -= h;
    }
    pixel.clear();
  };
  for (let i = lowerBound(lane.end, view.from); i < lane.start.length && lane.start[i] <= view.to; i++) {
    const a = Math.max(view.left, xOf(lane.start[i])), b = Math.min(view.width, xOf(lane.end[i])), name = lane.what[i];
    if (b - a < 1) {
      for (let x = Math.floor(a); x < b || x === Math.floor(a); x++) {
        if (x !== pixelAt) flush();
        pixelAt = x;
        pixel.set(name, (pixel.get(name) ?? 0) + Math.min(b, x + 1) - Math.max(a, x));
      }
      continue;
    }
    pen.fillStyle = palette.text(name, fits && !fits[name]);
    pen.fillRect(a, y, Math.max(1, b - a - (b - a > 4 ? 1 : 0)), CALL_PX - 1);
    if (b - a < 26) continue;
    pen.save();
    pen.beginPath();
    pen.rect(a, y, b - a - 3, CALL_PX);
    pen.clip();
    pen.fillStyle = palette.ink;
    pen.fillText(names[name].name.slice(0, MOST_LETTERS), a + 3, y + CALL_PX / 2);
    pen.restore();
  }
  flush();
}

function drawTimeRuler(pen, view, palette) {
  const span = view.to - view.from, wanted = Math.max(2, Math.floor((view.width - view.left) / 110));
  let step = 10 ** Math.floor(Math.log10(span / wanted));
  step *= [1, 2, 5, 10].find((n) => span / (step * n) <= wanted);
  pen.fillStyle = palette.card;
  pen.fillRect(0, 0, view.width, RULER_PX);
  pen.fillStyle = palette.soft;
  for (let ns = Math.ceil(view.from / step) * step; ns <= view.to; ns += step) {
    const x = view.left + ((ns - view.from) / span) * (view.width - view.left);
    pen.fillRect(x, RULER_PX - 5, 1, 5);
    if (x > view.width - 50) break;
    const [unit, size] = view.to >= 1e9 ? ["s", 1e9] : view.to >= 1e6 ? ["ms", 1e6] : ["µs", 1e3];
    pen.fillText(`${(ns / size).toFixed(Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9)))} ${unit}`, x + 3, RULER_PX / 2 - 1);
  }
}

// How deep calls are nested in a window.
function depthOf(lanes, from, to) {
  for (let depth = lanes.length; depth > 0; depth--) {
    const {start, end} = lanes[depth - 1], at = lowerBound(end, from);
    if (at < start.length && start[at] < to) return depth;
  }
  return 0;
}

// --- what was chosen ---

function callAt(trace, row, depth, ns) {
  const lane = row.lanes?.[depth], at = lane ? trace.callIn(lane, ns) : -1;
  if (at < 0) return null;
  const path = [];
  for (let d = depth - 1; d >= 0; d--) {
    const up = trace.callIn(row.lanes[d], ns);
    if (up >= 0 && row.lanes[d].start[up] <= lane.start[at]) path.unshift({depth: d, at: up, what: row.lanes[d].what[up]});
  }
  return {thread: row.thread, depth, at, lane, what: lane.what[at], start: lane.start[at], end: lane.end[at], spent: lane.spent[at], flags: lane.flags[at], path};
}

// The noun of a construct, as foci and other views take it.
function nounOf(archive, name) {
  const {nouns} = archive;
  for (const id of nouns.ids) {
    const noun = nouns.noun(id);
    if (noun.kind !== name.kind || noun.file !== name.file || (noun.line || 0) !== (name.line || 0)) continue;
    if (noun.kind !== "function" || noun.name === name.name) return noun;
  }
  return null;
}

async function openElsewhere(app, name, noun, tab) {
  const sheet = await app.archive.sheet("source", "loop", "flat");
  const row = sheet.absent ? null : sheet.rows("merge", {nouns: [], threads: null}, sheet.metricsFor({nouns: [], threads: null})).rows
    .find((r) => r.members.length === 1 && r.members[0].noun === noun?.id);
  if (tab === "costs") app.change({tab, level: "source", by: "loop", shape: "flat", sort: "", find: row ? "" : name.name, row: row ? String(row.key) : ""});
  else app.change({tab, by: "loop", shape: "tree", find: "", across: JSON.stringify(row ? [row.what, row.place] : [name.name, placeText(name)])});
}

function callDetails(app, trace, call, {zoom, choose, close}) {
  const name = trace.names[call.what], thread = trace.threads[call.thread], noun = nounOf(app.whole, name);
  const isOpen = call.flags & (CALL_CUT | CALL_GOES_ON);
  const notes = [call.flags & CALL_BEGIN_CUT ? "its begin is not known" : "", call.flags & CALL_CUT ? "its end is not known" : "", call.flags & CALL_GOES_ON ? "it goes on behind the window" : ""];
  return el("aside", {class: "details", "aria-label": "chosen call"},
    el("button", {type: "button", class: "close", "aria-label": "close", onclick: close}, "×"),
    el("h3", {}, titleText(name)),
    el("dl", {},
      el("dt", {}, "what"), el("dd", {}, kindText(name)),
      name.file ? el("dt", {}, "statement") : null, name.file ? el("dd", {}, link(placeText(name), () => app.openSource(name.file, name.line))) : null,
      el("dt", {}, "begins"), el("dd", {}, spanText(call.start)),
      el("dt", {}, "lasts"), el("dd", {}, `${isOpen ? "≥ " : ""}${spanText(call.spent)}`),
      el("dt", {}, "thread"), el("dd", {}, `${thread.rank >= 0 ? `rank ${thread.rank}, ` : ""}${thread.name} ${thread.tid}`)),
    ...notes.filter(Boolean).map((text) => el("p", {class: "note"}, text)),
    el("p", {class: "tools"}, link("zoom to it", () => zoom(call.start, call.end)),
      noun ? link(app.isChosen(noun.id) ? "leave focus" : "focus", () => app.choose(noun.id)) : null,
      name.file ? link("source", () => app.openSource(name.file, name.line)) : null,
      link("costs", () => openElsewhere(app, name, noun, "costs")), link("call paths", () => openElsewhere(app, name, noun, "flame"))),
    call.path.length ? el("h3", {}, "called by") : null,
    el("ol", {class: "members path"}, ...[...call.path].reverse().map((up) => el("li", {}, link(titleText(trace.names[up.what]), () => choose(call.thread, up.depth, call.start))))));
}

// --- the table behind the picture ---

// Time by construct over the rows, and of each the calls that begin in the window where all are there.
function timeTableOf(trace, rows, data) {
  const totals = new Map(), calls = new Map();
  let allCalls = true;
  for (const row of rows) {
    for (const [name, ns] of trace.sharesOf(row, data.steps).totals) totals.set(name, (totals.get(name) ?? 0) + ns);
    allCalls &&= Boolean(row.lanes);
    for (const lane of row.lanes ?? [])
      for (let i = lowerBound(lane.start, data.from); i < lane.start.length && lane.start[i] < data.to; i++) calls.set(lane.what[i], (calls.get(lane.what[i]) ?? 0) + 1);
  }
  const length = (data.to - data.from) * rows.length;
  const lines = [...totals].sort((a, b) => b[1] - a[1]).map(([name, ns]) => ({what: name, ns, share: (100 * ns) / length, calls: allCalls ? calls.get(name) ?? 0 : null}));
  return {lines, allCalls, length};
}

function callLines(trace, rows, data) {
  const out = [];
  for (const row of rows)
    (row.lanes ?? []).forEach((lane, depth) => {
      for (let i = lowerBound(lane.end, data.from); i < lane.start.length && lane.start[i] < data.to; i++)
        out.push({thread: row.thread, depth, what: lane.what[i], start: lane.start[i], spent: lane.spent[i]});
    });
  return out.sort((a, b) => a.start - b.start || a.depth - b.depth);
}

function drawTimeTable(place, app, trace, rows, data, palette, {kind, setKind, choose}) {
  const {lines, allCalls} = timeTableOf(trace, rows, data), calls = kind === "calls" ? callLines(trace, rows, data) : null;
  const head = (titles) => el("thead", {}, el("tr", {}, ...titles.map((t) => el("th", {scope: "col"}, t))));
  const swatch = (name) => el("span", {class: "swatch", style: {background: palette.text(name)}});
  const toCsv = () => copyText(csvOf(calls
    ? [["thread", "begins_ns", "lasts_ns", "depth", "what", "place"], ...calls.map((c) => [trace.threads[c.thread].tid, c.start, Math.round(c.spent), c.depth, trace.names[c.what].name, placeText(trace.names[c.what])])]
    : [["what", "kind", "place", "own_ns", "share_pct", "n_calls"], ...lines.map((l) => [trace.names[l.what].name, kindText(trace.names[l.what]), placeText(trace.names[l.what]), Math.round(l.ns), l.share, l.calls])]));
  const table = calls
    ? el("table", {class: "plain"}, head(["begins", "lasts", "thread", "call"]), el("tbody", {}, ...calls.slice(0, MOST_TABLE_ROWS).map((c) => el("tr", {},
      el("td", {class: "number"}, spanText(c.start)), el("td", {class: "number"}, spanText(c.spent)), el("td", {}, String(trace.threads[c.thread].tid)),
      el("td", {style: {"padding-left": `${Math.min(c.depth, 20) * 0.8 + 0.5}rem`}}, swatch(c.what), link(titleText(trace.names[c.what]), () => choose(c.thread, c.depth, c.start)))))))
    : el("table", {class: "plain"}, head(["own time", "%", ...(allCalls ? ["calls"] : []), "construct", "place"]), el("tbody", {}, ...lines.slice(0, MOST_TABLE_ROWS).map((l) => el("tr", {},
      el("td", {class: "number"}, spanText(l.ns)), el("td", {class: "number"}, percentText(l.share)), allCalls ? el("td", {class: "number"}, countText(l.calls)) : null,
      el("td", {}, swatch(l.what), titleText(trace.names[l.what])), el("td", {class: "place"}, placeText(trace.names[l.what]))))));
  const n = (calls ?? lines).length;
  fill(place, el("div", {class: "tools"},
    segments("table", [["", "constructs"], ["calls", "calls"]], calls ? "calls" : "", setKind),
    el("span", {class: "note"}, `${spanText(data.to - data.from)} from ${spanText(data.from)}, ${rows.length === 1 ? "one thread" : `${rows.length} threads`}${calls && !allCalls ? "; calls only of threads that show them" : ""}`),
    link("copy as CSV", toCsv)), table, n > MOST_TABLE_ROWS ? el("p", {class: "note"}, `${countText(n - MOST_TABLE_ROWS)} more are in the CSV`) : null);
}

// --- the view ---

const readPair = (text) => text.split("-").map(Number);

export async function renderTimeline(app, container) {
  const trace = await (app.whole.trace ??= openTrace(app.whole));
  if (!trace) {
    fill(container, el("p", {class: "empty"}, "This run has no trace: perfmap run --mode trace records one."));
    return;
  }
  const {state} = app, part = intervalOf(app.whole, state), [fromAsked, toAsked] = state.window ? readPair(state.window) : part ? [part.from, part.to] : [];
  const view = {from: trace.fromNs, to: trace.toNs, left: 140, width: 800, height: 400, ratio: 1};
  const whole = [trace.fromNs, Math.max(trace.toNs, trace.fromNs + LEAST_NS)];
  [view.from, view.to] = toAsked > fromAsked ? [fromAsked, toAsked] : whole;
  const closed = new Set(trace.threads.map(groupOf));
  if (closed.size === 1 || trace.threads.length <= 24) closed.clear();
  const finds = finderOf(state.find);
  let fits = null, rows = makeTimeRows(trace, closed), data = null, palette, overview, chosen = null, tableKind = "", asking = null, scheduled = false, arrows = [], nMessages = 0;
  const canvas = el("canvas", {class: "time-rows", tabindex: "0", role: "img", "aria-label": "time line; the table below has the same, and ? lists the keys"});
  const strip = el("canvas", {class: "time-strip", "aria-label": "the whole run: drag to choose a part", role: "img"});
  const scroller = el("div", {class: "time-scroll"}, canvas, el("div", {})), tip = el("div", {class: "tip", hidden: true});
  const side = el("div", {class: "time-side"}), table = el("div", {class: "time-table card"}), foot = el("p", {class: "foot"});
  const readout = el("span", {class: "note", "aria-live": "polite"});

  const span = () => view.to - view.from;
  const nsAt = (x) => view.from + ((x - view.left) / (view.width - view.left)) * span();
  const xAt = (ns) => view.left + ((ns - view.from) / span()) * (view.width - view.left);
  const isDark = () => getComputedStyle(document.documentElement).colorScheme === "dark";
  const rowOf = (thread) => data?.rows[thread - data.first];

  function heightOf(row) {
    const of = row.threads.length === 1 ? rowOf(row.threads[0]) : null;
    if (row.isGroup && !row.isClosed) return 22;
    if (of?.lanes) return Math.max(2, of.depth) * CALL_PX + 6;
    return Math.min(240, Math.max(30, Math.floor((view.height - RULER_PX) / rows.length)));
  }

  // Parts of each step in the order of the colours.
  function sortParts({number, first, what, ns}) {
    for (let i = 0; i < number.length; i++)
      for (let k = first[i] + 1; k < first[i + 1]; k++)
        for (let j = k; j > first[i] && palette.rank(what[j - 1]) > palette.rank(what[j]); j--) {
          [what[j], what[j - 1]] = [what[j - 1], what[j]];
          [ns[j], ns[j - 1]] = [ns[j - 1], ns[j]];
        }
  }

  // Of a closed group those of all its threads.
  function sharesOfRow(row) {
    row.of ??= new Map();
    if (!row.of.has(data)) {
      row.of.clear();
      const lists = row.threads.map((t) => rowOf(t)).filter(Boolean).map((of) => trace.sharesOf(of, data.steps));
      const shares = lists.length === 1 ? lists[0] : addShares(lists);
      sortParts(shares);
      shares.nLines = row.threads.length;
      row.of.set(data, shares);
    }
    return row.of.get(data);
  }

  function drawRow(pen, row, y) {
    const height = heightOf(row), of = row.threads.length === 1 ? rowOf(row.threads[0]) : null;
    pen.fillStyle = palette.line;
    pen.fillRect(0, y + height - 1, view.width, 1);
    if (of?.lanes) of.lanes.forEach((lane, d) => drawTimeLane(pen, view, palette, lane, y + 2 + d * CALL_PX, trace.names, fits));
    else if (data && (!row.isGroup || row.isClosed)) drawTimeSteps(pen, view, palette, sharesOfRow(row), y + 2, height - 5, fits);
    pen.fillStyle = palette.card;
    pen.fillRect(0, y, view.left - 2, height - 1);
    pen.save();
    pen.beginPath();
    pen.rect(0, y, view.left - 6, height);
    pen.clip();
    pen.fillStyle = palette.ink;
    pen.fillText(`${row.isGroup ? (row.isClosed ? "▸ " : "▾ ") : row.isInner ? "   " : ""}${row.label}`, 6, y + 12);
    pen.fillStyle = palette.soft;
    if (height > 28) pen.fillText(row.note, 6, y + 27);
    pen.restore();
  }

  function drawChosen(pen) {
    const place = chosen && places.find((p) => p.row.threads.length === 1 && p.row.threads[0] === chosen.thread);
    if (!place || !rowOf(chosen.thread)?.lanes) return;
    const a = Math.max(view.left, xAt(chosen.start)), b = Math.min(view.width, xAt(chosen.end));
    pen.strokeStyle = palette.ink;
    pen.lineWidth = 2;
    pen.strokeRect(a, place.y + 2 + chosen.depth * CALL_PX, Math.max(2, b - a), CALL_PX - 1);
  }

  // Arrows if they are few, else how many were sent, over time.
  function drawMessages(pen) {
    arrows = [];
    nMessages = 0;
    if (!trace.isWhole) return;
    const all = trace.messages(), inside = all.filter((m) => m.from.ns <= view.to && m.to.ns >= view.from);
    nMessages = inside.length;
    if (!inside.length) return;
    const yOf = ({thread, depth}) => {
      const place = places.find((p) => p.row.threads.includes(thread) && !(p.row.isGroup && !p.row.isClosed));
      if (!place) return null;
      return place.y + (place.row.threads.length === 1 && rowOf(thread)?.lanes ? (depth + 0.5) * CALL_PX + 2 : place.height / 2);
    };
    pen.strokeStyle = pen.fillStyle = palette.accent;
    pen.lineWidth = 1;
    if (inside.length > MOST_ARROWS) {
      const bins = new Float64Array(Math.ceil((view.width - view.left) / 3));
      for (const m of inside) bins[Math.floor((xAt(m.from.ns) - view.left) / 3)] += 1;
      const most = bins.reduce((a, b) => Math.max(a, b), 0);
      bins.forEach((n, i) => pen.fillRect(view.left + 3 * i, RULER_PX - (n / most) * (RULER_PX - 6), 2, (n / most) * (RULER_PX - 6)));
      return;
    }
    pen.save();
    pen.beginPath();
    pen.rect(view.left, RULER_PX, view.width - view.left, view.height - RULER_PX);
    pen.clip();
    for (const m of inside) {
      const y1 = yOf(m.from), y2 = yOf(m.to);
      if (y1 === null || y2 === null) continue;
      const x1 = xAt(m.from.ns), x2 = xAt(m.to.ns), turn = Math.atan2(y2 - y1, x2 - x1);
      arrows.push(m);
      pen.beginPath();
      pen.moveTo(x1, y1);
      pen.lineTo(x2, y2);
      for (const side of [-0.4, 0.4]) {
        pen.moveTo(x2, y2);
        pen.lineTo(x2 - 7 * Math.cos(turn + side), y2 - 7 * Math.sin(turn + side));
      }
      pen.stroke();
    }
    pen.restore();
  }

  let places = [];
  function draw() {
    scheduled = false;
    if (!canvas.isConnected) return;
    const began = performance.now(), pen = canvas.getContext("2d");
    pen.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    pen.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    pen.textBaseline = "middle";
    pen.fillStyle = palette.card;
    pen.fillRect(0, 0, view.width, view.height);
    places = [];
    let y = RULER_PX - scroller.scrollTop;
    for (const row of rows) {
      const height = heightOf(row);
      if (y + height > RULER_PX && y < view.height) {
        places.push({row, y, height});
        drawRow(pen, row, y);
      }
      y += height;
    }
    scroller.lastChild.style.height = `${Math.max(0, y + scroller.scrollTop - view.height)}px`;
    drawChosen(pen);
    drawTimeRuler(pen, view, palette);
    drawMessages(pen);
    pen.fillStyle = palette.soft;
    if (view.left > 100) pen.fillText("since the start", 6, RULER_PX / 2 - 1);
    drawStrip();
    readout.textContent = `${spanText(span())} from ${spanText(view.from)}${nMessages ? ` · ${nMessages === 1 ? "1 message" : `${countText(nMessages)} messages`}${arrows.length ? "" : ", as a rate above"}` : ""}`;
    app.timelineFrame = performance.now() - began;
  }

  function drawStrip() {
    const pen = strip.getContext("2d"), all = {ratio: view.ratio, left: 0, width: view.width, from: trace.fromNs, to: trace.toNs};
    pen.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    drawTimeSteps(pen, all, palette, overview, 0, OVERVIEW_PX, fits);
    const x = (ns) => ((ns - trace.fromNs) / (trace.toNs - trace.fromNs)) * view.width, a = x(view.from), b = x(view.to);
    pen.globalAlpha = 0.6;
    pen.fillStyle = palette.back;
    pen.fillRect(0, 0, a, OVERVIEW_PX);
    pen.fillRect(b, 0, view.width - b, OVERVIEW_PX);
    pen.globalAlpha = 1;
    pen.strokeStyle = palette.accent;
    pen.lineWidth = 2;
    pen.strokeRect(Math.max(1, Math.min(a, view.width - 4)), 1, Math.max(3, Math.min(b, view.width - 1) - Math.max(1, a)), OVERVIEW_PX - 2);
  }

  const schedule = () => {
    if (!scheduled) requestAnimationFrame(draw);
    scheduled = true;
  };

  // --- data ---

  const nSteps = () => Math.min(2048, Math.max(64, Math.round(view.width - view.left)));
  function threadsInSight() {
    let y = RULER_PX - scroller.scrollTop, first = Infinity, last = 0;
    for (const row of rows) {
      const height = heightOf(row);
      if (y + height > 0 && y < view.height)
        for (const t of row.threads) {
          first = Math.min(first, t);
          last = Math.max(last, t);
        }
      y += height;
    }
    return first === Infinity ? [0, trace.threads.length] : [first, last - first + 1];
  }

  function take(answer, from, to) {
    data = {...answer, from, to};
    for (const row of data.rows) row.depth = row.lanes ? depthOf(row.lanes, from, to) : 0;
    fits = finds && trace.names.map((name) => finds(`${name.name} ${placeText(name)}`));
    schedule();
    clearTimeout(take.timer);
    take.timer = setTimeout(settle, 150);
  }

  async function ask() {
    const steps = stepsOf(view.from, view.to, nSteps()), size = 2 ** steps.level, from = steps.first * size, to = (steps.first + steps.n) * size - 1;
    const [first, n] = threadsInSight();
    if (!trace.canAsk) return take(trace.window(from, to, nSteps(), first, n), from, to + 1);
    asking?.abort();
    const mine = asking = new AbortController();
    try {
      const rows = [];
      let answer;
      for (let at = first; at < first + n; at += 64) {
        answer = await trace.window(from, to, nSteps(), at, Math.min(64, first + n - at), mine.signal);
        rows.push(...answer.rows);
      }
      if (mine === asking) take({...answer, first, rows}, from, to + 1);
    } catch (error) {
      if (error.name !== "AbortError") app.say(error.message);
    }
    return undefined;
  }

  // When nothing moves any more: the table, and the address.
  function settle() {
    if (!canvas.isConnected) return;
    if (scheduled) draw(); // pages behind others get no frames
    const inSight = data.rows.filter((row) => places.some((p) => p.row.threads.includes(row.thread)));
    drawTimeTable(table, app, trace, inSight, data, palette, {kind: tableKind, setKind: (kind) => { tableKind = kind; settle(); }, choose});
    const isAll = view.from === whole[0] && view.to === whole[1];
    app.change({window: isAll ? "" : `${Math.floor(view.from)}-${Math.ceil(view.to)}`, slice: chosen ? `${chosen.thread}-${chosen.depth}-${chosen.start}` : ""}, {push: false, quiet: true});
    const steps = data.rows.find((row) => row.shares)?.shares.level;
    foot.textContent = `${countText(trace.nEvents)} events · ${steps === undefined ? "calls" : `steps of ${spanText(2 ** steps)}, each with the exact time of all calls in it`}`
      + ` · wheel or w, s: zoom · drag or a, d: pan · shift and drag: choose a part · 0: all`;
    prepare();
    container.dataset.settled = String(Number(container.dataset.settled ?? 0) + 1);
  }

  function prepare() {
    clearTimeout(prepare.timer);
    if (canvas.isConnected && trace.prepare()) prepare.timer = setTimeout(prepare, 30);
  }

  function zoom(from, to) {
    const length = Math.min(Math.max(to - from, LEAST_NS), whole[1] - whole[0]);
    view.from = Math.min(Math.max((from + to) / 2 - length / 2, whole[0]), whole[1] - length);
    view.to = view.from + length;
    schedule();
    if (trace.canAsk) {
      clearTimeout(zoom.timer);
      zoom.timer = setTimeout(ask, data ? 30 : 0);
    } else ask();
  }
  const zoomBy = (factor, at = (view.from + view.to) / 2) => zoom(at - (at - view.from) * factor, at + (view.to - at) * factor);
  const pan = (part) => zoom(view.from + part * span(), view.to + part * span());

  // --- choosing ---

  function choose(thread, depth, ns) {
    const row = rowOf(thread), call = row && callAt(trace, row, depth, ns);
    if (!call) return;
    chosen = call;
    fill(side, callDetails(app, trace, call, {zoom: (a, b) => zoom(a - (b - a) * 0.05, b + (b - a) * 0.05), choose, close: leave}));
    resize();
    settle();
  }
  function leave() {
    chosen = null;
    fill(side);
    resize();
    settle();
  }

  function placeAt(event) {
    const rect = canvas.getBoundingClientRect(), x = event.clientX - rect.left, y = event.clientY - rect.top, place = places.find((p) => y >= p.y && y < p.y + p.height);
    return {x, y, ns: nsAt(x), place, depth: place ? Math.floor((y - place.y - 2) / CALL_PX) : -1};
  }

  // What a step has, in words.
  function stepAt(row, ns) {
    const shares = sharesOfRow(row), size = 2 ** shares.level, at = lowerBound(shares.number, Math.floor(ns / size));
    if (shares.number[at] !== Math.floor(ns / size)) return null;
    const parts = [];
    for (let k = shares.first[at]; k < shares.first[at + 1]; k++) parts.push([titleText(trace.names[shares.what[k]]), shares.ns[k]]);
    if (shares.rest[at] > 0) parts.push(["smaller parts", shares.rest[at]]);
    return {from: shares.number[at] * size, size, parts: parts.sort((a, b) => b[1] - a[1]), nLines: shares.nLines};
  }

  function drawTip(event) {
    const {x, ns, place, depth} = placeAt(event), single = place?.row.threads.length === 1 ? rowOf(place.row.threads[0]) : null;
    tip.hidden = true;
    if (!place || x < view.left || !data) return;
    const call = single?.lanes ? callAt(trace, single, depth, ns) : null;
    if (call) fill(tip, el("b", {}, titleText(trace.names[call.what])), ` ${placeText(trace.names[call.what])} ${spanText(call.spent)}`);
    else if (single?.lanes || (place.row.isGroup && !place.row.isClosed)) return;
    else {
      const step = stepAt(place.row, ns);
      if (!step) return;
      fill(tip, el("div", {}, `${spanText(step.size)} from ${spanText(step.from)}`), ...step.parts.slice(0, 8).map(([name, amount]) => el("div", {}, el("b", {}, name), ` ${percentText((100 * amount) / step.size / step.nLines)} % ${spanText(amount)}`)),
        step.parts.length > 8 ? el("div", {}, `and ${step.parts.length - 8} more`) : null);
    }
    tip.hidden = false;
    tip.style.left = `${Math.min(event.clientX + 12, innerWidth - 320)}px`;
    tip.style.top = `${Math.min(event.clientY + 16, innerHeight - 180)}px`;
  }

  function click(event) {
    const {x, ns, place, depth} = placeAt(event);
    if (!place) return;
    if (x < view.left && place.row.isGroup) {
      if (!closed.delete(place.row.key)) closed.add(place.row.key);
      rows = makeTimeRows(trace, closed);
      ask();
      return;
    }
    const single = place.row.threads.length === 1 ? rowOf(place.row.threads[0]) : null;
    if (single?.lanes) choose(single.thread, depth, ns);
  }

  // Drag pans; with shift, and in the strip and the ruler, it chooses a part.
  function takeMouse() {
    let drag = null;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const {ns} = placeAt(event);
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / 1000);
      else if (event.altKey) scroller.scrollTop += event.deltaY;
      else zoomBy(2 ** (event.deltaY / 250), Math.min(Math.max(ns, view.from), view.to));
    }, {passive: false});
    canvas.addEventListener("pointerdown", (event) => {
      const {x, y} = placeAt(event);
      if (event.button !== 0) return;
      drag = {x, from: view.from, to: view.to, brush: event.shiftKey || y < RULER_PX, moved: false};
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!drag) return drawTip(event);
      const {x} = placeAt(event), by = x - drag.x;
      drag.moved ||= Math.abs(by) > 3;
      if (!drag.moved) return undefined;
      tip.hidden = true;
      if (drag.brush) {
        draw();
        const pen = canvas.getContext("2d");
        pen.globalAlpha = 0.3;
        pen.fillStyle = palette.accent;
        pen.fillRect(Math.min(x, drag.x), 0, Math.abs(by), view.height);
        pen.globalAlpha = 1;
      } else {
        const ns = (by / (view.width - view.left)) * (drag.to - drag.from);
        zoom(drag.from - ns, drag.to - ns);
      }
      return undefined;
    });
    canvas.addEventListener("pointerup", (event) => {
      if (!drag) return;
      const {x} = placeAt(event), was = drag;
      drag = null;
      if (!was.moved) click(event);
      else if (was.brush) zoom(nsAt(Math.min(x, was.x)), nsAt(Math.max(x, was.x)));
    });
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
    canvas.addEventListener("dblclick", (event) => { zoomBy(0.25, placeAt(event).ns); });
    let strippedAt = null;
    const stripNs = (event) => trace.fromNs + (Math.min(Math.max(event.clientX - strip.getBoundingClientRect().left, 0), view.width) / view.width) * (trace.toNs - trace.fromNs);
    strip.addEventListener("pointerdown", (event) => { strippedAt = {ns: stripNs(event), x: event.clientX}; strip.setPointerCapture(event.pointerId); });
    strip.addEventListener("pointermove", (event) => { if (strippedAt && Math.abs(event.clientX - strippedAt.x) > 3) zoom(...[strippedAt.ns, stripNs(event)].sort((a, b) => a - b)); });
    strip.addEventListener("pointerup", (event) => {
      if (strippedAt && Math.abs(event.clientX - strippedAt.x) <= 3) zoom(strippedAt.ns - span() / 2, strippedAt.ns + span() / 2);
      strippedAt = null;
    });
    scroller.addEventListener("scroll", () => { schedule(); clearTimeout(zoom.timer); zoom.timer = setTimeout(ask, 60); });
  }

  // Calls around the chosen one: u what called it, i the first that it called, p and n its neighbours.
  function walk(key) {
    const {thread, depth, at, start} = chosen, lanes = rowOf(thread)?.lanes, to = {u: [depth - 1, start], i: [depth + 1], p: [depth, -1], n: [depth, 1]}[key];
    const lane = lanes?.[to[0]];
    if (!lane) return;
    if (key === "u") choose(thread, to[0], start);
    else {
      const next = key === "i" ? lowerBound(lane.start, start) : at + to[1];
      if (lane.start[next] !== undefined) choose(thread, to[0], lane.start[next]);
    }
  }

  const KEYS = {w: () => zoomBy(0.5), "+": () => zoomBy(0.5), s: () => zoomBy(2), "-": () => zoomBy(2), a: () => pan(-0.25), d: () => pan(0.25), ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25),
    ArrowUp: () => { scroller.scrollTop -= 40; }, ArrowDown: () => { scroller.scrollTop += 40; }, 0: () => zoom(...whole), u: () => chosen && walk("u"), i: () => chosen && walk("i"), p: () => chosen && walk("p"), n: () => chosen && walk("n"),
    Enter: () => chosen && zoom(chosen.start, chosen.end), c: () => leave()};
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    KEYS[event.key]();
  });

  function resize() {
    const width = scroller.clientWidth, height = scroller.clientHeight;
    if (!width || !height) return;
    view.ratio = devicePixelRatio || 1;
    view.left = width < 600 ? 84 : 150;
    Object.assign(view, {width, height});
    for (const [of, h] of [[canvas, height], [strip, OVERVIEW_PX]]) {
      of.width = width * view.ratio;
      of.height = h * view.ratio;
      of.style.width = `${width}px`;
      of.style.height = `${h}px`;
    }
    overview ??= trace.overview(1024);
    if (palette?.isDark !== isDark()) {
      palette = {...paletteOf(trace, overview, isDark()), isDark: isDark()};
      overview.nLines = trace.threads.length;
      sortParts(overview);
    }
    ask();
  }

  const notes = [];
  if (!trace.isWhole && !trace.canAsk)
    notes.push(`This file has coarse steps only: the trace has ${countText(trace.nEvents)} events, and a file holds at most ${countText(trace.mostEvents)}. perfmap view shows each of them.`);
  if (trace.messagesLeftOut) notes.push(trace.messagesLeftOut);
  const dropped = trace.threads.reduce((sum, t) => sum + t.n_dropped_calls, 0);
  if (dropped) notes.push(`${countText(dropped)} calls are missing: the trace reached its limit (--trace-limit).`);
  fill(container,
    el("div", {class: "tools"}, link("all", () => zoom(...whole)), link("zoom in", () => zoomBy(0.5)), link("zoom out", () => zoomBy(2)), link("earlier", () => pan(-0.25)), link("later", () => pan(0.25)), readout,
      app.whole.times_chunk ? link("this part in all views", () => app.change({from: Math.max(1, Math.floor(view.from)), to: Math.ceil(view.to)})) : null,
      el("span", {}, "save as ", saveLinks("time-line", () => pictureOfCanvas(canvas)))),
    ...notes.map((text) => el("p", {class: "note warning-note"}, text)), strip, el("div", {class: "with-details"}, scroller, side), foot, table, tip);
  takeMouse();
  app.tables = [{resize}];
  const sizes = new ResizeObserver(() => {
    if (!canvas.isConnected) sizes.disconnect();
    else if (scroller.clientWidth !== view.width || scroller.clientHeight !== view.height) resize();
  });
  sizes.observe(scroller);
  app.afterShown = () => {
    canvas.focus({preventScroll: true});
    if (state.slice) {
      const [thread, depth, start] = readPair(state.slice), wait = setInterval(() => {
        if (data || !canvas.isConnected) clearInterval(wait);
        if (data) choose(thread, depth, start);
      }, 20);
    }
  };
  app.timeline = {trace, view, zoom, choose, get data() { return data; }, get chosen() { return chosen; }, get arrows() { return arrows; }};
}
