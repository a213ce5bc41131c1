// When it was: what rows have in columns of time, as the recording has kept it. A span is [from, to), in columns since
// the recording began; what it shows is exact: waits have in each column what they lasted in it, and count in the
// column in which they ended.
import { figures } from './data.mjs';
import { timeOfDay } from './axis.mjs';
import { groupColumn } from './labels.mjs';
import { errorOfSlice } from './errors.mjs';
import { formatDuration } from './format.mjs';
import { isHiddenPart, matchingRows, valueOf } from './rows.mjs';

const COLORED_CAUSES = 7; // that have colors of their own
const PROCESS_LINES = 40; // with lines of their own
const THREAD_LINES = 20; // likewise, of one process

// By row, the figures of a span: as profile.sums.
export function spanSums(profile, [from, to]) {
  const { times } = profile;
  const sums = {};
  for (const [name, all] of Object.entries(times.sums)) {
    const column = figures(profile.isWide, profile.rows.count);
    for (let row = 0; row < column.length; ++row) {
      for (let i = times.start[row]; i < times.start[row + 1]; ++i) {
        const at = times.column[i] + times.lead;
        if (at >= from && at < to) column[row] += all[i];
      }
    }
    sums[name] = column;
  }
  return sums;
}

// How long it is: what lies before the recording and behind it is none of it.
export function spanNs({ header, times }, [from, to]) {
  const at = (column) => times.beginNs + column * times.columnNs;
  const end = header.duration_ns > 0 ? header.duration_ns : Infinity;
  return Math.max(0, Math.min(at(to), end) - Math.max(at(from), 0));
}

// Nothing was drawn for an empty cell of a line that is an estimate (`isEstimate`): there may have been waits, if the
// recording has left some out. `variance`, `draws`: by cell.
export function isUnsampled({ header }, line, bin) {
  return line.isEstimate && line.cells[bin] === 0 && header.unsampled_ns > 0;
}

// {lines, bins, binColumns, causes, colors, most, total, untimed}: a line for each process with most, and for each thread of
// those that are open: {text, key, level, total, cells, causes: of each cell that with most}. A process is open if it
// is alone; of those that are `turned`, the other way round. `bins`: how many cells a line has, of `binColumns` columns
// each. `colors`: a number for each of the causes. `untimed`: what of the total has no place in time.
export function heatMap(profile, { value, filters, hideIdle }, { mostBins, turned }) {
  const { times } = profile;
  const { parts } = valueOf(value);
  const keep = matchingRows(profile, filters);
  const shown = new Array(profile.rows.count);
  const totals = new Float64Array(profile.rows.count);
  let total = profile.isWide ? 0n : 0;
  for (let row = 0; row < keep.length; ++row) {
    shown[row] = keep[row] === 0 ? [] : parts.filter((part) => !isHiddenPart(profile, row, part, hideIdle));
    for (const part of shown[row]) {
      totals[row] += Number(profile.sums[part][row]);
      total += profile.sums[part][row];
    }
  }
  const map = { binColumns: Math.max(1, Math.ceil(times.columns / mostBins)), lines: [], total: BigInt(total) };
  map.bins = Math.ceil(times.columns / map.binColumns);
  const causes = rankedCauses(profile, totals);
  map.causes = causes.texts;
  map.colors = causes.colors;
  const { lineOf, threadOf } = makeLines(profile, totals, map, turned);
  let untimed = total;
  for (let row = 0; row < keep.length; ++row) {
    if (totals[row] === 0) continue; // no line has it
    for (let i = times.start[row]; i < times.start[row + 1]; ++i) {
      let amount = 0;
      for (const part of shown[row]) {
        amount += Number(times.sums[part][i]);
        untimed -= times.sums[part][i];
      }
      const bin = Math.floor((times.column[i] + times.lead) / map.binColumns);
      const cell = bin * causes.count + causes.rank[row];
      const error = errorOfSlice(profile, row, shown[row], i);
      for (const line of [lineOf[row], threadOf[row]]) {
        if (line === null) continue;
        line.all[cell] += amount;
        line.variance[bin] += error.variance;
        line.draws[bin] += error.draws;
      }
    }
  }
  map.untimed = BigInt(untimed);
  map.most = 0;
  for (const line of map.lines) finishLine(line, map, causes.count);
  return map;
}

// Causes by what they have; those behind the first ones are one.
function rankedCauses(profile, totals) {
  const { codes, texts } = groupColumn(profile, 'cause');
  const order = ranked(codes, texts.length, totals);
  const rankOf = new Uint32Array(texts.length);
  order.forEach((code, i) => {
    rankOf[code] = Math.min(i, COLORED_CAUSES);
  });
  const first = order.slice(0, COLORED_CAUSES);
  const shown = first.map((code) => texts[code]);
  const colors = causeColors(profile, first);
  if (order.length > COLORED_CAUSES) {
    shown.push('other causes');
    colors.push(COLORED_CAUSES);
  }
  const rank = Uint32Array.from(codes, (code) => rankOf[code]);
  return { texts: shown, colors, count: Math.max(shown.length, 1), rank };
}

// Whatever is filtered, a cause keeps the color that it has among the first ones of all; others take what is free.
function causeColors(profile, shown) {
  const fixed = firstCauses(profile);
  const free = Array.from({ length: COLORED_CAUSES }, (_, i) => i).filter((i) => !shown.includes(fixed[i]));
  return shown.map((code) => (fixed.includes(code) ? fixed.indexOf(code) : free.shift()));
}

// The causes with most time, apart from waits for work.
function firstCauses(profile) {
  if (!profile.firstCauses) {
    const { codes, texts } = groupColumn(profile, 'cause');
    const totals = new Float64Array(profile.rows.count);
    for (const part of ['blocked', 'runnable', 'cpu']) {
      for (let row = 0; row < totals.length; ++row) {
        if (!isHiddenPart(profile, row, part, true)) totals[row] += Number(profile.sums[part][row]);
      }
    }
    profile.firstCauses = ranked(codes, texts.length, totals).slice(0, COLORED_CAUSES);
  }
  return profile.firstCauses;
}

// Codes with most first; those that have nothing are left out.
function ranked(codes, count, totals) {
  const sums = new Float64Array(count);
  for (let row = 0; row < codes.length; ++row) sums[codes[row]] += totals[row];
  return Array.from(sums.keys())
    .filter((code) => sums[code] > 0)
    .sort((a, b) => sums[b] - sums[a] || a - b);
}

// By row: the lines of its process and, where that is open, of its thread.
function makeLines(profile, totals, map, turned) {
  const cells = map.bins * Math.max(map.causes.length, 1);
  const line = (text, key, level) => {
    const errors = { variance: new Float64Array(map.bins), draws: new Float64Array(map.bins) };
    return { text, key, level, total: 0, all: new Float64Array(cells), ...errors };
  };
  const process = groupColumn(profile, 'process');
  const thread = groupColumn(profile, 'thread');
  const lineOf = new Array(profile.rows.count).fill(null);
  const threadOf = new Array(profile.rows.count).fill(null);
  const groups = rowGroups(process, totals, PROCESS_LINES, 'processes');
  for (const { text, rows, isRest } of groups) {
    const parent = line(text, isRest ? null : text, 0);
    parent.isOpen = !isRest && turned.has(text) !== (groups.length === 1);
    map.lines.push(parent);
    for (const row of rows) lineOf[row] = parent;
    if (!parent.isOpen) continue;
    const own = new Float64Array(totals.length);
    for (const row of rows) own[row] = totals[row];
    for (const part of rowGroups(thread, own, THREAD_LINES, 'threads')) {
      const child = line(part.text, null, 1);
      map.lines.push(child);
      for (const row of part.rows) threadOf[row] = child;
    }
  }
  return { lineOf, threadOf };
}

// [{text, rows, isRest}]: rows that have something by a label, those with most first, all others together at the end.
function rowGroups({ codes, texts }, totals, most, what) {
  const order = ranked(codes, texts.length, totals);
  const place = new Map(order.map((code, i) => [code, Math.min(i, most)]));
  const groups = order.slice(0, most).map((code) => ({ text: texts[code], rows: [], isRest: false }));
  if (order.length > most) groups.push({ text: `${order.length - most} other ${what}`, rows: [], isRest: true });
  for (let row = 0; row < codes.length; ++row) {
    if (totals[row] > 0) groups[place.get(codes[row])].rows.push(row);
  }
  return groups;
}

function finishLine(line, map, causes) {
  line.isEstimate = line.variance.some((variance) => variance > 0);
  line.cells = new Float64Array(map.bins);
  line.causes = new Uint8Array(map.bins);
  for (let bin = 0; bin < map.bins; ++bin) {
    for (let cause = 0; cause < causes; ++cause) {
      const amount = line.all[bin * causes + cause];
      line.cells[bin] += amount;
      if (amount > line.all[bin * causes + line.causes[bin]]) line.causes[bin] = cause;
    }
    line.total += line.cells[bin];
    if (line.cells[bin] > map.most) map.most = line.cells[bin];
  }
}

// [[cause, amount]] of a cell, the largest first.
export function cellCauses(map, line, bin) {
  const count = Math.max(map.causes.length, 1);
  return map.causes
    .map((text, i) => [text, line.all[bin * count + i]])
    .filter(([, amount]) => amount > 0)
    .sort((a, b) => b[1] - a[1]);
}

// When a column begins: "16:10:52" of the day, to the millisecond if columns are shorter than a second, or how long after
// the start if nobody knows when that was.
export function columnTime({ header, times }, column) {
  const ns = times.beginNs + column * times.columnNs;
  const startMs = Number(BigInt(header.start_unix_ns) / 1000000n);
  if (startMs === 0) return ns <= 0 ? '0 s' : formatDuration(ns);
  return timeOfDay(startMs + ns / 1e6, times.columnNs < 1e9 ? 1 : 1000);
}

// "16:10:52 to 16:10:55 UTC, 3 s"
export function spanText(profile, [from, to]) {
  const zone = profile.header.start_unix_ns === '0' ? '' : ' UTC';
  const length = formatDuration(spanNs(profile, [from, to]));
  return `${columnTime(profile, from)} to ${columnTime(profile, to)}${zone}, ${length}`;
}
