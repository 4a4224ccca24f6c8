// The map of a run's frames, and the maps of frames that are being tiled.
import {fill, h, plain, say} from './dom.js';
import {count, frameName, frameStates, pictureName, plural} from './words.js';

const places = new Map(frameStates.map((state, place) => [state.letter, place]));
const broken = places.get('b'), failed = places.get('f');
const isTouch = () => matchMedia('(pointer: coarse)').matches;
/** Beyond so many frames, a cell is several. */
const mostCells = 300_000;

function colors() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(['line', 'panel', 'skipped', 'done', 'caution', 'accent', 'fault', 'ink', 'paper', 'quiet']
    .map(name => [name, style.getPropertyValue('--' + name).trim()]));
}
/** Sets the size of a canvas in CSS pixels, and returns its pen. */
function pen(canvas, width, height) {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.max(1, width * ratio);
  canvas.height = Math.max(1, height * ratio);
  canvas.style.width = width + 'px';
  canvas.style.height = height + 'px';
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/** The name of a frame by its place among all. `spans` are those of a map: `[first, count]`, or `[input, first page, count]` for pages. */
function nameAt(spans, index) {
  if (index < 0) return '';
  for (const [first, second, third] of spans) {
    const length = third ?? second;
    if (index < length) return third === undefined ? frameName(first + index, 0) : frameName(first, second + index);
    index -= length;
  }
  return '';
}
/** The place of a frame among all, or -1 if the run does not have it. */
function placeOf(spans, name) {
  let offset = 0;
  const [, number, page] = /^(\d+)(?:p(\d+))?$/.exec(name) ?? [];
  for (const [first, second, third] of spans) {
    const length = third ?? second, distance = third === undefined ? (page ? -1 : number - first) : (+number === first ? (page ?? 1) - 1 - second : -1);
    if (distance >= 0 && distance < length) return offset + distance;
    offset += length;
  }
  return -1;
}
/** The names of the frames before and after one. Empty at an end, and for a frame that the run does not have. */
export function neighbours(spans, name) {
  const place = placeOf(spans, name);
  return place < 0 ? ['', ''] : [nameAt(spans, place - 1), nameAt(spans, place + 1)];
}
/** The letter of a frame's state in an answer of the map. Empty for a frame that the run does not have. */
export const stateIn = ({frames, states}, name) => states[placeOf(frames, name)] ?? '';

/**
 * @param open is called with the name of a frame that somebody picks.
 * @param fileOf promises the name of a frame's file, or null.
 */
export function frameMap(open, fileOf) {
  const tip = h('p.map-tip', {id: 'map-tip', 'aria-live': 'polite'});
  const canvas = h('canvas', {tabindex: 0, role: 'application', 'aria-roledescription': 'map of pictures', 'aria-label': 'All pictures', 'aria-describedby': 'map-tip'});
  const legend = h('ul.legend');
  const frame = h('div.map-frame', canvas);
  const element = h('div.map', legend, frame, tip);
  const shown = new Map(frameStates.map(state => {
    const number = h('b');
    const item = h('li', {hidden: true}, h('span', {class: 'swatch ' + state.name, 'aria-hidden': 'true'}, state.sign), number, ` ${state.words}`);
    return [state.name, {item, number}];
  }));
  fill(legend, [...shown.values()].map(one => one.item));

  let states = new Uint8Array(0), spans = [], totals = new Array(frameStates.length).fill(0);
  let side = 4, columns = 1, group = 1, point = -1, pointFile = '', fileTimer = null, whole = true, isAsked = false;
  const dirty = new Set(), failures = new Set();

  const nameOf = index => nameAt(spans, index);
  function set(index, place) {
    const before = states[index];
    if (before === place) return;
    totals[before]--;
    totals[place]++;
    if (place === failed || place === broken) failures.add(index); else failures.delete(index);
    // What was drawn over its neighbours is taken away only by drawing them anew.
    if (before === failed || before === broken) whole = true;
    states[index] = place;
    dirty.add(index);
  }

  /** Takes a map as the service answers it. */
  element.load = map => {
    spans = map.frames;
    states = new Uint8Array(map.states.length);
    totals = new Array(frameStates.length).fill(0);
    failures.clear();
    for (let index = 0; index < states.length; index++) {
      const place = places.get(map.states[index]) ?? 0;
      states[index] = place;
      totals[place]++;
      if (place === failed || place === broken) failures.add(index);
    }
    layOut();
  };
  /** Makes the changes of an event. Returns whether pictures are published or failed that were not before. */
  element.change = changes => {
    let isNews = false;
    for (const [first, length, letter] of changes) {
      const place = places.get(letter) ?? 0, end = Math.min(states.length, first + length);
      for (let index = first; index < end; index++) {
        if ((letter === 'p' || letter === 'f') && states[index] !== place) isNews = true;
        set(index, place);
      }
    }
    ask();
    return isNews;
  };
  element.count = name => totals[frameStates.findIndex(state => state.name === name)];
  /** The names of the last frames with a state, in their order. */
  element.last = (name, most) => {
    const place = frameStates.findIndex(state => state.name === name), names = [];
    for (let index = states.length - 1; index >= 0 && names.length < most; index--) if (states[index] === place) names.unshift(nameOf(index));
    return names;
  };

  /** A page of all frames, or of those with a state: their names and states, how many there are, and the name of the one before the page. */
  element.list = (name, first, most) => {
    const frames = [];
    let total = 0, before = '';
    for (let index = 0; index < states.length; index++) {
      if (name && frameStates[states[index]].name !== name) continue;
      if (total === first - 1) before = nameOf(index);
      if (total >= first && frames.length < most) frames.push({frame: nameOf(index), state: frameStates[states[index]]});
      total++;
    }
    return {frames, total, before};
  };

  function layOut() {
    const width = Math.max(120, Math.floor(frame.clientWidth)), room = Math.max(160, Math.min(420, innerHeight * 0.45));
    group = Math.ceil(states.length / mostCells);
    const cells = Math.ceil(states.length / Math.max(1, group));
    for (side = 18; side > 2; side--) if (Math.floor(width / side) * Math.floor(room / side) >= cells) break;
    columns = Math.max(1, Math.min(Math.floor(width / side), Math.max(cells, 1)));
    if (side === 2 && Math.ceil(cells / columns) * side > 1600) return layOutWith(width);
    pen(canvas, columns * side, Math.ceil(cells / columns) * side);
    whole = true;
    ask();
  }
  // More frames than a cell each has room for.
  function layOutWith(width) {
    columns = Math.floor(width / 2);
    group = Math.ceil(states.length / (columns * 800));
    pen(canvas, columns * 2, Math.ceil(states.length / group / columns) * 2);
    whole = true;
    ask();
  }
  const ask = () => { if (!isAsked) { isAsked = true; requestAnimationFrame(draw); } };
  const worst = cell => {
    let place = states[cell * group];
    for (let index = cell * group + 1; index < Math.min(states.length, (cell + 1) * group); index++) place = Math.max(place, states[index]);
    return place;
  };
  function draw() {
    isAsked = false;
    tellCounts();
    if (!states.length || !canvas.isConnected) return;
    const context = canvas.getContext('2d'), color = colors(), gap = side > 3 ? 1 : 0, size = side - gap;
    const cells = Math.ceil(states.length / group);
    if (whole) {
      context.clearRect(0, 0, canvas.width, canvas.height);
      // One colour after the other, and equal neighbours in one go.
      const seen = group === 1 ? states : Uint8Array.from({length: cells}, (_, cell) => worst(cell));
      frameStates.forEach((state, place) => {
        if (!totals[place]) return;
        context.fillStyle = color[state.color];
        for (let cell = 0; cell < cells;) {
          if (seen[cell] !== place) { cell++; continue; }
          let end = cell + 1;
          const rowEnd = cell - cell % columns + columns;
          if (!gap) while (end < cells && end < rowEnd && seen[end] === place) end++;
          context.fillRect(cell % columns * side, Math.floor(cell / columns) * side, (end - cell) * side - gap, size);
          if (side >= 10) decorate(context, color, place, cell);
          cell = end;
        }
      });
    } else {
      for (const index of dirty) {
        const cell = Math.floor(index / group), place = group === 1 ? states[index] : worst(cell);
        context.fillStyle = color[frameStates[place].color];
        context.fillRect(cell % columns * side, Math.floor(cell / columns) * side, size, size);
        if (side >= 10) decorate(context, color, place, cell);
      }
    }
    // A few among very many could not be seen at their own size: they are drawn over their neighbours.
    if (size < 6) {
      context.fillStyle = color.fault;
      let drawn = 0;
      for (const index of failures) {
        if (drawn++ === 4000) break;
        const cell = Math.floor(index / group);
        context.fillRect(cell % columns * side + size / 2 - 3, Math.floor(cell / columns) * side + size / 2 - 3, 6, 6);
      }
    }
    whole = false;
    dirty.clear();
    if (point >= 0) outline(context, color);
  }
  /** States differ by their shapes, too. */
  function decorate(context, color, place, cell) {
    const x = cell % columns * side, y = Math.floor(cell / columns) * side, size = side - 1;
    context.strokeStyle = context.fillStyle = color.paper;
    context.lineWidth = 1.5;
    const letter = frameStates[place].letter;
    context.beginPath();
    if (letter === 'f' || letter === 'b') {
      context.moveTo(x + size * .3, y + size * .3); context.lineTo(x + size * .7, y + size * .7);
      if (letter === 'f') { context.moveTo(x + size * .7, y + size * .3); context.lineTo(x + size * .3, y + size * .7); }
      context.stroke();
    } else if (letter === '>') {
      context.moveTo(x + size * .35, y + size * .25); context.lineTo(x + size * .75, y + size * .5); context.lineTo(x + size * .35, y + size * .75);
      context.fill();
    } else if (letter === 's' || letter === 'k') {
      context.fillRect(x + size * .3, y + size * .44, size * .4, 1.5);
    } else if (letter === 'l') {
      context.strokeStyle = color.quiet;
      context.strokeRect(x + 1.5, y + 1.5, size - 3, size - 3);
    }
    context.fillStyle = color[frameStates[place].color];
  }
  function outline(context, color) {
    const cell = Math.floor(point / group);
    const mark = Math.max(10, side + 2);
    // Two lines, a dark and a light one, are seen on each colour.
    for (const [ink, width] of [[color.paper, 5], [color.ink, 2.5]]) {
      context.strokeStyle = ink;
      context.lineWidth = width;
      context.strokeRect(cell % columns * side + side / 2 - mark / 2, Math.floor(cell / columns) * side + side / 2 - mark / 2, mark, mark);
    }
    // The mark covers neighbours, and is taken away by the next drawing.
    whole = true;
  }
  function tellCounts() {
    frameStates.forEach((state, place) => {
      const {item, number} = shown.get(state.name);
      item.hidden = !totals[place];
      say(number, count(totals[place]));
    });
    if (point < 0) say(tip, states.length ? `${plural(states.length, 'picture')}${group > 1 ? `, ${group} in a square` : ''}. ${isTouch() ? 'Touch one to open it.' : 'Point at one, or walk with the arrow keys. Enter opens it.'}` : 'No pictures yet.');
  }
  function pointAt(index) {
    if (index < 0 || index >= states.length) return;
    if (point !== index) { pointFile = ''; askFile(index); }
    point = index;
    tellPoint();
    ask();
  }
  function tellPoint() {
    say(tip, group > 1 ? `Pictures ${nameOf(point)} to ${nameOf(Math.min(states.length - 1, point + group - 1))}: ${frameStates[worst(Math.floor(point / group))].words}`
      : `${pointFile ? `${plain(pointFile)}, p` : 'P'}${pictureName(nameOf(point)).slice(1)}: ${frameStates[states[point]].words}`);
  }
  /** Tells the name of the file, too, if somebody stays at a frame. */
  function askFile(index) {
    clearTimeout(fileTimer);
    // Nothing is recorded of frames that wait.
    if (group > 1 || ['open', 'left'].includes(frameStates[states[index]].name)) return;
    fileTimer = setTimeout(async () => {
      const file = await fileOf(nameOf(index));
      if (point !== index || !file) return;
      pointFile = file;
      tellPoint();
    }, 150);
  }
  const cellAt = event => {
    const column = Math.floor(event.offsetX / side);
    return column >= columns ? -1 : (Math.floor(event.offsetY / side) * columns + column) * group;
  };
  /** A frame that somebody points at, or a failed one that is drawn over it. */
  function frameAt(event) {
    const index = cellAt(event);
    if (side >= 6 || failures.size > 4000) return index;
    let best = index, nearest = 4.5;
    for (const one of failures) {
      const cell = Math.floor(one / group);
      const far = Math.max(Math.abs(cell % columns * side + side / 2 - event.offsetX), Math.abs(Math.floor(cell / columns) * side + side / 2 - event.offsetY));
      if (far < nearest) { nearest = far; best = one; }
    }
    return best;
  }
  const pick = () => {
    if (point < 0) return;
    // Of several frames in a cell, the worst.
    let best = point;
    for (let index = point; index < Math.min(states.length, point + group); index++) if (states[index] > states[best]) best = index;
    open(nameOf(best));
  };
  canvas.addEventListener('pointermove', event => pointAt(frameAt(event)));
  canvas.addEventListener('pointerleave', () => { if (document.activeElement !== canvas) { point = -1; whole = true; ask(); } });
  canvas.addEventListener('click', event => { pointAt(frameAt(event)); pick(); });
  canvas.addEventListener('keydown', event => {
    const steps = {ArrowRight: group, ArrowLeft: -group, ArrowDown: columns * group, ArrowUp: -columns * group, Home: -states.length, End: states.length};
    if (event.key === 'Enter') { event.preventDefault(); pick(); }
    if (!(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    whole = true;
    pointAt(Math.max(0, Math.min(states.length - 1, point < 0 ? 0 : point + steps[event.key])));
  });
  new ResizeObserver(() => { if (frame.isConnected) layOut(); }).observe(frame);
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  const redraw = () => { whole = true; ask(); };
  scheme.addEventListener('change', redraw);
  element.close = () => { clearTimeout(fileTimer); scheme.removeEventListener('change', redraw); };
  return element;
}

/** The tiles of a frame as they fill. */
function tileMap() {
  const title = h('p.tile-title'), canvas = h('canvas', {'aria-hidden': 'true'});
  const element = h('div.tiles', title, canvas);
  let file = '';
  element.show = ({frame, page, tiles, columns, done}, name) => {
    // Between two of its tasks no worker has it, but its name stays.
    file = name ?? file;
    const rows = Math.ceil(tiles / columns), side = Math.max(2, Math.min(14, Math.floor(260 / Math.max(columns, rows))));
    const context = pen(canvas, columns * side, rows * side), color = colors(), gap = side > 3 ? 1 : 0;
    let finished = 0;
    for (let tile = 0; tile < tiles; tile++) {
      const isDone = done ? (parseInt(done[tile >> 2], 16) & (8 >> (tile & 3))) !== 0 : false;
      if (isDone) finished++;
      context.fillStyle = isDone ? color.done : color.line;
      context.fillRect(tile % columns * side, Math.floor(tile / columns) * side, side - gap, side - gap);
    }
    say(title, `${file ? `${plain(file)}, ` : ''}${pictureName(frameName(frame, page))}: ${done ? `${count(finished)} of ${count(tiles)} tiles` : plural(tiles, 'tile')}`);
  };
  return element;
}

const mostTileMaps = 8;
/**
 * The frames that are being tiled.
 *
 * An answer of the service may be older than the events that came while it was on its way, so whoever asks calls `look` first.
 *
 * @param fileOf tells the name of a frame's file, if it is known.
 */
export function tileMaps(fileOf) {
  const element = h('div.tile-maps'), maps = new Map(), looks = new Set();
  const keyOf = (frame, page) => frameName(frame, page);
  const show = one => {
    const key = keyOf(one.frame, one.page);
    if (!maps.has(key) && maps.size < mostTileMaps) { maps.set(key, tileMap()); element.append(maps.get(key)); }
    maps.get(key)?.show(one, fileOf(one.frame, one.page));
  };
  const leave = key => { maps.get(key)?.remove(); maps.delete(key); };
  element.isEmpty = () => !maps.size;
  element.clear = () => { for (const key of [...maps.keys()]) leave(key); };
  /** Takes an event: what has changed, and the frames that are not being tiled any more. */
  element.change = (tiled, left) => {
    for (const told of looks) {
      for (const one of tiled) told.add(keyOf(one.frame, one.page));
      for (const [frame, page] of left) told.add(keyOf(frame, page));
    }
    // A frame that has left makes room for another one.
    for (const [frame, page] of left) leave(keyOf(frame, page));
    tiled.forEach(show);
  };
  /** Somebody asks the service. Returns what takes the answer, and `end` for one that does not come. */
  element.look = () => {
    const told = new Set();
    looks.add(told);
    return {
      end: () => looks.delete(told),
      take: tiled => {
        looks.delete(told);
        const present = new Set(tiled.map(one => keyOf(one.frame, one.page)));
        for (const key of [...maps.keys()]) if (!present.has(key) && !told.has(key)) leave(key);
        for (const one of tiled) if (!told.has(keyOf(one.frame, one.page))) show(one);
      },
    };
  };
  return element;
}
