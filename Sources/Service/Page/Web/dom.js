// Elements are made of text alone: no string is ever read as HTML.

/**
 * Makes an element. The tag may have classes, as in `p.quiet`. Properties may follow: those that begin with `on` are listeners, and
 * null and false are left out. All others are children.
 */
export function h(tag, ...children) {
  const [name, ...classes] = tag.split('.'), element = document.createElement(name);
  if (classes.length) element.className = classes.join(' ');
  const properties = children[0]?.constructor === Object ? children.shift() : {};
  for (const [key, value] of Object.entries(properties)) {
    if (value == null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key in settable) element[key] = value;
    else element.setAttribute(key, value === true ? '' : value);
  }
  return fill(element, children);
}
const settable = {value: 1, checked: 1, disabled: 1, hidden: 1, selected: 1};

/** Replaces the children of an element. If one of them had the focus, what is called the same gets it: the keyboard stays where it was. */
export function fill(element, ...children) {
  const active = document.activeElement, hadFocus = active !== element && element.contains(active);
  element.replaceChildren(...children.flat(Infinity).filter(child => child != null && child !== false));
  if (hadFocus && !active.isConnected) {
    const called = one => one.id || `${one.getAttribute('href')} ${one.getAttribute('aria-label') ?? one.textContent}`;
    [...element.querySelectorAll(active.localName)].find(one => called(one) === called(active))?.focus({preventScroll: true});
  }
  return element;
}

/** Replaces the children of an element if they are made of something else than last time. What somebody has selected stays otherwise. */
export function renew(element, source, make) {
  const key = JSON.stringify(source);
  if (element.source === key) return;
  element.source = key;
  fill(element, make());
}

/** Shows an element for each item. Those that are there stay, with their focus, selection and scrolled place. `make()` makes one that has `update(item)`. */
export function each(element, items, key, make) {
  const before = element.shown ?? new Map(), shown = element.shown = new Map(items.map(item => [key(item), before.get(key(item)) ?? make()]));
  for (const [name, child] of before) if (!shown.has(name)) child.remove();
  let place = element.firstChild;
  for (const item of items) {
    const child = shown.get(key(item));
    child.update(item);
    if (child === place) place = place.nextSibling; else element.insertBefore(child, place);
  }
}

/** Sets where a link leads, and its text. While it is pressed it stays, so that a click leads to what was pressed. */
export function lead(link, address, text) {
  if (link.matches(':active')) return;
  if (link.getAttribute('href') !== address) link.setAttribute('href', address);
  say(link, text);
}

/** Sets a text, and leaves the element alone if it has it already: then nothing is laid out anew, and selections stay. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Characters that cannot be seen, or that change the text around them. Joiners stay, because many scripts need them. The last ones are
// letters and marks that no font shows.
const odd = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cn}\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]/u;
const isOdd = (character, lines) =>
  odd.test(character) && character !== '\u200c' && character !== '\u200d' && !(lines && (character === '\n' || character === '\t'));

/** Text from outside, in which invisible characters are shown by their numbers. For attributes and canvases. */
export function plain(text, lines = false) {
  text = String(text);
  if (!odd.test(text)) return text;
  return Array.from(text, one => isOdd(one, lines) ? `\\u{${one.codePointAt(0).toString(16)}}` : one).join('');
}

/** The same as nodes: the numbers stand out. */
export function visible(text, lines = false) {
  text = String(text);
  if (!odd.test(text)) return [text];
  const nodes = [];
  let part = '';
  for (const one of text) {
    if (!isOdd(one, lines)) { part += one; continue; }
    if (part) nodes.push(part);
    part = '';
    nodes.push(h('i.odd', `\\u{${one.codePointAt(0).toString(16)}}`));
  }
  if (part) nodes.push(part);
  return nodes;
}

/** Terms with their values. Those without a value are left out. */
export const facts = (...rows) => h('dl.facts', rows.filter(([, value]) => value != null && value !== '' && value !== false && value !== 0).map(([term, value]) => h('div', h('dt', term), h('dd', value))));

/** A field with its name, and a hint below. */
export const field = (text, input, hint) => h('label.field', h('span', text), input, hint ? h('small', hint) : null);

/** A path: its folder is less visible than its name, and right-to-left letters do not reorder it. */
export function path(text) {
  const end = text.lastIndexOf('/', text.length - 2) + 1;
  return h('bdi.path', end ? h('span', visible(text.slice(0, end))) : null, visible(text.slice(end)));
}
export const fileName = text => text.slice(text.lastIndexOf('/', text.length - 2) + 1);

/** Says something to screen readers, at most once in five seconds: the last text counts. */
let spoken = 0, next = null;
export function announce(text) {
  const wait = spoken + 5000 - Date.now();
  const isWaiting = next !== null;
  next = text;
  if (isWaiting) return;
  setTimeout(() => { spoken = Date.now(); document.getElementById('polite').textContent = next; next = null; }, Math.max(0, wait));
}

/** Calls `body` when the pixels of the screen get another size: somebody zooms, or moves the window to another screen. Returns what ends it. */
export function onRatio(body) {
  let query;
  const change = () => { listen(); body(); };
  const listen = () => { query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`); query.addEventListener('change', change, {once: true}); };
  listen();
  return () => query.removeEventListener('change', change);
}

// ---- Actions

let isConnected = false;
/** Buttons that change something are off while the farm cannot be reached. */
export function setConnected(value) {
  isConnected = value;
  for (const button of document.querySelectorAll('button[data-act]')) enable(button, button.isWanted);
}
export function enable(button, isWanted) {
  button.isWanted = isWanted;
  button.disabled = !isWanted || !isConnected || button.isBusy === true;
}

/**
 * A button that carries out `body`, and shows an error beside itself. A second click while it works does nothing.
 *
 * @param options `title`, `class`, and `name` for screen readers if the text alone does not say enough.
 */
export function action(text, body, options = {}) {
  let things = 0;
  const trouble = h('span.trouble', {role: 'alert', title: 'A click takes it away', onclick: event => { event.stopPropagation(); fill(trouble); }});
  const button = h('button', {type: 'button', 'data-act': '', class: options.class, title: options.title, 'aria-label': options.name}, text);
  button.addEventListener('click', async event => {
    event.stopPropagation();
    if (button.isBusy) return;
    fill(trouble);
    button.isBusy = true;
    button.setAttribute('aria-busy', 'true');
    const mine = things;
    try {
      await body(button);
    } catch (error) {
      // The button may be of another thing by now.
      if (mine === things) fill(trouble, problemText(error)); else announce(plain(error.message));
    } finally {
      if (mine === things) rest();
    }
  });
  const rest = () => {
    button.isBusy = false;
    button.removeAttribute('aria-busy');
    enable(button, button.isWanted);
  };
  enable(button, true);
  const whole = h('span.action', button, trouble);
  whole.button = button;
  /** Gives the button to another thing, with which nobody has done anything yet. */
  whole.rename = name => {
    things++;
    button.setAttribute('aria-label', name);
    if (trouble.firstChild) fill(trouble);
    if (button.isBusy) rest();
  };
  return whole;
}

/** The words of an error, with what to do. */
export function problemText(error) {
  const remedies = (error.remedy ?? '').split('\n').filter(Boolean);
  // A page has no terminal. What a command would list is left out.
  return [h('span', '✗\ufe0e ', visible(String(error.message ?? error).replace(/ \('penumbra [^']+' lists them\)/, ''))), remedies.map(remedy => h('span.remedy', visible(remedy)))];
}

/** What stands where a view could not be loaded. */
export const failed = (error, again) =>
  h('div.failed-load', {role: 'alert'}, h('p.trouble', problemText(error)), h('button', {type: 'button', onclick: again}, 'Try again'));

/** A line to copy, with its button. */
export function copyable(text, name = 'Copy') {
  const button = h('button', {
    type: 'button', onclick: async () => {
      let done = true;
      // Browsers give pages without TLS no clipboard, so the text is selected for the keyboard.
      try { await navigator.clipboard.writeText(text); } catch {
        getSelection().selectAllChildren(line);
        done = document.execCommand?.('copy') ?? false;
      }
      button.textContent = done ? 'Copied' : 'Selected: press Ctrl C';
      announce(button.textContent);
      setTimeout(() => { button.textContent = name; }, 2500);
    },
  }, name);
  const line = h('code', visible(text, true));
  return h('div.copy', line, button);
}

let settle = () => {};
/**
 * Asks before what cannot be undone. Resolves to whether the answer is yes. `extra` is shown below the text.
 * While a question is open, no other one takes its place: a click that is on its way would answer the wrong one.
 */
export async function ask(title, text, yes, extra) {
  const dialog = document.getElementById('dialog');
  if (dialog.open) throw new Error('Another question was open. Nothing was changed: try again.');
  settle(false);
  const answer = new Promise(resolve => { settle = resolve; });
  fill(dialog, h('form', {method: 'dialog'},
    h('h2', {id: 'dialog-title'}, title),
    text && h('p', visible(text)),
    extra,
    h('div', {class: 'buttons'},
      yes && h('button', {value: 'yes', class: 'danger'}, yes),
      h('button', {value: 'no', autofocus: true}, yes ? 'Leave it' : 'Close'))));
  dialog.returnValue = '';
  // The event of the question before may come after this one has opened.
  dialog.onclose = () => { if (!dialog.open) settle(dialog.returnValue === 'yes'); };
  dialog.showModal();
  return answer;
}
/** Takes an open question away. The answer is no. */
export function dismiss() {
  const dialog = document.getElementById('dialog');
  settle(false);
  dialog.close();
  fill(dialog);
}

/** All frames by their states, each as wide as it has frames, as in the report of a run. The legend beside it has the numbers. */
export function strip() {
  const element = h('div.strip', {'aria-hidden': 'true', hidden: true});
  /** @param counts pairs of a state's name and its number of frames. */
  element.show = counts => {
    const shown = counts.filter(([, number]) => number > 0);
    element.hidden = !shown.length;
    renew(element, shown, () => shown.map(([name, number]) => { const part = h('span', {class: name}); part.style.flexGrow = number; return part; }));
  };
  return element;
}

/** A bar of a share from 0 to 1, `failed` of it in another colour. Its width is set by the object model: the content policy forbids `style` attributes. */
export function bar(share, label) {
  const good = h('span'), bad = h('span.bad');
  const outer = h('span.bar', {role: 'progressbar', 'aria-label': label, 'aria-valuemin': 0, 'aria-valuemax': 100}, good, bad);
  outer.set = (value, failed = 0, isEnded = false) => {
    const percent = Math.floor(1000 * Math.min(1, Math.max(0, value || 0))) / 10, red = Math.min(percent, failed ? Math.max(0.4, 100 * failed) : 0);
    good.style.width = percent - red + '%';
    bad.style.width = red + '%';
    outer.classList.toggle('ended', isEnded);
    outer.setAttribute('aria-valuenow', Math.floor(percent));
  };
  outer.set(share);
  return outer;
}
