// Filters: which there are, with a button that takes each away, and a form for another one. Functions that are left out
// of stacks stand beside them.
import { FRAME_KEY } from './frames.mjs';
import { groupColumn, groupOf, usefulGroups } from './labels.mjs';
import { element } from './tree.mjs';
import { valueOf } from './rows.mjs';
import { labelAmounts } from './totals.mjs';

const MOST_TEXTS = 500;

export class Filters {
  // on: {change(filters), hide(names)}
  constructor(profile, form, list, on) {
    this.profile = profile;
    this.list = list;
    this.on = on;
    this.key = form.querySelector('#filter-key');
    this.text = form.querySelector('#filter-text');
    this.key.append(...usefulGroups(profile).map(({ key, title }) => element('option', { value: key }, title)));
    this.key.addEventListener('change', () => this.fill());
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.add(event.submitter?.value === 'not');
    });
  }

  set(view, { filters, hidden, value }) {
    this.view = view;
    this.filters = filters;
    this.isTime = valueOf(value).isTime;
    this.fill();
    const without = (list, i) => list.filter((_, at) => at !== i);
    this.list.replaceChildren(
      ...filters.map((filter, i) => chip(wordsOf(filter), filter.text, () => this.change(without(filters, i)))),
      ...hidden.map((name, i) => chip('left out: ', name, () => this.on.hide(without(hidden, i)))),
    );
  }

  // The texts of the chosen label, those with most first.
  fill() {
    const { key } = this;
    const known = labelAmounts(this.view, key.value, this.isTime);
    const texts = groupColumn(this.profile, key.value).texts;
    const options = known
      .slice(0, MOST_TEXTS)
      .map(({ text, amount }) => element('option', { value: text }, `${text} (${amount})`));
    const old = this.text.value;
    this.text.replaceChildren(...options);
    if (texts.includes(old)) this.text.value = old;
    if (this.text.selectedIndex < 0 && options.length > 0) this.text.selectedIndex = 0;
  }

  add(not) {
    const filter = { key: this.key.value, text: this.text.value, not };
    if (this.text.selectedIndex >= 0) this.change([...this.filters, filter]);
  }

  change(filters) {
    const texts = filters.map((filter) => JSON.stringify(filter));
    this.on.change(filters.filter((filter, i) => texts.indexOf(texts[i]) === i));
  }
}

function wordsOf({ key, not }) {
  const what = key === FRAME_KEY ? 'stacks with' : groupOf(key).title;
  return `${not ? 'without' : 'only'} ${what} `;
}

function chip(what, text, remove) {
  const button = element('button', { type: 'button', 'aria-label': `remove the filter ${what}${text}` }, '×');
  button.addEventListener('click', remove);
  return element('li', {}, what, element('bdi', {}, text), ' ', button);
}
