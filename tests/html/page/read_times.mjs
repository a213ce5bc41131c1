// Usage: read_times.mjs PAGE FOLDED: what the heat map and the spans of a page have is what the folded stacks have, in
// nanoseconds.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { decode, unpack } from '../../../src/html/page/data.mjs';
import { defaultState } from '../../../src/html/page/state.mjs';
import { heatMap } from '../../../src/html/page/times.mjs';
import { selectRows } from '../../../src/html/page/rows.mjs';
import { sidesOf } from '../../../src/html/page/sides.mjs';

const [page, folded] = process.argv.slice(2).map((path) => readFileSync(path, 'utf8'));
const profile = decode(await unpack(/id="profile">([^<]*)</.exec(page)[1]));
const lines = folded.split('\n').filter((text) => text !== '');
const total = lines.reduce((sum, line) => sum + BigInt(line.slice(line.lastIndexOf(' ') + 1)), 0n);
assert.ok(total > 0n);
const state = defaultState(profile);
const heat = heatMap(profile, state, { mostBins: 1000, turned: new Set() });
assert.equal(heat.total, total);
assert.equal(heat.untimed, 0n);
assert.equal(BigInt(heat.lines.reduce((sum, line) => sum + line.total, 0)), total);
let inSpans = 0n;
const { columns } = profile.times;
for (let from = 0; from < columns; from += 3) {
  const span = [from, Math.min(from + 3, columns)];
  inSpans += selectRows(profile, state, sidesOf(profile, { ...state, span })).total;
}
assert.equal(inSpans, total);
console.log(`${total} ns in ${columns} columns`);
