// Text into the clipboard. A page that a server sends without TLS has no clipboard of its own: there, a text is selected
// and copied as people do it.

// Returns whether it is there now.
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text);
  }
}

function copySelected(text) {
  const focused = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'aside';
  document.body.append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  focused?.focus();
  return isDone;
}

// As a file that the browser saves.
export function saveText(name, type, text) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
