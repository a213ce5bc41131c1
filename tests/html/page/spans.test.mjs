// Two spans of a recording that are compared. What each of them has is what it has alone (times.test.mjs), so what is
// expected here is computed from that by hand.
import assert from 'node:assert/strict';
import test from 'node:test';
import { buildView } from '../../../src/html/page/view.mjs';
import { changedFunctions, nodeChange } from '../../../src/html/page/change.mjs';
import { decode } from '../../../src/html/page/data.mjs';
import { defaultState } from '../../../src/html/page/state.mjs';
import { madeProfile } from './made_profile.mjs';
import { scaleOf } from '../../../src/html/page/scale.mjs';
import { selectRows } from '../../../src/html/page/rows.mjs';
import { sidesOf, sidesText } from '../../../src/html/page/sides.mjs';
import { spanNs } from '../../../src/html/page/times.mjs';
import { totalText } from '../../../src/html/page/totals.mjs';

const MS = 1e6;
const server = { process: 'server', pid: 10, comm: 'worker' };
const at = (column, blocked, runnable = 0) => ({ column, blocked: blocked * MS, runnable: runnable * MS, count: 1 });
const ROWS = [
  { ...server, stack: ['main', 'lock'], cause: 'lock', blocked: 1600 * MS, count: 3,
    times: [at(1, 200), at(4, 600), at(5, 800)] },
  { ...server, stack: ['main', 'read'], cause: 'pipe', blocked: 700 * MS, count: 2, times: [at(1, 500), at(2, 200)] },
  { ...server, stack: ['main', 'loop'], cause: 'poll', idle: 'server: loop', blocked: 900 * MS, runnable: 100 * MS,
    count: 1, times: [at(4, 900, 100)] },
];
const HEADER = { duration_ns: 6e9, times: { column_ns: 1e9, begin_ns: '0' } };

function shown(span, other, part = {}, header = HEADER) {
  const profile = decode(madeProfile(ROWS, header));
  const state = { ...defaultState(profile), span, other, ...part };
  const sides = sidesOf(profile, state);
  const selection = selectRows(profile, state, sides);
  const scale = scaleOf(sides, state.normalised);
  const skip = new Uint8Array(profile.frames.count);
  return { profile, selection, scale, view: buildView(profile, selection, { groups: [], skip, withWakers: true, scale }) };
}

const changes = ({ view }, figure = 'total') =>
  Object.fromEntries(changedFunctions(view, 0).map((line) => {
    const { before, after } = line[figure];
    return [view.name(line.frame), [before / MS, after / MS]];
  }));

test('the figures of both are of a second, or as they were recorded', () => {
  // Two seconds and one.
  assert.deepEqual(changes(shown([4, 5], [1, 3])),
    { main: [450, 700], lock: [100, 600], read: [350, 0], loop: [0, 100] });
  assert.deepEqual(changes(shown([4, 5], [1, 3], { normalised: false })),
    { main: [900, 700], lock: [200, 600], read: [700, 0], loop: [0, 100] });
});

test('the earlier span is what was before, whichever was chosen first', () => {
  assert.deepEqual(changes(shown([1, 3], [4, 5])), changes(shown([4, 5], [1, 3])));
});

test('spans may share columns, or be the same', () => {
  assert.deepEqual(changes(shown([0, 4], [1, 3]), 'self').lock, [50, 100]);
  const { view } = shown([1, 2], [1, 2]);
  assert.equal(nodeChange(view, 0).change, 0);
});

test('filters and waits for work are those of both', () => {
  const only = { filters: [{ key: 'cause', text: 'lock', not: false }] };
  assert.deepEqual(changes(shown([4, 5], [1, 3], only)), { main: [100, 600], lock: [100, 600] });
  const { selection } = shown([4, 5], [1, 3]);
  assert.deepEqual([selection.before.hidden, selection.hidden], [0n, 900n * 1000000n]);
});

test('the seconds of a span are those of the recording', () => {
  const profile = decode(madeProfile(ROWS, { ...HEADER, duration_ns: 5.5e9, times: { column_ns: 1e9, begin_ns: '-300000000' } }));
  assert.equal(spanNs(profile, [0, 1]), 0.7e9, 'the recording begins in it');
  assert.equal(spanNs(profile, [1, 3]), 2e9);
  assert.equal(spanNs(profile, [5, 6]), 0.8e9, 'the recording ends in it');
});

test('both spans are said', () => {
  const { profile, selection, scale } = shown([4, 5], [1, 3]);
  assert.equal(totalText(profile, selection, 'off_cpu', scale),
    'off the CPU: +250 ms a second (450 ms → 700 ms), +55.6 %');
  assert.equal(sidesText(profile, { span: [4, 5], other: [1, 3] }),
    'before 14:13:21 to 14:13:23 UTC, 2.00 s, after 14:13:24 to 14:13:25 UTC, 1.00 s');
  assert.equal(sidesText(profile, { span: [4, 5], other: null }), '14:13:24 to 14:13:25 UTC, 1.00 s');
  assert.equal(sidesText(profile, { span: null, other: null }), '');
});
