// Links to the source, by the templates that the page was made with (src/html/source_link.h). The names of files are
// those that targets have: they are escaped, and whatever they are, a link has the scheme and the host of its template.

// Or null. links: [{prefix, url}]
export function sourceLink(links, { file, line }) {
  const link = links.find(({ prefix }) => isBelow(file, prefix));
  if (link === undefined) return null;
  const filled = (path, number) => link.url.replace(/%[fl]/g, (mark) => (mark === '%f' ? path : String(number)));
  try {
    const made = new URL(filled(escapedPath(file.slice(link.prefix.length)), Math.max(line, 1)));
    const meant = new URL(filled('x', 1));
    return made.protocol === meant.protocol && made.host === meant.host && isToOpen(made) ? made.href : null;
  } catch {
    return null; // no address, or half a character in the name
  }
}

function isBelow(file, prefix) {
  return file.startsWith(prefix) && (prefix === '' || prefix.endsWith('/') || file[prefix.length] === '/');
}

// Without a slash at its start.
function escapedPath(path) {
  const steps = [];
  for (const step of path.split('/')) {
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(encodeURIComponent(step));
  }
  return steps.join('/');
}

function isToOpen({ protocol }) {
  return !['javascript:', 'vbscript:', 'data:', 'blob:', 'filesystem:'].includes(protocol);
}
