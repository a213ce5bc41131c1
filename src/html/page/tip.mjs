// The words at the pointer: what is there, in a few lines, the first of which is a name. Screen readers read the same
// elsewhere.
import { element } from './tree.mjs';

const DISTANCE = 14; // from the pointer, in pixels
const MARGIN = 6; // from the edges of the window

export class Tip {
  constructor(root) {
    this.root = root;
    window.addEventListener('scroll', () => this.hide(), { capture: true, passive: true });
  }

  // At a point of the window.
  show([name, ...lines], { clientX, clientY }) {
    const { root } = this;
    root.replaceChildren(element('bdi', { className: 'name' }, name), ...lines.map((text) => element('div', {}, text)));
    root.hidden = false;
    const { width, height } = root.getBoundingClientRect();
    const { left, top } = tipPlace({ clientX, clientY }, { width, height }, window.innerWidth, window.innerHeight);
    root.style.left = `${left}px`;
    root.style.top = `${top}px`;
  }

  hide() {
    this.root.hidden = true;
  }
}

// Below the pointer and to its right, or on the other side where the window ends; never out of it.
export function tipPlace({ clientX, clientY }, { width, height }, innerWidth, innerHeight) {
  const along = (at, size, room) => {
    const behind = at + DISTANCE;
    const place = behind + size + MARGIN <= room ? behind : at - DISTANCE - size;
    return Math.max(MARGIN, place);
  };
  return { left: Math.min(along(clientX, width, innerWidth), Math.max(MARGIN, innerWidth - width - MARGIN)),
    top: along(clientY, height, innerHeight) };
}
