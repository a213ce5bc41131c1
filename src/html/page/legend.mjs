// What the colors of the bars say: those of files, with their names, or those of kinds.
import { element } from './tree.mjs';

// Takes away what no bar of this profile can have.
export function fitLegend(root, { frames, header, nodes }) {
  const kinds = new Set(frames.kinds);
  for (const item of root.querySelectorAll('[data-kind]')) item.hidden = !kinds.has(Number(item.dataset.kind));
  root.querySelector('[data-of=samples]').hidden = !header.samples;
  root.querySelector('[data-of=inlined]').hidden = !nodes.inlined.includes(1);
}

// files: as modules.mjs ranks them, or null where kinds have the colors. What is of kinds alone has data-by="kind".
export function showLegend(root, files) {
  root.classList.toggle('files', files !== null);
  for (const item of root.querySelectorAll('[data-by=file]')) item.remove();
  for (const item of root.querySelectorAll('[data-by=kind]')) item.hidden = files !== null;
  if (files === null) return;
  const item = (rank, ...words) => {
    const made = element('li', {}, element('i', { className: `file${rank}` }), ...words);
    made.dataset.by = 'file';
    return made;
  };
  const items = files.names.map((name, rank) => item(rank, name === '' ? 'in no file' : element('bdi', {}, name)));
  if (files.hasOthers) items.push(item(files.names.length, 'other files'));
  root.prepend(...items);
}
