// A headless Chromium with one page, driven through the DevTools protocol by a pipe: no port, no library.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FLAGS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--hide-scrollbars',
  '--disable-background-networking', '--disable-component-update', '--disable-extensions', '--disable-sync',
  '--remote-debugging-pipe',
];

// What the browser says of an expression whose page has gone.
const GONE = /^(Inspected target navigated|Cannot find .*context|Execution context was destroyed)/;

export class Browser {
  static async open(program, size = '1200,900') {
    const browser = new Browser();
    browser.home = mkdtempSync(join(tmpdir(), 'offcpu-page-'));
    const words = [...FLAGS, `--window-size=${size}`, `--user-data-dir=${browser.home}`, 'about:blank'];
    browser.child = spawn(program, words, {
      detached: true, // with a group of its own
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    browser.listen(browser.child.stdio[4]);
    const { targetId } = await browser.firstPage();
    ({ sessionId: browser.session } = await browser.send('Target.attachToTarget', { targetId, flatten: true }));
    for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await browser.send(`${domain}.enable`);
    return browser;
  }

  // The pipe may be there before the page.
  async firstPage(seconds = 60) {
    for (const end = Date.now() + seconds * 1000; ; ) {
      const { targetInfos } = await this.send('Target.getTargets');
      const page = targetInfos.find(({ type }) => type === 'page');
      if (page) return page;
      if (Date.now() > end) throw new Error('the browser has no page');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  constructor() {
    this.next = 1;
    this.waiting = new Map();
    this.requests = []; // addresses
    this.errors = []; // of the console, of scripts, of the page's policy, and boxes that scripts open
    this.rest = '';
  }

  listen(pipe) {
    pipe.setEncoding('utf8');
    pipe.on('data', (text) => {
      const messages = (this.rest + text).split('\0');
      this.rest = messages.pop();
      messages.forEach((message) => this.take(JSON.parse(message)));
    });
    this.child.on('exit', () => {
      for (const { reject } of this.waiting.values()) reject(new Error('the browser is gone'));
    });
  }

  take({ id, result, error, method, params }) {
    if (id !== undefined) {
      const { resolve, reject } = this.waiting.get(id);
      this.waiting.delete(id);
      if (error) reject(new Error(error.message));
      else resolve(result);
    }
    if (method === 'Fetch.requestPaused') this.send('Fetch.continueRequest', { requestId: params.requestId });
    if (method === 'Fetch.authRequired') {
      const authChallengeResponse = { response: 'ProvideCredentials', username: '', password: this.password };
      this.send('Fetch.continueWithAuth', { requestId: params.requestId, authChallengeResponse });
    }
    if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
    if (method === 'Page.javascriptDialogOpening') this.errors.push(`a box says ${params.message}`);
    if (method === 'Runtime.exceptionThrown') this.errors.push(JSON.stringify(params.exceptionDetails));
    if (method === 'Runtime.consoleAPICalled' && params.type === 'error') this.errors.push(JSON.stringify(params.args));
    if (method === 'Log.entryAdded' && params.entry.level === 'error') this.errors.push(params.entry.text);
  }

  send(method, params = {}) {
    const id = this.next++;
    const message = { id, method, params, ...(this.session ? { sessionId: this.session } : {}) };
    this.child.stdio[3].write(`${JSON.stringify(message)}\0`);
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  // As people type it where the browser asks them, of a server whose certificate they have looked at.
  async answersWith(password) {
    this.password = password;
    await this.send('Security.setIgnoreCertificateErrors', { ignore: true });
    await this.send('Fetch.enable', { handleAuthRequests: true });
  }

  // The value of an expression in the page; a promise is waited for.
  async run(expression) {
    const asked = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', asked);
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
    return result.value;
  }

  async runUnlessPageGoes(expression) {
    try {
      return await this.run(expression);
    } catch (error) {
      if (!GONE.test(error.message)) throw error;
      return undefined;
    }
  }

  // Until an expression is true. A page that goes while it is asked gives no answer, and the next one is asked; one that
  // hangs gives none either.
  async until(expression, seconds = 60) {
    let isLate = false;
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(() => resolve((isLate = true)), seconds * 1000);
    });
    while (!(await Promise.race([this.runUnlessPageGoes(expression), late])) && !isLate) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    clearTimeout(timer);
    if (isLate) throw new Error(`never: ${expression}`);
  }

  // A file, or an address.
  async open(page) {
    await this.send('Page.navigate', { url: page.startsWith('http') ? page : `file://${page}` });
    await this.until("document.documentElement?.dataset.ready === 'true'");
  }

  async press(key, text, modifier) {
    const codes = { Tab: 9, Enter: 13, Escape: 27, Home: 36, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 };
    const modifiers = modifier === 'Shift' ? 8 : 0;
    const event = { key, windowsVirtualKeyCode: codes[key] ?? key.toUpperCase().charCodeAt(0), text, modifiers };
    await this.send('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', ...event });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
  }

  async click(x, y) {
    for (const type of ['mousePressed', 'mouseReleased']) {
      await this.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
    }
  }

  async drag(from, to, y) {
    const at = (type, x) =>
      this.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', buttons: 1, clickCount: 1 });
    await at('mousePressed', from);
    await at('mouseMoved', (from + to) / 2);
    await at('mouseMoved', to);
    await at('mouseReleased', to);
  }

  async close() {
    const isGone = new Promise((resolve) => this.child.on('exit', resolve));
    process.kill(-this.child.pid, 'SIGKILL');
    await isGone;
    // Its helpers may take a moment longer, and write until then.
    for (const end = Date.now() + 10_000; ; ) {
      try {
        return rmSync(this.home, { recursive: true, force: true });
      } catch (error) {
        if (error.code !== 'ENOTEMPTY' || Date.now() > end) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }
}
