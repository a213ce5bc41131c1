// Usage: open_test.mjs PAGE: how long a page takes until it can be used. What is judged is the time on a CPU of the
// process that shows it: on a busy machine the clock tells of others.
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { User } from './user.mjs';

const MOST_SECONDS = 2;

const user = await User.open(process.argv[2]);
const { browser } = user;
const spent = async () => {
  const { metrics } = await browser.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'ProcessTime').value;
};

await user.does({
  async 'a page of many stacks is there in two seconds'() {
    await browser.send('Performance.enable');
    // A page of files has a process of its own, which begins with it.
    await browser.open(process.argv[2]);
    const before = await spent();
    const start = performance.now();
    await browser.send('Page.reload');
    await browser.until("document.documentElement?.dataset.ready === 'true'");
    const seconds = (performance.now() - start) / 1000;
    const cpu = (await spent()) - before;
    const { size } = statSync(process.argv[2]);
    console.log(`${size} bytes: ${cpu.toFixed(2)} s on a CPU, ${seconds.toFixed(2)} s by the clock`);
    assert.ok(cpu < MOST_SECONDS, `${cpu} s`);
  },
  async 'it shows them all'() {
    await user.until("/^[0-9.,]+ s off the CPU/.test(document.getElementById('total').innerText)");
    assert.equal(await user.text('hidden'), '');
    user.expectsNothingWrong();
  },
});
