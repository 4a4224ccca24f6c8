// One frame: its picture before and after, its facts, and what workers tried.
import {action, enable, facts, fileName, fill, h, path, plain, renew, say, visible} from './dom.js';
import {encoded, get, picture as fetched, retryRun} from './api.js';
import {calmly, eachSecond, mayChange} from './farm.js';
import {compare} from './compare.js';
import {neighbours, stateIn} from './map.js';
import {frameAddress} from './thumbs.js';
import * as live from './live.js';
import {bytes, count, duration, elapsed, frameState, isRunOpen, measure, pictureName, sign, taskName, taskWords, when, withoutPath} from './words.js';

const capital = text => text[0].toUpperCase() + text.slice(1);
/** `RGB, 8 bits` */
const pixels = ({layout = '', samples}) => [{gray: 'gray', grayAlpha: 'gray with alpha', rgb: 'RGB', rgba: 'RGB with alpha'}[layout] ?? layout, {u8: '8 bits', u16: '16 bits', f32: '32 bits, floating'}[samples]].filter(Boolean).join(', ');

/** The frames of the run that somebody looked at last, as its map lists them. They are asked for once, if the run has ended. */
let known = {run: '', map: null};

/** Why a frame has no record, by the letter of its state. */
const withoutRecord = letter => !letter ? 'the run has no such frame'
  : letter === 's' ? 'there was nothing to do with this frame, and which picture it was is not known any more'
  : 'pkfb'.includes(letter) ? 'its record is not kept any more, because the job has run several times since' : 'nothing is recorded of this frame yet';

/**
 * How somebody looked at a picture when they went on to the one before or after it, and the address of that one. Its view takes it. They
 * may have gone elsewhere before there was such a view.
 */
let look = null;

/** The most attempts that are shown at first, and that a click adds. */
const attemptsOfPage = 100;

/** Which job, or run by hand, has published the picture since. */
const repairedWords = ({run, job}) => ['Repaired by ', job ? [h('a', {href: `#/jobs/${job}`}, `job ${job}`), ', in the run '] : 'the run ', h('a', {href: `#/runs/${encoded(run)}`}, h('bdi', run))];

export function frameView(run, name, view) {
  const address = `runs/${encoded(run)}`, here = `#/runs/${encoded(run)}`;
  const number = Number.parseInt(name, 10);
  let frame = null, viewer = null, seen = look?.to === `${here}/frames/${name}` ? look : null, output = 0, asked = 0, runState = '', isCompared = false, isClosed = false, close = () => {};
  const title = h('h1', capital(pictureName(name))), badge = h('span.badge'), sub = h('span'), cause = h('div.cause-box', {hidden: true}), picture = h('div.picture');
  const choice = h('select', {onchange: () => { output = choice.selectedIndex; showPictures(); }}), choices = h('label.tools', {hidden: true}, h('span', 'Output'), choice);
  const leaving = new AbortController(), loadingWords = h('span', {role: 'status'}), loadingTime = h('span');
  const sides = h('div.sides'), attempts = h('div'), recipe = h('div');
  const previous = h('a.button', {hidden: true}, '◀\ufe0e previous'), next = h('a.button', {hidden: true}, 'next ▶\ufe0e');
  const retry = action('Retry', async () => {
    const job = await retryRun(run);
    // Somebody may have gone on meanwhile.
    if (!isClosed) location.hash = `#/jobs/${job.id}`;
  }, {class: 'primary', title: 'A new job that renders what failed in this run (r)', name: 'Retry what failed in this run'});
  for (const link of [previous, next]) link.addEventListener('click', () => { look = viewer ? {...viewer.look(), to: link.getAttribute('href')} : null; });
  look = null;
  retry.hidden = true;
  fill(view,
    h('p.crumbs', h('a', {href: here}, 'run ', h('bdi', run)), ` · ${pictureName(name)}`),
    h('div.head', h('div', title, h('p.sub', badge, sub)), h('div.buttons', retry, previous, next)),
    cause, choices, picture, sides, recipe, h('section', h('h2', 'What workers tried'), attempts));

  /** Says in the picture's place what is done until there is one. */
  let loadingSince = 0;
  function tellLoading(words) {
    if (!loadingSince) {
      loadingSince = Date.now();
      say(loadingTime, '');
      fill(picture, h('div.stage.loading', h('p.waiting', loadingWords, loadingTime)));
    }
    say(loadingWords, words);
  }
  function countSeconds() {
    const seconds = (Date.now() - loadingSince) / 1000;
    if (loadingSince && seconds > 2) say(loadingTime, `${elapsed(seconds)}. The farm makes pictures to look at one after the other.`);
  }
  tellLoading('Looking up this picture …');

  async function load() {
    const [found, now] = await Promise.all([
      get(`${address}/frames/${name}`).catch(error => error.type === '/problems/no-frame' ? null : Promise.reject(error)), get(address)]);
    if (isClosed) return;
    runState = now.state;
    frame = found;
    if (frame) {
      renew(title, frame.input, () => h('bdi', visible(fileName(frame.input))));
      document.title = `${plain(fileName(frame.input))}, ${pictureName(name)} – Penumbra`;
    }
    // The links to its neighbours can wait. Of a frame without a record the map alone knows the state.
    const mapped = loadMap(), letter = frame ? null : stateIn(await mapped, name);
    mapped.then(showNeighbours).catch(() => {});
    if (isClosed) return;
    const state = frameState(frame?.state ?? letter);
    const isInWork = frame?.state === 'open';
    badge.className = `badge ${state.name}`;
    say(badge, isInWork ? (isRunOpen(runState) ? '… not finished' : 'not finished') : `${state.sign}\ufe0e ${state.words}`);
    fill(sub, frame ? path(frame.input) : withoutRecord(letter), frame?.seconds ? ` · ${duration(frame.seconds)} of work` : '', frame?.published ? ` · ${when(frame.published)}` : '', frame?.reason ? [' · ', visible(frame.reason)] : '');
    const failure = frame?.cause ?? (frame?.state === 'still_broken' ? 'failed in an earlier run, and was not tried again' : null);
    cause.hidden = !failure;
    if (failure) {
      fill(cause, h('p.cause', '✗\ufe0e ', visible(failure)), frame.explanation && !frame.repaired ? h('p.explanation', visible(frame.explanation)) : null,
        h('p.message', visible(withoutPath(frame.message, frame.input), true)), frame.repaired ? h('p.well', '✓\ufe0e ', repairedWords(frame.repaired)) : null);
    }
    if (failure && !frame.repaired && !isRunOpen(runState)) get(`${address}/job`).catch(() => ({})).then(job => showRetry(mayChange(job))); else showRetry(false);
    const recipes = frame?.recipes?.filter(Boolean) ?? [];
    renew(recipe, recipes, () => recipes.length ? h('section', h('h2', 'Recipe'), recipes.map(text => h('pre.log.recipe', {tabindex: 0, role: 'region', 'aria-label': 'Recipe'}, visible(text.trimEnd(), true)))) : null);
    // The output of a frame that is published meanwhile is shown, but not while somebody looks at another state of it.
    // Nothing else waits for it: a large one may take minutes.
    if (!isCompared || (isCompared === 'before' && frame?.state === 'published')) showPictures();
    await loadAttempts();
  }
  function showRetry(isShown) {
    retry.hidden = !isShown;
    enable(retry.button, isShown);
  }
  async function loadMap() {
    if (known.run === run) return known.map;
    const isEnded = !isRunOpen(runState), map = await get(`${address}/map`);
    // While a run goes on, it may find more frames.
    if (isEnded) known = {run, map};
    return map;
  }
  function showNeighbours({frames}) {
    neighbours(frames, name).forEach((frame, index) => {
      const link = [previous, next][index];
      link.hidden = !frame;
      link.setAttribute('href', `${here}/frames/${frame}`);
      link.setAttribute('title', `${capital(pictureName(frame))} (${'[]'[index]})`);
    });
  }
  async function showPictures() {
    const outputs = frame?.outputs ?? [], shown = output, mine = ++asked;
    choices.hidden = outputs.length < 2;
    renew(choice, outputs, () => outputs.map(text => h('option', plain(fileName(text)))));
    const of = which => `side=${which}${which === 'after' && shown ? `&output=${shown + 1}` : ''}`;
    const reading = `Reading the size of ${frame ? plain(fileName(frame.input)) : pictureName(name)} …`;
    if (!viewer) tellLoading(reading);
    const side = which => fetched(frameAddress(run, name, `facts?${of(which)}`), leaving.signal, undefined, words => { if (loadingSince) tellLoading(`${reading} ${plain(words)}`); })
      .then(data => data.text()).then(JSON.parse).then(value => ({value}), error => ({error}));
    const [left, right] = await Promise.all([side('before'), side('after')]);
    // Somebody may have chosen another output meanwhile, or gone on. Then nobody would close the viewer.
    if (mine !== asked || isClosed) return;
    isCompared = right.value ? 'both' : 'before';
    loadingSince = 0;
    close();
    if (left.value || right.value) {
      viewer = compare({
        look: viewer?.look() ?? seen,
        name: frame ? fileName(frame.input) : pictureName(name), before: left.value, after: right.value,
        thumb: which => frameAddress(run, name, `picture?${of(which)}&width=1024`),
        crop: (which, {x, y, width, height, scale}) => frameAddress(run, name, `crop?${of(which)}&x=${x}&y=${y}&width=${width}&height=${height}&scale=${scale}`),
      });
      close = viewer.close;
      fill(picture, viewer);
    } else {
      viewer = null;
      const {error} = left, isPassing = !error.status || error.status === 429 || error.status >= 500;
      // Why a frame has failed is told above.
      fill(picture, cause.hidden || isPassing ? h('p.none', visible(error.message), ' ', isPassing ? h('button', {type: 'button', onclick: showPictures}, 'Try again') : null) : null);
    }
    const one = (title, {value, error}, file) => h('div', h('h2', title), file ? h('p.file', path(file)) : null,
      value ? facts(
        ['Size', `${count(value.width)} × ${count(value.height)}`], ['Megapixels', measure(value.width * value.height / 1e6)],
        ['Format', visible(value.format ?? '')], ['Pixels', visible(pixels(value))], ['Pages', value.frames > 1 ? count(value.frames) : null],
        ['File', value.bytes != null ? bytes(value.bytes) : null], ['Digest', value.digest && h('code.digest', visible(value.digest))])
        : h('p.quiet', visible(withoutPath(error.message, frame?.input))));
    fill(sides, one('Before', left, frame?.input), one('After', right, outputs[shown]));
  }
  // Attempts of pages in which all have ended do not change any more. `cursor` is where the first other page begins.
  let settled = [], cursor = '', shownCount = attemptsOfPage, loading = null;
  const loadAttempts = () => loading ??= fetchAttempts().finally(() => { loading = null; });
  async function fetchAttempts() {
    let latest = [], after = cursor, isSettled = true;
    do {
      const answer = await get(`${address}/attempts?task=${number}&limit=100${after && `&after=${encoded(after)}`}`);
      isSettled &&= answer.attempts.every(attempt => attempt.ended);
      if (isSettled && answer.after) { settled = [...settled, ...answer.attempts]; cursor = answer.after; } else { latest = [...latest, ...answer.attempts]; }
      after = answer.after;
    } while (after);
    showAttempts([...settled, ...latest]);
  }
  function showAttempts(all) {
    const shown = all.slice(-shownCount), earlier = all.slice(0, -shownCount), failed = earlier.filter(attempt => attempt.state === 'failed').length;
    renew(attempts, [shown, earlier.length, isRunOpen(runState)], () => [
      earlier.length ? h('p.tools', h('button', {type: 'button', onclick: () => { shownCount += attemptsOfPage; showAttempts(all); }}, `Show ${count(Math.min(attemptsOfPage, earlier.length))} more`), h('span.quiet', `${earlier.length === 1 ? 'one earlier try' : `${count(earlier.length)} earlier tries`}${failed ? `, ${count(failed)} failed` : ''}`)) : null,
      shown.length ? h('ol.attempts', shown.map(attempt => h('li', {},
        h('div.attempt', h('span', {class: `badge ${attempt.state}`}, `${sign(attempt.state)} ${attempt.state}`), h('b', taskWords(attempt.task.split('/')[1] ?? attempt.task)), ` try ${attempt.attempt}, worker ${attempt.worker}`,
          h('span.quiet', ` ${when(attempt.started)}${attempt.ended ? `, ${elapsed((new Date(attempt.ended) - new Date(attempt.started)) / 1000)}` : ''}`)),
        attempt.message ? h('p.message', visible(withoutPath(attempt.message, frame?.input), true)) : null,
        attempt.log ? h('pre.log', {tabindex: 0, role: 'region', 'aria-label': `Log of ${taskName(attempt.task)}`}, visible(attempt.log, true)) : null)))
        : h('p.quiet', isRunOpen(runState) ? 'No worker has tried it yet.' : 'The tries of this run are not kept any more, or there were none.')]);
  }
  const soon = calmly(load, 800);
  const endings = [
    live.on('frames', ({runs}) => { if (runs.some(one => one.run === run) && frame?.state === 'open') soon(); }),
    live.on('run', event => { if (event.run === run && event.state === 'ended') soon(); }),
    live.on('reset', soon), live.on('back', () => { viewer?.again(); soon(); }),
    eachSecond(countSeconds),
    eachSecond(calmly(() => frame?.state === 'open' && isRunOpen(runState) ? loadAttempts() : null, 2000)),
  ];
  // Wherever the focus is, digits do what the buttons of the picture say. The other ones do nothing here: they lead away from other views.
  const digits = Object.fromEntries(['0', '1', '+', '=', '-', '2', '3', '4', '5'].map(key => [key, () => viewer?.keys[key]?.()]));
  return {
    begin: load, title: pictureName(name), close: () => { isClosed = true; leaving.abort(); close(); endings.forEach(end => end()); },
    keys: {...digits, r: () => { if (!retry.hidden) retry.button.click(); }, '[': () => { if (!previous.hidden) previous.click(); }, ']': () => { if (!next.hidden) next.click(); }},
  };
}
