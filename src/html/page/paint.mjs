// Which color a bar has, on the screen and in pictures: that of its change, if two recordings are compared; else that of
// a match, of its file, or of its kind.
import { KIND } from './kinds.mjs';
import { nodeChange, stepOf } from './change.mjs';

// matches: by node, or null; files: as modules.mjs ranks them, or null where kinds have the colors.
export function barColor(colors, view, node, { matches, files }) {
  if (view.before !== null) return colors.changes[stepOf(nodeChange(view, node)) + 3];
  if (matches !== null && matches[node] === 1) return colors.match;
  if (node === 0) return colors.kinds[KIND.thread];
  const frame = view.frame[node];
  const rank = files === null || view.isGroup(frame) ? -1 : files.rank[frame];
  return rank < 0 ? colors.kinds[view.kind(frame)] : colors.files[rank];
}
