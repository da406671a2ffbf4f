// The part of an address behind #, which says what is shown: texts and numbers by name, and nothing
// of what is as it is at first.
//
//     readAddress("#tab=costs&line=3", {tab: "overview", line: 0, find: ""}, new Set(["line"]));

export function readAddress(hash, defaults, numbers) {
  const state = {...defaults};
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, "")))
    if (Object.hasOwn(defaults, key)) state[key] = numbers.has(key) ? Number(value) : value;
  return state;
}

export function writeAddress(state, defaults) {
  const out = new URLSearchParams();
  for (const [key, value] of Object.entries(state)) if (value !== (defaults[key] ?? "")) out.set(key, value);
  return "#" + out;
}
