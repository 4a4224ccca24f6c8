// Small pictures of frames, asked for when they come into view.
import {h, fill, plain} from './dom.js';
import {encoded, picture} from './api.js';

const kept = new Map();
const largestCount = 240;
function keep(address, url) {
  kept.set(address, url);
  if (kept.size <= largestCount) return;
  const [oldest, old] = kept.entries().next().value;
  kept.delete(oldest);
  URL.revokeObjectURL(old);
}

const watcher = new IntersectionObserver(entries => {
  for (const {target, isIntersecting} of entries) {
    if (isIntersecting) target.load(); else target.leave();
    if (!target.isConnected) watcher.unobserve(target);
  }
}, {rootMargin: '120px'});

export const frameAddress = (run, frame, what) => `runs/${encoded(run)}/frames/${encoded(frame)}/${what}`;

/** Why there is no picture, in few words. The page of the frame says it in full. */
const reasons = {'/problems/broken-picture': 'broken picture', '/problems/no-picture': 'no picture', '/problems/busy': 'busy'};

/** A picture of a frame. `side` is `before` or `after`. `link` is where a click leads. `cause` is shown if there is no picture. */
export function thumb({run, frame, side, name, link, cause}) {
  const address = frameAddress(run, frame, `picture?side=${side}&width=480`);
  const place = h('span.place');
  const element = h(link ? 'a' : 'span', {class: 'thumb', href: link, title: plain(name)}, place, h('span.thumb-name', h('bdi', plain(name))));
  let controller = null;
  const show = url => fill(place, h('img', {src: url, alt: `${side === 'before' ? 'before' : 'result'}: ${plain(name)}`, onerror: () => say('not shown')}));
  const say = words => fill(place, h('span.none', words));
  element.load = async () => {
    if (controller || element.isShown) return;
    controller = new AbortController();
    element.isShown = true;
    try {
      let url = kept.get(address);
      if (!url) {
        url = URL.createObjectURL(await picture(address, controller.signal));
        keep(address, url);
      }
      show(url);
    } catch (error) {
      element.isShown = error.name !== 'AbortError';
      if (element.isShown) say(plain(cause ?? reasons[error.type] ?? 'not shown'));
    } finally {
      controller = null;
    }
  };
  element.leave = () => controller?.abort();
  watcher.observe(element);
  return element;
}
