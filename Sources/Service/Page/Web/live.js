// One stream of events for the whole page. It is closed while nobody sees the page, and goes on where it was.
import {Problem, get} from './api.js';

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
function become(next) {
  if (next === state) return;
  state = next;
  tell('state', next);
}

let stream = null, last = null, timer = null, isWanted = false, wasLost = false;
const names = ['job', 'run', 'frames', 'tiles', 'notice', 'reset'];

export function start() { isWanted = true; follow(); }
export function stop() {
  isWanted = false;
  last = null;
  close();
  become('off');
}
function close() {
  clearTimeout(timer);
  stream?.close();
  stream = null;
}

function follow() {
  if (!isWanted || document.hidden) return;
  close();
  if (state !== 'lost') become('connecting');
  const mine = new EventSource('api/v1/events' + (last ? '?after=' + encodeURIComponent(last) : ''));
  stream = mine;
  mine.onopen = () => {
    const isBack = wasLost;
    wasLost = false;
    become('live');
    // What the stream does not tell, such as times and positions, may be old.
    if (isBack) tell('back');
  };
  mine.onerror = () => {
    if (mine !== stream) return;
    wasLost = true;
    become('lost');
    // A browser tries again after a broken connection, but never after an answer that is not 200: a proxy's 502, or 401.
    if (mine.readyState === EventSource.CLOSED) { close(); timer = setTimeout(again, 1500); }
  };
  for (const name of names) {
    mine.addEventListener(name, event => {
      if (mine !== stream) return;
      if (event.lastEventId) last = event.lastEventId;
      let data;
      try { data = JSON.parse(event.data); } catch { return; }
      tell(name, data, event.lastEventId);
    });
  }
}

/** Asks for the session first, which tells a service that is away from a token that is not valid any more. */
async function again() {
  if (stream || document.hidden || !isWanted) return;
  try {
    await get('status');
    follow();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status !== 401) timer = setTimeout(again, 2500);
  }
}

document.addEventListener('visibilitychange', () => {
  if (!isWanted) return;
  if (document.hidden) { close(); wasLost = true; } else if (!stream) { follow(); }
});
