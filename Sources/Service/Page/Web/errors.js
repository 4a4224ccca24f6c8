// Failed frames, grouped by what is wrong.
import {action, announce, copyable, failed, fill, fileName, h, renew, visible} from './dom.js';
import {encoded, get, retryRun} from './api.js';
import {calmly, may} from './farm.js';
import * as live from './live.js';
import {thumb} from './thumbs.js';
import {count, frameName, plural, withoutPath} from './words.js';

/** The pattern of a message, as the service groups by it: without names and numbers. */
const pattern = frame => (frame.message ?? '').replaceAll(frame.input, '').replace(/\d+/g, '#');

/** A value of YAML that is this text, whatever is in it. */
const quoted = text => /^[\w./-]+$/.test(text) && /[a-z]/i.test(text) ? text : JSON.stringify(text);
const excludeLine = inputs => `exclude: [${inputs.map(quoted).join(', ')}]`;

/** All inputs of a group in one run, at most 1,000. */
async function inputsOf(group, run) {
  const inputs = [], like = pattern({message: group.message, input: group.inputs[0] ?? ''});
  let after = '';
  do {
    const answer = await get(`runs/${encoded(run)}/frames?state=failed&limit=1000${after && `&after=${after}`}`);
    for (const frame of answer.frames) if (frame.cause === group.cause && pattern(frame) === like) inputs.push(frame.input);
    after = answer.after ?? '';
  } while (after && inputs.length < 1000);
  return [...new Set(inputs.length ? inputs : group.inputs)];
}

/** Failed frames of a run by their inputs. */
async function framesByInput(run) {
  const {frames} = await get(`runs/${encoded(run)}/frames?state=failed&limit=1000`);
  return new Map(frames.map(frame => [frame.input, frame]));
}

/**
 * The groups of an answer.
 *
 * @param options `run`, if all are of one run.
 */
export function errorGroups({errors, total}, {run} = {}) {
  const known = new Map();
  const shown = errors.map(group => {
    const {first, last} = group, spread = first.run !== last.run;
    const frames = [first, last].filter((frame, index) => index === 0 || frame.run !== first.run || frame.frame !== first.frame || frame.page !== first.page);
    const link = frame => `#/runs/${encoded(frame.run)}/frames/${frameName(frame.frame, frame.page)}`;
    const lines = h('div');
    const shownThumb = frame => thumb({run: frame.run, frame: frameName(frame.frame, frame.page), side: 'before', name: fileName(frame.input), link: link(frame), cause: group.cause});
    // The third picture: the answer has its path, and its run has its number.
    const other = group.inputs.find(input => frames.every(frame => frame.input !== input)), third = h('span.thumb', {hidden: true});
    if (other) {
      if (!known.has(last.run)) known.set(last.run, framesByInput(last.run));
      known.get(last.run).then(found => { const frame = found.get(other); if (frame) third.replaceWith(shownThumb({...frame, run: last.run})); }, () => {});
    }
    return h('article.group.bad',
      h('h3.cause', '✗\ufe0e ', visible(group.cause), h('span', plural(group.count, 'frame'))),
      h('p.message', visible(withoutPath(group.message, group.inputs[0]), true)),
      h('div', {class: 'thumbs'},
        frames.map(shownThumb), third),
      h('p.quiet', frames.map((frame, index) => [index ? ' to ' : '', h('a', {href: link(frame)}, `frame ${frameName(frame.frame, frame.page)}`), run || (index < frames.length - 1 && !spread) ? '' : [' of ', h('a', {href: `#/runs/${encoded(frame.run)}`}, frame.run)]])),
      h('div', {class: 'buttons'},
        !run && may('submit') ? action('Retry these', async () => {
          // Published outputs are up to date, so only the failed frames are rendered.
          const runs = [...new Set([first.run, last.run])];
          for (const one of runs) await retryRun(one);
          announce(runs.length === 1 ? 'Handed in again' : `${plural(runs.length, 'run')} are handed in again`);
          location.hash = '#/queue';
        }, {name: `Retry the ${spread ? 'runs' : 'run'} with ${group.cause}`}) : null,
        action('Leave them out …', async () => fill(lines, h('p.quiet', 'A line for the manifest:'), copyable(excludeLine(await inputsOf(group, first.run)))), {name: `A line that excludes ${group.cause}`})),
      lines);
  });
  if (total > errors.length) shown.push(h('p.quiet', `and ${plural(total - errors.length, 'group')} more`));
  return shown;
}

export function errorsView(_, view) {
  const number = h('span.number', {role: 'status'}), body = h('div.groups');
  fill(view, h('div.tools', h('h1.unseen', 'Errors'), number), body);
  async function load() {
    try {
      const answer = await get('errors');
      view.removeAttribute('aria-busy');
      number.textContent = answer.frames ? `${plural(answer.frames, 'failed frame')} of the latest runs, for ${answer.total === 1 ? 'one reason' : `${count(answer.total)} reasons`}` : '';
      renew(body, answer, () => answer.errors.length ? errorGroups(answer) : h('div.empty', h('h2', 'Nothing failed'), h('p', 'The latest runs have no failed frame.')));
    } catch (error) {
      if (!view.hasAttribute('aria-busy')) throw error;
      renew(body, null, () => failed(error, soon.now));
    }
  }
  const soon = calmly(load, 4000);
  const endings = [live.on('job', soon), live.on('reset', soon.now), live.on('back', soon.now), live.on('run', event => { if (event.state === 'ended') soon(); })];
  return {begin: load, title: 'Errors', close: () => endings.forEach(end => end())};
}
