// The graph: bars on a canvas that is as large as what is seen of it, and drawn anew when that changes. It draws, says
// what is pointed at, and moves with the keys; what is done with that is up to who made it.
import { KIND, KINDS } from './kinds.mjs';
import { barColor } from './paint.mjs';
import { colorsOf } from './colors.mjs';
import { fitted } from './format.mjs';
import { isSplit } from './parts.mjs';
import { barAt, layOut } from './layout.mjs';
import { markOf, nodeChange } from './change.mjs';

export const ROW_PIXELS = 21;
const STRIP_PIXELS = 4;
const CORNER_PIXELS = 6;
const LEVELS_ABOVE = 2; // that are seen of those that lead to what is zoomed to
const MIN_LETTERS = 10; // of a name: with less room, it stands behind a sign alone
const FONT = '12px ui-monospace, "DejaVu Sans Mono", monospace';

export class FlameGraph {
  // on: {select(node), zoom(node), hover(node, event)}
  constructor(scroller, on) {
    this.scroller = scroller;
    this.canvas = scroller.querySelector('canvas');
    this.room = scroller.querySelector('.room');
    this.on = on;
    this.view = null;
    this.zoom = 0;
    this.selected = 0;
    this.dark = window.matchMedia('(prefers-color-scheme: dark)');
    this.dark.addEventListener('change', () => this.draw());
    new ResizeObserver(() => this.show()).observe(scroller);
    scroller.addEventListener('scroll', () => this.draw());
    this.canvas.addEventListener('click', (event) => this.click(event));
    this.canvas.addEventListener('contextmenu', (event) => this.pick(event));
    this.canvas.addEventListener('mousemove', (event) => on.hover(this.nodeAt(event), event));
    this.canvas.addEventListener('mouseleave', (event) => on.hover(-1, event));
    this.canvas.addEventListener('keydown', (event) => this.key(event));
  }

  // matches, files: as barColor takes them
  set(view, zoom, selected, { matches, isFlame, files }) {
    const isMoved = isFlame !== (this.isFlame ?? false) || zoom !== this.zoom;
    Object.assign(this, { view, zoom, selected, matches, isFlame, files });
    this.show();
    if (isMoved && this.bars) this.scroller.scrollTop = this.firstSeen();
  }

  // Where what is zoomed to is seen with all that there is room for behind it. The root is at an end.
  firstSeen() {
    const levels = Math.max(this.bars.level[this.bars.node.indexOf(this.zoom)] - LEVELS_ABOVE, 0);
    const above = levels * ROW_PIXELS;
    return this.isFlame ? this.height - above - this.scroller.clientHeight : above;
  }

  show() {
    if (this.view === null || this.scroller.clientWidth === 0) return;
    const { clientWidth } = this.scroller;
    this.bars = layOut(this.view, this.zoom, clientWidth);
    // No higher than all of it, so that it keeps its height when somebody zooms in.
    const all = this.zoom === 0 ? this.bars : layOut(this.view, 0, clientWidth);
    this.scroller.style.maxHeight = `${all.levels * ROW_PIXELS}px`;
    const { clientHeight } = this.scroller;
    this.height = Math.max(this.bars.levels * ROW_PIXELS, clientHeight);
    this.room.style.height = `${this.height}px`;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.canvas.style.height = `${clientHeight}px`;
    this.canvas.style.width = `${clientWidth}px`;
    this.draw();
  }

  top(level) {
    const at = this.isFlame ? this.height - (level + 1) * ROW_PIXELS : level * ROW_PIXELS;
    return at - this.scroller.scrollTop;
  }

  draw() {
    if (!this.bars) return;
    const context = this.canvas.getContext('2d');
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.font = FONT;
    context.textBaseline = 'middle';
    const brush = { context, colors: colorsOf(this.dark.matches), letter: context.measureText('m').width };
    brush.hatch = hatched(context, brush.colors);
    const height = this.scroller.clientHeight;
    for (let bar = 0; bar < this.bars.node.length; ++bar) {
      const y = this.top(this.bars.level[bar]);
      if (y > -ROW_PIXELS && y < height) this.drawBar(brush, bar, y);
    }
  }

  drawBar(brush, bar, y) {
    const { context, colors, letter } = brush;
    const node = this.bars.node[bar];
    const x = this.bars.x[bar];
    const width = Math.max(this.bars.width[bar] - 1, 0.5);
    const frame = this.view.frame[node];
    const kind = node === 0 ? KIND.thread : this.view.kind(frame);
    const isMatch = this.matches !== null && this.matches[node] === 1;
    const change = this.view.before === null ? null : nodeChange(this.view, node);
    context.fillStyle = barColor(colors, this.view, node, this);
    context.fillRect(x, y, width, ROW_PIXELS - 1);
    const strip = y + ROW_PIXELS - 1 - STRIP_PIXELS;
    const hasStrip = change !== null || isSplit(this.view, node);
    if (change !== null) drawSides(brush, change, x, strip, width);
    else if (hasStrip) this.drawParts(brush, node, x, strip, width);
    if (width < 6) return;
    drawEdge(brush, { kind, isWaker: this.view.isWaker[node] === 1 }, x, y, width);
    if (this.view.isInlined(node)) drawCorner(brush, x, y);
    if (isMatch || node === this.selected) this.drawFrame(brush, node, change !== null, x, y, width);
    const text = labelOf(this.view.nodeName(node), change, Math.floor((width - 10) / letter), kind);
    if (text === '') return;
    context.fillStyle = colors.text;
    context.fillText(text, x + 7, y + (ROW_PIXELS - (hasStrip ? STRIP_PIXELS : 0)) / 2, width - 9);
  }

  // The color of a change stays, also of what was searched for.
  drawFrame({ context, colors }, node, isChange, x, y, width) {
    const isSelected = node === this.selected;
    const [found, chosen] = isChange ? [colors.found, colors.chosen] : [colors.text, colors.selected];
    context.strokeStyle = isSelected ? chosen : found;
    context.lineWidth = isSelected || isChange ? 3 : 1;
    context.strokeRect(x + 1, y + 1, width - 2, ROW_PIXELS - 3);
  }

  // The strip below the name: how much of the bar is blocked, runnable and on a CPU.
  drawParts(brush, node, x, y, width) {
    const { context, colors, hatch } = brush;
    const { selection, parts, total } = this.view;
    context.fillStyle = colors.strip;
    context.fillRect(x, y, width, STRIP_PIXELS);
    let at = x;
    parts.forEach((part, i) => {
      const partWidth = total[node] === 0 ? 0 : (width * Number(part[node])) / total[node];
      const isRunning = ['cpu', 'samples'].includes(selection.parts[i]);
      context.fillStyle = isRunning ? colors.cpu : colors.blocked;
      if (selection.parts[i] === 'runnable') context.fillStyle = hatch;
      context.fillRect(at, isRunning ? y + 1 : y, partWidth, isRunning ? STRIP_PIXELS - 2 : STRIP_PIXELS);
      at += partWidth;
    });
  }

  nodeAt(event) {
    if (!this.bars) return -1;
    const y = event.offsetY + this.scroller.scrollTop;
    const level = Math.floor((this.isFlame ? this.height - y : y) / ROW_PIXELS);
    const bar = barAt(this.bars, event.offsetX, level);
    return bar < 0 ? -1 : this.bars.node[bar];
  }

  click(event) {
    const node = this.nodeAt(event);
    if (node >= 0) this.on.zoom(node);
  }

  // Selects without zooming in.
  pick(event) {
    const node = this.nodeAt(event);
    if (node < 0) return;
    event.preventDefault();
    this.canvas.focus();
    this.select(node);
  }

  select(node) {
    this.selected = node;
    const level = this.bars.level[this.bars.node.indexOf(node)];
    if (level !== undefined) {
      const y = this.top(level);
      if (y < 0) this.scroller.scrollTop += y;
      const below = y + ROW_PIXELS - this.scroller.clientHeight;
      if (below > 0) this.scroller.scrollTop += below;
    }
    this.draw();
    this.on.select(node);
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const deeper = this.isFlame ? 'ArrowUp' : 'ArrowDown';
    const moves = {
      ArrowLeft: () => this.sibling(-1),
      ArrowRight: () => this.sibling(1),
      [deeper]: () => this.firstChild(),
      [this.isFlame ? 'ArrowDown' : 'ArrowUp']: () => Math.max(this.view.parent[this.selected], 0),
    };
    if (moves[event.key]) {
      this.select(moves[event.key]());
    } else if (event.key === 'Enter' || event.key === ' ') {
      this.on.zoom(this.selected);
    } else if (event.key === 'Escape' || event.key === 'Backspace') {
      this.on.zoom(Math.max(this.view.parent[this.zoom], 0));
    } else if (event.key === 'Home') {
      this.on.zoom(0);
      this.select(0);
    } else {
      return;
    }
    event.preventDefault();
  }

  firstChild() {
    return this.view.childrenOf(this.selected).find((child) => this.bars.node.includes(child)) ?? this.selected;
  }

  sibling(step) {
    const parent = this.view.parent[this.selected];
    if (parent < 0) return this.selected;
    const siblings = this.view.childrenOf(parent).filter((node) => this.bars.node.includes(node));
    return siblings[siblings.indexOf(this.selected) + step] ?? this.selected;
  }
}

// A name, behind the mark of its change if there is one.
function labelOf(name, change, room, kind) {
  const isFunction = KINDS[kind].isFunction;
  if (change === null || room < 3) return fitted(name, room, isFunction);
  const short = markOf(change, false);
  const long = markOf(change, true);
  const mark = room >= long.length + 1 + Math.min(name.length, MIN_LETTERS) ? long : short;
  const rest = fitted(name, room - mark.length - 1, isFunction);
  return rest === '' ? mark : `${mark} ${rest}`;
}

// The strip of what is compared: a thin line as long as what was before, a thick one as what is after, the longer of
// them as long as the bar.
function drawSides({ context, colors }, { before, after }, x, y, width) {
  const most = Math.max(before, after);
  context.fillStyle = colors.strip;
  context.fillRect(x, y, width, STRIP_PIXELS);
  if (most === 0) return;
  context.fillStyle = colors.before;
  context.fillRect(x, y, (width * before) / most, 1);
  context.fillStyle = colors.after;
  context.fillRect(x, y + 2, (width * after) / most, STRIP_PIXELS - 2);
}

function hatched(context, colors) {
  const tile = document.createElement('canvas');
  tile.width = 6;
  tile.height = STRIP_PIXELS;
  const brush = tile.getContext('2d');
  brush.strokeStyle = colors.runnable;
  brush.lineWidth = 2;
  brush.beginPath();
  for (const x of [-6, 0, 6]) {
    brush.moveTo(x, STRIP_PIXELS);
    brush.lineTo(x + 6, 0);
  }
  brush.stroke();
  return context.createPattern(tile, 'repeat');
}

// Kinds by the left edge: kernel one line, interpreted two; what is missing has a dashed frame, and a waker a dotted
// line above.
function drawEdge(brush, { kind, isWaker }, x, y, width) {
  const { context, colors } = brush;
  context.fillStyle = colors.edge;
  if (kind === KIND.kernel || kind === KIND.interpreted) context.fillRect(x, y, 2, ROW_PIXELS - 1);
  if (kind === KIND.interpreted) context.fillRect(x + 3, y, 1, ROW_PIXELS - 1);
  context.strokeStyle = colors.edge;
  context.lineWidth = 1;
  if (kind === KIND.missing) {
    context.setLineDash([3, 3]);
    context.strokeRect(x + 0.5, y + 0.5, width - 1, ROW_PIXELS - 2);
  } else if (isWaker) {
    context.setLineDash([1, 3]);
    context.beginPath();
    context.moveTo(x, y + 0.5);
    context.lineTo(x + width, y + 0.5);
    context.stroke();
  }
  context.setLineDash([]);
}

// Marks what was inlined.
function drawCorner({ context, colors }, x, y) {
  context.fillStyle = colors.edge;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + CORNER_PIXELS, y);
  context.lineTo(x, y + CORNER_PIXELS);
  context.fill();
}
