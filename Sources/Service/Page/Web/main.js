// The frame of the page: who is signed in, the views and their addresses, the state of the connection, and the keys.
import {announce, ask, dismiss, failed, fill, h, plain, problemText, renew, say, setConnected, visible} from './dom.js';
import {Problem, get, onSignedOut, send, signedIn} from './api.js';
import {endReloads, farm, loadFarmNow, may, onFarm, onStaleness, reloadFailed, staleness} from './farm.js';
import {belongTo, forget, kept} from './kept.js';
import * as live from './live.js';
import {count, plural, time, when} from './words.js';

const place = id => document.getElementById(id);
const view = place('view');
const tabs = [['queue', 'Queue'], ['runs', 'Runs'], ['errors', 'Errors'], ['workers', 'Workers'], ['schedules', 'Schedules'], ['submit', 'Submit']];
let current = null, shown = 0, hasFailed = false;

// ---- Addresses

function route() {
  const [path, query] = location.hash.replace(/^#/, '').split('?');
  let parts;
  try { parts = path.split('/').filter(Boolean).map(decodeURIComponent); } catch { parts = []; }
  const [name, first, what, second] = parts, parameters = new URLSearchParams(query ?? '');
  // The module of a view is loaded when it is looked at first.
  if (name === 'runs' && first && what === 'frames' && /^[1-9]\d{0,8}(p[1-9]\d{0,8})?$/.test(second ?? '')) return ['runs', () => import('./frame.js'), module => module.frameView(first, second, view)];
  if (name === 'runs' && first) return ['runs', () => import('./run.js'), module => module.runView(first, view)];
  if (name === 'jobs' && /^\d+$/.test(first ?? '')) return ['queue', () => import('./jobs.js'), module => module.jobView(first, view)];
  const views = {
    queue: [() => import('./queue.js'), 'queueView'], runs: [() => import('./runs.js'), 'runsView'], errors: [() => import('./errors.js'), 'errorsView'],
    workers: [() => import('./workers.js'), 'workersView'], schedules: [() => import('./schedules.js'), 'schedulesView'], submit: [() => import('./submit.js'), 'submitView'],
  };
  const chosen = Object.hasOwn(views, name ?? '') ? name : 'queue';
  const [load, maker] = views[chosen];
  return [chosen, load, module => module[maker](parameters, view)];
}

async function show() {
  if (!farm.session) return;
  const [tab, load, make] = route(), mine = ++shown, isFirst = shown === 1;
  current?.close();
  current = null;
  dismiss();
  endReloads();
  hasFailed = false;
  for (const link of place('nav').children) if (link.dataset.tab === tab) link.setAttribute('aria-current', 'page'); else link.removeAttribute('aria-current');
  fill(view);
  view.className = `view-${tab}`;
  view.setAttribute('aria-busy', 'true');
  scrollTo(0, 0);
  // Someone who walks by keyboard or hears the page begins at its new content.
  if (!isFirst && document.activeElement === document.body) view.focus({preventScroll: true});
  try {
    const module = await load();
    // Somebody may have gone on while the module came.
    if (mine !== shown) return;
    current = make(module);
    document.title = `${plain(current.title)} – Penumbra`;
    await current.begin();
  } catch (error) {
    if (mine === shown) { hasFailed = true; fill(view, failed(error, show)); }
  }
  if (mine === shown) view.removeAttribute('aria-busy');
}
addEventListener('hashchange', show);

// Addresses of this page are views, so the browser must not follow the link to the content.
document.querySelector('.skip').addEventListener('click', event => {
  event.preventDefault();
  view.focus();
});

// ---- The head of the page

function showHead() {
  const {status, session} = farm;
  place('nav').hidden = !session;
  if (!session) { fill(place('summary')); fill(place('account')); return; }
  if (!place('nav').children.length) fill(place('nav'), tabs.filter(([name]) => ({submit: may('submit'), schedules: may('admin')})[name] ?? true).map(([name, text]) => h('a', {href: `#/${name}`, 'data-tab': name, class: name === 'submit' ? 'primary' : null}, text)));
  if (!place('account').children.length) {
    fill(place('account'), h('button', {type: 'button', class: 'quiet', title: `${session.scope}${session.expires ? `, until ${when(session.expires)}` : ''}`, onclick: askToSignOut, 'aria-label': `Sign out ${plain(session.name)}`}, h('bdi', visible(session.name)), ' · sign out'),
      h('button', {type: 'button', class: 'quiet', 'aria-label': 'Words and keys', title: 'Words and keys (?)', onclick: help}, '?'));
  }
  if (!status) return;
  const busy = [...farm.lives.values()].reduce((sum, run) => sum + run.leased, 0), waiting = status.queue.waiting ?? 0, failing = [...farm.lives.values()].filter(run => run.failed).length;
  const parts = [h('span', `${Math.min(busy, status.workers)} of ${plural(status.workers, 'worker')} busy`)];
  if (farm.lives.size) parts.push(h('span', plural(farm.lives.size, 'run')));
  if (waiting) parts.push(h('span', `${count(waiting)} waiting`));
  if (failing) parts.push(h('span.fault', `✗\ufe0e ${count(failing)} failing`));
  if (status.drained) parts.push(h('span.caution', '‖\ufe0e drained'));
  const text = parts.map(part => part.textContent).join();
  if (place('summary').shown !== text) { place('summary').shown = text; fill(place('summary'), parts); }
}
onFarm(showHead);

function showLink() {
  const words = {off: '', connecting: '○ connecting …', live: '● live', lost: '✗\ufe0e not connected; trying again'};
  say(place('link'), words[live.state] + (live.reason ? `: ${plain(live.reason)}` : ''));
  place('link').className = `link ${live.state}`;
  document.documentElement.dataset.link = live.state;
  setConnected(live.state === 'live');
}
let wasLost = false;
live.on('state', state => {
  showLink();
  if (state === 'lost') announce(`The connection is lost${live.reason ? `: ${plain(live.reason)}` : ''}. What is shown may be old.`);
  if (state === 'live' && wasLost) announce('The connection is back.');
  wasLost = state === 'lost' || wasLost && state === 'connecting';
});
/** Says since when something that is shown is old, although there is a connection. */
function showStaleness() {
  const stale = live.state === 'lost' ? null : staleness(), bar = place('stale');
  bar.hidden = !stale;
  renew(bar, stale && [stale.since, stale.problem.message, stale.problem.remedy], () => stale && [
    h('div', h('b', `Not up to date since ${time(stale.since)}, trying again.`), h('div', problemText(stale.problem))),
    h('button', {type: 'button', onclick: reloadFailed}, 'Try now')]);
}
onStaleness(showStaleness);
live.on('notice', ({detail, remedy}) => {
  place('notice').hidden = false;
  fill(place('notice'), problemText({message: detail, remedy}), h('button', {type: 'button', onclick: closeNotice}, 'Close'));
});
function closeNotice() {
  place('notice').hidden = true;
  fill(place('notice'));
}

// ---- Who is signed in

function signIn(words = '') {
  current?.close();
  current = null;
  endReloads(true);
  shown++;
  farm.session = farm.status = null;
  farm.lives.clear();
  live.stop();
  fill(place('nav'));
  showHead();
  // Nothing of the farm stays readable.
  dismiss();
  closeNotice();
  fill(place('polite'));
  document.title = 'Sign in – Penumbra';
  view.className = 'view-sign-in';
  view.removeAttribute('aria-busy');
  const token = h('input', {id: 'token', type: 'password', autocomplete: 'current-password', required: true, spellcheck: 'false', 'aria-describedby': 'sign-in-trouble'});
  const trouble = h('p', {id: 'sign-in-trouble', class: 'trouble', role: 'alert'}, words), button = h('button.primary', 'Sign in');
  const form = h('form', {onsubmit: async event => {
    event.preventDefault();
    fill(trouble);
    button.disabled = true;
    try {
      await send('POST', 'session', {token: token.value.trim()});
      otherTabs.postMessage('changed');
      await enter();
    } catch (error) {
      // The token is not kept anywhere on this page.
      fill(trouble, error.status === 401 ? '✗\ufe0e This token is not valid: it may be mistyped, revoked or too old. Copy it again, or ask an administrator of the farm for a new one.' : problemText(error));
      token.select();
    } finally { button.disabled = false; }
  }}, h('h1', 'Sign in'), h('p', 'The farm asks who you are. You get a token from an administrator of the farm.'),
  h('input', {class: 'unseen', autocomplete: 'username', value: 'penumbra', tabindex: -1, 'aria-hidden': 'true', readonly: true}), h('label.field', h('span', 'Token'), token, h('small', 'begins with pnb_')), trouble, button,
  h('details', h('summary', 'How an administrator makes a token'), h('p', 'In a terminal of the farm\'s machine:'), h('code.line', 'penumbra token add YOUR-NAME --scope submit')));
  fill(view, form);
  token.focus();
  if (words) lookAgain();
}
/**
 * Looks whether there is a session again. Whoever signs in with another token ends the session before, and it takes a moment until
 * the browser has the new one. Without a message of another tab nothing else would tell.
 */
function lookAgain() {
  const mine = shown;
  for (const seconds of [1, 3, 10]) setTimeout(() => { if (mine === shown && !farm.session) checkSession(); }, 1000 * seconds);
}
document.addEventListener('visibilitychange', () => { if (!document.hidden && !farm.session && place('token')) checkSession(); });
async function askToSignOut() {
  if (await ask('Sign out?', 'To sign in again you need your token.', 'Sign out')) await signOut();
}
async function signOut() {
  // Without a session there is nothing to end. After any other answer the cookie is still good, and the person has to know.
  place('account').querySelector('.trouble')?.remove();
  try { await send('DELETE', 'session'); } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status !== 401) { place('account').append(h('span.trouble', {role: 'alert'}, 'You are still signed in: ', problemText(error))); return; }
  }
  otherTabs.postMessage('changed');
  forget();
  // The page is loaded anew, without its address: nothing of this person stays in memory.
  live.stop();
  location.replace(location.pathname);
}

/** A browser has one session, which all its tabs share. The channel is that of the page's address, since there may be several farms at a host. */
const otherTabs = new BroadcastChannel(`penumbra ${new URL('.', location).pathname}`);
const hasEnded = 'Your session has ended: the token was revoked, or it is too old.';
/** Somebody may have signed in or out in another tab. What is shown has to be what the session that is used now may see. */
async function checkSession(words) {
  let session = null;
  try { session = await get('session'); } catch (error) {
    if (!(error instanceof Problem)) throw error;
    // Without an answer nothing is known. When there is one again, it is checked again.
    if (error.status !== 401) return;
  }
  if (!session) { if (farm.session) signIn(words); return false; }
  const isSame = farm.session && ['owner', 'scope', 'max_priority', 'expires'].every(key => farm.session[key] === session[key]);
  if (isSame || (farm.session === null && place('token')?.value)) return;
  live.stop();
  await begin();
  announce(`Signed in as ${plain(session.name)}`);
}
otherTabs.onmessage = async () => {
  // This tab has its own memory of what is kept.
  if (await checkSession('You have signed out in another tab.') === false) forget();
};
live.on('back', () => { if (hasFailed) show(); });
// The stream is that of the session which the browser has now. It may have changed since the page asked whose it is.
live.on('opened', () => { checkSession(hasEnded); });
// The answer may be for the session before the one that the browser has now.
let isChecking = false;
onSignedOut(async () => {
  if (!farm.session || isChecking) return;
  isChecking = true;
  try { await checkSession(hasEnded); } finally { isChecking = false; }
});

async function enter() {
  const session = await get('session');
  if (belongTo(session.owner)) { location.reload(); return; }
  farm.session = session;
  signedIn();
  fill(place('account'));
  fill(place('nav'));
  live.start();
  showHead();
  loadFarmNow();
  await show();
}
let begun = 0, failures = 0, later = null;
/** Finds out who is signed in. While the service is away it tries again, later each time. */
async function begin() {
  const mine = ++begun;
  clearTimeout(later);
  try {
    await enter();
    failures = 0;
  } catch (error) {
    // Somebody could not wait, and this has begun again meanwhile.
    if (mine !== begun) return;
    if (error.status === 401) { failures = 0; signIn(); return; }
    const trouble = failed(error, begin);
    // The same words are not said again, and the focus stays on their button.
    if (view.textContent !== trouble.textContent) fill(view, trouble);
    say(place('link'), '✗\ufe0e not connected; trying again');
    place('link').className = 'link lost';
    if (!(error instanceof Problem)) throw error;
    later = setTimeout(begin, 1000 * Math.max(Math.min(15, 2 ** failures++), Math.min(600, error.retryAfter || 0)));
  }
}

// ---- Keys

const keys = [['/', 'filter'], ['↑ ↓', 'choose in a list, or in a map that has the focus (Tab)'], ['Enter', 'open'], ['p', 'pause or resume'], ['c', 'cancel, after a question'], ['r', 'retry'], ['n', 'run next'], ['h', 'hold or release'], ['+ -', 'priority'], ['[ ]', 'picture before, picture after'], ['0 1 + -', 'on a picture: fit, exact pixels, zoom'], ['s', 'submit a job'], ['1 … 5', 'the views, but not on a picture'], ['?', 'this help']];
const words = [['farm', 'the machine, or the group of machines, that does the work'], ['manifest', 'a short text that says which pictures to take, what to do with them, and where to put the results'], ['job', 'a manifest that was submitted'], ['run', 'the work on a job, from its start to its end'],
  ['frame', 'what commands and programs call a picture, or a page of a picture with pages'], ['published', 'the result is in its place'], ['worker', 'a process that renders pictures']];
const hasKeys = () => kept.get('keys') !== 'off';
function help() {
  const box = h('input', {type: 'checkbox', checked: hasKeys(), onchange: event => kept.set('keys', event.target.checked ? 'on' : 'off')});
  const list = (rows, term) => h('dl.keys', rows.map(([first, text]) => h('div', h('dt', term(first)), h('dd', text))));
  ask('Words and keys', null, null, [list(words, word => word), list(keys, key => key.split(' ').map(one => h('kbd', one))), h('label.check', box, ' single letters act')]);
}
const isField = element => element?.matches?.('input:not([type=checkbox]):not([type=range]), textarea, select') ?? false;
// A press on something that takes no focus, such as a picture that is dragged, leaves the focus in the field. Then letters would not act.
addEventListener('pointerdown', event => {
  const field = document.activeElement;
  if (isField(field) && event.target !== field && !event.target.closest?.('label, [role=listbox]')) field.blur();
}, {capture: true});
addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || place('dialog').open || !farm.session) return;
  if (isField(event.target)) {
    if (event.key === 'Escape') event.target.blur();
    return;
  }
  if (event.key === '?') { event.preventDefault(); help(); return; }
  if (!hasKeys()) return;
  // Arrows choose in the list of a view, wherever the focus was.
  const rows = ['ArrowDown', 'ArrowUp'].includes(event.key) && [document.body, view].includes(document.activeElement) && view.querySelector(':scope > .list:not([hidden])');
  if (rows) {
    event.preventDefault();
    rows.focus({preventScroll: true});
    rows.dispatchEvent(new KeyboardEvent('keydown', {key: event.key}));
    return;
  }
  const body = current?.keys?.[event.key] ?? {s: () => { if (may('submit')) location.hash = '#/submit'; }, ...Object.fromEntries(tabs.slice(0, may('admin') ? 5 : 4).map(([name], index) => [`${index + 1}`, () => { location.hash = `#/${name}`; }]))}[event.key];
  // A key that is held acts once. Frames go on, one after the other.
  if (body) { event.preventDefault(); if (!event.repeat || '[]'.includes(event.key)) body(); }
});

showLink();
begin();
