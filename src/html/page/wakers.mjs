// Who ended the waits of a part of a view: a tree of its own, which is drawn below the graph. It has each chain link by
// link: the thread that woke, where it did that, and the way back from there; and then the thread that had woken that
// one.
import { View, finish } from './view.mjs';
import { KIND } from './kinds.mjs';
import { TreeBuilder } from './child_index.mjs';
import { below } from './shares.mjs';
import { foldNumbers, threadFold } from './labels.mjs';

// How many frames each link shows. What is further out says how the thread came to be, not why it woke.
const MOST_FRAMES = 8;
const MORE = '… more frames';

export function hasWakers(profile) {
  return profile.rows.waker.some((node) => node !== 0);
}

// Threads of a pool are one, as in groups, and so are the processes of a command unless they are `apart`.
export function foldsOf(profile, apart) {
  const command = (text) => foldNumbers(text.replace(/-\d+$/, ''));
  return { thread: threadFold(profile), process: (text) => (apart ? text : command(text)) };
}

// The links of a chain: [{label, frames}], by the frames of a profile.
export function linksOf({ nodes, frames }, waker, folds) {
  const path = [];
  for (let at = waker; at !== 0; at = nodes.parent[at]) path.push(nodes.frame[at]);
  const links = [];
  for (const frame of path.reverse()) {
    if (frames.kinds[frame] === KIND.waker) links.push({ names: [], frames: [] });
    const link = links.at(-1);
    if (frames.kinds[frame] === KIND.thread) link.names.push(frames.names[frame]);
    else if (frames.kinds[frame] !== KIND.waker) link.frames.push(frame);
  }
  return links.map(({ names: [thread, process], frames: all }) => {
    // All chains that found no place are [other], of no thread.
    if (thread === undefined) return { label: `woken by ${all.map((f) => frames.names[f]).join()}`, frames: [] };
    const of = process === undefined ? '' : ` (${folds.process(process)})`;
    return { label: `woken by ${folds.thread(thread)}${of}`, frames: all };
  });
}

// The graph of the wakers of the rows below a node. Rows whose waker is not known are at the root, so that its width is
// that of all rows.
// options: {skip: by frame, isWhole: all frames of each link, apart: the processes of a command are}
export function buildWakers(view, node, options) {
  const { profile, selection } = view;
  const isBelow = below(view, node);
  const rows = selection.rows.filter((_, i) => isBelow[view.rowNode[i]] === 1);
  const before = selection.before && { ...selection.before, rows };
  const made = new View(profile, { ...selection, rows, before });
  made.rootName = view.nodeName(node);
  const builder = new TreeBuilder();
  const folds = foldsOf(profile, options.apart);
  const placed = new Map([[0, 0]]); // by the waker of a row
  made.rowNode = Int32Array.from(rows, (row) => {
    const waker = profile.rows.waker[row];
    if (!placed.has(waker)) placed.set(waker, placeChain(made, builder, waker, { ...options, folds }));
    return placed.get(waker);
  });
  finish(made, builder, view.scale);
  made.isWaker = new Uint8Array(made.count).fill(1);
  return made;
}

function placeChain(view, builder, waker, { skip, isWhole, folds }) {
  let node = 0;
  for (const { label, frames } of linksOf(view.profile, waker, folds)) {
    node = builder.child(node, view.groupFrame(label, KIND.waker));
    const shown = frames.filter((frame) => skip[frame] === 0);
    const count = isWhole ? shown.length : MOST_FRAMES;
    for (const frame of shown.slice(0, count)) node = builder.child(node, frame);
    if (shown.length > count) node = builder.child(node, view.groupFrame(MORE));
  }
  return node;
}

// How much has a known waker: the figure of all chains.
export function knownOf(view) {
  return Array.from(view.childrenOf(0)).reduce((sum, child) => sum + view.exact(child), 0n);
}
