// All runs, also those that somebody has begun by hand.
import {bar, failed, fill, h, say, visible} from './dom.js';
import {encoded, get} from './api.js';
import {calmly, farm, learnRepairs, onFarm} from './farm.js';
import {cell, list} from './list.js';
import * as live from './live.js';
import {count, fullTime, isRunOpen, percent, plural, progress, sign, when, word} from './words.js';

export function runsView(query, view) {
  let runs = [], filter = query.get('q') ?? '', isClosed = false;
  const search = h('input', {type: 'search', id: 'filter', placeholder: 'job, run or state', 'aria-label': 'Filter the runs', value: filter, autocomplete: 'off', spellcheck: 'false'});
  const number = h('span.number', {role: 'status'}), trouble = h('div'), empty = h('div.empty', {hidden: true});
  const table = list({
    label: 'Runs', class: 'runs', columns: ['State', 'Run', 'Pictures', 'Started'], key: run => run.run,
    open: run => { location.hash = `#/runs/${encoded(run.run)}`; },
    make(run) {
      const state = cell('badge'), share = bar(0, 'Progress'), figures = cell('why'), name = h('a.job-name'), id = h('bdi.quiet'), time = h('time.quiet');
      const cells = [h('span', state), h('span.what', name, id), h('span.progress', share, figures), h('span', time)];
      cells.update = run => {
        const news = isRunOpen(run.state) ? farm.lives.get(run.run) : null, now = news?.isPaused ? 'paused' : news ? 'running' : run.state === 'failed' && farm.repaired.has(run.run) ? 'repaired' : run.state;
        state.className = `badge ${now}`;
        if (id.textContent !== run.run) {
          fill(name, visible(run.job));
          name.setAttribute('href', `#/runs/${encoded(run.run)}`);
          say(id, run.run);
          say(time, when(run.started));
          time.setAttribute('datetime', run.started);
          time.title = fullTime(run.started);
        }
        state.say(`${sign(now)} ${word(now)}`);
        share.hidden = !news;
        if (news) share.set(progress(news).share);
        const failures = news?.failed ?? run.counts.failed;
        figures.say(news ? `${percent(progress(news).share)} of ${plural(news.frames, 'picture')}${failures ? ` · ${count(failures)} failed` : ''}`
          : `${plural(run.counts.frames, 'picture')}${run.counts.published ? ` · ${count(run.counts.published)} published` : ''}${failures ? ` · ${count(failures)} failed` : ''}${run.counts.skipped ? ` · ${count(run.counts.skipped)} up to date` : ''}`);
      };
      cells.update(run);
      return cells;
    },
  });
  table.hidden = true;
  fill(view, h('div.tools', h('h1.unseen', 'Runs'), search, number), trouble, table, empty);
  function show() {
    const wanted = filter.trim().toLowerCase().split(/\s+/);
    const shown = filter.trim() ? runs.filter(run => { const text = `${run.job} ${run.run} ${word(run.state)}`.toLowerCase(); return wanted.every(part => text.includes(part)); }) : runs;
    table.show(shown);
    say(number, plural(shown.length, 'run'));
    table.hidden = !shown.length;
    empty.hidden = shown.length > 0;
    fill(empty, h('p', runs.length ? 'No run matches this filter.' : 'No run has begun yet. A job begins one as soon as it is its turn.'));
  }
  async function load() {
    try {
      ({runs} = await get('runs'));
      if (isClosed) return;
      fill(trouble);
      view.removeAttribute('aria-busy');
      show();
      if (runs.some(run => run.state === 'failed')) repairsSoon();
    } catch (error) {
      if (isClosed || !view.hasAttribute('aria-busy')) throw error;
      fill(trouble, failed(error, soon.now));
    }
  }
  const soon = calmly(load, 2000), repairsSoon = calmly(learnRepairs, 100);
  search.addEventListener('input', () => { filter = search.value; history.replaceState(null, '', filter ? `#/runs?${new URLSearchParams({q: filter})}` : '#/runs'); show(); });
  table.search(search);
  const known = run => runs.some(one => one.run === run && isRunOpen(one.state));
  const endings = [live.on('run', ({run, state}) => { if (state === 'ended' || !known(run)) soon(); }), live.on('reset', soon.now), live.on('back', soon.now), onFarm(() => table.refresh())];
  return {begin: load, title: 'Runs', close: () => { isClosed = true; endings.forEach(end => end()); }, keys: {'/': () => { search.focus(); search.select(); }}};
}
