// The runs of both sides as points on one axis, A above B: the mean of each, and the 95 % interval of
// the change, as what B may have. What was not measured in a run has no point.

import {el} from "./dom.js";
import {paint, colorOfStyle, saveLinks} from "./picture.js";
import {isKnown, runsOf} from "./diff_model.js";

const DOT_PX = 5, LANE_PX = 11;

function pointsOf(comparison, part, row) {
  const sides = ["a", "b"].map((side) => runsOf(comparison, part, row, side).map((run) => run.compared).filter(isKnown));
  const means = ["a", "b"].map((side) => (row[side].state === "no such construct" ? null : part.is_scaled && row !== part.total ? row[side].scaled_mean : row[side].mean));
  const band = isKnown(row.low_pct) && isKnown(row.high_pct) && isKnown(means[0]) ? [row.low_pct, row.high_pct].map((pct) => means[0] * (1 + pct / 100)) : null;
  const all = [...sides.flat(), ...means.filter(isKnown)];
  return {sides, means, band, least: Math.min(...all), most: Math.max(...all), isEmpty: all.length === 0};
}

// Text only where there is room for an axis.
function drawPoints(pen, {sides, means, band, least, most, isEmpty}, {width, top, scale, colors, hasNames}) {
  const left = hasNames ? 16 : 4, room = width - left - 8, xOf = (value) => left + (most > least ? ((value - least) / (most - least)) * room : room / 2);
  if (isEmpty) return;
  if (band) {
    pen.fillStyle = colors.band;
    const [from, to] = band.map((value) => Math.max(0, Math.min(width, xOf(value)))); // it may reach far beyond the runs
    pen.fillRect(from, top + LANE_PX * scale, Math.max(2, to - from), LANE_PX * scale);
  }
  sides.forEach((values, side) => {
    const y = top + (side + 0.5) * LANE_PX * scale, size = DOT_PX + (scale > 1 ? 2 : 0);
    if (hasNames) {
      pen.fillStyle = colors.ink;
      pen.text("AB"[side], 2, y, 11);
    }
    pen.fillStyle = colors.sides[side];
    for (const value of values) pen.fillRect(xOf(value) - size / 2, y - size / 2, size, size);
    if (!isKnown(means[side])) return;
    pen.fillStyle = colors.ink;
    pen.fillRect(xOf(means[side]) - 1, y - (LANE_PX * scale) / 2 + 1, 2, LANE_PX * scale - 2);
  });
}

const colorsNow = () => ({sides: [colorOfStyle("--side-a"), colorOfStyle("--side-b")], ink: colorOfStyle("--ink"), soft: colorOfStyle("--soft"), band: colorOfStyle("--band")});

const whyNone = (side) => (side.state === "no such construct" ? "no such construct" : "not measured");

const wordsOf = (comparison, part, row) => ["a", "b"].map((side, i) => {
  const runs = runsOf(comparison, part, row, side), unknown = runs.filter((run) => !isKnown(run.value)).length;
  return `${"AB"[i]}: ${runs.filter((run) => isKnown(run.value)).map((run) => comparison.amountWithUnit(run.value)).join(", ") || "no run"}${unknown ? `; ${whyNone(row[side])} in ${unknown}` : ""}`;
}).join("\n");

// In a cell of a table: without names, as high as a row.
export function smallPoints(comparison, part, row) {
  const canvas = el("canvas", {class: "points", role: "img", "aria-label": wordsOf(comparison, part, row)}), points = pointsOf(comparison, part, row);
  paint(canvas, {width: 132, height: 24}, (pen) => drawPoints(pen, points, {width: 132, top: 1, scale: 1, colors: colorsNow(), hasNames: false}));
  return {node: canvas, title: wordsOf(comparison, part, row)};
}

// Alone, with its axis, links that save it, and the same as a table.
export function bigPoints(comparison, part, row, name) {
  const canvas = el("canvas", {role: "img", "aria-label": wordsOf(comparison, part, row)}), points = pointsOf(comparison, part, row), height = 76;
  const holder = el("div", {class: "points-big"}, canvas);
  const draw = (width) => (pen) => {
    const colors = colorsNow();
    drawPoints(pen, points, {width, top: 2, scale: 2.4, colors, hasNames: true});
    if (points.isEmpty) return;
    pen.fillStyle = colors.soft;
    pen.fillRect(16, height - 18, width - 24, 1);
    pen.text(comparison.amountWithUnit(points.least), 16, height - 8, 11);
    const text = comparison.amountWithUnit(points.most);
    pen.text(text, Math.max(0, width - 8 - 6.2 * text.length), height - 8, 11);
  };
  const pictureNow = () => { const width = Math.max(180, Math.min(640, holder.clientWidth || 280)); return {width, height, draw: draw(width)}; };
  const resize = () => { const picture = pictureNow(); paint(canvas, picture, picture.draw); };
  const about = part.is_scaled && row !== part.total ? "Each run, divided by its speed. " : "Each run. ";
  holder.append(el("p", {class: "note"}, about, "The line is the mean", points.band ? ", the band the 95 % interval of the change" : "", ". Save as ", saveLinks(name, pictureNow)));
  return {element: holder, resize};
}

export function runsTable(comparison, part, row) {
  const body = ["a", "b"].flatMap((side, i) => runsOf(comparison, part, row, side).map((run) => el("tr", {},
    el("td", {}, "AB"[i]), el("td", {title: run.archive}, run.archive), el("td", {class: "number"}, isKnown(run.value) ? comparison.amountWithUnit(run.value) : whyNone(row[side])),
    part.is_scaled ? el("td", {class: "number"}, run.speed.toFixed(3)) : null)));
  return el("table", {class: "plain"}, el("thead", {}, el("tr", {}, el("th", {}, "side"), el("th", {}, "run"), el("th", {}, "has"), part.is_scaled ? el("th", {title: "its times are divided by this"}, "speed") : null)), el("tbody", {}, ...body));
}
