// Usage: terminal_page.mjs < TEXT > PAGE: what a terminal shows, as tmux capture-pane -e has it, as a page for shoot.mjs.
import { readFileSync } from 'node:fs';

const CLASSES = { 1: 'bold', 2: 'dim', 7: 'reverse', 31: 'red', 34: 'blue' };
const COLORS = new Set(['31', '34', '39']); // of which there is one; 39: none
const escaped = (text) => text.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]);

let styles = new Set();
function take(codes) {
  for (const code of codes.split(';')) {
    if (code === '' || code === '0') styles = new Set();
    if (COLORS.has(code)) COLORS.forEach((other) => styles.delete(CLASSES[other]));
    if (CLASSES[code]) styles.add(CLASSES[code]);
  }
}

const text = readFileSync(0, 'utf8').replace(/\n+$/, '');
const parts = text.split(/\u001b\[([0-9;]*)m/).map((part, i) => {
  if (i % 2 === 1) return take(part) ?? '';
  return part === '' ? '' : `<span class="${[...styles].join(' ')}">${escaped(part)}</span>`;
});
process.stdout.write(`<!doctype html><html lang="en" data-ready="true"><meta charset="utf-8"><title>offcpu top</title><style>
body { margin: 0; padding: 12px; background: #16181c; }
pre { margin: 0; color: #e6e8eb; font: 14px/17px 'DejaVu Sans Mono', monospace; }
.bold { font-weight: bold; } .dim { color: #9aa0a8; } .red { color: #ff8a9a; } .blue { color: #8fbcff; }
.reverse { background: #e6e8eb; color: #16181c; } .reverse.red { background: #ff8a9a; } .reverse.blue { background: #8fbcff; }
</style><pre>${parts.join('')}</pre></html>
`);
