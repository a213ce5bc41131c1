// The table of functions: themselves, and with what they call; and of one of them, who calls it and what it calls.
import { changedFunctions, changedNeighbours, nodeChange, ratioWords, shareWords, signed } from './change.mjs';
import { formatAmount, formatExact, formatPercent } from './format.mjs';
import { OWNER, owners } from './owner.mjs';
import { errorWords } from './errors.mjs';
import { functions, neighbours } from './sandwich.mjs';
import { element } from './tree.mjs';
import { formatScaled } from './scale.mjs';

const MOST_LINES = 200;

export class FunctionTable {
  // on: {choose(frame)}
  constructor(root, on) {
    this.root = root;
    this.on = on;
    this.sorted = null; // the name of a column; null: the program's own functions come first
  }

  set(view, zoom, matcher, frame, isTime) {
    Object.assign(this, { view, zoom, matcher, frame, isTime });
    this.list = view.before === null ? functions(view, zoom) : changedFunctions(view, zoom);
    this.show();
  }

  show() {
    const { matcher, view } = this;
    const isMatch = ({ frame }) => matcher.test(view.name(frame)) || matcher.test(view.module(frame));
    const list = this.list.filter((line) => matcher === null || isMatch(line));
    const parts = [];
    if (this.frame >= 0) parts.push(...this.around());
    parts.push(this.table(list));
    this.root.replaceChildren(...parts);
  }

  around() {
    const { view, zoom, frame } = this;
    const { callers, callees } =
      view.before === null ? neighbours(view, zoom, frame) : changedNeighbours(view, zoom, frame);
    return [
      element('h2', {}, 'Around ', element('bdi', {}, view.name(frame))),
      element('div', { className: 'sandwich' }, this.side('Callers', callers), this.side('Callees', callees)),
    ];
  }

  // [{title, name, text(line), exact(line), order(line)}]: those with an order can be sorted by. `what` is 'self' or
  // 'total', which the first column is of.
  columns(what, title) {
    return this.view.before === null ? this.amountColumns(what, title) : this.changeColumns(what, title);
  }

  amountColumns(what, title) {
    const { view, zoom, isTime } = this;
    const whole = view.total[zoom];
    return [
      {
        title,
        name: title,
        text: (line) => `${formatAmount(line[what], isTime)}${errorWords(line.errors?.[what], line[what])}`,
        exact: (line) => formatExact(line[what], isTime),
        order: (line) => line[what],
      },
      { title: 'Share', text: (line) => formatPercent(line[what], whole) },
    ];
  }

  changeColumns(what, title) {
    const { view, isTime } = this;
    const whole = nodeChange(view, 0).before;
    const scaled = (amount) => formatScaled(amount, isTime, view.scale);
    const column = (side, text, order = (line) => line[what][side]) => {
      return { title: `${title} ${side}`, name: `${title} ${side}`, text, order };
    };
    return [
      column(
        'change',
        (line) => signed(line[what].change, isTime, view.scale),
        (line) => Math.abs(line[what].change),
      ),
      { title: 'of it', text: (line) => ratioWords(line[what]) },
      { title: 'of all', text: (line) => shareWords(line[what].change, whole) },
      column('before', (line) => scaled(line[what].before)),
      column('after', (line) => scaled(line[what].after)),
    ];
  }

  side(title, list) {
    const columns = this.columns('total', 'Total');
    const heads = [...columns.map((column) => column.title), title];
    const lines = list.slice(0, MOST_LINES).map((line) => this.line(line, columns));
    const head = element('tr', {}, ...heads.map((text) => element('th', { scope: 'col' }, text)));
    return element(
      'table',
      { className: 'functions', id: title.toLowerCase() },
      element('caption', {}, list.length === 0 ? `${title}: none` : `${title}: ${list.length}`),
      ...(list.length === 0 ? [] : [element('thead', {}, head), element('tbody', {}, ...lines)]),
    );
  }

  table(list) {
    const columns = [...this.columns('total', 'Total'), ...this.columns('self', 'Self')];
    const by = columns.find(({ name }) => name !== undefined && name === this.sorted);
    const sorted = sortedLines(list, (by ?? columns[0]).order, by === undefined ? this.ownersOf() : null);
    const heads = columns.map((column) => this.head(column, column === by));
    const lines = sorted.slice(0, MOST_LINES).map((line) => this.line(line, columns));
    const first = list.length > MOST_LINES ? `the first ${MOST_LINES} of ` : '';
    const second = this.view.before !== null && this.view.scale.isRate ? ', per second' : '';
    const own = { title: 'Function', name: null, order: true, tip: "the program's own functions first, by total" };
    return element(
      'table',
      { className: 'functions', id: 'all-functions' },
      element('caption', {}, `${first}${list.length} functions${second}`),
      element('thead', {}, element('tr', {}, ...heads, this.head(own, by === undefined, 'other'))),
      element('tbody', {}, ...lines),
    );
  }

  head({ title, name, order, tip = '' }, isSorted, way = 'descending') {
    if (!order) return element('th', { scope: 'col' }, title);
    const button = element('button', { type: 'button', title: tip }, title);
    button.addEventListener('click', () => {
      this.sorted = name;
      this.show();
    });
    return element('th', { scope: 'col', 'aria-sort': isSorted ? way : 'none' }, button);
  }

  ownersOf() {
    const { profile } = this.view;
    profile.owners ??= owners(profile.frames);
    return profile.owners;
  }

  line(line, columns) {
    const cells = columns.map(({ text, exact }) => element('td', exact ? { title: exact(line) } : {}, text(line)));
    return element('tr', {}, ...cells, element('td', { className: 'name' }, this.nameOf(line.frame)));
  }

  nameOf(frame) {
    if (frame < 0) return '(none: the outermost)';
    const module = this.view.module(frame);
    const button = element('button', { type: 'button' }, element('bdi', {}, this.view.name(frame)));
    button.addEventListener('click', () => this.on.choose(frame));
    return element('span', {}, button, module === '' ? '' : element('bdi', { className: 'module' }, ` ${module}`));
  }
}

// The largest first; where owners are given, by frame, those of the program first.
export function sortedLines(list, amount, ownerOfFrame) {
  const owner = ({ frame }) => (ownerOfFrame === null ? OWNER.program : ownerOfFrame[frame]);
  return [...list].sort((a, b) => owner(a) - owner(b) || descending(amount(a), amount(b)));
}

function descending(a, b) {
  if (a === b) return 0;
  return a < b ? 1 : -1;
}
