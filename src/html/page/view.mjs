// The tree that is shown: groups, then stacks from the outermost frame to the leaf, then who woke. Frames that are left
// out give what they have to their callers, so that the root has all of it.
import { TreeBuilder } from './child_index.mjs';
import { figures } from './data.mjs';
import { KIND } from './kinds.mjs';
import { groupColumn } from './labels.mjs';
import { placesOf } from './places.mjs';
import { dropUnused, earlierCall } from './recursion.mjs';
import { noError } from './errors.mjs';

// What a node stands for, as the marks of its builder: it may be both.
const INLINED = 1;
const CALLED = 2;

export class View {
  constructor(profile, selection) {
    this.profile = profile;
    this.selection = selection;
    this.groupTexts = []; // of the frames from profile.frames.count on
    this.groupKinds = []; // likewise
    this.groupIndex = new Map();
    this.rootName = 'all';
    this.before = null; // the same tree with the figures of the earlier recording, if two are compared
  }

  name(frame) {
    const { count, names } = this.profile.frames;
    return frame < count ? names[frame] : this.groupTexts[frame - count];
  }
  module(frame) {
    const { count, modules } = this.profile.frames;
    return frame < count ? modules[frame] : '';
  }
  kind(frame) {
    const { count, kinds } = this.profile.frames;
    return frame < count ? kinds[frame] : this.groupKinds[frame - count];
  }
  isGroup(frame) {
    return frame >= this.profile.frames.count;
  }
  nodeName(node) {
    return node === 0 ? this.rootName : this.name(this.frame[node]);
  }

  // The sum of all parts, as wide as the profile's figures.
  figure(node) {
    const { parts } = this;
    let sum = parts[0][node];
    for (let i = 1; i < parts.length; ++i) sum += parts[i][node];
    return sum;
  }
  // The same to show.
  exact(node) {
    return BigInt(this.figure(node));
  }
  // As errors.mjs has them.
  error(node) {
    return this.variance === null ? noError() : { variance: this.variance[node], draws: this.draws[node] };
  }
  places(node) {
    return placesOf(this, node);
  }
  isInlined(node) {
    return this.marks[node] === INLINED;
  }
  childrenOf(node) {
    return this.children.subarray(this.childStart[node], this.childStart[node + 1]);
  }
  // From below the root.
  path(node) {
    const nodes = [];
    for (let at = node; at > 0; at = this.parent[at]) nodes.push(at);
    return nodes.reverse();
  }
  groupFrame(text, kind = KIND.thread) {
    if (!this.groupIndex.has(text)) {
      this.groupIndex.set(text, this.profile.frames.count + this.groupTexts.push(text) - 1);
      this.groupKinds.push(kind);
    }
    return this.groupIndex.get(text);
  }
}

// options: {groups: [key], skip: by frame, withWakers, isMerging: recursion is one call, scale: as scale.mjs makes it, if
// two recordings are compared}
export function buildView(profile, selection, { groups, skip, withWakers, isMerging, scale }) {
  const view = new View(profile, selection);
  const builder = new TreeBuilder(profile.nodes.parent.length + selection.rows.length);
  const groupNodes = placeInGroups(view, builder, groups);
  Object.assign(view, { skip, isMerging, groups: groups.length });
  const place = stackPlacer(profile, builder, skip, isMerging);
  const order = Uint32Array.from(selection.rows.keys()).sort((a, b) => groupNodes[a] - groupNodes[b] || a - b);
  view.rowNode = new Int32Array(selection.rows.length); // by index into selection.rows
  for (const i of order) {
    const row = selection.rows[i];
    let node = place(groupNodes[i], profile.rows.stack[row]);
    if (withWakers && profile.rows.waker[row] !== 0) node = placeWaker(profile, builder, skip, node, row);
    view.rowNode[i] = node;
  }
  if (isMerging) dropUnused(builder, view.rowNode);
  finish(view, builder, scale);
  markWakers(view);
  return view;
}

// What is the same of every tree, once it is known where its rows are.
export function finish(view, builder, scale) {
  view.count = builder.count;
  view.parent = builder.parent.subarray(0, builder.count);
  view.frame = builder.frame.subarray(0, builder.count);
  view.marks = builder.marks.subarray(0, builder.count);
  Object.assign(view, addedUp(view, view.selection));
  weigh(view, scale);
  sortChildren(view);
}

function placeInGroups(view, builder, groups) {
  const { profile, selection } = view;
  const columns = groups.map((key) => groupColumn(profile, key));
  const frames = columns.map(({ texts }) => texts.map((text) => view.groupFrame(text)));
  return Int32Array.from(selection.rows, (row) =>
    columns.reduce((node, { codes }, i) => builder.child(node, frames[i][codes[row]]), 0),
  );
}

// By node of the profile: 1 of those that another node may be one with, because frames between them are left out.
function mergedNodes({ parent, frame }, skip) {
  const isOpen = new Uint8Array(parent.length); // children of it may meet others
  for (let node = 1; node < parent.length; ++node) if (skip[frame[node]] === 1) isOpen[node] = isOpen[parent[node]] = 1;
  const merged = new Uint8Array(parent.length);
  for (let node = 1; node < parent.length; ++node) merged[node] = isOpen[parent[node]] | merged[parent[node]];
  return merged;
}

// Rows of one group must come one behind the other: what is known of the nodes of its stacks is kept until the next.
function stackPlacer(profile, builder, skip, isMerging) {
  const { parent, frame, inlined } = profile.nodes;
  const merged = isMerging ? null : mergedNodes(profile.nodes, skip);
  const placed = new Int32Array(parent.length);
  const stamp = new Int32Array(parent.length).fill(-1);
  const pending = [];
  const below = (group, node, next) => {
    if (!isMerging) return merged[next] === 1 ? builder.child(node, frame[next]) : builder.append(node, frame[next]);
    const earlier = earlierCall(builder, group, node, frame[next]);
    return earlier >= 0 ? earlier : builder.child(node, frame[next]);
  };
  return (group, stack) => {
    let at = stack;
    pending.length = 0;
    while (at !== 0 && stamp[at] !== group) {
      pending.push(at);
      at = parent[at];
    }
    let node = at === 0 ? group : placed[at];
    while (pending.length > 0) {
      const next = pending.pop();
      if (skip[frame[next]] === 0) {
        node = below(group, node, next);
        builder.marks[node] |= inlined[next] === 1 ? INLINED : CALLED;
      }
      placed[next] = node;
      stamp[next] = group;
    }
    return node;
  };
}

function placeWaker(profile, builder, skip, from, row) {
  const { parent, frame } = profile.nodes;
  const path = [];
  for (let at = profile.rows.waker[row]; at !== 0; at = parent[at]) path.push(frame[at]);
  let node = from;
  for (let i = path.length - 1; i >= 0; --i) if (skip[path[i]] === 0) node = builder.child(node, path[i]);
  return node;
}

// Children have larger numbers than their parents.
function addedUp({ profile, parent, count, rowNode }, selection) {
  const parts = selection.parts.map((part) => {
    const sums = figures(profile.isWide, count);
    selection.rows.forEach((row, i) => {
      sums[rowNode[i]] += selection.amount(part, row);
    });
    for (let node = count - 1; node > 0; --node) sums[parent[node]] += sums[node];
    return sums;
  });
  const total = new Float64Array(count);
  for (const part of parts) for (let node = 0; node < count; ++node) total[node] += Number(part[node]);
  return { parts, total, ...addedErrors(parent, count, rowNode, selection) };
}

function addedErrors(parent, count, rowNode, selection) {
  if (!selection.error) return { variance: null, draws: null };
  const variance = new Float64Array(count);
  const draws = new Float64Array(count);
  selection.rows.forEach((row, i) => {
    const error = selection.error(row);
    variance[rowNode[i]] += error.variance;
    draws[rowNode[i]] += error.draws;
  });
  for (let node = count - 1; node > 0; --node) {
    variance[parent[node]] += variance[node];
    draws[parent[node]] += draws[node];
  }
  return { variance, draws };
}

// A bar is as wide as what it has; of two recordings as both have together, so that what is in one alone is seen.
function weigh(view, scale) {
  view.weight = view.total;
  const { before } = view.selection;
  if (before === null) return;
  view.scale = scale;
  view.before = Object.assign(Object.create(view), { selection: before, before: null, ...addedUp(view, before) });
  const earlier = view.before.total;
  view.weight = view.total.map((amount, node) => amount * scale.after + earlier[node] * scale.before);
}

// The largest first.
function sortChildren(view) {
  const { parent, count, weight, frame } = view;
  const start = new Int32Array(count + 1);
  for (let node = 1; node < count; ++node) start[parent[node]]++;
  for (let node = 0; node < count; ++node) start[node + 1] += start[node];
  // From the last to the first: each child moves the start of its parent's children down by one, from their end.
  const children = new Int32Array(Math.max(0, count - 1));
  for (let node = count - 1; node > 0; --node) children[--start[parent[node]]] = node;
  const order = (a, b) => weight[b] - weight[a] || frame[a] - frame[b];
  for (let node = 0; node < count; ++node) {
    const [from, to] = [start[node], start[node + 1]];
    if (to - from === 2) {
      if (order(children[from], children[from + 1]) > 0) children.subarray(from, to).reverse();
    } else if (to - from > 2) {
      children.subarray(from, to).sort(order);
    }
  }
  view.childStart = start;
  view.children = children;
}

function markWakers(view) {
  view.isWaker = new Uint8Array(view.count);
  for (let node = 1; node < view.count; ++node) {
    const isMark = view.kind(view.frame[node]) === KIND.waker;
    view.isWaker[node] = isMark || view.isWaker[view.parent[node]] ? 1 : 0;
  }
}
