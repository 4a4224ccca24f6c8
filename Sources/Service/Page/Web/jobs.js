// What can be done with a job, and the page of one job.
import {action, announce, ask, copyable, enable, facts, fill, h, path, problemText, renew, say, visible} from './dom.js';
import {Problem, encoded, get, request, send, sendOnce} from './api.js';
import {calmly, farm, may, onFarm} from './farm.js';
import * as live from './live.js';
import {isOpen, plural, progress, percent, elapsed, sign, when, word} from './words.js';

const retryable = ['failed', 'stopped', 'cancelled', 'skipped', 'work_left'];
const post = (job, what) => send('POST', `jobs/${job.id}/${what}`);

/** Whether somebody has paused the run of a job. Answers about jobs know it, events do not: then the run tells. */
const isPaused = job => job.state === 'running' && (farm.lives.get(job.run)?.isPaused ?? job.paused ?? false);
/** The state of a job, as people see it. */
export const stateOf = job => isPaused(job) ? 'paused' : job.state;
/** What a pause does not end. */
export const pausedWords = news => news?.leased ? `Paused. ${news.leased === 1 ? 'One task is' : `${news.leased} tasks are`} still in work and will be finished.` : 'Paused. Workers get nothing to do.';

/** Pauses or resumes the run of a job. */
async function setPaused(job, value) {
  const {live: news} = await send('POST', `runs/${encoded(job.run)}/${value ? 'pause' : 'resume'}`);
  const known = farm.lives.get(job.run) ?? news;
  // The run itself tells of it within a second.
  if (known) farm.lives.set(job.run, {...known, isPaused: value});
  return {...job, paused: value};
}

/** The actions of a job, each with the states in which it makes sense. */
const actions = {
  pause: {text: 'Pause', key: 'p', title: 'Give workers nothing more to do. Pictures in work are finished first (p)', fits: job => job.state === 'running' && !job.cancelling && !isPaused(job), body: job => setPaused(job, true)},
  resume: {text: 'Resume', key: 'p', title: 'Go on (p)', fits: job => isPaused(job) && !job.cancelling, body: job => setPaused(job, false)},
  next: {text: 'Run next', key: 'n', title: 'Start before all others (n)', fits: job => job.state === 'waiting' && !job.run_next, body: job => post(job, 'run-next')},
  hold: {text: 'Hold', key: 'h', title: 'Do not start before it is released (h)', fits: job => job.state === 'waiting', body: job => post(job, 'hold')},
  release: {text: 'Release', key: 'h', title: 'Let it start (h)', fits: job => job.state === 'held', body: job => post(job, 'release')},
  cancel: {
    text: 'Cancel…', key: 'c', title: 'End it (c)', fits: job => isOpen(job.state) && !job.cancelling,
    body: async job => {
      const sure = await ask(`Cancel job ${job.id}, ${job.name}?`, job.state === 'running' ? 'It ends when the pictures in work are done. Published outputs stay. Jobs that need it are skipped.' : 'Jobs that need it are skipped.', 'Cancel the job');
      return sure ? post(job, 'cancel') : null;
    },
  },
  retry: {text: 'Retry', key: 'r', title: 'A new job that does the same (r)', fits: job => retryable.includes(job.state) || job.still_broken > 0, body: job => sendOnce(`jobs/${job.id}/retry`, {})},
};

/**
 * The buttons of a job. `changed(job, name)` is called with the answer.
 * The element has `update(job)`, and `press(key)` for the keyboard.
 */
export function jobActions(job, changed) {
  const element = h('span.job-actions');
  const buttons = Object.entries(actions).map(([name, {text, title, body, fits, key}]) => {
    const button = action(text, async () => {
      const answer = await body(job);
      if (!answer) return;
      announce(`Job ${answer.id}, ${answer.name}: ${word(stateOf(answer))}`);
      changed(answer, name);
    }, {title, name: `${text.replace('…', '')} job ${job.id}`, class: name});
    return {button, fits, key, text};
  });
  element.append(...buttons.map(one => one.button));
  element.update = next => {
    const isOther = next.id !== job.id;
    job = next;
    for (const {button, fits, text} of buttons) {
      if (isOther) button.rename(`${text.replace('…', '')} job ${job.id}`);
      const isShown = may('submit') && fits(job);
      // An error stays beside its button until it is pressed again.
      button.hidden = !isShown;
      enable(button.button, isShown);
    }
  };
  element.press = key => buttons.find(one => one.key === key && one.fits(job))?.button.button.click();
  element.update(job);
  return element;
}

/** The priority of a job, which a click changes by 10. */
export function priorityStepper(job, changed = () => {}) {
  const value = h('output', job.priority);
  const set = async to => {
    const answer = await send('PATCH', `jobs/${job.id}`, {priority: Math.max(0, Math.min(100, to))});
    announce(`Job ${job.id}: priority ${answer.priority}`);
    changed(answer);
    element.update({...job, ...answer});
  };
  const step = (text, by, name) => action(text, () => set(by > 0 ? Math.floor(job.priority / 10) * 10 + 10 : Math.ceil(job.priority / 10) * 10 - 10), {name: `${name} the priority of job ${job.id}`, title: `${name} the priority (${text === '−' ? '-' : text})`, class: 'step'});
  const less = step('−', -10, 'Lower'), more = step('+', 10, 'Raise');
  const element = h('span.stepper', {title: 'Priority, 0 to 100'}, less, value, more);
  element.update = next => {
    if (next.id !== job.id) { less.rename(`Lower the priority of job ${next.id}`); more.rename(`Raise the priority of job ${next.id}`); }
    job = next;
    say(value, String(job.priority));
    const isShown = may('submit') && isOpen(job.state);
    less.hidden = more.hidden = !isShown;
    enable(less.button, job.priority > 0);
    enable(more.button, job.priority < 100);
  };
  element.press = key => (key === '-' ? less : more).button.click();
  element.update(job);
  return element;
}

/** Why a job is where it is, in a few words. */
export function because(job) {
  if (job.state === 'running' || job.state === 'starting') {
    const now = farm.lives.get(job.run);
    if (job.cancelling) return 'is being cancelled';
    if (!now) return job.state === 'starting' ? 'starts' : 'begins';
    const {left} = progress(now);
    return [now.isPaused ? (now.leased ? `${now.leased} still in work` : 'no work is given out') : plural(now.leased, 'worker'), now.failed ? `${now.failed} failed` : '', left != null ? `${elapsed(left)} left` : ''].filter(Boolean).join(' · ');
  }
  if (job.state === 'waiting') return (job.waiting_for?.words ?? '') + (job.run_next ? ' · runs next' : '');
  if (job.state === 'held') return 'until it is released';
  // The exit code and the manifest's path are on the page of the job.
  return (job.result ?? '').replace(/^failed with exit code 1: [^:]*: /, '').replace(/^done$/, '');
}

/** The folder that has all these paths. */
function commonFolder(paths) {
  const parts = paths.map(one => one.split('/').slice(0, -1));
  let length = 0;
  while (parts.every(part => length < part.length && part[length] === parts[0][length])) length++;
  return parts[0].slice(0, length).join('/') || '/';
}

/** Where the outputs of a run are, as lines to copy. Nothing before there are any. */
export function results(run) {
  const element = h('div.results', {hidden: true});
  let isLoading = false;
  /** Asks until the folders are known. They stay the same. */
  element.load = async () => {
    if (isLoading || !element.hidden) return;
    isLoading = true;
    try {
      const {frames} = await get(`runs/${encoded(run)}/frames?state=published&limit=200`);
      // A run that had nothing to do knows outputs of earlier runs.
      const known = frames.length ? frames : [await get(`runs/${encoded(run)}/frames/1`)];
      const outputs = known.map(frame => frame.outputs.filter(path => path.startsWith('/'))).filter(paths => paths.length);
      if (!outputs.length) return;
      const folders = new Set(outputs[0].map((_, index) => commonFolder(outputs.flatMap(paths => paths[index] ?? []))));
      fill(element, h('span.quiet', folders.size === 1 ? 'Results are in' : 'Results are in these folders'), [...folders].map(folder => copyable(folder)));
      element.hidden = false;
    } catch (error) {
      // There are no outputs yet, or nobody knows them. What is more is told by the view.
      if (!(error instanceof Problem)) throw error;
    } finally { isLoading = false; }
  };
  return element;
}

export function jobView(id, view) {
  let job = null, wrote = '';
  const title = h('h1'), badge = h('span.badge'), sub = h('span'), why = h('p.reason'), buttons = h('div.buttons'), known = h('div');
  const log = h('pre.log', {tabindex: 0, role: 'region', 'aria-label': 'Log'}), logPart = h('section', {hidden: true}, h('h2', 'Log'), log);
  const link = h('p.lead'), place = h('div'), manifest = h('pre.log', {tabindex: 0, role: 'region', 'aria-label': 'Manifest'}), manifestWords = h('p.quiet');
  const edit = h('button', {type: 'button', onclick: () => { location.hash = `#/submit?job=${id}`; }, title: 'Opens its manifest in Submit, where you can change it'}, 'Edit and submit again');
  const manifestPart = h('section', {hidden: true}, h('div.tools', h('h2', 'Manifest'), edit), manifestWords, manifest);
  fill(view, h('div.head', h('div', title, h('p.sub', badge, sub)), buttons), why, link, place, known, manifestPart, logPart);
  let row = null, stepper = null;

  async function loadManifest() {
    try {
      const {text, manifest: file} = await get(`jobs/${id}/manifest`);
      renew(manifest, text, () => visible(text, true));
      say(manifestWords, file ? 'This is what the file has now.' : 'It was handed in as a text, and is no file.');
    } catch (error) {
      if (!(error instanceof Problem) || error.status === 404) return;
      renew(manifestWords, error.message, () => problemText(error));
    }
    manifest.hidden = edit.hidden = !manifest.textContent;
    if (!may('submit')) edit.hidden = true;
    manifestPart.hidden = false;
  }

  async function load() {
    const isFirst = !job;
    job = await get(`jobs/${id}`);
    show();
    if (isFirst) await loadManifest();
    if (job.tries) {
      // A process that has refused its manifest leaves no run.
      if (job.run) {
        renew(place, job.run, () => results(job.run));
        place.firstChild.load();
      }
      try {
        const next = await (await request('GET', `jobs/${id}/log`)).text();
        if (next !== wrote) { wrote = next; fill(log, visible(next, true)); }
        logPart.hidden = !wrote;
      } catch (error) { if (error.status !== 404) throw error; }
    }
  }
  function show() {
    if (!job) return;
    renew(title, job.name, () => visible(job.name));
    const state = stateOf(job);
    badge.className = `badge ${state}`;
    say(badge, `${sign(state)} ${word(state)}`);
    say(sub, `job ${job.id}`);
    const reason = state === 'paused' ? pausedWords(farm.lives.get(job.run)) : because(job);
    const words = job.state === 'waiting' && reason ? `Waits: ${reason}` : isOpen(job.state) ? reason : job.result ?? '';
    renew(why, words, () => visible(words));
    if (!row) {
      row = jobActions(job, (answer, name) => { if (name === 'retry') { location.hash = `#/jobs/${answer.id}`; } else { job = answer; show(); } });
      stepper = priorityStepper(job, answer => { job = answer; show(); });
      fill(buttons, stepper, row);
    }
    row.update(job);
    stepper.update(job);
    const now = farm.lives.get(job.run);
    const text = now ? `Watch its run: ${percent(progress(now).share)}` : 'See its run, with all frames';
    renew(link, [job.run, job.tries, text], () => job.run && job.tries ? h('a', {href: `#/runs/${job.run}`}, text) : null);
    const jobLink = other => h('a', {href: `#/jobs/${other}`}, `job ${other}`);
    renew(known, job, () => facts(
      ['Place in the queue', job.position && `${job.position}`],
      ['Needs', job.after.length ? job.after.map((need, index) => [index ? ', ' : '', jobLink(need.job), need.on === 'end' ? ' (any end)' : '']) : null],
      ['Not before', job.not_before && when(job.not_before)],
      ['Manifest', path(job.manifest)],
      ['Owner', job.owner_name ? `${job.owner_name} (${job.owner})` : job.owner],
      ['Labels', Object.keys(job.labels).length && Object.entries(job.labels).map(([name, value]) => h('a.label', {href: `#/queue?${new URLSearchParams({q: `label=${name}=${value}`})}`}, visible(`${name}=${value}`)))],
      ['Retries', job.retry_of && jobLink(job.retry_of)],
      ['Submitted', when(job.submitted)],
      ['Started', job.started && when(job.started)],
      ['Ended', job.ended && when(job.ended)],
      ['Tries', job.tries > 1 && `${job.tries}`]));
    document.title = `${word(state)} ${job.name} – Penumbra`;
  }
  const soon = calmly(load, 400);
  const endings = [live.on('job', event => { if (`${event.id}` === `${id}` || job?.waiting_for) soon(); }), live.on('reset', soon), live.on('back', soon), onFarm(show)];
  const press = key => row?.press(key);
  return {
    begin: load, title: `job ${id}`, close: () => endings.forEach(end => end()),
    keys: {n: () => press('n'), p: () => press('p'), h: () => press('h'), c: () => press('c'), r: () => press('r'), '+': () => stepper?.press('+'), '-': () => stepper?.press('-')},
  };
}
