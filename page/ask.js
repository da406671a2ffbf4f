// Questions, asked of the server: answers as `perfmap ask` prints them, and ways to go on while one is
// typed. A file has no answers: the page says how to get them.

import {ask} from "./bytes.js";
import {copyText, el, fill, link} from "./dom.js";
import {patternOf} from "./model.js";

const MOST_WAYS = 12, KEPT = 20, EXAMPLES = 3;

const intervalPath = ({interval}) => (interval ? `/${interval.from}-${interval.to}` : "");

export const questionAbout = (noun) => `{${patternOf(noun)} ?}`;

// What was asked, newest first: kept while the page is open.
const answers = [];

// Examples of what may be asked: all that was done with what cost most, of code and of data.
async function examplesOf(app) {
  const out = [];
  for (const by of ["array", "function"]) {
    const sheet = await app.whole.sheet("source", by);
    if (sheet.absent || !sheet.shownMetrics.length) continue;
    const result = sheet.rows("merge", {nouns: [], threads: null}, sheet.shownMetrics.slice(0, 1)), order = app.orderOf(result, [], "");
    const nouns = order.map((i) => result.rows[i]).filter((row) => row.members.length === 1 && row.members[0].noun !== null && !/[{}"\\?*]/.test(row.what)).map((row) => app.whole.nouns.noun(row.members[0].noun));
    out.push(...nouns.filter(Boolean).slice(0, EXAMPLES).map(questionAbout));
  }
  return out;
}

function wayList(input, take) {
  const list = el("ul", {class: "ways", role: "listbox", id: "ways", hidden: true});
  let ways = [], at = -1, round = 0, timer;
  const draw = () => {
    list.hidden = !ways.length;
    input.setAttribute("aria-expanded", String(ways.length > 0));
    input.setAttribute("aria-activedescendant", at < 0 ? "" : `way-${at}`);
    fill(list, ...ways.map((way, i) => el("li", {role: "option", id: `way-${i}`, "aria-selected": String(i === at), class: "text", title: way, onmousedown: (event) => { event.preventDefault(); choose(i); }}, way)));
  };
  const show = (next) => { ways = next; at = -1; draw(); };
  const look = async () => {
    const mine = ++round;
    try {
      const text = await (await ask(`ways/${encodeURIComponent(input.value)}`)).text();
      if (mine === round && document.activeElement === input) show([...new Set(text.split("\n").filter(Boolean))].slice(0, MOST_WAYS));
    } catch {
      if (mine === round) show([]); // the answer says what is wrong
    }
  };
  const later = () => { clearTimeout(timer); timer = setTimeout(look, 120); };
  function choose(i) {
    input.value = ways[i];
    show([]);
    later();
  }
  const keys = {
    ArrowDown: () => { at = Math.min(ways.length - 1, at + 1); draw(); },
    ArrowUp: () => { at = Math.max(-1, at - 1); draw(); },
    Tab: () => (ways.length ? choose(Math.max(0, at)) : false),
    Enter: () => { if (at >= 0) choose(at); else { round++; show([]); take(input.value); } },
    Escape: () => (ways.length ? show([]) : false),
  };
  input.addEventListener("input", later);
  input.addEventListener("focus", () => { if (!input.value) later(); });
  input.addEventListener("blur", () => { round++; show([]); });
  input.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || keys[event.key]() === false) return;
    event.preventDefault();
    event.stopPropagation();
  });
  return list;
}

// The newest answer of a question in an interval; null: it was not asked yet.
const answerOf = (app) => answers.find((a) => a.question === app.state.ask && a.part === intervalPath(app.archive)) ?? null;

async function answer(app) {
  const question = app.state.ask, part = intervalPath(app.archive);
  if (!question || answerOf(app)) return;
  const made = {question, part, text: "", isBad: false};
  try {
    made.text = await (await ask(`ask/${encodeURIComponent(question)}${part}`)).text();
  } catch (error) {
    made.text = error.message;
    made.isBad = true;
  }
  answers.unshift(made);
  answers.length = Math.min(answers.length, KEPT);
}

async function copyCsv(app, {question, part}) {
  copyText(await (await ask(`csv/${encodeURIComponent(question)}${part}`)).text());
  app.say("copied the answer as CSV");
}

function answerBox(app, made, isNewest) {
  return el("article", {class: `answer${made.isBad ? " bad" : ""}`},
    el("div", {class: "tools"}, isNewest ? null : link(made.question, () => app.change({ask: made.question}), {class: "link text"}), made.isBad ? null : link("copy as CSV", () => copyCsv(app, made)), link("copy as text", () => copyText(made.text))),
    isNewest || made.isBad ? el("pre", {tabindex: "0", "aria-label": `answer to ${made.question}`}, made.text) : null);
}

function renderOfFile(app, container) {
  const question = app.state.ask || "{? ?}", command = `perfmap ask '${question.replaceAll("'", "'\\''")}' ${app.archive.archive}`;
  fill(container, el("section", {class: "card"}, el("h2", {}, "Questions need the archive"),
    el("p", {}, "This file has the tables, not what answers are made of. ", el("code", {}, `perfmap view ${app.archive.archive}`), " shows the same page and takes questions; in the terminal:"),
    el("pre", {}, command), link("copy the command", () => { copyText(command); app.say(`copied: ${command}`); })));
}

export async function renderAsk(app, container) {
  if (!app.whole.source.isServed) {
    renderOfFile(app, container);
    return;
  }
  await answer(app);
  const input = el("input", {type: "text", id: "question", class: "question", placeholder: "{noun verb}: what was spent while it was active?", spellcheck: "false", autocomplete: "off", role: "combobox", "aria-controls": "ways", "aria-autocomplete": "list", "aria-label": "question", value: app.state.ask});
  const take = (question) => app.change({ask: question.trim()});
  const newest = answerOf(app), examples = newest ? [] : await examplesOf(app);
  const others = answers.filter((made) => made !== newest);
  fill(container,
    el("div", {class: "asking"}, input, el("button", {type: "button", class: "do", onclick: () => take(input.value)}, "ask"), wayList(input, take)),
    el("p", {class: "note"}, "Sentences in braces, with ", el("code", {}, "and, or, not, then, during"), ". Tab takes what is offered, Enter asks. ", "Noun and verb may be ", el("code", {}, "?"), "."),
    examples.length ? el("p", {class: "note examples"}, "for example ", ...examples.map((text) => link(text, () => take(text), {class: "link text"}))) : null,
    newest ? answerBox(app, newest, true) : null,
    others.length ? el("section", {class: "card"}, el("h2", {}, "Asked before"), ...others.map((made) => answerBox(app, made, false))) : null);
  app.afterShown = () => {
    input.focus();
    input.setSelectionRange(input.value.length, input.value.length);
  };
}
