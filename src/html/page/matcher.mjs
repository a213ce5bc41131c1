// Whether a regular expression is found in texts, in time linear in them, however it is made. The automaton of
// regex.mjs becomes, as far as the texts lead into it, one that is in one place at a time. There may be very many of
// those, so the work for all texts together has an end: a page must not hang because of what a link asks for.
import { BETWEEN, automatonOf, isWord } from './regex.mjs';

const LIMITS = {
  work: 50_000_000, // in letters: a second or two
  known: 1_000_000, // states and steps that are remembered
};
const STATE_WORK = 4; // of a state that a step looks at
const STEP_WORK = 40; // of a step that is not remembered, beside its states
const END = -1; // of a text
const FOUND = { next: null };
const BEFORE = { nothing: 0, word: 1, other: 2 };

export class Matcher {
  // Throws an Error for people.
  constructor(text, limits = {}) {
    Object.assign(this, automatonOf(text));
    this.limits = { ...LIMITS, ...limits };
    this.work = 0;
    this.results = new Map(); // by text
    this.reached = new Uint32Array(this.states.length); // the last step that has looked at each state
    this.left = new Uint32Array(this.states.length); // that has led to it
    this.step = 0;
    this.forget();
  }

  // False of all that is asked once there was too much to do.
  get isSpent() {
    return this.work > this.limits.work;
  }

  test(text) {
    let result = this.results.get(text);
    if (result === undefined) {
      result = this.isIn(this.isCaseless ? text.toLowerCase() : text);
      this.results.set(text, result);
    }
    return result;
  }

  isIn(text) {
    let place = this.placeOf(new Uint16Array(0), BEFORE.nothing);
    this.work += text.length;
    for (let i = 0; i <= text.length && !this.isSpent; ++i) {
      const code = i < text.length ? text.charCodeAt(i) : END;
      place = place.next.get(code) ?? this.go(place, code);
      if (place === FOUND) return true;
    }
    return false;
  }

  // A place is what is known before a character: the states that have been reached, without the first one, because a
  // match may begin anywhere, and whether a word, or all of the text, may begin here.
  forget() {
    this.places = new Map();
    this.known = 0;
  }

  placeOf(states, before) {
    const key = String.fromCharCode(before, ...states);
    let place = this.places.get(key);
    if (place === undefined) {
      place = { states, before, next: new Map() };
      this.places.set(key, place);
      this.known += states.length;
    }
    return place;
  }

  go(place, code) {
    const after = this.after(place, code);
    this.work += STEP_WORK;
    if (++this.known > this.limits.known) this.forget();
    const next = after === null ? FOUND : this.placeOf(after, isWord(code) ? BEFORE.word : BEFORE.other);
    place.next.set(code, next);
    return next;
  }

  // The states behind the character, in order, or null if there is a match before it.
  after(place, code) {
    const { states, reached, left } = this;
    const step = ++this.step;
    const pending = [this.first, ...place.states];
    const after = [];
    while (pending.length > 0) {
      const number = pending.pop();
      if (reached[number] === step) continue;
      reached[number] = step;
      const state = states[number];
      this.work += STATE_WORK * (state.cost ?? 1);
      if (state.isEnd) return null;
      if (state.has) {
        if (code === END || left[state.to] === step || !state.has(code)) continue;
        left[state.to] = step;
        after.push(state.to);
      } else if (state.between === undefined) {
        pending.push(...state.to);
      } else if (isBetween(state.between, place.before, code)) {
        pending.push(state.to);
      }
    }
    return Uint16Array.from(after).sort();
  }
}

function isBetween(what, before, code) {
  if (what === BETWEEN.begin) return before === BEFORE.nothing;
  if (what === BETWEEN.end) return code === END;
  return ((before === BEFORE.word) !== isWord(code)) === (what === BETWEEN.edge);
}
