// Profiles as src/html/page_data.h describes them, made here a second time: what the page reads must not hang on what
// one writer does.
import { gzipSync } from 'node:zlib';

const LABELS = [
  ...['pid', 'process', 'exe', 'container', 'image', 'tid', 'comm'],
  ...['cgroup', 'pod', 'unit', 'kind', 'cause', 'wait', 'syscall', 'idle'],
];
const BEFORE = ['count', 'blocked', 'runnable', 'samples', 'cpu'];
const ERRORS = ['count', 'time', 'blocked', 'runnable', 'draws'];
const SUMS = ['count', 'blocked', 'runnable', 'samples', 'cpu', 'max'];

class Index {
  constructor(...first) {
    this.list = first;
    this.known = new Map(first.map((value, i) => [value, i]));
  }
  of(key, value = key) {
    if (!this.known.has(key)) this.known.set(key, this.list.push(value) - 1);
    return this.known.get(key);
  }
}

class Made {
  constructor() {
    this.strings = new Index('');
    this.frames = new Index();
    this.nodes = new Index();
    this.nodes.of('root', [0, 0, true]);
    this.steps = new Index();
    this.steps.of('root', [0, 0]);
    this.places = new Index();
    this.places.of('', { file: 0, line: 0, start: 0 });
  }
  // {file, line, start}; `inlined` is the node's.
  place(at) {
    if (at === undefined) return 0;
    const { file = '', line = 0, start = 0 } = at;
    return this.places.of(`${file}:${line} ${start}`, { file: this.strings.of(file), line, start });
  }
  // A frame is "name", or [name, kind, module, place].
  // Where its stack ends: [node, step].
  path(stack) {
    let [node, step] = [0, 0];
    for (const frame of stack) {
      const [name, kind, module, at] = Array.isArray(frame) ? frame : [frame];
      const entry = [this.strings.of(name), this.strings.of(module ?? ''), kind ?? 0];
      const index = this.frames.of(entry.join(), entry);
      const place = this.place(at);
      node = this.nodes.of(`${node} ${index}`, [node, index, true]);
      this.nodes.list[node][2] &&= at?.inlined ?? false;
      step = this.steps.of(`${step} ${place}`, [step, place]);
    }
    return [node, step];
  }
}

// rows: [{stack, waker, blocked, runnable, count, samples, cpu, max, and labels by name}]; where header.before says
// that two recordings are compared, also before: {blocked, runnable, count, samples, cpu}. Where header.times says that
// there are columns of time, also times: [{column, blocked, runnable, count, samples, cpu}].
// In a sample, rows and what is before them may have error: {count, time, blocked, runnable, draws}.
export function madeProfile(rows, header = {}) {
  const made = new Made();
  const stacks = rows.map(({ stack }) => made.path(stack));
  const wakers = rows.map(({ waker }) => made.path(waker ?? [])[0]);
  const values = new Map(LABELS.map((name) => [name, new Index(made.strings.of(''))]));
  // The family of a cause is its own name where nothing says more.
  const label = (row, name) => row[name] ?? (name === 'wait' ? row.cause : undefined) ?? '';
  const codes = (name) => rows.map((row) => values.get(name).of(made.strings.of(String(label(row, name)))));
  const before = header.before ? BEFORE : [];
  const errors = [['error', (row) => row.error], ['before_error', (row) => row.before?.error]].filter(([, of]) => rows.some(of));
  const slices = rows.map(({ times }) => times ?? []);
  const times = [
    ['time.slices', 4, slices.map((list) => list.length)],
    ['time.column', 4, slices.flat().map(({ column }) => column)],
    ...BEFORE.map((name) => [`time.${name}`, 8, slices.flat().map((slice) => slice[name] ?? 0)]),
  ];
  const columns = [
    ['frame.name', 4, made.frames.list.map(([name]) => name)],
    ['frame.module', 4, made.frames.list.map(([, module]) => module)],
    ['frame.kind', 1, made.frames.list.map(([, , kind]) => kind)],
    ['node.up', 4, made.nodes.list.map(([parent], i) => i - parent)],
    ['node.frame', 4, made.nodes.list.map(([, frame]) => frame)],
    ['node.inlined', 1, made.nodes.list.map(([, , inlined], i) => Number(i > 0 && inlined))],
    ['step.up', 4, made.steps.list.map(([parent], i) => i - parent)],
    ['step.place', 4, made.steps.list.map(([, place]) => place)],
    ['place.file', 4, made.places.list.map(({ file }) => file)],
    ['place.line', 4, made.places.list.map(({ line }) => line)],
    ['place.start', 4, made.places.list.map(({ start }) => start)],
    ['row.stack', 4, stacks.map(([node]) => node)],
    ['row.step', 4, stacks.map(([, step]) => step)],
    ['row.waker', 4, wakers],
    ...LABELS.map((name) => [`label.${name}`, 4, codes(name)]),
    ...SUMS.map((name) => [`sum.${name}`, 8, rows.map((row) => row[name] ?? 0)]),
    ...(header.times ? times : []),
    ...errors.flatMap(([prefix, of]) =>
      ERRORS.map((name) => [`${prefix}.${name}`, 8, rows.map((row) => of(row)?.[name] ?? 0)])),
    ...before.map((name) => [`before.${name}`, 8, rows.map((row) => row.before?.[name] ?? 0)]),
  ];
  const head = {
    host: 'web1', start_unix_ns: '1790000000123456789', duration_ns: 5e9, value: 'off_cpu', samples: false,
    hide_idle: true, unsampled_ns: 0, summary: 'recorded 5 s\n', pruned: 0, source_links: [], ...header,
    strings: made.strings.list,
    labels: LABELS.map((name) => ({ name, values: values.get(name).list })),
    columns: columns.map(([name, bytes, list]) => ({ name, bytes, count: list.length })),
  };
  return bytesOf(Buffer.from(JSON.stringify(head)), columns);
}

function bytesOf(header, columns) {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  const parts = [Buffer.from('OFFCPU1\n'), length, header];
  let size = 12 + header.length;
  for (const [, bytes, list] of columns) {
    const padding = (8 - (size % 8)) % 8;
    const column = Buffer.alloc(bytes * list.length);
    list.forEach((number, i) => {
      if (bytes === 8) column.writeBigUInt64LE(BigInt(number), 8 * i);
      else column.writeUIntLE(number, bytes * i, bytes);
    });
    parts.push(Buffer.alloc(padding), column);
    size += padding + column.length;
  }
  const all = Buffer.concat(parts);
  return all.buffer.slice(all.byteOffset, all.byteOffset + all.length);
}

export function packed(buffer) {
  return gzipSync(Buffer.from(buffer)).toString('base64');
}
