// Where the marks of a time axis are, and what stands there. Pure functions.

const MARK_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000]; // milliseconds

// The least step at which no more than `most` marks lie in a span of time.
export function stepMs(spanNs, most) {
  const least = spanNs / 1e6 / Math.max(1, most);
  return MARK_STEPS.find((step) => step >= least) ?? Math.ceil(least / MARK_STEPS.at(-1)) * MARK_STEPS.at(-1);
}

// [{ns: since the recording began, text}] from one instant to another: at round times of the day, or at round times since
// the start if nobody knows when that was.
export function axisMarks({ header }, fromNs, toNs, most) {
  const startMs = Number(BigInt(header.start_unix_ns) / 1000n) / 1000;
  const step = stepMs(toNs - fromNs, most);
  const marks = [];
  const first = 0 + Math.ceil((startMs + fromNs / 1e6) / step - 1e-6);
  for (let i = first; i * step < startMs + toNs / 1e6; ++i) {
    marks.push({ ns: (i * step - startMs) * 1e6, text: startMs === 0 ? sinceStart(i * step) : timeOfDay(i * step, step) });
  }
  return marks;
}

// "16:10:52", with as many digits of a second as `stepMs` needs.
export function timeOfDay(ms, step) {
  const digits = step % 1000 === 0 ? 0 : step % 100 === 0 ? 1 : step % 10 === 0 ? 2 : 3;
  const unit = 10 ** (3 - digits);
  const text = new Date(Math.round(ms / unit) * unit).toISOString();
  return text.slice(11, 19 + (digits === 0 ? 0 : 1 + digits));
}

function sinceStart(ms) {
  return `${Number((ms / 1000).toFixed(3))} s`;
}
