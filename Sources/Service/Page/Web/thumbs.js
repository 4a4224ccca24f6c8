// Small pictures of frames, asked for when they come into view, and the names of their files.
import {fill, fileName, h, plain, say as setText} from './dom.js';
import {encoded, get, picture} from './api.js';

const watcher = new IntersectionObserver(entries => {
  for (const {target, isIntersecting} of entries) {
    if (isIntersecting) target.load(); else target.leave();
    if (!target.isConnected) watcher.unobserve(target);
  }
}, {rootMargin: '120px'});

export const frameAddress = (run, frame, what) => `runs/${encoded(run)}/frames/${encoded(frame)}/${what}`;

const inputs = new Map(), mostInputs = 1000;
/** The name of a frame's file. Null if the run has no record of the frame. */
export function frameFile(run, frame) {
  const key = `${run}/${frame}`;
  if (!inputs.has(key)) {
    if (inputs.size >= mostInputs) inputs.delete(inputs.keys().next().value);
    // A frame without a record may get one.
    inputs.set(key, get(`runs/${encoded(run)}/frames/${encoded(frame)}`).then(({input}) => fileName(input), () => { inputs.delete(key); return null; }));
  }
  return inputs.get(key);
}

/** Why there is no picture, in few words. The page of the frame says it in full. */
const reasons = {'/problems/broken-picture': 'broken picture', '/problems/no-picture': 'no picture', '/problems/busy': 'busy'};

/** A picture of a frame. `side` is `before` or `after`. `link` is where a click leads. `cause` is shown if there is no picture. */
export function thumb({run, frame, side, name, link, cause}) {
  const address = frameAddress(run, frame, `picture?side=${side}&width=480`);
  const place = h('span.place'), label = h('bdi', {title: plain(name)}, plain(name));
  const element = h(link ? 'a' : 'span', {class: 'thumb', href: link}, place, h('span.thumb-name', label));
  let controller = null, isShown = false;
  // Its name stands below it.
  const alt = side === 'before' ? 'before' : 'result';
  /** The name was not known at first. */
  element.rename = text => {
    label.title = plain(text);
    setText(label, label.title);
    place.querySelector('img')?.setAttribute('title', label.title);
  };
  const show = url => {
    // Once the picture is decoded, its bytes are of no use any more.
    const done = () => URL.revokeObjectURL(url);
    fill(place, h('img', {src: url, alt, title: label.title, onload: done, onerror: () => { done(); say('not shown'); }}));
  };
  const say = words => fill(place, h('span.none', words));
  element.load = async () => {
    if (controller || isShown) return;
    const mine = controller = new AbortController();
    try {
      // The browser has kept the pictures, and asks whether they are still the same by their tags. So a repaired picture is seen.
      // A large picture is made ready first, and is asked for again meanwhile.
      const data = await picture(address, mine.signal, undefined, words => { if (mine === controller) say(`being made ready${words.match(/: \d+ %$/)?.[0] ?? ''}`); });
      if (mine !== controller) return;
      isShown = true;
      show(URL.createObjectURL(data));
    } catch (error) {
      if (mine !== controller || error.name === 'AbortError') return;
      // Without an answer it is asked for again when it comes into view again.
      isShown = error.status !== 0;
      say(plain(cause ?? reasons[error.type] ?? 'not shown'));
    } finally {
      if (mine === controller) controller = null;
    }
  };
  element.leave = () => {
    controller?.abort();
    controller = null;
  };
  watcher.observe(element);
  return element;
}
