// The page of a comparison: its tabs, its address, and the keys.

import {copyText, el, fill, link} from "./dom.js";
import {readAddress, writeAddress} from "./address.js";
import {$, chooseLook, fail, quoted, say} from "./frame.js";
import {openComparison} from "./diff_model.js";
import {renderDiffFlame} from "./diff_flame.js";
import {renderDiffOverview} from "./diff_overview.js";
import {renderDiffRows} from "./diff_rows.js";
import {renderDiffSearch} from "./diff_search.js";

const VIEWS = new Map([
  ["overview", {title: "Overview", key: "1", render: renderDiffOverview}],
  ["rows", {title: "Rows", key: "2", render: renderDiffRows}],
  ["paths", {title: "Call paths", key: "3", render: renderDiffFlame}],
  ["search", {title: "Search", key: "4", render: renderDiffSearch, isOf: ({search}) => search !== null}],
]);
const DEFAULTS = {tab: "overview", find: "", sort: "", verdict: "", row: "", path: "", focus: "", shape: "", direction: "", width: "", color: ""};

function drawTabs(app) {
  fill($("tabs"), ...[...VIEWS].filter(([, view]) => view.isOf?.(app.comparison) ?? true).map(([id, view]) => el("button", {
    type: "button", role: "tab", "aria-selected": String(app.state.tab === id), id: `tab-${id}`, "aria-controls": "view", title: `key ${view.key}`, onclick: () => app.change({tab: id}),
  }, view.title)));
}

// What prints the same.
function commandOf({comparison, state}) {
  const {flat, about} = comparison, paths = (side) => flat.runs[side].map((run) => quoted(run.archive)).join(" ");
  const options = {paths: about.options_of_paths, search: about.options_of_search}[state.tab] ?? about.options_of_rows;
  return `perfmap diff${options} --limit 0 ${paths("a")} -- ${paths("b")}`;
}

function takeKeys(app) {
  addEventListener("resize", () => app.tables.forEach((part) => part.resize()));
  addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "Escape" && isTyping) event.target.blur();
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const view = [...VIEWS].find(([, v]) => v.key === event.key && (v.isOf?.(app.comparison) ?? true));
    if (view) app.change({tab: view[0]});
    else if (event.key === "/") {
      event.preventDefault();
      $("find").focus();
    } else if (event.key === "?") $("help").showModal();
    else if (event.key === "Escape" && (app.state.row || app.state.path || app.state.focus)) app.change({row: "", path: "", focus: ""}, {push: false});
  });
}

function drawFrame(app) {
  const {flat, about} = app.comparison;
  drawTabs(app);
  if ($("find").value !== app.state.find) $("find").value = app.state.find;
  fill($("focus"), el("span", {class: "note"}, `${flat.level} level, ${about.by}, ${about.title}`),
    link("same in the terminal", () => { copyText(commandOf(app)); say(`copied: ${commandOf(app)}`); }, {title: "copies the command"}));
}

function render(app) {
  const view = VIEWS.get(app.state.tab), container = el("div", {class: `view-${app.state.tab}`}), scrolls = [...$("view").querySelectorAll(".body")].map((b) => b.scrollTop);
  app.tables = [];
  drawFrame(app);
  view.render(app, container);
  $("view").replaceChildren(container);
  if (app.lastTab === app.state.tab) [...container.querySelectorAll(".body")].forEach((body, i) => { body.scrollTop = scrolls[i] ?? 0; });
  app.lastTab = app.state.tab;
  app.tables.forEach((table) => table.resize());
  document.documentElement.dataset.ready = String(++app.round);
}

function makeApp(comparison) {
  const read = () => { const state = readAddress(location.hash, DEFAULTS, new Set()); return VIEWS.has(state.tab) ? state : {...state, tab: "overview"}; };
  const draw = () => { try { render(app); } catch (error) { fail(error); } };
  const app = {
    comparison, state: read(), tables: [], round: 0, say, get command() { return commandOf(app); },
    change(changes, {push = true} = {}) {
      app.state = {...app.state, ...changes};
      const address = writeAddress(app.state, DEFAULTS);
      if (address !== location.hash) history[push ? "pushState" : "replaceState"](null, "", address);
      draw();
    },
    // What a picture has chosen: said in the address, and the picture stays.
    show(key, value) {
      app.state[key] = value;
      history.replaceState(null, "", writeAddress(app.state, DEFAULTS));
    },
  };
  for (const event of ["popstate", "hashchange"]) addEventListener(event, () => { app.state = read(); draw(); });
  return {app, draw};
}

async function start() {
  const comparison = await openComparison(), {app, draw} = makeApp(comparison);
  document.title = `${comparison.flat.runs.a[0].command} · PerfMap diff`;
  $("archive").textContent = `${comparison.flat.runs.a[0].archive} → ${comparison.flat.runs.b[0].archive}`;
  globalThis.perfmap = app; // for tests, and for whoever wants to look behind
  let typing;
  $("find").addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => app.change({find: $("find").value}, {push: false}), 120);
  });
  chooseLook();
  $("look").addEventListener("click", draw); // pictures have colours of their own
  takeKeys(app);
  $("keys").addEventListener("click", () => $("help").showModal());
  $("help").addEventListener("click", () => $("help").close());
  draw();
}

start().catch(fail);
