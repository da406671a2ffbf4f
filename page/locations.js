// One construct over all locations (nodes, ranks, processes, threads), as a histogram and as bars, and
// all constructs of one location beside their average over all of them.

import {ownOf, partsOf, primaryOf} from "./model.js";
import {amountText, countText, csvOf, metricTitle, numberText, percentText, unitOfTotal} from "./format.js";
import {orderOf} from "./columns.js";
import {chooseMetric, chooseRule, chooseSheet, metricsOf, ruleOf} from "./costs.js";
import {copyText, el, fill, link, selectOf} from "./dom.js";
import {makeTable} from "./table.js";
import {colorOfStyle, paint, saveLinks} from "./picture.js";

const MOST_ROWS = 300, CHART_PX = 120, CHART_FOOT_PX = 16, CHART_HEAD_PX = 14, LEAST_BINS = 4, MOST_BINS = 24;

// What is no rank, or nobody knows where it ran, is no location.
const locationsOf = (kind, parts) => parts.filter((_, at) => !kind.items[at].what.startsWith("("));

// As --axis has it: a location that has nothing of it counts as 0.
export function spreadOf(kind, all) {
  const parts = locationsOf(kind, all), sum = parts.reduce((a, b) => a + b, 0), most = parts.reduce((a, b) => Math.max(a, b), 0), least = parts.reduce((a, b) => Math.min(a, b), Infinity);
  return {least, most, average: sum / parts.length, imbalance_pct: sum > 0 ? 100 * ((most * parts.length) / sum - 1) : 0, n: parts.length, nWith: parts.reduce((n, value) => n + (value > 0 ? 1 : 0), 0)};
}

// How many locations have a cost of each size.
function binsOf(parts, {most}) {
  const n = Math.max(LEAST_BINS, Math.min(MOST_BINS, Math.ceil(2 * Math.sqrt(parts.length)))), bins = new Array(n).fill(0);
  for (const value of parts) bins[Math.min(n - 1, Math.floor((value / (most || 1)) * n))]++;
  return bins;
}

function makeHistogram(metric, kind, all, name) {
  const canvas = el("canvas", {role: "img", "aria-label": `histogram of ${name} over locations; the table beside has the numbers`}), spread = spreadOf(kind, all), bins = binsOf(locationsOf(kind, all), spread), tallest = Math.max(...bins);
  const width = () => Math.max(200, canvas.parentElement?.clientWidth ?? 400);
  const draw = (pen) => {
    const all = width(), step = all / bins.length, room = CHART_PX - CHART_FOOT_PX - CHART_HEAD_PX, ink = colorOfStyle("--soft");
    bins.forEach((count, i) => {
      const height = (count / tallest) * room;
      pen.fillStyle = colorOfStyle("--bar");
      if (count) pen.fillRect(i * step + 1, CHART_HEAD_PX + room - Math.max(1, height), step - 2, Math.max(1, height));
      pen.fillStyle = ink;
      if (count) pen.text(countText(count), i * step + step / 2 - 4, CHART_HEAD_PX + room - height - 7, 10);
    });
    const x = spread.most ? (spread.average / spread.most) * all : 0;
    pen.fillStyle = colorOfStyle("--accent");
    pen.fillRect(Math.min(all - 1.5, x), 2, 1.5, CHART_PX - CHART_FOOT_PX);
    pen.fillStyle = ink;
    pen.text("0", 2, CHART_PX - CHART_FOOT_PX / 2, 10);
    pen.text(amountText(metric, spread.most), all - 60, CHART_PX - CHART_FOOT_PX / 2, 10);
    pen.text(`average ${amountText(metric, spread.average)}`, Math.min(x + 4, all - 110), 7, 10);
  };
  return {element: el("div", {class: "picture"}, canvas), pictureNow: () => ({width: width(), height: CHART_PX, draw}), resize: () => paint(canvas, {width: width(), height: CHART_PX}, draw), spread};
}

function barTable(label, columns, values, n, more) {
  const table = makeTable({label, columns, ...more});
  table.show({n, order: Array.from({length: n}, (_, i) => i).sort((a, b) => values(b) - values(a) || a - b), parentOf: null});
  return table;
}

// The chosen construct over locations.
function oneConstruct(app, result, i, kind) {
  const {archive, state} = app, m = result.primary, metric = archive.metrics[m], parts = partsOf(result, i, kind.kind), histogram = makeHistogram(metric, kind, parts, result.rows[i].what), {spread} = histogram;
  const unit = unitOfTotal(metric, result.total.own.get(m)), nameOf = (at) => `${kind.items[at].what} ${kind.items[at].place}`.trim();
  const columns = [
    {key: "what", title: kind.kind, isName: true, text: nameOf, cell: (at) => ({text: nameOf(at)})},
    {key: "cost", title: `${metricTitle(metric)} ${unit.name}`, width: "9rem", number: (at) => ({value: parts[at]}), cell: (at) => (parts[at] ? {text: numberText(unit, parts[at]), share: spread.most ? (100 * parts[at]) / spread.most : 0} : {})},
    {key: "of_average", title: "of average", width: "7rem", number: (at) => ({value: parts[at] / spread.average}), cell: (at) => (parts[at] ? {text: `${(parts[at] / spread.average).toFixed(2)} ×`} : {})},
  ];
  const table = barTable(`${result.rows[i].what} over ${kind.plural}`, columns, (at) => parts[at], parts.length, {
    isChosen: (at) => state.at === `${kind.kind}:${at}`, onChoose: (at) => app.change({at: state.at === `${kind.kind}:${at}` ? "" : `${kind.kind}:${at}`}, {push: false}),
  });
  const lines = () => [[kind.kind, `own_${metric.name}`], ...parts.map((value, at) => [nameOf(at), Math.round(value)])];
  app.tables.push(table, histogram);
  return el("section", {class: "axis"}, el("h2", {class: "text"}, result.rows[i].what, el("span", {class: "note"}, ` ${result.rows[i].place}`)),
    el("p", {class: "note"}, `min ${amountText(metric, spread.least)}, average ${amountText(metric, spread.average)}, max ${amountText(metric, spread.most)}, imbalance ${percentText(spread.imbalance_pct)} %; ${countText(spread.nWith)} of ${countText(spread.n)} ${kind.plural} have a cost`),
    histogram.element, el("div", {class: "tools"}, el("span", {}, "save as ", saveLinks("histogram", histogram.pictureNow)), link("copy as CSV", () => copyText(csvOf(lines()))), el("span", {class: "note"}, `Choose one of the ${kind.plural}: all that it did is beside.`)),
    table.element);
}

// All constructs of one location, and their average over all.
function oneLocation(app, sheet, result, kind, at) {
  const {archive} = app, m = result.primary, metric = archive.metrics[m], of = archive.runnerOf(kind.kind), n = kind.items.length;
  const alone = sheet.rows(ruleOf(app, sheet), {...app.focus, threads: Uint8Array.from(of, (runner) => (runner === at ? 1 : 0))}, [m]);
  const order = orderOf(result, [], "").filter((i) => result.own.get(m)[i] || alone.own.get(m)[i]), unit = unitOfTotal(metric, alone.total.own.get(m)), most = order.reduce((a, i) => Math.max(a, alone.own.get(m)[i]), 0);
  const average = (i) => result.own.get(m)[i] / n, own = (i) => ownOf(alone, i, m);
  const columns = [
    {key: "what", title: "what", isName: true, text: (i) => result.rows[i].what, cell: (i) => ({text: result.rows[i].what, title: result.rows[i].place})},
    {key: "own", title: `here ${unit.name}`, width: "8rem", number: own, cell: (i) => { const number = own(i); return number.value ? {text: numberText(unit, number.value), mark: number.isAtLeast ? "≥" : "", share: most ? (100 * number.value) / most : 0} : {}; }},
    {key: "average", title: `average ${unit.name}`, width: "7rem", number: (i) => ({value: average(i)}), cell: (i) => (average(i) ? {text: numberText(unit, average(i))} : {})},
  ];
  const table = makeTable({label: `all of one ${kind.kind}`, columns, onChoose: (i) => app.change({row: String(result.rows[i].key)}, {push: false}), isChosen: (i) => String(result.rows[i].key) === app.state.row});
  table.show({n: result.rows.length, order: order.sort((a, b) => alone.own.get(m)[b] - alone.own.get(m)[a] || a - b), parentOf: null, keyOf: (i) => result.rows[i].key});
  app.tables.push(table);
  const item = kind.items[at], lines = () => [["what", "where", `own_${metric.name}`, "average"], ...order.map((i) => [result.rows[i].what, result.rows[i].place, own(i).value, average(i)])];
  return el("section", {class: "axis"}, el("h2", {class: "text"}, `${kind.kind} ${item.what} ${item.place}`),
    el("div", {class: "tools"}, link("only what it ran, everywhere", () => app.change({tab: "costs", on: `${kind.kind}:${at}`})), link("copy as CSV", () => copyText(csvOf(lines()))), el("span", {class: "note"}, `average: over all ${n} ${kind.plural}`)), table.element);
}

function chooseRow(app, result, order, chosen) {
  const options = order.slice(0, MOST_ROWS).map((i) => [String(result.rows[i].key), `${result.rows[i].what} ${result.rows[i].place}`]);
  if (!options.some(([key]) => key === String(result.rows[chosen].key))) options.push([String(result.rows[chosen].key), result.rows[chosen].what]);
  return selectOf("construct", options, String(result.rows[chosen].key), (row) => app.change({row}, {push: false}));
}

export async function renderLocations(app, container) {
  const {archive, state} = app, kinds = archive.runners.filter((r) => r.items.length > 1);
  if (!kinds.length) {
    fill(container, el("p", {class: "empty"}, "One process with one thread ran: there is nothing to compare."));
    return;
  }
  const entry = archive.entry(state.level, state.by, "flat") ?? archive.sheets[0], sheet = await archive.open(entry);
  const tools = el("div", {class: "tools"}, chooseSheet(app, (e) => e.shape === "flat", (changes) => app.change(changes)));
  if (sheet.absent) {
    fill(container, tools, el("p", {class: "empty"}, sheet.absent));
    return;
  }
  const metrics = metricsOf(app, sheet), isSum = metrics.length && archive.metrics[metrics[0]].aggregation === "sum";
  const result = isSum ? sheet.rows(ruleOf(app, sheet), app.focus, metrics) : null;
  const order = result ? orderOf(result, [], "").filter((i) => primaryOf(result, i) > 0) : [];
  if (metrics.length) tools.append(chooseMetric(app, sheet), chooseRule(app, sheet));
  if (!order.length) {
    fill(container, tools, el("p", {class: "empty"}, "Nothing here has a cost that adds up over locations."));
    return;
  }
  const [asked, text] = state.at.split(":"), kind = kinds.find((r) => r.kind === (state.axes || asked)) ?? kinds.find((r) => r.kind === "rank") ?? kinds[kinds.length - 1];
  const chosen = order.find((i) => String(result.rows[i].key) === state.row) ?? order[0], at = asked === kind.kind && Number(text) < kind.items.length ? Number(text) : -1;
  app.chosenRow = {result, i: chosen};
  tools.append(kinds.length > 1 ? selectOf("over", kinds.map((r) => [r.kind, r.plural]), kind.kind, (axes) => app.change({axes, at: ""}, {push: false})) : "", chooseRow(app, result, order, chosen));
  app.tables = [];
  const left = oneConstruct(app, result, chosen, kind), right = at >= 0 ? oneLocation(app, sheet, result, kind, at) : null;
  fill(container, tools, el("div", {class: "axes"}, left, right ?? ""));
}
