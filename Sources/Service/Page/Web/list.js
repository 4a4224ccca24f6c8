// A list of rows of one height. Only the rows that can be seen are in the document.
import {h, say} from './dom.js';

/**
 * @param options
 *   `label`, for screen readers; `columns`, their headings;
 *   `make(item)`, which makes the cells of a row once, as an array of elements with the function `update(item)`;
 *   `key(item)`; `open(item)`, for Enter and a click; `address(item)`; `keys`: functions of an item by the name of their key;
 *   `nearEnd()`, which is called when the last rows come into view; `class`.
 */
export function list(options) {
  const rows = new Map();
  let items = [], chosen = null, isAsked = false;
  const body = h('div', {class: 'rows', role: 'presentation'});
  const head = h('div', {class: 'row head', role: 'row', 'aria-rowindex': 1}, options.columns.map(text => h('span', {role: 'columnheader'}, text)));
  const box = h('div', {
    class: 'list ' + (options.class ?? ''), role: 'grid', tabindex: 0, 'aria-label': options.label, 'aria-colcount': options.columns.length,
  }, h('div', {class: 'heads', role: 'rowgroup'}, head), h('div', {role: 'rowgroup', class: 'space'}, body));
  const space = box.lastChild;
  // Rows grow with the size of text.
  const height = () => rowHeight.offsetHeight || 40;
  const rowHeight = h('div', {class: 'row-height', 'aria-hidden': 'true'});
  box.append(rowHeight);

  function draw() {
    isAsked = false;
    if (!box.isConnected) return;
    const side = height(), top = box.scrollTop;
    space.style.height = items.length * side + 'px';
    const first = Math.max(0, Math.floor(top / side) - 4), last = Math.min(items.length, Math.ceil((top + box.clientHeight) / side) + 4);
    const wanted = new Set();
    for (let index = first; index < last; index++) {
      const item = items[index], key = options.key(item);
      wanted.add(key);
      let row = rows.get(key);
      if (!row) {
        row = make(item, key);
        rows.set(key, row);
        body.append(row);
      }
      if (row.item !== item) { row.item = item; row.update(item); }
      if (row.index !== index || row.side !== side) {
        row.index = index;
        row.side = side;
        row.setAttribute('aria-rowindex', index + 2);
        row.style.transform = `translateY(${index * side}px)`;
      }
      row.setAttribute('aria-selected', key === chosen);
    }
    for (const [key, row] of rows) {
      // A row whose button has the focus stays as long as its item exists.
      if (wanted.has(key) || (row.contains(document.activeElement) && items.includes(row.item))) continue;
      row.remove();
      rows.delete(key);
    }
    const active = chosen !== null && rows.get(chosen);
    if (active) box.setAttribute('aria-activedescendant', active.id); else box.removeAttribute('aria-activedescendant');
    if (last > items.length - 30) options.nearEnd?.();
  }
  function make(item, key) {
    const cells = options.make(item);
    const row = h('div', {class: 'row', role: 'row', id: `row-${options.class ?? 'list'}-${String(key).replaceAll(/[^\w-]/g, '_')}`}, cells.map(cell => { cell.setAttribute('role', 'gridcell'); return cell; }));
    row.update = cells.update;
    row.addEventListener('click', event => {
      if (event.target.closest('button, a, input, select')) return;
      choose(key);
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
    const side = height(), page = Math.max(1, Math.floor(box.clientHeight / side) - 1), index = indexOfChosen();
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
  new ResizeObserver(ask).observe(box);

  box.show = next => {
    items = next;
    box.setAttribute('aria-rowcount', items.length + 1);
    if (chosen !== null && indexOfChosen() < 0) chosen = null;
    ask();
  };
  /** Updates all rows, also those whose items are the same: for times that go on. */
  box.refresh = () => { for (const row of rows.values()) row.update(row.item); };
  box.chosen = () => items[indexOfChosen()] ?? null;
  box.choose = choose;
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
