// Which rows are shown, and with what figures: filters, waits for work, and the value that is asked for.
import { groupColumn } from './labels.mjs';

// Of which sums each value is made, in the order in which a bar is split.
export const VALUES = [
  { name: 'off_cpu', title: 'off the CPU', parts: ['blocked', 'runnable'], isTime: true },
  { name: 'blocked', title: 'blocked', parts: ['blocked'], isTime: true },
  { name: 'runnable', title: 'runnable, waiting for a CPU', parts: ['runnable'], isTime: true },
  { name: 'count', title: 'number of waits', parts: ['count'], isTime: false },
  { name: 'wall', title: 'wall clock', parts: ['blocked', 'runnable', 'cpu'], isTime: true, samples: true },
  { name: 'cpu', title: 'on a CPU, by samples', parts: ['cpu'], isTime: true, samples: true },
  { name: 'samples', title: 'number of samples', parts: ['samples'], isTime: false, samples: true },
];

export function valueOf(name) {
  return VALUES.find((value) => value.name === name) ?? VALUES[0];
}

export function usefulValues(profile) {
  return VALUES.filter((value) => profile.header.samples || !value.samples);
}

// What a wait for work loses if it is hidden: from the wakeup on the thread has work.
const HIDDEN_OF_IDLE = new Set(['blocked', 'count']);

export function isHiddenPart(profile, row, part, hideIdle) {
  return hideIdle && HIDDEN_OF_IDLE.has(part) && isIdleRow(profile, row);
}

export function isIdleRow(profile, row) {
  return profile.labels.get('idle').codes[row] !== 0;
}

// By row: 1 of those that all filters let through. Of filters by one key one must match; those with `not` must not.
export function matchingRows(profile, filters) {
  const keep = new Uint8Array(profile.rows.count).fill(1);
  const keys = new Set(filters.map(({ key }) => key));
  for (const key of keys) {
    const { codes, texts } = groupColumn(profile, key);
    const wanted = filters.filter((f) => f.key === key && !f.not).map((f) => f.text);
    const unwanted = filters.filter((f) => f.key === key && f.not).map((f) => f.text);
    const isKept = texts.map((t) => (wanted.length === 0 || wanted.includes(t)) && !unwanted.includes(t));
    for (let row = 0; row < keep.length; ++row) if (!isKept[codes[row]]) keep[row] = 0;
  }
  return keep;
}

// What one recording has of the rows: {amount(part, row), shown(row), hidden(row)}.
function sideOf(profile, sums, parts, hideIdle) {
  const zero = profile.isWide ? 0n : 0;
  const isHidden = (part, row) => isHiddenPart(profile, row, part, hideIdle);
  const amount = (part, row) => (isHidden(part, row) ? zero : sums[part][row]);
  const shown = (row) => parts.reduce((sum, part) => sum + amount(part, row), zero);
  const hidden = (row) => parts.reduce((sum, part) => (isHidden(part, row) ? sum + sums[part][row] : sum), zero);
  return { amount, shown, hidden };
}

// {rows, parts, name, amount(part, row), hidden, total, before}: `rows` have something of the value. `hidden`: what of
// it waits for work had. `before`: the same of the earlier recording, for the same rows; null if there is none.
// `figuresOf`: {sums, before}, those of spans of time (sides.mjs); without it, of all of it.
export function selectRows(profile, { value, filters, hideIdle }, figuresOf = profile) {
  const { parts, name } = valueOf(value);
  const keep = matchingRows(profile, filters);
  const rows = [];
  const sides = [figuresOf.sums, figuresOf.before].filter(Boolean).map((sums) => {
    const { amount, shown, hidden } = sideOf(profile, sums, parts, hideIdle);
    return { selection: { rows, parts, name, amount, hidden: 0n, total: 0n, before: null }, shown, hidden };
  });
  for (let row = 0; row < profile.rows.count; ++row) {
    if (keep[row] === 0) continue;
    let hasSome = false;
    for (const { selection, shown, hidden } of sides) {
      const amount = shown(row);
      selection.total += BigInt(amount);
      selection.hidden += BigInt(hidden(row));
      hasSome ||= amount > 0;
    }
    if (hasSome) rows.push(row);
  }
  const [after, before] = sides;
  return { ...after.selection, before: before?.selection ?? null };
}
