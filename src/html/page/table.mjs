// The table of functions: themselves, and with what they call; and of one of them, who calls it and what it calls.
import { formatAmount, formatExact, formatPercent } from './format.mjs';
import { functions, neighbours } from './sandwich.mjs';
import { element } from './tree.mjs';

const MOST_LINES = 200;

export class FunctionTable {
  // on: {choose(frame)}
  constructor(root, on) {
    this.root = root;
    this.on = on;
    this.bySelf = true;
  }

  set(view, zoom, matcher, frame, isTime) {
    Object.assign(this, { view, zoom, matcher, frame, isTime });
    this.list = functions(view, zoom);
    this.show();
  }

  show() {
    const { matcher, view } = this;
    const isMatch = ({ frame }) => matcher.test(view.name(frame)) || matcher.test(view.module(frame));
    const list = this.list.filter((line) => matcher === null || isMatch(line));
    if (this.bySelf) list.sort((a, b) => (a.self === b.self ? 0 : a.self < b.self ? 1 : -1));
    const parts = [];
    if (this.frame >= 0) parts.push(...this.around());
    parts.push(this.table(list));
    this.root.replaceChildren(...parts);
  }

  around() {
    const { callers, callees } = neighbours(this.view, this.zoom, this.frame);
    return [
      element('h2', {}, 'Around ', element('bdi', {}, this.view.name(this.frame))),
      element('div', { className: 'sandwich' }, this.side('Callers', callers), this.side('Callees', callees)),
    ];
  }

  side(title, list) {
    const lines = list.slice(0, MOST_LINES).map(({ frame, total }) => this.line(frame, [total]));
    const head = element('tr', {}, ...['Total', 'Share', title].map((text) => element('th', { scope: 'col' }, text)));
    return element(
      'table',
      { className: 'functions', id: title.toLowerCase() },
      element('caption', {}, list.length === 0 ? `${title}: none` : `${title}: ${list.length}`),
      element('thead', {}, head),
      element('tbody', {}, ...lines),
    );
  }

  table(list) {
    const heads = [
      this.sorter('Self', true),
      element('th', { scope: 'col' }, 'Share'),
      this.sorter('Total', false),
      element('th', { scope: 'col' }, 'Share'),
      element('th', { scope: 'col' }, 'Function'),
    ];
    const lines = list.slice(0, MOST_LINES).map(({ frame, self, total }) => this.line(frame, [self, total]));
    const first = list.length > MOST_LINES ? `the first ${MOST_LINES} of ` : '';
    const caption = `${first}${list.length} functions`;
    return element(
      'table',
      { className: 'functions', id: 'all-functions' },
      element('caption', {}, caption),
      element('thead', {}, element('tr', {}, ...heads)),
      element('tbody', {}, ...lines),
    );
  }

  sorter(title, bySelf) {
    const button = element('button', { type: 'button' }, title);
    button.addEventListener('click', () => {
      this.bySelf = bySelf;
      this.show();
    });
    const sort = this.bySelf === bySelf ? 'descending' : 'none';
    return element('th', { scope: 'col', 'aria-sort': sort }, button);
  }

  line(frame, amounts) {
    const whole = this.view.total[this.zoom];
    const cells = amounts.flatMap((amount) => [
      element('td', { title: formatExact(amount, this.isTime) }, formatAmount(amount, this.isTime)),
      element('td', {}, formatPercent(amount, whole)),
    ]);
    return element('tr', {}, ...cells, element('td', { className: 'name' }, this.nameOf(frame)));
  }

  nameOf(frame) {
    if (frame < 0) return '(none: the outermost)';
    const module = this.view.module(frame);
    const button = element('button', { type: 'button' }, element('bdi', {}, this.view.name(frame)));
    button.addEventListener('click', () => this.on.choose(frame));
    return element('span', {}, button, module === '' ? '' : element('bdi', { className: 'module' }, ` ${module}`));
  }
}
