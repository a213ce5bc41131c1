// What stands above the graph: the recording, the totals, what is hidden, and the causes.
import { formatAmount, formatDuration, formatExact, formatPercent, formatTime } from './format.mjs';
import { shares } from './causes.mjs';
import { element } from './tree.mjs';
import { valueOf } from './rows.mjs';

const MOST_CAUSES = 12;

export function recordingText({ header }) {
  const parts = [header.host, formatTime(header.start_unix_ns)];
  if (header.duration_ns > 0) parts.push(`${formatDuration(header.duration_ns)} recorded`);
  return parts.filter((part) => part !== '').join(', ');
}

export function totalText(profile, selection, value) {
  const { isTime, title } = valueOf(value);
  const { total } = selection;
  return `${formatAmount(total, isTime)} ${title} (${formatExact(total, isTime)})`;
}

export function hiddenText(profile, selection, value) {
  const { isTime } = valueOf(value);
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
  const { isTime } = valueOf(value);
  const list = shares(view, 0, 'cause');
  return list.slice(0, MOST_CAUSES).map(({ text, total }) => {
    const amount = `${formatAmount(total, isTime)}, ${formatPercent(total, view.total[0])}`;
    const button = element('button', { type: 'button' }, `${text}: ${amount}`);
    button.addEventListener('click', () => choose(text));
    return element('li', {}, button);
  });
}

export function undrawnText(view, bars, value) {
  const { count, total } = bars.hidden;
  if (count === 0) return '';
  const { isTime } = valueOf(value);
  const amount = `${formatAmount(Math.round(total), isTime)}, ${formatPercent(total, view.total[0])}`;
  return `${count} bars are too narrow to draw: ${amount}. Zoom in to see them.`;
}
