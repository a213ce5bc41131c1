// What is shown as text for other tools, and for people: folded stacks, and one stack. Pure functions.
import { errorWords } from './errors.mjs';
import { formatAmount, formatPercent } from './format.mjs';
import { placeText } from './places.mjs';
import { valueOf } from './rows.mjs';

// What ends a frame or a line of folded stacks must not stand in a name.
const plain = (name) => name.replace(/;/g, ':').replace(/[\r\n]/g, ' ');

// A line for each stack below `zoom`, as flame graph tools read them: the way from the root, and the figure. Who woke is
// no part of a stack. Of two recordings that are compared, two figures: before and after, as they were recorded.
export function foldedText(view, zoom) {
  const lines = [];
  const sides = view.before === null ? [view] : [view.before, view];
  const pending = [{ node: zoom, line: view.path(zoom).map((node) => plain(view.nodeName(node))).join(';') }];
  while (pending.length > 0) {
    const { node, line } = pending.pop();
    const children = view.childrenOf(node).filter((child) => view.isWaker[child] <= view.isWaker[zoom]);
    const figures = sides.map((side) => children.reduce((self, child) => self - side.figure(child), side.figure(node)));
    if (figures.some((figure) => figure > 0)) lines.push(`${line === '' ? plain(view.rootName) : line} ${figures.join(' ')}`);
    for (const child of children) {
      const name = plain(view.nodeName(child));
      pending.push({ node: child, line: line === '' ? name : `${line};${name}` });
    }
  }
  return lines.sort().map((line) => `${line}\n`).join('');
}

// One stack to paste somewhere: how much it is, and its names from the outermost one on, each with the place in the source
// that has most of it.
export function stackText(view, node, value) {
  const { isTime } = valueOf(value);
  const names = view.path(node).map((at) => [view.nodeName(at), ...view.places(at).slice(0, 1).map(placeText)].join('  '));
  const amount = `${formatAmount(view.exact(node), isTime)}${errorWords(view.error(node), view.total[node])}`;
  const head = `${amount}, ${formatPercent(view.total[node], view.total[0])} of all`;
  return [head, ...names.map((name) => `    ${name}`)].map((line) => `${line}\n`).join('');
}
