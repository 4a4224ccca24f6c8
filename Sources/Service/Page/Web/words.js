// The words, signs and figures of the command line.

const text = '\ufe0e'; // Shows a sign as text where a browser would show a coloured picture.
const table = {
  held: ['‖', 'held'], waiting: ['…', 'waiting'], starting: ['▷', 'starting'], running: ['▶', 'running'], done: ['✓', 'done'],
  work_left: ['◐', 'work left'], failed: ['✗', 'failed'], stopped: ['■', 'stopped'], cancelled: ['■', 'cancelled'], skipped: ['↷', 'skipped'],
  paused: ['‖', 'paused'], repaired: ['✓', 'repaired'], interrupted: ['!', 'interrupted'], detached: ['⇢', 'detached'],
};
export const sign = state => (table[state]?.[0] ?? '?') + text;
export const word = state => table[state]?.[1] ?? state;

/** The states of frames: the letters of the map, their words in answers, and those for people. The last ones are drawn over the others. */
export const frameStates = [
  {letter: '.', name: 'open', words: 'waiting', color: 'line', sign: '·'},
  {letter: 'l', name: 'left', words: 'left undone', color: 'panel', sign: '○'},
  {letter: 's', name: 'skipped', words: 'up to date', color: 'skipped', sign: '='},
  {letter: 'p', name: 'published', words: 'published', color: 'done', sign: '✓'},
  {letter: 'k', name: 'kept', words: 'kept', color: 'caution', sign: '‖'},
  {letter: '>', name: 'running', words: 'in work', color: 'accent', sign: '▶'},
  {letter: 'b', name: 'still_broken', words: 'still broken', color: 'fault', sign: '✗'},
  {letter: 'f', name: 'failed', words: 'failed', color: 'fault', sign: '✗'},
];
export const frameState = letterOrName => frameStates.find(state => state.letter === letterOrName || state.name === letterOrName)
  ?? {letter: '?', name: letterOrName, words: letterOrName, color: 'line', sign: '?'};

export const isOpen = state => ['held', 'waiting', 'starting', 'running'].includes(state);
export const isRunOpen = state => state === 'running' || state === 'paused';

export const count = number => Math.round(number).toLocaleString('en-US');
export const plural = (number, noun, many = `${noun}s`) => `${count(number)} ${number === 1 ? noun : many}`;
export const measure = value => value < 0.05 ? String(Number(value.toPrecision(2))) : value < 99.95 ? value.toFixed(1) : count(value);
export function bytes(number) {
  if (number < 1000) return `${number} B`;
  for (const unit of ['kB', 'MB', 'GB', 'TB']) {
    number /= 1000;
    if (number < 999.95 || unit === 'TB') return `${number.toFixed(1)} ${unit}`;
  }
}
export function duration(seconds) {
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${count(Math.floor(whole / 3600))} h ${two(Math.floor(whole / 60) % 60)} min`;
}
/** A time that is still going on, without decimals. */
export const elapsed = seconds => seconds < 60 ? `${Math.max(0, Math.floor(seconds))} s` : duration(seconds);

const two = number => String(number).padStart(2, '0');
/** A time of this browser's zone: the clock alone if it is today. */
export function when(time) {
  const date = new Date(time);
  if (isNaN(date)) return String(time);
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return date.toDateString() === new Date().toDateString() ? `${clock}:${two(date.getSeconds())}` : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock}`;
}
/** The day, the time and its zone. */
export const fullTime = time => new Date(time).toLocaleString('en-GB', {dateStyle: 'full', timeStyle: 'long'});
/** The time of day, with seconds. */
export const time = milliseconds => (date => [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':'))(new Date(milliseconds));
/** Why frames were kept, the most frequent reason first: `2 frames: output was edited`. */
export const keptWords = reasons => Object.entries(reasons ?? {}).sort((a, b) => b[1] - a[1]).map(([reason, number]) => `${plural(number, 'frame')}: ${reason}`);

/** The message of a picture without its path before it: the path stands beside it. */
export const withoutPath = (message, input) => message?.startsWith(`${input}: `) ? message.slice(input.length + 2) : message ?? '';
/** The name of a frame: `37`, and `37p2` for the second page of a picture. */
export const frameName = (frame, page) => page ? `${frame}p${page + 1}` : `${frame}`;

/** The same for people: `picture 37`, and `picture 37, page 2`. */
export const pictureName = name => `picture ${String(name).replace(/p(\d+)$/, ', page $1')}`;
/** What a worker does, from the kind of its task: `frame` or `tile-12`. */
export function taskWords(kind) {
  const [, name, number] = /^([a-z]+)(?:-(\d+))?$/.exec(kind) ?? [null, kind];
  return {probe: 'reading the file', frame: 'rendering', canvas: 'decoding', tile: `tile ${Number(number) + 1}`, stitch: 'joining the tiles'}[name] ?? kind;
}
/** A task as an answer names it: `37p2/tile-12`. */
export function taskName(task) {
  const [frame, kind] = task.split('/');
  return `${pictureName(frame)}${kind ? `: ${taskWords(kind)}` : ''}`;
}
/** Words of the service in which an owner has the name of their token, if it is known. `people` is a list of owners with their names. */
export const named = (text, people) => people.reduce((words, [owner, name]) => owner && name && owner !== name ? words.split(owner).join(name) : words, text)
  .replace(/\buid:0\b/g, 'the administrator of the farm\'s machine').replace(/\buid:(\d+)\b/g, 'user $1 of the farm\'s machine');

/** How much of a run is done, from 0 to 1. A picture that is being tiled counts in part. */
export function shareOf(live) {
  const partial = live.tilesPlanned > 0 ? live.tilesDone / live.tilesPlanned : 0;
  return live.frames > 0 ? Math.min(1, (live.done + 0.9 * partial) / live.frames) : 1;
}
/** What a run does now. The rules are those of `penumbra status`, but after a pause only what was done since counts for the speed. */
export function progress(live) {
  const share = shareOf(live), pause = live.pause ?? {share: 0, seconds: 0, done: 0, megapixels: 0};
  const seconds = live.seconds - pause.seconds, done = share - pause.share, per = (amount, least) => !live.isPaused && amount > 0 && seconds > least ? amount / seconds : null;
  return {
    share,
    left: share < 1 && done > 0.02 * (1 - pause.share) && per(done, 2) ? Math.round((1 - share) / per(done, 2)) : null,
    rate: per(live.megapixels - pause.megapixels, 0.5),
    pictures: live.done - pause.done > 2 ? per(live.done - pause.done, 2) : null,
  };
}
export const percent = share => `${Math.floor(100 * share)} %`;
