// Where axes side by side. A node chosen in each makes the focus; the numbers of an axis follow what
// is chosen in the others.

import {columnsOf, matching, orderOf, parentIn} from "./columns.js";
import {chooseMetric, metricsOf} from "./costs.js";
import {el, fill} from "./dom.js";
import {makeTable} from "./table.js";
import {axisOf} from "./state.js";

const AXES = {machine: "Machine", code: "Code", data: "Data", mpi: "MPI", sync: "SyncObject"};
const RUNNERS = new Set(["node", "rank", "process", "thread"]);

// Machine: which threads a place has.
function runnerOf(archive, result, i) {
  const row = result.rows[i];
  if (!RUNNERS.has(row.kind)) return null;
  const {node, rows, indexOf} = result.rule;
  for (let t = 0; t < node.length; t++)
    for (let at = node[t] - 1; at >= 0; at = rows[indexOf[at]]?.parentId ?? -1)
      if (at === row.id) return `${row.kind}:${archive.runnerOf(row.kind)[t]}`;
  return null;
}

async function axisPanel(app, entry) {
  const {archive, state} = app, title = AXES[entry.by] ?? entry.level, sheet = await archive.open(entry);
  if (sheet.absent) return null;
  const result = sheet.rows("merge", app.focusBut(title), metricsOf(app, sheet));
  const columns = columnsOf(result).filter((c) => c.isName || c.key === "share_pct" || c.key === `inclusive_${archive.metrics[result.primary]?.name}` || c.key === `own_${archive.metrics[result.primary]?.name}`);
  const order = matching(result, orderOf(result, columns, ""), state.find);
  const nounOf = (i) => (result.rows[i].members.length === 1 ? result.rows[i].members[0].noun : null);
  const isMachine = title === "Machine";
  const table = makeTable({
    label: title, columns,
    isChosen: (i) => (isMachine ? Boolean(state.on) && runnerOf(archive, result, i) === state.on : nounOf(i) !== null && app.isChosen(nounOf(i))),
    onChoose(i) {
      if (isMachine) {
        const on = runnerOf(archive, result, i);
        if (on) app.change({on: on === state.on ? "" : on});
      } else if (nounOf(i) !== null && archive.nouns.noun(nounOf(i))) app.choose(nounOf(i));
      else app.say("This place stands for several constructs, or none: choose one below it.");
    },
  });
  table.show({n: result.rows.length, order, parentOf: parentIn(result), keyOf: (i) => result.rows[i].key}, "Nothing of this axis has a cost within what the other axes choose.");
  const chosen = state.nouns.map((id) => archive.nouns.noun(id)).find((noun) => noun && axisOf(noun) === title);
  app.tables.push(table);
  return el("section", {class: "axis", "data-axis": title},
    el("h2", {}, title, " ", el("span", {class: "note"}, isMachine ? (state.on ? "one chosen" : "all") : chosen ? "one chosen" : "all")), table.element);
}

export async function renderWhere(app, container) {
  const {archive} = app;
  const first = await archive.sheet("source", "code", "where");
  const panels = await Promise.all(archive.sheets.filter((e) => e.shape === "where").map((e) => axisPanel(app, e)));
  fill(container,
    el("div", {class: "tools"}, first.absent ? null : chooseMetric(app, first),
      el("span", {class: "note"}, "Choose one node in each axis: every number follows. Each cost is at one place of an axis.")),
    el("div", {class: "axes"}, ...panels));
}
