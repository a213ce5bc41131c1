// The graph as it is drawn, as a picture for documents: SVG without a script, in which a bar's words are its title. Names
// are text there, too. Pure functions.
import { fitted } from './format.mjs';
import { KINDS } from './kinds.mjs';

const LEVEL_PIXELS = 18;
const LETTER_PIXELS = 7.3; // of the font below
const EDGE_PIXELS = 4;

const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
// What XML does not know at all is left out.
const escapedXml = (text) =>
  text.replace(/[&<>"']/g, (c) => escapes[c]).replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '');

// bars: as layOut makes them; words(node): of each bar; title: of all of it; color(node)
export function svgText(view, bars, { width, isFlame, title, words, color, colors }) {
  const height = (bars.levels + 1) * LEVEL_PIXELS + EDGE_PIXELS;
  const lines = bars.node.map((node, i) => {
    const level = isFlame ? bars.levels - 1 - bars.level[i] : bars.level[i];
    const at = { x: bars.x[i], y: (level + 1) * LEVEL_PIXELS, width: Math.max(bars.width[i] - 1, 0.5) };
    return svgBar(view, node, at, { words, fill: color(node) });
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, DejaVu Sans Mono, monospace" font-size="12" fill="${colors.text}">`,
    `<title>${escapedXml(title)}</title>`,
    `<rect width="100%" height="100%" fill="${colors.ground}"/>`,
    `<text x="${EDGE_PIXELS}" y="13" fill="${colors.ink}">${escapedXml(title)}</text>`,
    ...lines,
    '</svg>',
  ].map((line) => `${line}\n`).join('');
}

function svgBar(view, node, { x, y, width }, { words, fill }) {
  const isFunction = node !== 0 && KINDS[view.kind(view.frame[node])].isFunction;
  const label = fitted(view.nodeName(node), Math.floor((width - 2 * EDGE_PIXELS) / LETTER_PIXELS), isFunction);
  const text = label === '' ? '' : `<text x="${(x + EDGE_PIXELS).toFixed(1)}" y="${y + 13}">${escapedXml(label)}</text>`;
  const place = `x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${LEVEL_PIXELS - 1}"`;
  return `<g><title>${escapedXml(words(node))}</title><rect ${place} fill="${fill}"/>${text}</g>`;
}
