// The source with what its lines cost: heat, brackets around lines that share a cost, and why.

import {ownOf, primaryOf, shareOf} from "./model.js";
import {amountText, metricTitle, numberText, percentText, unitOfTotal} from "./format.js";
import {chooseMetric, chooseRule, details, metricsOf, ruleOf} from "./costs.js";
import {el, fill, selectOf} from "./dom.js";
import {finderOf} from "./find.js";
import {makeTable} from "./table.js";

// Rows of the sheet by line: those of one line, and sets. Members' files and lines are their nouns'.
function placesOf(archive, result) {
  const lines = new Map(), sets = [], files = new Map();
  result.rows.forEach((row, i) => {
    if (!result.keep[i] || !primaryOf(result, i)) return;
    const places = row.members.map((m) => (m.noun === null ? null : archive.nouns.noun(m.noun))).filter((n) => n && n.file && n.line && !n.isData);
    for (const file of new Set(places.map((n) => n.file))) files.set(file, (files.get(file) ?? 0) + primaryOf(result, i));
    if (places.length === 1 && row.members.length === 1) {
      const key = `${places[0].file}:${places[0].line}`;
      if (!lines.has(key)) lines.set(key, []);
      lines.get(key).push(i);
    } else if (places.length) sets.push({i, places});
  });
  return {lines, sets, files};
}

async function textOf(archive, file) {
  const entry = archive.sources.find((s) => s.file === file);
  if (!entry) return {problem: "The archive does not name this file as a source."};
  try {
    const chunk = await archive.source.chunk(entry.chunk);
    const {is_there: isThere, is_changed: isChanged, path} = chunk.directory;
    return isThere ? {lines: chunk.column("lines"), isChanged, path} : {problem: "The source was not found: where the compiler saw it, below the folder of the run, and here."};
  } catch {
    return {problem: "The sources are not in this file: perfmap report --embed-source puts them in, and perfmap view reads them."};
  }
}

// What stands where: each line, and in front of the first line of a set the set.
function listOf(file, text, places) {
  const inFile = places.sets.map(({i, places: of}) => ({i, at: [...new Set(of.filter((n) => n.file === file).map((n) => n.line))].sort((a, b) => a - b), n: of.length}))
    .filter((set) => set.at.length);
  const brackets = new Map(), before = new Map(), withCost = [];
  for (const set of inFile) {
    if (!before.has(set.at[0])) before.set(set.at[0], []);
    before.get(set.at[0]).push(set);
    set.at.forEach((line, k) => brackets.set(line, (brackets.get(line) ?? "") + (k === set.at.length - 1 ? "└" : "├")));
    withCost.push(...set.at);
  }
  for (const key of places.lines.keys()) {
    const at = key.lastIndexOf(":");
    if (key.slice(0, at) === file) withCost.push(Number(key.slice(at + 1)));
  }
  const list = [], all = text.lines ? Array.from({length: Math.max(text.lines.length, ...withCost, 0)}, (_, k) => k + 1) : [...new Set(withCost)].sort((a, b) => a - b);
  for (const line of all) {
    for (const set of before.get(line) ?? []) list.push({set, line});
    list.push({line, rows: places.lines.get(`${file}:${line}`) ?? [], bracket: brackets.get(line) ?? "", text: text.lines?.[line - 1] ?? ""});
  }
  return list;
}

function columnsOfLines(archive, result, list) {
  const m = result.primary, metric = archive.metrics[m], own = result.own.get(m);
  const rowsOf = (k) => (list[k].set ? [list[k].set.i] : list[k].rows);
  const unit = unitOfTotal(metric, result.total.own.get(m));
  const sum = (k) => rowsOf(k).reduce((total, i) => total + own[i], 0);
  const mark = (k, of) => (rowsOf(k).some((i) => of(i).isAtLeast) ? "≥" : "") + (rowsOf(k).some((i) => of(i).isUncertain) ? "~" : "");
  const share = (k) => rowsOf(k).reduce((total, i) => total + (shareOf(result, i).value ?? 0), 0);
  let most = 1e-9;
  list.forEach((_, k) => { most = Math.max(most, share(k)); });
  const isNarrow = innerWidth < 640;
  return [
    {key: "own", title: `own ${unit.name}`, width: isNarrow ? "5.2rem" : "6.5rem", number: sum, cell: (k) => (rowsOf(k).length ? {text: numberText(unit, sum(k)), mark: mark(k, (i) => ownOf(result, i, m))} : {})},
    {key: "share", title: isNarrow ? "%" : "share %", width: isNarrow ? "3.6rem" : "5.5rem", cell: (k) => (rowsOf(k).length ? {text: percentText(share(k)), mark: mark(k, (i) => shareOf(result, i)), share: (100 * share(k)) / most} : {})},
    {key: "line", title: "line", width: isNarrow ? "3rem" : "4.5rem", cell: (k) => (list[k].set ? {} : {text: String(list[k].line)})},
    {key: "bracket", title: "", width: isNarrow ? "1.2rem" : "2.5rem", text: () => "", cell: (k) => ({text: list[k].set ? "┌" : list[k].bracket})},
    {key: "text", title: "source", isName: true, cell(k) {
      const {set, text} = list[k];
      if (!set) return {text, kind: "code", heat: share(k) / most};
      const row = result.rows[set.i];
      return {text: `{${set.at.join(", ")}${set.n > set.at.length ? ", elsewhere" : ""}} ${row.reasons || "one piece of code"}`, kind: "set", heat: share(k) / most};
    }},
  ];
}

export async function renderSource(app, container) {
  const {archive, state} = app, sheet = await archive.sheet("source", "line");
  const metrics = metricsOf(app, sheet), result = sheet.rows(ruleOf(app, sheet), app.focus, metrics);
  if (sheet.absent || !metrics.length) {
    fill(container, el("p", {class: "empty"}, "Nothing is known of lines: that needs samples, and the plugin's facts or debug information."));
    return;
  }
  const places = placesOf(archive, result);
  const files = [...places.files].sort((a, b) => b[1] - a[1]).map(([file]) => file);
  if (state.file && !files.includes(state.file)) files.push(state.file);
  const file = state.file || files[0];
  if (!file) {
    fill(container, el("p", {class: "empty"}, "No line of the source has a cost here."));
    return;
  }
  const text = await textOf(archive, file), list = listOf(file, text, places), columns = columnsOfLines(archive, result, list);
  const short = (name) => (files.filter((f) => f.endsWith(`/${name.replace(/^.*\//, "")}`)).length > 1 ? name : name.replace(/^.*\//, ""));
  const fits = finderOf(state.find);
  const order = list.map((_, k) => k).filter((k) => !fits || list[k].set || fits(list[k].text));
  let chosen = null;
  const aside = el("div", {class: "with-details"});
  const table = makeTable({
    label: file, columns, isChosen: (k) => list[k].line === state.line && !list[k].set || k === chosen,
    onChoose(k) {
      chosen = k;
      const i = list[k].set ? list[k].set.i : list[k].rows[0];
      app.change({line: list[k].line, row: i === undefined ? "" : String(result.rows[i].key)}, {push: false});
    },
  });
  table.show({n: list.length, order, parentOf: null}, "No line of this file has a cost within the focus.");
  const total = result.total.own.get(result.primary), here = places.files.get(file) ?? 0;
  const row = result.rows.findIndex((r, i) => result.keep[i] && String(r.key) === state.row);
  aside.append(table.element, ...(row >= 0 ? [details(app, result, row)] : []));
  fill(container,
    el("div", {class: "tools"}, selectOf("file", files.map((f) => [f, short(f)]), file, (next) => app.change({file: next, line: 0, row: ""})), chooseMetric(app, sheet), chooseRule(app, sheet)),
    text.problem ? el("p", {class: "note"}, text.problem) : null,
    text.isChanged ? el("p", {class: "card warnings bad"}, `${text.path} was changed after the run: lines may be others than those that were measured.`) : null,
    aside, el("p", {class: "foot"}, `${file} · ${amountText(archive.metrics[result.primary], here)} of ${amountText(archive.metrics[result.primary], total)} ${metricTitle(archive.metrics[result.primary])} · rule ${ruleOf(app, sheet)}`));
  // The line that was asked for, else the hottest one.
  app.afterShown = () => {
    const wanted = state.line ? order.findIndex((k) => list[k].line === state.line) : order.reduce((best, k, at) => (columns[0].number(k) > (best < 0 ? 0 : columns[0].number(order[best])) ? at : best), -1);
    if (wanted >= 0) table.center(wanted);
  };
  app.tables = [table];
}
