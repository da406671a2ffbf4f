// A comparison of two sides, as `perfmap diff --json` has it: the rows, the call tree, and what a
// search found. Here are the words for its numbers, which are those of cmd/show/diff.c.
//
//     const comparison = await openComparison();
//     comparison.flat.rows[0].difference; comparison.amount(1e6); sentenceOf(comparison, row);

import {embeddedText} from "./bytes.js";
import {csvOf, numberText, unitOfTotal} from "./format.js";

export async function openComparison() {
  const about = await embeddedText("chunk", 0), part = async (name) => (about[name] === null ? null : embeddedText("chunk", about[name]));
  const flat = await part("flat"), tree = await part("tree"), search = await part("search");
  const metric = {name: flat.metric, unit: flat.unit, kind: about.kind};
  const unit = unitOfTotal(metric, Math.max(flat.total.a.mean ?? 0, flat.total.b.mean ?? 0));
  const amount = (value) => (value === null ? "" : numberText(unit, value));
  return {about, flat, tree, search, unit, amount, amountWithUnit: (value) => amount(value) + (unit.name ? `\u00a0${unit.name}` : "")};
}

export const isKnown = (value) => value !== null && value !== undefined;
const signed = (text, value) => (value > 0 && !text.startsWith("<") ? `+${text}` : text);

export const marksOf = (side) => (side.is_at_least ? "≥" : "") + (side.is_uncertain ? "~" : "");

// Has one side only costs of it?
export const isOfOneSide = (row) => (row.a.state === "measured") !== (row.b.state === "measured");

// "-" for a construct that the build does not have; nothing where nothing was measured.
export function sideText(comparison, side) {
  if (side.state === "no such construct") return "-";
  return marksOf(side) + comparison.amount(side.mean);
}

export const differenceText = (comparison, value) => (isKnown(value) ? signed(comparison.amount(value), value) : "");

export function percentOfChange(value) {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(1)} %`;
}

export function changeText(row) {
  if (row.a.state === "no such construct") return "new";
  if (row.b.state === "no such construct") return "gone";
  return isKnown(row.change_pct) ? percentOfChange(row.change_pct) : "";
}

export const intervalText = (row) => (isKnown(row.low_pct) && isKnown(row.high_pct) ? `${percentOfChange(row.low_pct)} to ${percentOfChange(row.high_pct)}` : "");

export function verdictText(row) {
  const seen = row.would_have_been_seen_pct;
  return row.verdict === "cannot tell" && isKnown(seen) ? `cannot tell (< ${Math.ceil(seen)} %)` : row.verdict ?? "";
}

// "heat.c:22 → :27", and one place where both are equal.
export function placeOf(row) {
  const a = row.a.where, b = row.b.where;
  if (!a || !b || a === b) return a || b || "";
  const line = b.lastIndexOf(":");
  return `${a} → ${line > 0 && !b.startsWith("{") && a.startsWith(b.slice(0, line + 1)) ? b.slice(line) : b}`;
}

// "relax, ~ sweep before": it was renamed, likely. "...; A: apart": B has it as one set, A has its members apart.
export const nameOf = (row) => row.what + (row.was ? `, ${row.is_likely ? "~ " : ""}${row.was} before` : "") + (row.joined ? `; ${row.joined}` : "");

// " :21" of the place that B has, where it has one.
export function lineOf(row) {
  const place = row.b.where ?? row.a.where ?? "", line = place.startsWith("{") ? -1 : place.lastIndexOf(":");
  return line < 0 ? "" : ` ${place.slice(line)}`;
}

// "B has 45.745 ms more than A: 187.347 ms for 141.602 ms, +32.3 % (95 %: +25.1 % to +39.2 %)."
export function sentenceOf(comparison, row, before = "") {
  const amount = comparison.amountWithUnit, by = row.difference;
  if (!isKnown(by)) return `${before}The difference is not known, for it was not measured in some run.`;
  const [a, b] = [row.a, row.b].map((side) => (side.state === "no such construct" ? "no such construct" : marksOf(side) + amount(side.mean)));
  const change = isKnown(row.change_pct) ? `, ${percentOfChange(row.change_pct)}` : "", interval = intervalText(row);
  const how = by === 0 ? "has as much as A" : `has ${amount(Math.abs(by))} ${by > 0 ? "more" : "less"} than A`;
  return `${before}B ${how}: ${b} for ${a}${change}${interval ? ` (95 %: ${interval})` : ""}.`;
}

// What the verdict says, in words.
export function verdictSentence(comparison, row) {
  const {least_pct, is_judged, few_runs} = comparison.about, seen = row.would_have_been_seen_pct;
  if (!is_judged) return `${few_runs[0].toUpperCase()}${few_runs.slice(1)}.`;
  if (row.verdict === "cannot tell")
    return `Nobody can tell whether it differs${isKnown(seen) ? `: a change of ${Math.ceil(seen)} % would have been found in 4 of 5 such comparisons` : ""}. More runs see smaller changes.`;
  if (row.verdict === "same") return `The same, within ${least_pct} %.`;
  if (row.verdict === "undefined" || !row.verdict) return row.reason ? `No verdict: ${row.reason}.` : "No verdict.";
  return `${row.verdict[0].toUpperCase()}${row.verdict.slice(1)}: that is no noise.`;
}

// Of each run of a side: what it has, as measured and as it is compared; null: nothing was measured,
// or the build has no such construct.
export function runsOf(comparison, part, row, side) {
  const isScaled = row !== part.total && part.is_scaled, isThere = row[side].state !== "no such construct";
  return part.runs[side].map((run, i) => {
    const value = isThere ? row[side].values[i] ?? null : null;
    return {...run, value, compared: value === null ? null : value / (isScaled ? run.speed : 1)};
  });
}

const CSV = ["a_where", "b_where", "a_state", "b_state", "a", "b", "difference", "change_pct", "low_pct", "high_pct", "would_have_been_seen_pct", "p", "verdict", "reason", "was"];

// The columns of `perfmap diff --csv`.
export function csvOfRows(rows) {
  const fields = (row) => ({...row, a_where: row.a.where, b_where: row.b.where, a_state: row.a.state, b_state: row.b.state, a: row.a.mean, b: row.b.mean});
  const isTree = rows.some((row) => "parent_id" in row), isInclusive = rows.some((row) => "own_difference" in row);
  const head = [...(isTree ? ["id", "parent_id"] : []), "what", ...CSV, ...(isInclusive ? ["a_own", "b_own", "own_difference"] : [])];
  return csvOf([head, ...rows.map((row) => { const of = {...fields(row), a_own: row.a.own_mean, b_own: row.b.own_mean}; return head.map((key) => of[key]); })]);
}
