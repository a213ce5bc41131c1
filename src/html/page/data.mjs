// The profile, from the bytes that src/html/page_data.h describes. Figures are numbers while all of them together are
// below 2^53, and BigInt beyond: sums are exact in both.

const MAGIC = 'OFFCPU1\n';

// Into one buffer, whose size the gzip file tells: a browser takes longer to collect a stream of unknown size.
export async function unpack(base64) {
  const packed = Uint8Array.fromBase64?.(base64) ?? bytesOf(base64);
  const size = new DataView(packed.buffer).getUint32(packed.length - 4, true); // the end of a gzip file
  const bytes = new Uint8Array(size);
  const { readable, writable } = new DecompressionStream('gzip');
  await Promise.all([write(writable.getWriter(), packed), fill(bytes, readable.getReader())]);
  return bytes.buffer;
}

async function write(writer, packed) {
  await writer.write(packed);
  await writer.close();
}

async function fill(bytes, reader) {
  let at = 0;
  for (let { value } = await reader.read(); value !== undefined; { value } = await reader.read()) {
    bytes.set(value, at);
    at += value.length;
  }
}

// Where the browser has nothing of its own.
function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

export function decode(buffer) {
  const text = new TextDecoder();
  if (text.decode(new Uint8Array(buffer, 0, 8)) !== MAGIC) throw new Error('the profile in this page is damaged');
  const length = new DataView(buffer).getUint32(8, true);
  const header = JSON.parse(text.decode(new Uint8Array(buffer, 12, length)));
  const columns = readColumns(buffer, 12 + length, header.columns);
  const { strings } = header;
  const labels = new Map();
  for (const { name, values } of header.labels) {
    labels.set(name, { codes: columns.get(`label.${name}`), texts: values.map((index) => strings[index]) });
  }
  const { isWide, ...sums } = readSums(columns, header.before !== undefined);
  return {
    header,
    frames: {
      count: columns.get('frame.name').length,
      names: Array.from(columns.get('frame.name'), (index) => strings[index]),
      modules: Array.from(columns.get('frame.module'), (index) => strings[index]),
      kinds: columns.get('frame.kind'),
    },
    nodes: {
      parent: parents(columns.get('node.up')),
      frame: columns.get('node.frame'),
      inlined: columns.get('node.inlined'),
    },
    places: {
      files: Array.from(columns.get('place.file'), (index) => strings[index]),
      line: columns.get('place.line'),
      start: columns.get('place.start'),
    },
    steps: { up: columns.get('step.up'), place: columns.get('step.place') },
    rows: {
      count: columns.get('row.stack').length,
      stack: columns.get('row.stack'),
      waker: columns.get('row.waker'),
      step: columns.get('row.step'),
    },
    labels,
    ...sums,
    errors: readErrors(columns, 'error'),
    beforeErrors: readErrors(columns, 'before_error'),
    isWide,
    times: header.times ? readTimes(columns, header, isWide) : null,
  };
}

function readColumns(buffer, start, list) {
  const types = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: BigUint64Array };
  const columns = new Map();
  let offset = start;
  for (const { name, bytes, count } of list) {
    offset = Math.ceil(offset / 8) * 8;
    columns.set(name, new types[bytes](buffer, offset, count));
    offset += bytes * count;
  }
  return columns;
}

function parents(up) {
  const parent = new Uint32Array(up.length);
  for (let i = 1; i < up.length; ++i) parent[i] = i - up[i];
  return parent;
}

// `before`: those of the earlier recording, or null.
function readSums(columns, isComparing) {
  let most = 0;
  const read = (prefix) => {
    const sums = {};
    for (const name of ['count', 'blocked', 'runnable', 'samples', 'cpu']) {
      const wide = columns.get(`${prefix}.${name}`);
      sums[name] = { wide, narrow: numbers(wide) };
      for (const amount of sums[name].narrow) most += amount;
    }
    return sums;
  };
  const sums = read('sum');
  const before = isComparing ? read('before') : null;
  // Rounding of the sum above cannot hide more than this leaves.
  const isWide = most >= 2 ** 52;
  for (const side of [sums, before ?? {}]) {
    for (const [name, { wide, narrow }] of Object.entries(side)) side[name] = isWide ? wide : narrow;
  }
  return { sums, before, isWide };
}

// Standard errors, and the draws on which they are based; null where every wait was recorded.
function readErrors(columns, prefix) {
  if (!columns.has(`${prefix}.time`)) return null;
  const read = (name) => [name, numbers(columns.get(`${prefix}.${name}`))];
  return Object.fromEntries(['count', 'time', 'blocked', 'runnable', 'draws'].map(read));
}

// The columns of time, counted from the start of the recording: `lead` of them lie before the first that has anything.
// `start`: by row, its first slice; each slice has a column and figures, which are read when they are first needed.
function readTimes(columns, { times, duration_ns }, isWide) {
  const slices = columns.get('time.slices');
  const column = columns.get('time.column');
  const start = new Uint32Array(slices.length + 1);
  for (let row = 0; row < slices.length; ++row) start[row + 1] = start[row] + slices[row];
  const columnNs = times.column_ns;
  const lead = Math.max(0, Math.floor(Number(times.begin_ns) / columnNs));
  const beginNs = Number(times.begin_ns) - lead * columnNs;
  let last = 0;
  for (const one of column) if (one > last) last = one;
  const count = Math.max(last + 1 + lead, Math.ceil((duration_ns - beginNs) / columnNs));
  let sums = null;
  return {
    columnNs,
    beginNs,
    lead,
    columns: count,
    start,
    column,
    get sums() {
      sums ??= Object.fromEntries(
        ['count', 'blocked', 'runnable', 'samples', 'cpu'].map((name) => {
          const figure = columns.get(`time.${name}`);
          return [name, isWide ? figure : numbers(figure)];
        }),
      );
      return sums;
    },
  };
}

// Without a BigInt for each of them.
function numbers(wide) {
  const halves = new Uint32Array(wide.buffer, wide.byteOffset, wide.length * 2);
  const narrow = new Float64Array(wide.length);
  for (let i = 0; i < narrow.length; ++i) narrow[i] = halves[2 * i] + halves[2 * i + 1] * 2 ** 32;
  return narrow;
}

// Figures of a tree: as wide as the profile needs.
export function figures(isWide, count) {
  return isWide ? new BigUint64Array(count) : new Float64Array(count);
}
