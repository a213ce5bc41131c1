// Where in the source the nodes of a view are. A node stands for a function as it was called from one stack, wherever it
// was in the function; so it has places, each with its share of what the node has.

// By which nodes of the profile the nodes of a view were made of. `up` leads from a step of a stack to the one above it,
// which has a smaller number.
export class Trail {
  constructor(room) {
    this.count = 0;
    this.node = new Int32Array(room); // of the view
    this.place = new Int32Array(room);
    this.up = new Int32Array(room);
    this.leaf = null; // by index into the rows of the selection: the last step, -1 without one
  }

  add(node, place, up) {
    if (this.count === this.node.length) {
      for (const name of ['node', 'place', 'up']) this[name] = doubled(this[name]);
    }
    this.node[this.count] = node;
    this.place[this.count] = place;
    this.up[this.count] = up;
    return this.count++;
  }

  // The nodes have other numbers now, 0 those that are gone.
  move(moved) {
    for (let step = 0; step < this.count; ++step) this.node[step] = moved[this.node[step]];
  }
}

function doubled(array) {
  const larger = new Int32Array(array.length * 2);
  larger.set(array);
  return larger;
}

// By node of the view: 1 of what was inlined wherever it is.
export function inlinedNodes({ trail, count, profile: { places } }) {
  const marks = new Uint8Array(count);
  if (trail === null) return marks;
  const isCalled = new Uint8Array(count);
  for (let step = 0; step < trail.count; ++step) {
    const marked = places.inlined[trail.place[step]] === 1 ? marks : isCalled;
    marked[trail.node[step]] = 1;
  }
  return marks.map((mark, node) => mark & (1 - isCalled[node]));
}

// [{file, line, start, share}] of a node, those with most first; `share` of all of the node's, of known place or not.
export function placesOf(view, node) {
  const { trail, profile: { places } } = view;
  if (trail === null || node === 0) return [];
  trail.amounts ??= stepAmounts(view);
  const amounts = new Map();
  let whole = 0;
  for (let step = 0; step < trail.count; ++step) {
    if (trail.node[step] !== node) continue;
    const place = trail.place[step];
    amounts.set(place, (amounts.get(place) ?? 0) + trail.amounts[step]);
    whole += trail.amounts[step];
  }
  return [...amounts]
    .filter(([place]) => places.files[place] !== '')
    .map(([place, amount]) => ({
      file: places.files[place],
      line: places.line[place],
      start: places.start[place],
      share: whole === 0 ? 0 : amount / whole,
    }))
    .sort((a, b) => b.share - a.share || (a.file < b.file ? -1 : 1) || a.line - b.line);
}

// By step: what the rows have whose stacks pass it, in both recordings if two are compared.
function stepAmounts({ trail, selection }) {
  const amounts = new Float64Array(trail.count);
  selection.rows.forEach((row, i) => {
    if (trail.leaf[i] < 0) return;
    for (const side of [selection, selection.before]) {
      if (side === null) continue;
      for (const part of side.parts) amounts[trail.leaf[i]] += Number(side.amount(part, row));
    }
  });
  for (let step = trail.count - 1; step >= 0; --step) if (trail.up[step] >= 0) amounts[trail.up[step]] += amounts[step];
  return amounts;
}

export function placeText({ file, line }) {
  return line === 0 ? file : `${file}:${line}`;
}

// The same without directories.
export function shortPlace({ file, line }) {
  return placeText({ file: file.slice(file.lastIndexOf('/') + 1), line });
}
