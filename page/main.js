// The page: its frame, its tabs, the focus that every number follows, and the keys.

import {chunkSource} from "./bytes.js";
import {openArchive, partsOf, patternOf} from "./model.js";
import {axisOf, makeState} from "./state.js";
import {copyText, el, fill, link} from "./dom.js";
import {columnsOf, orderOf} from "./columns.js";
import {renderAsk} from "./ask.js";
import {renderOverview} from "./overview.js";
import {renderCosts} from "./costs.js";
import {renderWhere} from "./where.js";
import {renderSource} from "./source.js";
import {renderFlame} from "./flame.js";
import {renderLevels} from "./levels.js";
import {renderTimeline} from "./timeline.js";
import {renderLocations, spreadOf} from "./locations.js";
import {$, chooseLook, fail, quoted, say} from "./frame.js";
import {commandOfInterval, makeStrip} from "./strip.js";

// Each view is {title, key, render(app, container)}; others may be added here.
const VIEWS = new Map([
  ["overview", {title: "Overview", key: "1", render: renderOverview}],
  ["costs", {title: "Costs", key: "2", render: renderCosts}],
  ["where", {title: "Where", key: "3", render: renderWhere}],
  ["source", {title: "Source", key: "4", render: renderSource}],
  ["flame", {title: "Call paths", key: "5", render: renderFlame}],
  ["levels", {title: "Levels", key: "6", render: renderLevels}],
  ["timeline", {title: "Time line", key: "9", render: renderTimeline, isOf: (archive) => archive.has_trace}],
  ["locations", {title: "Locations", key: "8", render: renderLocations}],
  ["ask", {title: "Ask", key: "7", render: renderAsk}],
]);

// Views that `perfmap report` has, too, and foci that it takes by name: none of machine code.
const PRINTED = new Set(["overview", "costs"]);
const NAMELESS = new Set(["code", "loopcode", "inline", "kernel", "perfmap", "unknown"]);

function hasCommand(app) {
  const {state, archive} = app, runner = app.runnerOfOn();
  const isNamed = (noun) => noun && !NAMELESS.has(noun.kind) && (noun.name || noun.file) && !/[*?[\]\\]/.test(noun.name);
  return PRINTED.has(state.tab) && state.nouns.every((id) => isNamed(archive.nouns.noun(id))) && !runner?.what.startsWith("(no ");
}

// What `perfmap report` takes to print the same.
function commandOf(app) {
  const {state, archive} = app, words = ["perfmap report"];
  if (state.level !== "source") words.push(`--level ${quoted(state.level)}`);
  if (state.tab === "costs") words.push(`--by ${state.by}`);
  if (state.shape === "tree") words.push("--tree");
  else if (state.rule !== "merge") words.push(`--rule ${state.rule}`);
  if (state.metric) words.push(`--metric ${quoted(state.metric)}`);
  for (const id of state.nouns) words.push(`--focus ${quoted(patternOf(archive.nouns.noun(id)))}`);
  const runner = app.runnerOfOn(), kind = state.on.split(":")[0];
  if (runner) words.push(`--on ${quoted(`${kind}:${runner.number ?? runner.name ?? runner.what}`)}`);
  words.push(...commandOfInterval(archive));
  if (state.tab === "costs") words.push("--limit 0");
  words.push(quoted(archive.archive));
  return words.join(" ");
}

function drawFocus(app) {
  const {state, archive} = app, chips = [];
  const chip = (axis, text, leave) => el("span", {class: "chip"}, el("small", {}, axis), el("span", {class: "text", title: text}, text),
    el("button", {type: "button", "aria-label": `leave ${text}`, onclick: leave}, "×"));
  for (const id of state.nouns) {
    const noun = archive.nouns.noun(id);
    if (noun) chips.push(chip(axisOf(noun), noun.name || patternOf(noun), () => app.choose(id)));
  }
  const runner = app.runnerOfOn();
  if (runner) chips.push(chip("Machine", `${state.on.split(":")[0]} ${runner.what} ${runner.place}`, () => app.change({on: ""})));
  fill($("focus"), el("span", {class: "label"}, "focus"), ...(chips.length ? chips : [el("span", {class: "note"}, "everything")]),
    chips.length > 1 ? link("leave all", () => app.change({nouns: [], on: ""})) : null,
    !hasCommand(app) ? null : link("same in the terminal", () => { copyText(commandOf(app)); say(`copied: ${commandOf(app)}`); }, {title: "copies the command"}));
}

function drawTabs(app) {
  fill($("tabs"), ...[...VIEWS].filter(([, view]) => view.isOf?.(app.whole) ?? true).map(([id, view]) => el("button", {
    type: "button", role: "tab", "aria-selected": String(app.state.tab === id), id: `tab-${id}`, "aria-controls": "view", title: `key ${view.key}`,
    onclick: () => app.change({tab: id}),
  }, view.title)));
  $(`tab-${app.state.tab}`)?.scrollIntoView({block: "nearest", inline: "nearest"});
}

function takeKeys(app) {
  addEventListener("resize", () => [...(app.tables ?? []), app.strip].forEach((part) => part.resize()));
  addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "Escape" && isTyping) event.target.blur();
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const view = [...VIEWS].find(([, v]) => v.key === event.key);
    if (view) app.change({tab: view[0]});
    else if (event.key === "/") {
      event.preventDefault();
      $("find").focus();
    } else if (event.key === "?") $("help").showModal();
    else if (event.key === "t") app.strip.focus();
    else if (event.key === "Escape" && (app.state.nouns.length || app.state.on)) app.change({nouns: [], on: ""});
  });
}

async function start() {
  const archive = await openArchive(chunkSource());
  document.title = `${archive.run.command || archive.archive} · PerfMap`;
  $("archive").textContent = archive.archive;
  let round = 0;
  const render = async () => {
    const mine = ++round, view = VIEWS.get(app.state.tab) ?? VIEWS.get("overview");
    app.tables = [];
    app.afterShown = null;
    drawTabs(app);
    if ($("find").value !== app.state.find) $("find").value = app.state.find;
    const container = el("div", {class: `view-${app.state.tab}`});
    try {
      const take = await app.choosePart();
      if (mine !== round) return;
      take();
      drawFocus(app);
      await strip.show();
      await view.render(app, container);
      if (mine !== round) return; // something else was asked for meanwhile
      const scrolls = [...$("view").querySelectorAll(".body")].map((b) => b.scrollTop);
      $("view").replaceChildren(container);
      [...container.querySelectorAll(".body")].forEach((body, i) => { body.scrollTop = app.lastTab === app.state.tab ? scrolls[i] ?? 0 : 0; });
      app.lastTab = app.state.tab;
      app.tables?.forEach((table) => table.resize());
      strip.mark();
      app.afterShown?.();
      document.documentElement.dataset.ready = String(mine);
    } catch (error) {
      fail(error);
    }
  };
  const app = makeState(archive, render);
  const strip = app.strip = makeStrip(app, $("strip"));
  app.say = say;
  app.openSource = (file, line) => app.change({tab: "source", file, line, find: "", row: ""});
  Object.assign(app, {columnsOf, orderOf, partsOf, patternOf, spreadOf});
  globalThis.perfmap = app; // for tests, and for whoever wants to look behind
  let typing;
  $("find").addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => app.change({find: $("find").value}, {push: false}), 120);
  });
  chooseLook();
  takeKeys(app);
  $("keys").addEventListener("click", () => $("help").showModal());
  $("help").addEventListener("click", () => $("help").close());
  await render();
}

start().catch(fail);
