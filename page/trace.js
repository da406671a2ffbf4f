// The trace of a run, for any window of time: calls where they are few, and elsewhere whose time it
// was in equal steps, exactly. A file has all events of a trace, or coarse steps if they are too
// many; the server answers for windows of these (docs/formats/page.md).
//
//     const trace = await openTrace(archive);
//     const data = await trace.window(fromNs, toNs, nSteps, firstThread, nThreads);
//     data.rows[0].lanes ?? data.rows[0].shares;
//
// Times are nanoseconds from the start of the run. Lanes are calls by depth: lanes[d] is {start, end,
// what, spent, flags}, by time. Shares are {level, number, first, what, ns, rest}: step i is from
// number[i] * 2 ** level on, and has shares first[i] to first[i + 1].

// As mapping/archive/trace.h has them; and of calls: the end is not known, or is after the window.
const TRACE_CUT = 1, TRACE_FOREIGN = 2;
export const CALL_BEGIN_CUT = TRACE_CUT, CALL_CUT = 16, CALL_GOES_ON = 32;

// --- from a chunk ---

// {ns, what, flags} of a thread; what: 0 a leave, else 1 + number of the name.
function eventsOfChunk(chunk, names) {
  const counts = chunk.column("event_n") ?? [], ns = chunk.column("event_ns"), what = chunk.column("event_what"), given = chunk.column("event_flags");
  const from = chunk.directory.from_ns, out = [];
  let at = 0, flagged = 0;
  for (const n of counts) {
    const events = {ns: new Float64Array(n), what: new Int32Array(n), flags: new Uint8Array(n), n, first: at};
    for (let i = 0; i < n; i++, at++) {
      const word = what[at], who = Math.floor(word / 2);
      events.ns[i] = from + ns[at];
      events.what[i] = who ? names[who - 1] + 1 : 0;
      if (word % 2) events.flags[i] = given[flagged++];
    }
    out.push(events);
  }
  return out;
}

function sharesOfChunk(chunk, names, threads, first) {
  const {steps} = chunk.directory, counts = chunk.column("step_n") ?? [], number = chunk.column("step_number"), sizes = chunk.column("step_shares");
  const rest = chunk.column("step_rest"), what = chunk.column("share_what"), ticks = chunk.column("share_ticks");
  const totalN = chunk.column("total_n"), totalWhat = chunk.column("total_what"), totalTicks = chunk.column("total_ticks"), out = [];
  let step = 0, share = 0, total = 0;
  counts.forEach((n, t) => {
    const toNs = 1e9 / threads[first + t].tick_hz, list = {level: steps.level, number: new Float64Array(n), first: new Uint32Array(n + 1), rest: new Float64Array(n), totals: new Map()};
    let size = 0;
    for (let i = 0; i < n; i++) size += sizes[step + i];
    list.what = new Int32Array(size);
    list.ns = new Float64Array(size);
    for (let i = 0, k = 0; i < n; i++, step++) {
      list.number[i] = steps.first + number[step];
      list.rest[i] = rest[step] * toNs;
      for (let j = 0; j < sizes[step]; j++, k++, share++) {
        list.what[k] = names[what[share]];
        list.ns[k] = ticks[share] * toNs;
      }
      list.first[i + 1] = k;
    }
    for (let i = 0; i < totalN[t]; i++, total++) list.totals.set(names[totalWhat[total]], totalTicks[total] * toNs);
    out.push(list);
  });
  return out;
}

// --- from events ---

// Calls by depth, those of other stacks below the thread's own; what is open at an end has no end. At one
// depth calls end in the order in which they begin.
export function lanesOfEvents(events, untilNs) {
  const lanes = [[], []], open = [[], []];
  let spent = 0, since = -1; // on other stacks: up to now, and since when
  const spentAway = (ns) => spent + (since >= 0 ? ns - since : 0);
  const end = (call, depth, ns, isForeign, flags) => {
    const lane = (lanes[isForeign][depth] ??= {start: [], end: [], what: [], spent: [], flags: []});
    lane.start.push(call.ns);
    lane.end.push(ns);
    lane.what.push(call.what);
    lane.spent.push(Math.max(0, ns - call.ns - (isForeign ? 0 : spentAway(ns) - call.away)));
    lane.flags.push(call.flags | flags);
  };
  for (let i = 0; i < events.n; i++) {
    const isForeign = events.flags[i] & TRACE_FOREIGN ? 1 : 0, stack = open[isForeign], ns = events.ns[i];
    if (isForeign !== (since >= 0 ? 1 : 0)) {
      spent = spentAway(ns);
      since = isForeign ? ns : -1;
    }
    if (events.what[i]) stack.push({ns, what: events.what[i] - 1, away: spentAway(ns), flags: events.flags[i] & 15});
    else if (stack.length) end(stack.pop(), stack.length, ns, isForeign, events.flags[i] & TRACE_CUT ? CALL_CUT : 0);
  }
  for (const isForeign of [0, 1]) while (open[isForeign].length) end(open[isForeign].pop(), open[isForeign].length, untilNs, isForeign, CALL_GOES_ON);
  return [...lanes[0], ...lanes[1]];
}

// Who runs after each event: 1 + number of the name, 0 nobody.
function innermostOf(events) {
  const who = new Int32Array(events.n), open = [[], []];
  for (let i = 0; i < events.n; i++) {
    const stack = open[events.flags[i] & TRACE_FOREIGN ? 1 : 0];
    if (events.what[i]) stack.push(events.what[i]);
    else stack.pop();
    who[i] = stack.length ? stack[stack.length - 1] : 0;
  }
  return who;
}

// The first position whose value is not below.
export function lowerBound(values, value) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Whose time it was in steps [first, end) of a level.
export function sharesOfEvents(events, level, first, end, nNames) {
  const who = (events.who ??= innermostOf(events)), size = 2 ** level, sum = new Float64Array(nNames), touched = [];
  const number = [], starts = [0], what = [], ns = [], totals = new Map();
  let i = Math.max(0, lowerBound(events.ns, first * size) - 1), step = -1;
  const flush = () => {
    if (touched.length) {
      for (const name of touched) {
        what.push(name);
        ns.push(sum[name]);
        totals.set(name, (totals.get(name) ?? 0) + sum[name]);
        sum[name] = 0;
      }
      number.push(step);
      starts.push(what.length);
      touched.length = 0;
    }
  };
  for (const toNs = end * size; i < events.n && events.ns[i] < toNs; i++) {
    const name = who[i] - 1;
    let from = Math.max(events.ns[i], first * size);
    const until = Math.min(i + 1 < events.n ? events.ns[i + 1] : events.untilNs ?? from, toNs);
    while (from < until && name >= 0) {
      const at = Math.floor(from / size), to = Math.min(until, (at + 1) * size);
      if (at !== step) {
        flush();
        step = at;
      }
      if (sum[name] === 0) touched.push(name);
      sum[name] += to - from;
      from = to;
    }
  }
  flush();
  return {level, number, first: starts, what, ns, rest: new Float64Array(number.length), totals};
}

// Several threads as one: sums of steps of one level.
export function addShares(lists) {
  const at = lists.map(() => 0), number = [], first = [0], what = [], ns = [], rest = [], totals = new Map();
  for (;;) {
    let step = Infinity;
    lists.forEach((list, k) => { if (at[k] < list.number.length) step = Math.min(step, list.number[at[k]]); });
    if (step === Infinity) break;
    const sum = new Map();
    let smaller = 0;
    lists.forEach((list, k) => {
      if (list.number[at[k]] !== step) return;
      for (let i = list.first[at[k]]; i < list.first[at[k] + 1]; i++) sum.set(list.what[i], (sum.get(list.what[i]) ?? 0) + list.ns[i]);
      smaller += list.rest[at[k]++];
    });
    for (const [name, amount] of sum) {
      what.push(name);
      ns.push(amount);
    }
    number.push(step);
    rest.push(smaller);
    first.push(what.length);
  }
  for (const list of lists) for (const [name, amount] of list.totals) totals.set(name, (totals.get(name) ?? 0) + amount);
  return {level: lists[0]?.level ?? 0, number, first, what, ns, rest, totals};
}

// The finest level in which a window has at most so many steps, as mapping/view/timeline.c has it.
export function stepsOf(fromNs, toNs, nSteps) {
  let level = 0;
  while (Math.floor(toNs / 2 ** level) - Math.floor(fromNs / 2 ** level) >= nSteps) level++;
  const first = Math.floor(fromNs / 2 ** level);
  return {level, first, n: Math.floor(toNs / 2 ** level) + 1 - first};
}

// --- all of it ---

const callIn = (lane, ns) => {
  const at = lowerBound(lane.start, ns + 1) - 1;
  return at >= 0 && lane.end[at] >= ns ? at : -1;
};

export async function openTrace(archive) {
  const whole = archive.has_trace ? await archive.source.timeline("all") : null;
  if (!whole?.directory.threads?.length) return null;
  const {threads, from_ns: fromNs, to_ns: toNs, is_whole: isWhole} = whole.directory, names = [], byName = new Map();
  // Numbers of names differ from chunk to chunk. Codes of one construct are one.
  const namesOf = (chunk) => Array.from(chunk.column("name"), (name, i) => {
    const of = (column) => chunk.texts[chunk.column(column)[i]];
    const item = {name: of("name"), kind: of("name_kind"), file: of("name_file"), line: chunk.column("name_line")[i], level: of("name_level"), verb: of("name_verb")};
    const key = JSON.stringify(item);
    if (!byName.has(key)) {
      byName.set(key, names.length);
      names.push(item);
    }
    return byName.get(key);
  });
  const wholeNames = namesOf(whole), events = isWhole ? eventsOfChunk(whole, wholeNames) : null, rough = isWhole ? null : sharesOfChunk(whole, wholeNames, threads, 0);
  const canAsk = !isWhole && archive.source.isServed;

  function ofFile(from, to, nSteps, first, n) {
    const steps = isWhole ? stepsOf(from, to, nSteps) : whole.directory.steps, rows = [];
    const most = Math.max(nSteps * whole.directory.events_per_step, 1);
    for (let t = first; t < Math.min(first + n, threads.length); t++) {
      const of = events?.[t], inside = of ? lowerBound(of.ns, to) - lowerBound(of.ns, from) : Infinity;
      if (!of) rows.push({thread: t, shares: rough[t]});
      else if (inside <= most) rows.push({thread: t, lanes: (of.lanes ??= lanesOfEvents(of, threads[t].end_ns)), events: of});
      else rows.push({thread: t, shares: sharesOfEvents(of, steps.level, steps.first, steps.first + steps.n, names.length)});
    }
    return {steps, first, rows};
  }

  async function ofServer(from, to, nSteps, first, n, signal) {
    const chunk = await archive.source.timeline(`${from}/${to}/${nSteps}/${first}/${n}`, signal), of = namesOf(chunk);
    const events = eventsOfChunk(chunk, of), shares = sharesOfChunk(chunk, of, threads, first), {steps} = chunk.directory;
    const rows = events.map((e, i) => {
      e.untilNs = Math.min(to, threads[first + i].end_ns);
      return shares[i].number.length ? {thread: first + i, shares: shares[i]} : {thread: first + i, lanes: lanesOfEvents(e, e.untilNs), events: e};
    });
    return {steps, first, rows};
  }

  // Messages: positions of events, as the chunk has them.
  const send = whole.column("message_send") ?? [], receive = whole.column("message_receive") ?? [];
  const placeOf = (position) => {
    let t = 0;
    while (t + 1 < events.length && position >= events[t + 1].first) t++;
    return {thread: t, ns: events[t].ns[position - events[t].first], at: position - events[t].first};
  };
  let messages = null;
  // {depth, end} of the call that an event begins.
  const callOf = (place) => {
    const of = events[place.thread], lanes = (of.lanes ??= lanesOfEvents(of, threads[place.thread].end_ns));
    for (let depth = 0; depth < lanes.length; depth++) {
      const {start, what, end} = lanes[depth];
      for (let i = lowerBound(start, place.ns); i < start.length && start[i] === place.ns; i++) if (what[i] === of.what[place.at] - 1) return {depth, end: end[i]};
    }
    return {depth: 0, end: place.ns};
  };
  return {
    threads, fromNs, toNs, isWhole, canAsk, names, roughSteps: whole.directory.steps, mostEvents: whole.directory.most_events, messagesLeftOut: whole.directory.messages_left_out,
    nEvents: threads.reduce((sum, t) => sum + t.n_events, 0), callIn,
    // Answers at once if it can: only windows of the server are promises.
    window: (from, to, nSteps, first, n, signal) => (canAsk ? ofServer(Math.floor(from), Math.ceil(to), nSteps, first, n, signal) : ofFile(from, to, nSteps, first, n)),
    // Ahead, while nobody waits: true until all is there.
    prepare() {
      const t = isWhole ? events.findIndex((e) => !e.lanes) : -1;
      if (t >= 0) events[t].lanes = lanesOfEvents(events[t], threads[t].end_ns);
      return t >= 0;
    },
    // All threads as one, over all of the run.
    overview: (nSteps) => addShares(isWhole ? ofFileShares(nSteps) : rough),
    sharesOf: (row, steps) => row.shares ?? sharesOfEvents(row.events, steps.level, steps.first, steps.first + steps.n, names.length),
    // {from: {thread, depth, ns}, to}, by the time of sending; from: when the send began, to: when the receive ended.
    messages() {
      messages ??= Array.from(send, (position, i) => {
        const from = placeOf(position), to = placeOf(receive[i]), {depth, end} = callOf(to);
        return {from: {thread: from.thread, depth: callOf(from).depth, ns: from.ns}, to: {thread: to.thread, depth, ns: end}};
      }).sort((a, b) => a.from.ns - b.from.ns);
      return messages;
    },
  };

  function ofFileShares(nSteps) {
    const steps = stepsOf(fromNs, toNs, nSteps);
    return events.map((e) => sharesOfEvents(e, steps.level, steps.first, steps.first + steps.n, names.length));
  }
}
