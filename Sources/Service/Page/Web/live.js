// One stream of events for the whole page. It is closed while nobody sees the page, and goes on where it was.
import {Problem, get, giveUp, request} from './api.js';

const listeners = new Map();
/** Calls `body` with the data of each event of a name, until the returned function is called. */
export function on(name, body) {
  if (!listeners.has(name)) listeners.set(name, new Set());
  listeners.get(name).add(body);
  return () => listeners.get(name).delete(body);
}
function tell(name, data, id) { for (const body of [...listeners.get(name) ?? []]) body(data, id); }

/** `connecting`, `live`, `lost` or `off`: nobody is signed in, or nobody sees the page. */
export let state = 'off';
/** Why the service refuses the stream although it answers, in its own words. Null if it does not answer, or does not say. */
export let reason = null;
function become(next, why = null) {
  if (next === state && why === reason) return;
  [state, reason] = [next, why];
  tell('state', next);
}

// The service sends an event every 15 seconds, `alive` if nothing has happened. Without one for so long the connection is dead, although
// the browser does not know it: the service is stopped, the network drops packets, or the machine was asleep.
const silence = 35_000;
/** How long an answer to a request of the stream may take. */
const patience = 10_000;

/** When the service was heard last, for times that stop with the connection. In milliseconds. */
export let heard = Date.now();
// Two clocks: one goes on while the machine sleeps, and the other one is not set back by anybody.
let mark = {wall: 0, steady: 0};
const waitFrom = () => { mark = {wall: Date.now(), steady: performance.now()}; };
const waited = () => Math.max(Date.now() - mark.wall, performance.now() - mark.steady);
export function hear() { heard = Date.now(); }

let stream = null, last = null, timer = null, watch = null, isWanted = false, wasLost = false, isAsking = false, isRefused = false, failures = 0;
const names = ['job', 'run', 'frames', 'tiles', 'notice', 'reset', 'alive'];

export function start() {
  isWanted = true;
  watch ??= setInterval(look, 1000);
  follow();
}
export function stop() {
  isWanted = wasLost = false;
  last = null;
  clearInterval(watch);
  watch = null;
  close();
  become('off');
}
function close() {
  clearTimeout(timer);
  stream?.close();
  stream = null;
}
function lose(why) {
  wasLost = true;
  become('lost', why);
}

function follow() {
  if (!isWanted || document.hidden) return;
  close();
  waitFrom();
  if (state !== 'lost') become('connecting');
  const mine = new EventSource('api/v1/events' + (last ? '?after=' + encodeURIComponent(last) : ''));
  stream = mine;
  mine.onopen = () => {
    if (mine !== stream) return;
    const isBack = wasLost;
    wasLost = isRefused = false;
    failures = 0;
    waitFrom();
    hear();
    become('live');
    tell('opened');
    // What the stream does not tell, such as times and positions, may be old.
    if (isBack) tell('back');
  };
  mine.onerror = () => {
    if (mine !== stream) return;
    waitFrom();
    lose(reason);
    // A browser tries again after a broken connection, but never after an answer that is not 200: a proxy's 502, or 401.
    if (mine.readyState === EventSource.CLOSED) { close(); isRefused = true; later(); }
  };
  for (const name of names) {
    mine.addEventListener(name, event => {
      if (mine !== stream) return;
      // It may be from before the machine fell asleep. If it is, it comes again.
      if (waited() > silence) { look(); return; }
      waitFrom();
      hear();
      if (event.lastEventId) last = event.lastEventId;
      let data;
      try { data = JSON.parse(event.data); } catch { return; }
      tell(name, data, event.lastEventId);
    });
  }
}

/** Notices that nothing is heard any more. */
function look() {
  if (document.hidden || !(stream || isAsking)) return;
  const isOpen = stream?.readyState === EventSource.OPEN;
  if (waited() <= (isOpen ? silence : patience)) return;
  lose();
  // Other requests have no answer either, and a browser has few connections for all of them.
  if (!isOpen) giveUp();
  if (stream) follow();
}

function later(pause = 0) {
  timer = setTimeout(again, Math.max(1000 * pause, failures++ ? Math.min(15_000, 1000 * 2 ** (failures - 1)) : 100));
}
/** Asks for something else first, which tells a service that is away from a session that has ended. */
async function again() {
  if (stream || isAsking || document.hidden || !isWanted) return;
  isAsking = true;
  waitFrom();
  try {
    await get('status');
    if (isRefused && failures > 1) await askWhy();
    isAsking = false;
    if (!stream) follow();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // Somebody has signed out meanwhile.
    if (!isWanted) return;
    lose(error.type ? error.message : null);
    // Without a session the page stops this, unless it cannot find out whether it has another one.
    later(Math.min(60, error.retryAfter || 0));
  } finally { isAsking = false; }
}
/** A stream of events does not say why it was refused. A plain request does. */
async function askWhy() {
  const asking = new AbortController();
  await request('GET', 'events', undefined, {signal: asking.signal});
  asking.abort();
}

/** Tries at once: something has changed. */
function retry() {
  failures = 0;
  if (isWanted && !document.hidden && state !== 'live') follow();
}
addEventListener('online', retry);
document.addEventListener('visibilitychange', () => {
  if (!isWanted) return;
  wasLost = true;
  if (document.hidden) close(); else if (!stream) { failures = 0; follow(); }
});
