// What is in an archive, and what its rows cost within a focus.
//
//     const archive = await openArchive(chunkSource());
//     const sheet = await archive.sheet("source", "loop");
//     const focus = {nouns: [[17]], threads: null};
//     const result = sheet.rows("merge", focus, sheet.shownMetrics);
//     result.own.get(metric)[i]; result.rows[i].what;
//
// Which rows there are, how they are called and marked, and which of them a context counts for is
// decided by PerfMap's view library (mapping/view). Here contexts are filtered and costs are added
// up, as mapping/view/query.c and mapping/graph do, so that each number is the one that
// `perfmap report --json` has.

import {exactShare, inclusiveOfRows, shiftsOf} from "./sums.js";
import {costsWithin, readTimes} from "./times.js";

export const FLAG = {
  CALLS_AT_LEAST: 1, ENTRIES_AT_LEAST: 2, CALLS_UNKNOWN: 4, UNTIMED: 8, INLINED: 16, SAMPLED: 32, COUNTED: 64, DATA_AT_LEAST: 128,
  NOUN: 256, OUTSIDE: 512, UNMAPPED: 1024, SET: 2048, OTHERS_TIME: 4096, MOSTLY_INFERRED: 8192,
};
const CONTEXT = {NO_CALL: 1, ENTRIES: 2, INFERRED: 4, ONLY_SAMPLED: 8, CALLS_AT_LEAST: 16, ENTRIES_AT_LEAST: 32};
const FEW_SAMPLES = 10, OFF_CPU = ["waiting_ns", "preempted_ns", "off_cpu_ns"];

export const NO_FOCUS = {nouns: [], threads: null};

// --- nouns ---

function makeNouns(base) {
  const ids = base.column("noun"), index = new Int32Array((ids[ids.length - 1] ?? 0) + 1).fill(-1), texts = base.texts;
  const kind = base.column("noun_kind"), name = base.column("noun_name"), linkage = base.column("noun_linkage"), file = base.column("noun_file");
  const level = base.column("noun_level"), parent = base.column("noun_parent"), line = base.column("noun_line");
  const column = base.column("noun_column"), isData = base.column("noun_is_data");
  ids.forEach((id, i) => { index[id] = i; });
  const at = {get: (id) => (id < index.length && index[id] >= 0 ? index[id] : undefined)};
  const noun = (id) => {
    const i = at.get(id);
    return i === undefined ? null : {
      id, kind: texts[kind[i]], name: texts[name[i]], linkage: texts[linkage[i]], file: texts[file[i]], level: texts[level[i]],
      parent: parent[i] ? parent[i] - 1 : null, line: line[i], column: column[i], isData: isData[i] === 1,
    };
  };
  // Names are many: those of one kind and text are found when somebody asks.
  const alike = new Map();
  const keyOf = (i) => {
    const k = texts[kind[i]];
    if (!texts[name[i]] && !texts[file[i]]) return `${k} #${i}`; // nothing tells it from others
    if (!texts[file[i]] && (k === "loopcode" || k === "code")) return `${k} ${texts[name[i]]} ${parent[i]}`;
    if (k === "loop" || k === "loopcode") return `loop ${texts[file[i]]}:${line[i]}:${column[i]}`;
    if (k === "function" || k === "symbol") return `code ${texts[linkage[i]] || texts[name[i]]}`;
    return `${k} ${texts[name[i]]} ${texts[file[i]]}:${line[i]}:${column[i]} ${parent[i] ? texts[name[at.get(parent[i] - 1)]] : ""}`;
  };
  return {
    noun, ids, parent, isData, at, index,
    // The noun, and what is the same in other binaries, and its machine code by name.
    same(id) {
      if (!alike.size)
        ids.forEach((other, i) => {
          const key = keyOf(i);
          if (!alike.has(key)) alike.set(key, []);
          alike.get(key).push(other);
        });
      return alike.get(keyOf(at.get(id)));
    },
  };
}

// As `--focus` takes it.
export function patternOf(noun) {
  const base = noun.file.replace(/^.*\//, "");
  switch (noun.kind) {
    case "function": case "symbol": return `func:${noun.name}`;
    case "loop": case "statement": case "line": return `${noun.kind}:${base}:${noun.line}${noun.kind !== "line" && noun.column ? ":" + noun.column : ""}`;
    case "region": return `statement:${base}:${noun.line}`;
    case "file": return `file:${noun.name}`;
    default: return noun.isData ? `variable:${noun.name}` : `${noun.kind}:${noun.name}`;
  }
}

// --- which contexts are in a focus ---

function nounsIn(nouns, chosen) {
  const isIn = new Uint8Array(nouns.ids.length), ids = new Set(chosen.flatMap((id) => nouns.same(id)));
  let ofData = false;
  for (const id of ids) {
    const i = nouns.at.get(id);
    isIn[i] = 1;
    ofData ||= nouns.isData[i] === 1;
  }
  const asked = isIn.slice();
  for (let i = 0; i < isIn.length; i++) {
    if (nouns.isData[i] && !ofData) continue; // what lies below a function is its code, not its data
    for (let up = nouns.parent[i], steps = 0; up && !isIn[i] && steps < 64; steps++) {
      const at = nouns.at.get(up - 1);
      if (at === undefined) break;
      isIn[i] = asked[at];
      up = nouns.parent[at];
    }
  }
  return isIn;
}

// Foci: a chunk that has the sets of nouns.
export function contextsIn(archive, foci, focus) {
  const n = archive.nContexts, isIn = new Uint8Array(n).fill(1);
  const {index} = archive.nouns, set = foci.column("focus_set"), count = foci.column("focus_n"), noun = foci.column("focus_noun");
  for (const chosen of focus.nouns) {
    const nounIn = nounsIn(archive.nouns, chosen), setIn = new Uint8Array(count.length), below = new Uint8Array(n);
    for (let s = 0, at = 0; s < count.length; s++)
      for (let i = 0; i < count[s]; i++, at++) setIn[s] |= nounIn[index[noun[at]]] ?? 0;
    for (let c = 0; c < n; c++) {
      const up = archive.parent[c];
      below[c] = setIn[set[c]] | (up < 0 ? 0 : below[up]);
      isIn[c] &= below[c];
    }
  }
  return isIn;
}

// --- a sheet ---

function makeSheet(archive, chunk, entry) {
  const d = chunk.directory, column = chunk.column, texts = chunk.texts;
  const costChunk = (m) => (chunk.has(`cost_${m}_value`) ? chunk : archive.base);
  const foci = chunk.has("focus_set") ? chunk : archive.base;
  const contextFlags = column("context_flags"), rules = new Map(), kept = new Map();
  const isTree = entry.shape !== "flat";

  function makeRows(under) {
    const get = (name) => column(`${under}_${name}`);
    const id = get("id"), what = get("what"), place = get("place"), kind = get("kind"), reasons = get("reasons"), parent = get("parent");
    const nMembers = get("n_members"), members = get("members"), flags = get("flags"), ownMarks = get("at_least");
    const within = get("at_least_inclusive"), words = get("words_of_inlined"), as = get("as"), alike = as ? rule("merge").rows : null;
    const byId = new Map(), rows = [];
    for (let i = 0, known = 0, at = 0; i < id.length; i++) {
      let named;
      if (as?.[i]) {
        const {what, place, kind, reasons, members} = alike[as[i] - 1];
        named = {what, place, kind, reasons, members};
      } else {
        const own = [];
        for (let k = 0; k < nMembers[known]; k++, at += 2) own.push({group: members[at] - 1, noun: members[at + 1] ? members[at + 1] - 1 : null});
        named = {what: texts[what[known]], place: texts[place[known]], kind: texts[kind[known]], reasons: texts[reasons[known]], members: own};
        known++;
      }
      rows.push({
        index: i, id: id[i], parentId: parent && parent[i] ? parent[i] - 1 : null, ...named, flags: flags[i], ownMarks: ownMarks[i], within: within[i], words: words[i], key: id[i],
      });
      byId.set(id[i], i);
    }
    let nIds = 0;
    for (const i of id) nIds = Math.max(nIds, i + 1);
    const lift = isTree ? null : makeLift(get);
    if (lift) nIds = Math.max(nIds, lift.nIds);
    const indexOf = new Int32Array(nIds).fill(-1);
    for (const [i, index] of byId) indexOf[i] = index;
    return {rows, indexOf, nIds, lift, node: get("node")};
  }

  function makeLift(get) {
    const part = get("part"), around = get("around"), nParts = get("n_parts"), share = get("share");
    const nClasses = nParts ? nParts.length : part.length, first = new Uint32Array(nClasses + 1);
    for (let i = 0; i < nClasses; i++) first[i + 1] = first[i] + (nParts ? nParts[i] : 1);
    let nIds = around ? around.length : 0;
    for (const id of part) nIds = Math.max(nIds, id + 1);
    return {classOf: get("class"), part, first, share, nClasses, nIds, around};
  }

  const rule = (name) => {
    if (!rules.has(name)) rules.set(name, makeRows(name));
    return rules.get(name);
  };

  // Calls back with (context, value, thread) of all that is in focus. byThread: of each thread; else
  // as reports have it that tell no threads apart, which may add up to other times.
  function eachCost(m, focus, isIn, visit, byThread = false) {
    if (m === null) return;
    const isFine = focus.isOfSamples && archive.base.has(`fine_cost_${m}_value`);
    const from = isFine ? archive.base : costChunk(m), list = isFine ? "fine_" : "";
    eachOf(from, `${list}cost_${m}`, `${list}merged_${m}`, focus, isIn, visit, byThread);
  }

  function eachOf(from, ofThreads, merged, focus, isIn, visit, byThread) {
    const context = from.column(`${ofThreads}_context`), thread = from.column(`${ofThreads}_thread`), value = from.column(`${ofThreads}_value`);
    if (!focus.threads && !byThread && from.has(`${merged}_value`)) {
      const of = from.column(`${merged}_context`), amount = from.column(`${merged}_value`);
      for (let i = 0; i < of.length; i++) if (isIn[of[i]]) visit(of[i], amount[i], 0);
      return;
    }
    if (!context) return;
    for (let i = 0; i < context.length; i++)
      if (isIn[context[i]] && (!focus.threads || focus.threads[thread[i]])) visit(context[i], value[i], thread[i]);
  }

  function ofContexts(m, focus, isIn) {
    const own = new Float64Array(archive.nContexts);
    eachCost(m, focus, isIn, (c, value) => { own[c] += value; });
    return own;
  }

  const sheet = {
    ...d, entry, texts, level: d.level, shape: entry.shape, isTree, archive,
    rule, eachCost,
    contextsIn(focus) {
      const key = JSON.stringify(focus.nouns);
      if (!kept.has(key)) {
        if (kept.size > 8) kept.clear();
        kept.set(key, contextsIn(archive, foci, focus));
      }
      return kept.get(key);
    },
    // The metrics of a report: in a timed run, of a focus on what only samples met those of samples. The
    // first one, and others that have something there.
    metricsFor(focus) {
      const isFew = isOfSamples(sheet, focus), list = isFew ? d.metrics_of_samples : sheet.shownMetrics, isIn = sheet.contextsIn(focus);
      const used = list.filter((m, i) => i === 0 || hasCost(sheet, m, {...focus, isOfSamples: isFew}, isIn));
      return Object.assign(used, {areOfSamples: isFew});
    },
    contextFlags,
    ofContexts,
    rows: (name, focus, metrics) => sumUp(sheet, name, focus, metrics),
  };
  sheet.shownMetrics = d.metrics ? d.metrics.slice(0, d.n_shown_metrics) : [];
  if (d.metrics && archive.interval && !archive.source.isServed) chooseOffCpu(sheet);
  return sheet;
}

// In a file: time off the processor is shown where it is more than a hundredth of what was measured in
// the interval, as mapping/view/metrics.c has it.
function chooseOffCpu(sheet) {
  const {archive, shownMetrics: list} = sheet, isIn = new Uint8Array(archive.nContexts).fill(1);
  if (sheet.cpu === null || list[0] !== sheet.cpu) return;
  const sumOf = (m) => {
    let sum = 0;
    sheet.eachCost(m, NO_FOCUS, isIn, (c, value) => { sum += value; });
    return sum;
  };
  const off = OFF_CPU.map((name) => archive.metrics.findIndex((m) => m.name === name)).filter((m) => sheet.metrics.includes(m)), sums = off.map(sumOf);
  const all = sumOf(sheet.cpu) + (sheet.has_wall_samples ? 0 : sums.reduce((a, b) => a + b, 0));
  sheet.off_cpu = off.filter((m, i) => sums[i] > 0.01 * all);
  sheet.shownMetrics = [sheet.cpu, ...sheet.off_cpu, ...list.filter((m) => m !== sheet.cpu && !off.includes(m))];
}

function hasCost(sheet, m, focus, isIn) {
  let has = false;
  sheet.eachCost(m, focus, isIn, (c, value) => { has ||= value !== 0; });
  return has;
}

// As mapping/view/modes.c chooses the time of a focus.
function isOfSamples(sheet, focus) {
  if (!sheet.metrics_of_samples || !focus.nouns.length) return false;
  const {archive} = sheet, isIn = sheet.contextsIn(focus), flags = sheet.contextFlags, all = new Uint8Array(archive.nContexts).fill(1);
  const isTimedAround = (c) => {
    let up = archive.parent[c];
    while (up >= 0 && flags[up] & CONTEXT.ONLY_SAMPLED) up = archive.parent[up];
    return up >= 0 && isIn[up];
  };
  let sampled = 0, wall = 0, total = 0;
  sheet.eachCost(sheet.wall, NO_FOCUS, isIn, (c, value) => { wall += value; });
  sheet.eachCost(sheet.cpu, NO_FOCUS, isIn, (c, value) => { if (flags[c] & CONTEXT.ONLY_SAMPLED && !isTimedAround(c)) sampled += value; });
  sheet.eachCost(sheet.cpu, NO_FOCUS, all, (c, value) => { total += value; });
  return sampled > 0 && (100 * sampled > 3 * total || 5 * sampled > wall);
}

// --- sums ---

function aggregate(kind, a, b, isFirst) {
  if (isFirst || kind === "sum") return isFirst ? b : a + b;
  return kind === "minimum" ? Math.min(a, b) : Math.max(a, b);
}

// Amounts of classes to rows, by id. `count`: how many amounts a class has.
function divide(lift, kind, amounts, count, nIds) {
  const out = new Float64Array(nIds), seen = new Uint8Array(nIds);
  for (let k = 0; k < lift.nClasses; k++) {
    if (!count[k]) continue;
    let end = lift.first[k + 1];
    const begin = lift.first[k];
    while (end - begin > 1 && lift.share && lift.share[end - 1] === 0) end--;
    let running = 0, before = 0;
    for (let i = begin; i < end; i++) {
      let part = amounts[k];
      if (kind === "sum" && end - begin > 1) {
        running += lift.share[i];
        const here = i + 1 === end ? amounts[k] : exactShare(amounts[k], Math.min(running, 1));
        part = here - before;
        before = here;
      }
      out[lift.part[i]] = aggregate(kind, out[lift.part[i]], part, !seen[lift.part[i]]);
      seen[lift.part[i]] = 1;
    }
  }
  return out;
}

function flatOf(rule, kind, each) {
  const {lift, nIds} = rule, amounts = new Float64Array(lift.nClasses), count = new Uint32Array(lift.nClasses);
  each((c, value) => {
    const k = lift.classOf[c] - 1;
    if (k < 0) return;
    amounts[k] = aggregate(kind, amounts[k], value, !count[k]);
    count[k]++;
  });
  return divide(lift, kind, amounts, count, nIds);
}

function nodesOf(rule, kind, each, isMachine) {
  const out = new Float64Array(rule.nIds), seen = new Uint8Array(rule.nIds);
  each((c, value, thread) => {
    const id = rule.node[isMachine ? thread : c] - 1;
    if (id < 0) return;
    out[id] = aggregate(kind, out[id], value, !seen[id]);
    seen[id] = 1;
  });
  return out;
}

function byIndex(rule, ofIds) {
  const out = new Float64Array(rule.rows.length);
  for (let id = 0; id < rule.nIds; id++) if (rule.indexOf[id] >= 0) out[rule.indexOf[id]] = ofIds[id];
  return out;
}

// Parents have smaller ids.
function withBelow(rule, own) {
  const out = own.slice();
  rule.order ??= rule.rows.map((row) => row.index).sort((a, b) => rule.rows[b].id - rule.rows[a].id);
  for (const i of rule.order) {
    const up = rule.rows[i].parentId;
    if (up !== null) out[rule.indexOf[up]] += out[i];
  }
  return out;
}

// Where waits are: in a view of samples at the statements, else in what was timed.
function sumUp(sheet, name, asked, metrics) {
  const focus = {...asked, isOfSamples: Boolean(metrics.areOfSamples)};
  const {archive} = sheet, rule = sheet.rule(name), isIn = sheet.contextsIn(focus), n = rule.rows.length;
  const own = new Map(), inclusive = new Map(), isMachine = sheet.is_machine;
  const collect = (kind, each) => byIndex(rule, sheet.isTree ? nodesOf(rule, kind, each, isMachine) : flatOf(rule, kind, each));
  const inclusiveOf = (ofContexts) => byIndex(rule, inclusiveOfRows(archive, rule.lift, rule.nIds, ofContexts));
  for (const m of metrics) {
    const kind = archive.metrics[m].aggregation;
    own.set(m, collect(kind, (visit) => sheet.eachCost(m, focus, isIn, visit, isMachine)));
    if (kind === "sum")
      inclusive.set(m, sheet.isTree ? withBelow(rule, own.get(m)) : inclusiveOf(sheet.ofContexts(m, focus, isIn)));
  }
  const flags = sheet.contextFlags;
  const callsOf = (entries) => collect("sum", (visit) => sheet.eachCost(sheet.calls, focus, isIn, (c, value, thread) => {
    if (!(flags[c] & CONTEXT.NO_CALL) && Boolean(flags[c] & CONTEXT.ENTRIES) === entries) visit(c, value, thread);
  }, isMachine));
  const calls = callsOf(false), entries = callsOf(true), callMarks = isMachine ? marksOfCalls(sheet, rule, focus, isIn) : null;
  const samples = collect("sum", (visit) => sheet.eachCost(sheet.samples, focus, isIn, visit, isMachine));
  const result = {
    sheet, rule, name, focus, metrics, rows: rule.rows, own, inclusive, calls, entries, samples, callMarks,
    samplesInclusive: sheet.isTree ? withBelow(rule, samples) : samples, primary: metrics.length ? metrics[0] : null,
  };
  if (sheet.has_taken && !isMachine)
    addTaken(result, isIn, {collect, inclusiveOf: (values) => (sheet.isTree ? withBelow(rule, collectContexts(rule, values)) : inclusiveOf(values))});
  keepRows(result, n);
  addTotals(result);
  return result;
}

// Of axis Machine: marks of what was called in the focus.
function marksOfCalls(sheet, rule, focus, isIn) {
  const marks = new Uint8Array(rule.rows.length), flags = sheet.contextFlags;
  sheet.eachCost(sheet.calls, focus, isIn, (c, value, thread) => {
    const id = rule.node[thread] - 1, i = id < 0 ? -1 : rule.indexOf[id];
    if (i < 0) return;
    const isEntry = flags[c] & CONTEXT.ENTRIES;
    if (!isEntry && flags[c] & CONTEXT.CALLS_AT_LEAST) marks[i] |= FLAG.CALLS_AT_LEAST;
    if (isEntry && flags[c] & CONTEXT.ENTRIES_AT_LEAST) marks[i] |= FLAG.ENTRIES_AT_LEAST;
  }, true);
  return marks;
}

function collectContexts(rule, values) {
  const out = new Float64Array(rule.nIds);
  for (let c = 0; c < values.length; c++) {
    const id = rule.node[c] - 1;
    if (id >= 0) out[id] += values[c];
  }
  return byIndex(rule, out);
}

// What was taken out of wall times, and what these may be off by (mapping/view/shifts.c).
function addTaken(result, isIn, how) {
  const {sheet} = result, archive = sheet.archive, base = archive.base, n = archive.nContexts;
  const times = {};
  for (const name of ["taken_ns", "timed_ns", "doubt_ns", "boundary_ns"]) times[name] = base.column(name);
  times.above = base.column("timed_above");
  if (result.focus.threads) scaleTaken(sheet, result.focus, times);
  const each = (values) => (visit) => {
    for (let c = 0; c < n; c++) if (isIn[c] && values[c]) visit(c, values[c], 0);
  };
  result.taken = how.collect("sum", each(times.taken_ns));
  result.doubt = how.collect("sum", each(times.doubt_ns));
  result.doubtInclusive = how.inclusiveOf(times.doubt_ns.map((value, c) => (isIn[c] ? value : 0)));
  const {own, crossing} = shiftsOf(archive, result.rule, sheet.isTree, times, isIn);
  result.shift = byIndex(result.rule, own);
  result.shiftInclusive = how.inclusiveOf(crossing).map((value) => Math.max(0, value));
}

// As mapping/view/parts.c does: each runner has of it in proportion to its time.
function scaleTaken(sheet, focus, times) {
  const all = new Uint8Array(sheet.archive.nContexts).fill(1);
  const ofAll = sheet.ofContexts(sheet.wall, NO_FOCUS, all), ofKept = sheet.ofContexts(sheet.wall, focus, all);
  for (const name of ["taken_ns", "timed_ns", "doubt_ns", "boundary_ns"])
    times[name] = times[name].map((value, c) => Math.trunc(value * (ofAll[c] > 0 ? ofKept[c] / ofAll[c] : 0)));
}

// Which rows say something (mapping/view/order.c).
function keepRows(result, n) {
  const {sheet, rows} = result, flat = !sheet.isTree, isFine = sheet.is_fine && flat, hasFocus = result.focus.nouns.length > 0;
  const keep = new Uint8Array(n);
  for (let i = 0; i < n; i++) {
    const {flags} = rows[i];
    const countsInclusive = !flat || (!hasFocus && !isFine && !(flags & FLAG.OUTSIDE));
    let says = (!isFine || sheet.shows_calls) && (result.calls[i] || result.entries[i]);
    says ||= !sheet.has_interval && countsInclusive && flat && flags & FLAG.NOUN && flags & FLAG.INLINED && flags & FLAG.CALLS_UNKNOWN;
    for (const m of result.metrics) says ||= result.own.get(m)[i] || (countsInclusive && (result.inclusive.get(m)?.[i] ?? 0));
    keep[i] = says ? 1 : 0;
  }
  if (!flat)
    for (const i of result.rule.order ?? [])
      if (keep[i] && rows[i].parentId !== null) keep[result.rule.indexOf[rows[i].parentId]] = 1;
  result.keep = keep;
}

function addTotals(result) {
  const {archive} = result.sheet, total = {own: new Map(), calls: 0, entries: 0, samples: 0, taken: 0, doubt: 0};
  for (const m of result.metrics) {
    const kind = archive.metrics[m].aggregation, own = result.own.get(m);
    let sum = 0, isFirst = true;
    own.forEach((value, i) => {
      if (!result.keep[i] || (kind !== "sum" && !value)) return;
      sum = aggregate(kind, sum, value, isFirst);
      isFirst = false;
    });
    total.own.set(m, sum);
  }
  for (const name of ["calls", "entries", "samples", "taken", "doubt"])
    result[name]?.forEach((value, i) => { if (result.keep[i]) total[name] += value; });
  result.total = total;
}

// --- numbers of a row, with their marks (mapping/view/columns.c) ---

const LEAST_DOUBT_NS = 1e6;
const isLarge = (doubt, of, all) => 100 * doubt > 3 * all || 5 * doubt > of;

function hasOthersTime(result, i) {
  const {sheet, rows} = result;
  if (!(rows[i].flags & FLAG.OTHERS_TIME) || !result.own.has(sheet.wall)) return false;
  const own = result.own.get(sheet.wall)[i];
  return own >= LEAST_DOUBT_NS || 100 * own > 3 * result.total.own.get(sheet.wall);
}

function isDoubtful(result, i, inclusive) {
  const {sheet} = result;
  if (sheet.times_hold_readings || (!inclusive && hasOthersTime(result, i))) return true;
  if (!result.doubt || !result.own.has(sheet.wall)) return false;
  const doubt = inclusive ? result.doubtInclusive[i] + result.shiftInclusive[i] : result.doubt[i] + result.shift[i];
  const value = (inclusive ? result.inclusive : result.own).get(sheet.wall)[i];
  return doubt >= LEAST_DOUBT_NS && isLarge(doubt, value, result.total.own.get(sheet.wall));
}

function shareIsDoubtful(result, i) {
  const {sheet} = result, tree = sheet.isTree, isWall = result.primary !== null && result.primary === sheet.wall;
  if (isWall && (sheet.times_hold_readings || (!tree && hasOthersTime(result, i)))) return true;
  if (!isWall || !result.doubt) return false;
  const ns = (tree ? result.inclusive : result.own).get(sheet.wall)[i], all = result.total.own.get(sheet.wall);
  const doubt = (tree ? result.doubtInclusive : result.doubt)[i], shift = (tree ? result.shiftInclusive : result.shift)[i];
  const share = all > 0 ? ns / all : 0, others = Math.max(0, result.total.doubt - doubt), self = doubt + shift;
  if (all <= 0 || result.total.doubt + shift < LEAST_DOUBT_NS) return false;
  return isLarge((1 - share) * self + share * others, all, all) || (doubt >= LEAST_DOUBT_NS && isLarge(doubt, ns, all)) ||
    (self >= LEAST_DOUBT_NS && 5 * self > ns);
}

function hasMark(result, marks, m) {
  const at = result.sheet.metrics.indexOf(m);
  return at >= 0 && Math.floor(marks / 2 ** at) % 2 === 1; // 50 bits at most
}

const number = (value, isAtLeast = false, isUncertain = false) => ({value, isAtLeast: Boolean(isAtLeast), isUncertain: Boolean(isUncertain)});
const NOTHING = number(null);

export function ownOf(result, i, m) {
  const {sheet, rows} = result, value = result.own.get(m)[i];
  if (rows[i].flags & FLAG.UNTIMED && m === sheet.wall) return NOTHING;
  if (sheet.archive.metrics[m].aggregation !== "sum" && !value) return NOTHING;
  return number(value, hasMark(result, rows[i].ownMarks, m),
    (m === sheet.wall && isDoubtful(result, i, false)) || (value !== 0 && hasMark(result, rows[i].words, m)));
}

export function inclusiveOf(result, i, m) {
  const values = result.inclusive.get(m);
  if (!values) return NOTHING;
  return number(values[i], hasMark(result, result.rows[i].within, m), m === result.sheet.wall && isDoubtful(result, i, true));
}

export const callFlagsOf = (result, i) => (result.callMarks ? result.callMarks[i] : result.rows[i].flags);

export function callsOf(result, i) {
  const flags = callFlagsOf(result, i);
  if (flags & FLAG.CALLS_UNKNOWN && !result.calls[i]) return NOTHING;
  return number(result.calls[i], flags & FLAG.CALLS_AT_LEAST);
}

export function primaryOf(result, i) {
  return result.primary === null ? result.calls[i] : (result.sheet.isTree ? result.inclusive : result.own).get(result.primary)?.[i] ?? 0;
}

export function totalOf(result) {
  return result.primary === null ? result.total.calls : result.total.own.get(result.primary);
}

export function shareOf(result, i) {
  const {sheet, rows, primary} = result, tree = sheet.isTree;
  if (primary !== null && sheet.archive.metrics[primary].aggregation !== "sum") return NOTHING;
  if (rows[i].flags & FLAG.UNTIMED && !tree && primary === sheet.wall && primaryOf(result, i) === 0) return NOTHING;
  const total = totalOf(result), value = primaryOf(result, i);
  return number(total ? (100 * value) / total : 0, false, isShareUncertain(result, i, value));
}

function isShareUncertain(result, i, value) {
  const {sheet, primary, rows} = result, of = sheet.isTree ? result.inclusive : result.own;
  if (primary === null) return false;
  if (shareIsDoubtful(result, i) || (!sheet.isTree && value !== 0 && hasMark(result, rows[i].words, primary))) return true;
  const metric = sheet.archive.metrics[primary];
  if (metric.is_uncertain || (metric.few_below && value !== 0 && value < metric.few_below)) return true;
  if (primary !== sheet.cpu || sheet.samples === null) return false;
  let sampled = value;
  if (sheet.has_wall_samples)
    for (const m of sheet.off_cpu) sampled -= of.get(m)?.[i] ?? 0;
  return (sheet.isTree ? result.samplesInclusive : result.samples)[i] < FEW_SAMPLES && value !== 0 && sampled > value / 3;
}

// How much of a context's cost on a thread is a row's: in trees all that is below it, too.
export function shareOfRow(result, i) {
  const {sheet, rule, rows} = result, {lift, node} = rule, id = rows[i].id;
  if (!sheet.isTree) {
    const shares = new Float64Array(lift.nClasses);
    for (let k = 0; k < lift.nClasses; k++)
      for (let at = lift.first[k]; at < lift.first[k + 1]; at++) if (lift.part[at] === id) shares[k] += lift.share ? lift.share[at] : 1;
    return (c) => (lift.classOf[c] ? shares[lift.classOf[c] - 1] : 0);
  }
  const within = new Int8Array(rule.nIds).fill(-1);
  const isWithin = (at) => {
    if (at < 0 || rule.indexOf[at] < 0) return 0;
    if (within[at] < 0) within[at] = at === id ? 1 : isWithin(rows[rule.indexOf[at]].parentId ?? -1);
    return within[at];
  };
  return (c, thread) => isWithin(node[sheet.is_machine ? thread : c] - 1);
}

// What each runner of a kind has of a row: its own cost, in trees with all below. Under rule split a
// runner has its part of what is divided.
export function partsOf(result, i, kind) {
  const {sheet, focus} = result, {archive} = sheet, isIn = sheet.contextsIn(focus), m = result.primary;
  const of = archive.runnerOf(kind), parts = new Float64Array(archive.runners.find((r) => r.kind === kind).items.length), shareOf = shareOfRow(result, i);
  sheet.eachCost(m, focus, isIn, (c, value, thread) => {
    const share = shareOf(c, thread);
    if (share) parts[of[thread]] += share * value;
  }, true);
  return parts;
}

// Of constructs under any rule: the cost that is theirs alone, and all that may be.
export function boundsOf(sheet, focus, m) {
  const merged = sheet.rows("merge", focus, [m]), own = merged.own.get(m), out = new Map();
  merged.rows.forEach((row, i) => {
    if (!own[i] || row.flags & FLAG.UNMAPPED) return;
    for (const {group} of row.members) {
      const bounds = out.get(group) ?? {least: 0, most: 0};
      bounds.most += own[i];
      if (row.members.length === 1) bounds.least = own[i];
      out.set(group, bounds);
    }
  });
  return out;
}

// --- the archive ---

// The first chunk of an interval. In a file it has no costs: they are made of when they were.
function withCosts(base, times, interval) {
  const made = new Map();
  for (const [m, lists] of times)
    for (const [what, values] of Object.entries(costsWithin(lists, interval))) made.set(`cost_${m}_${what}`, values);
  return {...base, texts: base.texts, has: (name) => made.has(name) || base.has(name), column: (name) => made.get(name) ?? base.column(name)};
}

// An archive of an interval has `whole`, that of the run, and `interval`.
export async function openArchive(source) {
  const base = await source.chunk(0);
  let times = null;
  const parts = new Map();
  const archive = makeArchive(base, source.chunk, {
    source,
    // By metric; null: it is not known when costs were.
    times: () => (archive.times_chunk ? (times ??= source.chunk(archive.times_chunk).then(readTimes)) : null),
    // What begins or ends with the run has all that is known of it there.
    async within(interval) {
      const key = `${interval.from}-${interval.to}`, chunk = source.part(interval);
      if (!parts.has(key)) {
        if (parts.size > 8) parts.clear();
        const part = await chunk(0), open = {from: interval.from, to: interval.to >= archive.run_ns ? Infinity : interval.to};
        const more = {source, interval, whole: archive, run: archive.run, sources: archive.sources, times: archive.times};
        parts.set(key, makeArchive(source.isServed ? part : withCosts(part, await archive.times(), open), chunk, more));
      }
      return parts.get(key);
    },
  });
  return archive;
}

function makeArchive(base, chunk, more) {
  const d = base.directory, n = d.n_contexts;
  const back = base.column("context_parent"), parent = new Int32Array(n);
  for (let c = 0; c < n; c++) parent[c] = back[c] ? c - back[c] : -1;
  const sheets = new Map();
  const archive = {
    ...d, base, nContexts: n, parent, nouns: makeNouns(base), runnerOf: (kind) => base.column(`thread_${kind}`),
    entry: (level, by, shape) => d.sheets.find((s) => s.level.toLowerCase() === level.toLowerCase() && s.by === by && (!shape || s.shape === shape)),
    async open(entry) {
      if (!sheets.has(entry.chunk)) {
        const sheet = makeSheet(archive, await chunk(entry.chunk), entry);
        sheet.whole = archive.whole ? await archive.whole.open(entry) : null;
        sheets.set(entry.chunk, sheet);
      }
      return sheets.get(entry.chunk);
    },
    sheet: (level, by, shape = "flat") => archive.open(archive.entry(level, by, shape)),
    interval: null, whole: null, ...more,
  };
  return archive;
}
