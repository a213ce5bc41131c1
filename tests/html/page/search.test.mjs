import assert from 'node:assert/strict';
import test from 'node:test';
import { Matcher } from '../../../src/html/page/matcher.mjs';
import { compile } from '../../../src/html/page/search.mjs';

// What JavaScript says of the same, which backtracks.
function agrees(query, text) {
  const expected = new RegExp(query, /[A-Z]/.test(query) ? '' : 'i').test(text);
  assert.equal(new Matcher(query).test(text), expected, `${JSON.stringify(query)} in ${JSON.stringify(text)}`);
}

const TEXTS = [
  '', 'a', 'b', 'ab', 'aab', 'abab', 'abc', 'aaaa', 'ba', 'A', 'aB', 'ABC', '_a', 'a_b', 'a b', ' a ', 'a.b', 'a-b',
  'a]b',
  'a+b', '{{closure}}', 'core::ops::{impl#3}::call', 'std::map<int, char>::find(int)', '__schedule',
  'schedule.part.0',
  'do_syscall_64', 'x2', 'x22', 'x222', '0', '9z', 'é', 'É', 'aé', 'ß', '\n', 'a\nb', '\t', '\u001b[31m', '\u2026',
  '\u{1f980}', '\\', '^', '$', '(', '[', '|',
];

const QUERIES = [
  'a', 'ab', 'B', 'aB', '.', '..', 'a.b', '^a', 'a$', '^a$', '^$', '$^', 'a|b', '^(a|b)$', '|a', 'a|', '(|a)b',
  '()', '(a)(b)',
  'a*', 'a+', 'a?', 'a*?b', 'a+?b', 'a??b', '(a*)*', '(a+)+$', '(a|a)*b', '(a*b*)*$', '(ab)*$', '^(ab)+$',
  '(?:ab)+', '(?<n>a)b',
  'a{2}', 'a{2,}', 'a{0,1}b', '^a{2,3}$', 'a{0}b', '^(a{2}){2}$', '(a?){3}b', 'x2{1,2}$', 'a{', 'a{b', '{{c',
  '{impl#\\d}', '}', ']',
  '[ab]', '[^ab]', '[a-c]+$', '[^a-z]', '[]', '[^]', '[\\]]', '[-a]', '[a-]', '[a-b-]', '[\\d_]', '[^\\w]',
  '[\\w.]+$', '[\\b]', '[.]',
  '\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '^\\w+$', '^\\W*$', '\\d{2}', '\\ba', 'a\\b', '\\Ba', 'a\\B', '\\b',
  '\\B', '^\\b', '\\b$',
  '\\.', '\\+', '\\\\', '\\^', '\\$', '\\(', '\\[', '\\|', '\\/', '\\-', '\\n', '\\t', '\\x1b', '\\u2026', '\\x61',
  '\\x41', '[\\x41-\\x43]',
  '^entry_SYSCALL', '^__schedule$', '::find\\(', 'map<.*>::find', '\\.part\\.\\d+$', 'é', 'É', '[à-ö]', 'ß', '^.$',
  '^[^a]$', '(^a|b$)', '(^|_)a',
  'a^', '$a', '(a$)*b', '(?:a|ab)(?:c|bcd)?$', '(a|b|ab)*c', '\u{1f980}',
];

test('what is found is what JavaScript finds', () => {
  for (const query of QUERIES) for (const text of TEXTS) agrees(query, text);
});

// From a number, always the same.
function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test('also where both are made at random', () => {
  const next = numbers(1);
  const one = (list) => list[next(list.length)];
  const expression = (depth) => {
    if (depth === 0) return one(['a', 'b', '.', '[ab]', '[^a]', '\\b', '\\B', '^', '$', '_', ' ', '']);
    const inner = () => expression(depth - 1);
    return one([
      () => inner() + inner(),
      () => `(?:${inner()}|${inner()})`,
      () => `(?:${inner()})${one(['*', '+', '?', '{2}', '{1,2}', '{0,2}'])}`,
      inner,
    ])();
  };
  for (let i = 0; i < 5000; ++i) {
    const text = Array.from({ length: next(8) }, () => one(['a', 'b', 'A', '_', ' '])).join('');
    agrees(expression(4), text);
  }
});

test('what is asked of one text after another is the same', () => {
  const matcher = new Matcher('(a|b)*c$');
  for (const text of [...TEXTS, ...TEXTS]) assert.equal(matcher.test(text), /(a|b)*c$/i.test(text), text);
});

test('what hangs others takes no time', () => {
  const name = `${'a'.repeat(49_000)}+`;
  const queries = ['(a+)+$', '(a|a)*$', '(a*)*$', '(a+a+)+$', '^(([a-z])+.)+[A-Z]([a-z])+$', 'a*a*a*a*a*b',
    '(.*a){20}$', '(a?){100}a{100}$'];
  for (const query of queries) {
    const matcher = new Matcher(query);
    matcher.test(name);
    assert.ok(matcher.work < 2 * name.length + 1000 * 1000, `${query} takes ${matcher.work}`);
  }
});

// A state for each of the ways in which the last fifteen letters may lie.
test('what has very many states ends, and says so', () => {
  const next = numbers(2);
  const text = () => Array.from({ length: 4096 }, () => 'ab'[next(2)]).join('');
  const matcher = new Matcher('(a|b)*a(a|b){14}c', { work: 1_000_000 });
  let asked = 0;
  while (!matcher.isSpent && asked < 100) {
    assert.equal(matcher.test(text()), false);
    ++asked;
  }
  assert.ok(matcher.isSpent && asked > 1, `${asked}`);
  assert.ok(matcher.work < 1_000_000 + 10_000, 'it ends at once');
  assert.equal(matcher.test(`${'a'.repeat(20)}c`), false, 'nothing is found any more');
  assert.ok(new Matcher('(a|b)*a(a|b){14}c').test(`${text()}${'a'.repeat(20)}c`), 'there is room for what is of use');
});

test('sets of many letters are more work', () => {
  const work = (query) => {
    const matcher = new Matcher(query);
    matcher.test('x');
    return matcher.work;
  };
  assert.equal(work('[acegik]') - work('[a]'), 5 * 4 * 2, 'of two steps: at the letter, and at the end');
});

test('steps that are forgotten are made again', () => {
  const matcher = new Matcher('(a|b)*a(a|b){8}c', { known: 100 });
  const next = numbers(3);
  const text = Array.from({ length: 10_000 }, () => 'ab'[next(2)]).join('');
  assert.equal(matcher.test(text), false);
  assert.ok(matcher.step > 1000, 'of 512 places, each with two ways');
  assert.ok(matcher.known <= 100 + 10, 'a step leads to one more place');
  assert.equal(matcher.test(`${text}a${'b'.repeat(8)}c`), true);
});

test('what is not supported, or too large, is said', () => {
  for (const [query, why] of [
    ['(', /regular expression.*'\(' is not closed/], ['a)', /'\)' closes nothing/], ['[a', /'\[' is not closed/],
    ['*a', /nothing to repeat/],
    ['a**', /nothing to repeat/], ['{2}', /nothing to repeat/], ['a{3,2}', /from more to less/],
    ['(?=a)', /looks ahead or behind/],
    ['(?!a)', /looks ahead/], ['(?<=a)', /looks ahead/], ['(?<!a)', /looks ahead/], ['(?i)a', /not followed/],
    ['(a)\\1', /'\\1' is not/],
    ['\\k<n>', /'\\k' is not/], ['\\p{L}', /'\\p' is not/], ['\\', /ends with a/], ['[b-a]', /range/],
    ['[a-\\d]', /range/],
    ['x'.repeat(1001), /more than 1000 letters/], ['('.repeat(1000), /not closed/], ['a{9999999999}', /too much/],
    ['((a{99}){99}){99}', /too much/],
    ['((){999999}){999999}', /too much/], ['((a{0,99}){0,99}){0,99}', /too much/],
  ]) {
    assert.match(compile(query).error, why, query);
  }
  assert.ok(compile('x'.repeat(1000)).matcher.test('x'.repeat(1000)), 'the limit itself');
  assert.ok(compile(`${'('.repeat(499)}a${')'.repeat(499)}`).matcher.test('a'), 'however deep');
  assert.ok(compile('a{1998}').matcher.test('a'.repeat(1998)), 'with what is around it, 2000 pieces');
  assert.match(compile('a{1999}').error, /too much/);
});
