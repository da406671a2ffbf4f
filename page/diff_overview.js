// What was compared, whether the whole differs, and what differs most.

import {el, fill, link} from "./dom.js";
import {bigPoints, runsTable} from "./diff_points.js";
import {changeText, differenceText, nameOf, placeOf, sentenceOf, verdictSentence, verdictText} from "./diff_model.js";

const MOST_ROWS = 6;

function sideCard(comparison, side, name) {
  const runs = comparison.flat.runs[side], poor = runs.filter((run) => run.measured_badly);
  return el("section", {class: "card"}, el("h2", {}, name), el("p", {class: "command"}, runs[0].command),
    el("p", {class: "note"}, runs.length > 1 ? `${runs[0].archive} and ${runs.length - 1} more` : runs[0].archive, ` · mode ${runs[0].mode}`),
    poor.length ? el("p", {class: "warning-note"}, `${poor.length} of ${runs.length} measured badly: ${poor[0].measured_badly}`) : null);
}

function topRow(app, row, i) {
  return el("li", {}, el("div", {class: "value"}, `${differenceText(app.comparison, row.difference)} ${app.comparison.unit.name}`),
    el("p", {}, link(nameOf(row), () => app.change({tab: "rows", row: String(i), find: "", verdict: ""}), {class: "link strong"}), " ", el("span", {class: "place"}, placeOf(row)), ` ${changeText(row)} `, el("b", {}, verdictText(row))));
}

export function renderDiffOverview(app, container) {
  const {comparison} = app, {flat, about} = comparison, points = bigPoints(comparison, flat, flat.total, "total"), notes = [...flat.notes];
  if (!about.is_judged) notes.push(about.few_runs);
  app.tables.push(points);
  fill(container, el("section", {class: "hero"}, el("h1", {}, `${about.title}: ${about.is_judged ? verdictText(flat.total) || "no verdict" : changeText(flat.total)}`),
    el("p", {}, sentenceOf(comparison, flat.total, "In all: "), " ", about.is_judged ? verdictSentence(comparison, flat.total) : "")),
  el("div", {class: "cards"}, sideCard(comparison, "a", "A, before"), sideCard(comparison, "b", "B, after")),
  el("section", {class: "card"}, el("h2", {}, "All runs"), points.element, el("details", {}, el("summary", {}, "as a table"), runsTable(comparison, flat, flat.total))),
  notes.length || flat.n_constructs_in_functions ? el("section", {class: "card warnings"}, el("h2", {}, "Notes"), el("ul", {}, ...notes.map((note) => el("li", {}, note)),
    flat.n_constructs_in_functions ? el("li", {class: "remark"}, `${flat.n_builds} builds: of what lies in functions of one name, ${flat.n_matched} of ${flat.n_constructs_in_functions} constructs were found again`) : null)) : null,
  el("section", {class: "card"}, el("h2", {}, "What differs most"), el("ol", {class: "top"}, ...flat.rows.slice(0, MOST_ROWS).map((row, i) => topRow(app, row, i))), link("all rows", () => app.change({tab: "rows"}))));
}
