// Figures and names as people read them. Pure functions.

const UNITS = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'us'],
];

// Three digits: "1.23 ms".
export function formatDuration(ns) {
  const amount = Number(ns);
  for (const [size, unit] of UNITS) {
    if (amount >= size) return `${threeDigits(amount / size)} ${unit}`;
  }
  return `${amount} ns`;
}

function threeDigits(amount) {
  if (amount >= 1000) return grouped(Math.round(amount));
  return amount >= 100 ? amount.toFixed(0) : amount.toPrecision(3);
}

// "1,234,567"; of whole numbers of any size.
export function grouped(amount) {
  return String(amount).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function formatPercent(part, whole) {
  if (Number(whole) === 0) return '0 %';
  const percent = (100 * Number(part)) / Number(whole);
  if (percent > 0 && percent < 0.1) return '< 0.1 %';
  return `${percent.toFixed(1)} %`;
}

export function formatAmount(amount, isTime) {
  return isTime ? formatDuration(amount) : `${grouped(amount)} times`;
}

// To the last digit.
export function formatExact(amount, isTime) {
  return isTime ? `${grouped(amount)} ns` : grouped(amount);
}

// A name of C++ or Rust without the arguments of templates and the parameters, as far as they can be recognized: what
// is left when there is no room for all of it.
export function shortName(name) {
  let out = '';
  let depth = 0;
  const text = name.slice(0, 2000).replaceAll('(anonymous namespace)', '{anonymous}');
  for (let i = 0; i < text.length; ++i) {
    const c = text[i];
    const isOperator = depth === 0 && (c === '<' ? /operator<?$/ : /operator$/).test(text.slice(Math.max(0, i - 9), i));
    if ((c === '<' || c === '(') && !isOperator && i > 0) {
      if (depth++ === 0) out += c === '<' ? '<>' : '()';
    } else if ((c === '>' || c === ')') && depth > 0 && text[i - 1] !== '-') {
      --depth;
    } else if (depth === 0) {
      out += c;
    }
  }
  return out;
}

// What fits into a number of characters, or ''. Only names of functions have parts that say less than others.
export function fitted(name, room, isFunction = true) {
  if (room < 3) return '';
  if (name.length <= room) return name;
  const short = isFunction ? shortName(name) : name;
  return short.length <= room ? short : `${short.slice(0, room - 1)}…`;
}

// "2026-11-23 16:10:52 UTC" of nanoseconds since 1970, as digits.
export function formatTime(unixNs) {
  const ms = Number(BigInt(unixNs) / 1000000n);
  return ms === 0 ? '' : `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
