// A picture before and after, side by side at a line that one can move, at fit or with exact pixels. Pictures of any size: only
// the rectangles that are in view are asked for, at the size at which they are shown.
import {h, onRatio, plain, say} from './dom.js';
import {picture} from './api.js';
import {count} from './words.js';

/** If the service has no room for a large picture, it decodes it anew for each tile. So such a picture gets fewer and larger ones. */
const largePixels = 50e6, largeTileSide = 1024, smallTileSide = 512;
/** In pixels, of all tiles that a side keeps. */
const mostTilePixels = 120 * smallTileSide ** 2;

/** Whether the service was away or busy. A later answer may be another one. */
const isTransient = error => error.status === 0 || error.status >= 500;

/**
 * @param source
 *   `name` of the file; `before` and `after`, the facts of each side, or undefined; `thumb(side)`, the address of the whole picture, small;
 *   `crop(side, {x, y, width, height, scale})`, the address of a rectangle of it;
 *   `look`, how somebody looked at the picture before, or undefined.
 * @returns The element. Its `look()` is how somebody looks at it now.
 */
export function compare(source) {
  // Places are those of the result, if there is one. Before it, the picture may have had another size.
  const full = source.after ?? source.before, both = source.before && source.after;
  const canvas = h('canvas', {tabindex: 0, role: 'application', 'aria-roledescription': 'picture', 'aria-label': `${plain(source.name)}${both ? ', before and after' : ''}. Arrow keys move it, plus and minus zoom, 0 fits, 1 shows exact pixels.`});
  const slider = h('input', {type: 'range', min: 0, max: 1000, value: 500, 'aria-label': 'Where the line between before and after is'});
  const note = h('span.note', {role: 'status'});
  const button = (text, name, body) => h('button', {type: 'button', 'aria-label': name, title: name, onclick: body}, text);
  // Over each side of which nothing is drawn yet. The note says the same to screen readers.
  const covers = {before: h('span.waiting', {'aria-hidden': 'true'}, 'Loading …'), after: h('span.waiting', {'aria-hidden': 'true', hidden: true})};
  const stage = h('div.stage', canvas, covers.before, covers.after, both ? h('span.corner', {'aria-hidden': 'true'}, 'before') : null, both ? h('span.corner.right', {'aria-hidden': 'true'}, 'after') : null);
  // Somebody may press a key or turn the wheel before the browser has told the stage's size.
  const laidOut = body => event => { if (!width) layOut(); if (width) body(event); };
  const zoomIn = laidOut(() => zoomTo(zoom * 2));
  /** What the buttons do, by the keys that they name. */
  const keys = {'+': zoomIn, '=': zoomIn, '-': laidOut(() => zoomTo(zoom / 2)), 0: laidOut(() => fit()), 1: laidOut(() => zoomTo(1 / ratio()))};
  const element = h('div.compare', stage, h('div', {class: 'tools'},
    // The sides of the line, as they are above it.
    both ? h('span.slide', h('span', 'all after'), slider, h('span', 'all before')) : null,
    h('span.buttons', button('Fit', 'Fit the picture (0)', keys[0]), button('1:1', 'Exact pixels (1)', keys[1]), button('−', 'Zoom out (-)', keys['-']), button('+', 'Zoom in (+)', keys['+'])), note));

  const ratio = () => devicePixelRatio || 1;
  const {look} = source;
  let width = 0, height = 0, zoom = look?.zoom ?? 0, isFit = look?.isFit ?? true, x = (look?.x ?? 0.5) * full.width, y = (look?.y ?? 0.5) * full.height, split = look?.split ?? 0.5, isAsked = false, isClosed = false;
  slider.value = Math.round(split * 1000);
  const controller = new AbortController();
  const sides = Object.fromEntries(['before', 'after'].filter(side => source[side]).map(side => [side, {facts: source[side], tileSide: source[side].width * source[side].height > largePixels ? largeTileSide : smallTileSide, tiles: new Map(), base: null, isAsked: false, trouble: '', prepares: ''}]));
  function loadBase(name, side) {
    side.trouble = '';
    picture(source.thumb(name), controller.signal, undefined, text => { side.prepares = text; ask(); }).then(createImageBitmap).then(image => { if (isClosed) image.close(); else side.base = image; }, error => { if (error.name !== 'AbortError') Object.assign(side, {trouble: error.message, isTransient: isTransient(error)}); }).finally(() => { side.isAsked = true; side.prepares = ''; ask(); });
  }

  for (const [name, side] of Object.entries(sides)) loadBase(name, side);

  const fitZoom = () => Math.min(width / full.width, height / full.height);
  /** A screen's pixel is at most 1/64 of a picture's. */
  const limit = value => Math.max(Math.min(fitZoom(), 1 / ratio()), Math.min(64, value));
  function fit() { isFit = true; x = full.width / 2; y = full.height / 2; zoom = Math.min(fitZoom(), 4); ask(); }
  function zoomTo(value, atX = width / 2, atY = height / 2) {
    const next = limit(value), pictureX = x + (atX - width / 2) / zoom, pictureY = y + (atY - height / 2) / zoom;
    isFit = false;
    zoom = next;
    x = pictureX - (atX - width / 2) / zoom;
    y = pictureY - (atY - height / 2) / zoom;
    keepInside();
    ask();
  }
  function keepInside() {
    const half = {x: Math.min(full.width / 2, width / 2 / zoom), y: Math.min(full.height / 2, height / 2 / zoom)};
    x = Math.max(half.x, Math.min(full.width - half.x, x));
    y = Math.max(half.y, Math.min(full.height - half.y, y));
  }
  function move(byX, byY) { isFit = false; x += byX / zoom; y += byY / zoom; keepInside(); ask(); }
  const ask = () => { if (!isAsked && !isClosed) { isAsked = true; requestAnimationFrame(draw); } };

  function draw() {
    isAsked = false;
    if (!width || isClosed) return;
    // One finger on a picture that fits scrolls the page.
    canvas.style.touchAction = isFit ? 'pan-y' : 'none';
    const context = canvas.getContext('2d');
    context.setTransform(ratio(), 0, 0, ratio(), 0, 0);
    context.clearRect(0, 0, width, height);
    let missing = 0;
    const line = Math.round(split * width);
    covers.before.hidden = covers.after.hidden = true;
    if (sides.before) missing += drawSide(context, 'before', 0, both ? line : width);
    if (sides.after) missing += drawSide(context, 'after', both ? line : 0, width);
    if (both) {
      context.fillStyle = '#fff';
      context.fillRect(line - 1, 0, 2, height);
      context.strokeStyle = '#000a';
      context.lineWidth = 1;
      context.strokeRect(line - 1.5, -2, 3, height + 4);
      context.beginPath();
      context.arc(line, height / 2, 11, 0, 7);
      context.fill();
      context.stroke();
      context.fillStyle = '#000';
      context.font = '11px system-ui';
      context.textAlign = 'center';
      context.textBaseline = 'middle';
      context.fillText('◄ ►', line, height / 2 + 0.5);
    }
    const percent = zoom * ratio() * 100, all = Object.entries(sides), troubles = all.filter(([, side]) => side.trouble).map(([name, side]) => `${name}: ${side.trouble}`);
    const prepares = all.map(([, side]) => side.prepares).filter(Boolean), lost = all.find(([, side]) => side.lost)?.[1].lost;
    const scale = percent >= 99.9 && percent <= 100.1 ? '1:1' : `${percent < 10 ? percent.toFixed(1) : count(percent)} %`;
    // Until its exact pixels are there, an enlarged picture is shown in their place.
    const kind = percent < 99.9 ? '' : lost ? `, not exact everywhere: ${lost}` : missing ? ', coarse so far' : ', exact pixels';
    const sizesDiffer = both && (source.before.width !== full.width || source.before.height !== full.height);
    say(note, plain(troubles.join('; ') || `${scale}${kind}${missing ? ` · ${prepares.find(text => text.endsWith('%')) ?? prepares[0] ?? 'loading'}` : ''}${sizesDiffer ? ` · before is ${count(source.before.width)} × ${count(source.before.height)}, shown at the same size` : ''}`));
  }
  /** Draws one side between two columns of the screen, and asks for what is missing. */
  function drawSide(context, name, from, to) {
    if (to <= from) return 0;
    const side = sides[name], {facts} = side;
    // The picture's own pixels in one of the result's.
    const ratioX = facts.width / full.width, ratioY = facts.height / full.height, zoomX = zoom / ratioX, zoomY = zoom / ratioY;
    // The picture's pixels begin where those of the screen do, so that none is a mixture of two.
    const snap = value => zoom * ratio() >= 0.999 ? Math.round(value * ratio()) / ratio() : value;
    const left = snap(width / 2 - x * zoom), top = snap(height / 2 - y * zoom);
    context.save();
    context.beginPath();
    context.rect(from, 0, to - from, height);
    context.clip();
    context.imageSmoothingEnabled = true;
    if (side.base) context.drawImage(side.base, left, top, full.width * zoom, full.height * zoom);
    let missing = side.isAsked ? 0 : 1, isDrawn = Boolean(side.base);
    side.lost = '';
    // Without tiles if the small picture has all pixels that the screen can show. It is compressed, so exact pixels always come from tiles.
    const isExact = zoomX * ratio() >= 0.999;
    if (side.isAsked && !side.trouble && (!side.base || isExact || side.base.width < facts.width * zoomX * ratio() * 0.98)) {
      let scale = 1;
      while (scale * 2 <= 1 / (zoomX * ratio()) * 1.01) scale *= 2;
      const length = side.tileSide * scale;
      const columns = [Math.max(0, Math.floor((from - left) / zoomX / length)), Math.min(Math.ceil(facts.width / length) - 1, Math.floor((to - left) / zoomX / length))];
      const rows = [Math.max(0, Math.floor(-top / zoomY / length)), Math.min(Math.ceil(facts.height / length) - 1, Math.floor((height - top) / zoomY / length))];
      // Exact pixels are squares, not blurred ones.
      context.imageSmoothingEnabled = !isExact;
      const wanted = new Set();
      for (let row = rows[0]; row <= rows[1]; row++) {
        for (let column = columns[0]; column <= columns[1]; column++) {
          const area = {x: column * length, y: row * length, width: Math.min(length, facts.width - column * length), height: Math.min(length, facts.height - row * length), scale};
          const key = `${scale} ${column} ${row}`;
          wanted.add(key);
          const tile = side.tiles.get(key) ?? load(name, side, key, area);
          if (!tile.image) { if (tile.failure) side.lost = tile.failure; else missing++; continue; }
          isDrawn = true;
          const startX = left + area.x * zoomX, startY = top + area.y * zoomY;
          context.drawImage(tile.image, startX, startY, area.width * zoomX, area.height * zoomY);
        }
      }
      // Requests for what is not in view any more are taken back.
      for (const [key, tile] of [...side.tiles]) {
        if (wanted.has(key)) { side.tiles.delete(key); side.tiles.set(key, tile); } else if (!tile.image) { tile.controller.abort(); side.tiles.delete(key); }
      }
      for (const [key, tile] of [...side.tiles]) {
        if (side.tiles.size * side.tileSide ** 2 <= mostTilePixels || wanted.has(key)) break;
        tile.image?.close();
        side.tiles.delete(key);
      }
    }
    context.restore();
    if (!isDrawn) cover(name, from, to);
    return missing;
  }
  /** Squares alone look like a picture that is transparent. */
  function cover(name, from, to) {
    const {trouble, prepares} = sides[name], cover = covers[name];
    cover.hidden = false;
    cover.style.left = `${from}px`;
    cover.style.right = `${width - to}px`;
    say(cover, plain(trouble || `Loading ${both ? `“${name}”` : source.name} …${prepares ? ` ${prepares}` : ''}`));
  }
  function load(name, side, key, area) {
    const tile = {image: null, controller: new AbortController(), failure: ''};
    side.tiles.set(key, tile);
    picture(source.crop(name, area), tile.controller.signal, undefined, text => { side.prepares = text; ask(); }).then(createImageBitmap).then(image => {
      side.prepares = '';
      if (side.tiles.get(key) !== tile) { image.close(); return; }
      tile.image = image;
      ask();
    }).catch(error => {
      if (error.name === 'AbortError') return;
      Object.assign(tile, {failure: error.message, isTransient: isTransient(error)});
      if (!side.base) Object.assign(side, {trouble: error.message, isTransient: isTransient(error)});
      ask();
    });
    return tile;
  }

  // ---- Pointers: one moves the picture or the line, two zoom.
  const pointers = new Map();
  let dragged = '', spread = 0;
  const place = event => { const box = canvas.getBoundingClientRect(); return {x: event.clientX - box.left, y: event.clientY - box.top}; };
  canvas.addEventListener('pointerdown', event => {
    const at = place(event);
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, at);
    if (pointers.size === 2) { const [a, b] = [...pointers.values()]; spread = Math.hypot(a.x - b.x, a.y - b.y); dragged = 'zoom'; } else { dragged = both && Math.abs(at.x - split * width) < 14 ? 'line' : 'picture'; }
  });
  canvas.addEventListener('pointermove', event => {
    const at = place(event), before = pointers.get(event.pointerId);
    canvas.style.cursor = both && Math.abs(at.x - split * width) < 14 ? 'ew-resize' : 'grab';
    if (!before) return;
    pointers.set(event.pointerId, at);
    if (dragged === 'zoom' && pointers.size === 2) {
      const [a, b] = [...pointers.values()], next = Math.hypot(a.x - b.x, a.y - b.y);
      if (spread > 0) zoomTo(zoom * next / spread, (a.x + b.x) / 2, (a.y + b.y) / 2);
      spread = next;
    } else if (dragged === 'line') {
      setSplit(at.x / width);
    } else {
      move(before.x - at.x, before.y - at.y);
    }
  });
  for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, event => { pointers.delete(event.pointerId); if (!pointers.size) dragged = ''; });
  const zoomByWheel = laidOut(event => { const at = place(event); zoomTo(zoom * 2 ** (-event.deltaY / (event.deltaMode ? 8 : 240)), at.x, at.y); });
  canvas.addEventListener('wheel', event => { event.preventDefault(); zoomByWheel(event); }, {passive: false});
  canvas.addEventListener('dblclick', laidOut(event => { const at = place(event); if (isFit) zoomTo(1 / ratio(), at.x, at.y); else fit(); }));
  canvas.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 80, bodies = {ArrowLeft: laidOut(() => move(-step, 0)), ArrowRight: laidOut(() => move(step, 0)), ArrowUp: laidOut(() => move(0, -step)), ArrowDown: laidOut(() => move(0, step)), ...keys};
    if (!(event.key in bodies)) return;
    event.preventDefault();
    event.stopPropagation();
    bodies[event.key]();
  });
  function setSplit(value) {
    split = Math.max(0, Math.min(1, value));
    slider.value = Math.round(split * 1000);
    ask();
  }
  slider.addEventListener('input', () => { split = slider.value / 1000; ask(); });

  const layOut = () => {
    const next = Math.floor(stage.clientWidth);
    if (!next) return;
    width = next;
    height = Math.round(Math.max(200, Math.min(innerHeight * 0.68, width * full.height / full.width)));
    canvas.width = Math.round(width * ratio());
    canvas.height = Math.round(height * ratio());
    // A pixel of the canvas is one of the screen, also if the stage's width is no whole number.
    canvas.style.width = canvas.width / ratio() + 'px';
    canvas.style.height = canvas.height / ratio() + 'px';
    if (isFit) fit(); else { zoom = limit(zoom); keepInside(); ask(); }
  };
  const watcher = new ResizeObserver(layOut);
  watcher.observe(stage);
  const forgetRatio = onRatio(layOut);
  element.keys = keys;
  element.look = () => ({zoom, isFit, split, x: x / full.width, y: y / full.height});
  /** The service is there again. What it did not answer is asked for once more. */
  element.again = () => {
    for (const [name, side] of Object.entries(sides)) {
      for (const [key, tile] of [...side.tiles]) if (tile.isTransient) side.tiles.delete(key);
      if (side.trouble && side.isTransient) loadBase(name, side);
    }
    ask();
  };
  element.close = () => {
    isClosed = true;
    watcher.disconnect();
    forgetRatio();
    controller.abort();
    for (const side of Object.values(sides)) { side.base?.close(); for (const tile of side.tiles.values()) { tile.controller.abort(); tile.image?.close(); } side.tiles.clear(); }
  };
  return element;
}
