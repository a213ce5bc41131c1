// What a bar can be: the FrameClass of its frame (src/html/stack_tree.h), in its order, and what differs between them but
// the looks of the legend (page.css) and of edges (flame.mjs).
//
// `word` stands with a name that is read aloud. If there is little room, a function loses its arguments (shortName).
export const KINDS = [
  { name: 'user', isFunction: true, word: '', light: '#f5cd9a', dark: '#6b4715', sentence: 'a function in user mode' },
  {
    name: 'kernel',
    isFunction: true,
    word: 'kernel',
    light: '#a9cbee',
    dark: '#1e4672',
    sentence: 'a function of the kernel',
  },
  {
    name: 'interpreted',
    isFunction: true,
    word: 'interpreted',
    light: '#b5dfa6',
    dark: '#2a561f',
    sentence: 'an interpreted function',
  },
  {
    name: 'missing',
    isFunction: false,
    word: 'missing',
    light: '#e4e4e4',
    dark: '#474747',
    sentence: 'stands for missing frames',
  },
  {
    name: 'waker',
    isFunction: false,
    word: '',
    light: '#d8c2f0',
    dark: '#523375',
    sentence: 'what follows ended the wait',
  },
  { name: 'thread', isFunction: false, word: '', light: '#f1efdc', dark: '#39382a', sentence: 'a group' },
];

export const KIND = Object.fromEntries(KINDS.map(({ name }, kind) => [name, kind]));
