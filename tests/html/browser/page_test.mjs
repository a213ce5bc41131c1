// Usage: page_test.mjs PAGE: opens the page of PageTest in Chromium and uses it as people do, by pointer and keys.
import assert from 'node:assert/strict';
import { User } from './user.mjs';

const user = await User.open(process.argv[2]);
const { browser } = user;
const { back, choose, click, focus, hash, path, shows, text, until } = user;

const TOTAL = '8,200,000,081 ns';
// By what they are grouped by, the largest first.
const GROUPS = {
  process: [['server (10)', '7,200,000,074'], ['</script><b>client (11)', '1,000,000,007']],
  thread: [['worker-*', '7,200,000,004'], ['client', '1,000,000,007'], ['loop', '70']],
  cause: [['futex', '6,200,000,008'], ['pipe', '2,000,000,073']],
  syscall: [['futex', '6,200,000,008'], ['read', '2,000,000,073']],
  container: [['0123456789abcdef', '7,200,000,074'], ['[no container]', '1,000,000,007']],
  unit: [['server.service', '5,200,000,001'], ['[no unit]', '3,000,000,080']],
};
// Each link of the chain that ended a wait: who it is, and the way back from where it woke.
const CHAIN = [
  ...['woken by giver (server-10)', 'try_to_wake_up', 'futex_wake', 'unlock', 'give'],
  ...['woken by taker (</script><b>client-11)', 'try_to_wake_up', 'pipe_write', 'write', 'take'],
  ...['woken by feeder-* (server-10)', 'try_to_wake_up', 'futex_wake', 'feed'],
  ...['woken by [interrupt]', 'try_to_wake_up', 'hrtimer_wakeup'],
];
const steps = {
  async 'the totals are exact, and what is hidden is told'() {
    await shows('total', TOTAL);
    await shows('hidden', 'Waiting for work is hidden: 9.00 s, 52.3 % of all.');
  },
  async 'names are text'() {
    await shows('recording', '<i>web1</i>');
    assert.equal(await browser.run("document.querySelectorAll('main b, header i, main script, main img').length"), 0);
  },
  async 'the graph is drawn'() {
    const colors = await browser.run(`(() => { const c = document.querySelector('#graph canvas');
      const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height);
      return new Set(new Uint32Array(data.buffer)).size; })()`);
    assert.ok(colors > 5, `${colors} colors`);
  },
  async 'a click zooms in, and the browser goes back and forward'() {
    const at = await browser.run("document.querySelector('#graph canvas').getBoundingClientRect().toJSON()");
    await browser.click(at.x + 40, at.y + 21 + 10);
    await until("document.querySelectorAll('#path button').length === 2");
    assert.equal(await path(), 'all/server (10)');
    await shows('details', 'server (10)');
    await back();
    await until("document.querySelectorAll('#path button').length === 1");
    await browser.run('history.forward()');
    await until("document.querySelectorAll('#path button').length === 2");
    await click('#path button');
    await until("document.querySelectorAll('#path button').length === 1");
  },
  async 'keys move, zoom in and out'() {
    await focus('#graph canvas');
    await browser.press('ArrowDown');
    await shows('told', 'server (10): 7.20 s, 87.8 %');
    await browser.press('ArrowRight');
    await shows('told', '</script><b>client (11): 1.00 s, 12.2 %');
    await browser.press('ArrowLeft');
    await browser.press('ArrowDown');
    await browser.press('Enter');
    await until("document.querySelectorAll('#path button').length === 3");
    assert.equal(await path(), 'all/server (10)/worker-*');
    await browser.press('Escape');
    await until("document.querySelectorAll('#path button').length === 2");
    await browser.press('Home');
    await until("document.querySelectorAll('#path button').length === 1");
  },
  async 'a search tells what it matched'() {
    await browser.press('/', '/');
    assert.equal(await browser.run('document.activeElement.id'), 'query');
    await browser.send('Input.insertText', { text: '^lock$' });
    await shows('found', '6.20 s matched, 75.6 %');
    await browser.send('Input.insertText', { text: '(' });
    await shows('found', 'regular expression');
    await browser.run(`(() => { const q = document.getElementById('query'); q.value = '';
      q.dispatchEvent(new Event('input')); })()`);
    await until("document.getElementById('found').innerText === ''");
  },
  async 'a cause is a filter, which can be taken away'() {
    await click('#causes button');
    await shows('filters', 'only cause futex');
    await shows('total', '6,200,000,008 ns');
    assert.match(await hash(), /only=cause:futex/);
    await click('#filters button');
    await shows('total', TOTAL);
  },
  async 'any label is a filter'() {
    await choose('filter-key', 'thread');
    await choose('filter-text', 'client');
    await click('#filter button[value=not]');
    await shows('filters', 'without thread client');
    await shows('total', '7,200,000,074 ns');
    await click('#filters button');
    await shows('total', TOTAL);
  },
  async 'groups of each kind are walked through, and add up to all of it'() {
    await click('#tab-tree');
    for (const [key, groups] of Object.entries(GROUPS)) {
      await choose('by0', key);
      await choose('by1', '');
      assert.match(await hash(), new RegExp(`by=${key}`));
      await focus('#tree [tabindex="0"]');
      for (const [name, amount] of groups) {
        await browser.press('ArrowDown');
        await shows('details', `${name}\n`);
        await shows('details', `= ${amount} ns, `);
      }
      const sum = groups.reduce((all, [, amount]) => all + Number(amount.replaceAll(',', '')), 0);
      assert.equal(`${sum.toLocaleString('en')} ns`, TOTAL);
    }
    await click('#tab-graph');
  },
  async 'groups in groups, values and switches'() {
    await choose('by0', 'container');
    await choose('by1', 'unit');
    await focus('#graph canvas');
    await browser.press('ArrowDown');
    await shows('told', '0123456789abcdef: 7.20 s, 87.8 %');
    await browser.press('ArrowDown');
    await shows('told', 'server.service: 5.20 s, 63.4 %');
    await browser.press('ArrowRight');
    await shows('told', '[no unit]: 2.00 s, 24.4 %');
    await choose('filter-key', 'unit');
    await choose('filter-text', 'server.service');
    await click('#filter button[value=only]');
    await shows('total', '5,200,000,001 ns');
    await click('#filters button');
    await choose('by0', 'process');
    await choose('by1', 'thread');
    await choose('value', 'runnable');
    await shows('total', '200,000,074 ns');
    await choose('value', 'count');
    await shows('total', '3 times');
    await choose('value', 'off_cpu');
    await click('#idle');
    await shows('total', '17,200,000,081 ns');
    await click('#idle');
    await shows('total', TOTAL);
  },
  async 'the tree says the same, and is walked with the keys'() {
    await click('#tab-tree');
    const lines = () => browser.run("document.querySelectorAll('#tree [role=treeitem]').length");
    assert.ok((await lines()) >= 3);
    await focus('#tree [tabindex="0"]');
    await browser.press('ArrowDown');
    await until("document.activeElement.querySelector('.name').innerText === 'server (10)'");
    const before = await lines();
    await browser.press('ArrowRight');
    await until(`document.querySelectorAll('#tree [role=treeitem]').length > ${before}`);
    await browser.press('ArrowLeft');
    await until(`document.querySelectorAll('#tree [role=treeitem]').length === ${before}`);
    await browser.press('Enter');
    await until("document.querySelectorAll('#path button').length === 2");
    await back();
    await until("document.querySelectorAll('#path button').length === 1");
  },
  async 'functions have callers and callees'() {
    await click('#tab-functions');
    await shows('all-functions', 'pipe_read');
    await browser.run(`Array.from(document.querySelectorAll('#all-functions button'))
      .find((b) => b.innerText === 'lock').click()`);
    await shows('callers', 'work');
    await shows('callees', 'futex_wait');
    await click('#tab-graph');
  },
  async 'who woke is below the graph, of what is selected'() {
    await shows('wakers-title', 'Who ended the waits of all: known for 5.20 s, 63.4 %');
    const canvas = '#wakers-graph canvas';
    const colors = await browser.run(`(() => { const c = document.querySelector('${canvas}');
      const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height);
      return new Set(new Uint32Array(data.buffer)).size; })()`);
    assert.ok(colors > 5, `${colors} colors`);
    const isBelow = await browser.run(`document.querySelector('${canvas}').getBoundingClientRect().top >=
      document.querySelector('#graph').getBoundingClientRect().bottom`);
    assert.ok(isBelow);
    await focus(canvas);
    await browser.press('ArrowDown');
    await shows('told', 'woken by giver (server-10): 5.20 s, 63.4 %');
    await browser.press('ArrowDown');
    await shows('details', 'of the waker');
    await browser.press('ArrowUp');
    for (const name of CHAIN) {
      await shows('told', `${name}: 5.20 s, 63.4 %`);
      await browser.press('ArrowDown');
    }
    await shows('told', `${CHAIN.at(-1)}: `);
    await browser.press('Enter');
    assert.equal(await path(), 'all', 'the graph above stays');
    await focus('#graph canvas');
    await browser.press('ArrowDown');
    await browser.press('ArrowRight');
    await shows('wakers-title', 'of </script><b>client (11): not known');
    await browser.press('ArrowUp');
    await shows('wakers-title', 'of all: known');
    await click('#whole');
    assert.match(await hash(), /whole=1/);
    await click('#whole');
    await click('#wakers');
    assert.equal(await browser.run("document.getElementById('wakers-panel').hidden"), true);
    await click('#wakers');
    await shows('wakers-title', 'of all: known');
  },
  async 'flames stand on their root'() {
    const height = (least, all) =>
      browser.run(`Object.assign(document.getElementById('graph').style,
        { minHeight: '${least}', height: '${all}' }) && undefined`);
    await height('0', '60px');
    await choose('layout', 'flame');
    const isAtEnd = `(({ scrollTop, clientHeight, scrollHeight }) =>
      scrollTop > 0 && scrollTop + clientHeight >= scrollHeight - 1)(document.getElementById('graph'))`;
    await until(isAtEnd);
    await choose('layout', 'icicle');
    await until("document.getElementById('graph').scrollTop === 0");
    await height('', '');
  },
  async 'what is zoomed to is seen, and what is behind it'() {
    const style = (height) => browser.run(`Object.assign(document.getElementById('graph').style,
      { minHeight: '0', height: '${height}' }) && undefined`);
    await style('84px'); // four of seven levels: all, process, thread, main, work, lock, futex_wait
    await focus('#graph canvas');
    await browser.press('Home');
    for (let i = 0; i < 5; ++i) await browser.press('ArrowDown');
    await browser.press('Enter');
    await until("document.querySelectorAll('#path button').length === 6");
    await until("document.getElementById('graph').scrollTop === 3 * 21");
    await choose('layout', 'flame');
    await until("document.getElementById('graph').scrollTop === 0");
    await choose('layout', 'icicle');
    await focus('#graph canvas');
    await browser.press('Home');
    await until("document.getElementById('graph').scrollTop === 0");
    await browser.run("document.getElementById('graph').removeAttribute('style')");
  },
  async 'the scheduler and the wakers are there when asked for'() {
    const find = async (query) => {
      await browser.run(`(() => { const q = document.getElementById('query'); q.value = '${query}';
        q.dispatchEvent(new Event('input')); })()`);
      return (await text('found')).split(' matched')[0];
    };
    assert.equal(await find('^entry_SYSCALL'), '0 ns');
    await click('#fold');
    assert.equal(await find('^entry_SYSCALL_64'), '8.20 s');
    await click('#fold');
    assert.equal(await find('^unlock$'), '5.20 s');
    await click('#wakers');
    assert.equal(await find('^unlock.?$'), '0 ns');
  },
  async 'keys lead to all that can be used'() {
    await click('#wakers');
    await browser.run("document.getElementById('title').tabIndex = -1; document.getElementById('title').focus()");
    await browser.run("document.querySelectorAll('details.menu').forEach((menu) => { menu.open = true; })");
    const reached = [];
    for (let at = ''; at !== 'Keys' && reached.length < 80; reached.push(at)) {
      await browser.press('Tab');
      at = await browser.run(`((e) => (e.tagName === 'SUMMARY' ? e.innerText : e.closest('[id]')?.id ?? e.tagName))(
        document.activeElement)`);
    }
    const all = ['causes', 'value', 'by0', 'by1', 'idle', 'View', 'layout', 'colors', 'fold', 'recursion', 'wakers',
      'whole', 'Filter', 'filter-key', 'filter-text', 'Save', 'save-folded', 'save-svg', 'query', 'path', 'tab-graph',
      'graph', 'wakers-graph', 'actions', 'How complete the recording is', 'Keys'];
    assert.deepEqual(all.filter((id) => !reached.includes(id)), []);
    assert.equal(await browser.run("document.querySelectorAll('details.menu[open]').length"), 0, 'menus close behind one');
    await focus('#tab-graph');
    await browser.press('ArrowRight');
    await shows('tree', 'server (10)');
    await browser.press('ArrowLeft');
    assert.equal(await browser.run('document.activeElement.id'), 'tab-graph');
  },
  async 'the address is enough to see the same'() {
    await browser.send('Page.navigate', { url: 'about:blank' });
    const zoom = encodeURIComponent('=server (10)');
    await browser.open(`${process.argv[2]}#tab=tree&value=blocked&only=cause:futex&zoom=${zoom}`);
    await shows('total', '6,000,000,007 ns');
    assert.equal(await path(), 'all/server (10)');
    assert.equal(await browser.run("document.getElementById('panel-tree').hidden"), false);
  },
  async 'nothing is asked for, and nothing is wrong'() {
    user.expectsNothingWrong();
  },
  async 'what is not of the page does not run'() {
    // A script runs while it is put in.
    const wasRun = await browser.run(`(() => {
      const script = document.createElement('script');
      try { script.append('globalThis.wasRun = true'); document.body.append(script); } catch { }
      return globalThis.wasRun === true; })()`);
    assert.equal(wasRun, false);
    const isMarkup = await browser.run(`(() => {
      try { document.body.insertAdjacentHTML('beforeend', '<b>'); return true; } catch { return false; } })()`);
    assert.equal(isMarkup, false);
    assert.equal(await browser.run("fetch('https://127.0.0.1:1/').then(() => 'sent', () => 'refused')"), 'refused');
    assert.deepEqual(browser.requests.filter((url) => url.startsWith('http')), []);
  },
};

await user.does(steps);
