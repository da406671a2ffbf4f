// The columns of a result, as cells of a table and as lines of CSV.
//
//     const columns = columnsOf(result, {bounds: true});
//     columns[2].cell(i).text; columns[2].number(i).value;

import {FLAG, boundsOf, callFlagsOf, callsOf, inclusiveOf, ownOf, primaryOf, shareOf, totalOf} from "./model.js";
import {countText, metricTitle, numberText, percentText, unitOfTotal} from "./format.js";
import {byName, finderOf} from "./find.js";

const BADGES = [
  [FLAG.INLINED, "i", "all of it was inlined"],
  [FLAG.MOSTLY_INFERRED, "?", "more than half is inferred: the caller is likely, not certain (of the whole run)"],
  [FLAG.COUNTED, "c", "counted, callers are not known"],
];

const markOf = (n) => (n.value === null ? "" : (n.isAtLeast ? "≥" : "") + (n.isUncertain ? "~" : ""));
function markTitle(n) {
  if (n.value === null) return "not known, or nothing of the kind";
  return [n.isAtLeast && "at least: there may be more", n.isUncertain && "uncertain: few samples, or the cost of measuring is too much of it"]
    .filter(Boolean).join("; ") || null;
}

function badgesOf(result, row) {
  const badges = BADGES.filter(([flag]) => row.flags & flag).map(([, text, title]) => ({text, title}));
  if (result.sheet.isTree && result.sheet.shape === "tree" && row.flags & FLAG.SAMPLED) badges.push({text: "s", title: "found by samples: callers may be missing"});
  if (row.reasons) badges.push({text: row.reasons, title: "why its cost cannot be divided"});
  return badges;
}

// rows that are rows of a set, unmapped and so on
const kindClass = (row) => (row.flags & FLAG.UNMAPPED ? "unmapped" : row.flags & FLAG.SET ? "set" : row.flags & FLAG.NOUN ? "" : "special");

// One unit for a column, by its total; times off the processor have that of the time beside them.
function unitOfColumn(result, m) {
  const {archive, off_cpu} = result.sheet, of = off_cpu.includes(m) && archive.metrics[result.primary]?.unit === "ns" ? result.primary : m;
  return unitOfTotal(archive.metrics[of], result.total.own.get(of));
}

function metricColumn(result, m, which, numberOf) {
  const metric = result.sheet.archive.metrics[m];
  const unit = unitOfColumn(result, m);
  const isPrimary = m === result.primary, name = metricTitle(metric), words = {own: "own", inclusive: "incl.", at_least: "at least", at_most: "at most"};
  const title = [words[which], isPrimary ? "" : name, unit.name].filter(Boolean).join(" ");
  const isBlank = (i, n) => n.value === null || (n.value === 0 && (n.isAtLeast || result.sheet.off_cpu.includes(m)));
  return {
    key: `${which}_${metric.name}`, title,
    help: `${name}: ${metric.description || metric.name}${unit.name || !metric.unit ? "" : `, in ${metric.unit}`}`, number: numberOf, width: `${Math.max(6.5, 1.5 + 0.48 * title.length)}rem`, // so that the unit is in sight
    cell(i) {
      const n = numberOf(i);
      if (isBlank(i, n)) return {title: markTitle(n)};
      return {text: numberText(unit, n.value), mark: markOf(n), title: markTitle(n)};
    },
  };
}

export function columnsOf(result, {bounds = false} = {}) {
  const {sheet, rows} = result, columns = [], {archive} = sheet, flat = !sheet.isTree;
  columns.push({
    key: "what", title: sheet.shape === "tree" ? "call path" : "what", isName: true, text: (i) => rows[i].what,
    cell: (i) => ({text: rows[i].what, kind: kindClass(rows[i]), badges: badgesOf(result, rows[i])}),
  });
  columns.push({key: "place", title: "where", width: "minmax(6rem, 12rem)", text: (i) => rows[i].place, cell: (i) => ({text: rows[i].place, title: rows[i].place})});
  const most = Math.max(1e-9, ...[0], ...topShares(result));
  columns.push({
    key: "share_pct", title: "share %", help: `part of the table's total${flat ? "" : ", with all below"}`, width: "6.5rem", number: (i) => shareOf(result, i),
    cell(i) {
      const n = shareOf(result, i);
      return n.value === null ? {} : {text: percentText(n.value), mark: markOf(n), title: markTitle(n), share: (100 * n.value) / most};
    },
  });
  for (const m of result.metrics) {
    const own = metricColumn(result, m, "own", (i) => ownOf(result, i, m));
    const inclusive = result.inclusive.has(m) && metricColumn(result, m, "inclusive", (i) => inclusiveOf(result, i, m));
    if (flat) columns.push(own);
    if (inclusive && (!flat || !sheet.is_fine)) columns.push(inclusive);
    if (!flat) columns.push(own);
    if (bounds && flat && archive.metrics[m].aggregation === "sum") addBounds(columns, result, m);
  }
  if (sheet.calls !== null && (sheet.shows_calls || (!sheet.is_fine && result.total.calls)))
    columns.push({key: "n_calls", title: "calls", help: "how often a function was called, a loop entered", width: "7rem", number: (i) => callsOf(result, i), cell(i) {
      const n = callsOf(result, i);
      return n.value ? {text: countText(n.value), mark: markOf(n), title: markTitle(n)} : {title: markTitle(n)};
    }});
  if (!sheet.counts_all && (!sheet.is_fine || sheet.shows_calls) && result.total.entries)
    columns.push({key: "n_loop_entries", title: "loop entries", help: "entries of loops inside", width: "7rem", number: (i) => ({value: result.entries[i], isAtLeast: callFlagsOf(result, i) & FLAG.ENTRIES_AT_LEAST && result.entries[i]}),
      cell: (i) => (result.entries[i] ? {text: countText(result.entries[i]), mark: callFlagsOf(result, i) & FLAG.ENTRIES_AT_LEAST ? "≥" : ""} : {})});
  if (sheet.whole) columns.push(...columnsWithoutTimes(result));
  if (sheet.samples !== null && result.total.samples)
    columns.push({key: "n_samples", title: "samples", width: "5.5rem", number: (i) => ({value: result.samples[i]}), cell: (i) => ({text: result.samples[i] ? countText(result.samples[i]) : ""})});
  return columns;
}

// What the run was measured by, and nobody knows how much of it was in the interval: empty, with why.
function columnsWithoutTimes({sheet}) {
  const {whole, archive} = sheet, why = "when it was is not known, so what of it was in the interval is not known either", out = [];
  const add = (key, title) => out.push({key, title, help: why, width: "6.5rem", number: () => ({value: null}), cell: () => ({title: why})});
  for (const m of whole.shownMetrics) if (!sheet.metrics.includes(m)) add(`own_${archive.metrics[m].name}`, metricTitle(archive.metrics[m]));
  if (whole.shows_calls && sheet.calls === null) add("n_calls", "calls");
  return out;
}

function topShares(result) {
  let most = 0;
  for (let i = 0; i < result.rows.length; i++) if (result.keep[i]) most = Math.max(most, primaryOf(result, i));
  const total = totalOf(result);
  return total ? [(100 * most) / total] : [];
}

function addBounds(columns, result, m) {
  const bounds = boundsOf(result.sheet, result.focus, m), {rows} = result;
  const of = (i, which) => {
    const row = rows[i];
    if (!(row.flags & FLAG.NOUN) || (which === "most" && row.flags & FLAG.DATA_AT_LEAST)) return {value: null};
    return {value: bounds.get(row.members[0].group)?.[which] ?? 0};
  };
  columns.push(metricColumn(result, m, "at_least", (i) => of(i, "least")), metricColumn(result, m, "at_most", (i) => of(i, "most")));
}

// Rows in the order of a column; text rises, numbers fall.
export function orderOf(result, columns, sort) {
  const column = columns.find((c) => c.key === sort), order = [];
  for (let i = 0; i < result.rows.length; i++) if (result.keep[i]) order.push(i);
  if (!column || column.key === "share_pct") {
    const other = (i) => result.inclusive.get(result.primary)?.[i] ?? 0;
    return order.sort((a, b) => primaryOf(result, b) - primaryOf(result, a) || other(b) - other(a) || result.calls[b] - result.calls[a] || a - b);
  }
  if (column.text) return order.sort((a, b) => byName.compare(column.text(a), column.text(b)) || a - b);
  return order.sort((a, b) => (column.number(b).value ?? -1) - (column.number(a).value ?? -1) || a - b);
}

// What matches, and in trees what it lies in.
export function matching(result, order, find) {
  const fits = finderOf(find);
  if (!fits) return order;
  const isIn = new Uint8Array(result.rows.length), {indexOf} = result.rule;
  for (const i of order) {
    const row = result.rows[i];
    if (!fits(`${row.flags & FLAG.UNMAPPED ? "[unmapped] " : ""}${row.what} ${row.place}`)) continue;
    for (let at = i; at >= 0 && !isIn[at]; at = result.rows[at].parentId === null ? -1 : indexOf[result.rows[at].parentId]) isIn[at] = 1;
  }
  return order.filter((i) => isIn[i]);
}

export const parentIn = (result) => (i) => {
  const {parentId} = result.rows[i];
  return parentId === null ? -1 : result.rule.indexOf[parentId];
};

export function linesOf(result, columns, order) {
  const head = columns.map((c) => c.key), lines = [["kind", ...head, "incomplete"]];
  for (const i of order) {
    const incomplete = columns.filter((c) => c.number?.(i).isAtLeast).map((c) => c.key).join(" ");
    lines.push([result.rows[i].kind, ...columns.map((c) => (c.text ? c.text(i) : c.number(i).value)), incomplete]);
  }
  return lines;
}
