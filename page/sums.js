// Sums that are more than additions: parts of whole numbers, inclusive costs, and what clock reads
// may have moved. Ports of mapping/graph/lift.c, mapping/graph/calls.c and mapping/view/shifts.c.

// round(whole * share), halves away from zero, without the rounding of a product of doubles.
export function exactShare(whole, share) {
  const [mantissa, exponent] = fractionOf(share);
  return Number(roundBits(BigInt(whole) * mantissa, exponent));
}

// A double as an integer divided by a power of two.
export function fractionOf(share) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, share);
  const bits = view.getBigUint64(0), exponent = Number((bits >> 52n) & 2047n), mantissa = bits & 0xfffffffffffffn;
  return exponent ? [mantissa | 0x10000000000000n, 1075 - exponent] : [mantissa, 1074];
}

// value / 2^bits to the nearest, halves away from zero.
function roundBits(value, bits) {
  if (bits <= 0) return value << BigInt(-bits);
  const sign = value < 0n ? -1n : 1n;
  return sign * ((sign * value + (1n << BigInt(bits - 1))) >> BigInt(bits));
}

// Contexts so that what is below one comes right after it.
function preorderOf(archive) {
  if (archive.preorder) return archive.preorder;
  const n = archive.nContexts, first = new Int32Array(n + 1).fill(-1), next = new Int32Array(n).fill(-1), out = new Int32Array(n);
  for (let c = n - 1; c >= 0; c--) {
    const up = archive.parent[c] < 0 ? n : archive.parent[c];
    next[c] = first[up];
    first[up] = c;
  }
  let at = first[n], done = 0;
  while (at >= 0) {
    out[done++] = at;
    if (first[at] >= 0) {
      at = first[at];
      continue;
    }
    while (at >= 0 && next[at] < 0) at = archive.parent[at];
    at = at < 0 ? -1 : next[at];
  }
  return (archive.preorder = out);
}

export function withContextsBelow(archive, own) {
  const out = Float64Array.from(own);
  for (let c = archive.nContexts - 1; c >= 0; c--) if (archive.parent[c] >= 0) out[archive.parent[c]] += out[c];
  return out;
}

// By id of rows: what the outermost contexts of each row have with all below. A context counts as
// the rows around its rows, too; under rule split by its share.
export function inclusiveOfRows(archive, lift, nIds, own) {
  const inclusive = withContextsBelow(archive, own);
  return lift.share ? inclusiveOfShares(archive, lift, nIds, inclusive) : inclusiveOfWholes(archive, lift, nIds, inclusive);
}

// Each class is one row.
function inclusiveOfWholes(archive, lift, nIds, inclusive) {
  const out = new Float64Array(nIds), onPath = new Uint8Array(nIds), n = archive.nContexts, {parent} = archive, {classOf, part, around} = lift;
  const stack = new Int32Array(n + 1), savedAt = new Int32Array(n + 1); // contexts, and how many rows were on the path before
  let saved = new Int32Array(1024), nSaved = 0, depth = 0;
  for (const c of preorderOf(archive)) {
    while (depth && stack[depth - 1] !== parent[c]) {
      depth--;
      while (nSaved > savedAt[depth]) onPath[saved[--nSaved]] = 0;
    }
    savedAt[depth] = nSaved;
    stack[depth++] = c;
    if (!classOf[c]) continue;
    for (let row = part[classOf[c] - 1]; row >= 0; row = around ? around[row] - 1 : -1) {
      if (onPath[row]) continue;
      onPath[row] = 1;
      if (nSaved === saved.length) {
        const grown = new Int32Array(2 * nSaved);
        grown.set(saved);
        saved = grown;
      }
      saved[nSaved++] = row;
      out[row] += inclusive[c];
    }
  }
  return out;
}

function inclusiveOfShares(archive, lift, nIds, inclusive) {
  const out = new Float64Array(nIds);
  const onPath = new Float64Array(nIds), now = new Float64Array(nIds), fractions = new Map();
  const stack = [], saved = []; // contexts, and [row, share before] of each, after a mark
  const leave = () => {
    stack.pop();
    for (let last = saved.pop(); last !== null; last = saved.pop()) onPath[last[0]] = last[1];
  };
  for (const c of preorderOf(archive)) {
    while (stack.length && stack[stack.length - 1] !== archive.parent[c]) leave();
    stack.push(c);
    saved.push(null);
    const k = lift.classOf[c] - 1;
    if (k < 0) continue;
    const rows = [];
    for (let i = lift.first[k]; i < lift.first[k + 1]; i++) {
      const share = lift.share ? lift.share[i] : 1;
      for (let row = lift.part[i]; row >= 0; row = lift.around ? lift.around[row] - 1 : -1) {
        if (now[row] === 0 && share > 0) rows.push(row);
        now[row] += share;
      }
    }
    for (const row of rows) {
      const before = onPath[row], share = now[row] > 1 - 1e-9 ? 1 : now[row];
      saved.push([row, before]);
      now[row] = 0;
      if (share <= before) continue;
      onPath[row] = share;
      if (before === 0 && share >= 1) out[row] += inclusive[c];
      else fractions.set(row, (fractions.get(row) ?? 0n) + fixedPoint(share - before, inclusive[c]));
    }
  }
  for (const [row, sum] of fractions) out[row] += Number(roundBits(sum, SCALE));
  return out;
}

const SCALE = 160;
function fixedPoint(share, whole) {
  const [mantissa, exponent] = fractionOf(share);
  return exponent > SCALE ? 0n : (BigInt(whole) * mantissa) << BigInt(SCALE - exponent);
}

// By id of rows what own times may have given to others or got from them, and of contexts what
// crosses their beginnings and ends.
export function shiftsOf(archive, rule, isTree, times, isIn) {
  const n = archive.nContexts, {timed_ns, taken_ns, doubt_ns, boundary_ns, above} = times, {nIds, lift, node} = rule;
  const lacks = new Float64Array(nIds), moves = new Float64Array(nIds), room = new Float64Array(nIds);
  const roomOf = (c) => timed_ns[c] - taken_ns[c] + doubt_ns[c];
  const hasTime = (c) => isIn[c] && timed_ns[c] > 0;
  const shareIn = (c, id) => {
    const k = lift.classOf[c] - 1;
    for (let i = lift.first[k]; i < lift.first[k + 1]; i++) if (lift.part[i] === id) return lift.share ? lift.share[i] : 1;
    return 0;
  };
  const addPart = (id, part, lack, move, space) => {
    lacks[id] += part * lack;
    moves[id] += part * move;
    room[id] += part * space;
  };
  const add = (c, other, lack, move, space) => {
    if (isTree) {
      const id = node[c] - 1;
      if (id >= 0 && (other < 0 || node[other] - 1 !== id)) addPart(id, 1, lack, move, space);
      return;
    }
    const k = lift.classOf[c] - 1;
    for (let i = lift.first[k]; i < lift.first[k + 1]; i++) {
      const share = lift.share ? lift.share[i] : 1, beside = other >= 0 ? shareIn(other, lift.part[i]) : 0;
      if (share > beside) addPart(lift.part[i], share - beside, lack, move, space);
    }
  };
  const addSide = (c, other, ns) => { if (hasTime(c)) add(c, other, Math.min(ns, roomOf(other)), ns, 0); };
  for (let c = 0; c < n; c++) {
    if (hasTime(c)) add(c, -1, 0, 0, roomOf(c));
    if (!boundary_ns[c] || !above[c]) continue;
    addSide(c, above[c] - 1, boundary_ns[c]);
    addSide(above[c] - 1, c, boundary_ns[c]);
  }
  const own = lacks.map((lack, id) => Math.trunc(Math.max(Math.min(moves[id], room[id]), lack)));
  const below = withContextsBelow(archive, Float64Array.from({length: n}, (_, c) => roomOf(c))), crossing = new Float64Array(n);
  for (let c = 0; c < n; c++) {
    if (!boundary_ns[c] || !above[c]) continue;
    const up = above[c] - 1, ns = Math.trunc(Math.min(boundary_ns[c], Math.max(roomOf(up), below[c])));
    if (isIn[c]) crossing[c] += ns;
    if (isIn[up]) crossing[up] += isIn[c] ? -ns : ns;
  }
  return {own, crossing};
}
