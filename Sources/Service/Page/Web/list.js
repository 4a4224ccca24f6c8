// A list of rows of one height. Only the rows that can be seen are in the document.
import {h, say} from './dom.js';

/**
 * @param options
 *   `label`, for screen readers; `columns`, their headings;
 *   `make(item)`, which makes the cells of a row, as an array of elements with the function `update(item)`: a row shows other items later;
 *   `key(item)`; `open(item)`, for Enter and a click; `nearEnd()`, which is called when the last rows come into view; `class`.
 * @returns The element. `show(items)` shows others, `refresh()` updates all rows, `chosen()` is the item of the chosen row, `row(key)` is the
 *   row of a key if it is in view. `search(field)` leads from a field to the list, where letters act.
 */
export function list(options) {
  const rows = new Map();
  let items = [], chosen = null, isAsked = false, wantedTop = null;
  const body = h('div.rows', {role: 'presentation'});
  const head = h('div.row.head', {role: 'row', 'aria-rowindex': 1}, options.columns.map(text => h('span', {role: 'columnheader'}, text)));
  const box = h('div', {
    class: 'list ' + options.class, role: 'grid', tabindex: 0, 'aria-label': options.label, 'aria-colcount': options.columns.length,
  }, h('div.heads', {role: 'rowgroup'}, head), h('div', {role: 'rowgroup', class: 'space'}, body));
  const space = box.lastChild;
  // Rows grow with the size of text. What is measured is kept, because to ask for it makes the browser lay everything out.
  let side = 40, room = 400;
  const rowHeight = h('div.row-height', {'aria-hidden': 'true'});
  box.append(rowHeight);

  function draw() {
    isAsked = false;
    if (!box.isConnected) return;
    if (wantedTop !== null) side = rowHeight.offsetHeight || side;
    const length = items.length * side + 'px';
    if (space.style.height !== length) space.style.height = length;
    if (wantedTop !== null) box.scrollTop = wantedTop;
    wantedTop = null;
    const top = box.scrollTop;
    const first = Math.max(0, Math.floor(top / side) - 4), last = Math.min(items.length, Math.ceil((top + room) / side) + 4);
    const wanted = new Set(items.slice(first, last).map(options.key)), free = [];
    for (const [key, row] of rows) {
      if (wanted.has(key)) continue;
      // A row whose button has the focus, is at work or shows an error stays as long as its item exists.
      const isUsed = row.contains(document.activeElement) || row.querySelector('[aria-busy], .action > .trouble:not(:empty)');
      const index = isUsed ? items.findIndex(item => options.key(item) === key) : -1;
      if (index >= 0) { place(row, index); continue; }
      rows.delete(key);
      free.push(row);
    }
    for (let index = first; index < last; index++) {
      const item = items[index], key = options.key(item);
      let row = rows.get(key);
      if (!row) {
        // Rows that are not seen any more show other items now: to make new ones is slow.
        row = free.pop() ?? make(item);
        row.id = `row-${options.class}-${String(key).replaceAll(/[^\w-]/g, '_')}`;
        rows.set(key, row);
        if (!row.isConnected) body.append(row);
      }
      place(row, index);
    }
    for (const row of free) row.remove();
    const active = chosen !== null && rows.get(chosen);
    if (active) box.setAttribute('aria-activedescendant', active.id); else box.removeAttribute('aria-activedescendant');
    if (last > items.length - 30) options.nearEnd?.();
  }
  function place(row, index) {
    const item = items[index];
    if (row.item !== item) { row.item = item; row.update(item); }
    if (row.index !== index || row.side !== side) {
      row.index = index;
      row.side = side;
      row.setAttribute('aria-rowindex', index + 2);
      row.style.transform = `translateY(${index * side}px)`;
    }
    const isChosen = String(options.key(item) === chosen);
    if (row.getAttribute('aria-selected') !== isChosen) row.setAttribute('aria-selected', isChosen);
  }
  function make(item) {
    const cells = options.make(item);
    const row = h('div.row', {role: 'row'}, cells.map(cell => { cell.setAttribute('role', 'gridcell'); return cell; }));
    row.update = cells.update;
    row.addEventListener('click', event => {
      // The second click of a double click is none on what the first one has brought there.
      if (event.detail > 1 || event.target.closest('button, a, input, select')) return;
      choose(options.key(row.item));
      options.open?.(row.item);
    });
    return row;
  }
  const ask = () => { if (!isAsked) { isAsked = true; requestAnimationFrame(draw); } };
  function choose(key) { chosen = key; ask(); }
  const indexOfChosen = () => chosen === null ? -1 : items.findIndex(item => options.key(item) === chosen);

  box.addEventListener('scroll', ask, {passive: true});
  box.addEventListener('keydown', event => {
    if (event.target !== box || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(room / side) - 1), index = indexOfChosen();
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -items.length, End: items.length};
    if (event.key in steps && items.length) {
      event.preventDefault();
      const next = Math.max(0, Math.min(items.length - 1, index + steps[event.key]));
      choose(options.key(items[next]));
      const head = box.firstChild.offsetHeight, top = next * side;
      if (top < box.scrollTop) box.scrollTop = top;
      if (top + side + head > box.scrollTop + box.clientHeight) box.scrollTop = top + side + head - box.clientHeight;
    } else if (event.key === 'Enter' && index >= 0) {
      event.preventDefault();
      options.open?.(items[index]);
    }
  });
  box.search = field => field.addEventListener('keydown', event => { if (['ArrowDown', 'Enter'].includes(event.key)) { event.preventDefault(); box.focus(); } });
  const watcher = new ResizeObserver(() => { side = rowHeight.offsetHeight || 40; room = box.clientHeight; ask(); });
  watcher.observe(box);
  watcher.observe(rowHeight);

  box.show = next => {
    items = next;
    box.setAttribute('aria-rowcount', items.length + 1);
    if (chosen !== null && indexOfChosen() < 0) chosen = null;
    ask();
  };
  /** Updates all rows, also those whose items are the same: for times that go on. */
  box.refresh = () => { for (const row of rows.values()) row.update(row.item); };
  box.chosen = () => items[indexOfChosen()] ?? null;
  /** Where somebody is in the list, which `goTo` takes. */
  box.whereabouts = () => ({top: box.scrollTop, chosen, hasFocus: document.activeElement === box});
  box.goTo = place => {
    wantedTop = place.top;
    choose(place.chosen);
    if (place.hasFocus) box.focus({preventScroll: true});
  };
  /** The row of a key, if it is in view. */
  box.row = key => rows.get(key);
  return box;
}

/** A cell with a text that changes. */
export function cell(name, text = '') {
  const element = h('span', {class: name}, text);
  element.say = value => say(element, value);
  return element;
}
