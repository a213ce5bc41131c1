// Usage: layout_test.mjs PAGE TIMES: what is where on screens of different sizes: the page of PageTest, and the one with a
// heat map.
import assert from 'node:assert/strict';
import { User } from './user.mjs';

const [page, times] = process.argv.slice(2);
const user = await User.open(page);
const { browser } = user;
const box = (selector) =>
  browser.run(`document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().toJSON()`);
const isVisible = async (selector) => {
  const { width, height } = await box(selector);
  return width > 0 && height > 0;
};
const size = async (width, height) => {
  await browser.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
  await browser.run('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
};
const fits = () => browser.run('document.documentElement.scrollWidth <= innerWidth');
// All that can be used and is shown, and what is behind the right or left edge.
const outside = () =>
  browser.run(`Array.from(document.querySelectorAll('button, select, input, summary, canvas'))
    .filter((e) => e.checkVisibility() && !e.closest('#causes, #path'))
    .filter((e) => { const { left, right } = e.getBoundingClientRect(); return left < 0 || right > innerWidth; })
    .map((e) => e.outerHTML.slice(0, 60))`);

await user.does({
  async 'the graph is in the first screen, with the heat map above it and the details beside it'() {
    await browser.open(times);
    await size(1400, 900);
    const [bar, heat, graph, details] = [await box('#bar'), await box('#heat'), await box('#graph'), await box('#details')];
    assert.ok(bar.height < 50, `one line of controls: ${bar.height}`);
    assert.ok(heat.height > 0 && heat.height <= 120, `the heat map: ${heat.height}`);
    assert.ok(heat.top >= bar.bottom && graph.top >= heat.bottom);
    assert.ok(graph.top < 400, `the graph begins at ${graph.top}`);
    assert.ok(details.left >= graph.right, 'beside it');
    assert.ok(details.top < graph.bottom && details.bottom <= 900, `${details.top} to ${details.bottom}`);
  },
  async 'the heat map folds, and the address knows'() {
    const before = await box('#graph');
    await user.click('#heat-fold');
    assert.equal(await isVisible('#heat'), false);
    assert.equal(await user.hash(), '#heat=0');
    assert.ok((await box('#graph')).top < before.top - 30);
    await browser.run('delete document.documentElement.dataset.ready; location.reload()');
    await browser.until("document.readyState === 'complete' && document.documentElement.dataset.ready === 'true'");
    assert.equal(await isVisible('#heat'), false);
    await user.click('#heat-fold');
    assert.equal(await isVisible('#heat'), true);
    assert.equal(await user.hash(), '');
  },
  async 'a heat map of many lines is no higher, and scrolls'() {
    await browser.open(times);
    await browser.run("document.querySelector('#heat canvas').focus()");
    await browser.press(' ');
    const { height } = await box('#heat');
    const all = (await box('#heat canvas')).height;
    assert.equal(height, Math.min(all, 120));
  },
  async 'on screens of each width all that can be used is on the screen'() {
    for (const [width, height] of [[400, 800], [800, 600], [1400, 900], [2560, 1300]]) {
      for (const path of [page, times]) {
        await size(width, height);
        await browser.open(path);
        for (const tab of ['graph', 'tree', 'functions']) {
          await user.click(`#tab-${tab}`);
          assert.ok(await fits(), `${path} ${tab} at ${width}`);
          assert.deepEqual(await outside(), [], `${path} ${tab} at ${width}`);
        }
        await user.click('#tab-graph');
        const [graph, details] = [await box('#graph'), await box('#details')];
        assert.equal(details.left >= graph.right, width >= 1000, `${width}: beside it where there is room`);
        assert.ok(graph.width >= (width >= 1000 ? width / 2 : width - 40), `${width}: ${graph.width}`);
      }
    }
  },
  async 'functions have their names on a narrow screen, too'() {
    await size(400, 800);
    await user.click('#tab-functions');
    const names = await browser.run(`Array.from(document.querySelectorAll('#all-functions td.name'),
      (e) => { const { left, right } = e.getBoundingClientRect(); return [left, right]; })`);
    assert.ok(names.length >= 5, `${names.length} functions`);
    for (const [left, right] of names) assert.ok(left >= 0 && right <= 400 && right - left > 200, `${left} to ${right}`);
    await user.click('#tab-graph');
  },
  async 'menus lie on the screen, also on a narrow one'() {
    for (const width of [400, 1400]) {
      await size(width, 800);
      for (const index of [0, 1, 2]) {
        const menu = `document.querySelectorAll('details.menu')[${index}]`;
        await browser.run(`${menu}.querySelector('summary').click()`);
        const { left, right } = await browser.run(`${menu}.querySelector('.sheet').getBoundingClientRect().toJSON()`);
        assert.ok(left >= 0 && right <= width, `${index} at ${width}: ${left} to ${right}`);
        await browser.run(`${menu}.querySelector('button, select, input').focus()`);
        await browser.press('Escape');
        assert.equal(await browser.run(`${menu}.open`), false);
        assert.equal(await browser.run(`document.activeElement === ${menu}.querySelector('summary')`), true);
      }
    }
  },
  async 'a click elsewhere closes a menu'() {
    await size(1400, 900);
    await browser.run("document.querySelector('details.menu').open = true");
    await browser.click(700, 880);
    await browser.until("!document.querySelector('details.menu').open");
  },
  async 'a long way to a zoom takes one line'() {
    await browser.open(page);
    const one = (await box('#heads')).height;
    for (let depth = 0; depth < 7; ++depth) {
      await user.focus('#graph canvas');
      await browser.press('ArrowDown');
      await browser.press('Enter');
    }
    await size(800, 600);
    assert.ok((await browser.run("document.querySelectorAll('#path button').length")) >= 6);
    assert.ok((await box('#heads')).height <= one + 16, 'a scroll bar at most');
    const last = await box('#path li:last-child button');
    assert.ok(last.right <= 800, 'its end is seen');
  },
  async 'nothing is asked for, and nothing is wrong'() {
    assert.deepEqual(browser.errors, []);
  },
});
