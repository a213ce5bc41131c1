// Usage: read_page.mjs PAGE FOLDED: what the page shows at first adds up to the lines of the folded stacks, in
// nanoseconds, also by thread, and whatever is folded or grouped.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { buildView } from '../../../src/html/page/view.mjs';
import { decode, unpack } from '../../../src/html/page/data.mjs';
import { defaultState } from '../../../src/html/page/state.mjs';
import { plumbingFrames } from '../../../src/html/page/plumbing.mjs';
import { selectRows } from '../../../src/html/page/rows.mjs';
import { shares } from '../../../src/html/page/shares.mjs';

const [page, folded] = process.argv.slice(2).map((path) => readFileSync(path, 'utf8'));
const profile = decode(await unpack(/id="profile">([^<]*)</.exec(page)[1]));
const threads = new Map();
let total = 0n;
for (const line of folded.split('\n').filter((text) => text !== '')) {
  const amount = BigInt(line.slice(line.lastIndexOf(' ') + 1));
  const thread = line.split(';')[1]; // behind the program
  threads.set(thread, (threads.get(thread) ?? 0n) + amount);
  total += amount;
}
const selection = selectRows(profile, defaultState(profile));
assert.equal(selection.total, total);
for (const groups of [[], ['thread'], ['process', 'cause']]) {
  for (const skip of [plumbingFrames(profile.frames), new Uint8Array(profile.frames.count)]) {
    for (const withWakers of [false, true]) {
      const view = buildView(profile, selection, { groups, skip, withWakers });
      assert.equal(view.exact(0), total);
      for (const { text, total: amount } of shares(view, 0, 'name')) assert.equal(amount, threads.get(text));
    }
  }
}
