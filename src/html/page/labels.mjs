// What rows can be grouped and filtered by: a label of the profile's, or something made of labels. Each gives every row
// a code, and each code a text.

const NONE = (what) => `[no ${what}]`;

// Threads of a pool are one: "worker-12" and "worker-7" are "worker-*".
export function foldDigits(text) {
  return text.replace(/\d+/g, '*');
}

// Digits behind a letter belong to the name of a program: "python3" and "cc1plus" stay what they are.
export function foldNumbers(text) {
  return text.replace(/(?<![\p{L}\d])\d+/gu, '*');
}

export const GROUPS = [
  { key: 'process', title: 'process' },
  { key: 'command', title: 'command', label: 'process', fold: () => foldNumbers },
  { key: 'thread', title: 'thread', label: 'comm', fold: threadFold },
  { key: 'name', title: 'thread, by its whole name', label: 'comm' },
  { key: 'tid', title: 'thread, by its number', label: 'tid' },
  { key: 'cause', title: 'cause', label: 'wait' },
  { key: 'syscall', title: 'system call', label: 'syscall' },
  { key: 'container', title: 'container', label: 'container' },
  { key: 'pod', title: 'pod', label: 'pod' },
  { key: 'unit', title: 'unit', label: 'unit' },
  { key: 'cgroup', title: 'control group', label: 'cgroup' },
  { key: 'kind', title: 'kind of wait', label: 'kind' },
  { key: 'idle', title: 'pattern of waiting for work', label: 'idle' },
];

export function groupOf(key) {
  return GROUPS.find((group) => group.key === key);
}

// {codes, texts} of a key of GROUPS.
export function groupColumn(profile, key) {
  profile.groupColumns ??= new Map();
  if (!profile.groupColumns.has(key)) profile.groupColumns.set(key, makeColumn(profile, key));
  return profile.groupColumns.get(key);
}

// In two recordings that are compared, processes go by their commands, and names have no numbers.
const NOT_COMPARED = ['process', 'name', 'tid'];

// Those that say something about this profile.
export function usefulGroups(profile) {
  return GROUPS.filter(({ key }) => {
    if (profile.before && NOT_COMPARED.includes(key)) return false;
    const { texts } = groupColumn(profile, key);
    return ['process', 'command', 'thread', 'cause', 'syscall'].includes(key) || texts.length > 1;
  });
}

function makeColumn(profile, key) {
  const group = groupOf(key);
  if (key === 'process') return processColumn(profile);
  const { codes, texts } = profile.labels.get(group.label);
  const named = texts.map((text) => (text === '' ? NONE(group.title.replace(/,.*/, '')) : text));
  if (key === 'cause') nameRunning(named);
  return merged(codes, group.fold ? named.map(group.fold(profile)) : named);
}

// A thread that is called like a program keeps the digits that such names keep: "cc1plus".
export function threadFold(profile) {
  const programs = new Set(profile.labels.get('process').texts);
  return (text) => (programs.has(text) ? foldNumbers(text) : foldDigits(text));
}

// Only what ran has no cause.
function nameRunning(texts) {
  texts[0] = 'on a CPU';
}

function processColumn(profile) {
  const columns = ['process', 'pid', 'image'].map((name) => profile.labels.get(name));
  const texts = [];
  const index = new Map();
  const codes = new Uint32Array(profile.rows.count);
  for (let row = 0; row < codes.length; ++row) {
    const [name, pid, image] = columns.map((column) => column.texts[column.codes[row]]);
    const text = `${name || NONE('name')} (${pid}${image === '' ? '' : `, program ${Number(image) + 1}`})`;
    if (!index.has(text)) index.set(text, texts.push(text) - 1);
    codes[row] = index.get(text);
  }
  return { codes, texts };
}

// Codes of texts that differ; only those that rows have.
function merged(codes, texts) {
  const index = new Map();
  const result = [];
  const mapped = new Int32Array(texts.length).fill(-1);
  const out = new Uint32Array(codes.length);
  for (let row = 0; row < codes.length; ++row) {
    const code = codes[row];
    if (mapped[code] < 0) {
      const text = texts[code];
      if (!index.has(text)) index.set(text, result.push(text) - 1);
      mapped[code] = index.get(text);
    }
    out[row] = mapped[code];
  }
  return { codes: out, texts: result };
}
