// Recursion as one call: a function that is called again, however far below itself, is not drawn again. What lies between
// its first and its last call is left out of the stack.

// The node of the same frame among those from `node` up to the group, or -1.
export function earlierCall(builder, group, node, frame) {
  for (let at = node; at !== group; at = builder.parent[at]) if (builder.frame[at] === frame) return at;
  return -1;
}

// Takes the nodes away that no row has come to in the end: they lay between two calls. `rowNode` is changed with them.
export function dropUnused(builder, rowNode) {
  const { count, parent, frame, marks } = builder;
  const isUsed = new Uint8Array(count);
  isUsed[0] = 1;
  for (const node of rowNode) isUsed[node] = 1;
  for (let node = count - 1; node > 0; --node) if (isUsed[node] === 1) isUsed[parent[node]] = 1;
  const moved = new Int32Array(count);
  let kept = 1;
  for (let node = 1; node < count; ++node) {
    if (isUsed[node] === 0) continue;
    parent[kept] = moved[parent[node]];
    frame[kept] = frame[node];
    marks[kept] = marks[node];
    moved[node] = kept++;
  }
  builder.count = kept;
  rowNode.forEach((node, i) => {
    rowNode[i] = moved[node];
  });
}
