// Usage: pruned_test.mjs PAGE FOLDED: what a page that does not keep all stacks says of them, and that its total is that
// of the folded stacks to the nanosecond.
import { readFileSync } from 'node:fs';
import { User } from './user.mjs';

const total = readFileSync(process.argv[3], 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .reduce((sum, line) => sum + BigInt(line.slice(line.lastIndexOf(' ') + 1)), 0n);

const user = await User.open(process.argv[2]);
await user.does({
  async 'the total is all there is'() {
    await user.shows('total', `(${String(total).replace(/\B(?=(\d{3})+$)/g, ',')} ns)`);
  },
  async 'what is hidden is told'() {
    await user.shows('hidden', 'The stacks of the 40 shortest rows are not in this page:');
    await user.shows('hidden', 'shown as [pruned].');
  },
  async 'it has a place in the graph'() {
    await user.browser.run(`(() => { const q = document.getElementById('query'); q.value = '^\\\\[pruned\\\\]$';
      q.dispatchEvent(new Event('input')); })()`);
    const told = /: ([0-9.]+ m?s, [0-9.]+ %), shown/.exec(await user.text('hidden'))[1];
    await user.shows('found', told.replace(',', ' matched,'));
  },
});
