// Failed frames, grouped by what is wrong.
import {action, announce, copyable, failed, fill, fileName, h, path, problemText, renew, say, visible} from './dom.js';
import {encoded, get, retryRun} from './api.js';
import {calmly, may} from './farm.js';
import * as live from './live.js';
import {thumb} from './thumbs.js';
import {count, frameName, plural, when, withoutPath} from './words.js';

/** A group has lines for so many runs at most. */
const mostLines = 5;
/** A run of an answer by the name of its job and its start, which people know better than the name of the run. */
const runLink = ({run, name, started}) => h('a', {href: `#/runs/${encoded(run)}`, title: run}, h('bdi', visible(name)), ` (${when(started)})`);

/** The items of a list in one line, such as `[photos/a.png, "b, c.png"]`. */
const items = list => list.match(/"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s,[\]][^,[\]]*/g) ?? [];
/** A manifest that leaves out more pictures: those of a line `exclude: […]`. Null for one that has the key in a form that is not usual. */
export function excluding(text, line) {
  const added = items(line.slice('exclude:'.length)), start = text.search(/^exclude:/m);
  if (text.trimStart().startsWith('{')) return null;
  if (start < 0) return `${text.trimEnd()}\n${line}\n`;
  const before = text.slice(0, start), after = text.slice(start);
  const block = /^exclude:[ \t]*(?:#.*)?\n(?:(?:[ \t]*#.*)?\n)*([ \t]*)- .*\n?(?:\1(?:- | {2}).*\n?)*/.exec(after)?.[0];
  if (block) return `${before}${block.trimEnd()}\n${added.map(one => `${/\n([ \t]*)- /.exec(block)[1]}- ${one}\n`).join('')}${after.slice(block.length)}`;
  const [whole, value] = /^exclude:[ \t]*(\[[^\n\]]*\]|[^\s[#|>&*{][^\n#]*)(?=[ \t]*(?:#.*)?$)/m.exec(after) ?? [];
  if (!value) return null;
  const old = value.startsWith('[') ? items(value) : [value.trim()];
  return `${before}exclude: [${[...old, ...added].join(', ')}]${after.slice(whole.length)}`;
}

/** Lines `exclude: […]` for manifests of jobs that somebody submits again. The submission takes them. */
export const leftOut = new Map();
function submitAgain(job, line) {
  leftOut.set(`${job}`, line);
  location.hash = `#/submit?job=${job}`;
}
/** The manifest of a job, if the service still knows it. */
const manifestOf = job => job ? get(`jobs/${job}/manifest`).catch(error => { if (error.status) return {}; throw error; }) : {};

/** How the pictures of a group are left out, the latest run first. The service makes the lines, because it knows what a manifest means. */
async function exclusions(group, runs) {
  const shown = runs.slice(0, mostLines), seen = new Set();
  const answers = await Promise.all(shown.map(async ({run, job}) => [await get(`runs/${encoded(run)}/errors/${encoded(group.id)}/exclude`), await manifestOf(job)]));
  return [
    answers.map(([{line, unnamed, more}, source], index) => {
      const part = shown[index], {manifest, job} = part, key = JSON.stringify([manifest, line, unnamed]);
      // Two runs of one manifest mostly have the same line.
      if (seen.has(key)) return null;
      seen.add(key);
      // A text that was submitted has no file. Runs without a job were begun with one.
      const file = source.manifest ?? (job ? null : manifest), whole = line && source.text && !file ? excluding(source.text, line) : null;
      const words = file ? ['Add this line to ', path(file), ', for the run ', runLink(part), '. If the manifest has a key “exclude”, add the names to it.']
        : ['This line leaves them out. Add it to the manifest of the run ', runLink(part), ', and submit that again. If the manifest has a key “exclude”, add the names to it.'];
      return [
        whole && may('submit') ? h('div.buttons', h('button', {type: 'button', onclick: () => submitAgain(job, line)}, 'Submit again without them …'), h('span.quiet', 'opens the manifest of the run ', runLink(part), ' with this line:')) : null,
        line ? [whole ? null : h('p.quiet', words), copyable(line)] : null,
        unnamed.length ? h('div', h('p.caution', `! ${unnamed.length === 1 ? 'This picture' : 'These pictures'} cannot be left out by name, because the name is not plain text (UTF-8). Rename the file first.`),
          h('ul.plain', unnamed.map(input => h('li', path(input))))) : null,
        more ? h('p.quiet', `${plural(more, 'picture')} more ${more === 1 ? 'is' : 'are'} not in this line. Ask again when the job has run with it.`) : null,
      ];
    }),
    runs.length > shown.length ? h('p.quiet', `There are ${plural(runs.length - shown.length, 'earlier run')} more, with lines of their own.`) : null,
  ];
}

/** The service limits how many changes a token makes in a second. A change that is too many waits as long as the service asks it to. */
async function patiently(body) {
  for (let tries = 1; ; tries++) {
    try { return await body(); } catch (error) {
      if (error.status !== 429 || tries === 8) throw error;
      await new Promise(done => setTimeout(done, 1000 * Math.min(60, error.retryAfter || 1)));
    }
  }
}

/** Retries runs one after the other, and tells of each what became of it. */
async function retryAll(runs, outcome) {
  const done = [];
  const show = () => fill(outcome, h('ul.plain', done));
  for (const one of runs) {
    try {
      const job = await patiently(() => retryRun(one.run));
      done.push(h('li.well', '✓\ufe0e run ', runLink(one), ': retried as ', h('a', {href: `#/jobs/${job.id}`}, `job ${job.id}`)));
    } catch (error) {
      done.push(h('li.trouble', 'run ', runLink(one), ': not retried ', problemText(error)));
    }
    show();
  }
  const good = done.filter(line => line.classList.contains('well')).length;
  announce(`${plural(good, 'run')} of ${count(runs.length)} submitted again`);
}

/**
 * The groups of an answer.
 *
 * @param options `run`, if all are of one run; `kept`, a map of what stays of a group when it is shown anew: its lines, and what became of retries.
 */
export function errorGroups({errors, total, runs}, {run, kept = new Map()} = {}) {
  const about = new Map(runs.map(one => [one.run, one]));
  const shown = errors.map(group => {
    const {first, last} = group, broken = group.count - group.repaired, isRepaired = group.repaired === group.count;
    const frames = [first, last].filter((frame, index) => index === 0 || frame.run !== first.run || frame.frame !== first.frame || frame.page !== first.page);
    const link = frame => `#/runs/${encoded(frame.run)}/frames/${frameName(frame.frame, frame.page)}`;
    if (!kept.has(group.id)) kept.set(group.id, {lines: h('div.lines'), outcome: h('div.outcome')});
    const {lines, outcome} = kept.get(group.id);
    if (isRepaired) fill(lines);
    // The latest run is the first one.
    const open = group.runs.filter(part => part.count > part.repaired).map(part => ({...part, ...about.get(part.run)})).reverse();
    const retried = open.filter(part => !part.obstacle), others = open.filter(part => part.obstacle);
    const number = retried.reduce((sum, part) => sum + part.count - part.repaired, 0);
    return h('article', {class: `group ${isRepaired ? '' : 'bad'}`},
      h('h3.cause', isRepaired ? '✓\ufe0e ' : '✗\ufe0e ', visible(group.cause), h('span', isRepaired ? `${plural(group.count, 'picture')}, repaired by later jobs` : plural(broken, 'picture'), group.repaired && broken ? `, and ${count(group.repaired)} more that ${group.repaired === 1 ? 'is' : 'are'} repaired by later jobs` : '')),
      group.explanation && !isRepaired ? h('p.explanation', visible(group.explanation)) : null,
      h('p.message', visible(withoutPath(group.message, first.input), true)),
      h('div', {class: 'thumbs'}, group.samples.map(frame => {
        const one = thumb({run: frame.run, frame: frameName(frame.frame, frame.page), side: 'before', name: fileName(frame.input), link: link(frame), cause: frame.repaired ? 'repaired' : group.cause});
        if (frame.repaired) one.append(h('span.thumb-name.badge.published', '✓\ufe0e repaired'));
        return one;
      })),
      h('p.quiet', frames.map((frame, index) => [index ? ' to ' : '', h('a', {href: link(frame)}, h('bdi', visible(fileName(frame.input)))), frame.repaired && !isRepaired ? ', which is repaired,' : '', run || (index < frames.length - 1 && first.run === last.run) ? '' : [' of ', runLink(about.get(frame.run))]])),
      isRepaired ? null : h('div', {class: 'buttons'},
        !run && retried.length && may('submit') ? action(retried.length === 1 ? `Retry ${plural(number, 'picture')}` : `Retry ${plural(number, 'picture')} of ${count(retried.length)} runs`, () => retryAll(retried, outcome),
          {name: `Retry ${plural(number, 'picture')} of ${plural(retried.length, 'run')} with ${group.cause}`, title: 'A new job for each run. Outputs that are up to date stay.'}) : null,
        action('Leave them out …', async () => fill(lines, await exclusions(group, open)), {name: `A line that excludes ${group.cause}`})),
      !run && others.length && may('submit') ? h('ul', {class: 'plain obstacles'}, others.map(part => h('li.quiet', 'run ', runLink(part), ` cannot be retried: `, visible(part.obstacle.detail),
        (part.obstacle.remedy ?? '').split('\n').filter(Boolean).map(remedy => h('span.remedy', visible(remedy)))))) : null,
      outcome, lines);
  });
  if (total > errors.length) shown.push(h('p.quiet', `and ${plural(total - errors.length, 'group')} more`));
  return shown;
}

export function errorsView(_, view) {
  let isClosed = false;
  const number = h('span.number', {role: 'status'}), body = h('div.groups'), kept = new Map();
  fill(view, h('div.tools', h('h1.unseen', 'Errors'), number), body);
  async function load() {
    try {
      const answer = await get('errors');
      if (isClosed) return;
      view.removeAttribute('aria-busy');
      say(number, answer.frames ? `${plural(answer.frames - answer.repaired, 'failed picture')} of the latest runs${answer.repaired ? `, and ${count(answer.repaired)} more that ${answer.repaired === 1 ? 'is' : 'are'} repaired by later jobs` : ''}, for ${answer.total === 1 ? 'one reason' : `${count(answer.total)} reasons`}` : '');
      renew(body, answer, () => answer.errors.length ? errorGroups(answer, {kept}) : h('div.empty', h('h2', 'Nothing failed'), h('p', 'The latest runs have no failed picture.')));
    } catch (error) {
      if (isClosed || !view.hasAttribute('aria-busy')) throw error;
      renew(body, null, () => failed(error, soon.now));
    }
  }
  const soon = calmly(load, 4000);
  const endings = [live.on('job', soon), live.on('reset', soon.now), live.on('back', soon.now), live.on('run', event => { if (event.state === 'ended') soon(); })];
  return {begin: load, title: 'Errors', close: () => { isClosed = true; endings.forEach(end => end()); }};
}
