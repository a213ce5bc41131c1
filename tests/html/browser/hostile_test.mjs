// Usage: hostile_test.mjs PAGE: opens the page of PageTest whose names try to be something else.
import assert from 'node:assert/strict';
import { User } from './user.mjs';

const user = await User.open(process.argv[2]);
const { browser } = user;
// What a reader would be shown, of all views.
const shown = async () => {
  let all = '';
  for (const tab of ['graph', 'tree', 'functions']) {
    await user.click(`#tab-${tab}`);
    all += await browser.run('document.body.innerText');
  }
  return all;
};
const elements = () => browser.run("document.querySelectorAll('img, main script, main b, iframe, object, a[href]').length");

await user.does({
  async 'names are text'() {
    await browser.open(`${process.argv[2]}#by=process,name`);
    await user.click('#tab-tree');
    await user.focus('#tree [tabindex="0"]');
    for (let depth = 0; depth < 4; depth++) {
      await browser.press('ArrowDown');
      await browser.press('ArrowRight');
    }
    const text = await shown();
    for (const name of ['<img src=x onerror=alert(1)> (10)', '</script><script>alert(2)</script>',
      '</title><script>alert(4)</script>', 'javascript:alert(3)', '&lt;b&gt;', 'constructor', 'toString', '__proto__']) {
      assert.ok(text.includes(name), name);
    }
    assert.equal(await elements(), 0);
  },
  async 'nothing controls, hides or turns round what stands beside it'() {
    const text = await shown();
    assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
    assert.ok(text.includes('a?[31m??b?c'));
    assert.ok(text.includes('bad\ufffd\ufffdname'));
  },
  async 'names are text at the pointer and beside the graph, too'() {
    await browser.open(`${process.argv[2]}#by=process,name`);
    const { x, y } = await browser.run("document.querySelector('#graph canvas').getBoundingClientRect().toJSON()");
    await browser.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x: x + 40, y: y + 21 + 10 });
    await user.shows('tip', '<img src=x onerror=alert(1)> (10)');
    await browser.click(x + 40, y + 21 + 10);
    await user.shows('details', '<img src=x onerror=alert(1)> (10)');
    await user.click('#actions button[value=only]');
    await user.shows('filters', 'only process <img src=x onerror=alert(1)> (10)');
    assert.equal(await elements(), 0);
    await user.click('#filters button');
    await user.click('#path button');
    await user.until("document.querySelectorAll('#path button').length === 1");
  },
  async 'a long name leaves the page as wide as it is'() {
    for (const tab of ['graph', 'tree', 'functions']) {
      await user.click(`#tab-${tab}`);
      assert.ok(await browser.run('document.documentElement.scrollWidth <= innerWidth'), tab);
    }
  },
  async 'also on the screen of a telephone, where names have room'() {
    const screen = { width: 400, height: 800, deviceScaleFactor: 1, mobile: false };
    await browser.send('Emulation.setDeviceMetricsOverride', screen);
    for (const tab of ['graph', 'functions', 'tree']) {
      await user.click(`#tab-${tab}`);
      assert.ok(await browser.run('document.documentElement.scrollWidth <= innerWidth'), tab);
    }
    const widths = await browser.run("Array.from(document.querySelectorAll('#tree .name'), (e) => e.clientWidth)");
    assert.ok(widths.every((width) => width >= 150), `${widths}`);
    await browser.send('Emulation.clearDeviceMetricsOverride');
  },
  async 'such names are filters, and searched for'() {
    await user.choose('filter-key', 'name');
    await user.choose('filter-text', '__proto__');
    await user.click('#filter button[value=only]');
    await user.shows('total', '1,000,000,000 ns');
    await user.click('#filters button');
    await browser.run(`(() => { const q = document.getElementById('query'); q.value = '<img';
      q.dispatchEvent(new Event('input')); })()`);
    await user.shows('found', '7.00 s matched, 100.0 %');
    await browser.open(`${process.argv[2]}#zoom=__proto__/constructor&only=__proto__:x&find=%ff&by=__proto__&value=toString`);
    await user.shows('total', '7,000,000,001 ns');
  },
  async 'a search that a link brings does not hang the page'() {
    await browser.open(`${process.argv[2]}#find=(a%2B)%2B%24`);
    await user.shows('found', '0 ns matched');
    await browser.open(`${process.argv[2]}#find=a{1000}`);
    await user.shows('found', '1 ns matched');
  },
  async 'nothing is asked for, and nothing is wrong'() {
    user.expectsNothingWrong();
  },
});
