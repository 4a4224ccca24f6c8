// What all views share: who is signed in, the state of the service, and what open runs do.
import {Problem, ahead, encoded, get} from './api.js';
import * as live from './live.js';
import {shareOf} from './words.js';

export const farm = {
  /** `{name, scope}`, or null before somebody has signed in. */
  session: null,
  status: null,
  /** What each open run does, by its name. */
  lives: new Map(),
  /** Runs whose failed pictures later runs have all rendered: the job that did so, or null for a run that was begun by hand. */
  repaired: new Map(),
};
const listeners = new Set();
/** Calls `body` when the status or a run has changed, at most once a frame of the screen. */
export function onFarm(body) {
  listeners.add(body);
  return () => listeners.delete(body);
}
let isAsked = false;
function tell() {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(() => { isAsked = false; for (const body of [...listeners]) body(); });
}

/** The highest priority that the token allows for jobs. */
export const highestPriority = () => farm.session?.max_priority ?? 100;
/** A job that runs next is before all priorities, so a token with a limit cannot ask for it. */
export const mayRunNext = () => may('submit') && farm.session?.max_priority == null;

export const may = scope => ({read: 0, submit: 1, admin: 2})[farm.session?.scope ?? 'read'] >= ({submit: 1, admin: 2})[scope];

/** Plans and checks of outputs read whatever the farm's user may read. So tokens with folders may not ask for them. */
export const mayReadAll = () => !farm.session?.roots?.length;
/** Whether the token may change a job. One of the scope `submit`, or one that is limited to folders, may change its own jobs alone. */
export const mayChange = job => may('submit') && (may('admin') && !farm.session.roots?.length || job.owner === farm.session.owner);

// Answers may come in another order than their requests: an older one never replaces a newer one.
let asked = 0, known = 0;
export function setStatus(status, number = ++asked) {
  if (number < known) return;
  known = number;
  farm.status = status;
  tell();
}
export async function loadStatus() {
  const number = ++asked;
  setStatus(await get('status'), number);
}

// ---- Repairs

/** At most so many runs at once are asked which job has repaired them. */
const mostAsked = 20;
/** Learns which runs are repaired, from an answer about errors if there is one already. */
export async function learnRepairs(answer) {
  const {errors, total} = answer ?? await get('errors');
  // Of the groups that are not in the answer nothing is known.
  if (total > errors.length) return;
  const open = new Map();
  for (const {run, count, repaired} of errors.flatMap(group => group.runs)) open.set(run, (open.get(run) ?? 0) + count - repaired);
  const fresh = [];
  for (const [run, number] of open) {
    if (number) farm.repaired.delete(run);
    else if (!farm.repaired.has(run)) { farm.repaired.set(run, null); fresh.push(run); }
  }
  tell();
  await Promise.all(fresh.slice(-mostAsked).map(async run => {
    const address = `runs/${encoded(run)}/frames`, [one] = (await get(`${address}?state=failed&limit=1`)).frames;
    if (!one) return;
    const {repaired} = await get(`${address}/${one.frame}${one.page ? `p${one.page + 1}` : ''}`);
    if (farm.repaired.has(run)) farm.repaired.set(run, repaired?.job ?? null);
  }));
  tell();
}

// ---- Reloads

/** Reloads that have failed since they succeeded last, so that what they show is old. */
const failing = new Set();
let ofView = new Set(), stalenessChanged = () => {};
/** Calls `body` when something that is shown becomes old, or is new again. */
export function onStaleness(body) { stalenessChanged = body; }
/** Since when something that is shown is old, in milliseconds, and the problem. Null if everything is new. */
export function staleness() {
  if (!failing.size) return null;
  return {since: Math.min(...[...failing].map(one => one.since)), problem: [...failing].at(-1).problem};
}
/** Repeats now what has failed. */
export function reloadFailed() { for (const one of [...failing]) one.now(); }
/** Ends the reloads of the view that is left. Without a session those of the page have nothing to load either. */
export function endReloads(isSignedOut = false) {
  for (const one of ofView) one.end();
  ofView = new Set();
  if (isSignedOut) for (const one of [...failing]) one.forget();
}

/** Something that is loaded again and again. After a failure it is tried again, until it succeeds, later each time. */
class Reload {
  #body; #wait; #timer = null; #isRunning = false; #isAskedAgain = false; #isHurried = false; #isEnded = false; #failures = 0;
  since = null;
  problem = null;

  constructor(body, wait) { this.#body = body; this.#wait = wait; }

  /** Loads once after the wait, however often it is asked for meanwhile. After a failure it keeps to the pause. */
  soon() {
    this.since ??= Date.now();
    if (this.#isRunning) this.#isAskedAgain = true; else this.#start(this.#wait);
  }
  now() {
    this.since ??= Date.now();
    clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#isRunning) this.#isAskedAgain = this.#isHurried = true; else if (!this.#isEnded) this.#run();
  }
  /** The service is back: it does not have to wait for as long as while it was away. */
  hurry() {
    this.#failures = 0;
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#start(1000);
  }
  forget() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#succeeded();
  }
  end() {
    this.#isEnded = true;
    this.forget();
  }

  #start(wait) { if (!this.#isEnded) this.#timer ??= setTimeout(() => this.#run(), wait); }
  async #run() {
    this.#timer = null;
    // Nobody looks. When somebody does again, it hurries.
    if (this.problem && document.hidden) return this.#start(this.#pause());
    this.#isRunning = true;
    this.#isAskedAgain = this.#isHurried = false;
    try {
      await this.#body();
      this.#succeeded();
    } catch (error) {
      // Whoever has gone on needs no answer.
      if (this.#isEnded || error.name === 'AbortError') return;
      // Without a session there is nothing to show.
      if (error.status !== 401) this.#failed(error);
      // A mistake of the page is for its console, too.
      if (!(error instanceof Problem)) throw error;
    } finally {
      this.#isRunning = false;
      if (this.#isHurried) { this.since ??= Date.now(); this.#start(0); }
      else if (this.problem) this.#start(this.#pause());
      else if (this.#isAskedAgain) this.soon();
    }
  }
  #pause() {
    const own = Math.min(30, 2 ** this.#failures), asked = Math.min(600, this.problem.retryAfter || 0);
    // Pages that all failed at the same time do not all come back at the same time.
    return 1000 * Math.max(own, asked) * (1 + Math.random() / 5);
  }
  #failed(problem) {
    this.#failures++;
    this.problem = problem;
    failing.add(this);
    stalenessChanged();
  }
  #succeeded() {
    this.#failures = 0;
    this.since = this.problem = null;
    if (failing.delete(this)) stalenessChanged();
  }
}
/**
 * Calls `body` once after `wait` milliseconds, however often it is asked for meanwhile, and again if it fails: until then the page
 * says that it is old. `now` of the result calls it at once. It ends with its view, unless it is of the page.
 */
export function calmly(body, wait = 1500, isOfPage = false) {
  const one = new Reload(body, wait), soon = () => one.soon();
  soon.now = () => one.now();
  if (!isOfPage) ofView.add(one);
  return soon;
}
const loadSoon = calmly(loadStatus, 1500, true);

/** Takes what an open run does, and how far it was when it was paused last. */
export function learn(run, news, before = farm.lives.get(run)) {
  farm.lives.set(run, {...news, pause: news.isPaused ? {share: shareOf(news), seconds: news.seconds, done: news.done, megapixels: news.megapixels} : before?.pause});
}
async function loadFarm() {
  const [, open] = await Promise.all([loadStatus(), get('runs?ended=0')]), before = new Map(farm.lives);
  farm.lives.clear();
  for (const run of open.runs) if (run.live) learn(run.run, run.live, before.get(run.run));
  live.hear();
  tell();
}
/** Loads the state of the farm now, and tries again if that fails. */
export const loadFarmNow = calmly(loadFarm, 0, true).now;

live.on('run', ({run, state, live: news}) => {
  if (state === 'ended') { farm.lives.delete(run); loadSoon(); } else if (news) { learn(run, news); }
  tell();
});
live.on('job', loadSoon);
live.on('reset', loadFarmNow);
live.on('back', () => {
  for (const one of failing) one.hurry();
  loadFarmNow();
});
live.on('state', () => stalenessChanged());

/** The time now by the clock of the service, which stands still while the service is not heard. */
export const now = () => (live.state === 'lost' ? live.heard : Date.now()) + ahead;
/** Calls `body` each second, while the page is connected. */
export function eachSecond(body) {
  const timer = setInterval(() => { if (live.state !== 'lost' && !document.hidden) body(); }, 1000);
  return () => clearInterval(timer);
}
