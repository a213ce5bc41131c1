// Who ended waits, as a tree below the graph.
import assert from 'node:assert/strict';
import test from 'node:test';
import { buildWakers, foldsOf, hasWakers, knownOf, linksOf } from '../../../src/html/page/wakers.mjs';
import { defaultState, fromHash, toHash } from '../../../src/html/page/state.mjs';
import { buildView } from '../../../src/html/page/view.mjs';
import { changeWords, nodeChange } from '../../../src/html/page/change.mjs';
import { decode } from '../../../src/html/page/data.mjs';
import { layOut } from '../../../src/html/page/layout.mjs';
import { madeProfile } from './made_profile.mjs';
import { plumbingFrames } from '../../../src/html/page/plumbing.mjs';
import { scaleOf } from '../../../src/html/page/scale.mjs';
import { selectRows } from '../../../src/html/page/rows.mjs';
import { sidesOf } from '../../../src/html/page/sides.mjs';
import { wakersText } from '../../../src/html/page/totals.mjs';

const KERNEL = 1;
const link = (thread, ...frames) => [['woken by', 4], ...frames, [thread, 5], ['server-10', 5]];
const wake = ['try_to_wake_up', KERNEL];
const SERVER = { process: 'server', pid: 10, comm: 'worker', cause: 'lock', count: 1 };
const ROWS = [
  { ...SERVER, stack: ['main', 'lock'], blocked: 500, waker: link('giver-1', wake, 'unlock', 'give') },
  { ...SERVER, stack: ['main', 'lock'], blocked: 200, waker: link('giver-2', wake, 'unlock', 'give') },
  { ...SERVER, stack: ['main', 'read'], blocked: 40,
    waker: [['woken by', 4], wake, ['timer', KERNEL], ['[interrupt]', 5]] },
  { ...SERVER, stack: ['main', 'read'], blocked: 10 },
];

function viewOf(rows = ROWS, header = {}, part = {}) {
  const profile = decode(madeProfile(rows, header));
  const state = { ...defaultState(profile), groups: [], ...part };
  const scale = profile.before ? scaleOf(sidesOf(profile, state), true) : null;
  const options = { groups: state.groups, skip: plumbingFrames(profile.frames), withWakers: state.wakers, scale };
  return buildView(profile, selectRows(profile, state), options);
}

function find(view, name) {
  for (let node = 1; node < view.count; ++node) if (view.nodeName(node) === name) return node;
  throw new Error(`no ${name}`);
}

const wakersOf = (view, node = 0, part = {}) =>
  buildWakers(view, node, { skip: plumbingFrames(view.profile.frames), isWhole: false, apart: true, ...part });

// A line for each node with something of its own: what leads to it, and how much that is.
function lines(view) {
  const all = [];
  for (let node = 0; node < view.count; ++node) {
    const own = Array.from(view.childrenOf(node)).reduce((rest, child) => rest - view.exact(child), view.exact(node));
    if (own > 0n) all.push(`${view.path(node).map((at) => view.nodeName(at)).join(';')} ${own}`);
  }
  return all.sort();
}

test('each link has its thread first, then the way back from where it woke', () => {
  assert.deepEqual(lines(wakersOf(viewOf())), [
    ' 10',
    'woken by [interrupt];try_to_wake_up;timer 40',
    'woken by giver-* (server-10);try_to_wake_up;unlock;give 700',
  ]);
});

test('processes of a command are one where they are not told apart', () => {
  const woken = (process) => [...link('giver-1', wake).slice(0, -1), [process, 5]];
  const row = (process) => ({ ...SERVER, stack: ['main', 'lock'], blocked: 1, waker: woken(process) });
  const view = viewOf([row('server-10'), row('server-11'), row('job-3-77'), row('job-4-78'), row('python3-5')]);
  assert.equal(lines(wakersOf(view)).length, 5);
  const names = lines(wakersOf(view, 0, { apart: false })).map((line) => line.replace(/;.* /, ' '));
  assert.deepEqual(names,
    ['woken by giver-* (job-*) 2', 'woken by giver-* (python3) 1', 'woken by giver-* (server) 2']);
});

test('they are of what is selected, and as wide as that', () => {
  const view = viewOf();
  const wakers = wakersOf(view, find(view, 'read'));
  assert.equal(wakers.nodeName(0), 'read');
  assert.equal(wakers.exact(0), 50n);
  assert.equal(knownOf(wakers), 40n);
  assert.deepEqual(lines(wakers), [' 10', 'woken by [interrupt];try_to_wake_up;timer 40']);
  assert.equal(wakersText(wakers, 'off_cpu'), 'Who ended the waits of read: known for 40 ns, 80.0 %');
  const bars = layOut(wakers, 0, 500);
  const widths = new Map(Array.from(bars.node, (node, i) => [wakers.nodeName(node), Math.round(bars.width[i])]));
  assert.deepEqual([...widths],
    [['read', 500], ['woken by [interrupt]', 400], ['try_to_wake_up', 400], ['timer', 400]]);
});

test('the graph of waits ends where they wait', () => {
  const view = viewOf();
  const names = layOut(view, 0, 1000).node.map((node) => view.nodeName(node));
  assert.deepEqual(names.sort(), ['all', 'lock', 'main', 'read']);
  const mark = find(view, 'woken by');
  const zoomed = layOut(view, mark, 1000).node.map((node) => view.nodeName(node));
  assert.ok(zoomed.includes('unlock'), 'the tree of text can lead there');
});

test('a chain has up to four links, each with the frames that say most', () => {
  const frames = Array.from({ length: 20 }, (_, i) => `f${i}`);
  const chain = ['a', 'b', 'c', 'd'].flatMap((thread) => link(thread, wake, ...frames));
  const view = viewOf([{ ...SERVER, stack: ['main', 'lock'], blocked: 7, waker: chain }]);
  const [line, ...others] = lines(wakersOf(view));
  assert.deepEqual(others, []);
  const names = line.replace(/ 7$/, '').split(';');
  assert.equal(names.length, 4 * (1 + 8 + 1));
  assert.deepEqual(names.filter((name) => name.startsWith('woken by')),
    ['a', 'b', 'c', 'd'].map((thread) => `woken by ${thread} (server-10)`));
  assert.deepEqual(names.slice(8, 11), ['f6', '… more frames', 'woken by b (server-10)']);
  const [whole] = lines(wakersOf(view, 0, { isWhole: true }));
  assert.equal(whole.split(';').length, 4 * (1 + 21));
  assert.ok(!whole.includes('…'));
});

test('chains that differ only beyond what is shown are one', () => {
  const long = (count) => link('a', ...Array.from({ length: count }, (_, i) => `f${i}`));
  const row = (count) => ({ ...SERVER, stack: ['main'], blocked: 1, waker: long(count) });
  assert.equal(lines(wakersOf(viewOf([row(9), row(10), row(30)]))).length, 1);
  assert.equal(lines(wakersOf(viewOf([row(8), row(9)]))).length, 2);
});

test('functions that every wake goes through are left out with those of waits', () => {
  const waker = link('a', ['__schedule', KERNEL], wake);
  const view = viewOf([{ ...SERVER, stack: ['main'], blocked: 1, waker }]);
  assert.deepEqual(lines(wakersOf(view)), ['woken by a (server-10);try_to_wake_up 1']);
});

test('chains that found no place have no thread', () => {
  const waker = [['woken by', 4], ['[other]', 3]];
  const { profile } = viewOf([{ ...SERVER, stack: ['main'], blocked: 1, waker }]);
  assert.deepEqual(linksOf(profile, profile.rows.waker[0], foldsOf(profile, true)), [{ label: 'woken by [other]', frames: [] }]);
});

test('where nobody is known to have woken, that is told', () => {
  const view = viewOf([ROWS[3]]);
  assert.equal(hasWakers(view.profile), false);
  assert.equal(hasWakers(viewOf().profile), true);
  assert.equal(wakersText(wakersOf(view), 'off_cpu'), 'Who ended the waits of all: not known');
});

test('also without them in the tree, they can be told', () => {
  assert.equal(lines(wakersOf(viewOf(ROWS, {}, { wakers: false }))).length, 3);
});

test('of two recordings they have both', () => {
  const before = { duration_ns: 5e9, host: '', start_unix_ns: '0', summary: '' };
  const rows = [{ ...ROWS[0], before: { blocked: 250, count: 1 } }];
  const wakers = wakersOf(viewOf(rows, { before }));
  const change = nodeChange(wakers, find(wakers, 'woken by giver-* (server-10)'));
  assert.equal(changeWords(change, true, wakers.scale), '+50 ns a second (50 ns → 100 ns), +100.0 %');
  assert.equal(wakersText(wakers, 'off_cpu'), 'Who ended the waits of all');
});

test('whether their stacks are whole is in the address', () => {
  const { profile } = viewOf();
  const defaults = defaultState(profile);
  const known = { values: ['off_cpu'], groups: ['process', 'thread'] };
  assert.equal(toHash({ ...defaults, whole: true }, defaults), 'whole=1');
  assert.deepEqual(fromHash('#whole=1', defaults, known), { ...defaults, whole: true });
});
