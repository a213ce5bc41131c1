// Usage: live_test.mjs ADDRESS [TOKEN [two-spans]]: the page of a service at "http://127.0.0.1:PORT/", in Chromium, or at
// an address with https that asks for a token. Node finds the certificate by NODE_EXTRA_CA_CERTS. With two-spans, what was
// recorded is longer than two seconds, of which one is compared with the other.
import assert from 'node:assert/strict';
import { User } from './user.mjs';

const [address, token, twoSpans] = process.argv.slice(2);
const user = await User.open(address);
const { browser, shows, hash } = user;
const link = (name) => browser.run(`document.querySelector('#live [data-link=${name}]').href`);
const download = async (name) => fetch(await link(name), token ? { headers: { Authorization: `Bearer ${token}` } } : {});

if (token) await browser.answersWith(token);
await user.does({
  async 'the address alone leads to the page'() {
    assert.equal(await browser.run('location.pathname'), '/live');
    assert.equal(await browser.run("document.getElementById('when').hidden"), false);
    await shows('total', 'off the CPU');
  },
  async 'a span shows its graph'() {
    await browser.run(`(() => { document.getElementById('span-from').value = 0;
      document.getElementById('span-to').value = 1; document.getElementById('span').requestSubmit(); })()`);
    assert.equal(await hash(), '#span=0-1');
    await shows('live', 'only this span');
  },
  async 'it is compared with another one'() {
    if (twoSpans !== 'two-spans') return;
    await user.click('#span-compare');
    await browser.run(`(() => { document.getElementById('span-from').value = 1;
      document.getElementById('span-to').value = 2; document.getElementById('span').requestSubmit(); })()`);
    assert.equal(await hash(), '#span=1-2&with=0-1');
    await shows('total', ' → ');
    await user.click('#span-compare');
    assert.equal(await hash(), '#span=1-2');
    await browser.run('history.go(-2)');
    await user.until("location.hash === '#span=0-1'");
  },
  async 'it comes as files'() {
    const pprof = await download('pprof');
    assert.equal(pprof.status, 200);
    assert.deepEqual(Array.from(new Uint8Array(await pprof.arrayBuffer()).slice(0, 2)), [0x1f, 0x8b]);
    const file = await download('file');
    assert.match(file.headers.get('content-disposition'), /^attachment; filename="offcpu\.html"$/);
    assert.match(await file.text(), /^<!DOCTYPE html>/);
  },
  async 'and anew'() {
    await browser.open(await link('span'));
    await shows('total', 'off the CPU');
    await browser.open(await link('now'));
    await shows('total', 'off the CPU');
  },
  async 'no other host was asked, and nothing went wrong'() {
    user.expectsNothingWrong();
  },
});
