import assert from 'node:assert/strict';
import test from 'node:test';
import { changeWords, nodeChange } from '../../../src/html/page/change.mjs';
import { detailLines, told } from '../../../src/html/page/details.mjs';
import { errorWords, errorsOf } from '../../../src/html/page/errors.mjs';
import { heatMap, isUnsampled } from '../../../src/html/page/times.mjs';
import { labelAmounts, totalText } from '../../../src/html/page/totals.mjs';
import { functions, neighbours } from '../../../src/html/page/sandwich.mjs';
import { buildView } from '../../../src/html/page/view.mjs';
import { decode } from '../../../src/html/page/data.mjs';
import { defaultState } from '../../../src/html/page/state.mjs';
import { madeProfile } from './made_profile.mjs';
import { scaleOf } from '../../../src/html/page/scale.mjs';
import { selectRows } from '../../../src/html/page/rows.mjs';
import { sidesOf } from '../../../src/html/page/sides.mjs';

// Two exact rows, one of 400 draws that stand for 1 us each, and one of a single draw.
const ROWS = [
  { process: 'server', pid: 10, comm: 'a', cause: 'lock', stack: ['main', 'lock'], blocked: 500e3, runnable: 100e3, count: 5,
    times: [{ column: 0, blocked: 500e3, runnable: 100e3, count: 5 }] },
  { process: 'client', pid: 11, comm: 'b', cause: 'lock', stack: ['main', 'lock'], blocked: 100e3, count: 1,
    times: [{ column: 3, blocked: 100e3, count: 1 }] },
  { process: 'server', pid: 10, comm: 'a', cause: 'pipe', stack: ['main', 'read'], blocked: 300e3, runnable: 100e3, count: 800,
    error: { count: 80, time: 20e3, blocked: 15e3, runnable: 5e3, draws: 400 },
    times: [{ column: 0, blocked: 75e3, runnable: 25e3, count: 200 }, { column: 2, blocked: 225e3, runnable: 75e3, count: 600 }] },
  { process: 'other', pid: 12, comm: 'c', cause: 'pipe', stack: ['main', 'peek'], blocked: 1e3, count: 2,
    error: { count: 2, time: 1e3, blocked: 1e3, runnable: 0, draws: 1 }, times: [{ column: 1, blocked: 1e3, count: 2 }] },
];
const HEADER = { times: { column_ns: 1e9, begin_ns: '0' }, unsampled_ns: 3000 };

const made = (rows = ROWS, header = HEADER) => decode(madeProfile(rows, header));
const stateOf = (profile, part = {}) => ({ ...defaultState(profile), ...part });
const select = (profile, part) => selectRows(profile, stateOf(profile, part));
function viewOf(profile, selection = select(profile), groups = []) {
  return buildView(profile, selection, { groups, skip: new Uint8Array(profile.frames.count), withWakers: false });
}
const find = (view, name) => Array.from({ length: view.count }, (_, i) => i).find((node) => view.nodeName(node) === name);
const words = (view, name) => errorWords(view.error(find(view, name)), view.total[find(view, name)]);

test('an error is a part of the whole, never none and never long', () => {
  const text = (error, draws = 100) => errorWords({ variance: error ** 2, draws }, 1e6);
  assert.equal(text(0), '');
  assert.equal(text(40e3), ' ±4 %');
  assert.equal(text(9.4e3), ' ±0.9 %');
  assert.equal(text(9.6e3), ' ±1 %');
  assert.equal(text(499), ' ±<0.1 %');
  assert.equal(text(10e6), ' ±>999 %');
  assert.equal(text(330e3, 9), ' ±33 %?');
  assert.equal(text(330e3, 10), ' ±33 %');
  assert.equal(text(330e3, 0), ' ±33 %');
  assert.equal(errorWords({ variance: 4, draws: 1 }, 0n), '');
});

test('variances of rows add up to those of bars, of labels and of the total', () => {
  const profile = made();
  const view = viewOf(profile);
  assert.equal(words(view, 'read'), ' ±5 %');
  assert.equal(words(view, 'lock'), '');
  assert.equal(words(view, 'peek'), ' ±100 %?');
  assert.equal(view.error(find(view, 'main')).variance, 20e3 ** 2 + 1e3 ** 2);
  assert.equal(words(view, 'main'), ' ±2 %');
  assert.match(totalText(profile, view.selection, 'off_cpu', null), /^1.10 ms ±2 % off the CPU/);
  assert.deepEqual(labelAmounts(view, 'cause', true).map(({ text, amount }) => [text, amount]),
    [['lock', '700 us, 63.6 %'], ['pipe', '401 us ±5 %, 36.4 %']]);
  assert.match(told(view, find(view, 'read'), true), /^read: 400 us ±5 %, /);
  assert.match(detailLines(view, find(view, 'lock'), 'off_cpu')[1][1], /^700 us = 700,000 ns/);
});

test('functions have the errors of what is in them', () => {
  const view = viewOf(made());
  const list = functions(view, 0);
  const text = (name, what) => {
    const { errors, ...line } = list.find(({ frame }) => view.name(frame) === name);
    return errorWords(errors[what], line[what]);
  };
  assert.equal(text('main', 'total'), ' ±2 %');
  assert.equal(text('main', 'self'), '');
  assert.equal(text('read', 'self'), ' ±5 %');
  assert.equal(text('lock', 'total'), '');
  const main = list.find(({ frame }) => view.name(frame) === 'main').frame;
  const [lock, read] = neighbours(view, 0, main).callees;
  assert.equal(errorWords(lock.errors.total, lock.total), '');
  assert.equal(errorWords(read.errors.total, read.total), ' ±5 %');
});

test('each value has the error of its own', () => {
  const profile = made();
  const text = (value) => totalText(profile, select(profile, { value }), value, null);
  assert.match(text('blocked'), /^901 us ±2 % blocked/);
  assert.match(text('runnable'), /^200 us ±3 % runnable/);
  assert.match(text('count'), /^808 times ±10 % number/);
});

test('an exact recording has no errors', () => {
  const profile = made(ROWS.map((row) => ({ ...row, error: undefined })), { ...HEADER, unsampled_ns: 0 });
  assert.equal(profile.errors, null);
  assert.equal(viewOf(profile).variance, null);
  assert.doesNotMatch(totalText(profile, select(profile), 'off_cpu', null), /±/);
  const heat = heatMap(profile, stateOf(profile), { mostBins: 100, turned: new Set() });
  assert.equal(heat.lines.some(({ isEstimate }) => isEstimate), false);
});

// What the draws of a row stand for lies in the span as far as it can.
test('a span has its part of the variance, or more', () => {
  const profile = made();
  const inSpan = (from, to) => selectRows(profile, stateOf(profile), sidesOf(profile, { span: [from, to], other: null })).totalError;
  assert.deepEqual(inSpan(2, 3), { variance: 0.75 * 400e6, draws: 300 });
  assert.deepEqual(inSpan(0, 1), { variance: 0.25 * 400e6, draws: 100 });
  assert.deepEqual(inSpan(3, 4), { variance: 0, draws: 0 });
  const half = { time: [20e3], blocked: [20e3], runnable: [0], count: [80], draws: [100] }; // 200 us of 400 are drawn
  const error = (ns) => errorsOf(half, { blocked: [400e3], runnable: [0] }, { blocked: [ns], runnable: [0] })(0, ['blocked']);
  assert.equal(error(100e3).variance, 0.5 * 400e6);
  assert.equal(error(300e3).variance, 400e6);
});

test('a cell of which nothing was sampled is told apart from an empty one', () => {
  const profile = made();
  const heat = heatMap(profile, stateOf(profile), { mostBins: 100, turned: new Set() });
  const marks = Object.fromEntries(
    heat.lines.map((line) => [line.text, Array.from(line.cells, (_, bin) => (isUnsampled(profile, line, bin) ? '/' : line.cells[bin] === 0 ? ' ' : 'x')).join('')]),
  );
  assert.deepEqual(marks, { 'server (10)': 'x/x//', 'client (11)': '   x ', 'other (12)': '/x///' });
  const [server] = heat.lines;
  assert.equal(server.variance[2], 0.75 * 400e6);
  assert.equal(server.draws[2], 300);
  profile.header.unsampled_ns = 0;
  assert.equal(isUnsampled(profile, server, 1), false, 'all were drawn');
});

test('a change has the errors of both recordings', () => {
  const rows = [{ process: 'server', pid: 10, stack: ['main', 'read'], cause: 'pipe', blocked: 800e6, count: 8,
    error: { count: 1, time: 30e6, blocked: 30e6, runnable: 0, draws: 50 },
    before: { blocked: 500e6, count: 5, error: { count: 1, time: 40e6, blocked: 40e6, runnable: 0, draws: 50 } } }];
  const profile = made(rows, { before: { host: 'web1', start_unix_ns: '1', duration_ns: 1e9, summary: '' }, duration_ns: 1e9 });
  const scale = scaleOf({ beforeNs: 1e9, afterNs: 1e9 }, true);
  const selection = select(profile);
  const view = buildView(profile, selection, { groups: [], skip: new Uint8Array(profile.frames.count), withWakers: false, scale });
  assert.equal(nodeChange(view, find(view, 'read')).error, 50e6);
  assert.equal(changeWords(nodeChange(view, 0), true, scale), '+300 ms ±50.0 ms a second (500 ms → 800 ms), +60.0 %');
  assert.match(totalText(profile, selection, 'off_cpu', scale), /\+300 ms ±50.0 ms a second/);
});
