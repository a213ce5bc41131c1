// Usage: spans_test.mjs PAGE: two spans of the page that PageTest writes for the heat map are compared, in Chromium: of
// the server, which waits for a lock 3.2 s in the three seconds from 2 on, and for a pipe 2 s in the two from 7 on.
import assert from 'node:assert/strict';
import { User } from './user.mjs';
import { brush } from './when.mjs';

const user = await User.open(process.argv[2]);
const { back, browser, cells, click, focus, hash, isPainted, shows, text } = user;

const CHANGE = 'off the CPU: -66.7 ms a second (1.07 s → 1.00 s), -6.3 %, before 14:13:22 to 14:13:25 UTC, 3.00 s, ' +
  'after 14:13:27 to 14:13:29 UTC, 2.00 s';
const isHidden = (id) => browser.run(`document.getElementById('${id}').hidden`);

await user.does({
  async 'nothing is compared, and nothing says so'() {
    assert.equal(await isHidden('span-compare'), true, 'there is no span');
    assert.equal(await isHidden('legend-change'), true);
    assert.equal(await isHidden('normalised-label'), true);
  },
  async 'a second span is compared with the first'() {
    await user.isDark(false);
    await brush(user, 2, 4);
    await shows('total', '3,200,000,001 ns');
    await click('#span-compare');
    await shows('span-text', 'choose the other span');
    await brush(user, 7, 8);
    await shows('total', CHANGE);
    assert.equal(await hash(), '#span=7-9&with=2-5');
    await shows('legend-change', '+ new, or to 3 times');
    assert.equal(await isHidden('legend'), true);
  },
  async 'what grew is red, what shrank is blue, and has a sign'() {
    await isPainted('255,125,107');
    await isPainted('115,169,255');
    await focus('#graph canvas');
    for (const key of ['ArrowDown', 'ArrowDown']) await browser.press(key);
    await shows('told', 'worker-*: -66.7 ms a second (1.07 s → 1.00 s), -6.3 %; futex -1.07 s, pipe +1.00 s');
    await shows('details', '3,200,000,001 ns recorded');
  },
  async 'also as a table'() {
    await click('#tab-functions');
    await shows('all-functions', 'lock');
    assert.deepEqual((await cells('lock')).slice(0, 5), ['-1.07 s', 'gone', '-100.0 %', '1.07 s', '0 ns']);
    assert.deepEqual((await cells('read')).slice(0, 5), ['+1.00 s', 'new', '+93.7 %', '0 ns', '1.00 s']);
    await click('#tab-graph');
  },
  async 'without normalising, figures are as they were recorded'() {
    await click('#normalised');
    await shows('total', 'off the CPU: -1.20 s (3.20 s → 2.00 s), -37.5 %');
    await click('#normalised');
    await shows('total', CHANGE);
  },
  async 'another span takes the place of the second, and the browser goes back'() {
    await brush(user, 8, 8);
    assert.equal(await hash(), '#span=8-9&with=2-5');
    await back();
    await shows('total', CHANGE);
  },
  async 'one of them stays'() {
    assert.equal(await text('span-compare'), 'Do not compare');
    await click('#span-compare');
    await shows('total', '2,000,000,000 ns');
    assert.equal(await hash(), '#span=7-9');
    assert.equal(await isHidden('legend-change'), true);
  },
  async 'keys do it too, and the earlier span is what was before'() {
    await focus('#span-compare');
    await browser.press('Enter', '\r');
    await shows('span-text', 'choose the other span');
    await focus('#heat canvas');
    await browser.press('Escape');
    await shows('span-compare', 'Compare with another span');
    assert.equal(await hash(), '#span=7-9', 'it was called off');
    await focus('#span-compare');
    await browser.press('Enter', '\r');
    await browser.run("document.getElementById('span-from').value = 2");
    await browser.run("document.getElementById('span-to').value = 5");
    await focus('#span-to');
    await browser.press('Enter', '\r');
    await shows('total', CHANGE);
    assert.equal(await hash(), '#span=2-5&with=7-9');
    await focus('#heat canvas');
    await browser.press('Escape');
    await shows('total', '5,200,000,008 ns');
    assert.equal(await hash(), '');
  },
  async 'the address is enough to see the same'() {
    await browser.send('Page.navigate', { url: 'about:blank' });
    await browser.open(`${process.argv[2]}#span=7-9&with=2-5&tab=functions`);
    await shows('total', CHANGE);
    await shows('all-functions', '+93.7 %');
  },
  async 'nothing is asked for, and nothing is wrong'() {
    user.expectsNothingWrong();
  },
});
