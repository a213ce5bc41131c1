// What stands above the graph: the recording, the totals, what is hidden, and the causes.
import { changeWords, changedShares, scaledChange, signed, wayWords } from './change.mjs';
import { formatAmount, formatDuration, formatExact, formatPercent, formatTime } from './format.mjs';
import { formatScaled, unitOf } from './scale.mjs';
import { errorWords } from './errors.mjs';
import { shares } from './shares.mjs';
import { element } from './tree.mjs';
import { knownOf } from './wakers.mjs';
import { valueOf } from './rows.mjs';

const MOST_CAUSES = 12;

export function recordingText({ header }) {
  if (!header.before) return oneRecording(header);
  return `before: ${oneRecording(header.before)}; after: ${oneRecording(header)}`;
}

// How complete the recording is, or both.
export function summaryText({ header }) {
  return header.before ? `before\n\n${header.before.summary}\nafter\n\n${header.summary}` : header.summary;
}

function oneRecording(header) {
  const parts = [header.host, formatTime(header.start_unix_ns)];
  if (header.duration_ns > 0) parts.push(`${formatDuration(header.duration_ns)} recorded`);
  return parts.filter((part) => part !== '').join(', ');
}

// `scale`: if two recordings are compared.
export function totalText(profile, selection, value, scale) {
  const { isTime, title } = valueOf(value);
  const { total, before, totalError } = selection;
  if (before !== null) {
    const change = scaledChange({ scale }, before.total, total, [before.totalError, totalError]);
    return `${title}: ${changeWords(change, isTime, scale)}`;
  }
  return `${formatAmount(total, isTime)}${errorWords(totalError, total)} ${title} (${formatExact(total, isTime)})`;
}

export function hiddenText(profile, selection, value, scale) {
  const { isTime } = valueOf(value);
  if (selection.before !== null) return hiddenOfBoth(profile, selection, isTime, scale);
  const parts = [];
  if (selection.hidden > 0n) {
    const share = formatPercent(selection.hidden, selection.total + selection.hidden);
    parts.push(`Waiting for work is hidden: ${formatAmount(selection.hidden, isTime)}, ${share} of all.`);
  }
  const pruned = prunedTotal(profile, selection);
  if (pruned > 0n) {
    const rows = profile.header.pruned;
    const amount = `${formatAmount(pruned, isTime)}, ${formatPercent(pruned, selection.total)}`;
    parts.push(`The stacks of the ${rows} shortest rows are not in this page: ${amount}, shown as [pruned].`);
  }
  return parts.join(' ');
}

// "500 ms a second before, 800 ms a second after"
function bothWords({ before, after }, isTime, scale) {
  const words = (amount) => `${formatScaled(amount, isTime, scale)}${unitOf(isTime, scale)}`;
  return `${words(before)} before, ${words(after)} after`;
}

function hiddenOfBoth(profile, selection, isTime, scale) {
  const { before } = selection;
  const parts = [];
  if (selection.hidden + before.hidden > 0n) {
    const hidden = scaledChange({ scale }, before.hidden, selection.hidden);
    parts.push(`Waiting for work is hidden: ${bothWords(hidden, isTime, scale)}.`);
  }
  const pruned = [before, selection].map((side) => prunedTotal(profile, side));
  if (pruned.some((amount) => amount > 0n)) {
    const amounts = bothWords(scaledChange({ scale }, ...pruned), isTime, scale);
    const rows = profile.header.pruned;
    parts.push(`The stacks of the ${rows} shortest rows are not in this page: ${amounts}, shown as [pruned].`);
  }
  return parts.join(' ');
}

// What rows without their stacks have.
function prunedTotal(profile, selection) {
  if (profile.header.pruned === 0) return 0n;
  const { frame, parent } = profile.nodes;
  const isPruned = (node) => node !== 0 && parent[node] === 0 && profile.frames.names[frame[node]] === '[pruned]';
  let total = 0n;
  for (const row of selection.rows) {
    if (!isPruned(profile.rows.stack[row])) continue;
    for (const part of selection.parts) total += BigInt(selection.amount(part, row));
  }
  return total;
}

// A button for each cause, which filters by it.
export function causeButtons(view, value, choose) {
  const list = labelAmounts(view, 'cause', valueOf(value).isTime);
  return list.slice(0, MOST_CAUSES).map(({ text, amount }) => {
    const button = element('button', { type: 'button' }, `${text}: ${amount}`);
    button.addEventListener('click', () => choose(text));
    return element('li', {}, button);
  });
}

// [{text, amount: words}] of a key of GROUPS: those with most first, or those that changed most.
export function labelAmounts(view, key, isTime) {
  if (view.before === null) {
    return shares(view, 0, key).map(({ text, total, error }) => {
      return { text, amount: `${formatAmount(total, isTime)}${errorWords(error, total)}, ${formatPercent(total, view.total[0])}` };
    });
  }
  return changedShares(view, 0, key).map((one) => {
    const change = signed(one.change, isTime, view.scale);
    return { text: one.text, amount: `${change}, ${wayWords(one, isTime, view.scale)}` };
  });
}

// `view` is that of who woke, of a part of another.
export function wakersText(view, value) {
  const title = `Who ended the waits of ${view.rootName}`;
  const known = knownOf(view);
  if (view.before !== null) return known + knownOf(view.before) === 0n ? `${title}: not known` : title;
  if (known === 0n) return `${title}: not known`;
  const amount = formatAmount(known, valueOf(value).isTime);
  return `${title}: known for ${amount}, ${formatPercent(known, view.total[0])}`;
}

export function undrawnText(view, { hidden }, value) {
  const { count, total } = hidden;
  if (count === 0) return '';
  const { isTime } = valueOf(value);
  const share = formatPercent(total, view.weight[0]);
  const isAmount = view.before === null;
  const amount = isAmount ? `${formatAmount(Math.round(total), isTime)}, ${share}` : `${share} of the width`;
  const [bars, them] = count === 1 ? ['bar is', 'it'] : ['bars are', 'them'];
  return `${count} ${bars} too narrow to draw: ${amount}. Zoom in to see ${them}.`;
}
