// What the workers of open runs do, and the service itself.
import {action, each, facts, failed, fill, h, lead, renew, say, visible} from './dom.js';
import {encoded, get, send} from './api.js';
import {calmly, eachSecond, farm, loadStatus, may, now, onFarm, setStatus} from './farm.js';
import * as live from './live.js';
import {bytes, count, elapsed, plural, taskName, when} from './words.js';

export function workersView(_, view) {
  let runs = [], isKnown = false, lost = new Map(), diagnosis = null, isClosed = false;
  const number = h('span.number'), body = h('div.groups'), idle = h('div.empty', {hidden: true}, h('h2', 'No worker is busy'), h('p', 'Workers begin with a run, and end with it.')), up = h('span'), service = h('div'), trouble = h('div'), problems = h('div');
  const drain = may('admin') ? action('Drain', async () => {
    const drained = !farm.status?.drained;
    setStatus(await send('POST', 'drain', {drained}));
    show();
  }, {title: 'A drained service starts no jobs. Open runs continue'}) : null;
  fill(view, h('div.tools', h('h1.unseen', 'Workers'), number, drain), trouble, problems, body, idle, h('section', h('h2', 'The service'), service));

  function show() {
    const {status} = farm;
    const busy = runs.reduce((sum, run) => sum + run.leased, 0);
    say(number, `${count(busy)} of ${plural(status?.workers ?? 0, 'worker')} busy`);
    if (drain) say(drain.button, status?.drained ? 'Start jobs again' : 'Drain');
    if (status) {
      say(up, elapsed((now() - new Date(status.started)) / 1000));
      renew(service, [status.version, status.drained, status.runs_open, status.max_runs, status.pid, status.state_dir, status.service_dir, diagnosis?.last_backup], () => facts(['Version', status.version], ['Up', up], ['Jobs', status.drained ? '‖\ufe0e drained: none starts' : 'start as it is their turn'],
        ['Open runs', `${status.runs_open} of at most ${status.max_runs}`], ['Process', `${status.pid}`], ['State folder', visible(status.state_dir)], ['Service folder', visible(status.service_dir)], ['Last backup', diagnosis?.last_backup && when(diagnosis.last_backup)]));
    }
    each(body, runs, run => run.run, group);
    idle.hidden = !isKnown || runs.length > 0;
  }
  function group() {
    const title = h('a'), name = h('bdi.quiet'), words = h('p.quiet'), slots = h('tbody'), table = h('div.scroll', {tabindex: 0, role: 'region'}, h('table', h('thead', h('tr', ['Place', 'Worker', 'Work', 'File', 'Since', 'Try'].map(text => h('th', {scope: 'col'}, text)))), slots)), processes = h('p.quiet');
    const element = h('article', {class: 'group'}, h('h2', title, ' ', name), words, table, processes);
    element.update = run => {
      const link = `#/runs/${encoded(run.run)}`, memory = run.processes.reduce((sum, process) => sum + (process.resident ?? 0), 0);
      title.setAttribute('href', link);
      renew(title, run.job, () => visible(run.job));
      say(name, run.run);
      say(words, [`${plural(run.leased, 'task')} in work`, run.limit != null ? `at most ${run.limit}` : '', run.wanted > run.leased ? `${count(run.wanted)} could run` : '', `${plural(run.processes.length, 'process', 'processes')} with ${bytes(memory)}`, lost.get(run.run) ? `${plural(lost.get(run.run), 'worker')} lost so far` : ''].filter(Boolean).join(' · '));
      table.hidden = !run.slots.length;
      table.setAttribute('aria-label', `Workers of ${run.job}`);
      each(slots, run.slots, one => one.slot, () => slot(link));
      processes.hidden = !run.processes.length;
      say(processes, run.processes.map(process => `process ${process.pid}: ${process.resident != null ? bytes(process.resident) : '?'}`).join(' · '));
    };
    return element;
  }
  function slot(run) {
    const number = h('td'), worker = h('td'), task = h('a'), file = h('bdi'), since = h('td'), attempt = h('span');
    const element = h('tr', number, worker, h('td', task), h('td', file), since, h('td', attempt));
    element.update = slot => {
      say(number, `${slot.slot}`);
      say(worker, `${slot.worker}`);
      lead(task, `${run}/frames/${slot.task.split('/')[0]}`, taskName(slot.task));
      renew(file, slot.file, () => visible(slot.file ?? ''));
      say(since, elapsed((now() - new Date(slot.since)) / 1000));
      say(attempt, `${slot.attempt}`);
      attempt.className = slot.attempt > 1 ? 'caution' : '';
    };
    return element;
  }
  async function load() {
    try {
      ({runs} = await get('workers'));
      if (isClosed) return;
      isKnown = true;
      fill(trouble);
      view.removeAttribute('aria-busy');
      show();
    } catch (error) {
      if (isClosed || !view.hasAttribute('aria-busy')) throw error;
      fill(trouble, failed(error, poll.now));
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
  return {begin: async () => { await Promise.all([load(), loadDiagnosis().catch(() => {}), loadStatus()]); loadLost().catch(() => {}); show(); }, title: 'Workers', close: () => { isClosed = true; endings.forEach(end => end()); }};
}
