// A tree that grows: children are found by their parent and frame, and have larger numbers than their parents. Node 0
// is the root.

export class TreeBuilder {
  // `room`: for as many nodes before it has to be made larger.
  constructor(room = 1024) {
    this.count = 1;
    this.parent = new Int32Array(room);
    this.frame = new Int32Array(room);
    this.marks = new Uint8Array(room); // of those who build it
    this.parent[0] = -1;
    this.frame[0] = -1;
    this.used = 0; // of the slots
    this.slots = new Int32Array(4096); // nodes, 0 where there is none
  }

  child(parent, frame) {
    const mask = this.slots.length - 1;
    let slot = hash(parent, frame) & mask;
    for (let node = this.slots[slot]; node !== 0; node = this.slots[slot]) {
      if (this.parent[node] === parent && this.frame[node] === frame) return node;
      slot = (slot + 1) & mask;
    }
    return this.add(parent, frame, slot);
  }

  add(parent, frame, slot) {
    const node = this.append(parent, frame);
    this.slots[slot] = node;
    if (++this.used * 2 > this.slots.length) this.rehash();
    return node;
  }

  // A child that `child` will never be asked for.
  append(parent, frame) {
    if (this.count === this.parent.length) {
      this.parent = grown(this.parent);
      this.frame = grown(this.frame);
      this.marks = grown(this.marks);
    }
    this.parent[this.count] = parent;
    this.frame[this.count] = frame;
    return this.count++;
  }

  rehash() {
    const old = this.slots;
    this.slots = new Int32Array(old.length * 4);
    const mask = this.slots.length - 1;
    for (const node of old) {
      if (node === 0) continue;
      let slot = hash(this.parent[node], this.frame[node]) & mask;
      while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
      this.slots[slot] = node;
    }
  }
}

function hash(parent, frame) {
  let h = Math.imul(parent, 0x9e3779b1) ^ Math.imul(frame + 1, 0x85ebca6b);
  h ^= h >>> 15;
  h = Math.imul(h, 0x2c1b3c6d);
  return (h ^ (h >>> 13)) >>> 0;
}

function grown(array) {
  const larger = new array.constructor(array.length * 2);
  larger.set(array);
  return larger;
}
