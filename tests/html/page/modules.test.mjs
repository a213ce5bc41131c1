import assert from 'node:assert/strict';
import test from 'node:test';
import { readFileSync } from 'node:fs';
import { barAt, layOut } from '../../../src/html/page/layout.mjs';
import { colorsOf, contrast } from '../../../src/html/page/colors.mjs';
import { compile, search } from '../../../src/html/page/search.mjs';
import { decode, unpack } from '../../../src/html/page/data.mjs';
import { KINDS } from '../../../src/html/page/kinds.mjs';
import { defaultState, fromHash, nodeOf, toHash, tokensOf } from '../../../src/html/page/state.mjs';
import { detailLines } from '../../../src/html/page/details.mjs';
import { fitted, shortName } from '../../../src/html/page/format.mjs';
import { formatDuration, formatExact, formatPercent, formatTime } from '../../../src/html/page/format.mjs';
import { functions, neighbours, selfOf } from '../../../src/html/page/sandwich.mjs';
import { foldDigits, foldNumbers, groupColumn, usefulGroups } from '../../../src/html/page/labels.mjs';
import { hiddenText, undrawnText } from '../../../src/html/page/totals.mjs';
import { isPlumbing } from '../../../src/html/page/plumbing.mjs';
import { madeProfile, packed } from './made_profile.mjs';
import { find, folded, viewOf } from './shown.mjs';
import { selectRows, usefulValues } from '../../../src/html/page/rows.mjs';
import { shares } from '../../../src/html/page/shares.mjs';

const KERNEL = 1;
const server = { process: 'server', pid: 10, kind: 'sleeping' };
const ROWS = [
  { ...server, stack: ['main', 'work', 'lock', ['do_syscall_64', KERNEL], ['futex_wait', KERNEL], ['schedule', KERNEL]],
    waker: [['woken by', 4], ['wake_up', KERNEL], 'unlock', ['giver', 5]],
    comm: 'worker-1', cause: 'lock', syscall: 'futex', blocked: 500, runnable: 20, count: 5 },
  { ...server, stack: ['main', 'work', 'read', ['pipe_read', KERNEL], ['schedule', KERNEL]],
    comm: 'worker-2', cause: 'pipe', syscall: 'read', blocked: 200, runnable: 3, count: 7 },
  { ...server, stack: ['main', 'loop'], comm: 'loop', cause: 'poll', syscall: 'epoll_wait', blocked: 900, runnable: 70,
    count: 9, idle: 'server: loop' },
  { process: 'client', pid: 11, stack: ['main', 'lock'], comm: 'client', cause: 'lock', syscall: 'futex',
    blocked: 100, count: 1 },
];

function made(rows = ROWS, header = {}) {
  return decode(madeProfile(rows, header));
}

test('what is packed is unpacked', async () => {
  const profile = decode(await unpack(packed(madeProfile(ROWS))));
  assert.equal(profile.rows.count, 4);
  assert.deepEqual([...profile.sums.blocked], [500, 200, 900, 100]);
});

test('what is no profile is an error', async () => {
  assert.throws(() => decode(new TextEncoder().encode('OFFCPU2\n0000').buffer), /damaged/);
  await assert.rejects(unpack('AAAA'));
});

test('stacks stand below their groups, without the scheduler, and waits for work are hidden', () => {
  assert.deepEqual(folded(viewOf(made())), [
    'client (11);client;main;lock 100',
    'server (10);loop;main;loop 70',
    'server (10);worker-*;main;work;lock;futex_wait;woken by;wake_up;unlock;giver 520',
    'server (10);worker-*;main;work;read;pipe_read 203',
  ]);
});

test('all of it can be shown', () => {
  assert.deepEqual(folded(viewOf(made(), { fold: false, wakers: false, hideIdle: false, groups: [] })), [
    'main;lock 100',
    'main;loop 970',
    'main;work;lock;do_syscall_64;futex_wait;schedule 520',
    'main;work;read;pipe_read;schedule 203',
  ]);
});

test('stacks that differ only in what is left out are one', () => {
  const row = (stack, blocked) => ({ ...server, comm: 'a', blocked, count: 1, stack });
  const kernel = (...names) => names.map((name) => [name, KERNEL]);
  const profile = made([
    row(['main', ...kernel('entry_SYSCALL_64', 'do_syscall_64', 'pipe_read', 'schedule')], 1),
    row(['main', ...kernel('do_syscall_64', 'pipe_read')], 2),
    row(['main', ...kernel('pipe_read', 'schedule', 'wait')], 4),
    row(['main', ...kernel('pipe_read', 'wait')], 8),
    row(kernel('ret_from_fork', 'kthread'), 16),
    row(kernel('kthread'), 32),
  ]);
  const view = viewOf(profile, { groups: [] });
  assert.deepEqual(folded(view), ['kthread 48', 'main;pipe_read 3', 'main;pipe_read;wait 12']);
  assert.equal(view.count, 5, 'all, kthread, main, pipe_read, wait');
});

test('values', () => {
  const total = (part) => viewOf(made(), part).exact(0);
  assert.equal(total({}), 893n);
  assert.equal(total({ hideIdle: false }), 1793n);
  assert.equal(total({ value: 'blocked' }), 800n);
  assert.equal(total({ value: 'runnable' }), 93n);
  assert.equal(total({ value: 'count' }), 13n);
  assert.equal(total({ value: 'count', hideIdle: false }), 22n);
  assert.deepEqual(usefulValues(made()).map(({ name }) => name), ['off_cpu', 'blocked', 'runnable', 'count']);
});

test('samples on a CPU are part of the wall clock', () => {
  const ran = { ...server, stack: ['main', 'spin'], comm: 'loop', kind: 'running', samples: 2, cpu: 1000 };
  const profile = made([...ROWS, ran], { samples: true });
  assert.equal(viewOf(profile, { value: 'wall' }).exact(0), 1893n);
  assert.equal(viewOf(profile, { value: 'cpu' }).exact(0), 1000n);
  assert.equal(viewOf(profile, { value: 'samples' }).exact(0), 2n);
  assert.equal(viewOf(profile).exact(0), 893n);
  const view = viewOf(profile, { value: 'wall' });
  assert.deepEqual(view.parts.map((part) => part[0]), [800, 93, 1000]);
  assert.deepEqual(shares(view, find(view, 'spin'), 'cause'), [{ text: 'on a CPU', total: 1000n }]);
});

test('sums beyond 2^53 are exact', () => {
  const big = 2n ** 60n + 1n;
  const rows = [{ ...ROWS[0], blocked: big, runnable: 3 }, { ...ROWS[1], blocked: big, runnable: 0 }];
  const view = viewOf(made(rows));
  assert.equal(view.exact(0), 2n * big + 3n);
  assert.equal(selfOf(view, find(view, 'pipe_read')), big);
  assert.equal(selectRows(view.profile, defaultState(view.profile)).total, 2n * big + 3n);
  assert.equal(search(view, /pipe/, 0).total, big);
  assert.equal(layOut(view, 0, 100).hidden.count, 0);
});

test('filters of one label add up, those of several narrow down', () => {
  const total = (...filters) => viewOf(made(), { filters }).exact(0);
  const lock = { key: 'cause', text: 'lock', not: false };
  const pipe = { key: 'cause', text: 'pipe', not: false };
  assert.equal(total(lock), 620n);
  assert.equal(total(lock, pipe), 823n);
  assert.equal(total({ ...lock, not: true }), 273n);
  assert.equal(total(lock, { key: 'command', text: 'client', not: false }), 100n);
  assert.equal(total(lock, { key: 'command', text: 'client', not: true }), 520n);
  assert.equal(total({ key: 'thread', text: 'worker-*', not: false }), 723n);
  assert.equal(total({ key: 'cause', text: 'none such', not: false }), 0n);
});

test('groups have texts also where a label is missing', () => {
  const profile = made();
  assert.deepEqual(groupColumn(profile, 'process').texts, ['server (10)', 'client (11)']);
  assert.deepEqual(groupColumn(profile, 'container').texts, ['[no container]']);
  assert.ok(!usefulGroups(profile).some(({ key }) => key === 'container'));
  assert.ok(usefulGroups(profile).some(({ key }) => key === 'idle'));
  const unit = made([{ ...ROWS[0], unit: 'web.service' }, ROWS[1]]);
  assert.deepEqual(folded(viewOf(unit, { groups: ['unit'], wakers: false })), [
    '[no unit];main;work;read;pipe_read 203',
    'web.service;main;work;lock;futex_wait 520',
  ]);
});

test('many processes are grouped by their command', () => {
  const rows = (count) => Array.from({ length: count }, (_, i) => ({ ...ROWS[3], pid: 100 + i }));
  assert.deepEqual(defaultState(made(rows(30))).groups, ['process', 'thread']);
  assert.deepEqual(defaultState(made(rows(31))).groups, ['command', 'thread']);
});

test('threads that differ in digits are one, and commands that differ in a number', () => {
  assert.equal(foldDigits('pool12-worker-7'), 'pool*-worker-*');
  assert.equal(foldNumbers('python3'), 'python3');
  assert.equal(foldNumbers('cc1plus'), 'cc1plus');
  assert.equal(foldNumbers('job-12:34'), 'job-*:*');
  const named = ['cc1plus', 'job-12', 'lto1-pool'].map((comm) => ({ ...ROWS[3], process: 'cc1plus', comm }));
  assert.deepEqual(groupColumn(made(named), 'thread').texts, ['cc1plus', 'job-*', 'lto*-pool']);
});

test('plumbing is of the kernel alone', () => {
  const plumbing = ['entry_SYSCALL_64', 'do_syscall_64', 'schedule', '__schedule', 'schedule.constprop.0'];
  for (const name of plumbing) {
    assert.ok(isPlumbing(name, KERNEL), name);
    assert.ok(!isPlumbing(name, 0), name);
  }
  for (const name of ['futex_wait', 'reschedule', 'schedule_work_of_mine', 'do_syscall_64x']) {
    assert.ok(!isPlumbing(name, KERNEL), name);
  }
});

test('a search counts a stack once, and only what is shown', () => {
  const view = viewOf(made());
  assert.equal(search(view, /lock|futex/, 0).total, 620n);
  assert.equal(search(view, /lock/, find(view, 'client (11)')).total, 100n);
  assert.equal(search(view, /^main$/, find(view, 'read')).total, 203n, 'what leads to it is shown');
  assert.equal(search(view, /nothing/, 0).total, 0n);
  assert.equal(compile('').matcher, null);
  assert.ok(compile('MAIN').matcher.test('MAIN') && !compile('MAIN').matcher.test('main'));
  assert.ok(compile('main').matcher.test('MAIN'));
  assert.match(compile('(').error, /regular expression/);
});

test('bars are as wide as their part', () => {
  const view = viewOf(made(), { groups: [], wakers: false });
  const bars = layOut(view, 0, 893);
  const widths = new Map(Array.from(bars.node, (node, i) => [view.nodeName(node), Math.round(bars.width[i])]));
  assert.equal(widths.get('all'), 893);
  assert.equal(widths.get('work'), 723);
  assert.equal(widths.get('read'), 203);
  const at = barAt(bars, 600, bars.level[bars.node.indexOf(find(view, 'read'))]);
  assert.equal(view.nodeName(bars.node[at]), 'read');
  assert.equal(barAt(bars, 600, 99), -1);
  const zoomed = layOut(view, find(view, 'work'), 723);
  assert.deepEqual(zoomed.node.slice(0, 3).map((node) => view.nodeName(node)), ['all', 'main', 'work']);
  assert.deepEqual([...new Set(zoomed.width.slice(0, 3))], [723]);
});

test('bars that are too narrow are told', () => {
  const view = viewOf(made([{ ...ROWS[0], blocked: 999_000 }, ROWS[1]]), { groups: [], wakers: false });
  const bars = layOut(view, 0, 1000);
  assert.deepEqual(bars.hidden, { count: 1, total: 203 });
  assert.ok(!bars.node.includes(find(view, 'read')));
  assert.equal(undrawnText(view, bars, 'off_cpu'), '1 bar is too narrow to draw: 203 ns, < 0.1 %. Zoom in to see it.');
  const two = { hidden: { count: 2, total: 999_020 } };
  assert.equal(undrawnText(view, two, 'off_cpu'), '2 bars are too narrow to draw: 999 us, 100.0 %. Zoom in to see them.');
});

test('functions have their own time and that of what they call, once for each stack', () => {
  const rows = [
    { ...server, stack: ['main', 'f', 'g', 'f', 'h'], blocked: 10, count: 1, comm: 'a' },
    { ...server, stack: ['main', 'f'], blocked: 5, count: 1, comm: 'a' },
  ];
  const view = viewOf(made(rows));
  const list = functions(view, 0).map(({ frame, self, total }) => [view.name(frame), self, total]);
  assert.deepEqual(list, [['f', 5n, 15n], ['main', 0n, 15n], ['h', 10n, 10n], ['g', 0n, 10n]]);
  const { frame } = functions(view, 0)[0];
  const named = (all) => all.map(({ frame: at, total }) => [at < 0 ? '' : view.name(at), total]);
  const { callers, callees } = neighbours(view, 0, frame);
  assert.deepEqual(named(callers), [['main', 15n], ['g', 10n]]);
  assert.deepEqual(named(callees), [['g', 10n], ['h', 10n]]);
  const zoomed = functions(view, find(view, 'g')).map(({ frame: at, self, total }) => [view.name(at), self, total]);
  assert.deepEqual(zoomed, [['h', 10n, 10n], ['main', 0n, 10n], ['f', 0n, 10n], ['g', 0n, 10n]]);
});

test('wakers are no functions of the wait', () => {
  const view = viewOf(made());
  const names = functions(view, 0).map(({ frame }) => view.name(frame));
  assert.ok(!names.includes('unlock'));
  const wait = functions(view, 0).find(({ frame }) => view.name(frame) === 'futex_wait');
  assert.equal(wait.self, 520n);
  const details = (name) => Object.fromEntries(detailLines(view, find(view, name), 'off_cpu'));
  assert.equal(details('futex_wait').itself, '520 ns');
  assert.equal(details('lock').itself, undefined);
  assert.equal(details('unlock').itself, undefined);
});

test('shares of a label add up', () => {
  const view = viewOf(made());
  assert.deepEqual(shares(view, 0, 'cause'), [
    { text: 'lock', total: 620n },
    { text: 'pipe', total: 203n },
    { text: 'poll', total: 70n },
  ]);
  assert.deepEqual(shares(view, find(view, 'lock'), 'syscall').map(({ text }) => text), ['futex']);
});

test('a state is its address', () => {
  const profile = made();
  const defaults = defaultState(profile);
  const known = { values: ['off_cpu', 'count'], groups: ['process', 'thread', 'cause'] };
  assert.equal(toHash(defaults, defaults), '');
  assert.deepEqual(fromHash('', defaults, known), defaults);
  const state = {
    ...defaults, tab: 'tree', layout: 'flame', colors: 'kind', showsHeat: false, value: 'count', groups: ['cause'],
    hideIdle: false, fold: false, mergesRecursion: true, hidden: ['a/b&c', '[x]'], wakers: false, query: 'a&b=#"<é', zoom: ['=a/b (1)', '12'], frame: 3,
    filters: [{ key: 'cause', text: 'x:&y', not: true }, { key: 'thread', text: '', not: false },
      { key: 'frame', text: 'std::a<b>&c', not: false }],
  };
  assert.deepEqual(fromHash(`#${toHash(state, defaults)}`, defaults, known), state);
  assert.deepEqual(fromHash('#by=', defaults, known).groups, []);
  assert.deepEqual(fromHash('#value=evil&by=x&only=x:y&tab=x&frame=-2&=&zoom=%&%%%', defaults, known),
    { ...defaults, groups: [], zoom: [''] });
});

test('a node is found by what leads to it, or the last that there is', () => {
  const view = viewOf(made());
  const node = find(view, 'pipe_read');
  assert.equal(nodeOf(view, tokensOf(view, node)), node);
  assert.equal(nodeOf(view, [...tokensOf(view, node), '999']), node);
  assert.equal(nodeOf(view, ['=nobody']), 0);
  const filtered = viewOf(made(), { filters: [{ key: 'cause', text: 'lock', not: false }] });
  assert.equal(filtered.nodeName(nodeOf(filtered, tokensOf(view, node))), 'work');
});

test('what is hidden is told', () => {
  const profile = made();
  const state = defaultState(profile);
  assert.equal(hiddenText(profile, selectRows(profile, state), 'off_cpu'),
    'Waiting for work is hidden: 900 ns, 50.2 % of all.');
  assert.equal(hiddenText(profile, selectRows(profile, { ...state, hideIdle: false }), 'off_cpu'), '');
  const pruned = made([...ROWS.slice(0, 2), { ...ROWS[3], stack: [['[pruned]', 3]] }], { pruned: 4 });
  assert.equal(hiddenText(pruned, selectRows(pruned, state), 'off_cpu'),
    'The stacks of the 4 shortest rows are not in this page: 100 ns, 12.2 %, shown as [pruned].');
  assert.equal(viewOf(pruned).exact(0), 823n);
});

test('figures', () => {
  assert.equal(formatDuration(0), '0 ns');
  assert.equal(formatDuration(999), '999 ns');
  assert.equal(formatDuration(1234), '1.23 us');
  assert.equal(formatDuration(12_345_678n), '12.3 ms');
  assert.equal(formatDuration(1_234_567_890_123n), '1,235 s');
  assert.equal(formatExact(18446744073709551615n, true), '18,446,744,073,709,551,615 ns');
  assert.equal(formatPercent(1n, 3n), '33.3 %');
  assert.equal(formatPercent(1, 100000), '< 0.1 %');
  assert.equal(formatPercent(0, 0), '0 %');
  assert.equal(formatTime('1790000000123456789'), '2026-09-21 14:13:20 UTC');
});

test('names are shortened by what says least', () => {
  assert.equal(shortName('std::map<std::string, int>::find(int const&)'), 'std::map<>::find()');
  assert.equal(shortName('(anonymous namespace)::Run(int)'), '{anonymous}::Run()');
  assert.equal(shortName('<alloc::vec::Vec<T> as core::Drop>::drop'), '<alloc::vec::Vec<> as core::Drop>::drop');
  assert.equal(shortName('operator<(int)'), 'operator<()');
  assert.equal(fitted('futex_wait', 20), 'futex_wait');
  assert.equal(fitted('futex_wait', 6), 'futex…');
  assert.equal(fitted('futex_wait', 2), '');
  assert.equal(fitted('server (10)', 9, false), 'server (…');
  assert.equal(fitted(`A<${'x'.repeat(4096)}>`, 10), 'A<>');
});

test('text can be read on every color', () => {
  assert.equal(contrast('#000000', '#ffffff'), 21);
  for (const isDark of [false, true]) {
    const { kinds, files, text, match, strip, blocked, runnable, cpu } = colorsOf(isDark);
    for (const color of [...kinds, ...files, match]) assert.ok(contrast(color, text) >= 4.5, color);
    for (const color of [blocked, runnable, cpu]) assert.ok(contrast(color, strip) >= 3, color);
    const { changes, found, chosen, before, after } = colorsOf(isDark);
    assert.equal(changes.length, 7);
    for (const color of changes) {
      assert.ok(contrast(color, text) >= 4.5, color);
      for (const frame of [found, chosen]) assert.ok(contrast(color, frame) >= 3, color);
    }
    for (const color of [before, after]) assert.ok(contrast(color, strip) >= 3, color);
  }
});

// The variables of the style sheet: those of a light screen stand first, then those of a dark one.
test('the legend has the colors of the bars, and all text of the page can be read', () => {
  const css = readFileSync(new URL('../../../src/html/page/page.css', import.meta.url), 'utf8');
  const sets = css.match(/:root \{[^}]*\}/g).map((set) => Object.fromEntries(
    Array.from(set.matchAll(/--(\w+): (#\w+)/g), ([, name, color]) => [name, color])));
  assert.equal(sets.length, 2);
  sets.forEach((set, i) => {
    const { kinds, files, match, blocked, runnable, cpu, changes, before, after } = colorsOf(i === 1);
    assert.deepEqual(KINDS.map(({ name }) => set[name]), kinds);
    assert.deepEqual([0, 1, 2, 3, 4, 5, 6].map((rank) => set[`file${rank}`]), files);
    assert.deepEqual([set.match, set.blocked, set.runnable, set.cpu], [match, blocked, runnable, cpu]);
    const shown = ['shrank3', 'shrank2', 'shrank1', 'same', 'grew1', 'grew2', 'grew3'].map((name) => set[name]);
    assert.deepEqual([...shown, set.before, set.after], [...changes, before, after]);
    for (const text of ['text', 'quiet', 'link']) {
      assert.ok(contrast(set[text], set.ground) >= 4.5, text);
      assert.ok(contrast(set[text], set.raised) >= 4.5, text);
    }
    assert.ok(contrast(set.text, set.match) >= 4.5);
    assert.ok(contrast(set.runnable, set.ground) >= 4.5, 'errors');
    assert.ok(contrast(set.line, set.ground) >= 3);
  });
});
