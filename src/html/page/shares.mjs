// What the rows below a node say: how much of it each text of a label is.
import { addError, noError } from './errors.mjs';
import { groupColumn } from './labels.mjs';

// [{text, total}] of a key of GROUPS, BigInt, the largest first; of estimates with their `error`.
export function shares(view, node, key) {
  const { profile, selection } = view;
  const { codes, texts } = groupColumn(profile, key);
  const isBelow = below(view, node);
  const sums = new Array(texts.length).fill(0n);
  const errors = texts.map(noError);
  selection.rows.forEach((row, i) => {
    if (isBelow[view.rowNode[i]] === 0) return;
    for (const part of selection.parts) sums[codes[row]] += BigInt(selection.amount(part, row));
    if (selection.error) addError(errors[codes[row]], selection.error(row));
  });
  const list = texts.map((text, i) => ({ text, total: sums[i], ...(selection.error && { error: errors[i] }) })).filter(({ total }) => total > 0n);
  return list.sort((a, b) => (a.total === b.total ? 0 : a.total < b.total ? 1 : -1));
}

// By node: 1 of the node itself and of those below it.
export function below(view, node) {
  const marks = new Uint8Array(view.count);
  marks[node] = 1;
  for (let at = node + 1; at < view.count; ++at) if (marks[view.parent[at]] === 1) marks[at] = 1;
  return marks;
}
