// What leaves the page: folded stacks, one stack, and a picture.
import assert from 'node:assert/strict';
import test from 'node:test';
import { foldedText, stackText } from '../../../src/html/page/export.mjs';
import { colorsOf } from '../../../src/html/page/colors.mjs';
import { decode } from '../../../src/html/page/data.mjs';
import { find, viewOf } from './shown.mjs';
import { layOut } from '../../../src/html/page/layout.mjs';
import { madeProfile } from './made_profile.mjs';
import { svgText } from '../../../src/html/page/svg.mjs';

const row = (stack, blocked, other = {}) =>
  ({ process: 'server', pid: 10, comm: 'a', cause: 'lock', blocked, count: 1, stack, ...other });
const ROWS = [
  row(['main', 'get', 'lock'], 3_000_000, { waker: [['woken by', 4], 'unlock'] }),
  row(['main', 'get'], 500_000),
  row(['main', 'a;b\nc'], 1_500_000, { comm: 'b' }),
];
const view = viewOf(decode(madeProfile(ROWS)), { groups: ['thread'] });

test('folded stacks have what is shown, and nothing ends a name', () => {
  assert.equal(foldedText(view, 0), 'a;main;get 500000\na;main;get;lock 3000000\nb;main;a:b c 1500000\n');
  assert.equal(foldedText(view, find(view, 'a')), 'a;main;get 500000\na;main;get;lock 3000000\n');
});

test('who woke is no part of a stack, unless it is what is zoomed to', () => {
  assert.equal(foldedText(view, find(view, 'woken by')), 'a;main;get;lock;woken by;unlock 3000000\n');
});

test('folded stacks of two recordings have two figures', () => {
  const both = { ...row(['main'], 7), before: { blocked: 5, count: 1 } };
  const profile = decode(madeProfile([both], { before: { duration_ns: 1e9, host: '', start_unix_ns: '0' } }));
  const compared = viewOf(profile, { groups: [] });
  assert.equal(foldedText(compared, 0), 'main 5 7\n');
});

test('a stack to paste has its time, its share, and its names from the outermost on', () => {
  assert.equal(stackText(view, find(view, 'lock'), 'off_cpu'),
    '3.00 ms, 60.0 % of all\n    a\n    main\n    get\n    lock\n');
});

const svgOf = (of, part = {}) => svgText(of, layOut(of, 0, 1000), {
  width: 1000, isFlame: false, title: 'all <of> it', words: (node) => `${of.nodeName(node)} & more`,
  color: () => '#123456', colors: colorsOf(false), ...part });

test('a picture has a bar for each that is drawn, as wide and where it is drawn', () => {
  const svg = svgOf(view);
  const bars = layOut(view, 0, 1000);
  assert.equal(svg.match(/<rect x=/g).length, bars.node.length);
  // main of thread a: 3.5 ms of 5 ms, on the third line below the title's.
  assert.match(svg, /<rect x="0.0" y="54" width="699.0" height="17" fill="#123456"\/><text x="4.0" y="67">main</);
  // get stands above it among flames, one below the leaf.
  assert.match(svgOf(view, { isFlame: true }), /<rect x="0.0" y="36" width="699.0" height="17" fill="#123456"\/><text x="4.0" y="49">get</);
});

test('names in a picture are text', () => {
  const names = ['</title><script>alert(1)</script>', '"\'&]]>', 'a\u0000\u001b\ufffe\ud800b'];
  const svg = svgOf(viewOf(decode(madeProfile(names.map((name, i) => row([name], 1000 * (i + 1))))), { groups: [] }));
  assert.doesNotMatch(svg, /<script|alert\(1\)<\/script/);
  assert.match(svg, /&lt;\/title&gt;&lt;script&gt;alert\(1\)&lt;\/script&gt;/);
  assert.match(svg, /&quot;&#39;&amp;\]\]&gt;/);
  assert.doesNotMatch(svg, /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd]/u);
  assert.match(svg, /<title>all &lt;of&gt; it<\/title>/);
});
