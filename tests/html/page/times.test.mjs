import assert from 'node:assert/strict';
import test from 'node:test';
import { cellCauses, columnTime, heatMap, spanText } from '../../../src/html/page/times.mjs';
import { colorsOf, contrast } from '../../../src/html/page/colors.mjs';
import { decode } from '../../../src/html/page/data.mjs';
import { defaultState, fromHash, toHash } from '../../../src/html/page/state.mjs';
import { liveLinks } from '../../../src/html/page/live.mjs';
import { madeProfile } from './made_profile.mjs';
import { selectRows } from '../../../src/html/page/rows.mjs';
import { sidesOf } from '../../../src/html/page/sides.mjs';

const server = { process: 'server', pid: 10, kind: 'sleeping' };
const ROWS = [
  { ...server, stack: ['main', 'lock'], comm: 'worker-1', cause: 'lock', blocked: 500, runnable: 20, count: 5,
    times: [{ column: 0, blocked: 100, count: 1 }, { column: 2, blocked: 400, runnable: 20, count: 4 }] },
  { ...server, stack: ['main', 'read'], comm: 'worker-2', cause: 'pipe', blocked: 200, runnable: 3, count: 7,
    times: [{ column: 2, blocked: 200, runnable: 3, count: 7 }] },
  { ...server, stack: ['main', 'loop'], comm: 'loop', cause: 'poll', blocked: 900, runnable: 70, count: 9,
    idle: 'server: loop', times: [{ column: 1, blocked: 900, runnable: 70, count: 9 }] },
  { process: 'client', pid: 11, stack: ['main', 'lock'], comm: 'client', cause: 'lock', blocked: 100, count: 1,
    times: [{ column: 3, blocked: 60, count: 0 }, { column: 4, blocked: 40, count: 1 }] },
];
const TIMES = { times: { column_ns: 1e9, begin_ns: '-500000000' } };

function made(rows = ROWS, header = {}) {
  return decode(madeProfile(rows, { ...TIMES, ...header }));
}
const ofSpan = (profile, from, to) => sidesOf(profile, { span: [from, to], other: null });
const all = (profile, part = {}) => ({ ...defaultState(profile), ...part });
const map = (profile, part = {}, options = {}) =>
  heatMap(profile, all(profile, part), { mostBins: 100, turned: new Set(), ...options });

test('a span has what lies in its columns, and all spans together have everything', () => {
  const profile = made();
  const inSpan = (from, to, part) => selectRows(profile, all(profile, part), ofSpan(profile, from, to)).total;
  assert.equal(inSpan(0, 1), 100n);
  assert.equal(inSpan(2, 3), 623n);
  assert.equal(inSpan(2, 3, { value: 'count' }), 11n);
  assert.equal(inSpan(3, 5, { filters: [{ key: 'process', text: 'client (11)', not: false }] }), 100n);
  for (const part of [{}, { hideIdle: false }, { value: 'runnable' }, { value: 'count', hideIdle: false }]) {
    const whole = selectRows(profile, all(profile, part)).total;
    for (let cut = 1; cut < 6; ++cut) assert.equal(inSpan(0, cut, part) + inSpan(cut, 6, part), whole);
  }
});

test('the rows of a span are those that have something in it', () => {
  const profile = made();
  assert.deepEqual(selectRows(profile, all(profile), ofSpan(profile, 3, 4)).rows, [3]);
});

test('a line for each process, with most first, and its cells add up to the total', () => {
  const profile = made();
  const heat = map(profile);
  assert.deepEqual(heat.lines.map(({ text, total }) => [text, total]), [['server (10)', 793], ['client (11)', 100]]);
  assert.deepEqual(Array.from(heat.lines[0].cells), [100, 70, 623, 0, 0, 0]);
  assert.deepEqual(Array.from(heat.lines[1].cells), [0, 0, 0, 60, 40, 0]);
  assert.equal(heat.most, 623);
  assert.equal(heat.total, 893n);
  assert.equal(heat.untimed, 0n);
  assert.equal(heat.total, selectRows(profile, all(profile)).total);
});

test('a cell has the color of the cause with most', () => {
  const heat = map(made());
  assert.deepEqual(heat.causes, ['lock', 'pipe', 'poll']);
  assert.equal(heat.causes[heat.lines[0].causes[2]], 'lock');
  assert.equal(heat.causes[heat.lines[0].causes[1]], 'poll');
  assert.deepEqual(cellCauses(heat, heat.lines[0], 2), [['lock', 420], ['pipe', 203]]);
});

test('a process that is open shows its threads, which add up to it', () => {
  const heat = map(made(), {}, { turned: new Set(['server (10)']) });
  assert.deepEqual(heat.lines.map(({ text, level }) => [text, level]),
    [['server (10)', 0], ['worker-*', 1], ['loop', 1], ['client (11)', 0]]);
  const [server10, workers, loop] = heat.lines;
  for (let bin = 0; bin < heat.bins; ++bin) {
    assert.equal(workers.cells[bin] + loop.cells[bin], server10.cells[bin]);
  }
});

test('a process that is alone is open, until it is closed', () => {
  const profile = made();
  const lines = (turned) => map(profile, { filters: [{ key: 'process', text: 'server (10)', not: false }] },
    { turned: new Set(turned) }).lines.map(({ text, isOpen }) => [text, isOpen]);
  assert.deepEqual(lines([])[0], ['server (10)', true]);
  assert.equal(lines([]).length, 3);
  assert.deepEqual(lines(['server (10)']), [['server (10)', false]]);
});

test('filters and waits for work are those of the graph', () => {
  const profile = made();
  assert.equal(map(profile, { hideIdle: false }).total, 1793n);
  const only = { filters: [{ key: 'cause', text: 'pipe', not: false }] };
  assert.deepEqual(map(profile, only).lines.map(({ text }) => text), ['server (10)', 'worker-*']);
  assert.equal(map(profile, only).total, 203n);
});

test('rows that show nothing are on no line', () => {
  const idle = { ...ROWS[2], process: 'idler', pid: 12, runnable: 0, times: [{ column: 1, blocked: 900, count: 9 }] };
  const heat = map(made([...ROWS, idle]));
  assert.equal(heat.total, 893n);
  assert.equal(heat.untimed, 0n);
  assert.ok(!heat.lines.some(({ text }) => text.startsWith('idler')));
});

test('processes beyond those that have lines are one line', () => {
  const rows = [];
  for (let i = 1; i <= 45; ++i) {
    rows.push({ process: 'p', pid: i, stack: ['main'], cause: `c${i % 9}`, blocked: 100 + i, count: 1,
      times: [{ column: i % 3, blocked: 100 + i, count: 1 }] });
  }
  const heat = map(made(rows));
  assert.equal(heat.lines.length, 41);
  assert.equal(heat.lines[40].text, '5 other processes');
  assert.equal(heat.lines[40].total, 101 + 102 + 103 + 104 + 105);
  assert.equal(heat.lines.reduce((sum, { total }) => sum + total, 0), Number(heat.total));
  assert.equal(heat.causes.length, 8);
  assert.equal(heat.causes[7], 'other causes');
});

test('where there is no room for a column each, cells are of several', () => {
  const heat = map(made(), {}, { mostBins: 2 });
  assert.equal(heat.binColumns, 3);
  assert.deepEqual(Array.from(heat.lines[0].cells), [793, 0]);
  assert.deepEqual(Array.from(heat.lines[1].cells), [0, 100]);
});

test('what has no place in time is told', () => {
  const rows = [...ROWS, { ...server, stack: ['old'], comm: 'old', cause: 'disk', blocked: 70, count: 1 }];
  const heat = map(made(rows));
  assert.equal(heat.total, 963n);
  assert.equal(heat.untimed, 70n);
});

test('sums are exact beyond 2^53', () => {
  const huge = 9007199254740993n;
  const rows = [{ ...server, stack: ['main'], cause: 'lock', blocked: 2n * huge, count: 2,
    times: [{ column: 0, blocked: huge, count: 1 }, { column: 1, blocked: huge, count: 1 }] }];
  const profile = made(rows);
  assert.equal(selectRows(profile, all(profile), ofSpan(profile, 1, 2)).total, huge);
  assert.equal(map(profile).untimed, 0n);
});

test('columns before the first that has something are seen too', () => {
  const profile = made(ROWS, { times: { column_ns: 1e9, begin_ns: '3500000000' }, duration_ns: 12e9 });
  assert.equal(profile.times.lead, 3);
  assert.equal(profile.times.beginNs, 5e8);
  assert.equal(profile.times.columns, 12);
  assert.equal(selectRows(profile, all(profile), ofSpan(profile, 3, 4)).total, 100n);
  assert.equal(map(profile).lines[0].cells[3], 100);
});

test('a column has the time of day', () => {
  const profile = made(); // of 14:13:20.123, 1790000000 s after 1970
  assert.equal(columnTime(profile, 0), '14:13:20', '14:13:19.623, to the next second');
  assert.equal(spanText(profile, [0, 3]), '14:13:20 to 14:13:23 UTC, 2.50 s', 'it began in the first one');
  const nobody = made(ROWS, { start_unix_ns: '0' });
  assert.equal(columnTime(nobody, 0), '0 s');
  assert.equal(spanText(nobody, [1, 3]), '500 ms to 2.50 s, 2.00 s');
});

test('the address has the span, if there is such a one', () => {
  const profile = made();
  const defaults = defaultState(profile);
  const known = { values: [], groups: [], columns: profile.times.columns };
  assert.equal(toHash({ ...defaults, span: [2, 5] }, defaults), 'span=2-5');
  assert.equal(toHash(defaults, defaults), '');
  assert.deepEqual(fromHash('span=2-5', defaults, known).span, [2, 5]);
  const both = { ...defaults, span: [2, 5], other: [0, 1] };
  assert.equal(toHash(both, defaults), 'span=2-5&with=0-1');
  assert.deepEqual(fromHash('with=0-1&span=2-5', defaults, known), both);
  assert.deepEqual(fromHash('with=0-1', defaults, known), defaults, 'nothing to compare it with');
  for (const bad of ['5-2', '2-2', '0-7', 'a-b', '-1-3', '1-', '1-2-3', '1e3-2e3']) {
    assert.equal(fromHash(`span=${bad}`, defaults, known).span, null, bad);
  }
});

test('a recording without times has no heat map', () => {
  assert.equal(decode(madeProfile(ROWS)).times, null);
});

test('a cause keeps its color whatever is filtered', () => {
  const rows = Array.from({ length: 9 }, (_, i) => ({ ...ROWS[0], cause: `c${i}`, blocked: 100 - i }));
  const profile = made(rows);
  const colorOf = (filters) => {
    const { causes, colors } = map(profile, { filters });
    return Object.fromEntries(causes.map((text, i) => [text, colors[i]]));
  };
  const only = (...causes) => causes.map((text) => ({ key: 'cause', text, not: false }));
  assert.deepEqual(colorOf([]), { c0: 0, c1: 1, c2: 2, c3: 3, c4: 4, c5: 5, c6: 6, 'other causes': 7 });
  assert.deepEqual(colorOf(only('c3', 'c5')), { c3: 3, c5: 5 });
  assert.deepEqual(colorOf(only('c1', 'c7', 'c8')), { c1: 1, c7: 0, c8: 2 }, 'others have what is free');
});

test('the colors of causes stand out from what is empty', () => {
  for (const isDark of [false, true]) {
    const { causes, nothing, ink, ground } = colorsOf(isDark);
    for (const color of causes) assert.ok(contrast(color, nothing) >= 3, color);
    assert.ok(contrast(ink, ground) >= 4.5);
    assert.equal(new Set(causes).size, causes.length);
  }
});

test('the page of the service says where it is as a file, and where a span is', () => {
  const profile = made(ROWS, { live: true }); // from 1790000000.12 s to 5 s later
  assert.deepEqual(liveLinks(profile, null), {
    now: 'live',
    span: 'live?since=1790000000&until=1790000006',
    file: 'live?download=1&since=1790000000&until=1790000006',
    pprof: 'debug/pprof/offcpu?since=1790000000&until=1790000006',
  });
  // Column 2 begins 1.5 s after the start.
  assert.equal(liveLinks(profile, [2, 3]).span, 'live?since=1790000001&until=1790000003');
});
