// What is done with single functions: focus, remove, leave out, merge recursion, whose they are, and their colors.
import assert from 'node:assert/strict';
import test from 'node:test';
import { OWNER, ownerOf, owners } from '../../../src/html/page/owner.mjs';
import { barColor } from '../../../src/html/page/paint.mjs';
import { colorsOf } from '../../../src/html/page/colors.mjs';
import { decode } from '../../../src/html/page/data.mjs';
import { find, folded, viewOf } from './shown.mjs';
import { filterKey } from '../../../src/html/page/actions.mjs';
import { functions } from '../../../src/html/page/sandwich.mjs';
import { heatMap } from '../../../src/html/page/times.mjs';
import { isSplit } from '../../../src/html/page/parts.mjs';
import { madeProfile } from './made_profile.mjs';
import { rankedModules } from '../../../src/html/page/modules.mjs';
import { sortedLines } from '../../../src/html/page/table.mjs';
import { tipLines } from '../../../src/html/page/details.mjs';

const [USER, KERNEL, INTERPRETED, MISSING] = [0, 1, 2, 3];
const row = (stack, blocked, other = {}) =>
  ({ process: 'server', pid: 10, comm: 'a', cause: 'lock', blocked, count: 1, stack, ...other });
const made = (rows, header) => decode(madeProfile(rows, header));
const shown = (rows, part) => folded(viewOf(made(rows), { groups: [], ...part }));
const frame = (text, not = false) => ({ key: 'frame', text, not });

const STACKS = [
  row(['main', 'get', 'lock'], 1),
  row(['main', 'put', 'lock'], 2),
  row(['main', 'put', 'log'], 4),
  row(['start', 'loop'], 8),
];

test('a focus leaves the stacks with a function, and those with one of several', () => {
  assert.deepEqual(shown(STACKS, { filters: [frame('put')] }), ['main;put;lock 2', 'main;put;log 4']);
  assert.deepEqual(shown(STACKS, { filters: [frame('get'), frame('log')] }), ['main;get;lock 1', 'main;put;log 4']);
  assert.deepEqual(shown(STACKS, { filters: [frame('none such')] }), []);
});

test('what is removed takes its stacks with it, also from a focus', () => {
  assert.deepEqual(shown(STACKS, { filters: [frame('lock', true)] }), ['main;put;log 4', 'start;loop 8']);
  assert.deepEqual(shown(STACKS, { filters: [frame('put'), frame('lock', true)] }), ['main;put;log 4']);
  assert.deepEqual(shown(STACKS, { filters: [frame('put'), { key: 'cause', text: 'lock', not: true }] }), []);
});

test('a focus is one of the heat map, too', () => {
  const profile = made(STACKS.map((one) => ({ ...one, times: [{ column: 0, blocked: one.blocked, count: 1 }] })),
    { times: { column_ns: 1e9, begin_ns: '0' } });
  const state = { value: 'off_cpu', filters: [frame('put')], hideIdle: true };
  assert.equal(heatMap(profile, state, { mostBins: 10, turned: new Set() }).total, 6n);
});

test('what is left out gives its time to its callers, wherever it is', () => {
  assert.deepEqual(shown(STACKS, { hidden: ['put', 'lock'] }), ['main 2', 'main;get 1', 'main;log 4', 'start;loop 8']);
  assert.deepEqual(shown(STACKS, { hidden: ['main', 'put'] }), ['get;lock 1', 'lock 2', 'log 4', 'start;loop 8']);
});

const RECURSIVE = [
  row(['main', 'walk', 'walk', 'walk', 'read'], 1),
  row(['main', 'walk', 'step', 'walk', 'step', 'read'], 2),
  row(['main', 'walk', 'step', 'walk', 'lock'], 4),
  row(['main', 'walk', 'only', 'walk'], 8),
];

test('recursion is one call where it is merged', () => {
  assert.deepEqual(shown(RECURSIVE, { mergesRecursion: true }),
    ['main;walk 8', 'main;walk;lock 4', 'main;walk;read 1', 'main;walk;step;read 2']);
  assert.equal(shown(RECURSIVE, {}).length, 4);
  assert.equal(shown(RECURSIVE, {})[0], 'main;walk;only;walk 8');
});

test('no node is left of what lay between two calls, and nothing is lost', () => {
  const view = viewOf(made(RECURSIVE), { groups: ['process'], mergesRecursion: true });
  assert.equal(view.count, 8, 'all, server, main, walk, lock, read, step, read');
  assert.throws(() => find(view, 'only'), /no only/);
  assert.equal(view.exact(0), 15n);
  for (let node = 1; node < view.count; ++node) assert.ok(view.parent[node] < node && view.total[node] > 0);
});

test('a function of one group is no recursion of one in another group', () => {
  const rows = [row(['main'], 1), row(['main'], 2, { comm: 'b' })];
  assert.deepEqual(shown(rows, { groups: ['thread'], mergesRecursion: true }), ['a;main 1', 'b;main 2']);
});

test('code of libc, of runtimes and of the kernel is not the program\'s', () => {
  const own = [['Serve', 'server'], ['Query', 'libquery.so.3'], ['main', 'server'], ['render', '[jit]'], ['f', ''],
    ['handler', 'libcurl.so.4'], ['run', 'javac'], ['runtimes.f', 'server'], ['mystd::f', 'server'], ['x', 'libcache.so']];
  for (const [name, module] of own) assert.equal(ownerOf(name, module, USER), OWNER.program, name + module);
  const others = [['read', 'libc.so.6'], ['read', 'libc-2.31.so'], ['f', 'libstdc++.so.6.0.30'], ['f', 'libgcc_s.so.1'],
    ['_dl_start', 'ld-linux-x86-64.so.2'], ['f', 'ld-musl-x86_64.so.1'], ['JavaMain', 'libjvm.so'], ['f', 'node'],
    ['PyEval', 'python3.11'], ['f', 'libpython3.11.so.1.0'], ['f', 'libpthread-2.31.so'], ['f', 'ruby3.1'],
    ['runtime.gopark', 'server'], ['std::thread::park', 'server'], ['<tokio::runtime::Park>::park', 'server'],
    ['_start', 'server'], ['f', '[vdso]'], ['f', 'libnss_files.so.2']];
  for (const [name, module] of others) assert.equal(ownerOf(name, module, USER), OWNER.others, name + module);
  assert.equal(ownerOf('serve', 'python3.11', INTERPRETED), OWNER.program, 'a function of the interpreted program');
  assert.equal(ownerOf('futex_wait', '', KERNEL), OWNER.others);
  assert.equal(ownerOf('[truncated: no row]', '', MISSING), OWNER.nobody);
});

test('the table begins with the program\'s own functions, by total', () => {
  const server = (name) => [name, USER, 'server'];
  const profile = made([
    row([['_start', USER, 'server'], server('main'), server('get'), ['read', USER, 'libc.so.6'], ['vfs_read', KERNEL]], 5),
    row([['[truncated: no row]', MISSING], server('main'), server('put'), ['write', USER, 'libc.so.6']], 7),
  ]);
  const view = viewOf(profile, { groups: [] });
  const list = functions(view, 0);
  const names = (lines) => lines.map((line) => view.name(line.frame));
  const total = (line) => line.total;
  assert.deepEqual(names(sortedLines(list, total, owners(profile.frames))),
    ['main', 'put', 'get', 'write', 'vfs_read', '_start', 'read', '[truncated: no row]']);
  assert.deepEqual(names(sortedLines(list, total, null)).slice(0, 4), ['main', 'write', '[truncated: no row]', 'put']);
});

test('files with most have colors of their own, and all others one', () => {
  const of = (name, blocked, other) => row([['f', USER, name], ['wait', KERNEL]], blocked, other);
  const profile = made([of('a', 1), of('b', 9), of('idle', 99, { idle: 'x' }), ...[2, 3, 4, 5, 6].map((n) => of(`m${n}`, n))]);
  const ranked = rankedModules(profile);
  assert.deepEqual(ranked.names, ['b', 'm6', 'm5', 'm4', 'm3', 'm2']);
  assert.equal(ranked.hasOthers, true);
  const view = viewOf(profile, { groups: ['process'] });
  const colors = colorsOf(false);
  const look = { matches: null, files: ranked };
  const rankOf = (module) => Array.from({ length: view.count }, (_, node) => node)
    .find((node) => node > 0 && view.module(view.frame[node]) === module);
  assert.equal(barColor(colors, view, rankOf('b'), look), colors.files[0]);
  assert.equal(barColor(colors, view, rankOf('a'), look), colors.files[6]);
  assert.equal(barColor(colors, view, find(view, 'wait'), look), colors.kinds[KERNEL], 'the kernel is in no file');
  assert.equal(barColor(colors, view, rankOf('b'), { ...look, files: null }), colors.kinds[USER]);
  const matches = new Uint8Array(view.count).fill(1);
  assert.equal(barColor(colors, view, rankOf('b'), { matches, files: ranked }), colors.match);
});

test('a bar says how it is split where a twentieth of it is of another part', () => {
  const view = viewOf(made([row(['even'], 95, { runnable: 5 }), row(['one'], 96, { runnable: 4 }), row(['only'], 9)]),
    { groups: [] });
  assert.equal(isSplit(view, find(view, 'even')), true);
  assert.equal(isSplit(view, find(view, 'one')), false);
  assert.equal(isSplit(view, find(view, 'only')), false);
});

test('a bar is filtered by its function or by its group, who woke is not', () => {
  const waker = [['woken by', 4], 'unlock'];
  const view = viewOf(made([row(['main'], 1, { waker })]), { groups: ['process', 'cause'] });
  const state = { groups: ['process', 'cause'] };
  assert.equal(filterKey(view, find(view, 'server (10)'), state), 'process');
  assert.equal(filterKey(view, find(view, 'lock'), state), 'cause');
  assert.equal(filterKey(view, find(view, 'main'), state), 'frame');
  assert.equal(filterKey(view, find(view, 'unlock'), state), null);
  assert.equal(filterKey(view, 0, state), null);
});

test('the pointer has name, time, share and file', () => {
  const view = viewOf(made([row([['get', USER, 'server'], ['futex_wait', KERNEL]], 3_000_000), row(['put'], 1_000_000)]),
    { groups: [] });
  assert.deepEqual(tipLines(view, find(view, 'get'), 'off_cpu'), ['get', '3.00 ms, 75.0 % of all', 'server']);
  assert.deepEqual(tipLines(view, find(view, 'futex_wait'), 'off_cpu')[2], 'a function of the kernel');
});
