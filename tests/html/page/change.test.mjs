// Two recordings that are compared: what changed, in which figures and which words.
import assert from 'node:assert/strict';
import test from 'node:test';
import { changeOf, changeWords, markOf, nodeChange } from '../../../src/html/page/change.mjs';
import { ratioWords, signed, stepOf } from '../../../src/html/page/change.mjs';
import { changedFunctions, changedNeighbours, changedShares } from '../../../src/html/page/change.mjs';
import { decode } from '../../../src/html/page/data.mjs';
import { defaultState, fromHash, toHash } from '../../../src/html/page/state.mjs';
import { detailLines, told } from '../../../src/html/page/details.mjs';
import { formatScaled, scaleOf, unitOf } from '../../../src/html/page/scale.mjs';
import { buildView } from '../../../src/html/page/view.mjs';
import { hiddenText, recordingText, summaryText, totalText } from '../../../src/html/page/totals.mjs';
import { layOut } from '../../../src/html/page/layout.mjs';
import { madeProfile } from './made_profile.mjs';
import { plumbingFrames } from '../../../src/html/page/plumbing.mjs';
import { search } from '../../../src/html/page/search.mjs';
import { selectRows } from '../../../src/html/page/rows.mjs';
import { sidesOf } from '../../../src/html/page/sides.mjs';
import { usefulGroups } from '../../../src/html/page/labels.mjs';

const MS = 1e6;
// Two seconds before, four after: what had the same time in a second has twice as much after.
const BEFORE = { host: 'web0', start_unix_ns: '1790000000123456789', duration_ns: 2e9, summary: 'recorded 2 s\n' };
const HEADER = { duration_ns: 4e9, summary: 'recorded 4 s\n', before: BEFORE };
const SERVER = { process: 'server', comm: 'worker' };
const ROWS = [
  { ...SERVER, stack: ['main', 'lock'], cause: 'lock', blocked: 2000 * MS, count: 4,
    before: { blocked: 200 * MS, count: 2 } },
  { ...SERVER, stack: ['main', 'read'], cause: 'pipe', blocked: 1200 * MS, count: 6,
    before: { blocked: 600 * MS, count: 3 } },
  { ...SERVER, stack: ['main', 'gone'], cause: 'lock', before: { blocked: 100 * MS, runnable: 100 * MS, count: 1 } },
  { process: 'client', comm: 'worker', stack: ['main', 'new'], cause: 'poll', blocked: 40 * MS, count: 1 },
  { ...SERVER, stack: ['main', 'loop'], cause: 'poll', idle: 'server: loop', blocked: 800 * MS, count: 1,
    before: { blocked: 1000 * MS, count: 1 } },
];

function viewOf(part = {}, rows = ROWS) {
  const profile = decode(madeProfile(rows, HEADER));
  const state = { ...defaultState(profile), ...part };
  const skip = plumbingFrames(profile.frames);
  const scale = scaleOf(sidesOf(profile, state), state.normalised);
  return buildView(profile, selectRows(profile, state), { groups: state.groups, skip, withWakers: true, scale });
}

function find(view, name) {
  for (let node = 1; node < view.count; ++node) if (view.nodeName(node) === name) return node;
  throw new Error(`no ${name}`);
}

const ofNode = (view, name) => {
  const { before, after, change } = nodeChange(view, find(view, name));
  return [before, after, change].map((ns) => ns / MS);
};

test('figures are of a second, as those of offcpu diff, or as they were recorded', () => {
  const view = viewOf();
  assert.deepEqual(ofNode(view, 'lock'), [100, 500, 400]);
  assert.deepEqual(ofNode(view, 'read'), [300, 300, 0]);
  assert.deepEqual(ofNode(view, 'server'), [500, 800, 300]);
  const raw = viewOf({ normalised: false });
  assert.deepEqual(ofNode(raw, 'lock'), [200, 2000, 1800]);
  assert.deepEqual(ofNode(raw, 'read'), [600, 1200, 600]);
});

test('what is in one recording alone is there, and the root has all', () => {
  const view = viewOf();
  assert.deepEqual(ofNode(view, 'gone'), [100, 0, -100]);
  assert.deepEqual(ofNode(view, 'new'), [0, 10, 10]);
  assert.equal(view.exact(0), 3240n * 1000000n);
  assert.equal(view.before.exact(0), 1000n * 1000000n);
});

test('bars are as wide as both together', () => {
  const widthsOf = (view, width) => {
    const bars = layOut(view, 0, width);
    return new Map(Array.from(bars.node, (node, i) => [view.nodeName(node), Math.round(bars.width[i])]));
  };
  const widths = widthsOf(viewOf(), 1310);
  assert.equal(widths.get('all'), 1310);
  assert.equal(widths.get('lock'), 600);
  assert.equal(widths.get('read'), 600);
  assert.equal(widths.get('gone'), 100);
  assert.equal(widths.get('new'), 10);
  assert.equal(widthsOf(viewOf({ normalised: false }), 4240).get('lock'), 2200);
});

test('steps of a change, the same both ways', () => {
  const step = (before, after) => stepOf(changeOf(before, after));
  assert.deepEqual([step(0, 0), step(100, 100), step(100, 104), step(100, 96)], [0, 0, 0, 0]);
  assert.deepEqual([step(100, 105), step(100, 149), step(105, 100), step(149, 100)], [1, 1, -1, -1]);
  assert.deepEqual([step(100, 150), step(100, 299), step(150, 100), step(299, 100)], [2, 2, -2, -2]);
  assert.deepEqual([step(100, 300), step(0, 1), step(300, 100), step(1, 0)], [3, 3, -3, -3]);
});

test('a change is said in words, so that its color is not needed', () => {
  const mark = (before, after) => markOf(changeOf(before, after), true);
  assert.equal(mark(100, 160), '+60%');
  assert.equal(mark(160, 100), '-38%');
  assert.equal(mark(0, 5), '+new');
  assert.equal(mark(5, 0), '-gone');
  assert.equal(mark(100, 101), '=');
  assert.equal(markOf(changeOf(100, 160), false), '+');
  assert.equal(markOf(changeOf(160, 100), false), '-');
  assert.equal(ratioWords(changeOf(100, 160)), '+60.0 %');
  assert.equal(ratioWords(changeOf(160, 100)), '-37.5 %');
  assert.equal(ratioWords(changeOf(100, 1099)), '+999.0 %');
  assert.equal(ratioWords(changeOf(100, 123556)), '+123,456 %');
  assert.equal(ratioWords(changeOf(0, 0)), '=');
  const rate = { isRate: true };
  assert.equal(changeWords(changeOf(500 * MS, 800 * MS), true, rate), '+300 ms a second (500 ms → 800 ms), +60.0 %');
  assert.equal(changeWords(changeOf(100 * MS, 0), true, { isRate: false }), '-100 ms (100 ms → 0 ns), gone');
  assert.equal(changeWords(changeOf(1.5, 3), false, rate), '+1.5 times a second (1.5 → 3.0), +100.0 %');
  assert.equal(signed(0, true, rate), '+0 ns', 'as offcpu diff writes it');
});

test('figures have as many digits as say something', () => {
  assert.equal(formatScaled(1234567.8, true, { isRate: true }), '1.23 ms');
  assert.equal(formatScaled(0.4, true, { isRate: true }), '0 ns');
  assert.equal(formatScaled(-12.34, false, { isRate: true }), '12.3');
  assert.equal(formatScaled(1234567.8, false, { isRate: true }), '1,234,568');
  assert.equal(formatScaled(12, false, { isRate: false }), '12');
  assert.equal(unitOf(true, { isRate: false }), '');
  assert.deepEqual(scaleOf({ beforeNs: 5e8, afterNs: 0 }, true),
    { before: 2, after: 1, isRate: true });
});

test('functions, their callers and their callees have both', () => {
  const view = viewOf({ groups: [] });
  const line = ({ frame, self, total }) => [view.name(frame), self.change / MS, total.before / MS, total.after / MS];
  const lines = new Map(changedFunctions(view, 0).map(line).map(([name, ...rest]) => [name, rest]));
  assert.deepEqual(lines.get('main'), [0, 500, 810]);
  assert.deepEqual(lines.get('lock'), [400, 100, 500]);
  assert.deepEqual(lines.get('gone'), [-100, 100, 0]);
  const frame = view.frame[find(view, 'main')];
  const { callers, callees } = changedNeighbours(view, 0, frame);
  assert.deepEqual(callees.map((one) => [view.name(one.frame), one.total.change / MS]),
    [['lock', 400], ['gone', -100], ['new', 10], ['read', 0]]);
  assert.deepEqual(callers.map((one) => [one.frame, one.total.change / MS]), [[-1, 310]]);
});

test('labels have both, what changed most first', () => {
  const view = viewOf();
  const list = changedShares(view, 0, 'cause').map(({ text, before, after }) => [text, before / MS, after / MS]);
  assert.deepEqual(list, [['lock', 200, 500], ['poll', 0, 10], ['pipe', 300, 300]]);
});

test('a search has both', () => {
  const view = viewOf();
  assert.equal(search(view, /lock|gone/, 0).total, 2000n * 1000000n);
  assert.equal(search(view.before, /lock|gone/, 0).total, 400n * 1000000n);
});

test('waits for work are hidden in both, and told', () => {
  const { profile, selection, scale } = viewOf();
  assert.equal(hiddenText(profile, selection, 'off_cpu', scale),
    'Waiting for work is hidden: 500 ms a second before, 200 ms a second after.');
  assert.equal(totalText(profile, selection, 'off_cpu', scale),
    'off the CPU: +310 ms a second (500 ms → 810 ms), +62.0 %');
  assert.equal(viewOf({ hideIdle: false }).before.exact(0), 2000n * 1000000n);
});

test('rows without stacks are told of both', () => {
  const rows = [...ROWS, { ...SERVER, stack: [['[pruned]', 3]], blocked: 4 * MS, before: { blocked: 4 * MS } }];
  const profile = decode(madeProfile(rows, { ...HEADER, pruned: 7 }));
  const state = defaultState(profile);
  const selection = selectRows(profile, { ...state, hideIdle: false });
  assert.equal(hiddenText(profile, selection, 'off_cpu', scaleOf(sidesOf(profile, state), true)),
    'The stacks of the 7 shortest rows are not in this page: 2.00 ms a second before, 1.00 ms a second after, ' +
    'shown as [pruned].');
});

test('both recordings are told', () => {
  const { profile } = viewOf();
  assert.equal(recordingText(profile), 'before: web0, 2026-09-21 14:13:20 UTC, 2.00 s recorded; ' +
    'after: web1, 2026-09-21 14:13:20 UTC, 4.00 s recorded');
  assert.equal(summaryText(profile), 'before\n\nrecorded 2 s\n\nafter\n\nrecorded 4 s\n');
});

test('details have old, new and change', () => {
  const view = viewOf();
  const details = Object.fromEntries(detailLines(view, find(view, 'server'), 'off_cpu'));
  assert.equal(details.before, '500 ms a second, 1,000,000,000 ns recorded');
  assert.equal(details.after, '800 ms a second, 3,200,000,000 ns recorded');
  assert.equal(details.change,
    '+300 ms a second (500 ms → 800 ms), +60.0 %; +60.0 % of all that there was before');
  assert.equal(details.itself, undefined, 'it has none');
  assert.equal(details.how, 'blocked +350 ms a second (450 ms → 800 ms), +77.8 %, ' +
    'runnable, waiting for a CPU -50.0 ms a second (50.0 ms → 0 ns), gone');
  assert.equal(details.cause, 'lock +300 ms, pipe +0 ns');
  const leaf = Object.fromEntries(detailLines(view, find(view, 'gone'), 'off_cpu'));
  assert.equal(leaf.itself, '-100 ms a second (100 ms → 0 ns), gone');
  assert.equal(told(view, find(view, 'gone'), true),
    'gone: -100 ms a second (100 ms → 0 ns), gone; lock -100 ms');
});

test('sums beyond 2^53 are exact in both', () => {
  const big = 2n ** 60n + 1n;
  const view = viewOf({}, [{ ...ROWS[0], blocked: 3, before: { blocked: big } }]);
  assert.equal(view.before.exact(0), big);
  assert.equal(view.exact(0), 3n);
});

test('processes and threads are told by names', () => {
  const { profile } = viewOf();
  assert.deepEqual(defaultState(profile).groups, ['command', 'thread']);
  const keys = usefulGroups(profile).map(({ key }) => key);
  assert.ok(keys.includes('command') && keys.includes('cause'));
  assert.ok(!keys.includes('process') && !keys.includes('name') && !keys.includes('tid'));
});

test('whether figures are normalised is in the address', () => {
  const { profile } = viewOf();
  const defaults = defaultState(profile);
  const known = { values: ['off_cpu'], groups: ['command', 'thread'] };
  assert.equal(defaults.normalised, true);
  const state = { ...defaults, normalised: false };
  assert.equal(toHash(state, defaults), 'normalised=0');
  assert.deepEqual(fromHash('#normalised=0', defaults, known), state);
});
