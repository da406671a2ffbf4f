// The rows of a comparison, with their verdicts, and each row with its runs.

import {el, fill, link, selectOf, copyText} from "./dom.js";
import {byName, finderOf} from "./find.js";
import {makeTable} from "./table.js";
import {bigPoints, runsTable, smallPoints} from "./diff_points.js";
import {changeText, csvOfRows, differenceText, intervalText, isKnown, isOfOneSide, marksOf, nameOf, placeOf, sentenceOf, sideText, verdictSentence, verdictText} from "./diff_model.js";

const NARROW_PX = 640; // as in style.css

const toneOf = (row) => (row.verdict === "slower" || row.verdict === "more" ? "worse" : row.verdict === "faster" || row.verdict === "less" ? "better" : "");

export function diffColumns(comparison, part) {
  const rows = part.rows, unit = comparison.unit.name, of = (word) => `${word}${unit ? ` ${unit}` : ""}`;
  const side = (key) => ({
    key, title: of(key.toUpperCase()), help: `the mean over the runs of ${key.toUpperCase()}, as measured`, width: "6.5rem", number: (i) => rows[i][key].mean,
    cell: (i) => ({text: sideText(comparison, rows[i][key]), title: [rows[i][key].state, marksOf(rows[i][key]) && "at least, or uncertain"].filter(Boolean).join(", ")}),
  });
  const columns = [
    {key: "what", title: part.is_tree ? "call path" : part.foci ? "part" : "what", isName: true, text: (i) => nameOf(rows[i]), cell: (i) => ({text: nameOf(rows[i]), kind: isOfOneSide(rows[i]) ? "one-side" : "", badges: badgesOf(rows[i])})},
    side("a"), side("b"),
    {key: "difference", title: of("Δ"), help: "B less A", width: "6.5rem", number: (i) => (isKnown(rows[i].difference) ? Math.abs(rows[i].difference) : null), cell: (i) => ({text: differenceText(comparison, rows[i].difference), kind: toneOf(rows[i])})},
    {key: "change_pct", title: "change", help: "of A", width: "5.5rem", number: (i) => rows[i].change_pct, cell: (i) => ({text: changeText(rows[i])})},
    {key: "points", title: "runs", help: "A above, B below: each run, its mean, and the 95 % interval", width: "9rem", cell: (i) => smallPoints(comparison, part, rows[i])},
  ];
  if (part.is_inclusive) columns.push({key: "own_difference", title: of("Δ own"), help: "B less A, without what it called", width: "6.5rem", number: (i) => Math.abs(rows[i].own_difference ?? 0), cell: (i) => ({text: differenceText(comparison, rows[i].own_difference)})});
  if (comparison.about.is_judged)
    columns.push({key: "low_pct", title: "95 % interval", help: "of the change", width: "12rem", number: (i) => rows[i].low_pct, cell: (i) => ({text: intervalText(rows[i])})},
      {key: "verdict", title: "verdict", width: "10rem", text: (i) => rows[i].verdict ?? "", cell: (i) => ({text: verdictText(rows[i]), title: verdictSentence(comparison, rows[i]), kind: toneOf(rows[i])})});
  if (innerWidth <= NARROW_PX) columns.splice(1, 0, ...columns.splice(3, 2)); // what differs is in sight
  columns.push({key: "where", title: "where", help: "in A → in B", width: "minmax(8rem, 16rem)", text: (i) => placeOf(rows[i]), cell: (i) => ({text: placeOf(rows[i]), title: placeOf(rows[i])})});
  return columns;
}

function badgesOf(row) {
  const badges = [];
  if (row.a.state === "no such construct") badges.push({text: "only B", title: "A's build has no such construct"});
  if (row.b.state === "no such construct") badges.push({text: "only A", title: "B's build has no such construct"});
  if (row.is_compensating) badges.push({text: "±", title: "its parts make up for each other"});
  return badges;
}

// Numbers fall, text rises; "-" before the key turns that. What is not known comes last.
export function diffOrder(columns, order, sort) {
  const isTurned = sort.startsWith("-"), column = columns.find((c) => c.key === sort.replace(/^-/, ""));
  if (!column?.number && !column?.text) return order;
  const value = (i) => (column.text ? column.text(i) : column.number(i)), turn = isTurned ? -1 : 1;
  const isNone = (i) => !isKnown(value(i)) || value(i) === "";
  return [...order].sort((x, y) => isNone(x) - isNone(y) || turn * (column.text ? byName.compare(value(x), value(y)) : value(y) - value(x)) || x - y);
}

export const nextSort = (sort, key) => (sort === key ? `-${key}` : key);

// All that is known of a row.
export function detailsOf(app, part, row, close) {
  const {comparison} = app, points = bigPoints(comparison, part, row, "runs");
  app.tables.push(points);
  return el("aside", {class: "details", "aria-label": "details"}, close ? el("button", {type: "button", class: "close", "aria-label": "close", onclick: close}, "×") : null,
    el("h3", {}, nameOf(row)), el("p", {class: "note"}, placeOf(row)), el("p", {}, sentenceOf(comparison, row, part.is_inclusive && row !== part.total ? "With what it called: " : "")),
    isKnown(row.own_difference) ? el("p", {}, `By itself: ${differenceText(comparison, row.own_difference)} ${comparison.unit.name}, without a verdict.`) : null,
    el("p", {class: toneOf(row)}, verdictSentence(comparison, row)), points.element, runsTable(comparison, part, row));
}

const FILTERS = [["", "all"], ["differs", "differ"], ["slower", "slower"], ["faster", "faster"], ["more", "more"], ["less", "less"], ["cannot tell", "cannot tell"], ["same", "same"], ["undefined", "undefined"], ["one", "on one side only"]];

function passes(row, verdict) {
  if (verdict === "one") return isOfOneSide(row);
  if (verdict === "differs") return toneOf(row) !== "";
  return !verdict || row.verdict === verdict;
}

function filterOf(app, rows) {
  const isThere = ([key]) => key === "" || rows.some((row) => passes(row, key));
  return selectOf("verdict", FILTERS.filter((f) => isThere(f) || f[0] === app.state.verdict), app.state.verdict, (verdict) => app.change({verdict}));
}

export function renderDiffRows(app, container) {
  const {comparison, state} = app, part = comparison.flat, columns = diffColumns(comparison, part), fits = finderOf(state.find);
  const all = part.rows.map((_, i) => i).filter((i) => passes(part.rows[i], state.verdict) && (!fits || fits(`${nameOf(part.rows[i])} ${placeOf(part.rows[i])}`)));
  const order = diffOrder(columns, all, state.sort), chosen = state.row === "" ? null : part.rows[Number(state.row)];
  const table = makeTable({
    label: "rows", columns, isChosen: (i) => String(i) === state.row, onChoose: (i) => app.change({row: String(i) === state.row ? "" : String(i)}, {push: false}),
    sortOf: () => state.sort.replace(/^-/, ""), onSort: (key) => key !== "points" && app.change({sort: nextSort(state.sort, key)}),
  });
  table.show({n: part.rows.length, parentOf: null, order}, "No row is like that.");
  app.tables.push(table);
  fill(container, el("div", {class: "tools"}, filterOf(app, part.rows), state.sort ? link("in the order of differences", () => app.change({sort: ""})) : null,
    link("copy as CSV", () => { copyText(csvOfRows(order.map((i) => part.rows[i]))); app.say("copied"); })),
  el("div", {class: "with-details"}, table.element, chosen ? detailsOf(app, part, chosen, () => app.change({row: ""}, {push: false})) : null),
  el("p", {class: "foot"}, `${order.length} of ${part.rows.length} rows · total ${sideText(comparison, part.total.a)} → ${sideText(comparison, part.total.b)} ${comparison.unit.name}, ${differenceText(comparison, part.total.difference)} ${comparison.unit.name} ${changeText(part.total)}`));
}
