// Who uses a page as people do, by pointer and keys, and looks at what it shows.
import assert from 'node:assert/strict';
import { Browser } from './browser.mjs';

const quoted = (value) => JSON.stringify(value);

export class User {
  static async open(page) {
    return new User(page, await Browser.open('chromium'));
  }

  constructor(page, browser) {
    this.page = page;
    this.browser = browser;
  }

  text = (id) => this.browser.run(`document.getElementById('${id}').innerText`);
  until = (expression) => this.browser.until(expression, 60);
  shows = (id, part) => this.until(`document.getElementById('${id}').innerText.includes(${quoted(part)})`);
  choose = (id, value) =>
    this.browser.run(`(() => { const e = document.getElementById('${id}'); e.value = ${quoted(value)};
      e.dispatchEvent(new Event('change', { bubbles: true })); })()`);
  click = (selector) => this.browser.run(`document.querySelector(${quoted(selector)}).click()`);
  focus = (selector) => this.browser.run(`document.querySelector(${quoted(selector)}).focus()`);
  hash = () => this.browser.run('location.hash');
  back = () => this.browser.run('history.back()');
  path = () =>
    this.browser.run("Array.from(document.querySelectorAll('#path button'), (b) => b.textContent).join('/')");

  // The texts of a function's row in the table of functions.
  cells = (name) =>
    this.browser.run(`Array.from(Array.from(document.querySelectorAll('#all-functions tbody tr'))
      .find((r) => r.querySelector('bdi').innerText === ${quoted(name)}).cells, (c) => c.innerText)`);

  // Until the graph has as much of a color, "r,g,b", as a bar that is a twelfth of it.
  isPainted = (color) =>
    this.until(`(() => { const c = document.querySelector('#graph canvas');
      const { data } = c.getContext('2d').getImageData(0, 0, c.width, c.height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4) if (data.slice(i, i + 3).join() === '${color}') count++;
      return count > (c.width / 12 - 10) * 8; })()`);

  isDark = (isDark) =>
    this.browser.send('Emulation.setEmulatedMedia', {
      features: [{ name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' }],
    });

  // Nothing was fetched, and nothing went wrong.
  expectsNothingWrong() {
    const own = this.page.startsWith('http') ? this.page : `file://${this.page}`;
    const isOther = (url) => !url.startsWith(own) && url !== 'about:blank';
    assert.deepEqual(this.browser.requests.filter(isOther), []);
    assert.deepEqual(this.browser.errors, []);
  }

  // steps: functions by what they expect. Ends the process, with 1 if one of them failed.
  async does(steps) {
    let failed = 0;
    try {
      await this.browser.open(this.page);
      for (const [name, step] of Object.entries(steps)) {
        try {
          await step();
          console.log(`ok      ${name}`);
        } catch (error) {
          failed++;
          console.log(`FAILED  ${name}: ${error.stack}`);
        }
      }
    } finally {
      await this.browser.close();
    }
    process.exit(failed === 0 ? 0 : 1);
  }
}
