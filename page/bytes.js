// Chunks as cmd/show/page_bytes.c writes them (docs/formats/page.md): a directory in JSON, then
// columns. A column is decoded when it is first asked for, and kept.
//
//     const chunk = decodeChunk(bytes);
//     chunk.directory.n_contexts; chunk.column("context_parent")[7]; chunk.texts[3];

const VERSION = 1;

function decodeNumbers(bytes, at, n, isDelta) {
  const out = new Float64Array(n);
  let before = 0;
  for (let i = 0; i < n; i++) {
    let value = bytes[at++], scale = 128;
    if (value > 127) {
      value -= 128;
      for (;;) {
        const byte = bytes[at++];
        value += (byte & 127) * scale;
        if (byte < 128) break;
        scale *= 128;
      }
    }
    if (isDelta) value = before += value % 2 ? -(value + 1) / 2 : value / 2;
    out[i] = value;
  }
  return out;
}

function decodeReals(bytes, at, n) {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, 8 * n);
  return Float64Array.from({length: n}, (_, i) => view.getFloat64(8 * i, true));
}

function decodeTexts(bytes, at, n) {
  const decoder = new TextDecoder(), out = new Array(n);
  for (let i = 0; i < n; i++) {
    let length = 0, scale = 1;
    for (;;) {
      const byte = bytes[at++];
      length += (byte & 127) * scale;
      if (byte < 128) break;
      scale *= 128;
    }
    out[i] = decoder.decode(bytes.subarray(at, at + length));
    at += length;
  }
  return out;
}

// whole: the chunk that this one is of an interval of; what is the same in both it has not again.
export function decodeChunk(bytes, whole = null) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 12 || view.getUint32(0, false) !== 0x504d5047)
    throw new Error("this is no data of PerfMap's page: is the file cut off?");
  if (view.getUint32(4, true) !== VERSION)
    throw new Error(`the data has version ${view.getUint32(4, true)}, and this page reads version ${VERSION}`);
  const start = 12 + view.getUint32(8, true);
  const directory = JSON.parse(new TextDecoder().decode(bytes.subarray(12, start)));
  const columns = new Map(), decoded = new Map();
  let at = start;
  for (const [name, kind, n, size] of directory.columns) {
    columns.set(name, {kind, n, at});
    at += size;
  }
  if (at !== bytes.length) throw new Error(`the data has ${bytes.length} bytes, not ${at}: is the file cut off?`);
  const decode = ({kind, n, at}) =>
    kind === "s" ? decodeTexts(bytes, at, n) : kind === "f" ? decodeReals(bytes, at, n) : decodeNumbers(bytes, at, n, kind === "d");
  const same = new Set(directory.same);
  const column = (name) => {
    if (same.has(name)) return whole.column(name);
    if (!decoded.has(name)) decoded.set(name, columns.has(name) ? decode(columns.get(name)) : null);
    return decoded.get(name);
  };
  return {directory, column, has: (name) => columns.has(name) || same.has(name), get texts() { return column("texts"); }};
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}

// In the file: elements of at most 32 MB, for browsers give none of the text of huge ones.
async function embedded(name, number) {
  const parts = [];
  let size = 0;
  for (let i = 0; ; i++) {
    const element = document.getElementById(`${name}-${number}-${i}`);
    if (!element) break;
    const part = fromBase64(element.textContent);
    if (part.length !== Number(element.dataset.bytes)) throw new Error(`part ${i} of ${name} ${number} is damaged`);
    parts.push(part);
    size += part.length;
    element.remove();
  }
  if (!parts.length) throw new Error(`${name} ${number} is not in this file`);
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer());
}

// A chunk of the file that is JSON.
export const embeddedText = async (name, number) => JSON.parse(new TextDecoder().decode(await embedded(name, number)));

export async function ask(address, options = {}) {
  const answer = await fetch(address, {cache: "no-store", ...options});
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

const asked = async (address, options) => new Uint8Array(await (await ask(address, options)).arrayBuffer());

function keeping(make) {
  const chunks = new Map();
  return (number) => {
    if (!chunks.has(number)) chunks.set(number, make(number));
    return chunks.get(number);
  };
}

// Where chunks come from: the file itself, or the server of `perfmap view`. `part` gives those of an
// interval; in a file these have no costs (times.js makes them).
export function chunkSource() {
  const isServed = document.documentElement.dataset.served === "yes";
  const chunk = keeping(async (number) => decodeChunk(isServed ? await asked(`chunk/${number}`) : await embedded("chunk", number)));
  const ofFile = keeping(async (number) => decodeChunk(await embedded("part", number), await chunk(number)));
  const part = ({from, to}) => (isServed ? keeping(async (number) => decodeChunk(await asked(`chunk/${number}/${from}-${to}`))) : ofFile);
  // "all", or a window of the trace, which only the server has.
  const whole = keeping(async () => decodeChunk(isServed ? await asked("timeline/all") : await embedded("timeline", 0)));
  const timeline = async (name, signal) => (name === "all" ? whole(name) : decodeChunk(await asked(`timeline/${name}`, {signal})));
  return {isServed, chunk, part, timeline};
}
