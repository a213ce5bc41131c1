// Usage: both_test.mjs PAGE: opens the page of PageTest that compares two recordings in Chromium, and uses it.
import assert from 'node:assert/strict';
import { User } from './user.mjs';

const user = await User.open(process.argv[2]);
const { browser } = user;
const { cells, click, focus, hash, isPainted, shows, text, until } = user;

const firstFunction = () => browser.run("document.querySelector('#all-functions tbody bdi').innerText");
const sort = (title) =>
  browser.run(`Array.from(document.querySelectorAll('#all-functions th button'))
    .find((b) => b.innerText === '${title}').click()`);

// 1.8 s in 5 s before, 8.2 s in 10 s after.
const steps = {
  async 'both recordings and the change of all are told'() {
    await user.isDark(false);
    await shows('title', 'What has changed');
    await shows('recording', '5.00 s recorded; after: <i>web1</i>, 10.0 s recorded');
    await shows('total', '+460 ms a second (360 ms → 820 ms), +127.8 %');
    await shows('hidden', 'Waiting for work is hidden: 800 ms a second before, 900 ms a second after.');
  },
  async 'what grew is red, what shrank is blue'() {
    const [red, blue] = ['255,125,107', '115,169,255']; // new, or three times as much; gone
    await isPainted(red);
    await isPainted(blue);
    await user.isDark(true);
    await isPainted('204,53,36');
    await isPainted('42,107,224');
    await user.isDark(false);
    await isPainted(red);
  },
  async 'who woke has changed, too'() {
    await shows('wakers-title', 'Who ended the waits of all');
    await focus('#wakers-graph canvas');
    await browser.press('ArrowDown');
    await shows('told', 'woken by giver (server): +520 ms a second (0 ns → 520 ms), new');
  },
  async 'the legend is that of changes'() {
    await shows('legend-change', '+ new, or to 3 times');
    assert.equal(await browser.run("document.getElementById('legend').hidden"), true);
  },
  async 'what is pointed at has old, new and change'() {
    await focus('#graph canvas');
    await browser.press('ArrowDown');
    await shows('told', 'server: +360 ms a second (360 ms → 720 ms), +100.0 %');
    await shows('details', '1,800,000,000 ns recorded');
    await shows('details', '7,200,000,074 ns recorded');
    await browser.press('ArrowRight');
    await shows('told', '</script><b>client: +100 ms a second (0 ns → 100 ms), new');
  },
  async 'without normalising, figures are as they were recorded'() {
    await click('#normalised');
    await shows('total', '+6.40 s (1.80 s → 8.20 s), +355.6 %');
    assert.match(await hash(), /normalised=0/);
    await click('#normalised');
    await shows('total', 'a second');
  },
  async 'the table is sorted by change'() {
    await click('#tab-functions');
    await shows('all-functions', 'gone');
    // The kernel's functions are leaves, what leads to them has nothing itself.
    assert.deepEqual((await cells('gone')).slice(0, 5), ['-100 ms', 'gone', '-27.8 %', '100 ms', '0 ns']);
    assert.deepEqual((await cells('read')).slice(0, 5), ['+200 ms', 'new', '+55.6 %', '0 ns', '200 ms']);
    assert.equal(await firstFunction(), 'main', "the program's own functions come first");
    await sort('Total change');
    await until("document.querySelectorAll('#all-functions th')[0].getAttribute('aria-sort') === 'descending'");
    assert.equal(await firstFunction(), 'main');
    await sort('Total before');
    assert.equal(await firstFunction(), 'main');
    await sort('Self change');
    assert.equal(await firstFunction(), 'futex_wait');
    await browser.run(`Array.from(document.querySelectorAll('#all-functions button'))
      .find((b) => b.innerText === 'main').click()`);
    await shows('callees', 'gone');
    assert.match(await text('callees'), /-100 ms\s+gone/);
  },
  async 'the tree says the same'() {
    await click('#tab-tree');
    await until("document.querySelector('#tree .amount').innerText === '+460 ms'");
    await until("document.querySelector('#tree .way').innerText === '360 ms → 820 ms'");
    await click('#tab-graph');
  },
  async 'a search has both'() {
    await browser.run(`(() => { const q = document.getElementById('query'); q.value = '^gone$';
      q.dispatchEvent(new Event('input')); })()`);
    await shows('found', '-100 ms a second (100 ms → 0 ns), gone matched');
  },
  async 'a cause is a filter'() {
    await shows('causes', 'futex: +260 ms, 360 ms → 620 ms');
    await click('#causes button');
    await shows('total', '+260 ms a second (360 ms → 620 ms)');
  },
  async 'nothing is asked for, and nothing is wrong'() {
    user.expectsNothingWrong();
  },
};

await user.does(steps);
