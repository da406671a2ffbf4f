// Boxes within boxes: flame (what is around below) or icicle (above), drawn by pixels. What is narrower
// than half a pixel is left out. Arrows move, Enter and clicks zoom, 0 shows all.
//
//     const boxes = makeBoxes({root, isFlame, label, styleOf: (box, isDark) => ({color: "red"}), describe: (box) => [box.name]});
//     parent.append(boxes.element);
//     boxes.resize();
//
// A box is {name, value, children}. Its style may have {color, text, isHatched, edge}.

import {el, fill} from "./dom.js";
import {paint} from "./picture.js";

const ROW = 20, LEAST_PX = 0.5, LEAST_TEXT_PX = 28, HATCH_PX = 6;

// [{box, x, width, depth}] of what is at least a part of a pixel wide.
function layOut(root, width) {
  const out = [], walk = (box, x, scale, depth) => {
    const size = box.value * scale;
    if (size < LEAST_PX) return;
    out.push({box, x, width: size, depth});
    let at = x;
    for (const child of box.children) {
      walk(child, at, scale, depth + 1);
      at += child.value * scale;
    }
  };
  if (root.value > 0) walk(root, 0, width / root.value, 0);
  return out;
}

// What is not known: upright stripes, which both pens can draw.
function hatch(pen, x, y, width, color) {
  pen.fillStyle = color;
  for (let at = x + 1; at < x + width - 1; at += HATCH_PX) pen.fillRect(at, y, Math.min(2, x + width - 1 - at), ROW - 1);
}

export function makeBoxes({root, isFlame, label, styleOf, describe, onChoose}) {
  const canvas = el("canvas", {tabindex: "0", role: "application", "aria-label": label}), tip = el("div", {class: "tip", role: "status", hidden: true});
  let boxes = [], zoomed = root, depths = 1, here = null; // here: where the keys are
  const yOf = (depth) => (isFlame ? (depths - 1 - depth) * ROW : depth * ROW);
  function drawWith(pen) {
    const isDark = getComputedStyle(document.documentElement).colorScheme === "dark";
    for (const {box, x, width: size, depth} of boxes) {
      const y = yOf(depth), style = styleOf(box, isDark), drawn = Math.max(size - (size > 3 ? 1 : 0), 0.5);
      pen.fillStyle = style.color;
      pen.fillRect(x, y, drawn, ROW - 1);
      if (style.isHatched) hatch(pen, x, y, drawn, style.hatch);
      if (style.edge && drawn > 3) {
        pen.fillStyle = style.edge;
        for (const at of [x, x + drawn - 2]) pen.fillRect(at, y, 2, ROW - 1);
      }
      if (size < LEAST_TEXT_PX) continue;
      pen.fillStyle = isDark ? "#e8ebf0" : "#1c2330";
      pen.text(style.text ?? box.name, x + 4, y + ROW / 2, 12, size - 7);
    }
    const marked = boxes.find((b) => b.box === here);
    if (!marked) return;
    pen.fillStyle = isDark ? "#e8ebf0" : "#1c2330";
    for (const edge of [0, ROW - 3]) pen.fillRect(marked.x, yOf(marked.depth) + edge, Math.max(2, marked.width - 1), 2);
  }
  const pictureNow = () => ({width: Math.max(50, canvas.parentElement?.clientWidth ?? 800), height: depths * ROW, draw: drawWith});
  function draw() {
    boxes = layOut(zoomed, pictureNow().width);
    depths = boxes.reduce((most, b) => Math.max(most, b.depth + 1), 1);
    paint(canvas, pictureNow(), drawWith);
  }
  const at = (event) => {
    const rect = canvas.getBoundingClientRect(), x = event.clientX - rect.left, y = event.clientY - rect.top;
    return boxes.find((b) => x >= b.x && x < b.x + b.width && y >= yOf(b.depth) && y < yOf(b.depth) + ROW);
  };
  canvas.addEventListener("mousemove", (event) => {
    const hit = at(event);
    tip.hidden = !hit;
    if (!hit) return;
    tell(hit.box, event.clientX, event.clientY);
  });
  function tell(box, x, y) {
    fill(tip, ...describe(box));
    tip.hidden = false;
    tip.style.left = `${Math.max(0, Math.min(x + 12, innerWidth - 320))}px`;
    tip.style.top = `${y + 16}px`;
  }
  canvas.addEventListener("mouseleave", () => { tip.hidden = true; });
  canvas.addEventListener("click", (event) => {
    const hit = at(event);
    if (!hit) return;
    zoomed = hit.box === zoomed ? root : hit.box;
    draw();
    onChoose?.(hit.box);
  });
  // Boxes in sight: what called it, the widest that it called, neighbours.
  function neighbour(key) {
    const now = boxes.find((b) => b.box === here);
    if (!now) return boxes[0];
    const isUp = key === "ArrowUp", level = boxes.filter((b) => b.depth === now.depth), i = level.indexOf(now);
    if (key === "ArrowLeft" || key === "ArrowRight") return level[i + (key === "ArrowLeft" ? -1 : 1)];
    if (isUp !== isFlame) return boxes.find((b) => b.depth === now.depth - 1 && b.x <= now.x && now.x < b.x + b.width);
    return boxes.filter((b) => b.depth === now.depth + 1 && b.x >= now.x && b.x < now.x + now.width).sort((a, b) => b.width - a.width)[0];
  }
  function zoom(box) {
    zoomed = box;
    draw();
  }
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "0") return zoom(root);
    if (event.key === "Enter" && here) return zoom(here === zoomed ? root : here);
    const next = event.key.startsWith("Arrow") ? neighbour(event.key) : null;
    if (event.key.startsWith("Arrow")) event.preventDefault();
    if (!next) return;
    here = next.box;
    draw();
    const rect = canvas.getBoundingClientRect();
    tell(here, rect.left + next.x, rect.top + yOf(next.depth));
    onChoose?.(here);
  });
  canvas.addEventListener("blur", () => { tip.hidden = true; });
  return {element: el("div", {class: "picture"}, canvas, tip), resize: draw, pictureNow, boxes: () => boxes};
}
