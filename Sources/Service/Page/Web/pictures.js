// The pictures of a run: the last ones, and all of them, a page at a time, each with its name.
import {fill, fileName, h, say} from './dom.js';
import {encoded, get} from './api.js';
import {calmly} from './farm.js';
import {frameFile, thumb} from './thumbs.js';
import {count, frameName, frameStates, pictureName} from './words.js';

const pageSize = 50, mostLast = 12;
const linkTo = (run, frame) => `#/runs/${encoded(run)}/frames/${frame}`;

/** The last published pictures, the newest first. `show(names)` takes them in this order, and keeps those that it shows already. */
export function lastPictures(run) {
  const element = h('div.thumbs.last'), known = new Map();
  element.show = names => {
    for (const frame of known.keys()) if (!names.includes(frame)) known.delete(frame);
    for (const frame of names) {
      if (known.has(frame)) continue;
      const picture = thumb({run, frame, side: 'after', name: pictureName(frame), link: linkTo(run, frame)});
      frameFile(run, frame).then(file => { if (file) picture.rename(file); });
      known.set(frame, picture);
    }
    const wanted = names.map(frame => known.get(frame));
    if (wanted.length !== element.children.length || wanted.some((one, index) => one !== element.children[index])) fill(element, wanted);
  };
  return element;
}
lastPictures.most = mostLast;

/**
 * All pictures of a run, as its map lists them. `refresh()` looks soon whether they have changed.
 *
 * @param map the map of the run's frames.
 */
export function pictureList(run, map) {
  const known = new Map();
  let first = 0;
  const choice = h('select', {'aria-label': 'Which pictures', onchange: () => { first = 0; show(); }},
    h('option', {value: ''}, 'All'), frameStates.map(state => h('option', {value: state.name}, state.words)));
  const turn = (text, by) => h('button', {type: 'button', onclick: () => { first += by; show(); }}, text);
  const back = turn('◀\ufe0e Previous', -pageSize), on = turn('Next ▶\ufe0e', pageSize);
  const where = h('span.number', {role: 'status'}), grid = h('div.thumbs');
  const element = h('section.all', {hidden: true}, h('h2', 'All pictures'), h('div.tools', choice, back, on, where), grid);

  function show() {
    const found = map.list(choice.value, first, pageSize), {frames, total} = found;
    // Pictures may have left the state that is looked at.
    if (first && !frames.length) { first = Math.max(0, Math.ceil(total / pageSize) - 1) * pageSize; return show(); }
    element.hidden = !total && !choice.value;
    back.disabled = !first;
    on.disabled = first + frames.length >= total;
    say(where, frames.length ? `${count(first + 1)} to ${count(first + frames.length)} of ${count(total)}` : 'There are none.');
    const fresh = [];
    for (const key of known.keys()) if (!frames.some(one => keyOf(one) === key)) known.delete(key);
    fill(grid, frames.map(one => {
      if (!known.has(keyOf(one))) { known.set(keyOf(one), picture(one)); fresh.push(one); }
      return known.get(keyOf(one));
    }));
    nameAll(fresh, found.before);
  }
  const keyOf = ({frame, state}) => `${frame} ${state.name}`;
  function picture({frame, state}) {
    const link = linkTo(run, frame), name = pictureName(frame);
    const isMade = ['published', 'skipped', 'kept'].includes(state.name), isKnown = isMade || ['failed', 'still_broken'].includes(state.name);
    const result = isKnown ? thumb({run, frame, side: isMade ? 'after' : 'before', name, link, cause: isMade ? null : state.words})
      : h('a.thumb', {href: link}, h('span.place', h('span.none', state.words)), h('span.thumb-name', h('bdi', name)));
    result.lastChild.prepend(h('span', {class: `badge ${state.name}`, 'aria-label': state.words, role: 'img', title: state.words}, `${state.sign}\ufe0e`), ' ');
    return result;
  }
  /** The service knows the names of pictures that have ended, fifty at a time, and some others one by one. */
  async function nameAll(fresh, before) {
    const wanted = fresh.filter(one => known.get(keyOf(one))?.rename);
    if (!wanted.length) return;
    const query = new URLSearchParams({limit: pageSize, ...before && {after: before}, ...choice.value && choice.value !== 'running' && {state: choice.value}});
    const {frames} = await get(`runs/${encoded(run)}/frames?${query}`).catch(() => ({frames: []}));
    if (!element.isConnected) return;
    const files = new Map(frames.map(one => [frameName(one.frame, one.page), fileName(one.input)]));
    for (const one of wanted) {
      if (!element.isConnected) return;
      const shown = known.get(keyOf(one)), file = files.get(one.frame) ?? await frameFile(run, one.frame);
      if (file) shown?.rename(file);
    }
  }
  element.refresh = calmly(async () => show(), 3000);
  element.show = show;
  return element;
}
