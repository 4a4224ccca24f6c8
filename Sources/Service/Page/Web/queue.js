// The queue: open jobs first, in the order in which they will run, then those that have ended.
import {action, ask, bar, copyable, enable, failed, fill, h, say, visible} from './dom.js';
import {get, send} from './api.js';
import {calmly, farm, learnRepairs, may, onFarm} from './farm.js';
import {because, jobActions, placeOf, priorityStepper, stateOf} from './jobs.js';
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

export function queueView(query, view) {
  let filter = query.get('q') ?? '', state = query.get('state') ?? '';
  const jobs = new Map(), cursors = {};
  let total = 0, isLoading = false, isShown = false, version = 0;

  const search = h('input', {type: 'search', id: 'filter', placeholder: 'name, label=show=night, owner=…', 'aria-label': 'Filter the queue', value: filter, autocomplete: 'off', spellcheck: 'false'});
  const chips = h('div.chips', {role: 'group', 'aria-label': 'States'}, parts.map(([value, text]) =>
    h('button', {type: 'button', 'aria-pressed': String(value === state), onclick: event => { state = value; for (const chip of chips.children) chip.setAttribute('aria-pressed', String(chip === event.currentTarget)); change(); }}, text)));
  const number = h('span.number', {role: 'status'}), trouble = h('div');
  const table = list({
    label: 'Jobs', class: 'jobs', columns: ['State', 'Job', 'Progress, or why it waits', 'Priority', 'When', 'Actions'],
    key: job => job.id,
    open: job => { location.hash = placeOf(job); },
    make,
    nearEnd: () => { if (cursors.ended) loadMore(); },
  });
  const bulk = bulkActions(() => ({filter, state}), () => load());
  const empty = h('div.empty', {hidden: true});
  table.hidden = true;
  fill(view, h('div.tools', h('h1.unseen', 'Queue'), search, chips, number, bulk), trouble, table, empty);

  function make(first) {
    const state = cell('badge'), name = h('a.job-name'), tag = cell('quiet'), labels = h('span'), share = bar(0, 'Progress'), percents = cell('percent'), why = cell('why'), time = cell('quiet time');
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
      if (labels.title !== text.join(' ')) { labels.title = text.join(' '); fill(labels, text.slice(0, 3).map(one => h('span.label', visible(one)))); }
      share.hidden = percents.hidden = !isRunning;
      if (isRunning) { const {share: done} = progress(news); share.set(done); percents.say(percent(done)); }
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
  function taken(job) {
    jobs.set(job.id, {...jobs.get(job.id), ...job});
    show();
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
      h('p', `${may('submit') ? 'Or hand' : 'Hand'} one in from a terminal of this machine:`),
      copyable('penumbra submit job.yaml'),
      h('p', 'or from another program, with a token:'),
      copyable(`curl -H "Authorization: Bearer $PENUMBRA_TOKEN" ${server}api/v1/jobs -d '{"manifest": "/srv/pictures/job.yaml"}'`));
  }

  /** With thousands of open jobs, only the first page of them is asked for after each change, and all of them now and then. */
  async function load(isWhole = true) {
    const mine = ++version, isReload = isShown;
    isLoading = true;
    try {
      const wanted = parameters(filter, state);
      // Without a state, the open jobs come as a whole, and the ended ones page by page.
      const groups = state ? [['only', wanted]] : [['open', parameters(filter, 'open')], ['ended', parameters(filter, 'ended')]];
      const pages = await Promise.all(groups.map(([, query]) => page(query)));
      if (mine !== version) return;
      const seen = new Map(), further = cursors.ended;
      total = 0;
      for (const [index, answer] of pages.entries()) {
        total += answer.total;
        cursors.ended = answer.cursor;
        cursors.query = groups[index][1];
        for (const job of answer.jobs) seen.set(job.id, job);
      }
      // Pages that somebody has scrolled to stay.
      const oldest = pages.at(-1).jobs.at(-1)?.id ?? 0;
      for (const [id, job] of jobs) if (!isOpen(job.state) && id < oldest && !seen.has(id)) { seen.set(id, job); cursors.ended = further; }
      const rest = state ? null : pages[0].cursor, first = pages[0].jobs.at(-1)?.id ?? 0;
      if (rest && !isWhole) for (const [id, job] of jobs) if (isOpen(job.state) && id < first && !seen.has(id)) seen.set(id, job);
      jobs.clear();
      for (const [id, job] of seen) jobs.set(id, job);
      fill(trouble);
      view.removeAttribute('aria-busy');
      isShown = true;
      show();
      if ([...jobs.values()].some(job => job.state === 'failed')) repairsSoon();
      if (rest && isWhole) await restOfOpen(rest, mine);
    } catch (error) {
      if (mine !== version) return;
      // What is shown stays, and the page says that it is old.
      if (isReload) throw error;
      fill(trouble, failed(error, load));
    } finally {
      if (mine === version) isLoading = false;
    }
  }
  const page = (query, cursor, limit = 200) => {
    const asked = new URLSearchParams(query);
    asked.set('limit', limit);
    if (cursor) asked.set('cursor', cursor);
    return get(`jobs?${asked}`);
  };
  async function restOfOpen(cursor, mine) {
    while (cursor && mine === version && jobs.size < 20_000) {
      const answer = await page(parameters(filter, 'open'), cursor, 1000);
      if (mine !== version) return;
      for (const job of answer.jobs) jobs.set(job.id, job);
      cursor = answer.cursor;
      show();
    }
  }
  async function loadMore() {
    if (isLoading || !cursors.ended) return;
    isLoading = true;
    const mine = version;
    try {
      const answer = await page(cursors.query, cursors.ended, 500);
      if (mine !== version) return;
      for (const job of answer.jobs) jobs.set(job.id, job);
      cursors.ended = answer.cursor;
      show();
    } catch (error) {
      cursors.ended = null;
      fill(trouble, failed(error, whole.now));
    } finally {
      isLoading = false;
    }
  }
  function change() {
    isShown = false;
    jobs.clear();
    const asked = new URLSearchParams();
    if (filter) asked.set('q', filter);
    if (state) asked.set('state', state);
    history.replaceState(null, '', asked.size ? `#/queue?${asked}` : '#/queue');
    load();
  }
  const changeSoon = calmly(change, 200);
  search.addEventListener('input', () => { filter = search.value; changeSoon(); });
  // From the filter to the list, where letters act.
  search.addEventListener('keydown', event => { if (['ArrowDown', 'Enter'].includes(event.key)) { event.preventDefault(); table.focus(); } });

  const repairsSoon = calmly(learnRepairs, 100);
  const refresh = calmly(() => load(false), 1200), whole = calmly(load, 30_000), soon = () => { refresh(); whole(); };
  const endings = [
    live.on('job', ({id, job}) => {
      const known = jobs.get(id);
      // Positions and reasons come with the next page of the list; what the event has is shown at once.
      if (known) { jobs.set(id, {...job, waiting_for: known.waiting_for, position: known.position}); show(); }
      soon();
    }),
    live.on('reset', whole.now), live.on('back', whole.now), onFarm(() => table.refresh()),
  ];
  const onChosen = body => () => { const job = table.chosen(), row = job && table.row(job.id); if (row) body(row.children[5].actions, row.children[3].stepper); };
  const key = name => onChosen(actions => actions.press(name));
  return {
    begin: load, title: 'Queue', close: () => { version++; endings.forEach(end => end()); },
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
  const words = {hold: 'Hold', release: 'Release', run_next: 'Run next', retry: 'Retry', cancel: 'Cancel'};
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
    const {count: number} = await send('POST', 'jobs/actions', body);
    if (!number) { fill(outcome, nothing[action]); return; }
    const sure = await ask(`${text} ${plural(number, 'job')}?`, `${about[action]}${filter ? ` and match “${filter}”` : ''}. Other jobs stay as they are.`, `${text} ${count(number)}`);
    if (!sure) return;
    const answer = await send('POST', 'jobs/actions', {...body, expect: number});
    fill(outcome, `${count(answer.changed.length + answer.submitted.length)} done${answer.refused.length ? `, ${count(answer.refused.length)} refused: ${answer.refused[0].detail}` : ''}`);
    changed();
  });
  enable(go.button, false);
  return h('span.bulk', select, go, outcome);
}
