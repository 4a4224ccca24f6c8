// What can be done with a job, and the page of one job.
import {action, announce, ask, bar, copyable, enable, facts, fill, h, path, problemText, renew, say, visible} from './dom.js';
import {Problem, encoded, get, submitted, request, send, sendOnce} from './api.js';
import {calmly, farm, highestPriority, learnRepairs, may, mayChange, mayRunNext, onFarm} from './farm.js';
import * as live from './live.js';
import {isOpen, keptWords, named, plural, progress, percent, elapsed, sign, when, withoutPath, word} from './words.js';

const retryable = ['failed', 'stopped', 'cancelled', 'skipped', 'work_left'];
/** Jobs that this page has retried. The next retry is one of the new job. */
const retried = new Set();
const post = (job, what) => send('POST', `jobs/${job.id}/${what}`);

/** Whether somebody has paused the run of a job. Answers about jobs know it, events do not: then the run tells. */
const isPaused = job => job.state === 'running' && (farm.lives.get(job.run)?.isPaused ?? job.paused ?? false);
/** The state of a job, as people see it. */
export const stateOf = job => isPaused(job) ? 'paused' : isRepaired(job) ? 'repaired' : job.state;
/** Whether later jobs have rendered all pictures that failed in the run of a job. */
const isRepaired = job => job.state === 'failed' && job.exit_code === 1 && farm.repaired.has(job.run);
export const repairWords = run => farm.repaired.get(run) ? `repaired by job ${farm.repaired.get(run)}` : 'repaired by a later run';
/** What a pause does not end. */
export function pausedWords(news) {
  // Several workers may have tiles of one picture.
  const pictures = new Set(news?.running?.map(({frame, page}) => `${frame}/${page}`)).size;
  return pictures ? `Paused. Workers finish what they have begun, on ${plural(pictures, 'picture')}.` : 'Paused. Workers get nothing to do.';
}

/** The schedule, or the watched folder, that has submitted a job. */
export const scheduleOf = job => /^(?:schedule|watch):(.+)$/.exec(job.owner)?.[1];
/** Leads those who may see schedules to that of a job. */
export const scheduleLink = (job, text, properties = {}) => may('admin')
  ? h('a', {href: `#/schedules?${new URLSearchParams({name: scheduleOf(job)})}`, ...properties}, visible(text)) : h('span', properties, visible(text));

/**
 * Where a job is looked at: at its run, or on its own page while it waits. A job that waits may have a name for its run: it has tried to
 * begin, and another run was in the way.
 */
export const placeOf = job => job.run && job.tries && !['waiting', 'held'].includes(job.state) ? `#/runs/${encoded(job.run)}` : `#/jobs/${job.id}`;

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
  resume: {text: 'Resume', key: 'p', title: 'Let it continue (p)', fits: job => isPaused(job) && !job.cancelling, body: job => setPaused(job, false)},
  next: {text: 'Run next', key: 'n', title: 'Start before all others (n)', fits: job => job.state === 'waiting' && !job.run_next && mayRunNext(), body: job => post(job, 'run-next')},
  hold: {text: 'Hold', key: 'h', title: 'Do not start before it is released (h)', fits: job => job.state === 'waiting', body: job => post(job, 'hold')},
  release: {text: 'Release', key: 'h', title: 'Let it start (h)', fits: job => job.state === 'held', body: job => post(job, 'release')},
  cancel: {
    text: 'Cancel…', key: 'c', title: 'End it (c)', fits: job => isOpen(job.state) && !job.cancelling,
    body: async job => {
      const sure = await ask(`Cancel job ${job.id}, ${job.name}?`, job.state === 'running' ? 'It ends when the pictures in work are done. Published outputs stay. Jobs that need it are skipped.' : 'Jobs that need it are skipped.', 'Cancel the job');
      return sure ? post(job, 'cancel') : null;
    },
  },
  retry: {text: 'Retry', key: 'r', title: 'A new job that does the same (r)', fits: job => (retryable.includes(job.state) && !isRepaired(job)) || job.still_broken > 0, body: job => sendOnce(`jobs/${job.id}/retry`, {})},
};

/**
 * The buttons of a job. `changed(job, name)` is called with the answer.
 * The element has `update(job)`, and `press(key)` for the keyboard.
 */
export function jobActions(job, changed) {
  const element = h('span.job-actions');
  const buttons = Object.entries(actions).map(([name, {text, title, body, fits, key}]) => {
    const button = action(text, async () => {
      const mine = job, answer = await body(mine);
      if (!answer) return;
      if (answer.id !== mine.id) { retried.add(mine.id); element.update(job); }
      announce(`Job ${answer.id}, ${answer.name}: ${word(stateOf(answer))}`);
      changed(answer, name);
    }, {title, name: `${text.replace('…', '')} job ${job.id}`, class: name});
    return {button, fits, key, text};
  });
  element.append(...buttons.map(one => one.button));
  element.update = next => {
    const isOther = next.id !== job.id;
    job = next;
    for (const {button, fits, key, text} of buttons) {
      if (isOther) button.rename(`${text.replace('…', '')} job ${job.id}`);
      const isShown = mayChange(job) && fits(job);
      // An error stays beside its button until it is pressed again.
      button.hidden = !isShown;
      const isOver = key === 'r' && retried.has(job.id);
      enable(button.button, isShown && !isOver);
      if (key === 'r') say(button.button, isOver ? 'Retried' : text);
    }
  };
  element.press = key => buttons.find(one => one.key === key && one.fits(job))?.button.button.click();
  element.update(job);
  return element;
}

/** The priority of a job, which a click changes by 10, up to the highest one that the token allows. */
export function priorityStepper(job, changed = () => {}) {
  // What changes it is said once. Rows that show other jobs while somebody scrolls say nothing.
  const value = h('output', {'aria-live': 'off'}, job.priority), highest = highestPriority();
  const set = async to => {
    const answer = await send('PATCH', `jobs/${job.id}`, {priority: Math.max(0, Math.min(highest, to))});
    announce(`Job ${job.id}: priority ${answer.priority}`);
    changed(answer);
    // The row may show another job by now.
    if (answer.id === job.id) element.update({...job, ...answer});
  };
  const step = (text, by, name) => action(text, () => set(by > 0 ? Math.floor(job.priority / 10) * 10 + 10 : Math.ceil(job.priority / 10) * 10 - 10), {name: `${name} the priority of job ${job.id}`, title: `${name} the priority (${text === '−' ? '-' : text})`, class: 'step'});
  const less = step('−', -10, 'Lower'), more = step('+', 10, 'Raise');
  const element = h('span.stepper', {title: `Priority, 0 to ${highest}${highest < 100 ? ', the highest one that your token allows' : ''}`}, less, value, more);
  element.update = next => {
    if (next.id !== job.id) { less.rename(`Lower the priority of job ${next.id}`); more.rename(`Raise the priority of job ${next.id}`); }
    job = next;
    say(value, String(job.priority));
    const isShown = mayChange(job) && isOpen(job.state);
    less.hidden = more.hidden = !isShown;
    enable(less.button, job.priority > 0);
    enable(more.button, job.priority < highest);
  };
  element.press = key => (key === '-' ? less : more).button.click();
  element.update(job);
  return element;
}

/** How a job ended, in words without codes. */
export const resultWords = job => named((job.result ?? '').replace(/^failed with exit code \d+(: |$)/, (_, more) => more ? 'failed: ' : 'failed').replace(`${job.manifest}: `, '').replace(/(\d) frame(s?)\b(?![-.\/])/g, '$1 picture$2'), [[job.owner, job.owner_name], [farm.session?.owner, farm.session?.name]]);

/** Why a job is where it is, in a few words. */
export function because(job) {
  if (job.state === 'running' || job.state === 'starting') {
    const now = farm.lives.get(job.run);
    if (job.cancelling) return 'is being cancelled';
    if (!now) return job.state === 'starting' ? 'starts' : 'begins';
    const {left} = progress(now);
    return [now.isPaused ? (now.leased ? `${now.leased} still in work` : 'no work is given out') : plural(now.leased, 'worker'), now.failed ? `${now.failed} failed` : '', left != null ? `${elapsed(left)} left` : ''].filter(Boolean).join(' · ');
  }
  if (job.state === 'waiting') return withoutPath(job.waiting_for?.words, job.name).replace(/; try again at (\S+Z)$/, (_, next) => `. The farm tries again at ${when(next)}.`) + (job.run_next ? ' · starts before all others' : '');
  if (job.state === 'held') return 'until it is released';
  if (isRepaired(job)) return repairWords(job.run);
  const result = resultWords(job).replace(/^failed: ([^:/]*: )?/, '');
  if (job.state !== 'done' || result !== 'done') return result;
  const seconds = (new Date(job.ended) - new Date(job.started)) / 1000;
  return job.started ? `took ${seconds < 1 ? 'less than a second' : elapsed(seconds)}` : '';
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
      const known = frames.length ? frames : [await get(`runs/${encoded(run)}/frames/1`)].filter(({state}) => ['skipped', 'kept'].includes(state));
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

/** Whether a run has a record. A job that never came to its turn has none. */
async function isThere(run) {
  try { await get(`runs/${encoded(run)}`); return true; } catch (error) {
    if (error.status === 404) return false;
    throw error;
  }
}

export function jobView(id, view) {
  // Whoever hands a job in, or sees it wait, wants to see its run.
  let job = null, source = null, wrote = '', hasRun = false, leads = submitted.delete(`${id}`), isClosed = false;
  const title = h('h1'), badge = h('span.badge'), sub = h('span'), why = h('p.reason'), buttons = h('div.buttons'), known = h('div');
  const log = h('pre.log', {tabindex: 0, role: 'region', 'aria-label': 'Log'}), logPart = h('section', {hidden: true}, h('h2', 'Log'), log), share = bar(0, 'Progress');
  share.hidden = true;
  const link = h('p.lead'), place = h('div'), manifest = h('pre.log', {tabindex: 0, role: 'region', 'aria-label': 'Manifest'}), manifestWords = h('p.quiet');
  const edit = h('button', {type: 'button', onclick: () => { location.hash = `#/submit?job=${id}`; }, title: 'Opens its manifest in Submit, where you can change it'}, 'Edit and submit again');
  const manifestPart = h('section', {hidden: true}, h('div.tools', h('h2', 'Manifest'), edit), manifestWords, manifest);
  fill(view, h('div.head.job-head', h('div', title, h('p.sub', badge, sub)), buttons), why, share, link, place, known, manifestPart, logPart);
  let row = null, stepper = null;

  async function loadManifest() {
    try {
      const found = await get(`jobs/${id}/manifest`), {text} = found;
      source = found;
      renew(manifest, text, () => visible(text, true));
      say(manifestWords, found.manifest ? 'This is what the file has now.' : 'This is the text that was submitted.');
    } catch (error) {
      // The path of the manifest is known anyway.
      source = {manifest: job.manifest};
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
    leads ||= ['waiting', 'held', 'starting'].includes(job.state);
    hasRun = Boolean(job.run && job.tries) && (farm.lives.has(job.run) || await isThere(job.run));
    if (isClosed) return;
    if (leads && hasRun && !['waiting', 'held'].includes(job.state)) {
      announce('The run has begun');
      location.replace(`#/runs/${encoded(job.run)}`);
      return;
    }
    show();
    if (isFirst) {
      await loadManifest();
      if (isClosed) return;
      show();
    }
    if (hasRun && job.state === 'failed') await learnRepairs(await get(`runs/${encoded(job.run)}/errors`));
    if (hasRun) {
      renew(place, job.run, () => results(job.run));
      place.firstChild.load();
    }
    if (job.tries) {
      try {
        const next = await (await request('GET', `jobs/${id}/log`)).text();
        if (next !== wrote) { wrote = next; fill(log, visible(next, true)); }
        logPart.hidden = !wrote;
      } catch (error) { if (error.status !== 404) throw error; }
    }
  }
  function show() {
    if (!job || isClosed) return;
    renew(title, job.name, () => visible(job.name));
    const state = stateOf(job);
    badge.className = `badge ${state}`;
    say(badge, `${sign(state)} ${word(state)}`);
    say(sub, `job ${job.id}`);
    const reason = state === 'paused' ? pausedWords(farm.lives.get(job.run)) : because(job);
    const words = job.state === 'waiting' && reason ? reason.replace(/^(waits )?/, waits => waits ? 'Waits ' : 'Waits: ') : isOpen(job.state) ? reason : isRepaired(job) ? `Some pictures failed. All of them were ${reason}.` : resultWords(job);
    renew(why, words, () => visible(words));
    if (!row) {
      row = jobActions(job, (answer, name) => { if (isClosed) return; if (name === 'retry') { location.hash = `#/jobs/${answer.id}`; } else { job = answer; show(); } });
      stepper = priorityStepper(job, answer => { job = answer; show(); });
      fill(buttons, stepper, row);
    }
    row.update(job);
    stepper.update(job);
    const now = farm.lives.get(job.run);
    share.hidden = !now;
    if (now) share.set(progress(now).share, now.failed / Math.max(1, now.frames));
    const text = now ? `Watch its run: ${percent(progress(now).share)}` : 'See its run, with all pictures';
    renew(link, [hasRun, job.run, text], () => hasRun ? h('a.button', {href: `#/runs/${encoded(job.run)}`}, text) : null);
    const jobLink = other => h('a', {href: `#/jobs/${other}`}, `job ${other}`);
    renew(known, [job, source, isRepaired(job), farm.repaired.get(job.run), [...farm.lives.keys()]], () => facts(
      ['Place in the queue', job.position && `${job.position}`],
      ['Needs', job.after.length ? job.after.map((need, index) => [index ? ', ' : '', jobLink(need.job), need.on === 'end' ? ' (any end)' : '']) : null],
      // The service knows that a run is in the way, and not which one.
      ['Runs now', /another run/.test(reason) && [...farm.lives.keys()].filter(run => run !== job.run).slice(0, 5).map((run, index) => [index ? ', ' : '', h('a', {href: `#/runs/${encoded(run)}`}, h('bdi', visible(run)))])],
      ['Not before', job.not_before && when(job.not_before)],
      // A text has no file. The path that the farm has for it would lead nobody anywhere.
      ['Manifest', source && (source.manifest ? path(source.manifest) : ['a text', source.name ? [' in place of the file ', h('bdi', visible(`${source.name}.yaml`))] : null, '. ', h('button', {type: 'button', class: 'quiet', onclick: () => manifest.focus()}, 'Look at it')])],
      ['Folder', source?.folder && path(source.folder)],
      ['Owner', [scheduleOf(job) ? scheduleLink(job, `the schedule ${scheduleOf(job)}`) : h('span', {title: job.owner}, visible(job.owner_name ?? named(job.owner, [[farm.session?.owner, farm.session?.name]]))), may('submit') && !mayChange(job) ? '. Only its owner and administrators change this job.' : null]],
      ['Labels', Object.keys(job.labels).length && Object.entries(job.labels).map(([name, value]) => h('a.label', {href: `#/queue?${new URLSearchParams({q: `label=${name}=${value}`})}`}, visible(`${name}=${value}`)))],
      ['Kept', job.kept_by_reason && h('ul.plain', keptWords(job.kept_by_reason).map(words => h('li', visible(words))))],
      ['Repaired by', isRepaired(job) && farm.repaired.get(job.run) ? jobLink(farm.repaired.get(job.run)) : null],
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
    begin: load, title: `job ${id}`, close: () => { isClosed = true; endings.forEach(end => end()); },
    keys: {n: () => press('n'), p: () => press('p'), h: () => press('h'), c: () => press('c'), r: () => press('r'), '+': () => stepper?.press('+'), '-': () => stepper?.press('-')},
  };
}
