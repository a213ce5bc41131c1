// What a made profile shows in a state, as the page makes it.
import { buildView } from '../../../src/html/page/view.mjs';
import { defaultState } from '../../../src/html/page/state.mjs';
import { named } from '../../../src/html/page/frames.mjs';
import { plumbingFrames } from '../../../src/html/page/plumbing.mjs';
import { selectRows } from '../../../src/html/page/rows.mjs';

export function viewOf(profile, part = {}) {
  const state = { ...defaultState(profile), ...part };
  const plumbing = plumbingFrames(profile.frames);
  const skip = named(profile.frames, state.hidden).map((mark, frame) => mark | (state.fold ? plumbing[frame] : 0));
  const { groups, wakers: withWakers, mergesRecursion: isMerging } = state;
  const scale = profile.before && { before: 1, after: 1, isRate: false };
  return buildView(profile, selectRows(profile, state), { groups, skip, withWakers, isMerging, scale });
}

// All leaves as folded stacks; who woke is the leaf of those that he woke.
export function folded(view) {
  const lines = [];
  for (let node = 1; node < view.count; ++node) {
    let self = view.exact(node);
    for (const child of view.childrenOf(node)) self -= view.exact(child);
    const names = view.path(node).map((at) => view.nodeName(at));
    if (self > 0n) lines.push(`${names.join(';')} ${self}`);
  }
  return lines.sort();
}

export function find(view, name) {
  for (let node = 1; node < view.count; ++node) if (view.nodeName(node) === name) return node;
  throw new Error(`no ${name}`);
}
