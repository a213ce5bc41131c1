// Which frames a regular expression matches, and how much of the whole stacks with such a frame are.
import { Matcher } from './matcher.mjs';

// {matcher} or {error}. Without capital letters their case does not matter.
export function compile(query) {
  if (query === '') return { matcher: null };
  try {
    return { matcher: new Matcher(query) };
  } catch (error) {
    return { error: `Cannot search for this regular expression: ${error.message}` };
  }
}

// {nodes: by node 1 of those that match, total: BigInt of what is below `zoom`}. A stack counts once.
export function search(view, matcher, zoom) {
  const known = new Map(); // by frame
  const isMatch = (frame) => {
    if (!known.has(frame)) known.set(frame, matcher.test(view.name(frame)) || matcher.test(view.module(frame)));
    return known.get(frame);
  };
  const nodes = new Uint8Array(view.count);
  for (let node = 1; node < view.count; ++node) nodes[node] = isMatch(view.frame[node]) ? 1 : 0;
  const isAbove = view.path(zoom).some((node) => nodes[node] === 1);
  return { nodes, total: isAbove ? view.exact(zoom) : matchedBelow(view, nodes, zoom) };
}

function matchedBelow(view, nodes, zoom) {
  let total = 0n;
  const pending = [zoom];
  while (pending.length > 0) {
    for (const child of view.childrenOf(pending.pop())) {
      if (nodes[child] === 1) {
        total += view.exact(child);
      } else {
        pending.push(child);
      }
    }
  }
  return total;
}
