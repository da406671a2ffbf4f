// What a newcomer wants to know first: what ran, how long, what measuring cost, where the time went.

import {FLAG, callsOf, inclusiveOf, ownOf, primaryOf, shareOf} from "./model.js";
import {amountText, countText, metricTitle, percentText} from "./format.js";
import {el, fill, link} from "./dom.js";
import {orderOf} from "./columns.js";

const MOST_COSTLY = 5;

function figure(value, text, title) {
  return el("div", {class: "figure", title}, el("b", {}, value), el("span", {}, text));
}

function figures(archive) {
  const {run} = archive, time = {kind: "time"}, out = [], known = (n) => n !== null && n !== undefined;
  if (known(run.wall_ns)) out.push(figure(amountText(time, run.wall_ns), "from start to end"));
  if (known(run.user_cpu_ns)) out.push(figure(amountText(time, run.user_cpu_ns + (run.system_cpu_ns ?? 0)), "CPU time, user and system"));
  if (run.n_processes > 1) out.push(figure(countText(run.n_processes), "processes"));
  if (run.n_threads > 1) out.push(figure(countText(run.n_threads), "threads"));
  if (run.n_samples) out.push(figure(countText(run.n_samples), "samples"));
  // In the words of the report, with their marks: "at least 1.4 %".
  const slowDown = run.facts.map((fact) => /slow-down (.*?\d %)/.exec(fact.text)?.[1]).find(Boolean);
  out.push(slowDown ? figure(slowDown, "slow-down by measuring", "CPU time that measuring added, in percent of the program's own") : figure("not known", "cost of measuring"));
  return el("div", {class: "figures"}, ...out);
}

// "relax in heat.c:10 takes 43.7 % of the CPU time, 1.00 s, in 300 000 calls."
function sentence(app, result, i) {
  const {archive} = app, row = result.rows[i], m = result.primary, share = shareOf(result, i), calls = callsOf(result, i);
  const own = m === null ? null : ownOf(result, i, m), all = m === null ? null : inclusiveOf(result, i, m), metric = archive.metrics[m];
  const mark = (n) => (n.isAtLeast ? "at least " : n.isUncertain ? "about " : "");
  const parts = [];
  if (share.value !== null) parts.push(`has ${mark(share)}${percentText(share.value)} % of the ${m === null ? "calls" : metricTitle(metric)}`);
  if (own && own.value !== null) parts.push(`${mark(own)}${amountText(metric, own.value)} of its own`);
  if (all && all.value !== null && all.value > (own.value ?? 0) * 1.005) parts.push(`${mark(all)}${amountText(metric, all.value)} with what it called`);
  if (calls.value) parts.push(`${mark(calls)}${countText(calls.value)} ${row.kind === "loop" ? "entries" : "calls"}`);
  const noun = row.members.length === 1 && row.members[0].noun !== null ? archive.nouns.noun(row.members[0].noun) : null;
  return el("li", {},
    el("div", {class: "share", title: `${percentText(share.value ?? 0)} %`, style: {"--share": `${share.value ?? 0}%`}}),
    el("p", {},
      link(row.what, () => app.change({tab: "costs", level: "source", by: "loop", shape: "flat", row: String(row.key), sort: "", find: ""}), {class: "link strong"}),
      row.place ? el("span", {class: "place"}, ` ${row.place} `) : " ", parts.join(", ") + ".",
      row.reasons ? ` Its parts cannot be told apart: ${row.reasons}.` : "",
      noun ? el("span", {class: "more"}, " ", link("focus on it", () => app.change({tab: "where", nouns: [noun.id]}))) : null));
}

function warnings(archive) {
  const list = archive.run.facts.filter((f) => ["warning", "bad end", "more runs", "modes", "measuring", "preempted"].includes(f.kind));
  return list.map((f) => el("li", {class: f.kind === "warning" || f.kind === "bad end" ? "warning" : "remark"}, f.text));
}

async function shortList(app, title, entry, open) {
  const {archive} = app;
  if (!entry) return null;
  const sheet = await archive.open(entry);
  if (sheet.absent || !sheet.shownMetrics.length) return null;
  const result = sheet.rows("merge", app.focus, sheet.metricsFor(app.focus)), order = orderOf(result, [], "").filter((i) => primaryOf(result, i) > 0);
  if (!order.length) return null;
  const metric = archive.metrics[result.primary];
  return el("section", {class: "card"}, el("h2", {}, title), el("ol", {class: "short"}, ...order.slice(0, 6).map((i) => {
    const share = shareOf(result, i);
    return el("li", {style: {"--share": `${share.value ?? 0}%`}, title: result.rows[i].place}, el("span", {class: "text"}, result.rows[i].what),
      el("span", {class: "value"}, `${share.isUncertain ? "~" : ""}${percentText(share.value ?? 0)} %`), el("span", {class: "value"}, amountText(metric, primaryOf(result, i))));
  })), link(`all ${order.length}`, open));
}

export async function renderOverview(app, container) {
  const {archive} = app, sheet = await archive.sheet("source", "loop");
  const result = sheet.rows("merge", app.focus, sheet.metricsFor(app.focus));
  const order = orderOf(result, [], "").filter((i) => primaryOf(result, i) > 0);
  const top = order.filter((i) => !(result.rows[i].flags & (FLAG.UNMAPPED | FLAG.OUTSIDE)) && result.rows[i].members.some((m) => m.noun !== null));
  const unmapped = order.filter((i) => result.rows[i].flags & FLAG.UNMAPPED), total = result.primary === null ? 0 : result.total.own.get(result.primary);
  const lost = unmapped.reduce((sum, i) => sum + primaryOf(result, i), 0);
  const list = warnings(archive);
  const go = (changes) => () => app.change({tab: "costs", level: "source", shape: "flat", sort: "", row: "", find: "", ...changes});
  // The lists below need sheets of their own: they come when these are there.
  const cards = el("div", {class: "cards"});
  app.pending = Promise.all([
    shortList(app, "Files", archive.entry("source", "file", "flat"), go({by: "file"})),
    shortList(app, "Data", archive.entry("source", "array", "flat"), go({by: "array"})),
    ...archive.sheets.filter((e) => e.shape === "flat" && !["source", "base"].includes(e.level.toLowerCase())).slice(0, 3)
      .map((e) => shortList(app, `Level ${e.level}`, e, go({level: e.level, by: e.by}))),
  ]).then((lists) => fill(cards, ...lists));
  fill(container,
    el("section", {class: "hero"}, el("h1", {}, archive.run.command || archive.run.name || archive.archive), el("p", {class: "note"},
      [archive.run.host && `on ${archive.run.host}`, archive.run.start_realtime_ns && new Date(archive.run.start_realtime_ns / 1e6).toISOString().replace("T", " ").slice(0, 19) + " UTC",
        archive.run.mode && `mode ${archive.run.mode}`].filter(Boolean).join(" · ")), figures(archive), archive.interval ? el("p", {class: "note"}, "of the whole run") : null),
    list.length ? el("section", {class: `card warnings${list.some((li) => li.className === "warning") ? " bad" : ""}`}, el("h2", {}, archive.interval ? "To know first, of the whole run" : "To know first"), el("ul", {}, ...list)) : null,
    el("section", {class: "card"}, el("h2", {}, `What cost most${app.focus.nouns.length || app.focus.threads ? ", within the focus" : ""}${archive.interval ? ", in the interval" : ""}`),
      top.length ? el("ol", {class: "top"}, ...top.slice(0, MOST_COSTLY).map((i) => sentence(app, result, i))) : el("p", {class: "note"}, "No construct of the source has a cost."),
      el("p", {class: "note"}, total && lost ? `${percentText((100 * lost) / total)} % of it could not be mapped to the source (${countText(unmapped.length)} names). ` : total ? "Nothing is unmapped. " : "",
        link("all constructs", go({by: "loop"})), total && lost ? " · " : "", total && lost ? link("what is unmapped", go({by: "loop", find: "[unmapped]"})) : "")),
    cards);
}
