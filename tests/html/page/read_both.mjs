// Usage: read_both.mjs PAGE JSON: what a page shows of two recordings is what `offcpu diff` says of them in JSON, stack
// by stack.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { buildView } from '../../../src/html/page/view.mjs';
import { decode, unpack } from '../../../src/html/page/data.mjs';
import { defaultState } from '../../../src/html/page/state.mjs';
import { nodeChange } from '../../../src/html/page/change.mjs';
import { scaleOf } from '../../../src/html/page/scale.mjs';
import { selectRows } from '../../../src/html/page/rows.mjs';
import { sidesOf } from '../../../src/html/page/sides.mjs';

const [page, json] = process.argv.slice(2).map((path) => readFileSync(path, 'utf8'));
const profile = decode(await unpack(/id="profile">([^<]*)</.exec(page)[1]));
const diff = JSON.parse(json);

// "FRAMES": [before, after]; the marks between the parts of a stack are none of the page.
const expected = new Map();
for (const { frames, before, after } of diff.stacks) {
  const names = frames.filter((name) => name !== '-').map((name) => (name === '--' ? 'woken by' : name));
  expected.set(names.map((name) => name.replace(/_\[k\]$/, '')).join(';'), [BigInt(before), BigInt(after)]);
}

const state = defaultState(profile);
const options = { groups: state.groups, skip: new Uint8Array(profile.frames.count), withWakers: true };
const view = buildView(profile, selectRows(profile, state), { ...options, scale: scaleOf(sidesOf(profile, state), true) });
const shown = new Map();
for (let node = 1; node < view.count; ++node) {
  const own = [view.before, view].map((side) =>
    Array.from(side.childrenOf(node)).reduce((rest, child) => rest - side.exact(child), side.exact(node)));
  if (own.some((amount) => amount > 0n)) shown.set(view.path(node).map((at) => view.nodeName(at)).join(';'), own);
}
assert.ok(expected.size > 3);
assert.deepEqual(new Map([...shown].sort()), new Map([...expected].sort()));

const all = nodeChange(view, 0);
const isNear = (a, b) => Math.abs(a - b) <= 1e-12 * b; // what the last digits of a division are
assert.ok(isNear(all.before, (diff.before.total * 1e9) / diff.before.duration_ns));
assert.ok(isNear(all.after, (diff.after.total * 1e9) / diff.after.duration_ns));
assert.deepEqual([view.before.selection.hidden, view.selection.hidden],
  [BigInt(diff.before.hidden_ns), BigInt(diff.after.hidden_ns)]);
