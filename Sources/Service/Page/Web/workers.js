// What the workers of open runs do, and the service itself.
import {action, facts, failed, fill, h, say, visible} from './dom.js';
import {encoded, get, send} from './api.js';
import {calmly, eachSecond, farm, loadStatus, may, now, onFarm, setStatus} from './farm.js';
import * as live from './live.js';
import {bytes, count, elapsed, plural, taskName, when} from './words.js';

export function workersView(_, view) {
  let runs = [], lost = new Map(), diagnosis = null;
  const number = h('span.number', {role: 'status'}), body = h('div.groups'), service = h('div'), problems = h('div');
  const drain = may('admin') ? action('Drain', async () => {
    const drained = !farm.status?.drained;
    setStatus(await send('POST', 'drain', {drained}));
    show();
  }, {title: 'A drained service starts no jobs; runs that are open go on'}) : null;
  fill(view, h('div.tools', h('h1.unseen', 'Workers'), number, drain), problems, body, h('section', h('h2', 'The service'), service));

  function show() {
    const {status} = farm;
    const busy = runs.reduce((sum, run) => sum + run.leased, 0);
    say(number, `${count(busy)} of ${plural(status?.workers ?? 0, 'worker')} busy`);
    if (drain) say(drain.button, status?.drained ? 'Start jobs again' : 'Drain');
    if (status) fill(service, facts(['Version', status.version], ['Up', elapsed((now() - new Date(status.started)) / 1000)], ['Jobs', status.drained ? '‖\ufe0e drained: none starts' : 'start as it is their turn'],
      ['Open runs', `${status.runs_open} of at most ${status.max_runs}`], ['Process', `${status.pid}`], ['State folder', visible(status.state_dir)], ['Service folder', visible(status.service_dir)], ['Last backup', diagnosis?.last_backup && when(diagnosis.last_backup)]));
    fill(body, runs.length ? runs.map(group) : h('div.empty', h('h2', 'No worker is busy'), h('p', 'Workers begin with a run, and end with it.')));
  }
  function group(run) {
    const link = `#/runs/${encoded(run.run)}`, memory = run.processes.reduce((sum, process) => sum + (process.resident ?? 0), 0);
    return h('article', {class: 'group'},
      h('h2', h('a', {href: link}, visible(run.job)), ' ', h('bdi.quiet', run.run)),
      h('p.quiet', [`${plural(run.leased, 'task')} at work`, run.limit != null ? `at most ${run.limit}` : '', run.wanted > run.leased ? `${count(run.wanted)} could run` : '', `${plural(run.processes.length, 'process').replace('processs', 'processes')} with ${bytes(memory)}`, lost.get(run.run) ? `${plural(lost.get(run.run), 'worker')} lost so far` : ''].filter(Boolean).join(' · ')),
      run.slots.length ? h('div.scroll', {tabindex: 0, role: 'region', 'aria-label': `Workers of ${run.job}`}, h('table', h('thead', h('tr', ['Place', 'Worker', 'Work', 'File', 'Since', 'Try'].map(text => h('th', {scope: 'col'}, text)))),
        h('tbody', run.slots.map(slot => h('tr', h('td', `${slot.slot}`), h('td', `${slot.worker}`), h('td', h('a', {href: `${link}/frames/${slot.task.split('/')[0]}`}, taskName(slot.task))), h('td', h('bdi', visible(slot.file ?? ''))), h('td', elapsed((now() - new Date(slot.since)) / 1000)), h('td', slot.attempt > 1 ? h('span.caution', `${slot.attempt}`) : '1')))))) : null,
      run.processes.length ? h('p.quiet', run.processes.map(process => `process ${process.pid}: ${process.resident != null ? bytes(process.resident) : '?'}`).join(' · ')) : null);
  }
  async function load() {
    try {
      ({runs} = await get('workers'));
      view.removeAttribute('aria-busy');
      show();
    } catch (error) {
      if (!view.hasAttribute('aria-busy')) throw error;
      fill(body, failed(error, poll.now));
    }
  }
  /** Workers that were lost, from the tries of each open run. */
  async function loadLost() {
    for (const run of runs) {
      const {tasks} = await get(`runs/${encoded(run.run)}/tasks`);
      lost.set(run.run, Object.values(tasks).reduce((sum, states) => sum + (states.lost ?? 0), 0));
    }
  }
  async function loadDiagnosis() {
    if (!may('admin')) return;
    diagnosis = await get('diagnosis');
    const words = [...diagnosis.problems, diagnosis.trouble].filter(Boolean);
    fill(problems, words.length ? h('ul.plain.trouble', words.map(text => h('li', '✗\ufe0e ', visible(text)))) : null);
  }
  const poll = calmly(load, 1000), pollLost = calmly(loadLost, 10_000);
  const endings = [eachSecond(poll), eachSecond(pollLost), live.on('back', poll.now), onFarm(show)];
  return {begin: async () => { await Promise.all([load(), loadDiagnosis().catch(() => {}), loadStatus()]); loadLost().catch(() => {}); show(); }, title: 'Workers', close: () => endings.forEach(end => end())};
}
