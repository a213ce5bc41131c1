// What of the profile is shown, and how, as the part of the address behind '#': so it can be kept, sent to somebody and
// gone back to.
import { FRAME_KEY } from './frames.mjs';
import { groupColumn } from './labels.mjs';

// A reader can distinguish so many processes at a glance. If there are more, those of one command are one.
const MOST_PROCESSES = 30;

export function defaultState(profile) {
  const processes = groupColumn(profile, 'process').texts.length;
  return {
    tab: 'graph',
    layout: 'icicle',
    colors: 'module',
    showsHeat: true,
    value: profile.header.value,
    groups: [processes > MOST_PROCESSES || profile.before ? 'command' : 'process', 'thread'],
    filters: [],
    hidden: [], // names of functions that are left out of stacks
    mergesRecursion: false,
    hideIdle: profile.header.hide_idle,
    fold: true,
    wakers: true,
    whole: false, // stacks of those that woke
    normalised: true, // of what is compared
    query: '',
    zoom: [],
    frame: -1,
    span: null, // of time: [from, to), in columns
    other: null, // span, which `span` is compared with
  };
}

const escaped = (text) => {
  try {
    return encodeURIComponent(text);
  } catch {
    return ''; // half a character, which is no text
  }
};

// Only what differs from the default state.
export function toHash(state, defaults) {
  const parts = [];
  const put = (key, value, other) => {
    if (value !== other) parts.push(`${key}=${value}`);
  };
  put('tab', state.tab, defaults.tab);
  put('layout', state.layout, defaults.layout);
  put('colors', state.colors, defaults.colors);
  put('heat', Number(state.showsHeat), Number(defaults.showsHeat));
  put('value', state.value, defaults.value);
  put('by', state.groups.join(','), defaults.groups.join(','));
  put('idle', Number(!state.hideIdle), Number(!defaults.hideIdle));
  put('fold', Number(state.fold), Number(defaults.fold));
  put('merge', Number(state.mergesRecursion), Number(defaults.mergesRecursion));
  put('wakers', Number(state.wakers), Number(defaults.wakers));
  put('whole', Number(state.whole), Number(defaults.whole));
  put('normalised', Number(state.normalised), Number(defaults.normalised));
  put('find', escaped(state.query), '');
  put('frame', state.frame, -1);
  put('span', state.span?.join('-'), undefined);
  put('with', state.other?.join('-'), undefined);
  for (const { key, text, not } of state.filters) parts.push(`${not ? 'not' : 'only'}=${key}:${escaped(text)}`);
  for (const name of state.hidden) parts.push(`hide=${escaped(name)}`);
  if (state.zoom.length > 0) parts.push(`zoom=${state.zoom.map(escaped).join('/')}`);
  return parts.join('&');
}

// Whatever stands there: what is not understood is left out.
export function fromHash(hash, defaults, known) {
  const state = { ...defaults, filters: [], hidden: [], zoom: [] };
  for (const part of hash.replace(/^#/, '').split('&')) {
    const at = part.indexOf('=');
    if (at > 0) readPart(part.slice(0, at), part.slice(at + 1), state, known);
  }
  if (state.span === null) state.other = null;
  return state;
}

const unescaped = (text) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
};

function readPart(key, value, state, known) {
  const oneOf = (list, name) => {
    if (list.includes(value)) state[name] = value;
  };
  if (key === 'tab') oneOf(['graph', 'tree', 'functions'], 'tab');
  if (key === 'layout') oneOf(['icicle', 'flame'], 'layout');
  if (key === 'colors') oneOf(['module', 'kind'], 'colors');
  if (key === 'heat') state.showsHeat = value === '1';
  if (key === 'value') oneOf(known.values, 'value');
  if (key === 'by') state.groups = value.split(',').filter((group) => known.groups.includes(group));
  if (key === 'idle') state.hideIdle = value !== '1';
  if (key === 'fold') state.fold = value === '1';
  if (key === 'merge') state.mergesRecursion = value === '1';
  if (key === 'hide') state.hidden.push(unescaped(value));
  if (key === 'wakers') state.wakers = value === '1';
  if (key === 'whole') state.whole = value === '1';
  if (key === 'normalised') state.normalised = value === '1';
  if (key === 'find') state.query = unescaped(value);
  if (key === 'frame' && /^\d+$/.test(value)) state.frame = Number(value);
  if (key === 'span') state.span = spanOf(value, known);
  if (key === 'with') state.other = spanOf(value, known);
  if (key === 'zoom') state.zoom = value.split('/').map(unescaped);
  if (key === 'only' || key === 'not') readFilter(value, key === 'not', state, known);
}

function spanOf(value, known) {
  const [from, to] = /^\d{1,12}-\d{1,12}$/.test(value) ? value.split('-').map(Number) : [0, 0];
  return from < to && to <= known.columns ? [from, to] : null;
}

function readFilter(value, not, state, known) {
  const at = value.indexOf(':');
  const key = value.slice(0, Math.max(at, 0));
  if (key === FRAME_KEY || known.groups.includes(key)) state.filters.push({ key, text: unescaped(value.slice(at + 1)), not });
}

// A node as what leads to it: the number of each frame, which is the same whenever this file is opened, or the text of
// each group.
export function tokensOf(view, node) {
  return view.path(node).map((at) => {
    const frame = view.frame[at];
    return view.isGroup(frame) ? `=${view.name(frame)}` : String(frame);
  });
}

// The node, or the last one on the way to it that there is.
export function nodeOf(view, tokens) {
  let node = 0;
  for (const token of tokens) {
    const isThis = (child) => {
      const frame = view.frame[child];
      return view.isGroup(frame) ? token === `=${view.name(frame)}` : token === String(frame);
    };
    const next = view.childrenOf(node).find(isThis);
    if (next === undefined) return node;
    node = next;
  }
  return node;
}
