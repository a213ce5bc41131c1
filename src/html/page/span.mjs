// The span that is shown, as text, and as two fields for those who know when: seconds since the recording began.
import { formatAmount, formatDuration } from './format.mjs';
import { spanText } from './times.mjs';

export class SpanForm {
  // on: {span([from, to] or null)}
  constructor(profile, form, on) {
    this.profile = profile;
    this.on = on;
    this.from = form.querySelector('#span-from');
    this.to = form.querySelector('#span-to');
    this.all = form.querySelector('#span-all');
    this.text = form.querySelector('#span-text');
    this.seconds = profile.times.columnNs / 1e9;
    for (const field of [this.from, this.to]) {
      field.step = this.seconds;
      field.max = profile.times.columns * this.seconds;
    }
    this.all.addEventListener('click', () => on.span(null));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.read();
    });
  }

  // Whole columns, and at least one.
  read() {
    const { columns } = this.profile.times;
    const from = Math.min(Math.max(Math.floor(Number(this.from.value) / this.seconds), 0), columns - 1);
    const to = Math.min(Math.max(Math.ceil(Number(this.to.value) / this.seconds), from + 1), columns);
    this.on.span([from, to]);
  }

  set(span, map, isTime) {
    const { columns, columnNs } = this.profile.times;
    const [from, to] = span ?? [0, columns];
    this.from.value = from * this.seconds;
    this.to.value = to * this.seconds;
    this.all.hidden = span === null;
    const words = [spanText(this.profile, [from, to])];
    if (columnNs > 1e9) words.push(`columns of ${formatDuration(columnNs)}`);
    if (map?.untimed > 0n) words.push(`of ${formatAmount(map.untimed, isTime)} it is not known when it was`);
    this.text.textContent = words.join('; ');
  }
}
