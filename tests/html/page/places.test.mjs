// Where in the source frames are, what was inlined, and links to it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { decode } from '../../../src/html/page/data.mjs';
import { detailLines, tipLines } from '../../../src/html/page/details.mjs';
import { find, folded, viewOf } from './shown.mjs';
import { madeProfile } from './made_profile.mjs';
import { sourceLink } from '../../../src/html/page/links.mjs';
import { stackText } from '../../../src/html/page/export.mjs';

const at = (name, line, other = {}) => [name, 0, 'server', { file: '/src/server.cc', line, ...other }];
const row = (stack, blocked, other = {}) =>
  ({ process: 'server', pid: 10, comm: 'a', cause: 'lock', blocked, count: 1, stack, ...other });
const made = (rows, header) => decode(madeProfile(rows, header));
const placesOf = (view, name) => view.places(find(view, name)).map(({ line, share }) => [line, share]);

const ROWS = [
  row([at('main', 10), at('work', 20, { start: 18 }), at('lock', 5, { inlined: true })], 1_000_000),
  row([at('main', 10), at('work', 21, { start: 18 }), at('lock', 5, { inlined: true })], 3_000_000),
  row([at('main', 12), at('work', 21, { start: 18 }), at('lock', 5)], 4_000_000, { comm: 'b' }),
  row([at('main', 12), 'other'], 8_000_000),
];

test('a function is one bar, wherever in it the stacks are', () => {
  assert.deepEqual(folded(viewOf(made(ROWS), { groups: [] })), ['main;other 8000000', 'main;work;lock 8000000']);
});

test('the places of a bar have their shares of it', () => {
  const view = viewOf(made(ROWS), { groups: [] });
  assert.deepEqual(placesOf(view, 'main'), [[12, 0.75], [10, 0.25]]);
  assert.deepEqual(placesOf(view, 'work'), [[21, 0.875], [20, 0.125]]);
  assert.deepEqual(placesOf(view, 'other'), []);
  assert.deepEqual(view.places(0), []);
});

test('in groups, the places are those of the group', () => {
  const view = viewOf(made(ROWS), { groups: ['thread'] });
  const main = (group) => view.childrenOf(find(view, group))[0];
  assert.deepEqual(view.places(main('a')).map(({ line }) => line), [12, 10]);
  assert.deepEqual(view.places(main('b')).map(({ line, share }) => [line, share]), [[12, 1]]);
});

test('what is left out keeps the places of the others', () => {
  const view = viewOf(made(ROWS), { groups: [], hidden: ['work'] });
  assert.deepEqual(placesOf(view, 'main'), [[12, 0.75], [10, 0.25]]);
  assert.deepEqual(placesOf(view, 'lock'), [[5, 1]]);
});

test('recursion that is one call has the places of all calls', () => {
  const rows = [row([at('walk', 1), at('step', 5), at('walk', 2), at('read', 9)], 4)];
  const view = viewOf(made(rows), { groups: [], mergesRecursion: true });
  assert.deepEqual(folded(view), ['walk;read 4']);
  assert.deepEqual(placesOf(view, 'walk'), [[1, 0.5], [2, 0.5]]);
  assert.deepEqual(placesOf(view, 'read'), [[9, 1]]);
});

test('inlined is what was inlined wherever it is', () => {
  const lock = (rows) => {
    const view = viewOf(made(rows), { groups: [] });
    return view.isInlined(find(view, 'lock'));
  };
  assert.equal(lock(ROWS.slice(0, 2)), true);
  assert.equal(lock(ROWS), false);
  assert.equal(lock([row(['main', 'lock'], 1)]), false, 'nothing is known of the source');
});

test('details, the pointer and a copied stack have the place', () => {
  const links = [{ prefix: '/src/', url: 'https://example.org/blob/%f#L%l' }];
  const view = viewOf(made(ROWS.slice(0, 2), { source_links: links }), { groups: [] });
  const details = Object.fromEntries(detailLines(view, find(view, 'work'), 'off_cpu'));
  assert.deepEqual(details.source.map(({ text, after, href }) => [text, after, href]), [
    ['/src/server.cc:21', ' 75.0 %', 'https://example.org/blob/server.cc#L21'],
    ['/src/server.cc:20', ' 25.0 %', 'https://example.org/blob/server.cc#L20'],
  ]);
  assert.equal(details.begins, 'in line 18');
  assert.match(Object.fromEntries(detailLines(view, find(view, 'lock'), 'off_cpu')).what, /inlined into/);
  assert.equal(tipLines(view, find(view, 'work'), 'off_cpu')[2], 'server, server.cc:21');
  assert.equal(tipLines(view, find(view, 'lock'), 'off_cpu')[2], 'server, server.cc:5, inlined into the one above it');
  assert.match(stackText(view, find(view, 'lock'), 'off_cpu'),
    /\n {4}main {2}\/src\/server.cc:10\n {4}work {2}\/src\/server.cc:21\n {4}lock {2}\/src\/server.cc:5\n$/);
});

test('without known places nothing is said of them', () => {
  const view = viewOf(made([row(['main'], 1)]), { groups: [] });
  const keys = detailLines(view, find(view, 'main'), 'off_cpu').map(([key]) => key);
  assert.ok(!keys.includes('source') && !keys.includes('begins'));
});

const link = (file, { line = 7, url = 'https://example.org/%f#L%l', prefix = '' } = {}) =>
  sourceLink([{ prefix, url }], { file, line });

test('links have the file and the line', () => {
  assert.equal(link('/a b/c.cc'), 'https://example.org/a%20b/c.cc#L7');
  assert.equal(link('./a/../b.cc', { line: 0 }), 'https://example.org/b.cc#L1');
  assert.equal(link('/src/x/a.cc', { prefix: '/src/x' }), 'https://example.org/a.cc#L7');
  assert.equal(link('/src/xy/a.cc', { prefix: '/src/x' }), null);
  assert.equal(link('/a.cc', { url: 'vscode://file/%f:%l' }), 'vscode://file/a.cc:7');
  assert.equal(link('/$&.cc', { url: 'https://example.org/?%f' }), 'https://example.org/?%24%26.cc');
});

test('the first template that fits is used', () => {
  const links = [{ prefix: '/rustc/', url: 'https://r.example/%f' }, { prefix: '', url: 'https://all.example/%f' }];
  assert.equal(sourceLink(links, { file: '/rustc/a.rs', line: 1 }), 'https://r.example/a.rs');
  assert.equal(sourceLink(links, { file: '/b.rs', line: 1 }), 'https://all.example/b.rs');
});

test('no name of a file leads elsewhere', () => {
  const names = ['javascript:alert(1)', '//evil.example/x', '\\\\evil.example\\x', '../../../../etc', '"><img src=x>',
    '@evil.example', '%2e%2e/%2e%2e', '?a=b#c', 'a\nb', '\u202eb', ':80/x'];
  for (const name of names) {
    const address = new URL(link(name));
    assert.equal(address.origin, 'https://example.org', name);
    assert.equal(address.search, '', name);
    assert.equal(address.hash, '#L7', name);
  }
  assert.equal(link('\ud800'), null, 'half a character');
});

test('no template makes a link that runs something, or lets a name decide', () => {
  for (const url of ['javascript://x/%0a%f', 'data://x/%f', '%f', 'https://%f/', 'x'])
    assert.equal(link('evil.example', { url }), null, url);
});
