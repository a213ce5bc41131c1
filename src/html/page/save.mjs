// Saves what is shown as a file: folded stacks, or the graph as a picture.
import { colorsOf } from './colors.mjs';
import { barColor } from './paint.mjs';
import { foldedText } from './export.mjs';
import { layOut } from './layout.mjs';
import { saveText } from './copy.mjs';
import { svgText } from './svg.mjs';
import { tipLines } from './details.mjs';

const PICTURE_PIXELS = 1200; // how wide it is

export class SaveMenu {
  constructor(folded, picture) {
    folded.addEventListener('click', () => saveText('waits.folded', 'text/plain', foldedText(this.view, this.zoom)));
    picture.addEventListener('click', () => saveText('waits.svg', 'image/svg+xml', this.svg()));
  }

  // look: {matches, files, isFlame}; title: what the picture is of
  set(view, zoom, look, title, value) {
    Object.assign(this, { view, zoom, look, title, value });
  }

  // On white, as documents are.
  svg() {
    const { view, zoom, look, title, value } = this;
    const colors = colorsOf(false);
    return svgText(view, layOut(view, zoom, PICTURE_PIXELS), {
      width: PICTURE_PIXELS,
      isFlame: look.isFlame,
      title,
      words: (node) => tipLines(view, node, value).join('\n'),
      color: (node) => barColor(colors, view, node, look),
      colors,
    });
  }
}
