// All that is known of one bar, in words: what it is, how much, of what kind, and what for.
import { KIND, KINDS } from './kinds.mjs';
import { changeWords, changedShares, nodeChange, scaledChange, shareWords, signed } from './change.mjs';
import { formatAmount, formatExact, formatPercent } from './format.mjs';
import { formatScaled, unitOf } from './scale.mjs';
import { placeText, shortPlace } from './places.mjs';
import { shares } from './shares.mjs';
import { element } from './tree.mjs';
import { errorWords } from './errors.mjs';
import { selfOf } from './sandwich.mjs';
import { sourceLink } from './links.mjs';
import { valueOf } from './rows.mjs';

const PART_WORDS = {
  blocked: 'blocked',
  runnable: 'runnable, waiting for a CPU',
  cpu: 'on a CPU, by samples',
  count: 'times',
  samples: 'samples',
};
const MOST_SHARES = 4;

export function partWords(view, node, isTime) {
  const { selection, parts, total } = view;
  return selection.parts
    .map((name, i) => ({ name, amount: parts[i][node] }))
    .filter(({ amount }) => Number(amount) > 0)
    .map(({ name, amount }) => {
      const share = formatPercent(amount, total[node]);
      return `${formatAmount(amount, isTime)} ${PART_WORDS[name]} (${share})`;
    })
    .join(', ');
}

export function causeWords(view, node, key, isTime) {
  if (view.before !== null) return changedCauseWords(view, node, key, isTime);
  const list = shares(view, node, key);
  const whole = view.total[node];
  const words = list.slice(0, MOST_SHARES).map(({ text, total }) => `${text} ${formatPercent(total, whole)}`);
  if (list.length > MOST_SHARES) words.push(`${list.length - MOST_SHARES} more`);
  return words.join(', ');
}

function changedCauseWords(view, node, key, isTime) {
  const list = changedShares(view, node, key);
  const words = list.slice(0, MOST_SHARES).map((one) => `${one.text} ${signed(one.change, isTime, view.scale)}`);
  if (list.length > MOST_SHARES) words.push(`${list.length - MOST_SHARES} more`);
  return words.join(', ');
}

// One sentence, to be read aloud.
export function told(view, node, isTime) {
  if (view.before !== null) {
    const words = changeWords(nodeChange(view, node), isTime, view.scale);
    return `${view.nodeName(node)}: ${words}; ${causeWords(view, node, 'cause', isTime)}`;
  }
  const share = formatPercent(view.total[node], view.total[0]);
  const amount = `${formatAmount(view.exact(node), isTime)}${errorWords(view.error(node), view.total[node])}`;
  return `${view.nodeName(node)}: ${amount}, ${share}; ${causeWords(view, node, 'cause', isTime)}`;
}

// [[name, text]], or of places [name, [{text, href}]]: a link where there is an address.
export function detailLines(view, node, value) {
  const { isTime } = valueOf(value);
  const kind = node === 0 ? KIND.thread : view.kind(view.frame[node]);
  const isFrameOfWaker = node !== 0 && kind !== KIND.waker && view.isWaker[node] === 1;
  const module = node === 0 ? '' : view.module(view.frame[node]);
  const lines = [
    ['what', `${KINDS[kind].sentence}${inlinedWords(view, node)}${isFrameOfWaker ? ', of the waker' : ''}`],
    ['file', module],
    ['source', sourceParts(view, node)],
    ['begins', beginsAt(view.places(node))],
    ...(view.before === null ? amountLines(view, node, isTime) : changeLines(view, node, isTime)),
    ['cause', causeWords(view, node, 'cause', isTime)],
    ['system call', causeWords(view, node, 'syscall', isTime)],
  ];
  return lines.filter(([, text]) => text.length > 0);
}

function inlinedWords(view, node) {
  return view.isInlined(node) ? ', inlined into the one above it' : '';
}

// The places with most, each with its share if it has not all.
function sourceParts(view, node) {
  const places = view.places(node);
  const parts = places.slice(0, MOST_SHARES).map((place) => ({
    text: placeText(place),
    after: place.share < 1 ? ` ${formatPercent(place.share, 1)}` : '',
    href: sourceLink(view.profile.header.source_links, place),
  }));
  if (places.length > MOST_SHARES) parts.push({ text: `${places.length - MOST_SHARES} more`, after: '', href: null });
  return parts;
}

// Where all places are in functions that begin at one line.
function beginsAt([first, ...others]) {
  if (first === undefined || first.start === 0) return '';
  const isSame = others.every(({ file, start }) => file === first.file && start === first.start);
  return isSame ? `in line ${first.start}` : '';
}

// Who woke has none.
function hasSelf(view, node) {
  return view.isWaker[node] === 0 && selfOf(view, node) > 0;
}

function amountLines(view, node, isTime) {
  const total = view.exact(node);
  const parent = view.parent[node];
  const of = [`${formatPercent(total, view.total[0])} of all`];
  if (parent > 0) of.push(`${formatPercent(total, view.total[parent])} of ${view.nodeName(parent).slice(0, 80)}`);
  return [
    ['total', `${formatAmount(total, isTime)}${errorWords(view.error(node), total)} = ${formatExact(total, isTime)}, ${of.join(', ')}`],
    ['itself', hasSelf(view, node) ? formatAmount(selfOf(view, node), isTime) : ''],
    ['how', partWords(view, node, isTime)],
  ];
}

function changeLines(view, node, isTime) {
  const { scale, before } = view;
  const one = nodeChange(view, node);
  const side = (amount, of) => {
    const recorded = formatExact(of.exact(node), isTime);
    return `${formatScaled(amount, isTime, scale)}${unitOf(isTime, scale)}, ${recorded} recorded`;
  };
  const self = () => scaledChange(view, selfOf(before, node), selfOf(view, node));
  const how = view.selection.parts.map((name, i) => {
    const part = scaledChange(view, before.parts[i][node], view.parts[i][node]);
    return part.before + part.after === 0 ? '' : `${PART_WORDS[name]} ${changeWords(part, isTime, scale)}`;
  });
  return [
    ['before', side(one.before, before)],
    ['after', side(one.after, view)],
    ['change', `${changeWords(one, isTime, scale)}; ${wholeWords(view, one)}`],
    ['itself', hasSelf(view, node) || hasSelf(before, node) ? changeWords(self(), isTime, scale) : ''],
    ['how', how.filter((text) => text !== '').join(', ')],
  ];
}

function wholeWords(view, one) {
  const { before } = nodeChange(view, 0);
  return before === 0 ? 'there was nothing before' : `${shareWords(one.change, before)} of all that there was before`;
}

// What stands at the pointer: name, how much, share, file and place.
export function tipLines(view, node, value) {
  const { isTime } = valueOf(value);
  const module = node === 0 ? '' : view.module(view.frame[node]);
  const kind = node === 0 ? KIND.thread : view.kind(view.frame[node]);
  const of = module === '' ? KINDS[kind].sentence : module;
  const [place] = view.places(node);
  const where = `${of}${place === undefined ? '' : `, ${shortPlace(place)}`}${inlinedWords(view, node)}`;
  if (view.before !== null) return [view.nodeName(node), changeWords(nodeChange(view, node), isTime, view.scale), where];
  const amount = `${formatAmount(view.exact(node), isTime)}${errorWords(view.error(node), view.total[node])}`;
  return [view.nodeName(node), `${amount}, ${formatPercent(view.total[node], view.total[0])} of all`, where];
}

export function showDetails(name, list, view, node, value) {
  const lines = detailLines(view, node, value);
  name.textContent = view.nodeName(node);
  const words = (text) => (Array.isArray(text) ? text.map(placeElement) : [text]);
  list.replaceChildren(...lines.flatMap(([key, text]) => [element('dt', {}, key), element('dd', {}, ...words(text))]));
}

function placeElement({ text, after, href }) {
  const target = { href, target: '_blank', rel: 'noopener noreferrer' };
  const name = element('bdi', {}, text);
  return element('div', {}, href === null ? name : element('a', target, name), after);
}
