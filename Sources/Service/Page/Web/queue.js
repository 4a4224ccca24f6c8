// The queue: open jobs first, in the order in which they will run, then those that have ended.
import {action, ask, bar, copyable, enable, failed, fill, h, plain, renew, say, visible} from './dom.js';
import {get, send} from './api.js';
import {calmly, farm, learnRepairs, may, mayChange, mayRunNext, onFarm} from './farm.js';
import {because, jobActions, placeOf, priorityStepper, scheduleLink, scheduleOf, stateOf} from './jobs.js';
import {cell, list} from './list.js';
import * as live from './live.js';
import {count, isOpen, percent, plural, progress, sign, when, word} from './words.js';

const parts = [['', 'All'], ['open', 'Open'], ['waiting,held', 'Waiting'], ['running,starting', 'Running'], ['failed,stopped,work_left', 'Failed'], ['ended', 'Ended']];
const order = {running: 0, starting: 1, waiting: 2, held: 3};
/** Running jobs, then those that wait by their place, then held ones, then ended ones with the newest first. */
function compare(a, b) {
  const left = order[a.state] ?? 4, right = order[b.state] ?? 4;
  if (left !== right) return left - right;
  if (left === 2 && a.position !== b.position) return (a.position ?? 1e9) - (b.position ?? 1e9);
  return left < 4 ? a.id - b.id : b.id - a.id;
}

/** The filter's text as the parameters of a list: `label=show=night owner=uid:0 nightly*`. */
export function parameters(text, state) {
  const result = new URLSearchParams();
  if (state) result.set('state', state);
  for (const part of text.trim().split(/\s+/).filter(Boolean)) {
    const [, name, value] = /^(state|label|owner|name)[=:](.*)$/.exec(part) ?? [null, 'name', part.includes('*') ? part : `*${part}*`];
    result.append(name, value);
  }
  return result;
}

/** Whether a job is in a state of a filter. */
const isIn = (job, states) => !states || states.split(',').some(state => state === job.state || (state === 'open' && isOpen(job.state)) || (state === 'ended' && !isOpen(job.state)));

/** Whether all jobs in these states are loaded: open ones are shown in the order in which they run, and not as their pages come. */
const isWhole = states => states.split(',').every(state => state === 'open' || isOpen(state));

/** The list as somebody has left it, for the entry of the browser's history where it was. */
let left = null, entries = Date.now();

export function queueView(query, view) {
  let filter = query.get('q') ?? '', state = query.get('state') ?? '';
  // When something was told of a job, by a clock that counts what is asked and told.
  const told = new Map();
  // `cursor` leads to jobs older than `depth`, the last one of the pages that were looked at.
  let jobs = new Map(), cursor = null, depth = Infinity, total = 0, isLoading = false, isShown = false, version = 0, clock = 0;

  const search = h('input', {type: 'search', id: 'filter', placeholder: 'name, label=show=night, owner=…', 'aria-label': 'Filter the queue', value: filter, autocomplete: 'off', spellcheck: 'false'});
  const chips = h('div.chips', {role: 'group', 'aria-label': 'States'}, parts.map(([value, text]) =>
    h('button', {type: 'button', 'aria-pressed': String(value === state), onclick: event => { state = value; for (const chip of chips.children) chip.setAttribute('aria-pressed', String(chip === event.currentTarget)); change(); }}, text)));
  const number = h('span.number', {role: 'status'}), trouble = h('div');
  const table = list({
    label: 'Jobs', class: 'jobs', columns: ['State', 'Job', 'Progress, or why it waits', 'Priority', 'When', 'Actions'],
    key: job => job.id,
    open: job => { location.hash = placeOf(job); },
    make,
    nearEnd: () => { loadMore(); },
  });
  const bulk = bulkActions(() => ({filter, state}), () => whole.now());
  const empty = h('div.empty', {hidden: true});
  table.hidden = true;
  fill(view, h('div.tools', h('h1.unseen', 'Queue'), search, chips, number, bulk), trouble, table, empty);

  function make(first) {
    const state = cell('badge'), name = h('a.job-name'), tag = cell('quiet'), labels = h('span'), share = bar(0, 'Progress'), percents = h('span.percent', {'aria-hidden': 'true'}), why = cell('why'), time = cell('quiet time');
    const stepper = priorityStepper(first, taken), row = jobActions(first, taken);
    const cells = [h('span', state), h('span.what', name, tag, labels), h('span.progress', share, percents, why), h('span', stepper), h('span', time), h('span.end', row)];
    cells.update = job => {
      const news = farm.lives.get(job.run), isRunning = isOpen(job.state) && news !== undefined, shown = stateOf(job);
      state.className = `badge ${shown}`;
      state.say(`${sign(shown)} ${word(shown)}`);
      if (name.textContent !== job.name) fill(name, visible(job.name));
      name.setAttribute('href', placeOf(job));
      tag.say(`${job.id}`);
      const text = Object.entries(job.labels).map(([key, value]) => `${key}=${value}`);
      const schedule = scheduleOf(job);
      renew(labels, [schedule, text], () => [schedule ? scheduleLink(job, `◷\ufe0e ${schedule}`, {class: 'label', title: `submitted by the schedule ${plain(schedule)}`}) : null, text.slice(0, 3).map(one => h('span.label', visible(one)))]);
      labels.title = text.join(' ');
      share.hidden = percents.hidden = !isRunning;
      if (isRunning) { const {share: done} = progress(news); share.set(done); say(percents, percent(done)); }
      const words = because(job);
      why.say(words);
      why.title = words;
      time.say(when(job.ended ?? job.started ?? job.submitted));
      time.title = job.ended ? 'ended' : job.started ? 'started' : 'submitted';
      stepper.update(job);
      row.update(job);
    };
    cells.update(first);
    cells[3].stepper = stepper;
    cells[5].actions = row;
    return cells;
  }
  function keep(job) {
    told.set(job.id, ++clock);
    jobs.set(job.id, job);
    show();
  }
  /** A new job comes with the list, if the filter matches it. By then nobody clicks twice at a place where another row would be now. */
  function taken(job) {
    if (jobs.has(job.id)) keep({...jobs.get(job.id), ...job});
    soon();
  }
  function show() {
    table.show([...jobs.values()].sort(compare));
    say(number, plural(total, 'job'));
    table.hidden = !total && !jobs.size;
    if (bulk) bulk.hidden = table.hidden;
    empty.hidden = !table.hidden;
    if (!empty.hidden) showEmpty();
  }
  function showEmpty() {
    if (filter || state) { fill(empty, h('p', 'No job matches this filter.')); return; }
    const server = location.href.replace(/#.*$/, '');
    fill(empty,
      h('h2', 'This farm has no jobs yet'),
      may('submit') ? h('p', 'A job takes pictures from a folder of the farm, changes them, and writes the results to another folder. ', h('a', {href: '#/submit'}, 'Submit a job'), ': there is an example, and a preview shows what it would do.') : null,
      h('p', `${may('submit') ? 'Or submit' : 'Submit'} one from a terminal of this machine:`),
      copyable('penumbra submit job.yaml'),
      h('p', 'or from another program, with a token:'),
      copyable(`curl -H "Authorization: Bearer $PENUMBRA_TOKEN" ${server}api/v1/jobs -d '{"manifest": "/srv/pictures/job.yaml"}'`));
  }

  /**
   * Takes pages of lists, newest jobs first, that were asked for at `began`. Jobs below the last page stay as they are.
   * Everything is put together before it is shown: the list never gets shorter on the way, so nobody loses their place.
   */
  function take(lists, began) {
    const next = new Map();
    total = 0;
    for (const one of lists) {
      total += one.total;
      for (const job of one.jobs) next.set(job.id, job);
      const end = one.cursor ? one.jobs.at(-1)?.id ?? 0 : 0;
      for (const [id, job] of jobs) if (id < end && !next.has(id) && isIn(job, one.state)) next.set(id, job);
      if (!isWhole(one.state) && end <= depth) { cursor = one.cursor; depth = end; }
    }
    // What events have told since then is newer.
    for (const [id, time] of told) if (time > began && next.has(id) && jobs.has(id)) next.set(id, jobs.get(id));
    jobs = next;
    fill(trouble);
    view.removeAttribute('aria-busy');
    isShown = true;
    show();
  }
  const states = () => state ? [state] : ['open', 'ended'];
  const page = async (state, cursor, limit = 200) => {
    const asked = parameters(filter, state);
    asked.set('limit', limit);
    if (cursor) asked.set('cursor', cursor);
    return {...await get(`jobs?${asked}`), state};
  };
  /** Loads the newest jobs: with thousands, all of them are asked for only now and then. */
  async function loadNewest() {
    const mine = version, began = ++clock;
    const lists = await Promise.all(states().map(one => page(one)));
    if (mine === version) take(lists, began);
  }
  /** Loads all open jobs, and the others as far down as they were looked at. */
  async function load() {
    const mine = version, began = ++clock, wasShown = isShown;
    try {
      const lists = await Promise.all(states().map(one => page(one)));
      if (mine !== version) return;
      if (!isShown) take(lists, began);
      for (const one of lists) {
        while (one.cursor && one.jobs.length < 20_000 && one.jobs.at(-1).id > (isWhole(one.state) ? 0 : depth)) {
          const more = await page(one.state, one.cursor, 1000);
          if (mine !== version) return;
          one.jobs.push(...more.jobs);
          one.cursor = more.cursor;
        }
      }
      take(lists, began);
      if ([...jobs.values()].some(job => job.state === 'failed')) repairsSoon();
    } catch (error) {
      if (mine !== version) return;
      // What is shown stays, and the page says that it is old.
      if (wasShown) throw error;
      fill(trouble, failed(error, load));
    }
  }
  async function loadMore() {
    if (isLoading || !cursor) return;
    isLoading = true;
    const mine = version;
    try {
      const answer = await page(states().at(-1), cursor, 500);
      if (mine !== version) return;
      for (const job of answer.jobs) jobs.set(job.id, job);
      cursor = answer.cursor;
      depth = cursor ? answer.jobs.at(-1).id : 0;
      show();
    } catch (error) {
      if (mine !== version) return;
      cursor = null;
      fill(trouble, failed(error, whole.now));
    } finally {
      if (mine === version) isLoading = false;
    }
  }
  function change() {
    version++;
    isShown = isLoading = false;
    cursor = null;
    depth = Infinity;
    jobs = new Map();
    told.clear();
    const asked = new URLSearchParams();
    if (filter) asked.set('q', filter);
    if (state) asked.set('state', state);
    history.replaceState(history.state, '', asked.size ? `#/queue?${asked}` : '#/queue');
    load();
  }
  const changeSoon = calmly(change, 200);
  search.addEventListener('input', () => { filter = search.value; changeSoon(); });
  table.search(search);

  const repairsSoon = calmly(learnRepairs, 100);
  const refresh = calmly(loadNewest, 1200), whole = calmly(load, 30_000), soon = () => { refresh(); whole(); };
  const endings = [
    live.on('job', ({id, job}) => {
      const known = jobs.get(id);
      // Positions and reasons come with the next page of the list; what the event has is shown at once.
      if (known) keep({...job, waiting_for: known.waiting_for, position: known.position});
      soon();
    }),
    live.on('reset', whole.now), live.on('back', whole.now), onFarm(() => table.refresh()),
  ];
  const onChosen = body => () => { const job = table.chosen(), row = job && table.row(job.id); if (row) body(row.children[5].actions, row.children[3].stepper); };
  const key = name => onChosen(actions => actions.press(name));
  /** Somebody who comes back finds the list as it was, and what has changed meanwhile. */
  async function begin() {
    const before = left;
    left = null;
    if (before && before.session === farm.session && before.entry === history.state?.queue) {
      ({jobs, cursor, depth, total} = before);
      isShown = true;
      view.removeAttribute('aria-busy');
      show();
      table.goTo(before.place);
      entry = before.entry;
      whole.now();
      return;
    }
    history.replaceState({queue: entry}, '');
    await load();
  }
  let entry = ++entries;
  return {
    begin, title: 'Queue',
    close: () => {
      if (isShown) left = {jobs, cursor, depth, total, entry, session: farm.session, place: table.whereabouts()};
      version++;
      endings.forEach(end => end());
    },
    keys: {
      '/': () => { search.focus(); search.select(); }, n: key('n'), p: key('p'), h: key('h'), c: key('c'), r: key('r'),
      '+': onChosen((_, stepper) => stepper.press('+')), '-': onChosen((_, stepper) => stepper.press('-')),
    },
  };
}

/** One action for all jobs that the filter matches. The service counts first, and changes nothing if the number is another one then. */
function bulkActions(wanted, changed) {
  if (!may('submit')) return null;
  const nothing = {hold: 'no job waits', release: 'no job is held', run_next: 'no job waits', retry: 'no job has failed', cancel: 'no job is open'};
  const about = {hold: 'These are all that wait', release: 'These are all held jobs', run_next: 'These are all that wait', retry: 'These are all that did not succeed', cancel: 'These are all that wait or run'};
  const words = {hold: 'Hold', release: 'Release', ...mayRunNext() && {run_next: 'Run next'}, retry: 'Retry', cancel: 'Cancel'};
  // Each action is for jobs in these states alone.
  const open = 'held,waiting,starting,running', states = {hold: 'waiting', release: 'held', run_next: 'waiting', retry: 'failed,stopped,cancelled,skipped,work_left', cancel: open};
  const ended = 'done,failed,stopped,cancelled,skipped,work_left';
  const of = (action, chosen) => states[action].split(',').filter(one => !chosen || chosen.replace('open', open).replace('ended', ended).split(',').includes(one)).join();
  const select = h('select', {'aria-label': 'Action for all that match', onchange: () => { fill(outcome); enable(go.button, Boolean(select.value)); }}, h('option', {value: ''}, 'All of these jobs …'), Object.entries(words).map(([value, text]) => h('option', {value}, text)));
  const outcome = h('span', {role: 'status'});
  const go = action('Do it', async () => {
    fill(outcome);
    // The filter may be another one when the service has answered.
    const {filter, state} = wanted(), action = select.value, text = words[action], which = of(action, state);
    // Nothing stays chosen, whatever the answer is: another click is another decision.
    select.value = '';
    enable(go.button, false);
    if (!which) { fill(outcome, nothing[action]); return; }
    const body = {action, filter: parameters(filter, which).toString()};
    const {count: number} = await send('POST', 'jobs/actions', body, {patience: 120});
    if (!number) { fill(outcome, nothing[action]); return; }
    const sure = await ask(`${text} ${plural(number, 'job')}?`, `${about[action]}${mayChange({}) ? '' : ', are yours'}${filter ? ` and match “${filter}”` : ''}. Other jobs stay as they are.`, `${text} ${count(number)}`);
    if (!sure) return;
    const answer = await send('POST', 'jobs/actions', {...body, expect: number}, {patience: 120});
    fill(outcome, `${count(answer.changed.length + answer.submitted.length)} done${answer.refused.length ? `, ${count(answer.refused.length)} refused: ${answer.refused[0].detail}` : ''}`);
    changed();
  });
  enable(go.button, false);
  return h('span.bulk', select, go, outcome);
}
