// Call paths as a picture: flame (callers below) or icicle (callers above), with all threads together
// or one runner alone, and a sandwich of one construct: what called it, and what it called.
//
// Drawn by pixels: rows of the tree by loop or function, widths by the primary metric. What is
// narrower than a pixel is left out of the picture; the table of call paths has it.

import {chooseMetric, metricsOf} from "./costs.js";
import {el, fill, link, segments, selectOf} from "./dom.js";
import {amountText, metricTitle, percentText} from "./format.js";
import {makeBoxes} from "./boxes.js";
import {finderOf} from "./find.js";
import {axisOf} from "./state.js";
import {saveLinks} from "./picture.js";

// A tree of boxes: {name, kind, value, children, row}. Equal children of a box are one.
function boxesOf(result) {
  const {rows, rule, keep} = result, inclusive = result.inclusive.get(result.primary), own = result.own.get(result.primary), of = new Map();
  const root = {name: "all", kind: "all", value: 0, own: 0, children: [], row: -1};
  rows.forEach((row, i) => { if (keep[i] && inclusive[i] > 0) of.set(i, {name: row.what, place: row.place, kind: row.kind, value: inclusive[i], own: own[i], children: [], row: i}); });
  for (const [i, box] of of) {
    const up = rows[i].parentId === null ? -1 : rule.indexOf[rows[i].parentId];
    (of.get(up) ?? root).children.push(box);
  }
  root.value = root.children.reduce((sum, box) => sum + box.value, 0);
  const sort = (box) => {
    box.children.sort((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1));
    box.children.forEach(sort);
  };
  sort(root);
  return root;
}

function merge(list, name, kind) {
  const out = {name, kind, place: list[0]?.place ?? "", value: 0, own: 0, children: [], row: list[0]?.row ?? -1};
  const below = new Map();
  for (const box of list) {
    out.value += box.value;
    out.own += box.own;
    for (const child of box.children) {
      const key = `${child.name}\n${child.place}`;
      if (!below.has(key)) below.set(key, []);
      below.get(key).push(child);
    }
  }
  out.children = [...below.values()].map((same) => merge(same, same[0].name, same[0].kind)).sort((a, b) => b.value - a.value);
  return out;
}

// Callees of the construct: its outermost boxes, merged. Callers: the ways to these, from within out.
function sandwichOf(root, name, place) {
  const found = [], callers = {name, place, kind: "", value: 0, own: 0, children: [], row: -1};
  const isIt = (box) => box.name === name && box.place === place;
  const walk = (box, path) => {
    if (isIt(box)) {
      found.push(box);
      let at = callers;
      at.value += box.value;
      for (let k = path.length - 1; k > 0; k--) {
        let up = at.children.find((c) => c.name === path[k].name && c.place === path[k].place);
        if (!up) at.children.push(up = {...path[k], value: 0, own: 0, children: []});
        up.value += box.value;
        at = up;
      }
      return; // recursion counts once
    }
    box.children.forEach((child) => walk(child, [...path, box]));
  };
  walk(root, []);
  return {callees: merge(found, name, found[0]?.kind ?? ""), callers};
}

// By level and kind, so that constructs of the source, machine code and words differ.
const HUES = {function: 28, loop: 48, statement: 60, symbol: 210, loopcode: 200, process: 265, kernel: 330, set: 285, unmapped: 0, region: 130};
function colorOf(box, isDark, isGrey) {
  if (isGrey) return isDark ? "#2d333d" : "#e3e6eb";
  const hue = HUES[box.kind] ?? (box.kind === "all" ? 220 : 170);
  let spread = 0;
  for (let k = 0; k < box.name.length && k < 24; k++) spread = (spread * 31 + box.name.charCodeAt(k)) % 13;
  return `hsl(${hue} ${box.kind === "unmapped" || box.kind === "all" ? 8 : 62}% ${isDark ? 26 + spread : 74 + spread}%)`;
}

function makePicture(app, {root, isFlame, title, result, onChoose}) {
  const metric = app.archive.metrics[result.primary], fits = finderOf(app.state.find);
  return makeBoxes({
    root, isFlame, onChoose, label: `${title}: arrows move, Enter zooms; the view Costs, call paths, has the same as a table`,
    styleOf: (box, isDark) => ({color: colorOf(box, isDark, fits && !fits(`${box.name} ${box.place}`))}),
    describe: (box) => [el("b", {}, box.name), ` ${box.place ?? ""} `, `${amountText(metric, box.value)}, ${percentText((100 * box.value) / root.value)} %`, box.own ? `, own ${amountText(metric, box.own)}` : ""],
  });
}

// One above the other, as they are on the screen.
function stacked(pictures) {
  const parts = pictures.map((p) => p.pictureNow()), height = parts.reduce((sum, p) => sum + p.height, 0);
  return {width: parts[0].width, height, draw(pen) {
    let top = 0;
    for (const part of parts) {
      const y = top;
      part.draw({
        set fillStyle(color) { pen.fillStyle = color; },
        fillRect: (x, at, w, h) => pen.fillRect(x, at + y, w, h), text: (words, x, at, size, room) => pen.text(words, x, at + y, size, room),
      });
      top += part.height;
    }
  }};
}

// All together, or one node, rank, process, thread.
function chooseRunner(app) {
  const options = [["", "all together"]];
  for (const {kind, items} of app.archive.runners)
    if (items.length > 1) items.slice(0, 500).forEach((item, at) => options.push([`${kind}:${at}`, `${kind} ${item.what} ${item.place}`]));
  if (options.length === 1) return null;
  if (app.state.on && !options.some(([key]) => key === app.state.on)) options.push([app.state.on, app.runnerOfOn()?.what ?? app.state.on]);
  return selectOf("runner", options, app.state.on, (on) => app.change({on}));
}

export async function renderFlame(app, container) {
  const {archive, state} = app, by = state.by === "function" ? "function" : "loop", sheet = await archive.sheet("source", by, "tree");
  const metrics = metricsOf(app, sheet);
  if (sheet.absent || !metrics.length || archive.metrics[metrics[0]].aggregation !== "sum") {
    fill(container, el("div", {class: "tools"}, chooseMetric(app, sheet)), el("p", {class: "empty"}, "Call paths are drawn by a metric that adds up: this one does not, or the run has none."));
    return;
  }
  const result = sheet.rows("merge", app.focus, metrics), root = boxesOf(result), isFlame = state.sort !== "icicle";
  const [name, place] = state.across ? JSON.parse(state.across) : [];
  const onChoose = (box) => {
    chosen.hidden = box.row < 0;
    if (box.row < 0) return;
    const member = result.rows[box.row].members.length === 1 ? result.rows[box.row].members[0].noun : null;
    const noun = member === null ? null : archive.nouns.noun(member);
    fill(chosen, el("b", {class: "text"}, box.name), " ", el("span", {class: "place"}, box.place ?? ""),
      link("sandwich", () => app.change({across: JSON.stringify([box.name, box.place])}), {title: "all its callers, and all that it called"}),
      noun ? link(app.isChosen(noun.id) ? "leave focus" : "focus", () => app.choose(noun.id), {title: axisOf(noun)}) : null,
      noun?.file && noun.line ? link("source", () => app.openSource(noun.file, noun.line)) : null);
  };
  const chosen = el("p", {class: "chosen-box", hidden: true});
  const pictures = [];
  if (name === undefined) pictures.push(makePicture(app, {root, isFlame, title: isFlame ? "flame graph" : "icicle graph", result, onChoose}));
  else {
    const {callees, callers} = sandwichOf(root, name, place);
    pictures.push(makePicture(app, {root: callers, isFlame: true, title: `callers of ${name}`, result}), makePicture(app, {root: callees, isFlame: false, title: `what ${name} called`, result, onChoose}));
  }
  const tools = el("div", {class: "tools"},
    segments("rows", [["loop", "loops"], ["function", "functions"]], by, (next) => app.change({by: next, shape: "tree"})),
    name === undefined ? segments("direction", [["", "flame"], ["icicle", "icicle"]], isFlame ? "" : "icicle", (sort) => app.change({sort})) : null,
    chooseMetric(app, sheet), chooseRunner(app),
    name === undefined ? null : link("leave the sandwich", () => app.change({across: ""})),
    link("as a table", () => app.change({tab: "costs", by, shape: "tree", sort: ""})), el("span", {}, "save as ", saveLinks("call-paths", () => stacked(pictures))));
  fill(container, tools, chosen,
    name === undefined ? null : el("p", {class: "note"}, `Above, what called it; below, what it called: `, el("b", {}, name), ` ${place}`),
    el("div", {class: "pictures"}, ...pictures.map((p) => p.element)),
    el("p", {class: "foot"}, `${amountText(archive.metrics[result.primary], root.value)} ${metricTitle(archive.metrics[result.primary])} · click to zoom, 0 for all · rule merge${result.rows.some((r) => r.flags & 32) ? " · found by samples: callers may be missing" : ""}`));
  app.tables = pictures;
}
