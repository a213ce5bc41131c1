// What can be done with the bar that is selected: its buttons in the panel beside the graph.
import { FRAME_KEY } from './frames.mjs';
import { copyText } from './copy.mjs';
import { placeText } from './places.mjs';
import { stackText } from './export.mjs';

// The key of filters by a node, or null: all of it and who woke are none.
export function filterKey(view, node, { groups }) {
  if (node === 0 || view.isWaker[node] === 1) return null;
  return view.isGroup(view.frame[node]) ? (groups[view.path(node).length - 1] ?? null) : FRAME_KEY;
}

export class Actions {
  // on: {filter({key, text, not}), hide(name), around(frame)}
  constructor(root, on) {
    this.on = on;
    this.status = root.querySelector('output');
    this.buttons = new Map(Array.from(root.querySelectorAll('button'), (button) => [button.value, button]));
    root.addEventListener('click', (event) => this.run(event.target.closest('button')?.value));
  }

  set(view, node, state) {
    Object.assign(this, { view, node, state });
    this.status.textContent = '';
    const key = filterKey(view, node, state);
    for (const name of ['only', 'not']) this.buttons.get(name).disabled = key === null;
    const isFunction = key === FRAME_KEY;
    this.buttons.get('hide').disabled = !isFunction;
    this.buttons.get('around').disabled = !isFunction || view.isWaker[node] === 1;
    this.buttons.get('place').disabled = view.places(node).length === 0;
  }

  async run(name) {
    const { view, node, state, on } = this;
    const text = view?.nodeName(node);
    if (name === 'name') this.tellCopied(await copyText(text));
    if (name === 'place') this.tellCopied(await copyText(placeText(view.places(node)[0])));
    if (name === 'stack') this.tellCopied(await copyText(stackText(view, node, state.value)));
    if (name === 'only' || name === 'not') on.filter({ key: filterKey(view, node, state), text, not: name === 'not' });
    if (name === 'hide') on.hide(text);
    if (name === 'around') on.around(view.frame[node]);
  }

  tellCopied(isDone) {
    this.status.textContent = isDone ? 'copied' : 'the browser does not allow it';
  }
}
