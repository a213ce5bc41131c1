// The heat map: a line for each process, which opens into its threads, and a cell for each column of time. A span of it is
// chosen by pointer or keys. Above the lines there is the time, also while they are scrolled. It draws and says what is
// chosen; what is done with that is up to who made it.
import { axisMarks } from './axis.mjs';
import { cellCauses, columnTime, heatMap, isUnsampled } from './times.mjs';
import { colorsOf, mixed } from './colors.mjs';
import { errorWords } from './errors.mjs';
import { fitted, formatAmount, formatDuration } from './format.mjs';

const LINE_PIXELS = 18;
const AXIS_PIXELS = 18;
const WORDS_PIXELS = 16; // above the axis, where two spans are compared
const LEAST_CELL_PIXELS = 3;
const HATCH_PIXELS = 6; // between the lines of what was not sampled
const AXIS_LETTERS = 15; // between two marks
const HEAT_FONT = '12px ui-monospace, "DejaVu Sans Mono", monospace';

export class HeatMap {
  // on: {span([from, to] or null), tell([name, line...] or null, where: {clientX, clientY})}
  constructor(profile, scroller, legend, on) {
    Object.assign(this, { profile, scroller, legend, on, turned: new Set(), cell: { line: 0, bin: 0 } });
    this.canvas = scroller.querySelector('canvas');
    this.dark = window.matchMedia('(prefers-color-scheme: dark)');
    this.dark.addEventListener('change', () => this.draw());
    new ResizeObserver(() => this.build()).observe(scroller);
    scroller.addEventListener('scroll', () => this.draw());
    this.canvas.addEventListener('pointerdown', (event) => this.press(event));
    this.canvas.addEventListener('pointermove', (event) => this.move(event));
    this.canvas.addEventListener('pointerup', (event) => this.release(event));
    this.canvas.addEventListener('pointercancel', () => this.drop());
    this.canvas.addEventListener('pointerleave', () => on.tell(null));
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    for (const type of ['focus', 'blur']) this.canvas.addEventListener(type, () => this.draw());
    this.canvas.addEventListener('blur', () => on.tell(null));
  }

  // span, other: what is chosen, and what that is or will be compared with, or null; isTime: of the value
  set(state, { span, other }, isTime) {
    Object.assign(this, { state, span, other, isTime });
    this.build();
  }

  build() {
    const width = this.scroller.clientWidth;
    if (!this.state || width === 0) return;
    this.gutter = Math.min(220, Math.round(width / 4));
    const { value, filters, hideIdle } = this.state;
    const mostBins = Math.max(1, Math.floor((width - this.gutter) / LEAST_CELL_PIXELS));
    const wanted = JSON.stringify([value, filters, hideIdle, mostBins, Array.from(this.turned)]);
    if (wanted !== this.made) {
      this.made = wanted;
      this.map = heatMap(this.profile, this.state, { mostBins, turned: this.turned });
    }
    this.cell.line = Math.min(this.cell.line, Math.max(0, this.map.lines.length - 1));
    this.cell.bin = Math.min(this.cell.bin, this.map.bins - 1);
    this.width = width;
    this.head = AXIS_PIXELS + (this.other === null ? 0 : WORDS_PIXELS);
    this.height = this.head + this.map.lines.length * LINE_PIXELS;
    this.scroller.style.maxHeight = `${this.height}px`;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.draw();
  }

  x(bin) {
    return this.gutter + (bin * (this.width - this.gutter)) / this.map.bins;
  }
  // Where a span of columns begins and ends.
  spanX([from, to]) {
    const { binColumns, bins } = this.map;
    return [this.x(from / binColumns), this.x(Math.min(to / binColumns, bins))];
  }

  draw() {
    if (!this.map) return;
    const context = this.canvas.getContext('2d');
    const ratio = window.devicePixelRatio || 1;
    const colors = colorsOf(this.dark.matches);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.font = HEAT_FONT;
    context.textBaseline = 'middle';
    this.letter = context.measureText('m').width;
    this.map.lines.forEach((line, i) => this.drawLine(context, colors, line, i));
    const spans = [this.span, this.other].filter((span) => span !== null).sort((a, b) => a[0] - b[0]);
    const places = spans.map((span) => this.spanX(span));
    if (places.length > 0) this.drawSpans(context, colors, places);
    if (this.canvas === document.activeElement) this.drawCell(context, colors);
    this.drawHead(context, colors, places);
    this.drawLegend(colors);
  }

  drawLine(context, colors, line, index) {
    const y = this.head + index * LINE_PIXELS;
    const { map } = this;
    const sign = line.level === 1 ? '  ' : line.key === null ? '  ' : line.isOpen ? '▾ ' : '▸ ';
    context.fillStyle = colors.ink;
    context.fillText(sign + fitted(line.text, Math.floor(this.gutter / this.letter) - 4, false), 2 + line.level * 10,
      y + LINE_PIXELS / 2);
    context.fillStyle = colors.nothing;
    context.fillRect(this.gutter, y, this.width - this.gutter, LINE_PIXELS - 1);
    for (let bin = 0; bin < map.bins; ++bin) {
      if (isUnsampled(this.profile, line, bin)) this.hatch(context, colors, bin, y);
      if (line.cells[bin] === 0) continue;
      const share = Math.sqrt(line.cells[bin] / map.most);
      context.fillStyle = mixed(colors.nothing, colors.causes[map.colors[line.causes[bin]]], 0.3 + 0.7 * share);
      // At whole pixels: else cells that are alike would not meet without a seam.
      const [from, to] = [this.x(bin), this.x(bin + 1)].map(Math.round);
      context.fillRect(from, y, Math.max(to - from - (to - from > 5 ? 1 : 0), 1), LINE_PIXELS - 1);
    }
  }

  hatch(context, colors, bin, y) {
    const [from, to] = [this.x(bin), this.x(bin + 1)];
    const height = LINE_PIXELS - 1;
    context.save();
    context.beginPath();
    context.rect(from, y, to - from, height);
    context.clip();
    context.strokeStyle = colors.before;
    context.lineWidth = 1;
    // From a multiple of the step, so that the lines of cells side by side meet.
    for (let x = Math.floor((from - height) / HATCH_PIXELS) * HATCH_PIXELS; x < to; x += HATCH_PIXELS) {
      context.beginPath();
      context.moveTo(x, y + height);
      context.lineTo(x + height, y);
      context.stroke();
    }
    context.restore();
  }

  drawHead(context, colors, places) {
    const top = this.scroller.scrollTop;
    const end = top + this.head;
    context.fillStyle = colors.ground;
    context.fillRect(0, top, this.width, this.head);
    this.drawAxis(context, colors, end);
    context.fillStyle = colors.selected;
    for (const [from, to] of places) context.fillRect(from - 2, end - 3, to - from + 4, 3);
    if (places.length === 2) this.drawWords(context, colors, places, top + WORDS_PIXELS / 2);
  }

  drawAxis(context, colors, end) {
    const { columnNs, beginNs } = this.profile.times;
    const { bins, binColumns } = this.map;
    const binNs = columnNs * binColumns;
    const most = (this.width - this.gutter) / (this.letter * AXIS_LETTERS);
    context.fillStyle = colors.ink;
    for (const { ns, text } of axisMarks(this.profile, beginNs, beginNs + bins * binNs, most)) {
      const x = this.x((ns - beginNs) / binNs);
      if (x + text.length * this.letter > this.width) break;
      context.fillRect(x, end - 6, 1, 6);
      context.fillText(text, x + 3, end - AXIS_PIXELS / 2 - 1);
    }
  }

  // What lies in none of them is pale. Places are in the order of time.
  drawSpans(context, colors, places) {
    context.globalAlpha = 0.7;
    context.fillStyle = colors.ground;
    let end = this.gutter;
    for (const [from, to] of [...places, [this.width, this.width]]) {
      if (from > end) context.fillRect(end, 0, from - end, this.height);
      end = Math.max(end, to);
    }
    context.globalAlpha = 1;
    context.fillStyle = colors.selected;
    for (const x of places.flatMap(([from, to]) => [from - 2, to])) context.fillRect(x, 0, 2, this.height);
  }

  // The first word ends where its span ends, the second one begins where its span begins, if they do not meet.
  drawWords(context, colors, [[, firstEnd], [secondFrom]], y) {
    const [before, after] = ['before', 'after'].map((word) => word.length * this.letter);
    const x = Math.max(this.gutter, firstEnd - before);
    context.fillStyle = colors.ink;
    context.fillText('before', Math.min(x, this.width - before - after - this.letter), y);
    context.fillText('after', Math.min(Math.max(secondFrom, x + before + this.letter), this.width - after), y);
  }

  drawCell(context, colors) {
    const { line, bin } = this.cell;
    context.strokeStyle = colors.ink;
    context.lineWidth = 2;
    context.strokeRect(this.x(bin), this.head + line * LINE_PIXELS + 1, Math.max(this.x(bin + 1) - this.x(bin), 4), LINE_PIXELS - 3);
  }

  drawLegend(colors) {
    const isEstimate = this.map.lines.some((line) => line.cells.some((_, bin) => isUnsampled(this.profile, line, bin)));
    const key = JSON.stringify([this.map.causes, this.map.colors, this.dark.matches, isEstimate]);
    if (key === this.legendKey) return;
    this.legendKey = key;
    const items = this.map.causes.map((text, i) => {
      const item = document.createElement('li');
      const box = document.createElement('i');
      box.style.background = colors.causes[this.map.colors[i]];
      const name = document.createElement('bdi');
      name.textContent = text;
      item.append(box, name);
      return item;
    });
    if (isEstimate) {
      const item = document.createElement('li');
      const box = document.createElement('i');
      box.className = 'unsampled';
      item.append(box, unsampledWords(this.profile));
      items.push(item);
    }
    this.legend.replaceChildren(...items);
  }

  at({ offsetX, offsetY }) {
    const { bins, lines } = this.map;
    const bin = Math.floor(((offsetX - this.gutter) * bins) / (this.width - this.gutter));
    const line = offsetY < this.scroller.scrollTop + this.head ? -1 : Math.floor((offsetY - this.head) / LINE_PIXELS);
    const isOnLine = line >= 0 && line < lines.length;
    return { line, bin: Math.min(Math.max(bin, 0), bins - 1), isOnLine, isName: isOnLine && offsetX < this.gutter };
  }

  press(event) {
    if (!this.map || event.button !== 0) return;
    const at = this.at(event);
    if (at.isName) return this.toggle(at.line);
    this.pressed = { bin: at.bin, old: this.span };
    this.canvas.setPointerCapture(event.pointerId);
    this.show(at.bin, at.bin);
  }

  move(event) {
    if (!this.map) return;
    const at = this.at(event);
    if (this.pressed) this.show(this.pressed.bin, at.bin);
    this.on.tell(at.isOnLine && !at.isName ? this.words(at) : null, event);
  }

  release(event) {
    if (!this.pressed) return;
    const { bin } = this.pressed;
    this.pressed = null;
    this.show(bin, this.at(event).bin);
    this.on.span(this.span);
  }

  drop() {
    if (!this.pressed) return;
    this.span = this.pressed.old;
    this.pressed = null;
    this.draw();
  }

  // The span of two cells, all that is between them too.
  show(one, other) {
    const { binColumns } = this.map;
    const last = Math.min((Math.max(one, other) + 1) * binColumns, this.profile.times.columns);
    this.span = [Math.min(one, other) * binColumns, last];
    this.draw();
  }

  toggle(index) {
    const line = this.map.lines[index];
    if (line === undefined || line.key === null) return;
    if (!this.turned.delete(line.key)) this.turned.add(line.key);
    this.build();
  }

  scrollTo(line) {
    const { scroller, head } = this;
    const y = line * LINE_PIXELS; // below the head
    const room = scroller.clientHeight - head - LINE_PIXELS;
    scroller.scrollTop = Math.min(Math.max(scroller.scrollTop, y - room), y);
  }

  // [name, line...]
  words({ line, bin }) {
    const { map, isTime } = this;
    const one = map.lines[line];
    if (one === undefined) return null;
    const when = columnTime(this.profile, bin * map.binColumns);
    if (isUnsampled(this.profile, one, bin)) return [one.text, `${when}: ${unsampledWords(this.profile)}`];
    const causes = cellCauses(map, one, bin).map(([text, amount]) => `${text} ${formatAmount(Math.round(amount), isTime)}`);
    const error = errorWords({ variance: one.variance[bin], draws: one.draws[bin] }, one.cells[bin]);
    return [one.text, `${when}: ${formatAmount(Math.round(one.cells[bin]), isTime)}${error}`, ...causes];
  }

  tellCell() {
    const { left, top } = this.canvas.getBoundingClientRect();
    const { line, bin } = this.cell;
    this.on.tell(this.words(this.cell), { clientX: left + this.x(bin), clientY: top + this.head + (line + 1) * LINE_PIXELS });
  }

  key(event) {
    if (!this.map || event.altKey || event.ctrlKey || event.metaKey) return;
    const { cell, map } = this;
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (step) {
      this.anchor = event.shiftKey ? (this.anchor ?? cell.bin) : null;
      cell.line = Math.min(Math.max(cell.line + step[0], 0), map.lines.length - 1);
      cell.bin = Math.min(Math.max(cell.bin + step[1], 0), map.bins - 1);
      this.scrollTo(cell.line);
      if (this.anchor !== null) this.show(this.anchor, cell.bin);
      else this.draw();
      this.tellCell();
    } else if (event.key === 'Enter' && this.span !== null && (this.anchor ?? null) !== null) {
      this.anchor = null;
      this.on.span(this.span);
    } else if (event.key === 'Enter') {
      this.show(cell.bin, cell.bin);
      this.on.span(this.span);
    } else if (event.key === ' ') {
      this.toggle(cell.line);
    } else if (event.key === 'Escape') {
      this.anchor = null;
      this.on.span(null);
    } else {
      return;
    }
    event.preventDefault();
  }
}

function unsampledWords({ header }) {
  return `nothing sampled: at most ${formatDuration(header.unsampled_ns)}`;
}

// What is at a place as one sentence, to be read aloud.
export function spoken([name, amount, ...causes]) {
  return `${name}, ${amount}${causes.length > 0 ? ': ' : ''}${causes.join(', ')}`;
}
