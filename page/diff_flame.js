// The call paths of both sides as one picture: as wide as B's inclusive cost, or A's, and coloured by
// what changed. Each box says the change as an amount with its sign; percent stand beside it only.

import {copyText, el, fill, link, segments} from "./dom.js";
import {makeBoxes} from "./boxes.js";
import {finderOf} from "./find.js";
import {saveLinks} from "./picture.js";
import {makeTable} from "./table.js";
import {changeText, csvOfRows, differenceText, isKnown, isOfOneSide, lineOf, nameOf, placeOf, verdictText} from "./diff_model.js";
import {detailsOf, diffColumns} from "./diff_rows.js";
import {withParents} from "./diff_search.js";

// {root, left: {n, value}}: boxes of the side that is drawn, and what it has nothing of.
function pathsOf(comparison, side) {
  const {rows, total} = comparison.tree, boxes = new Map(), other = side === "a" ? "b" : "a";
  const root = {name: "all", value: 0, children: [], row: total}, left = {n: 0, value: 0, unknown: 0};
  rows.forEach((row, i) => {
    const value = row[side].mean;
    if (!isKnown(value)) left.unknown++;
    else if (!(value > 0)) {
      left.n++;
      left.value += Math.max(0, row[other].own_mean ?? row[other].mean ?? 0);
    }
    if (!(value > 0)) return;
    const box = {name: nameOf(row), value, children: [], row, at: i};
    boxes.set(i, box);
    (boxes.get(row.parent_id) ?? root).children.push(box);
  });
  // Widths of parts may not be more than that of the whole, however they were rounded.
  const settle = (box) => {
    const sum = box.children.reduce((all, child) => all + child.value, 0);
    box.value = Math.max(box.value, sum);
    box.children.sort((x, y) => y.value - x.value);
    box.children.forEach(settle);
  };
  settle(root);
  return {root, left};
}

// Red for more, blue for less, the stronger the larger the change is of the largest. Grey: no
// difference that one can rely on.
function colorOfChange(by, most, isSure, isDark) {
  if (!isKnown(by) || by === 0 || !isSure || !most) return isDark ? "#3a414d" : "#dde1e8";
  const part = Math.sqrt(Math.min(1, Math.abs(by) / most)), hue = by > 0 ? 8 : 212;
  return `hsl(${hue} ${Math.round(35 + 45 * part)}% ${Math.round(isDark ? 24 + 18 * part : 90 - 28 * part)}%)`;
}

function stylist(comparison, {isOwn, fits}) {
  const byOf = (row) => (isOwn && "own_difference" in row ? row.own_difference : row.difference);
  const most = Math.max(0, ...comparison.tree.rows.map((row) => Math.abs(byOf(row) ?? 0)));
  const isSure = (row) => isOwn || !comparison.about.is_judged || ["slower", "faster", "more", "less"].includes(row.verdict);
  return (box, isDark) => {
    const {row} = box, by = byOf(row), isGrey = fits && !fits(`${nameOf(row)} ${placeOf(row)}`);
    const change = changeText(row), text = `${box.name}${box.at === undefined ? "" : lineOf(row)}  ${isKnown(by) ? `${differenceText(comparison, by)} ${comparison.unit.name}` : "not measured"}${change && !isOwn ? ` (${change})` : ""}`;
    return {
      color: isGrey ? (isDark ? "#22262d" : "#f0f1f4") : colorOfChange(by, most, isSure(row), isDark), text: isOfOneSide(row) ? `${row.a.state === "measured" ? "only A: " : "only B: "}${text}` : text,
      isHatched: !isKnown(by), hatch: isDark ? "#7d8796" : "#9aa3b2", edge: isOfOneSide(row) ? (isDark ? "#e4e8ee" : "#1c2330") : null,
    };
  };
}

function describer(comparison) {
  const amount = (side) => (isKnown(side.mean) ? comparison.amountWithUnit(side.mean) : "not measured");
  return ({row}) => [el("b", {}, nameOf(row)), ` ${placeOf(row)} `, `A ${amount(row.a)}, B ${amount(row.b)}: `,
    isKnown(row.difference) ? `${row.difference > 0 ? "+" : ""}${comparison.amountWithUnit(row.difference)}` : "the difference is not known", changeText(row) ? ` (${changeText(row)})` : "",
    isKnown(row.own_difference) ? `, own ${row.own_difference > 0 ? "+" : ""}${comparison.amountWithUnit(row.own_difference)}` : "", verdictText(row) ? `; ${verdictText(row)}` : "", isOfOneSide(row) ? "; one side only" : ""];
}

const pathsWord = (n) => (n === 1 ? "path" : "paths");
const LEGEND = [["more", "B has more"], ["less", "B has less"], ["none", "no difference that one can rely on"], ["hatched", "not measured"], ["edged", "one side only"]];

function tableOf(app, part) {
  const {rows} = part, columns = diffColumns(app.comparison, part);
  const table = makeTable({label: "call paths", columns, isChosen: (i) => String(i) === app.state.path, onChoose: (i) => app.change({path: String(i) === app.state.path ? "" : String(i)}, {push: false})});
  table.show({n: rows.length, parentOf: (i) => rows[i].parent_id ?? -1, order: withParents(rows, finderOf(app.state.find))});
  app.tables.push(table);
  return table.element;
}

function picture(app, side) {
  const {comparison, state} = app, {root, left} = pathsOf(comparison, side), isFlame = state.direction !== "icicle";
  const boxes = makeBoxes({
    root, isFlame, label: "call paths of both sides: arrows move, Enter zooms, 0 shows all; 'as a table' has the same", describe: describer(comparison),
    styleOf: stylist(comparison, {isOwn: state.color === "own", fits: finderOf(state.find)}), onChoose: (box) => { if (box.at !== undefined) app.show("path", String(box.at)); },
  });
  app.tables.push(boxes);
  const name = side.toUpperCase(), other = side === "a" ? "B" : "A";
  const foot = [`as wide as ${name}'s ${comparison.amountWithUnit(root.value)} · click to zoom, 0 for all`];
  if (left.n) foot.push(`only ${other} has ${left.n} ${pathsWord(left.n)}, ${comparison.amountWithUnit(left.value)}: not drawn`);
  if (left.unknown) foot.push(`not measured in ${name}: ${left.unknown} ${pathsWord(left.unknown)}, not drawn`);
  return {boxes, foot};
}

export function renderDiffFlame(app, container) {
  const {comparison, state} = app, part = comparison.tree;
  if (!part) {
    fill(container, el("p", {class: "empty"}, comparison.about.why_no_tree));
    return;
  }
  const side = state.width === "a" ? "a" : "b", isTable = state.shape === "table", drawn = isTable ? null : picture(app, side);
  const chosen = state.path === "" ? null : part.rows[Number(state.path)];
  fill(container, el("div", {class: "tools"},
    segments("shape", [["", "picture"], ["table", "table"]], state.shape, (shape) => app.change({shape})),
    isTable ? null : segments("direction", [["", "flame"], ["icicle", "icicle"]], state.direction, (direction) => app.change({direction})),
    isTable ? null : segments("width", [["", "as wide as B"], ["a", "as wide as A"]], state.width, (width) => app.change({width})),
    isTable || !part.is_inclusive ? null : segments("colour", [["", "change with calls", "of the inclusive cost"], ["own", "own change", "without what it called; has no verdict"]], state.color, (color) => app.change({color})),
    link("copy as CSV", () => { copyText(csvOfRows(part.rows)); app.say("copied"); }), drawn ? el("span", {}, "save as ", saveLinks("difference", () => drawn.boxes.pictureNow())) : null),
  isTable ? null : el("p", {class: "legend"}, ...LEGEND.map(([key, text]) => el("span", {}, el("i", {class: `swatch change-${key}`}), text))),
  el("div", {class: "with-details"}, drawn ? el("div", {class: "pictures"}, drawn.boxes.element) : tableOf(app, part), chosen ? detailsOf(app, part, chosen, () => app.change({path: ""}, {push: false})) : null),
  drawn ? el("p", {class: "foot"}, drawn.foot.join(" · ")) : null);
}
