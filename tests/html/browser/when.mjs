// What a user does with the heat map of PageTest: ten seconds, of which a server has waited in the third to the fifth and
// in the eighth and ninth, and a client for 7 ns in the last one.
import assert from 'node:assert/strict';

// Where a column of the heat map is on the screen: {x, y}.
async function place(browser, column, line = 0) {
  return browser.run(`(() => { const c = document.querySelector('#heat canvas');
    const { x, y, width } = c.getBoundingClientRect();
    const gutter = Math.min(220, Math.round(width / 4));
    return { x: x + gutter + ((${column} + 0.5) * (width - gutter)) / 10, y: y + 18 + ${line} * 18 + 9 }; })()`);
}

export async function brush({ browser }, from, to) {
  const [a, b] = [await place(browser, from), await place(browser, to)];
  await browser.drag(a.x, b.x, a.y);
}

export function heatMapSteps(user, total) {
  const { back, browser, click, focus, hash, shows, text, until } = user;
  return {
    async 'the heat map is drawn, with a color for each cause'() {
      assert.equal(await browser.run("document.getElementById('when').hidden"), false);
      const colors = await browser.run(`(() => { const c = document.querySelector('#heat canvas');
        const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height);
        return new Set(new Uint32Array(data.buffer)).size; })()`);
      assert.ok(colors > 5, `${colors} colors`);
      await shows('heat-legend', 'futex');
      await shows('heat-legend', 'pipe');
      await shows('total', total);
    },
    async 'a span that is brushed is what the graph shows'() {
      await brush(user, 2, 4);
      await shows('total', '3,200,000,001 ns');
      assert.equal(await hash(), '#span=2-5');
      await shows('span-text', '3.00 s');
      await shows('details', 'all');
      const chosen = await browser.run("document.querySelectorAll('#causes button').length");
      assert.equal(chosen, 1, 'one cause is left');
    },
    async 'also from the right to the left, and one column alone'() {
      await brush(user, 9, 8);
      await shows('total', '1,000,000,007 ns');
      await brush(user, 3, 3);
      await shows('total', '1,000,000,000 ns');
      assert.equal(await hash(), '#span=3-4');
      await back();
      await shows('total', '1,000,000,007 ns');
    },
    async 'all of it comes back'() {
      await click('#span-all');
      await shows('total', total);
      assert.equal(await browser.run("document.getElementById('span-all').hidden"), true);
    },
    async 'a span can be typed'() {
      await browser.run(`(() => { document.getElementById('span-from').value = 7;
        document.getElementById('span-to').value = 9; document.getElementById('span').requestSubmit(); })()`);
      await shows('total', '2,000,000,000 ns');
      assert.equal(await hash(), '#span=7-9');
    },
    async 'keys choose a span too'() {
      await focus('#heat canvas');
      await browser.press('Escape');
      await shows('total', total);
      for (let i = 0; i < 2; ++i) await browser.press('ArrowRight');
      await shows('heat-told', 'server (10)');
      await shows('heat-told', '1.00 s: futex 1.00 s');
      await browser.press('Enter');
      await shows('total', '1,000,000,000 ns');
      await browser.press('Escape');
      await browser.press('ArrowRight');
      await browser.press('ArrowRight', undefined, 'Shift');
      await browser.press('Enter');
      assert.equal(await hash(), '#span=3-5');
      await shows('total', '2,200,000,001 ns');
      await browser.press('Escape');
      await shows('total', total);
    },
    async 'a process opens into its threads'() {
      const height = () => browser.run("document.querySelector('#heat canvas').clientHeight");
      const closed = await height();
      await focus('#heat canvas');
      await browser.press(' ');
      await until(`document.querySelector('#heat canvas').clientHeight > ${closed}`);
      await browser.press('ArrowDown');
      await shows('heat-told', 'worker-*');
      await browser.press('ArrowUp');
      await browser.press(' ');
      await until(`document.querySelector('#heat canvas').clientHeight === ${closed}`);
    },
    async 'what is pointed at is told'() {
      const { x, y } = await place(browser, 8);
      await browser.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y });
      await shows('heat-told', 'pipe 1.00 s');
    },
    async 'the recording says when it was'() {
      assert.match(await text('span-text'), /^14:13:20 to 14:13:30 UTC, 10\.0 s$/);
    },
  };
}
