// Schedules and watched folders.
import {action, announce, ask, facts, failed, field, fill, h, path, say, visible} from './dom.js';
import {encoded, get, send} from './api.js';
import {calmly, may} from './farm.js';
import * as live from './live.js';
import {plural, when} from './words.js';

export function schedulesView(query, view) {
  const wanted = query.get('name');
  let isClosed = false;
  const body = h('div.groups'), number = h('span.number', {role: 'status'});
  fill(view, h('div.tools', h('h1.unseen', 'Schedules'), number), body, may('admin') ? adding() : null);
  async function load() {
    if (!may('admin')) { view.removeAttribute('aria-busy'); fill(body, h('div.empty', h('p', 'Schedules are for administrators. Sign in with a token of the scope “admin” to see them. In the queue, jobs have the name of the schedule that has submitted them.'))); return; }
    try {
      const {schedules, unreadable = []} = await get('schedules');
      if (isClosed) return;
      view.removeAttribute('aria-busy');
      say(number, plural(schedules.length, 'schedule'));
      const isFirst = !body.children.length;
      fill(body,
        unreadable.length ? h('p.trouble', `✗\ufe0e ${plural(unreadable.length, 'schedule')} cannot be read: `, visible(unreadable.map(one => typeof one === 'string' ? one : one.name ?? JSON.stringify(one)).join(', '))) : null,
        schedules.length ? schedules.map(one) : h('div.empty', h('h2', 'Nothing is scheduled'), h('p', 'A schedule submits a job at certain times, or when a folder changes.')));
      if (isFirst) body.querySelector('.wanted')?.scrollIntoView({block: 'center'});
    } catch (error) {
      if (isClosed || !view.hasAttribute('aria-busy')) throw error;
      fill(body, failed(error, soon.now));
    }
  }
  function one(schedule) {
    return h('article', {class: 'group' + (schedule.name === wanted ? ' wanted' : '')},
      h('h2', visible(schedule.name), ' ', h('span', {class: 'badge ' + (schedule.enabled ? 'done' : 'held')}, schedule.enabled ? '✓\ufe0e on' : '‖\ufe0e off')),
      facts(
        ['When', schedule.cron ? [h('code', schedule.cron), schedule.zone ? ` ${schedule.zone}` : ''] : `after changes, when the folder has been quiet for ${schedule.watch?.quiet} s`],
        ['Next', schedule.enabled && schedule.next && when(schedule.next)],
        // Before the first time this is when it was made.
        ['Last', (schedule.submitted || schedule.problem) && when(schedule.last)], ['Last job', schedule.last_job && h('a', {href: `#/jobs/${schedule.last_job}`}, `job ${schedule.last_job}`)],
        ['Jobs so far', `${schedule.submitted}`],
        ['Manifest', schedule.submit?.manifest ? path(schedule.submit.manifest) : 'its own text'], ['From', {config: 'the config file', removed: 'the config file, which does not have it any more'}[schedule.origin] ?? 'here']),
      schedule.problem ? h('p.trouble', '✗\ufe0e ', visible(schedule.problem)) : null,
      h('div', {class: 'buttons'},
        action(schedule.enabled ? 'Switch off' : 'Switch on', async () => { await send('PATCH', `schedules/${encoded(schedule.name)}`, {enabled: !schedule.enabled}); await load(); }, {name: `${schedule.enabled ? 'Switch off' : 'Switch on'} ${schedule.name}`}),
        schedule.origin === 'config' ? null : action('Remove…', async () => { if (await ask(`Remove the schedule ${schedule.name}?`, 'Its jobs stay.', 'Remove it')) { await send('DELETE', `schedules/${encoded(schedule.name)}`); await load(); } }, {name: `Remove ${schedule.name}`})));
  }
  function adding() {
    const name = h('input', {required: true}), kind = h('select', h('option', {value: 'cron'}, 'at certain times'), h('option', {value: 'watch'}, 'when its folders change')), cron = h('input', {value: '0 2 * * *'}), zone = h('input', {value: Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC'}), quiet = h('input', {type: 'number', min: 0, value: 10}), manifest = h('input', {required: true, placeholder: '/srv/pictures/night.yaml'});
    const times = [field('Cron', cron, 'minute hour day month weekday'), field('Time zone', zone)], changes = [field('Quiet for, in seconds', quiet)];
    const fit = () => { for (const one of times) one.hidden = kind.value !== 'cron'; for (const one of changes) one.hidden = kind.value === 'cron'; };
    kind.addEventListener('change', fit);
    fit();
    const add = action('Add the schedule', async () => {
      const rule = kind.value === 'cron' ? {cron: cron.value.trim(), zone: zone.value.trim()} : {watch: {quiet: Number(quiet.value)}};
      const made = await send('POST', 'schedules', {name: name.value.trim(), submit: {manifest: manifest.value.trim()}, ...rule});
      announce(`The schedule ${made.name} is there`);
      name.value = '';
      await load();
    });
    return h('details.add', h('summary', 'Add a schedule'), h('div.form', field('Name', name), field('When', kind), times, changes, field('Manifest on the farm', manifest), add));
  }
  const timer = setInterval(() => { if (live.state === 'live' && !document.hidden && !view.contains(document.activeElement)) soon(); }, 30_000);
  const soon = calmly(load, 0);
  const endings = [live.on('back', soon.now), live.on('reset', soon.now), () => clearInterval(timer)];
  return {begin: load, title: 'Schedules', close: () => { isClosed = true; endings.forEach(end => end()); }};
}
