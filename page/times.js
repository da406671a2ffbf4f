// When costs were: a port of mapping/archive/cost_times.c. The lists say parts of a cost in buckets of
// time, so that what is in intervals that follow each other adds up to it exactly.
//
//     const times = readTimes(chunk);
//     const costs = costsWithin(times.get(metric), {from: 2e9, to: 3e9}); // thread, context, value
//     addBuckets(times.get(metric), 0, allNs, 100, (list) => weight, out);

import {fractionOf} from "./sums.js";

// By metric.
export function readTimes(chunk) {
  const out = new Map();
  for (const [name] of chunk.directory.columns) {
    const m = /^time_(\d+)_timed$/.exec(name)?.[1];
    if (m !== undefined) out.set(Number(m), readMetric((what) => chunk.column(`time_${m}_${what}`)));
  }
  return out;
}

// Runs of list i are first[i] to first[i + 1]: from which bucket to which, the weight of each of them,
// and of all before.
function readMetric(column) {
  const nRuns = column("n_runs"), codes = column("runs"), n = nRuns.length, first = new Uint32Array(n + 1);
  for (let i = 0; i < n; i++) first[i + 1] = first[i] + nRuns[i];
  const begin = new Uint32Array(first[n]), end = new Uint32Array(first[n]), weight = new Uint32Array(first[n]), before = new Float64Array(first[n]), all = new Float64Array(n);
  for (let i = 0, at = 0; i < n; i++)
    for (let k = first[i], bucket = 0; k < first[i + 1]; k++) {
      const code = codes[at++];
      begin[k] = bucket + Math.floor(code / 2);
      bucket = end[k] = begin[k] + 1 + (code % 2 ? codes[at++] : 0);
      weight[k] = codes[at++];
      before[k] = all[i];
      all[i] += weight[k] * (end[k] - begin[k]);
    }
  return {n, thread: column("thread"), context: column("context"), timed: column("timed"), start: column("start"), bucket: column("bucket"), first, begin, end, weight, before, all};
}

// floor(whole * part), as `long double` has it: to 64 bits.
function floorOfProduct(whole, part) {
  const near = whole * part, floor = Math.floor(near), above = near - floor;
  if (Math.min(above, 1 - above) > near * 1e-15) return floor;
  const [mantissa, exponent] = fractionOf(part);
  let product = BigInt(whole) * mantissa, bits = exponent;
  const surplus = product.toString(2).length - 64;
  if (surplus > 0) {
    const unit = 1n << BigInt(surplus), rest = product & (unit - 1n), half = unit >> 1n;
    product >>= BigInt(surplus);
    if (rest > half || (rest === half && product & 1n)) product += 1n;
    bits -= surplus;
  }
  return Number(bits > 0 ? product >> BigInt(bits) : product << BigInt(-bits));
}

// How much of list i was up to then. Infinity: all.
function amountBefore(times, i, at) {
  const timed = times.timed[i];
  if (at === Infinity) return timed;
  const bucket = (at - times.start[i]) / times.bucket[i];
  let low = times.first[i], high = times.first[i + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times.end[middle] <= bucket) low = middle + 1;
    else high = middle;
  }
  if (low === times.first[i + 1]) return timed;
  const within = bucket - times.begin[low];
  return Math.min(timed, floorOfProduct(timed, (times.before[low] + (within > 0 ? within * times.weight[low] : 0)) / times.all[i]));
}

export function costsWithin(times, {from, to}) {
  const thread = [], context = [], value = [];
  for (let i = 0; i < times.n; i++) {
    const amount = amountBefore(times, i, to) - (from <= 0 ? 0 : amountBefore(times, i, from));
    if (!amount) continue;
    thread.push(times.thread[i]);
    context.push(times.context[i]);
    value.push(amount);
  }
  return {thread: Float64Array.from(thread), context: Float64Array.from(context), value: Float64Array.from(value)};
}

// Adds to out[n], equal parts of from to `to`, what lists had there, each with its weight (0: none).
export function addBuckets(times, {from, to}, n, weightOf, out) {
  const step = (to - from) / n;
  for (let i = 0; i < times.n; i++) {
    const share = weightOf(times.context[i], times.thread[i]);
    if (!share) continue;
    const each = (share * times.timed[i]) / times.all[i], {start, bucket} = times;
    for (let k = times.first[i]; k < times.first[i + 1]; k++) {
      // What is known of a run is its beginning and end: within these it is even. What was before the
      // start, or after the end, of the run is there.
      const begin = start[i] + times.begin[k] * bucket[i], end = start[i] + times.end[k] * bucket[i];
      const perNs = (each * times.weight[k] * (times.end[k] - times.begin[k])) / (end - begin);
      const low = Math.max(0, Math.min(n - 1, Math.floor((begin - from) / step))), high = Math.max(low, Math.min(n - 1, Math.ceil((end - from) / step) - 1));
      for (let at = low; at <= high; at++) {
        const left = at === low ? begin : from + at * step, right = at === high ? end : from + (at + 1) * step;
        if (right > left) out[at] += perNs * (right - left);
      }
    }
  }
}
