// One run: what it does, all its frames, its pictures and its problems.
import {action, announce, ask, bar, each, enable, facts, failed as failedView, fill, h, lead, path, plain, renew, say, strip as stateStrip, visible} from './dom.js';
import {encoded, get, lines, request, retryRun, send, submitted} from './api.js';
import {calmly, eachSecond, farm, learn, learnRepairs, may, mayChange, mayReadAll, now, onFarm} from './farm.js';
import {frameMap, tileMaps} from './map.js';
import {lastPictures, pictureList} from './pictures.js';
import {frameFile} from './thumbs.js';
import {pausedWords, priorityStepper, repairWords, resultWords, results} from './jobs.js';
import {errorGroups} from './errors.js';
import * as live from './live.js';
import {bytes, count, duration, elapsed, frameName, fullTime, isOpen, isRunOpen, keptWords, measure, percent, pictureName, plural, progress, sign, taskWords, withoutPath, word} from './words.js';

export function runView(name, view) {
  const address = `runs/${encoded(name)}`, here = `#/runs/${encoded(name)}`;
  let run = null, job = null, early = null, hasMap = false, hasNews = false, isClosed = false, mapsAsked = 0;
  const kept = new Map();

  const title = h('h1'), state = h('span.badge'), reason = h('p.reason');
  const share = bar(0, 'Pictures that are done'), states = stateStrip(), line = h('p.figures');
  const map = frameMap(frame => { location.hash = `${here}/frames/${frame}`; }, frame => frameFile(name, frame));
  const tiles = tileMaps((frame, page) => farm.lives.get(name)?.running.find(task => task.frame === frame && task.page === page)?.file);
  const tilesPart = h('section', {hidden: true}, h('h2', 'Tiles'), tiles);
  const slots = h('ul.slots'), slotsPart = h('section', {hidden: true}, h('h2', 'In work'), slots);
  const all = pictureList(name, map), strip = lastPictures(name), stripPart = h('section', {hidden: true}, h('h2', 'Last pictures'), strip);
  const problems = h('div'), problemsPart = h('section', {hidden: true}, h('h2', 'Problems'), problems);
  const known = h('div'), priority = h('span'), place = results(name);
  const log = h('pre.log', {tabindex: 0, role: 'region', 'aria-label': 'Log'});
  const logPart = h('details', {ontoggle: () => { if (logPart.open) loadLog(); }}, h('summary', 'Log of the run'), log);
  const verified = h('div.verified', {role: 'status'});

  const pause = action('Pause', async () => {
    // The state may be another one when the answer comes.
    const isPaused = run.state === 'paused';
    await send('POST', `${address}/${isPaused ? 'resume' : 'pause'}`);
    announce(isPaused ? 'The run resumes' : 'The run pauses');
    await load();
  }, {title: 'Give workers nothing more to do. Pictures in work are finished first (p)'});
  const cancel = action('Cancel…', async () => {
    if (await ask(`Cancel ${plain(run?.job ?? name)}?`, 'It ends when the pictures in work are done. Published outputs stay.', 'Cancel the run')) { await send('POST', `${address}/cancel`); await load(); }
  }, {title: 'c'});
  const retry = action('Retry', async () => {
    const job = await retryRun(name);
    // Somebody may have gone on meanwhile.
    if (!isClosed) location.hash = `#/jobs/${job.id}`;
  }, {title: 'r'});
  const verify = action('Verify outputs', async button => {
    fill(verified, h('p', 'Reading outputs …'));
    enable(button, false);
    try { showVerified(await lines(`${address}/verify`, {sample: 400})); } catch (error) { fill(verified); throw error; } finally { enable(button, true); }
  });
  for (const one of [pause, cancel, retry, verify]) enable(one.button, false);
  fill(view,
    h('div.head', h('div', title, h('p.sub', state, h('bdi', name), priority)), h('div.buttons', may('submit') ? [pause, cancel, retry, mayReadAll() ? verify : null] : null)),
    reason, share, states, line, place, map, verified,
    h('div.columns', slotsPart, tilesPart), stripPart, problemsPart, all, logPart, known);

  async function load() {
    const look = tiles.look();
    try { run = await get(address); } finally { look.end(); }
    if (run.live) learn(name, run.live);
    look.take(run.live?.tiled ?? []);
    show();
  }
  async function loadJob() {
    try {
      job = await get(`${address}/job`);
      submitted.delete(`${job.id}`);
    } catch (error) { if (error.status !== 404) throw error; }
  }
  async function loadMap() {
    const mine = ++mapsAsked;
    early ??= [];
    let answer;
    try { answer = await get(`${address}/map`); } catch (error) {
      if (mine === mapsAsked) early = null;
      throw error;
    }
    // A later request has a newer map.
    if (mine !== mapsAsked) return;
    map.load(answer);
    hasMap = true;
    // Changes that came while the map was on its way are made in their order.
    for (const changes of early.splice(0)) map.change(changes);
    early = null;
    showLast();
    all.show();
  }
  async function loadErrors() {
    const [answer, {broken}] = await Promise.all([get(`${address}/errors`), run.counts.stillBroken ? get(`${address}/broken`) : {broken: []}]);
    problemsPart.hidden = !answer.errors.length && !broken.length;
    renew(problems, [answer, broken], () => [errorGroups(answer, {run: name, kept}), broken.length ? stillBroken(broken, here) : null]);
    await learnRepairs(answer);
  }
  async function loadLog() {
    if (!job) return fill(log, 'Runs that were begun by hand keep no log here.');
    const text = await (await request('GET', `jobs/${job.id}/log`)).text();
    const isAtEnd = log.scrollTop + log.clientHeight > log.scrollHeight - 20;
    fill(log, text ? visible(text, true) : 'It wrote nothing.');
    if (isAtEnd) log.scrollTop = log.scrollHeight;
  }
  const errorsSoon = calmly(loadErrors, 2000), runSoon = calmly(async () => { await loadJob(); await load(); await loadErrors(); }, 300), tilesSoon = calmly(load, 1000), mapSoon = calmly(loadMap, 200);

  /** The last pictures are those of the map, so they are the same while the run goes on and after it. */
  function showLast() {
    const last = map.last('published', lastPictures.most).reverse();
    stripPart.hidden = !last.length;
    strip.show(last);
    if (last.length) place.load();
  }
  // However fast pictures are published, the last ones are fetched every two seconds at most.
  const lastSoon = calmly(async () => showLast(), 2000);

  function show() {
    if (!run || isClosed) return;
    const news = farm.lives.get(name), condition = news && isRunOpen(run.state) ? (news.isPaused ? 'paused' : 'running') : run.state;
    run.state = condition;
    renew(title, run.job, () => visible(run.job));
    const isRepaired = condition === 'failed' && farm.repaired.has(name), isCancelled = condition === 'stopped' && job?.state === 'cancelled', badge = isRepaired ? 'repaired' : isCancelled ? 'cancelled' : condition;
    state.className = `badge ${badge}`;
    say(state, `${sign(badge)} ${word(badge)}`);
    const isGoingOn = isRunOpen(condition);
    const why = isRepaired ? `Some pictures failed. All of them were ${repairWords(name)}.` : isCancelled ? resultWords(job) : run.reason ?? (condition === 'paused' ? pausedWords(news) : job?.state === 'failed' || job?.state === 'stopped' ? resultWords(job) : '');
    renew(reason, why, () => visible(why));
    // The service refuses changes of a run that somebody else has submitted, or has begun by hand.
    const isMine = mayChange(job ?? {});
    for (const one of [pause, cancel, retry]) one.hidden = !isMine;
    enable(pause.button, isGoingOn && isMine);
    say(pause.button, condition === 'paused' ? 'Resume' : 'Pause');
    pause.button.title = condition === 'paused' ? 'Let it continue (p)' : 'Give workers nothing more to do. Pictures in work are finished first (p)';
    enable(cancel.button, isGoingOn && isMine);
    enable(retry.button, isMine && !isGoingOn && !isRepaired && (condition !== 'done' || run.counts.stillBroken > 0));
    enable(verify.button, !isGoingOn || run.concluded > 0);
    const parts = [];
    if (news && isGoingOn) {
      hasNews = true;
      const {share: done, left, rate, pictures} = progress(news);
      share.set(done, news.failed / Math.max(1, news.frames));
      parts.push(`${count(news.done)} of ${plural(news.frames, 'picture')}`, percent(done));
      if (news.failed) parts.push(`${count(news.failed)} failed`);
      if (rate) parts.push(`${measure(rate)} MP/s`);
      if (pictures >= 0.1) parts.push(`${measure(pictures)} pictures/s`);
      // While a run is paused, nothing says how long it will take.
      if (condition === 'running') parts.push(done === 1 || left === 0 ? 'about to end' : left ? `${elapsed(left)} left` : 'too early for an estimate');
      parts.push(plural(news.leased, 'worker'));
      if (!news.leased && news.wanted && condition === 'running') parts.push('waits for a worker');
      document.title = `${percent(done)} ${plain(run.job)} – Penumbra`;
    } else if (!isGoingOn || !hasNews) {
      // Frames that the run has left have ended, but nothing was done for them.
      const ended = run.counts.published + run.counts.failed;
      parts.push(run.work ? `${count(ended)} of ${plural(run.work, 'picture')} done${run.counts.skipped ? `, ${count(run.counts.skipped)} more up to date` : ''}` : `nothing to do: all ${run.counts.stillBroken ? 'other ' : ''}outputs are up to date`);
      if (run.counts.failed) parts.push(`${count(run.counts.failed)} failed`);
      if (run.counts.stillBroken) parts.push(`${count(run.counts.stillBroken)} still broken`);
      if (run.ended) parts.push(`took ${elapsed((new Date(run.ended) - new Date(run.started)) / 1000)}`);
      if (run.counts.bytesWritten) parts.push(`${bytes(run.counts.bytesWritten)} written`);
      if (run.counts.seconds > 0 && run.counts.megapixels) parts.push(`${measure(run.counts.megapixels)} megapixels in ${duration(run.counts.seconds)} of work`);
      document.title = `${word(condition)} ${plain(run.job)} – Penumbra`;
    }
    // Between the last news and the result of the run, the last news stay.
    if (parts.length) say(line, parts.join(' · '));
    share.hidden = !isGoingOn;
    const {published, skipped, kept, failed, stillBroken, left} = run.counts;
    states.show(isGoingOn ? [] : Object.entries({published, skipped, kept, failed, still_broken: stillBroken, left}));
    showSlots(isGoingOn ? news?.running ?? [] : []);
    showTiles(isGoingOn);
    renew(known, [run.manifest, job?.id, run.started, run.ended, run.epoch, run.workers, run.counts.keptByReason], () => facts(
      ['Kept', run.counts.keptByReason && h('ul.plain', keptWords(run.counts.keptByReason).map(words => h('li', visible(words))))],
      ['Manifest', job ? h('a', {href: `#/jobs/${job.id}`}, `that of job ${job.id}`) : path(run.manifest)],
      ['Job', job && h('a', {href: `#/jobs/${job.id}`}, `job ${job.id}`)],
      ...[['Started', run.started], ['Ended', run.ended]].map(([term, time]) => [term, time && h('time', {datetime: time}, fullTime(time))]),
      ['Interrupted', run.epoch > 1 ? `${run.epoch === 2 ? 'once' : `${count(run.epoch - 1)} times`}, and continued` : null],
      ['Workers', run.workers && count(run.workers)]));
  }
  function showSlots(running) {
    slotsPart.hidden = !running.length;
    each(slots, running.slice(0, 16), task => task.slot, () => {
      const slot = h('span.slot'), link = h('a'), file = h('bdi.file'), since = h('span.since'), attempt = h('span.caution');
      const element = h('li', slot, link, file, since, attempt);
      element.update = task => {
        const frame = frameName(task.frame, task.page);
        say(slot, `${task.slot}`);
        lead(link, `${here}/frames/${frame}`, `${pictureName(frame)}: ${taskWords(task.tile != null ? `${task.kind}-${task.tile}` : task.kind)}`);
        renew(file, task.file, () => visible(task.file ?? ''));
        say(since, elapsed((now() - task.since / 1e6) / 1000));
        attempt.hidden = task.attempt < 2;
        say(attempt, `try ${task.attempt}`);
      };
      return element;
    });
  }
  function showTiles(isGoingOn) {
    if (!isGoingOn) tiles.clear();
    tilesPart.hidden = tiles.isEmpty();
  }
  function showVerified(answers) {
    const states = answers.find(answer => answer.event === 'verification')?.states ?? {}, others = answers.filter(answer => answer.event === 'verified' && answer.state !== 'as published');
    const total = Object.values(states).reduce((sum, one) => sum + one, 0);
    fill(verified, h('p', {class: others.length ? 'trouble' : 'well'}, others.length ? '✗\ufe0e ' : '✓\ufe0e ',
      total ? `${plural(total, 'output')} read: ${Object.entries(states).map(([words, number]) => `${count(number)} ${words === 'as published' ? 'unchanged' : words}`).join(', ')}` : 'The run has published no outputs.'),
    others.length ? h('ul.plain', others.slice(0, 100).map(one => h('li', `${one.state}: `, path(one.path ?? '')))) : null);
  }

  const endings = [
    onFarm(show),
    live.on('run', event => { if (event.run === name && event.state === 'ended') { runSoon(); mapSoon(); } }),
    live.on('job', event => { if (job && event.id === job.id) { job = {...job, ...event.job}; priority.firstChild?.update(job); runSoon(); if (!isOpen(job.state)) mapSoon(); } }),
    live.on('frames', ({runs}) => {
      for (const one of runs) {
        if (one.run !== name) continue;
        if (one.changes === null) { mapSoon(); tilesSoon(); continue; }
        if (early) { early.push(one.changes); continue; }
        if (!hasMap) { mapSoon(); continue; }
        const failedBefore = map.count('failed');
        if (map.change(one.changes)) { lastSoon(); all.refresh(); }
        if (map.count('failed') !== failedBefore) { errorsSoon(); announce(`${plural(map.count('failed'), 'picture')} of ${run?.job ?? name} failed`); }
      }
    }),
    live.on('tiles', event => { if (event.run === name && run) { tiles.change(event.tiled, event.left); showTiles(isRunOpen(run.state)); } }),
    // Events were lost, so nothing of what is shown is certain.
    live.on('reset', () => { tiles.clear(); showTiles(true); runSoon(); mapSoon(); }),
    live.on('back', () => { runSoon(); mapSoon(); }),
    eachSecond(() => { show(); }),
    eachSecond(calmly(() => { if (logPart.open && run && isRunOpen(run.state)) return loadLog(); }, 2000)),
    () => map.close(),
  ];
  // A job has its run's name before the process has begun the run.
  async function untilItIsThere() {
    for (;;) {
      try {
        await loadJob();
        await load();
        return true;
      } catch (error) {
        const [, id] = /^job-(\d+)-/.exec(name) ?? [];
        if (error.status !== 404 || isClosed || !id) throw error;
        const {state} = await get(`jobs/${id}`);
        if (isClosed) return false;
        // The job waits, or it ended before it began a run. Its own page says why.
        if (!['starting', 'running'].includes(state)) { location.replace(`#/jobs/${id}`); return false; }
        fill(reason, 'The run begins …');
        await new Promise(done => setTimeout(done, 500));
      }
    }
  }
  const begin = async () => {
    if (!await untilItIsThere() || isClosed) return;
    place.load();
    if (job && isOpen(job.state) && mayChange(job)) fill(priority, priorityStepper(job));
    const parts = await Promise.allSettled([loadMap(), loadErrors()]);
    if (parts[0].status === 'rejected') fill(map, h('p.empty', visible(parts[0].reason.message)));
    if (parts[1].status === 'rejected') { problemsPart.hidden = false; renew(problems, null, () => failedView(parts[1].reason, loadErrors)); }
  };
  const press = button => { if (!button.button.disabled && button.isConnected) button.button.click(); };
  return {begin, close: () => { isClosed = true; endings.forEach(end => end()); }, title: name, keys: {p: () => press(pause), c: () => press(cancel), r: () => press(retry)}};
}

/** Pictures that failed in earlier runs. This run did not try them, because they have not changed. Links lead to those whose frames are certain. */
const stillBroken = (broken, here) => h('article.group.bad',
  h('h3.cause', '✗\ufe0e still broken', h('span', plural(broken.length, 'picture'))),
  h('p.message', 'They failed in an earlier run and have not changed, so this run did not try them. “Retry” tries them again.'),
  h('ul.plain', broken.slice(0, 100).map(one => h('li', one.frame ? h('a', {href: `${here}/frames/${frameName(one.frame, one.page)}`}, path(one.input)) : path(one.input), h('p.message', visible(withoutPath(one.message, one.input), true))))));
