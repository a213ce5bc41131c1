// How far off the figures of a sample may be: a wait that was drawn stands for others, and so a figure of such rows has
// a standard error. Variances add up. Where every wait was recorded there is none. Pure functions.

const FEW_DRAWS = 10; // of fewer, the error is uncertain itself

// What of a row is added up: its errors are those of the whole time, of a part of it, or of a count.
function errorName(parts) {
  if (parts.includes('count')) return 'count';
  if (parts.includes('blocked') && parts.includes('runnable')) return 'time';
  return parts.find((part) => part === 'blocked' || part === 'runnable') ?? null;
}

// The part of a row's variance in a span. What of a row was drawn is not known by column. As far as it can be, it lies
// in the span: all of what the draws stand for, which is at most the root of their number times the standard error.
function shareInSpan(errors, wholeNs, spanNs, row) {
  if (errors.draws[row] === 0) return 1;
  const drawnNs = Math.sqrt(errors.draws[row]) * errors.time[row];
  return drawnNs === 0 ? 1 : Math.min(1, spanNs / Math.min(drawnNs, wholeNs));
}

function timeOf(sums, i) {
  return Number(sums.blocked[i]) + Number(sums.runnable[i]);
}

// By row and the parts of it that are shown, {variance, draws}; of `sums`, which are `whole` or those of a span of it.
// Null if nothing is an estimate.
export function errorsOf(errors, whole, sums) {
  if (errors === null) return null;
  const share = (row) => (whole === sums ? 1 : shareInSpan(errors, timeOf(whole, row), timeOf(sums, row), row));
  return (row, parts) => errorOfRow(errors, row, parts, share(row));
}

// The error of a slice of a row's times.
export function errorOfSlice({ errors, sums, times }, row, parts, slice) {
  if (errors === null || errors.time[row] === 0) return noError();
  return errorOfRow(errors, row, parts, shareInSpan(errors, timeOf(sums, row), timeOf(times.sums, slice), row));
}

function errorOfRow(errors, row, parts, share) {
  const name = errorName(parts);
  if (name === null || errors[name][row] === 0) return noError();
  return { variance: errors[name][row] ** 2 * share, draws: errors.draws[row] * share };
}

// " ±4 %"; " ±58 %?" of few draws; '' where there is no error.
export function errorWords(error, amount) {
  if (!(error?.variance > 0) || Number(amount) === 0) return '';
  const { variance, draws } = error;
  const percent = (100 * Math.sqrt(variance)) / Number(amount);
  return ` ±${percentWords(percent)} %${draws > 0 && draws < FEW_DRAWS ? '?' : ''}`;
}

function percentWords(percent) {
  if (percent < 0.05) return '<0.1';
  if (percent >= 999.5) return '>999';
  return percent.toFixed(percent < 0.95 ? 1 : 0);
}

// Sums, as errorWords takes them.
export function noError() {
  return { variance: 0, draws: 0 };
}
export function addError(to, { variance, draws }) {
  to.variance += variance;
  to.draws += draws;
}
