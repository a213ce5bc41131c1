// Regular expressions that take no more than linear time, as RE2 has them: from the text that somebody types, or that a
// link brings, to an automaton that matcher.mjs runs. What cannot be had in linear time, back references and what looks
// ahead or behind, is refused, and so is what becomes too large. Pure functions.
//
// Known: . [a-z] [^a-z] \d \D \w \W \s \S \b \B ^ $ (x) (?:x) (?<name>x) x|y x* x+ x? x{2} x{2,} x{2,5}, also with a ?
// behind what repeats, \n \t \r \f \v \0 \x1b \u2026, and \ before what is no letter and no digit.

const MOST_LETTERS = 1000; // which also bounds how deep groups are
const MOST_PIECES = 2000; // once all that is repeated is written out

// What stands between two characters.
export const BETWEEN = { begin: 0, end: 1, edge: 2, inside: 3 };

export const isWord = (code) =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95;
const isDigit = (code) => code >= 48 && code <= 57;
const isSpace = (code) => /\s/.test(String.fromCharCode(code));
const not = (has) => (code) => !has(code);

const SETS = { d: isDigit, D: not(isDigit), w: isWord, W: not(isWord), s: isSpace, S: not(isSpace) };
const CONTROLS = { n: 10, t: 9, r: 13, f: 12, v: 11, 0: 0 };

// Without capital letters their case does not matter. Throws an Error for people.
// {states, first, isCaseless}. A state is {has(code), cost, to}, {between, to}, {to: [state...]} that needs no
// character, or {isEnd}.
export function automatonOf(text) {
  if (text.length > MOST_LETTERS) throw new Error(`it has more than ${MOST_LETTERS} letters`);
  const isCaseless = !/[A-Z]/.test(text);
  const tree = new RegexParser(text, isCaseless).parse();
  const states = [{ isEnd: true }];
  const first = placeBefore(tree, 0, states, { pieces: 0 });
  return { states, first, isCaseless };
}

// The state that the part of the tree begins with, which leads to `next`.
function placeBefore(tree, next, states, made) {
  if (++made.pieces > MOST_PIECES) throw new Error('it repeats too much');
  const place = (part, to) => placeBefore(part, to, states, made);
  const add = (state) => states.push(state) - 1;
  if (tree.all) return tree.all.reduceRight((to, part) => place(part, to), next);
  if (tree.any) return add({ to: tree.any.map((part) => place(part, next)) });
  if (!tree.repeated) return add({ ...tree, to: next });
  let at = next;
  if (tree.most === Infinity) {
    const ways = [next];
    at = add({ to: ways });
    ways.push(place(tree.repeated, at));
  } else {
    for (let i = tree.least; i < tree.most; ++i) at = add({ to: [place(tree.repeated, at), next] });
  }
  for (let i = 0; i < tree.least; ++i) at = place(tree.repeated, at);
  return at;
}

// A tree of {all: [...]}, {any: [...]}, {repeated, least, most}, {has, cost: how many it looks at} and {between}.
class RegexParser {
  constructor(text, isCaseless) {
    this.text = text;
    this.isCaseless = isCaseless;
    this.at = 0;
  }

  parse() {
    const tree = this.choice();
    if (this.at < this.text.length) throw new Error("')' closes nothing");
    return tree;
  }

  take(text) {
    if (!this.text.startsWith(text, this.at)) return false;
    this.at += text.length;
    return true;
  }

  // What a regular expression, which looks at this place alone, finds here.
  takeMatch(sticky) {
    sticky.lastIndex = this.at;
    const match = sticky.exec(this.text);
    if (match) this.at += match[0].length;
    return match;
  }

  choice() {
    const any = [this.sequence()];
    while (this.take('|')) any.push(this.sequence());
    return any.length === 1 ? any[0] : { any };
  }

  sequence() {
    const all = [];
    while (this.at < this.text.length && !'|)'.includes(this.text[this.at])) all.push(this.repeated(this.one()));
    return { all };
  }

  // However much it takes is the same to who only asks whether there is a match.
  repeated(one) {
    const match = this.takeMatch(/(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y);
    if (!match) return one;
    const [, sign, from, comma, to] = match;
    if (sign) return { repeated: one, least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Infinity };
    const least = Number(from);
    const most = comma === '' ? least : to === '' ? Infinity : Number(to);
    if (least > most) throw new Error('it repeats from more to less');
    return { repeated: one, least, most };
  }

  one() {
    if (this.takeMatch(/[*+?]|\{\d+(?:,\d*)?\}/y)) throw new Error('there is nothing to repeat');
    if (this.take('(')) return this.group();
    if (this.take('[')) return this.set();
    if (this.take('^')) return { between: BETWEEN.begin };
    if (this.take('$')) return { between: BETWEEN.end };
    if (this.take('.')) return { has: (code) => code !== 10, cost: 1 };
    if (this.take('\\b')) return { between: BETWEEN.edge };
    if (this.take('\\B')) return { between: BETWEEN.inside };
    return { has: this.folded(this.letter()), cost: 1 };
  }

  group() {
    if (this.takeMatch(/\?(?:<?[=!])/y)) throw new Error('it looks ahead or behind, which is not supported');
    if (this.take('?') && !this.takeMatch(/:|P?<\w+>/y)) throw new Error("'(?' is not followed by ':' or '<name>'");
    const tree = this.choice();
    if (!this.take(')')) throw new Error("a '(' is not closed");
    return tree;
  }

  set() {
    const isNot = this.take('^');
    const parts = [];
    while (!this.take(']')) {
      if (this.at >= this.text.length) throw new Error("a '[' is not closed");
      const low = this.letter(true);
      const isRange = low.code !== undefined && /^-[^\]]/.test(this.text.slice(this.at, this.at + 2));
      parts.push(isRange ? this.range(low.code) : low);
    }
    const has = (code) => parts.some((part) => part.has(code));
    const folded = this.folded({ has });
    return { has: isNot ? not(folded) : folded, cost: Math.max(parts.length, 1) };
  }

  range(low) {
    this.take('-');
    const high = this.letter(true).code;
    if (high === undefined || low > high) throw new Error('a range of letters ends before it begins');
    return { has: (code) => code >= low && code <= high };
  }

  // {has(code), code: if it is one}
  letter(isInSet = false) {
    const is = (code) => ({ code, has: (other) => other === code });
    if (!this.take('\\')) return is(this.text.charCodeAt(this.at++));
    const hex = this.takeMatch(/x([\da-f]{2})|u([\da-f]{4})/iy);
    if (hex) return is(parseInt(hex[1] ?? hex[2], 16));
    if (this.at >= this.text.length) throw new Error("it ends with a '\\'");
    const letter = this.text[this.at++];
    if (SETS[letter]) return { has: SETS[letter] };
    if (CONTROLS[letter] !== undefined) return is(CONTROLS[letter]);
    if (isInSet && letter === 'b') return is(8);
    if (/[a-z\d]/i.test(letter)) throw new Error(`'\\${letter}' is not supported`);
    return is(letter.charCodeAt(0));
  }

  // What is looked at has no capital letters then.
  folded({ has }) {
    if (!this.isCaseless) return has;
    return (code) => {
      const capital = String.fromCharCode(code).toUpperCase();
      return has(code) || (capital.length === 1 && has(capital.charCodeAt(0)));
    };
  }
}
