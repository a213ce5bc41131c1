// Which span of time is shown, and which one it is compared with: in words, and as a form for those who know when, in
// seconds since the recording began.
import { formatAmount, formatDuration } from './format.mjs';
import { sidesText } from './sides.mjs';
import { spanText } from './times.mjs';

export class SpanForm {
  // on: {change(part of a state), mark(): what is chosen has another meaning now}
  constructor(profile, form, on) {
    Object.assign(this, { profile, on, isChoosing: false });
    this.from = form.querySelector('#span-from');
    this.to = form.querySelector('#span-to');
    this.all = form.querySelector('#span-all');
    this.compare = form.querySelector('#span-compare');
    this.text = form.querySelector('#span-text');
    this.seconds = profile.times.columnNs / 1e9;
    for (const field of [this.from, this.to]) {
      field.step = 'any';
      field.max = Math.ceil(profile.times.columns * this.seconds);
    }
    this.all.addEventListener('click', () => on.change({ span: null, other: null }));
    this.compare.addEventListener('click', () => this.toggle());
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.read();
    });
  }

  read() {
    const { columns } = this.profile.times;
    this.choose(columnsOf(Number(this.from.value), Number(this.to.value), this.seconds, columns));
  }

  // A span, chosen here or in the heat map; null: all of it, or not to compare after all.
  choose(span) {
    const { state } = this;
    if (this.isChoosing && span === null) return this.toggle();
    const other = this.isChoosing ? state.span : state.other;
    this.on.change({ span, other: span === null ? null : other });
  }

  toggle() {
    if (this.state.other !== null) return this.on.change({ other: null });
    this.isChoosing = !this.isChoosing;
    this.on.mark();
  }

  // What the heat map shows: {span, other}. While another span is chosen, it has none yet.
  marks() {
    return this.isChoosing ? { span: null, other: this.state.span } : this.state;
  }

  set(state) {
    if (state !== this.state) this.isChoosing = false;
    this.state = state;
    const { columns } = this.profile.times;
    const [from, to] = state.span ?? [0, columns];
    this.from.value = secondsText(from * this.seconds);
    this.to.value = secondsText(to * this.seconds);
    this.all.hidden = state.span === null;
    this.compare.hidden = state.span === null;
    const isComparing = this.isChoosing || state.other !== null;
    this.compare.textContent = isComparing ? 'Do not compare' : 'Compare with another span';
  }

  tell(map, isTime) {
    const { columns, columnNs } = this.profile.times;
    const words = [sidesText(this.profile, this.state) || spanText(this.profile, [0, columns])];
    if (this.isChoosing) words.push('choose the other span');
    if (columnNs > 1e9) words.push(`columns of ${formatDuration(columnNs)}`);
    if (map?.untimed > 0n) words.push(`${formatAmount(map.untimed, isTime)} at an unknown time`);
    this.text.textContent = words.join('; ');
  }
}

// To the millisecond, as fields show them.
function secondsText(seconds) {
  return String(Number(seconds.toFixed(3)));
}

// Whole columns that a span of seconds lies in, and at least one. What the fields show of a column is that column.
export function columnsOf(fromSeconds, toSeconds, seconds, columns) {
  const rounding = 0.0006 / seconds;
  const from = Math.min(Math.max(Math.floor(fromSeconds / seconds + rounding), 0), columns - 1);
  const to = Math.min(Math.max(Math.ceil(toSeconds / seconds - rounding), from + 1), columns);
  return [from, to];
}
