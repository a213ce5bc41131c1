// Usage: places_test.mjs PAGE: the page of PageTest whose functions have places in the source.
import assert from 'node:assert/strict';
import { User } from './user.mjs';

const user = await User.open(process.argv[2]);
const { browser, click, shows, text, until } = user;
const copied = () => browser.run('navigator.clipboard.readText()');
const links = () => browser.run("Array.from(document.querySelectorAll('#details-list a'), (a) => a.href)");

async function select(depth) {
  await user.focus('#graph canvas');
  await browser.press('Home');
  for (let i = 0; i < depth; ++i) await browser.press('ArrowDown');
}

await user.does({
  async 'the details have the places of a function, each a link'() {
    await select(3); // all, server, calls, main
    await shows('details', '/src/main.cc:40 57.1 %');
    assert.match(await text('details'), /source\n\/src\/main.cc:40 57.1 %\n\/src\/main.cc:30 42.9 %\nbegins\nin line 20\n/);
    assert.deepEqual(await links(), ['https://example.org/src/main.cc#L40', 'https://example.org/src/main.cc#L30']);
    const link = await browser.run("(({ target, rel }) => [target, rel])(document.querySelector('#details-list a'))");
    assert.deepEqual(link, ['_blank', 'noopener noreferrer']);
  },
  async 'what was inlined is marked'() {
    await select(4);
    await shows('details', 'loop');
    await shows('details', 'a function in user mode, inlined into the one above it');
    await shows('legend', 'inlined');
    await click('#tab-tree');
    await user.focus('#tree [tabindex="0"]');
    for (let depth = 0; depth < 5; depth++) {
      await browser.press('ArrowRight');
      await browser.press('ArrowDown');
    }
    await shows('tree', 'inlined');
    await click('#tab-graph');
  },
  async 'its corner is drawn'() {
    await user.isDark(false);
    await select(4);
    const corner = await browser.run(`(() => {
      const canvas = document.querySelector('#graph canvas');
      const at = (y) => Array.from(canvas.getContext('2d').getImageData(1, y, 1, 1).data.slice(0, 3));
      return [at(21 * 4 + 1), at(21 * 3 + 1)];
    })()`);
    assert.notDeepEqual(corner[0], corner[1]);
  },
  async 'places are copied, alone and with the stack'() {
    await browser.send('Browser.grantPermissions', { permissions: ['clipboardReadWrite', 'clipboardSanitizedWrite'] });
    await browser.send('Page.bringToFront');
    await select(4);
    await shows('details', 'loop');
    await click('#actions button[value=place]');
    await until("navigator.clipboard.readText().then((copy) => copy === '/src/loop.h:7')");
    await click('#actions button[value=stack]');
    await until("navigator.clipboard.readText().then((copy) => copy.includes('main'))");
    assert.match(await copied(), /main {2}\/src\/main.cc:40\n {4}loop {2}\/src\/loop.h:7\n$/);
    await select(5); // lock, of which nothing is known
    await shows('details', 'lock');
    assert.equal(await browser.run("document.querySelector('#actions button[value=place]').disabled"), true);
  },
  async 'names of files are text, and lead nowhere else'() {
    await browser.open(`${process.argv[2]}#only=thread:hostile`);
    await select(3);
    await shows('details', 'javascript:alert(1):1');
    await shows('details', '"><img src=x onerror=alert(2)>:1');
    const all = await links();
    assert.equal(all.length, 4);
    for (const link of all) assert.equal(new URL(link).origin, 'https://example.org', link);
    assert.equal(await browser.run("document.querySelectorAll('img, iframe, object').length"), 0);
    assert.doesNotMatch(await text('details'), /[\u202e\u2066]/u);
  },
  async 'nothing is asked for, and nothing is wrong'() {
    user.expectsNothingWrong();
  },
});
