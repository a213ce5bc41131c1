// Which files (programs and libraries) have most of the graph: these have colors of their own, whatever is filtered.
import { KIND } from './kinds.mjs';

export const COLORED_MODULES = 6;

// {names, rank}: the files with most, and by frame the number of its file in this list; COLORED_MODULES of all others,
// -1 of frames that are in no file: of the kernel, what is missing, groups.
export function rankedModules(profile) {
  const { modules, kinds } = profile.frames;
  const areas = new Map();
  const totals = nodeTotals(profile);
  profile.nodes.frame.forEach((frame, node) => {
    if (node === 0 || !isInFile(kinds[frame])) return;
    areas.set(modules[frame], (areas.get(modules[frame]) ?? 0) + totals[node]);
  });
  const order = [...areas.keys()].sort((a, b) => areas.get(b) - areas.get(a) || (a < b ? -1 : 1));
  const place = new Map(order.map((name, i) => [name, Math.min(i, COLORED_MODULES)]));
  const rank = Int8Array.from(modules, (name, i) => (isInFile(kinds[i]) ? (place.get(name) ?? COLORED_MODULES) : -1));
  return { names: order.slice(0, COLORED_MODULES), hasOthers: order.length > COLORED_MODULES, rank };
}

function isInFile(kind) {
  return kind === KIND.user || kind === KIND.interpreted;
}

// By node of the profile: the time of all rows below it, without waits for work.
function nodeTotals({ nodes, rows, sums, labels }) {
  const totals = new Float64Array(nodes.parent.length);
  const idle = labels.get('idle').codes;
  for (let row = 0; row < rows.count; ++row) {
    if (idle[row] !== 0) continue;
    totals[rows.stack[row]] += Number(sums.blocked[row]) + Number(sums.runnable[row]) + Number(sums.cpu[row]);
  }
  for (let node = totals.length - 1; node > 0; --node) totals[nodes.parent[node]] += totals[node];
  return totals;
}
