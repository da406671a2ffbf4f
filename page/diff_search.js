// The parts that differ, as `perfmap diff --search` found them: a tree.

import {copyText, el, fill, link} from "./dom.js";
import {finderOf} from "./find.js";
import {csvOfRows, nameOf, placeOf} from "./diff_model.js";
import {makeTable} from "./table.js";
import {detailsOf, diffColumns} from "./diff_rows.js";

// What fits, and what it lies in.
export function withParents(rows, fits) {
  const isIn = new Uint8Array(rows.length);
  rows.forEach((row, i) => { if (!fits || fits(`${nameOf(row)} ${placeOf(row)}`)) for (let at = i; at !== null && !isIn[at]; at = rows[at].parent_id) isIn[at] = 1; });
  return rows.map((_, i) => i).filter((i) => isIn[i]);
}

export function renderDiffSearch(app, container) {
  const {comparison, state} = app, {search} = comparison, part = {...search, rows: search.foci}, rows = part.rows;
  const chosen = state.focus === "" ? null : rows[Number(state.focus)];
  const table = makeTable({label: "parts", columns: diffColumns(comparison, part), isChosen: (i) => String(i) === state.focus, onChoose: (i) => app.change({focus: String(i) === state.focus ? "" : String(i)}, {push: false})});
  table.show({n: rows.length, parentOf: (i) => rows[i].parent_id ?? -1, order: withParents(rows, finderOf(state.find))}, "No part differs.");
  app.tables.push(table);
  fill(container, el("div", {class: "tools"}, el("span", {}, `${search.n_failed} of ${Math.max(0, search.n_looked_at - 1)} parts differ`), link("copy as CSV", () => { copyText(csvOfRows(rows)); app.say("copied"); })),
    el("div", {class: "with-details"}, table.element, chosen ? detailsOf(app, part, chosen, () => app.change({focus: ""}, {push: false})) : null),
    el("p", {class: "foot"}, `along ${search.hierarchies.join(", ")}; no part of ${search.n_pruned} others can reach the threshold${search.n_folded ? `; ${search.n_folded} differ for a part that is listed` : ""}${search.n_not_looked_at ? `; ${search.n_not_looked_at} were not looked at` : ""}`));
}
