// Two levels side by side, linked by their mappings: a row chosen on one side lights up what
// implements it, or what it implements, on the other, with its share. Edges end at the rows in sight;
// those out of sight are counted at the edge.

import {keyOfEntry, metricsOf} from "./costs.js";
import {amountText, metricTitle, numberText, percentText, unitOfTotal} from "./format.js";
import {matching, orderOf, parentIn} from "./columns.js";
import {el, fill, selectOf} from "./dom.js";
import {makeTable} from "./table.js";
import {patternOf} from "./model.js";

const SIDES = {left: "source/array/flat", right: "base/loop/flat"};

// One side: all its rows, and what each has of the other side's choice.
async function makeSide(app, key, chosen) {
  const {archive} = app, entry = archive.sheets.find((e) => keyOfEntry(e) === key) ?? archive.sheets[0], sheet = await archive.open(entry);
  if (sheet.absent) return {entry, absent: sheet.absent};
  // Both sides have one metric, or their shares could not be compared.
  const metrics = metricsOf(app, sheet).slice(0, 1), all = sheet.rows("merge", app.focus, metrics), m = all.primary;
  const within = chosen === null ? null : sheet.rows("merge", {...app.focus, nouns: [...app.focus.nouns, [chosen]]}, metrics);
  return {entry, sheet, all, m, within, nounOf: (i) => (all.rows[i].members.length === 1 ? all.rows[i].members[0].noun : null)};
}

const amountOf = (side, result, i) => (side.sheet.isTree ? result.inclusive : result.own).get(side.m)[i];

function tableOf(app, side, {isChooser, chosen, onlyMatches, onChoose, onDraw}) {
  const {all, within, m} = side, metric = app.archive.metrics[m];
  const lit = (i) => (within && !isChooser ? amountOf(side, within, i) : 0), total = within ? within.total.own.get(m) : 0;
  const most = all.rows.reduce((largest, _, i) => Math.max(largest, amountOf(side, all, i)), 0), unit = unitOfTotal(metric, all.total.own.get(m));
  let order = matching(all, orderOf(all, [], ""), app.state.find);
  if (within && !isChooser && onlyMatches) order = order.filter((i) => lit(i) > 0);
  const columns = [
    {key: "what", title: side.entry.prose, isName: true, cell: (i) => ({text: all.rows[i].what, title: `${all.rows[i].what} ${all.rows[i].place}`, kind: within && !isChooser && !lit(i) ? "special" : all.rows[i].flags & 2048 ? "set" : ""})},
    {key: "own", title: `${side.sheet.isTree ? "incl." : "own"} ${unit.name}`, width: "5.5rem", cell: (i) => ({text: amountOf(side, all, i) ? numberText(unit, amountOf(side, all, i)) : ""})},
  ];
  if (within && !isChooser)
    columns.push({key: "lit", title: "of chosen %", width: "6rem", cell: (i) => (lit(i) ? {text: percentText(total ? (100 * lit(i)) / total : 0), share: total ? (100 * lit(i)) / total : 0} : {})});
  const table = makeTable({label: `${side.entry.level}: ${side.entry.prose}`, columns, onDraw,
    isChosen: (i) => (isChooser ? chosen !== null && side.nounOf(i) === chosen : lit(i) > 0), onChoose: (i) => onChoose(side.nounOf(i))});
  table.show({n: all.rows.length, order, parentOf: side.sheet.isTree ? parentIn(all) : null, keyOf: (i) => i}, within && !isChooser ? "Nothing of this level has to do with it." : undefined);
  return {table, lit, total};
}

// From the chosen row to those in sight that are lit; widths by cost.
function drawEdges(svg, from, to, isFromLeft, counts) {
  const box = svg.getBoundingClientRect(), lines = [];
  const yOf = (table, i) => {
    const y = table.yOf(i);
    return y === null ? null : y - box.top;
  };
  const start = from.chosen >= 0 ? yOf(from.table, from.chosen) : null;
  let above = 0, below = 0;
  if (start !== null)
    for (const i of to.table.visible()) {
      const amount = to.lit(i), y = amount > 0 ? yOf(to.table, i) : null;
      if (amount <= 0) continue;
      if (y === null) {
        if (to.table.isAbove(i)) above++;
        else below++;
        continue;
      }
      lines.push([y, Math.max(1, Math.min(12, (14 * amount) / (to.total || 1)))]);
    }
  const [x1, x2] = isFromLeft ? [0, box.width] : [box.width, 0];
  svg.replaceChildren(...lines.slice(0, 300).map(([y, width]) => {
    const path = document.createElementNS(svg.namespaceURI, "path");
    path.setAttribute("d", `M${x1},${start} C${box.width / 2},${start} ${box.width / 2},${y} ${x2},${y}`);
    path.setAttribute("stroke-width", width.toFixed(1));
    return path;
  }));
  fill(counts.above, above ? `↑ ${above} more` : "");
  fill(counts.below, below ? `↓ ${below} more` : "");
  counts.above.hidden = !above;
  counts.below.hidden = !below;
}

export async function renderLevels(app, container) {
  const {archive, state} = app, [leftKey, rightKey, chosenText, fromText, onlyText] = (state.axes.includes("|") ? state.axes : `${SIDES.left}|${SIDES.right}||left|`).split("|");
  const chosen = chosenText ? Number(chosenText) : null, isFromLeft = fromText !== "right", onlyMatches = onlyText === "only";
  const change = (changes) => {
    const next = {leftKey, rightKey, chosen: chosenText, from: fromText, only: onlyText, ...changes};
    app.change({axes: [next.leftKey, next.rightKey, next.chosen, next.from, next.only].join("|")}, {push: false});
  };
  const [left, right] = await Promise.all([makeSide(app, leftKey, chosen), makeSide(app, rightKey, chosen)]);
  const options = archive.sheets.filter((e) => e.shape !== "where" || e.by !== "machine").map((e) => [keyOfEntry(e), `${e.level}: ${e.shape === "tree" ? "call paths by " + e.by : e.prose}`]);
  const svg = document.getElementById("edges").cloneNode(), counts = {above: el("button", {type: "button", class: "link", hidden: true}), below: el("button", {type: "button", class: "link", hidden: true})};
  svg.removeAttribute("id");
  svg.removeAttribute("hidden");
  const made = {}, draw = () => {
    const from = isFromLeft ? made.left : made.right, to = isFromLeft ? made.right : made.left;
    if (from && to && chosen !== null) drawEdges(svg, from, to, isFromLeft, counts);
  };
  for (const [name, side] of [["left", left], ["right", right]]) {
    if (side.absent) continue;
    const isChooser = (name === "left") === isFromLeft;
    const one = tableOf(app, side, {isChooser, chosen, onlyMatches, onDraw: () => requestAnimationFrame(draw),
      onChoose: (noun) => (noun === null || !archive.nouns.noun(noun) ? app.say("This row stands for several constructs, or none: choose another one.") : change({chosen: noun === chosen ? "" : noun, from: name}))});
    made[name] = {...one, chosen: side.all.rows.findIndex((_, i) => chosen !== null && side.nounOf(i) === chosen)};
  }
  const panel = (name, side, key) => el("section", {class: "axis"}, selectOf(name === "left" ? "this level" : "that level", options, keyOfEntry(side.entry), (next) => change({[key]: next, chosen: ""})),
    side.absent ? el("p", {class: "empty"}, side.absent) : made[name].table.element);
  const to = isFromLeft ? made.right : made.left;
  const step = (down) => {
    const next = to?.table.visible().filter((i) => to.lit(i) > 0 && to.table.yOf(i) === null && to.table.isAbove(i) !== down);
    if (next?.length) to.table.center(to.table.visible().indexOf(down ? next[0] : next[next.length - 1]));
  };
  counts.above.onclick = () => step(false);
  counts.below.onclick = () => step(true);
  const noun = chosen === null ? null : archive.nouns.noun(chosen), m = left.m ?? right.m;
  fill(container,
    el("div", {class: "tools"}, noun ? el("span", {}, "linked to ", el("b", {}, noun.name || patternOf(noun)), to ? ` · ${amountText(archive.metrics[m], to.total)} ${metricTitle(archive.metrics[m])}` : "") : el("span", {class: "note"}, "Choose a row: what it is mapped to lights up on the other side, with its share."),
      el("label", {class: "check"}, el("input", {type: "checkbox", checked: onlyMatches, onchange: (e) => change({only: e.target.checked ? "only" : ""})}), " only matches"),
      el("span", {class: "note"}, "rule merge")),
    el("div", {class: "levels"}, panel("left", left, "leftKey"), el("div", {class: "edges"}, counts.above, svg, counts.below), panel("right", right, "rightKey")));
  app.tables = [made.left?.table, made.right?.table].filter(Boolean);
  app.afterShown = () => {
    if (made.left && isFromLeft && made.left.chosen >= 0) made.left.table.center(made.left.table.visible().indexOf(made.left.chosen), true);
    if (made.right && !isFromLeft && made.right.chosen >= 0) made.right.table.center(made.right.table.visible().indexOf(made.right.chosen), true);
    draw();
  };
}
