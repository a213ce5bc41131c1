// Where in the source the nodes of a view are. A node stands for a function as it was called from one stack, wherever it
// was in the function; so it has places, each with its share of what the node has. Pure functions.
import { below } from './shares.mjs';

// [{file, line, start, share}] of a node, those with most first; `share` of all of the node's, of known place or not.
export function placesOf(view, node) {
  const { profile, selection } = view;
  if (profile.places.files.length === 1 || view.groups === undefined || node === 0) return [];
  const amounts = new Map();
  let whole = 0;
  const isBelow = below(view, node);
  const placesIn = rowPlaces(view, node);
  selection.rows.forEach((row, i) => {
    if (isBelow[view.rowNode[i]] !== 1) return;
    const amount = amountOf(selection, row);
    for (const place of placesIn(row)) {
      amounts.set(place, (amounts.get(place) ?? 0) + amount);
      whole += amount;
    }
  });
  return rankedPlaces(profile.places, amounts, whole);
}

function rankedPlaces({ files, line, start }, amounts, whole) {
  return [...amounts]
    .filter(([place]) => files[place] !== '')
    .map(([place, amount]) => {
      const share = whole === 0 ? 0 : amount / whole;
      return { file: files[place], line: line[place], start: start[place], share };
    })
    .sort((a, b) => b.share - a.share || byText(a.file, b.file) || a.line - b.line);
}

function byText(a, b) {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

// In both recordings, if two are compared.
function amountOf(selection, row) {
  let sum = 0;
  for (const side of [selection, selection.before]) {
    if (side !== null) for (const part of side.parts) sum += Number(side.amount(part, row));
  }
  return sum;
}

// The function that says for a row below the node at which places the node's function is in its stack: at one, but
// where recursion is one call. Who woke has none.
function rowPlaces(view, node) {
  const { profile: { nodes, steps, rows }, skip, isMerging } = view;
  const depth = view.path(node).length - view.groups; // among the frames that are shown
  const wanted = view.frame[node];
  return (row) => {
    const shown = []; // from the leaf on
    let step = rows.step[row];
    for (let at = rows.stack[row]; at !== 0; at = nodes.parent[at]) {
      const frame = nodes.frame[at];
      if (skip[frame] === 0) shown.push({ frame, place: steps.place[step] });
      if (step !== 0) step -= steps.up[step];
    }
    if (isMerging) return shown.filter(({ frame }) => frame === wanted).map(({ place }) => place);
    const one = depth > 0 ? shown.at(-depth) : undefined;
    return one?.frame === wanted ? [one.place] : [];
  };
}

export function placeText({ file, line }) {
  return line === 0 ? file : `${file}:${line}`;
}

// The same without directories.
export function shortPlace({ file, line }) {
  return placeText({ file: file.slice(file.lastIndexOf('/') + 1), line });
}
