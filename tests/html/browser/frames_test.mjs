// Usage: frames_test.mjs PAGE: what is done with single bars of the page of PageTest, by pointer and keys: words at the
// pointer, what is copied, saved, focused, removed and left out, and the colors.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { User } from './user.mjs';

const user = await User.open(process.argv[2]);
const { browser } = user;
const { choose, click, focus, hash, shows, text, until } = user;
const TOTAL = '8,200,000,081 ns';
const downloads = mkdtempSync(join(tmpdir(), 'offcpu-saved-'));
const act = (value) => click(`#actions button[value=${value}]`);
const copied = () => browser.run('navigator.clipboard.readText()');
const isEnabled = (value) => browser.run(`!document.querySelector('#actions button[value=${value}]').disabled`);

// Selects the first bar that the keys lead to below the root, `depth` levels down.
async function select(depth) {
  await focus('#graph canvas');
  await browser.press('Home');
  for (let i = 0; i < depth; ++i) await browser.press('ArrowDown');
}

// Until a file is there, and all of it.
async function saved(name) {
  for (const end = Date.now() + 30_000; !readdirSync(downloads).includes(name); ) {
    if (Date.now() > end) throw new Error(`no ${name}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return readFileSync(join(downloads, name), 'utf8');
}

await user.does({
  async 'the pointer has the name, time, share and file of a bar, and moves with it'() {
    const { x, y } = await browser.run("document.querySelector('#graph canvas').getBoundingClientRect().toJSON()");
    await browser.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x: x + 40, y: y + 21 + 10 });
    await shows('tip', 'server (10)');
    assert.match(await text('tip'), /^server \(10\)\n7\.20 s, 87\.8 % of all\na group$/);
    const place = await browser.run("document.querySelector('#tip').getBoundingClientRect().toJSON()");
    assert.ok(place.left > x + 40 && place.left < x + 70 && place.top > y + 31 && place.top < y + 61);
    assert.match(await text('details'), /^all\n/, 'what is selected stays');
    await browser.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x: 5, y: 5 });
    await until("document.querySelector('#tip').hidden");
  },
  async 'the other button of the pointer selects'() {
    const { x, y } = await browser.run("document.querySelector('#graph canvas').getBoundingClientRect().toJSON()");
    for (const type of ['mousePressed', 'mouseReleased']) {
      await browser.send('Input.dispatchMouseEvent', { type, x: x + 40, y: y + 31, button: 'right', clickCount: 1 });
    }
    await shows('details', 'server (10)');
    assert.equal(await user.path(), 'all');
  },
  async 'names and stacks are copied'() {
    await browser.send('Browser.grantPermissions', { permissions: ['clipboardReadWrite', 'clipboardSanitizedWrite'] });
    await browser.send('Page.bringToFront');
    await select(4); // all, server, worker-*, main, work
    await shows('details', 'work');
    await act('name');
    await shows('actions', 'copied');
    assert.equal(await copied(), 'work');
    await act('stack');
    await until("navigator.clipboard.readText().then((copy) => copy.includes('main'))");
    assert.equal(await copied(), '7.20 s, 87.8 % of all\n    server (10)\n    worker-*\n    main\n    work\n');
  },
  async 'also where the page has no clipboard of its own'() {
    await browser.run("Object.defineProperty(navigator.clipboard, 'writeText', { value: () => Promise.reject(new Error()) })");
    await act('name');
    await until("navigator.clipboard.readText().then((copy) => copy === 'work')");
    await shows('actions', 'copied');
  },
  async 'a focus, what is removed, and what is left out are filters that can be taken away'() {
    await select(5); // lock
    await shows('details', 'lock');
    await act('only');
    await shows('filters', 'only stacks with lock');
    await shows('total', '6,200,000,008 ns');
    assert.equal(await hash(), '#only=frame:lock');
    await click('#filters button');
    await select(5);
    await act('not');
    await shows('filters', 'without stacks with lock');
    await shows('total', '2,000,000,073 ns');
    await click('#filters button');
    await shows('total', TOTAL);
    await select(4);
    await act('hide');
    await shows('filters', 'left out: work');
    await shows('total', TOTAL);
    assert.equal(await hash(), '#hide=work');
    await select(4);
    await shows('details', 'lock');
    await click('#filters button');
    await shows('total', TOTAL);
  },
  async 'a group is a focus, too, and all of it is none'() {
    await select(2);
    await act('only');
    await shows('filters', 'only thread worker-*');
    await click('#filters button');
    await select(0);
    for (const value of ['only', 'not', 'hide', 'around']) assert.equal(await isEnabled(value), false, value);
    await select(1);
    assert.equal(await isEnabled('hide'), false, 'a group is no function');
  },
  async 'callers and callees are a click away'() {
    await select(5);
    await act('around');
    await shows('callers', 'work');
    await shows('callees', 'futex_wait');
    await browser.run('history.back()');
    await until("!document.getElementById('panel-graph').hidden");
  },
  async 'what is shown is saved as folded stacks and as a picture'() {
    await browser.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: downloads });
    await click('#save-folded');
    const lines = (await saved('waits.folded')).split('\n').filter((line) => line !== '');
    const sum = lines.reduce((all, line) => all + BigInt(line.slice(line.lastIndexOf(' ') + 1)), 0n);
    assert.equal(`${sum.toLocaleString('en')} ns`, TOTAL);
    assert.ok(lines.includes('server (10);worker-*;main;work;lock;futex_wait 5200000001'), lines.join('\n'));
    await click('#save-svg');
    const svg = await saved('waits.svg');
    assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^]*<\/svg>\n$/);
  },
  async 'colors are a choice, which the legend says'() {
    await user.isDark(false);
    await choose('colors', 'kind');
    assert.equal(await hash(), '#colors=kind');
    await shows('legend', 'user');
    await choose('colors', 'module');
    await until("!document.getElementById('legend').innerText.includes('user')");
    await shows('legend', 'libx.so');
    // The page has kernel, missing and who woke; nothing is interpreted, and there are no samples.
    assert.deepEqual((await text('legend')).split('\n').filter((line) => line !== ''),
      ['libx.so', 'kernel', 'missing', 'woken by', 'group', 'blocked', 'runnable']);
  },
  async 'recursion is merged when asked for'() {
    await click('#recursion');
    assert.equal(await hash(), '#merge=1');
    await shows('total', TOTAL);
    await click('#recursion');
  },
  async 'nothing is asked for, and nothing is wrong'() {
    browser.requests = browser.requests.filter((url) => !url.startsWith('blob:'));
    user.expectsNothingWrong();
  },
  async 'the picture is one, in which names are text'() {
    await browser.send('Page.navigate', { url: `file://${join(downloads, 'waits.svg')}` });
    await until("document.documentElement?.localName === 'svg' && document.readyState === 'complete'");
    const names = await browser.run(
      "Array.from(document.querySelectorAll('g > title'), (e) => e.textContent.split('\\n')[0])");
    assert.ok(names.includes('</script><b>client (11)'), names.join());
    rmSync(downloads, { recursive: true, force: true });
  },
});
