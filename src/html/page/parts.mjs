// How the time of a bar is split: a bar says so only where more than one part of it matters. Pure functions.

const LEAST_SHARE = 0.05; // that all parts but the largest must have together

export function isSplit(view, node) {
  const whole = view.total[node];
  if (whole === 0) return false;
  const largest = Math.max(...view.parts.map((part) => Number(part[node])));
  return whole - largest >= LEAST_SHARE * whole;
}
