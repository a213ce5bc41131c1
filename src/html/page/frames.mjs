// Functions by their names: which stacks have one of them, and which frames are left out. Pure functions.

// The key of filters by a function, beside those of GROUPS.
export const FRAME_KEY = 'frame';

// By frame: 1 of those that have one of the names.
export function named({ names, count }, wanted) {
  const set = new Set(wanted);
  const marks = new Uint8Array(count);
  for (let frame = 0; frame < count; ++frame) if (set.has(names[frame])) marks[frame] = 1;
  return marks;
}

// By node of the profile: 1 where a frame with one of the names is on the way to it.
export function withFrame({ frames, nodes }, wanted) {
  const isNamed = named(frames, wanted);
  const marks = new Uint8Array(nodes.parent.length);
  for (let node = 1; node < marks.length; ++node) marks[node] = marks[nodes.parent[node]] | isNamed[nodes.frame[node]];
  return marks;
}
