// A table, or a tree, of any length: only the rows in sight have elements, and these are used again.
//
//     const table = makeTable({label: "costs", columns, onChoose: (i) => ..., isChosen: (i) => ...});
//     table.show({n, parentOf, order}); // order: positions of rows, as they are to stand
//     parent.append(table.element);
//
// A column is {key, title, help, isName, cell(i) -> {text or node, mark, title, share, kind}}. Keys: arrows move
// and open, Home and End, Enter chooses, * opens all below.

import {el, fill} from "./dom.js";

const ROW_PX = 26, SPARE_ROWS = 6, OPEN_AT_FIRST = 40;

export function makeTable({label, columns: firstColumns, onChoose, isChosen, onSort, sortOf, menu, onDraw}) {
  let columns = firstColumns, rows = {n: 0, parentOf: null, order: []};
  let children = null, visible = [], depth = null, at = 0;
  const opened = new Set();
  const head = el("div", {class: "head", role: "row"}), spacer = el("div", {class: "spacer"}), pool = el("div", {class: "pool"});
  const empty = el("p", {class: "empty"});
  const body = el("div", {class: "body", tabindex: "0", role: "rowgroup"}, head, el("div", {class: "fill"}, spacer, pool));
  const element = el("div", {class: "table", role: "treegrid", "aria-label": label}, body, empty);

  const isOpen = (i) => opened.has(rows.keyOf ? rows.keyOf(i) : i);
  const setOpen = (i, open) => opened[open ? "add" : "delete"](rows.keyOf ? rows.keyOf(i) : i);

  function lines() {
    if (!children) return rows.order;
    const out = [], walk = [];
    for (let k = children.top.length - 1; k >= 0; k--) walk.push(children.top[k]);
    while (walk.length) {
      const i = walk.pop();
      out.push(i);
      const below = children.of[i];
      if (below && isOpen(i)) for (let k = below.length - 1; k >= 0; k--) walk.push(below[k]);
    }
    return out;
  }

  function link() {
    if (!rows.parentOf) return null;
    const of = new Array(rows.n), top = [];
    depth = new Uint16Array(rows.n);
    for (const i of rows.order) {
      const up = rows.parentOf(i);
      if (up < 0) top.push(i);
      else (of[up] ??= []).push(i);
    }
    const walk = [...top];
    while (walk.length) {
      const i = walk.pop();
      for (const below of of[i] ?? []) {
        depth[below] = depth[i] + 1;
        walk.push(below);
      }
    }
    return {of, top};
  }

  function drawHead() {
    element.style.setProperty("--columns", columns.map((c) => (c.isName ? "minmax(min(20rem, 48vw), 1fr)" : c.width ?? "7rem")).join(" "));
    fill(head, ...columns.map((c) => {
      const sorted = sortOf?.() === c.key;
      return el("button", {
        type: "button", class: `cell ${c.isName ? "name" : c.text ? "words" : "number"}`, role: "columnheader", title: c.help, "aria-sort": sorted ? "descending" : "none",
        onclick: () => onSort?.(c.key), disabled: !onSort,
      }, c.title, sorted ? " ▾" : "");
    }));
  }

  function drawCell(column, i) {
    const {text = "", mark = "", title, share, kind = "", badges, heat, node} = column.cell(i);
    if (!column.isName) {
      const cell = el("div", {class: `cell ${column.text ? "words" : "number"} ${kind}`, role: "gridcell", title}, mark ? el("span", {class: "mark"}, mark) : null, node ?? text);
      if (share !== undefined && share > 0) cell.append(el("i", {class: "bar", style: {"--share": `${Math.min(100, share)}%`}}));
      return cell;
    }
    const below = children?.of[i];
    return el("div", {class: `cell name ${kind}`, role: "gridcell", title: title ?? text, style: {"--depth": String(depth?.[i] ?? 0), "--heat": heat ? `${Math.round(100 * heat)}%` : "0%"}},
      children ? el("span", {class: "twist", "data-twist": below ? "yes" : null, "aria-hidden": "true"}, below ? (isOpen(i) ? "▾" : "▸") : "") : null,
      el("span", {class: "text"}, text), ...(badges ?? []).map((b) => el("span", {class: "badge", title: b.title}, b.text)));
  }

  function draw() {
    const first = Math.max(0, Math.floor(body.scrollTop / ROW_PX) - SPARE_ROWS);
    const n = Math.min(visible.length - first, Math.ceil((body.clientHeight || 400) / ROW_PX) + 2 * SPARE_ROWS);
    pool.style.transform = `translateY(${first * ROW_PX}px)`;
    const out = [];
    for (let k = 0; k < n; k++) {
      const i = visible[first + k];
      out.push(el("div", {
        class: `row${isChosen?.(i) ? " chosen" : ""}${first + k === at ? " at" : ""}`, role: "row", "data-at": first + k,
        "aria-level": depth ? depth[i] + 1 : null, "aria-expanded": children?.of[i] ? String(isOpen(i)) : null,
        "aria-selected": String(Boolean(isChosen?.(i))),
      }, ...columns.map((c) => drawCell(c, i))));
    }
    pool.replaceChildren(...out);
    onDraw?.();
  }

  function refresh() {
    visible = lines();
    at = Math.min(at, Math.max(0, visible.length - 1));
    spacer.style.height = `${visible.length * ROW_PX}px`;
    empty.hidden = visible.length > 0;
    body.hidden = visible.length === 0;
    element.style.setProperty("--lines", visible.length);
    draw();
  }

  // As many levels as fit, then the way down to what has most.
  function openSome() {
    let level = children.top, shown = level.length;
    for (;;) {
      const next = level.flatMap((i) => children.of[i] ?? []);
      if (!next.length || shown + next.length > OPEN_AT_FIRST) break;
      for (const i of level) if (children.of[i]) setOpen(i, true);
      shown += next.length;
      level = next;
    }
    for (let i = level[0]; i !== undefined && children.of[i]; i = children.of[i][0]) setOpen(i, true);
  }

  function toggle(i, open) {
    setOpen(i, open);
    refresh();
  }

  function openBelow(i) {
    const walk = [i];
    while (walk.length) {
      const next = walk.pop();
      if (children.of[next]) setOpen(next, true);
      walk.push(...(children.of[next] ?? []));
    }
    refresh();
  }

  function moveTo(line) {
    at = Math.max(0, Math.min(visible.length - 1, line));
    const y = at * ROW_PX;
    if (y < body.scrollTop) body.scrollTop = y;
    else if (y + ROW_PX > body.scrollTop + body.clientHeight - head.offsetHeight) body.scrollTop = y + ROW_PX - body.clientHeight + head.offsetHeight;
    draw();
  }

  body.addEventListener("scroll", () => requestAnimationFrame(draw), {passive: true});
  body.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (!row) return;
    at = Number(row.dataset.at);
    if (event.target.dataset.twist) toggle(visible[at], !isOpen(visible[at]));
    else onChoose?.(visible[at], event);
  });
  if (menu)
    body.addEventListener("contextmenu", (event) => {
      const row = event.target.closest(".row");
      if (!row) return;
      event.preventDefault();
      menu(visible[Number(row.dataset.at)], event);
    });
  body.addEventListener("keydown", (event) => {
    const i = visible[at], below = children?.of[i];
    const keys = {
      ArrowDown: () => moveTo(at + 1), ArrowUp: () => moveTo(at - 1), Home: () => moveTo(0), End: () => moveTo(visible.length - 1),
      PageDown: () => moveTo(at + Math.floor(body.clientHeight / ROW_PX)), PageUp: () => moveTo(at - Math.floor(body.clientHeight / ROW_PX)),
      ArrowRight: () => (below && !isOpen(i) ? toggle(i, true) : moveTo(at + 1)),
      ArrowLeft: () => (below && isOpen(i) ? toggle(i, false) : children && rows.parentOf(i) >= 0 ? moveTo(visible.indexOf(rows.parentOf(i))) : null),
      Enter: () => onChoose?.(i, event), " ": () => onChoose?.(i, event), "*": () => children && openBelow(i),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });

  let hasOpened = false;
  return {
    element, draw,
    setColumns(list) { columns = list; drawHead(); },
    show(next, emptyText = "Nothing here has a cost.") {
      rows = next;
      children = link();
      fill(empty, emptyText);
      if (children && !hasOpened && rows.n) {
        hasOpened = true;
        openSome();
      }
      drawHead();
      refresh();
    },
    openAll() { for (const i of rows.order) if (children?.of[i]) setOpen(i, true); refresh(); },
    closeAll() { opened.clear(); refresh(); },
    reveal(i) {
      for (let up = rows.parentOf?.(i) ?? -1; up >= 0; up = rows.parentOf(up)) setOpen(up, true);
      refresh();
      moveTo(visible.indexOf(i));
    },
    // The middle of a row on the screen; null: out of sight.
    yOf(i) {
      const line = visible.indexOf(i), rect = body.getBoundingClientRect(), y = rect.top + head.offsetHeight + line * ROW_PX - body.scrollTop + ROW_PX / 2;
      return line < 0 || y < rect.top + head.offsetHeight || y > rect.bottom ? null : y;
    },
    isAbove: (i) => visible.indexOf(i) * ROW_PX < body.scrollTop,
    center(line, isLazy = false) {
      at = line;
      const y = line * ROW_PX;
      if (isLazy && y >= body.scrollTop && y + 2 * ROW_PX < body.scrollTop + body.clientHeight) return draw();
      body.scrollTop = Math.max(0, line * ROW_PX - body.clientHeight / 2);
      draw();
    },
    visible: () => visible, depthOf: (i) => depth?.[i] ?? 0,
    resize: draw,
  };
}
