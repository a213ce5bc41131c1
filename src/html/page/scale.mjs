// How the figures of two recordings, or of two spans of one, are made comparable: as what was in a second of each, since
// they differ in length; or as they were recorded. Pure functions.
import { formatDuration, grouped } from './format.mjs';

// {before, after: what figures are multiplied by, isRate}, of how long both are.
export function scaleOf({ beforeNs, afterNs }, isNormalised) {
  const perSecond = (ns) => (isNormalised && ns > 0 ? 1e9 / ns : 1);
  return { before: perSecond(beforeNs), after: perSecond(afterNs), isRate: isNormalised };
}

// As `offcpu diff` writes it; without a sign.
export function formatScaled(amount, isTime, { isRate }) {
  const size = Math.abs(amount);
  if (isTime) return formatDuration(Math.round(size));
  if (!isRate || size >= 1000) return grouped(Math.round(size));
  return size.toFixed(1);
}

// What a figure is of, to stand behind it.
export function unitOf(isTime, { isRate }) {
  return `${isTime ? '' : ' times'}${isRate ? ' a second' : ''}`;
}
