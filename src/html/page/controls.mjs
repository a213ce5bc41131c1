// The controls that choose what is shown: they say what was chosen, and show a state.
import { usefulGroups } from './labels.mjs';
import { usefulValues } from './rows.mjs';
import { element } from './tree.mjs';
import { hasWakers } from './wakers.mjs';

export class Controls {
  // on: {change(part of a state)}, {type(query)}
  constructor(profile, document, on) {
    this.profile = profile;
    this.at = (id) => document.getElementById(id);
    const options = (list) => list.map(([value, title]) => element('option', { value }, title));
    this.at('value').append(...options(usefulValues(profile).map(({ name, title }) => [name, title])));
    const groups = usefulGroups(profile).map(({ key, title }) => [key, title]);
    for (const id of ['by0', 'by1']) this.at(id).append(...options([['', 'nothing'], ...groups]));
    for (const id of ['wakers-label', 'whole-label']) this.at(id).hidden = !hasWakers(profile);
    this.at('controls').addEventListener('change', () => on.change(this.read()));
    this.at('controls').addEventListener('submit', (event) => event.preventDefault());
    this.at('search').addEventListener('submit', (event) => event.preventDefault());
    this.at('query').addEventListener('input', () => on.type(this.at('query').value));
    for (const tab of ['graph', 'tree', 'functions']) {
      this.at(`tab-${tab}`).addEventListener('click', () => on.change({ tab }));
    }
    this.at('tabs').addEventListener('keydown', (event) => this.keyOfTabs(event));
  }

  read() {
    const groups = [this.at('by0').value, this.at('by1').value].filter((key) => key !== '');
    return {
      value: this.at('value').value,
      groups: groups.filter((key, i) => groups.indexOf(key) === i),
      hideIdle: this.at('idle').checked,
      fold: this.at('fold').checked,
      mergesRecursion: this.at('recursion').checked,
      wakers: this.at('wakers').checked,
      whole: this.at('whole').checked,
      normalised: this.at('normalised').checked,
      layout: this.at('layout').value,
      colors: this.at('colors').value,
    };
  }

  show(state) {
    this.at('value').value = state.value;
    this.at('by0').value = state.groups[0] ?? '';
    this.at('by1').value = state.groups[1] ?? '';
    this.at('idle').checked = state.hideIdle;
    this.at('fold').checked = state.fold;
    this.at('recursion').checked = state.mergesRecursion;
    this.at('wakers').checked = state.wakers;
    this.at('whole').checked = state.whole;
    this.at('whole').disabled = !state.wakers;
    this.at('normalised').checked = state.normalised;
    this.at('normalised-label').hidden = this.profile.before === null && state.other === null;
    this.at('layout').value = state.layout;
    this.at('colors').value = state.colors;
    this.at('colors-label').hidden = this.profile.before !== null || state.other !== null;
    if (this.at('query').value !== state.query) this.at('query').value = state.query;
    for (const tab of ['graph', 'tree', 'functions']) {
      this.at(`tab-${tab}`).setAttribute('aria-selected', String(tab === state.tab));
      this.at(`tab-${tab}`).tabIndex = tab === state.tab ? 0 : -1;
      this.at(`panel-${tab}`).hidden = tab !== state.tab;
    }
  }

  keyOfTabs(event) {
    const tabs = Array.from(this.at('tabs').children);
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step === undefined) return;
    const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
    next.focus();
    next.click();
  }
}
