// Numbers as people read them. A column has one unit, as in the text of `perfmap report`.
//
//     const unit = unitOf(metric, largest);
//     numberText(unit, 1234567); unit.name;

const TIMES = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
const isTime = (metric) => metric?.unit === "ns" || (!metric?.unit && metric?.kind === "time");
const BYTES = [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 1024], ["B", 1]];

const groups = (text) => text.replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");

export function countText(value) {
  const text = String(Math.trunc(Math.abs(value)));
  return (value < 0 ? "−" : "") + (text.length > 4 ? groups(text) : text);
}

const scaled = (units, largest) => units.find(([, size]) => largest >= size) ?? units[units.length - 1];

export function unitOf(metric, largest) {
  const of = isTime(metric) ? scaled(TIMES, largest) : metric?.kind === "bytes" ? scaled(BYTES, largest) : null;
  return of ? {name: of[0], size: of[1], decimals: of[1] === 1 ? 0 : 2} : {name: "", size: 1, decimals: 0};
}

// Of a column, by its total: as cmd/show/cells.c has it.
export function unitOfTotal(metric, total) {
  const size = Math.abs(total), of = (name, divisor, decimals) => ({name, size: divisor, decimals});
  if (isTime(metric)) {
    if (size >= 1e12) return of("s", 1e9, 1);
    return size >= 1e6 ? of("ms", 1e6, size >= 1e10 ? 1 : size >= 1e9 ? 2 : 3) : of("µs", 1e3, 3);
  }
  if (metric?.kind !== "bytes") return of("", 1, 0);
  const names = ["B", "KiB", "MiB", "GiB", "TiB"];
  let i = 0, divisor = 1;
  for (; size / divisor >= 1e5 && i < 4; i++) divisor *= 1024;
  return of(names[i], divisor, i ? 1 : 0);
}

export function numberText(unit, value) {
  if (unit.decimals === 0) return countText(value / unit.size);
  const least = 10 ** -unit.decimals;
  if (value !== 0 && Math.abs(value / unit.size) < least / 2) return value < 0 ? `> −${least.toFixed(unit.decimals)}` : `< ${least.toFixed(unit.decimals)}`;
  const text = Math.abs(value / unit.size).toFixed(unit.decimals), dot = text.indexOf(".");
  return (value < 0 ? "−" : "") + (dot > 4 ? groups(text.slice(0, dot)) : text.slice(0, dot)) + text.slice(dot);
}

// Alone, with its unit: "1.23 s".
export function amountText(metric, value) {
  const unit = unitOf(metric, Math.abs(value));
  return numberText(unit, value) + (unit.name ? `\u00a0${unit.name}` : "");
}

export const percentText = (value) => (value >= 99.95 ? value.toFixed(0) : value.toFixed(1));

export function metricTitle(metric) {
  const words = {cpu_ns: "CPU time", wall_ns: "wall time", sampled_wall_ns: "wall time by samples", waiting_ns: "waiting",
    preempted_ns: "preempted", off_cpu_ns: "off CPU", n_calls: "calls", n_samples: "samples"};
  return words[metric.name] ?? metric.name.replace(/_ns$/, "").replaceAll("_", " ");
}

export function csvOf(lines) {
  const field = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return lines.map((line) => line.map(field).join(",")).join("\r\n") + "\r\n";
}
