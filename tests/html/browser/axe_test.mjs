// Usage: axe_test.mjs PAGE#STATE...: what axe-core finds in pages that keeps people from using them, in states as the
// address names them, in light and dark.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { User } from './user.mjs';

const axe = readFileSync(new URL('node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const views = process.argv.slice(2);
const user = await User.open(views[0]);
const { browser } = user;

const violations = () =>
  browser.run(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 100)).join(' ')))`);

const steps = {};
for (const view of views) {
  for (const isDark of [false, true]) {
    steps[`${view.replace(/^.*\//, '')}, ${isDark ? 'dark' : 'light'}`] = async () => {
      await user.isDark(isDark);
      await browser.send('Page.navigate', { url: 'about:blank' });
      await browser.open(view);
      await browser.run(`${axe}; document.querySelectorAll('details').forEach((e) => { e.open = true; })`);
      assert.deepEqual(await violations(), []);
    };
  }
}
// It would find one.
steps['a button without a name is found'] = async () => {
  await browser.run("document.querySelector('main').append(document.createElement('button'))");
  assert.match((await violations()).join(), /button-name/);
};

await user.does(steps);
