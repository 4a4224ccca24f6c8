// What all views share: who is signed in, the state of the service, and what open runs do.
import {get} from './api.js';
import * as live from './live.js';

export const farm = {
  /** `{name, scope}`, or null before somebody has signed in. */
  session: null,
  status: null,
  /** What each open run does, by its name. */
  lives: new Map(),
  /** When the page heard of the service last, for times that stop with the connection. In milliseconds. */
  heard: Date.now(),
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

export const may = scope => ({read: 0, submit: 1, admin: 2})[farm.session?.scope ?? 'read'] >= ({submit: 1, admin: 2})[scope];

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
/** Calls `body` once after `wait` milliseconds, however often it is asked for meanwhile. Errors are those of the connection, which is shown. */
export function calmly(body, wait = 1500) {
  let timer = null;
  return () => { timer ??= setTimeout(() => { timer = null; Promise.resolve(body()).catch(() => {}); }, wait); };
}
const loadSoon = calmly(loadStatus);

export async function loadFarm() {
  const [, open] = await Promise.all([loadStatus(), get('runs?ended=0')]);
  farm.lives.clear();
  for (const run of open.runs) if (run.live) farm.lives.set(run.run, run.live);
  farm.heard = Date.now();
  tell();
}

live.on('run', ({run, state, live: news}) => {
  if (state === 'ended') { farm.lives.delete(run); loadSoon(); } else if (news) { farm.lives.set(run, news); }
  farm.heard = Date.now();
  tell();
});
live.on('job', loadSoon);
live.on('reset', () => loadFarm().catch(() => {}));
live.on('back', () => loadFarm().catch(() => {}));

/** The time now, which stands still while the service is not heard. */
export const now = () => live.state === 'lost' ? farm.heard : Date.now();
/** Calls `body` each second, while the page is connected. */
export function eachSecond(body) {
  const timer = setInterval(() => { if (live.state !== 'lost' && !document.hidden) body(); }, 1000);
  return () => clearInterval(timer);
}
