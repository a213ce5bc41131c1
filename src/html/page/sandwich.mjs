// Functions, whatever stacks they are in: how much they are themselves and with what they call, who calls them and what
// they call. A stack counts once, also for a function that is in it several times.

import { addError, noError } from './errors.mjs';
import { figures } from './data.mjs';

// Calls visit(node) and leave(node) of all nodes below `zoom`, and of those that lead to it.
function walk(view, zoom, visit, leave) {
  const above = view.path(zoom);
  above.forEach(visit);
  const open = [];
  const pending = [...view.childrenOf(zoom)];
  while (pending.length > 0) {
    const node = pending.pop();
    if (node < 0) {
      leave(open.pop());
      continue;
    }
    visit(node);
    open.push(node);
    pending.push(-1);
    for (const child of view.childrenOf(node)) pending.push(child);
  }
}

// Sums by frame; -1 is a frame, too.
class OncePerStack {
  constructor({ profile, variance }) {
    this.errors = variance === null ? null : Array.from({ length: profile.frames.count + 1 }, noError);
    this.open = new Int32Array(profile.frames.count + 1);
    this.sums = figures(profile.isWide, profile.frames.count + 1);
    this.frames = new Set();
  }
  enter(frame, { amount, error }) {
    if (this.open[frame + 1]++ > 0) return;
    this.sums[frame + 1] += amount;
    if (this.errors !== null) addError(this.errors[frame + 1], error);
    this.frames.add(frame);
  }
  leave(frame) {
    this.open[frame + 1]--;
  }
  totals() {
    return Array.from(this.frames, (frame) => {
      const errors = this.errors && { errors: { total: this.errors[frame + 1] } };
      return { frame, total: BigInt(this.sums[frame + 1]), ...errors };
    });
  }
}

// What a node has of the part that is shown: those above `zoom` only that.
function amounts(view, zoom) {
  const above = new Set(view.path(zoom).slice(0, -1));
  return (node) => {
    const shown = above.has(node) ? zoom : node;
    return { amount: view.figure(shown), error: view.error(shown) };
  };
}

// [{frame, self, total}], BigInt, without groups and wakers, the largest totals first; of estimates with `errors` of
// both.
export function functions(view, zoom) {
  const totals = new OncePerStack(view);
  const selves = figures(view.profile.isWide, view.profile.frames.count);
  const selfErrors = new Map(); // by frame
  const amount = amounts(view, zoom);
  const above = new Set(view.path(zoom).slice(0, -1));
  const isCounted = (node) => !view.isGroup(view.frame[node]) && view.isWaker[node] === 0;
  const visit = (node) => {
    if (!isCounted(node)) return;
    const frame = view.frame[node];
    totals.enter(frame, amount(node));
    if (above.has(node)) return;
    selves[frame] += selfOf(view, node);
    if (view.variance === null) return;
    if (!selfErrors.has(frame)) selfErrors.set(frame, noError());
    addError(selfErrors.get(frame), selfErrorOf(view, node));
  };
  walk(view, zoom, visit, (node) => {
    if (isCounted(node)) totals.leave(view.frame[node]);
  });
  const list = totals.totals().map(({ frame, total, errors }) => {
    const both = errors && { errors: { ...errors, self: selfErrors.get(frame) } };
    return { frame, total, self: BigInt(selves[frame]), ...both };
  });
  return list.sort((a, b) => compare(b.total, a.total) || compare(b.self, a.self) || a.frame - b.frame);
}

// What its children do not have; who woke it is no child in this sense.
export function selfOf(view, node) {
  let self = view.figure(node);
  for (const child of view.childrenOf(node)) if (view.isWaker[child] === 0) self -= view.figure(child);
  return self;
}

function selfErrorOf(view, node) {
  const self = { ...view.error(node) };
  for (const child of view.childrenOf(node)) {
    if (view.isWaker[child] === 1) continue;
    self.variance -= view.variance[child];
    self.draws -= view.draws[child];
  }
  // What is left of sums of large numbers by rounding is none.
  return self.variance <= 1e-9 * view.variance[node] ? noError() : self;
}

// {callers, callees}: [{frame, total}] of one function; the frame of a caller is -1 where there is none.
export function neighbours(view, zoom, frame) {
  const callers = new OncePerStack(view);
  const callees = new OncePerStack(view);
  const amount = amounts(view, zoom);
  const parentFrame = (node) => {
    const parent = view.parent[node];
    return parent <= 0 || view.isGroup(view.frame[parent]) ? -1 : view.frame[parent];
  };
  const each = (node, callersDo, calleesDo) => {
    if (view.isWaker[node] === 1 || view.isGroup(view.frame[node])) return;
    if (view.frame[node] === frame) callersDo(parentFrame(node));
    if (parentFrame(node) === frame) calleesDo(view.frame[node]);
  };
  walk(
    view,
    zoom,
    (node) =>
      each(
        node,
        (key) => callers.enter(key, amount(node)),
        (key) => callees.enter(key, amount(node)),
      ),
    (node) =>
      each(
        node,
        (key) => callers.leave(key),
        (key) => callees.leave(key),
      ),
  );
  return { callers: sorted(callers.totals()), callees: sorted(callees.totals()) };
}

function sorted(totals) {
  return totals.sort((a, b) => compare(b.total, a.total) || a.frame - b.frame);
}

function compare(a, b) {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
