// The colors of bars, by what a frame is (KIND) or by the file that it is in (`files`, those with most first, the last
// one of all others), for a light and for a dark screen. Text has a contrast of at least 4.5
// to 1 with each; a test computes it. No color says anything alone: kinds also differ in their edges, parts of time in
// their patterns. In two recordings that are compared, bars have the color of their change (`changes`, from -3 to 3 as
// change.mjs has it), and its sign before their names. In the heat map, causes have the colors of `causes`, those with
// most in all of it the first ones, the more of them the more there is; words say what is pointed at.
import { KINDS } from './kinds.mjs';

const LIGHT = {
  kinds: KINDS.map(({ light }) => light),
  files: ['#f5cd9a', '#c3e3a1', '#f2e38c', '#9fdcd2', '#f0b7a8', '#d3cd9c', '#eadfd6'],
  text: '#111111',
  match: '#ffa3e0',
  edge: '#3a3a3a',
  line: '#ffffff',
  selected: '#111111',
  blocked: '#7a4a12',
  runnable: '#b00020',
  cpu: '#14661f',
  strip: '#ffffff',
  changes: ['#73a9ff', '#a5c8ff', '#d6e6ff', '#ececec', '#ffdcd5', '#ffb0a3', '#ff7d6b'],
  found: '#6a00a8',
  chosen: '#111111',
  before: '#8a8a8a',
  after: '#4a4a4a',
  ground: '#ffffff',
  ink: '#16181c',
  nothing: '#f2f3f5',
  causes: ['#0060b0', '#c44d00', '#00805a', '#a8387e', '#8a6d00', '#5b4bc4', '#a31621', '#5c6370'],
};

const DARK = {
  kinds: KINDS.map(({ dark }) => dark),
  files: ['#6b4715', '#3d5a1c', '#5f5410', '#1b5850', '#74382a', '#55512a', '#4f453d'],
  text: '#ffffff',
  match: '#8c1f6d',
  edge: '#d0d0d0',
  line: '#16181c',
  selected: '#ffd54a',
  blocked: '#e3a45c',
  runnable: '#ff8a9a',
  cpu: '#7ddc8c',
  strip: '#16181c',
  changes: ['#2a6be0', '#2450a0', '#27406b', '#3d3d3d', '#6b3029', '#9a3526', '#cc3524'],
  found: '#ffc4f6',
  chosen: '#ffd54a',
  before: '#8a8a8a',
  after: '#d0d0d0',
  ground: '#16181c',
  ink: '#f2f3f5',
  nothing: '#24272d',
  causes: ['#58b0ff', '#ff9552', '#3fd6a4', '#f48fcf', '#e8cf4a', '#b1a6ff', '#ff7b86', '#b9bec7'],
};

export function colorsOf(isDark) {
  return isDark ? DARK : LIGHT;
}

// `share` of the second color, the rest of the first.
export function mixed(one, other, share) {
  const parts = [1, 3, 5].map((at) => {
    const [a, b] = [one, other].map((color) => parseInt(color.slice(at, at + 2), 16));
    return Math.round(a + (b - a) * share);
  });
  return `rgb(${parts.join(' ')})`;
}

// The contrast ratio of two colors "#rrggbb", as WCAG 2 defines it.
export function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

function luminance(color) {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const c = parseInt(color.slice(at, at + 2), 16) / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
