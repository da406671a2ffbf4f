// The table of costs: any level, any grouping, any metric, under the rule in force.

import {FLAG, ownOf, partsOf, shareOf} from "./model.js";
import {amountText, csvOf, metricTitle, percentText} from "./format.js";
import {columnsOf, linesOf, matching, orderOf, parentIn} from "./columns.js";
import {copyText, el, fill, link, segments, selectOf} from "./dom.js";
import {makeTable} from "./table.js";
import {questionAbout} from "./ask.js";
import {patternOf} from "./model.js";

const RULE_TITLES = {
  merge: "what several constructs share is one row, the set of them",
  closed: "sets that overlap are one row",
  split: "what is shared is divided",
};

export const keyOfEntry = (entry) => `${entry.level}/${entry.by}/${entry.shape}`;

export function chooseSheet(app, filter, onchange) {
  const entries = app.archive.sheets.filter(filter);
  const options = entries.map((e) => [keyOfEntry(e), `${e.level === "source" ? "" : e.level + ": "}${e.shape === "tree" ? "call paths by " + e.by : e.prose}`]);
  const {level, by, shape} = app.state;
  return selectOf("rows", options, `${level}/${by}/${shape}`, (key) => {
    const [newLevel, newBy, newShape] = key.split("/");
    onchange({level: newLevel, by: newBy, shape: newShape, sort: "", row: ""});
  });
}

// The metrics to show: those of the report, or the one that was asked for in front of them.
export function metricsOf(app, sheet) {
  const {archive} = app, asked = archive.metrics.findIndex((m) => m.name === app.state.metric), usual = sheet.metricsFor(app.focus);
  if (asked < 0 || !sheet.metrics.includes(asked)) return usual;
  return asked === usual[0] ? usual : [asked, ...usual.filter((m) => m !== asked)];
}

export function chooseMetric(app, sheet) {
  const {archive} = app;
  if (!sheet.metrics?.length) return null;
  const now = metricsOf(app, sheet)[0];
  return selectOf("metric", sheet.metrics.map((m) => [archive.metrics[m].name, metricTitle(archive.metrics[m])]), archive.metrics[now]?.name ?? "",
    (metric) => app.change({metric, sort: ""}));
}

export function chooseRule(app, sheet) {
  if (!sheet.rules || sheet.rules.length < 2)
    return el("span", {class: "note", title: "Trees have whole paths: what is shared stays together."}, "rule merge");
  return segments("rule", sheet.rules.map((rule) => [rule, rule, RULE_TITLES[rule]]), app.state.rule, (rule) => app.change({rule}));
}

export const ruleOf = (app, sheet) => (sheet.rules.includes(app.state.rule) ? app.state.rule : "merge");

function chooseColumns(app, columns) {
  const hidden = new Set(app.state.columns.split(",").filter(Boolean));
  const list = el("div", {class: "sheetlet"});
  for (const column of columns.filter((c) => !c.isName))
    list.append(el("label", {}, el("input", {type: "checkbox", checked: !hidden.has(column.key), onchange: (event) => {
      hidden[event.target.checked ? "delete" : "add"](column.key);
      app.change({columns: [...hidden].join(",")}, {push: false});
    }}), ` ${column.title}`));
  return el("details", {class: "columns"}, el("summary", {}, "columns"), list);
}

export function shownColumns(app, columns) {
  const hidden = new Set(app.state.columns.split(","));
  return columns.filter((c) => !hidden.has(c.key));
}

function notes(app, result) {
  const {sheet} = result, out = [];
  const unmapped = result.rows.reduce((sum, row, i) => sum + (result.keep[i] && row.flags & FLAG.UNMAPPED ? result.own.get(result.primary)?.[i] ?? 0 : 0), 0);
  const total = result.total.own.get(result.primary) ?? 0;
  if (total && unmapped / total > 0.005 && sheet.level === "Source")
    out.push(el("p", {class: "note"}, `${percentText((100 * unmapped) / total)} % of it maps to nothing in the source: such rows have their own names.`));
  return out;
}

export async function renderCosts(app, container) {
  const {archive, state} = app;
  const entry = archive.entry(state.level, state.by, state.shape) ?? archive.sheets[0];
  const sheet = await archive.open(entry);
  const tools = el("div", {class: "tools"}, chooseSheet(app, (e) => e.shape !== "where", (changes) => app.change(changes)));
  if (sheet.absent) {
    fill(container, tools, el("p", {class: "empty"}, sheet.absent));
    return;
  }
  const result = sheet.rows(ruleOf(app, sheet), app.focus, metricsOf(app, sheet));
  const columns = columnsOf(result, {bounds: state.bounds === "yes"}), shown = shownColumns(app, columns);
  const order = matching(result, orderOf(result, columns, state.sort), state.find);
  const table = makeTable({
    label: `costs: ${entry.prose}`, columns: shown,
    onSort: (sort) => app.change({sort}, {push: false}), sortOf: () => state.sort || "share_pct",
    isChosen: (i) => String(result.rows[i].key) === state.row,
    onChoose: (i) => app.change({row: String(result.rows[i].key)}, {push: false}),
  });
  tools.append(...[
    chooseMetric(app, sheet), chooseRule(app, sheet),
    sheet.isTree ? null : el("label", {class: "check"}, el("input", {type: "checkbox", checked: state.bounds === "yes", onchange: (e) => app.change({bounds: e.target.checked ? "yes" : ""}, {push: false})}), " bounds"),
    chooseColumns(app, columns),
    link("copy as CSV", () => copyText(csvOf(linesOf(result, shown, order)))),
  ].filter(Boolean));
  table.show({n: result.rows.length, order, parentOf: sheet.isTree ? parentIn(result) : null, keyOf: (i) => result.rows[i].key});
  const m = result.primary, total = m === null ? null : result.total.own.get(m);
  const foot = el("p", {class: "foot"}, `${order.length} rows`, m === null ? "" : ` · total ${amountText(archive.metrics[m], total)} ${metricTitle(archive.metrics[m])}`,
    ` · rule ${ruleOf(app, sheet)}`, state.find ? ` · only what matches “${state.find}”` : "");
  const chosen = result.rows.findIndex((row, i) => result.keep[i] && String(row.key) === state.row);
  app.chosenRow = chosen >= 0 ? {result, i: chosen} : null;
  fill(container, tools, ...notes(app, result), el("div", {class: "with-details"}, table.element, chosen >= 0 ? details(app, result, chosen) : null), foot);
  app.tables = [table];
}

const MOST_BARS = 256;

// The row over all nodes, ranks, processes or threads: one routine over all locations.
function barsOf(app, result, i) {
  const {archive} = app, kinds = archive.runners.filter((r) => r.items.length > 1);
  if (!kinds.length || result.primary === null || archive.metrics[result.primary].aggregation !== "sum") return null;
  const kind = kinds.find((r) => r.kind === app.state.axes) ?? kinds.find((r) => r.kind === "rank") ?? kinds[kinds.length - 1];
  const parts = partsOf(result, i, kind.kind), most = parts.reduce((a, b) => Math.max(a, b), 0), metric = archive.metrics[result.primary];
  const n = parts.reduce((count, value) => count + (value > 0 ? 1 : 0), 0);
  const list = el("ol", {class: "short bars"});
  for (let at = 0; at < Math.min(parts.length, MOST_BARS); at++) {
    const item = kind.items[at], name = `${item.what} ${item.place}`.trim();
    list.append(el("li", {style: {"--share": `${most ? (100 * parts[at]) / most : 0}%`}, title: name},
      link(name, () => app.change({on: `${kind.kind}:${at}`}), {title: `only what ${kind.kind} ${name} ran`, class: "link text"}),
      el("span", {class: "value"}, parts[at] ? amountText(metric, parts[at]) : "")));
  }
  return el("section", {}, el("div", {class: "tools"}, el("h3", {}, `Over ${kind.plural}`),
    kinds.length > 1 ? selectOf("by", kinds.map((r) => [r.kind, r.plural]), kind.kind, (axes) => app.change({axes}, {push: false})) : null),
  el("p", {class: "note"}, `${n} of ${parts.length} have a cost${result.sheet.isTree ? ", with all below" : " of its own"}${parts.length > MOST_BARS ? `; the first ${MOST_BARS}` : ""}.`), list);
}

// What is known of a row, and where to go from it.
export function details(app, result, i) {
  const row = result.rows[i], {archive} = app, list = el("dl");
  const add = (term, ...text) => list.append(el("dt", {}, term), el("dd", {}, ...text));
  add("kind", row.kind || "place");
  if (row.place) add("where", row.place);
  for (const m of result.metrics) {
    const own = ownOf(result, i, m);
    if (own.value !== null) add(metricTitle(archive.metrics[m]), (own.isAtLeast ? "≥ " : "") + amountText(archive.metrics[m], own.value) + " own");
  }
  const share = shareOf(result, i);
  if (share.value !== null) add("share", `${share.isUncertain ? "~" : ""}${percentText(share.value)} %`);
  if (row.reasons) add("one because", row.reasons);
  const members = el("ul", {class: "members"});
  for (const member of row.members.slice(0, 50)) {
    const noun = member.noun === null ? null : archive.nouns.noun(member.noun);
    if (!noun) continue;
    const label = noun.name || patternOf(noun);
    members.append(el("li", {},
      link(app.isChosen(noun.id) ? "leave focus" : "focus", () => app.choose(noun.id), {title: `only what happens in it, as --focus '${patternOf(noun)}'`}), " ",
      el("span", {class: "text", title: label}, label),
      link("ask", () => app.change({tab: "ask", ask: questionAbout(noun)}), {title: "all that is done with it, or in it"}),
      noun.file && noun.line && app.openSource ? link("source", () => app.openSource(noun.file, noun.line)) : null));
  }
  const bars = barsOf(app, result, i);
  return el("aside", {class: "details", "aria-label": "chosen row"},
    el("button", {type: "button", class: "close", "aria-label": "close", onclick: () => app.change({row: ""}, {push: false})}, "×"),
    el("h3", {}, row.what), list, members.children.length ? members : null, bars);
}
