// Which rows are shown, and with what figures: filters, waits for work, and the value that is asked for.
import { addError, errorsOf, noError } from './errors.mjs';
import { groupColumn } from './labels.mjs';
import { FRAME_KEY, withFrame } from './frames.mjs';

// Which sums each value is made of, in the order in which a bar is split.
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

// By row: 1 of those that all filters let through. One of the filters by one key must match; those with `not` must not.
export function matchingRows(profile, filters) {
  const keep = new Uint8Array(profile.rows.count).fill(1);
  const keys = new Set(filters.map(({ key }) => key));
  for (const key of keys) {
    const wanted = filters.filter((f) => f.key === key && !f.not).map((f) => f.text);
    const unwanted = filters.filter((f) => f.key === key && f.not).map((f) => f.text);
    const isKept = key === FRAME_KEY ? frameTest(profile, wanted, unwanted) : labelTest(profile, key, wanted, unwanted);
    for (let row = 0; row < keep.length; ++row) if (!isKept(row)) keep[row] = 0;
  }
  return keep;
}

function labelTest(profile, key, wanted, unwanted) {
  const { codes, texts } = groupColumn(profile, key);
  const isKept = texts.map((t) => (wanted.length === 0 || wanted.includes(t)) && !unwanted.includes(t));
  return (row) => isKept[codes[row]];
}

// By the names of functions that a stack has, or has not.
function frameTest(profile, wanted, unwanted) {
  const { stack } = profile.rows;
  const isWanted = wanted.length === 0 ? null : withFrame(profile, wanted);
  const isUnwanted = withFrame(profile, unwanted);
  return (row) => (isWanted === null || isWanted[stack[row]] === 1) && isUnwanted[stack[row]] === 0;
}

// What one recording has of the rows: {amount(part, row), shown(row), hidden(row), error(row)}.
function sideOf(profile, { sums, errors }, parts, hideIdle) {
  const zero = profile.isWide ? 0n : 0;
  const isHidden = (part, row) => isHiddenPart(profile, row, part, hideIdle);
  const amount = (part, row) => (isHidden(part, row) ? zero : sums[part][row]);
  const shown = (row) => parts.reduce((sum, part) => sum + amount(part, row), zero);
  const hidden = (row) => parts.reduce((sum, part) => (isHidden(part, row) ? sum + sums[part][row] : sum), zero);
  const shownParts = (row) => parts.filter((part) => !isHidden(part, row));
  const error = errors && ((row) => errors(row, shownParts(row)));
  return { amount, shown, hidden, error };
}

// The sums of a recording, or of a span of it, with their errors.
function withErrors(profile, { sums, before }) {
  const isWhole = sums === profile.sums;
  const earlier = isWhole ? profile.beforeErrors : profile.errors;
  return [
    { sums, errors: errorsOf(profile.errors, profile.sums, sums) },
    before && { sums: before, errors: errorsOf(earlier, isWhole ? before : profile.sums, before) },
  ].filter(Boolean);
}

// {rows, parts, name, amount(part, row), hidden, total, error(row), totalError, before}: `rows` have something of the
// value. `hidden`: what of it waits for work had. Errors are as errors.mjs has them; `error` is null where there is none. `before`: the same of the earlier recording, for the same rows; null if there is none.
// `figuresOf`: {sums, before}, those of spans of time (sides.mjs); without it, of all of it.
export function selectRows(profile, { value, filters, hideIdle }, figuresOf = profile) {
  const { parts, name } = valueOf(value);
  const keep = matchingRows(profile, filters);
  const rows = [];
  const sides = withErrors(profile, figuresOf).map((side) => {
    const { amount, shown, hidden, error } = sideOf(profile, side, parts, hideIdle);
    const sums = { hidden: 0n, total: 0n, totalError: noError() };
    const selection = { rows, parts, name, amount, error, ...sums, before: null };
    return { selection, shown, hidden };
  });
  for (let row = 0; row < profile.rows.count; ++row) {
    if (keep[row] === 0) continue;
    let hasSome = false;
    for (const { selection, shown, hidden } of sides) {
      const amount = shown(row);
      selection.total += BigInt(amount);
      selection.hidden += BigInt(hidden(row));
      if (selection.error !== null) addError(selection.totalError, selection.error(row));
      hasSome ||= amount > 0;
    }
    if (hasSome) rows.push(row);
  }
  const [after, before] = sides;
  return { ...after.selection, before: before?.selection ?? null };
}
