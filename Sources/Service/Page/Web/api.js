// Requests to the service. Addresses are relative, so that the page works behind a proxy's prefix.

/** An answer that is not what was asked for: its words, its remedy, and all findings of a manifest. */
export class Problem extends Error {
  constructor(status, body, retryAfter) {
    super(body.detail || body.title || (status && ![502, 504].includes(status) ? `The service answered ${status}.` : 'The service cannot be reached.'));
    Object.assign(this, {status, type: body.type ?? '', remedy: body.remedy ?? '', errors: body.errors ?? [], retryAfter});
  }
}

let signedOut = () => {}, signIns = 0;
export function onSignedOut(body) { signedOut = body; }
/** Requests from before are none of the new session: their answers do not end it. */
export function signedIn() { signIns++; }

let life = new AbortController();
/** Ends all requests that have no answer yet. Nobody answers them any more. */
export function giveUp() {
  life.abort();
  life = new AbortController();
}
/** Several signals as one. Old browsers cannot join them: there the first one counts. */
const joined = signals => AbortSignal.any ? AbortSignal.any(signals) : signals[0];
/** A change that was sent, and to which nobody answers, may have been made. Reads and requests that count once can be repeated. */
const noAnswer = isChange => new Problem(0, isChange ? {
  detail: 'The service does not answer.', remedy: 'It may have made this change. Look at it before you try again.'} : {});
const isRead = (method, address) => method === 'GET' || /^(check|plan|preview|session)$|\/verify$/.test(address);

export const encoded = encodeURIComponent;

/** How far the clock of the service is ahead of the browser's, in milliseconds. */
export let ahead = 0;
function compareClocks(answer, begin) {
  const end = Date.now(), difference = new Date(answer.headers.get('Date') ?? NaN) - (begin + end) / 2;
  // Answers have whole seconds, and one that took long says little.
  if (end - begin < 2000 && Math.abs(difference - ahead) > 2000) ahead = Math.abs(difference) > 2000 ? difference : 0;
}

/** The answer, whose connection may break while its body is read. */
function breakable(answer, signal) {
  for (const kind of ['json', 'text', 'blob']) {
    answer[kind] = async () => {
      try { return await Response.prototype[kind].call(answer); } catch (error) {
        if (signal?.aborted || error instanceof SyntaxError) throw error;
        throw new Problem(0, {});
      }
    };
  }
  return answer;
}

/** Sends a request and returns its answer. An error is thrown as a `Problem`. A change is given up after so many seconds without an answer. */
export async function request(method, address, body, {signal, headers = {}, patience = 15} = {}) {
  const signIn = signIns, isChange = !isRead(method, address), tooLate = new AbortController(), begin = Date.now();
  const timer = isChange && setTimeout(() => tooLate.abort(), patience * 1000);
  let answer;
  try {
    answer = await fetch('api/v1/' + address, {
      method, signal: joined([signal, isChange && tooLate.signal, life.signal].filter(Boolean)), credentials: 'same-origin', cache: method === 'GET' ? 'no-cache' : undefined,
      headers: body === undefined ? headers : {'Content-Type': 'application/json', ...headers},
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw noAnswer(error.name === 'AbortError' && isChange && !('Idempotency-Key' in headers));
  } finally { clearTimeout(timer); }
  compareClocks(answer, begin);
  if (answer.ok) return breakable(answer, signal);
  // A proxy answers with a page of its own while the service is away.
  const problem = await answer.json().catch(() => ({}));
  if (answer.status === 401 && address !== 'session' && signIn === signIns) signedOut();
  throw new Problem(answer.status, problem, Number(answer.headers.get('Retry-After')) || 0);
}

export const get = async (address, options) => (await request('GET', address, undefined, options)).json();
export async function send(method, address, body, options) {
  const answer = await request(method, address, body, options);
  return answer.status === 204 ? null : answer.json();
}
/** An answer with a value on each line. */
export async function lines(address, body, options) {
  const text = await (await request('POST', address, body, options)).text();
  return text.split('\n').filter(Boolean).map(line => JSON.parse(line));
}
const unanswered = new Map();
/** The jobs that were submitted here, and whose runs nobody has seen yet. */
export const submitted = new Set();
/** Sends a request that counts once. If its answer is lost, the same request has the same key when somebody sends it again. */
export async function sendOnce(address, body) {
  const request = JSON.stringify([address, body]);
  if (!unanswered.has(request)) unanswered.set(request, 'page-' + Array.from(crypto.getRandomValues(new Uint8Array(12)), byte => byte.toString(16).padStart(2, '0')).join(''));
  try {
    const answer = await send('POST', address, body, {headers: {'Idempotency-Key': unanswered.get(request)}});
    unanswered.delete(request);
    submitted.add(`${answer.id}`);
    return answer;
  } catch (error) {
    // After a refusal nothing was done. A broken connection and a proxy that gave up say nothing of that.
    if (error.status >= 400 && error.status < 500) unanswered.delete(request);
    throw error;
  }
}

/** Hands in a new job that renders what failed in a run. Outputs that are up to date stay. */
export const retryRun = run => sendOnce(`runs/${encoded(run)}/retry`, {});

// ---- Pictures

// A browser has six connections to a host, for all its windows. Each window that is seen has one for its events, and actions need one, too.
const me = crypto.getRandomValues(new Uint32Array(2)).join(), seen = new Set();
const windows = new BroadcastChannel('penumbra windows');
const tellWindows = (isAnswer, isSeen = !document.hidden) => windows.postMessage({from: me, isSeen, isAnswer});
windows.onmessage = ({data: {from, isSeen, isAnswer}}) => {
  if (isSeen) seen.add(from); else seen.delete(from);
  if (!isAnswer) tellWindows(true);
  serve();
};
document.addEventListener('visibilitychange', () => tellWindows(false));
addEventListener('pagehide', () => tellWindows(true, false));
addEventListener('pageshow', () => tellWindows(false));

/** Two requests for pictures at a time, and one if other windows are seen, too. The newest is the first, because it is what somebody looks at now. */
const waiting = [], most = () => seen.size ? 1 : 2;
let running = 0;
/**
 * Sends a request for a picture when it is the turn of this window. Three windows and more share the connections that are left, and
 * the browser lets one after the other have them. Old browsers, and pages without TLS, have no such locks.
 */
function inTurn(signal, body) {
  const all = [...seen, me].sort(), places = Math.max(1, 5 - all.length);
  if (all.length <= places || !navigator.locks) return body();
  return navigator.locks.request(`penumbra pictures ${all.indexOf(me) % places}`, {signal}, body);
}
const wait = (seconds, signal) => new Promise((done, fail) => {
  const timer = setTimeout(done, seconds * 1000);
  signal.addEventListener('abort', () => { clearTimeout(timer); fail(signal.reason); }, {once: true});
});

/** Fetches a picture. It waits as long as the service asks it to. `body` makes it a POST. `prepares` hears why it takes long. */
export function picture(address, signal, body, prepares) {
  return new Promise((done, fail) => {
    const one = {address, signal, body, prepares, done, fail};
    waiting.push(one);
    signal.addEventListener('abort', () => {
      const index = waiting.indexOf(one);
      if (index >= 0) waiting.splice(index, 1);
      fail(signal.reason);
    }, {once: true});
    while (waiting.length > 400) waiting.shift().fail(new DOMException('', 'AbortError'));
    serve();
  });
}
async function serve() {
  while (running < most() && waiting.length) {
    const next = waiting.pop();
    if (next.signal.aborted) { next.fail(next.signal.reason); continue; }
    running++;
    fetchPicture(next).then(next.done, error => isPreparing(error) ? askLater(next, error) : next.fail(error)).finally(() => { running--; serve(); });
  }
}
const isPreparing = error => error.type === '/problems/preparing';
/** It takes no place meanwhile, and comes after all others. */
function askLater(next, error) {
  next.prepares?.(error.message);
  wait(error.retryAfter || 1, next.signal).then(() => { waiting.unshift(next); serve(); }, next.fail);
}
async function fetchPicture({address, signal, body, prepares}) {
  for (let tries = 1; ; tries++) {
    try {
      return await inTurn(signal, async () => (await request(body ? 'POST' : 'GET', address, body, {signal})).blob());
    } catch (error) {
      if (![429, 503].includes(error.status) || isPreparing(error) || tries === 8) throw error;
      prepares?.(error.message);
      await wait(Math.min(10, error.retryAfter || 1), signal);
    }
  }
}
