// The frame of a page: what says something for a while, light and dark, and what went wrong.

import {el, fill} from "./dom.js";

export const $ = (id) => document.getElementById(id);

export function say(text) {
  const place = $("said");
  place.textContent = text;
  place.hidden = false;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { place.hidden = true; }, 4000);
}

// A word of a command line.
export function quoted(text) {
  return /^[\w./:,=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export function chooseLook() {
  const root = document.documentElement, isDark = () => (root.dataset.look ? root.dataset.look === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  $("look").addEventListener("click", () => { root.dataset.look = isDark() ? "light" : "dark"; });
}

export function fail(error) {
  console.error(error);
  fill($("view"), el("section", {class: "card warnings bad"}, el("h2", {}, "The page cannot show this"), el("p", {}, error.message ?? String(error))));
}
