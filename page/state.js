// What is looked at, and the address that says so: a link opens the same view again.
//
//     const app = makeState(archive, render);
//     app.change({tab: "costs", by: "array"});
//     app.focus; // for model.js

import {readAddress, writeAddress} from "./address.js";

const DEFAULTS = {
  tab: "overview", level: "source", by: "loop", shape: "flat", rule: "merge", metric: "", nouns: [], on: "", find: "", sort: "", columns: "",
  bounds: "", file: "", line: 0, row: "", axes: "", across: "", from: 0, to: 0, strip: "", window: "", slice: "", ask: "", at: "",
};
const NUMBERS = new Set(["line", "from", "to"]);

function read(hash) {
  const {focus, ...state} = readAddress(hash, {...DEFAULTS, focus: ""}, NUMBERS);
  return {...state, nouns: focus ? focus.split(".").map(Number).filter(Number.isInteger) : []};
}

const write = ({nouns, ...state}) => writeAddress({...state, focus: nouns.join(".")}, DEFAULTS);

// "rank:3" as threads: positions of runners are stable within an archive.
function threadsOf(archive, on) {
  const [kind, at] = on.split(":"), of = archive.runnerOf(kind);
  if (!of || !at) return null;
  return Uint8Array.from(of, (runner) => (runner === Number(at) ? 1 : 0));
}

const LOCKS = new Set(["mutex", "rwlock", "spinlock", "condition", "semaphore", "barrier", "once", "lock"]);
export function axisOf(noun) {
  if (noun.isData) return "Data";
  if (LOCKS.has(noun.kind)) return "SyncObject";
  return ["Source", "Base"].includes(noun.level) ? "Code" : noun.level;
}

// The interval that is looked at; null: the whole run.
export function intervalOf(archive, {from, to}) {
  const end = archive.run_ns, isPart = from > 0 || (to > 0 && to < end);
  return archive.times_chunk && isPart && from < (to || end) && from < end ? {from: Math.max(0, Math.round(from)), to: to > 0 && to < end ? Math.round(to) : end} : null;
}

export function makeState(archive, render) {
  let state = read(location.hash);
  const app = {
    whole: archive,
    archive, // what is shown: `whole`, or that of the interval
    // Before a view is drawn.
    async choosePart() {
      const interval = intervalOf(archive, state), part = interval ? await archive.within(interval) : archive;
      return () => { app.archive = part; };
    },
    get state() { return state; },
    // quiet: the view has drawn it already.
    change(changes, {push = true, quiet = false} = {}) {
      state = {...state, ...changes};
      const address = write(state);
      if (address !== location.hash) history[push ? "pushState" : "replaceState"](null, "", address || "#");
      if (!quiet) render();
    },
    // All foci, or those of other axes.
    focusBut(axis) {
      const nouns = state.nouns.filter((id) => archive.nouns.noun(id) && (!axis || axisOf(archive.nouns.noun(id)) !== axis));
      return {nouns: nouns.map((id) => [id]), threads: axis === "Machine" || !state.on ? null : threadsOf(archive, state.on)};
    },
    get focus() { return app.focusBut(null); },
    // One node of each axis: another one takes its place, the same one goes.
    choose(id) {
      const axis = axisOf(archive.nouns.noun(id));
      const others = state.nouns.filter((other) => axisOf(archive.nouns.noun(other)) !== axis);
      app.change({nouns: state.nouns.includes(id) ? others : [...others, id]});
    },
    isChosen: (id) => state.nouns.includes(id),
    runnerOfOn() {
      const [kind, at] = state.on.split(":");
      return archive.runners.find((r) => r.kind === kind)?.items[Number(at)] ?? null;
    },
  };
  addEventListener("popstate", () => { state = read(location.hash); render(); });
  addEventListener("hashchange", () => { state = read(location.hash); render(); });
  return app;
}
