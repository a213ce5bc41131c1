// What has changed from one recording to another: of a bar, a function or a label, in figures and in words. Figures are
// scaled (scale.mjs). Pure functions.
import { formatScaled, unitOf } from './scale.mjs';
import { grouped } from './format.mjs';
import { functions, neighbours } from './sandwich.mjs';
import { shares } from './shares.mjs';

// {before, after, change, part}; `part` is the change as a part of both together: -1 is gone, 1 is new.
export function changeOf(before, after) {
  const both = before + after;
  return { before, after, change: after - before, part: both === 0 ? 0 : (after - before) / both };
}

// The change of what a view has before and after, as it was recorded. `errors` of both: then the change has a standard
// error, if it is one of estimates; their draws have nothing to do with each other.
export function scaledChange({ scale }, before, after, errors) {
  const change = changeOf(Number(before) * scale.before, Number(after) * scale.after);
  if (!errors?.some(({ variance }) => variance > 0)) return change;
  const [earlier, later] = errors.map(({ variance }) => Math.sqrt(variance));
  return { ...change, error: Math.hypot(earlier * scale.before, later * scale.after) };
}

export function nodeChange(view, node) {
  const errors = view.variance || view.before.variance ? [view.before.error(node), view.error(node)] : undefined;
  return scaledChange(view, view.before.total[node], view.total[node], errors);
}

// From -3 to 3: a change by less than one in twenty is none; 2 is by half as much again at least, 3 three times as
// much; and the same the other way round.
const STEPS = [1 / 41, 1 / 5, 1 / 2];

export function stepOf({ part }) {
  // Half a millionth is rounding.
  const steps = STEPS.filter((least) => Math.abs(part) >= least - 5e-7).length;
  return part < 0 && steps > 0 ? -steps : steps;
}

export function signOf(change) {
  if (change === 0) return '=';
  return change > 0 ? '+' : '-';
}

// "+300 ms"
export function signed(change, isTime, scale) {
  return `${change < 0 ? '-' : '+'}${formatScaled(change, isTime, scale)}`;
}

// "+60.0 %" of what it was, "new" or "gone".
export function ratioWords({ before, after, change }) {
  if (before === 0 && after === 0) return '=';
  if (before === 0) return 'new';
  if (after === 0) return 'gone';
  const isFar = change >= 10 * before;
  return isFar ? `+${grouped(Math.round((100 * change) / before))} %` : percent(change, before);
}

// "+60.0 %" of all that there was before, as the tables of `offcpu diff` have it.
export function shareWords(change, whole) {
  return whole === 0 ? 'new' : percent(change, whole);
}

function percent(part, whole) {
  const amount = (100 * part) / whole;
  return `${amount < 0 ? '-' : '+'}${Math.abs(amount).toFixed(1)} %`;
}

// "+60%"
function roundPercent(part, whole) {
  const amount = (100 * part) / whole;
  return `${amount < 0 ? '-' : '+'}${grouped(Math.round(Math.abs(amount)))}%`;
}

// What stands before the name in a bar, as far as there is room.
export function markOf(one, hasRoom) {
  const sign = signOf(stepOf(one));
  if (!hasRoom || sign === '=') return sign;
  return one.before === 0 || one.after === 0 ? `${sign}${ratioWords(one)}` : roundPercent(one.change, one.before);
}

// "500 ms → 800 ms"
export function wayWords({ before, after }, isTime, scale) {
  return `${formatScaled(before, isTime, scale)} → ${formatScaled(after, isTime, scale)}`;
}

// "+300 ms ±40.0 ms a second (500 ms → 800 ms), +60.0 %"
export function changeWords(one, isTime, scale) {
  const error = one.error > 0 ? ` ±${formatScaled(one.error, isTime, scale)}` : '';
  const change = `${signed(one.change, isTime, scale)}${error}${unitOf(isTime, scale)}`;
  return `${change} (${wayWords(one, isTime, scale)}), ${ratioWords(one)}`;
}

// What changed most comes first.
function mostFirst(list) {
  return list.sort((a, b) => Math.abs(b.change) - Math.abs(a.change) || b.after - a.after);
}

// [{text, before, after, change, part}] of a key of GROUPS, below a node.
export function changedShares(view, node, key) {
  const before = new Map(shares(view.before, node, key).map(({ text, total }) => [text, total]));
  const after = new Map(shares(view, node, key).map(({ text, total }) => [text, total]));
  const texts = [...new Set([...after.keys(), ...before.keys()])];
  return mostFirst(
    texts.map((text) => ({ text, ...scaledChange(view, before.get(text) ?? 0n, after.get(text) ?? 0n) })),
  );
}

// Lists of functions of both recordings, which have the same frames: `names` are the figures of each.
function joined(view, before, after, names) {
  const earlier = new Map(before.map((line) => [line.frame, line]));
  return after.map((line) => {
    const changes = names.map((name) => [name, scaledChange(view, earlier.get(line.frame)[name], line[name])]);
    return { frame: line.frame, ...Object.fromEntries(changes) };
  });
}

// [{frame, self: change, total: change}]
export function changedFunctions(view, zoom) {
  return joined(view, functions(view.before, zoom), functions(view, zoom), ['self', 'total']);
}

// {callers, callees}: [{frame, total: change}], what changed most first.
export function changedNeighbours(view, zoom, frame) {
  const before = neighbours(view.before, zoom, frame);
  const after = neighbours(view, zoom, frame);
  const side = (name) =>
    joined(view, before[name], after[name], ['total']).sort(
      (a, b) => Math.abs(b.total.change) - Math.abs(a.total.change) || b.total.after - a.total.after,
    );
  return { callers: side('callers'), callees: side('callees') };
}
