// The same tree as text that can be read aloud and walked with the keys: role "tree", as the ARIA practices describe
// it.
import { formatAmount, formatPercent } from './format.mjs';
import { errorWords } from './errors.mjs';
import { KINDS } from './kinds.mjs';
import { nodeChange, ratioWords, signed, wayWords } from './change.mjs';

const FIRST_CHILDREN = 50;

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made && !key.startsWith('aria')) {
      made[key] = value;
    } else {
      made.setAttribute(key, value);
    }
  }
  made.append(...children);
  return made;
}

export class TreeView {
  // on: {zoom(node), select(node)}
  constructor(root, on) {
    this.root = root;
    this.on = on;
    root.addEventListener('keydown', (event) => this.key(event));
    root.addEventListener('click', (event) => this.click(event));
  }

  set(view, zoom, matches, isTime) {
    Object.assign(this, { view, zoom, matches, isTime });
    const top = this.item(zoom, 1, 1, 1);
    this.root.replaceChildren(top);
    top.tabIndex = 0;
    this.expand(top);
  }

  item(node, level, position, size) {
    const { view } = this;
    const kind = node === 0 ? '' : KINDS[view.kind(view.frame[node])].word;
    const words = [view.isWaker[node] === 1 && kind === '' ? 'waker' : kind, view.isInlined(node) ? 'inlined' : ''];
    const item = element(
      'li',
      { role: 'treeitem', tabIndex: -1, 'aria-level': level, 'aria-posinset': position, 'aria-setsize': size },
      element(
        'span',
        { className: this.matches?.[node] === 1 ? 'line match' : 'line' },
        ...this.figures(node),
        element('bdi', { className: 'name' }, view.nodeName(node)),
        element('span', { className: 'kind' }, words.filter((word) => word !== '').join(', ')),
      ),
    );
    item.dataset.node = node;
    if (view.childrenOf(node).length > 0) item.setAttribute('aria-expanded', 'false');
    return item;
  }

  figures(node) {
    const { view, isTime } = this;
    const cell = (className, text) => element('span', { className }, text);
    if (view.before === null) {
      const share = formatPercent(view.total[node], view.total[this.zoom]);
      const error = view.variance === null ? [] : [cell('error', errorWords(view.error(node), view.total[node]).trim())];
      return [cell('amount', formatAmount(view.exact(node), isTime)), ...error, cell('share', share)];
    }
    const change = nodeChange(view, node);
    return [
      cell('amount', signed(change.change, isTime, view.scale)),
      cell('share', ratioWords(change)),
      cell('way', wayWords(change, isTime, view.scale)),
    ];
  }

  // A chain of only children is opened at once.
  expand(item) {
    for (let at = item; at?.getAttribute('aria-expanded') === 'false'; ) {
      at.setAttribute('aria-expanded', 'true');
      const group = element('ul', { role: 'group' });
      at.append(group);
      this.fill(at, group, FIRST_CHILDREN);
      at = group.children.length === 1 ? group.firstElementChild : null;
    }
  }

  fill(item, group, count) {
    const children = this.view.childrenOf(Number(item.dataset.node));
    const level = Number(item.getAttribute('aria-level')) + 1;
    const items = Array.from(children.slice(0, count), (child, i) => this.item(child, level, i + 1, children.length));
    if (children.length > count) {
      const text = `${children.length - count} more`;
      const more = element('li', { role: 'treeitem', tabIndex: -1, 'aria-level': level, className: 'more' }, text);
      more.dataset.count = count * 4;
      items.push(more);
    }
    group.replaceChildren(...items);
  }

  more(item) {
    const group = item.parentElement;
    const at = group.children.length - 1;
    this.fill(group.parentElement, group, Number(item.dataset.count));
    this.focus(group.children[at]);
  }

  collapse(item) {
    item.setAttribute('aria-expanded', 'false');
    item.querySelector(':scope > ul')?.remove();
  }

  toggle(item) {
    if (item.dataset.count) return this.more(item);
    if (item.getAttribute('aria-expanded') === 'true') return this.collapse(item);
    return this.expand(item);
  }

  focus(item) {
    this.root.querySelector('[tabindex="0"]')?.setAttribute('tabindex', '-1');
    item.tabIndex = 0;
    item.focus();
    if (item.dataset.node) this.on.select(Number(item.dataset.node));
  }

  click(event) {
    const item = event.target.closest('[role=treeitem]');
    if (item === null) return;
    this.focus(item);
    this.toggle(item);
  }

  key(event) {
    const item = event.target.closest('[role=treeitem]');
    if (item === null || event.altKey || event.ctrlKey || event.metaKey) return;
    const isOpen = item.getAttribute('aria-expanded') === 'true';
    const all = Array.from(this.root.querySelectorAll('[role=treeitem]'));
    const at = all.indexOf(item);
    const moves = {
      ArrowDown: () => all[at + 1],
      ArrowUp: () => all[at - 1],
      Home: () => all[0],
      End: () => all[all.length - 1],
      ArrowRight: () => (isOpen ? all[at + 1] : void this.expand(item)),
      ArrowLeft: () => (isOpen ? void this.collapse(item) : item.parentElement.closest('[role=treeitem]')),
      ' ': () => void this.toggle(item),
      Enter: () => void (item.dataset.count ? this.more(item) : this.on.zoom(Number(item.dataset.node))),
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    const next = moves[event.key]();
    if (next) this.focus(next);
  }
}
