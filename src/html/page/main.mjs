// The page: a state, what follows from it, and how it changes. The address has the state, so that each change is one
// step back.
import { decode, unpack } from './data.mjs';
import { Actions } from './actions.mjs';
import { Controls } from './controls.mjs';
import { Filters } from './filters.mjs';
import { FlameGraph } from './flame.mjs';
import { HeatMap, spoken } from './heat.mjs';
import { FunctionTable } from './table.mjs';
import { Tip } from './tip.mjs';
import { TreeView, element } from './tree.mjs';
import { buildView } from './view.mjs';
import { buildWakers, hasWakers } from './wakers.mjs';
import { causeButtons, hiddenText, recordingText, summaryText, totalText, undrawnText } from './totals.mjs';
import { changeWords, scaledChange } from './change.mjs';
import { closeMenusOnLeave } from './menus.mjs';
import { compile, search } from './search.mjs';
import { defaultState, fromHash, nodeOf, toHash, tokensOf } from './state.mjs';
import { formatAmount, formatPercent } from './format.mjs';
import { SaveMenu } from './save.mjs';
import { SpanForm } from './span.mjs';
import { named } from './frames.mjs';
import { plumbingFrames } from './plumbing.mjs';
import { rankedModules } from './modules.mjs';
import { scaleOf } from './scale.mjs';
import { selectRows, usefulValues, valueOf } from './rows.mjs';
import { showLinks } from './live.mjs';
import { showDetails, tipLines, told } from './details.mjs';
import { fitLegend, showLegend } from './legend.mjs';
import { sidesOf, sidesText } from './sides.mjs';
import { usefulGroups } from './labels.mjs';
import { wakersText } from './totals.mjs';

// What of the state makes another tree.
const OF_THE_VIEW = ['value', 'groups', 'filters', 'hidden', 'hideIdle', 'fold', 'mergesRecursion', 'wakers', 'normalised',
  'span', 'other'];

const at = (id) => document.getElementById(id);

class App {
  constructor(profile) {
    this.profile = profile;
    this.plumbing = plumbingFrames(profile.frames);
    this.modules = rankedModules(profile);
    this.known = {
      values: usefulValues(profile).map(({ name }) => name),
      groups: usefulGroups(profile).map(({ key }) => key),
      columns: profile.times?.columns ?? 0,
    };
    this.defaults = defaultState(profile);
    const zoom = (node) => this.change({ zoom: tokensOf(this.view, node) });
    const select = (node) => this.select(node);
    this.tip = new Tip(at('tip'));
    this.graph = new FlameGraph(at('graph'), { zoom, select, hover: (node, event) => this.hover(this.view, node, event) });
    this.wakers = new FlameGraph(at('wakers-graph'), {
      zoom: (node) => this.drawWakers(node),
      select: (node) => this.tell(this.wakers.view, node),
      hover: (node, event) => this.hover(this.wakers.view, node, event),
    });
    this.tree = new TreeView(at('tree'), { zoom, select });
    this.makePanels();
    if (profile.times !== null) this.showTimes();
    this.controls = new Controls(profile, document, {
      change: (part) => this.change(part),
      type: (query) => this.change({ query }, true),
    });
    fitLegend(at('legend'), profile);
    at('recording').textContent = recordingText(profile);
    at('summary').textContent = summaryText(profile);
    if (profile.before !== null) nameComparison();
    window.addEventListener('hashchange', () => this.read());
    document.addEventListener('keydown', (event) => this.key(event));
  }

  makePanels() {
    this.table = new FunctionTable(at('panel-functions'), { choose: (frame) => this.change({ frame }) });
    this.filters = new Filters(this.profile, at('filter'), at('filters'), {
      change: (filters) => this.change({ filters }),
      hide: (hidden) => this.change({ hidden }),
    });
    this.actions = new Actions(at('actions'), {
      filter: (filter) => this.filters.change([...this.state.filters, filter]),
      hide: (name) => this.change({ hidden: [...new Set([...this.state.hidden, name])] }),
      around: (frame) => this.change({ tab: 'functions', frame }),
    });
    this.save = new SaveMenu(at('save-folded'), at('save-svg'));
    closeMenusOnLeave(document);
  }

  showTimes() {
    at('when').hidden = false;
    this.spanForm = new SpanForm(this.profile, at('span'), {
      change: (part) => this.change(part),
      mark: () => this.showSpan(),
    });
    this.heat = new HeatMap(this.profile, at('heat'), at('heat-legend'), {
      span: (one) => this.spanForm.choose(one),
      tell: (lines, where) => this.tellHeat(lines, where),
    });
    at('heat-fold').addEventListener('click', () => this.change({ showsHeat: !this.state.showsHeat }));
  }

  tellHeat(lines, where) {
    if (lines === null) return this.tip.hide();
    at('heat-told').textContent = spoken(lines);
    this.tip.show(lines, where);
  }

  showSpan() {
    const { state } = this;
    at('heat-fold').setAttribute('aria-expanded', String(state.showsHeat));
    for (const id of ['heat', 'heat-legend']) at(id).hidden = !state.showsHeat;
    const { isTime } = valueOf(state.value);
    this.spanForm.set(state);
    this.heat.set(state, this.spanForm.marks(), isTime);
    this.spanForm.tell(this.heat.map, isTime);
  }

  // The state that the address names.
  read() {
    if (this.hash === location.hash.slice(1)) return;
    this.hash = location.hash.slice(1);
    this.show(fromHash(this.hash, this.defaults, this.known));
  }

  change(part, isReplaced = false) {
    const state = { ...this.state, ...part };
    this.hash = toHash(state, this.defaults);
    if (isReplaced) {
      location.replace(`#${this.hash}`);
    } else {
      location.hash = this.hash;
    }
    this.show(state);
  }

  show(state) {
    const old = this.state;
    this.state = state;
    this.tip.hide();
    this.controls.show(state);
    at('live').hidden = !this.profile.header.live;
    if (this.profile.header.live) showLinks(this.profile, at('live'), state.span);
    if (this.profile.times !== null) this.showSpan();
    const isSame = (key) => JSON.stringify(old?.[key]) === JSON.stringify(state[key]);
    const isSameView = OF_THE_VIEW.every(isSame);
    this.files = state.colors === 'module' ? this.modules : null;
    if (!isSameView) this.build();
    const zoom = nodeOf(this.view, state.zoom);
    if (!isSameView || zoom !== this.zoom) this.selected = zoom;
    this.zoom = zoom;
    this.find();
    this.showPath();
    this.showPanel();
    this.select(this.selected);
  }

  build() {
    const { profile, state } = this;
    const sides = sidesOf(profile, state);
    const selection = selectRows(profile, state, sides);
    this.skip = this.leftOut();
    const scale = sides.before === null ? null : scaleOf(sides, state.normalised);
    at('legend').hidden = scale !== null;
    at('legend-change').hidden = scale === null;
    this.view = buildView(profile, selection, {
      groups: state.groups,
      skip: this.skip,
      withWakers: state.wakers,
      isMerging: state.mergesRecursion,
      scale,
    });
    const words = [totalText(profile, selection, state.value, scale), sidesText(profile, state)];
    at('total').textContent = words.filter((text) => text !== '').join(', ');
    at('hidden').textContent = hiddenText(profile, selection, state.value, scale);
    at('causes').replaceChildren(
      ...causeButtons(this.view, state.value, (text) => {
        const others = this.state.filters.filter(({ key }) => key !== 'cause');
        this.change({ filters: [...others, { key: 'cause', text, not: false }] });
      }),
    );
    this.filters.set(this.view, state);
  }

  // By frame: 1 of those that stacks do not show.
  leftOut() {
    const { frames } = this.profile;
    const isHidden = named(frames, this.state.hidden);
    return this.state.fold ? isHidden.map((mark, frame) => mark | this.plumbing[frame]) : isHidden;
  }

  find() {
    const { query } = this.state;
    if (this.compiled?.query !== query) this.compiled = { query, ...compile(query) };
    const { matcher, error } = this.compiled;
    this.matcher = matcher ?? null;
    const found = this.matcher === null ? null : this.search(this.view, this.zoom);
    const isSpent = this.matcher?.isSpent ?? false;
    if (isSpent) this.matcher = null;
    this.matches = found?.nodes ?? null;
    at('query').setAttribute('aria-invalid', String(error !== undefined || isSpent));
    const wrong = error ?? (isSpent ? 'This regular expression takes too long' : '');
    at('found').textContent = found === null ? wrong : this.foundText(found.total);
  }

  // Null if it takes too long.
  search(view, zoom) {
    const found = search(view, this.matcher, zoom);
    return this.matcher.isSpent ? null : found;
  }

  foundText(total) {
    const { view, zoom } = this;
    const { isTime } = valueOf(this.state.value);
    if (view.before === null) {
      return `${formatAmount(total, isTime)} matched, ${formatPercent(total, view.total[zoom])}`;
    }
    const before = search(view.before, this.matcher, zoom).total; // of the same names
    return `${changeWords(scaledChange(view, before, total), isTime, view.scale)} matched`;
  }

  showPanel() {
    const { state, view, zoom } = this;
    const { isTime } = valueOf(state.value);
    at('wakers-panel').hidden = !state.wakers || !hasWakers(this.profile);
    showLegend(at('legend'), this.files);
    const look = { matches: this.matches, files: this.files, isFlame: state.layout === 'flame' };
    this.save.set(view, zoom, look, at('total').textContent, state.value);
    if (state.tab === 'graph') {
      this.graph.set(view, zoom, this.selected, look);
      if (this.graph.bars) at('undrawn').textContent = undrawnText(view, this.graph.bars, state.value);
    } else if (state.tab === 'tree') {
      this.tree.set(view, zoom, this.matches, isTime);
    } else {
      this.table.set(view, zoom, this.matcher, state.frame < this.profile.frames.count ? state.frame : -1, isTime);
    }
  }

  showPath() {
    const steps = [0, ...this.view.path(this.zoom)].map((node) => {
      const isLast = node === this.zoom;
      const button = element('button', { type: 'button' }, element('bdi', {}, this.view.nodeName(node)));
      if (isLast) button.setAttribute('aria-current', 'true');
      button.addEventListener('click', () => this.change({ zoom: tokensOf(this.view, node) }));
      return element('li', {}, button);
    });
    at('path').replaceChildren(...steps);
    at('path').parentElement.scrollLeft = at('path').scrollWidth; // the end of it says where one is
  }

  select(node) {
    this.selected = node;
    this.tell(this.view, node);
    this.showWakers();
  }

  tell(view, node) {
    showDetails(at('details-name'), at('details-list'), view, node, this.state.value);
    this.actions.set(view, node, this.state);
    at('told').textContent = told(view, node, valueOf(this.state.value).isTime);
  }

  // Shows below the graph the wakers of what is selected.
  showWakers() {
    const { state, view } = this;
    if (state.tab !== 'graph' || at('wakers-panel').hidden) return;
    const apart = state.groups.includes('process');
    const wakers = buildWakers(view, this.selected, { skip: this.skip, isWhole: state.whole, apart });
    at('wakers-title').textContent = wakersText(wakers, state.value);
    this.drawWakers(0, wakers);
  }

  drawWakers(zoom, view = this.wakers.view) {
    const matches = this.matcher === null ? null : (this.search(view, 0)?.nodes ?? null);
    this.wakers.set(view, zoom, zoom, { matches, files: this.files, isFlame: false });
  }

  // What is pointed at is shown once a frame, however fast the pointer moves.
  hover(view, node, event) {
    cancelAnimationFrame(this.pending);
    this.pending = requestAnimationFrame(() => {
      if (node >= 0 && node < view.count) this.tip.show(tipLines(view, node, this.state.value), event);
      else this.tip.hide();
    });
  }

  key(event) {
    const isText = ['INPUT', 'SELECT', 'TEXTAREA'].includes(event.target.tagName);
    if (event.key !== '/' || isText || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    at('query').focus();
  }
}

// What is different in a page that compares.
function nameComparison() {
  document.title = 'What has changed';
  at('title').textContent = 'What has changed';
}

async function start() {
  try {
    const app = new App(decode(await unpack(at('profile').textContent)));
    at('main').hidden = false;
    app.read();
    document.documentElement.dataset.ready = 'true';
  } catch (error) {
    at('error').hidden = false;
    at('error').textContent = `The profile cannot be shown: ${error.message}`;
    throw error;
  }
}

// The modules are also read by tests, where there is no page.
if (typeof document !== 'undefined') await start();
