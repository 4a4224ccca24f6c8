// The editor of manifests: findings as the command line shows them, and completion by the schema's keys.
import {fill, h, visible} from './dom.js';
import {plural} from './words.js';

/** The keys above a place in a manifest, outermost first, and the word before it. `isValue`: the word is the value of the last key. */
export function context(text, place) {
  const before = text.slice(0, place), line = before.slice(before.lastIndexOf('\n') + 1);
  // Blocks: the keys of lines that are indented less.
  const blocks = [];
  for (const row of before.split('\n')) {
    if (!row.trim() || row.trim().startsWith('#')) continue;
    const [, spaces, dashes, key] = /^( *)((?:- +)*)(?:([\w.-]+):(?: |$))?/.exec(row), column = spaces.length + dashes.length;
    while (blocks.length && blocks.at(-1).column >= (key ? column : Math.max(1, column))) blocks.pop();
    if (dashes) while (blocks.length && blocks.at(-1).column > spaces.length) blocks.pop();
    if (key) blocks.push({column, key, row});
  }
  const isOwnKey = /^ *(?:- +)*[\w.-]*$/.test(line);
  if (isOwnKey) {
    const column = line.length - /[\w.-]*$/.exec(line)[0].length;
    while (blocks.length && blocks.at(-1).column >= column) blocks.pop();
    return {path: blocks.map(block => block.key), word: /[\w.-]*$/.exec(line)[0], isValue: false};
  }
  // In a line: braces and brackets from the last key of the block.
  const start = blocks.at(-1), path = blocks.slice(0, -1).map(block => block.key), stack = [];
  const flow = start ? before.slice(before.lastIndexOf(start.row) + start.row.indexOf(start.key + ':')) : line;
  let key = '', word = '', isAfterColon = false, quote = '';
  for (const one of flow) {
    if (quote) { if (one === quote) quote = ''; word += one; continue; }
    if (one === '"' || one === "'") { quote = one; word += one; continue; }
    if (one === '{' || one === '[') { stack.push(isAfterColon ? key : ''); key = word = ''; isAfterColon = false; } else if (one === '}' || one === ']') { key = stack.pop() ?? ''; word = ''; isAfterColon = true; } else if (one === ',') { key = word = ''; isAfterColon = false; } else if (one === ':') { key = word.trim(); word = ''; isAfterColon = true; } else if (one !== '\n') { word += one; }
  }
  path.push(...stack.filter(Boolean));
  return {path: isAfterColon ? [...path, key] : path, word: word.trimStart(), isValue: isAfterColon};
}

/** The parts of a schema that describe the value at a path of keys. Lists are passed through. */
function parts(root, path) {
  const deref = node => { while (node?.$ref) node = node.$ref.slice(2).split('/').reduce((part, key) => part?.[key.replace('~1', '/')], root); return node; };
  const spread = (nodes, depth = 0) => depth > 8 ? [] : nodes.flatMap(node => {
    node = deref(node);
    if (!node || typeof node !== 'object') return [];
    return [node, ...spread([...node.anyOf ?? [], ...node.oneOf ?? [], ...node.allOf ?? [], node.then, node.else, node.items].filter(Boolean), depth + 1)];
  });
  let nodes = spread([root]);
  for (const key of path) nodes = spread(nodes.map(node => node.properties?.[key]).filter(Boolean));
  return {nodes, deref};
}

/**
 * What can stand at a place: `{text, hint}`. First those that begin with the word, then those with another name, and then those with a
 * description that has a word which begins so: `blur` finds all filters that blur.
 */
function completions(schema, text, place) {
  if (!schema) return {word: '', options: []};
  const {path, word, isValue} = context(text, place), found = new Map(), {nodes, deref} = parts(schema, path);
  for (const node of nodes) {
    if (isValue) {
      for (const value of node.enum ?? (node.const !== undefined ? [node.const] : [])) found.set(String(value), {hint: '', others: []});
      if (node.type === 'boolean') for (const value of ['true', 'false']) found.set(value, {hint: '', others: []});
    } else {
      // What can be given once or several times is described below its choices.
      for (const [key, value] of Object.entries(node.properties ?? {})) {
        const whole = deref(value), described = whole?.description ? whole : deref(whole?.anyOf?.[0]) ?? {};
        if (!found.get(key)?.hint) found.set(key, {hint: described.description ?? '', others: described['x-other-names'] ?? []});
      }
    }
  }
  const small = word.toLowerCase(), isMeant = one => one.toLowerCase().startsWith(small), wordsOf = hint => hint.split(/[^\p{L}\d]+/u);
  const rank = ([key, {hint, others}]) => key.startsWith(word) ? 0 : small.length < 2 ? 4 : others.some(isMeant) ? 1 : wordsOf(hint).some(isMeant) ? isMeant(hint) ? 2 : 3 : 4;
  const options = [...found].map(one => [rank(one), one]).filter(([place, [key]]) => place < 4 && key !== word).sort(([one], [other]) => one - other);
  return {word, options: options.slice(0, 40).map(([, [key, {hint}]]) => ({text: isValue ? key : key + ': ', hint}))};
}

/** The keys that can stand below a path of keys. */
const keysAt = (schema, path) => new Set(schema ? parts(schema, path).nodes.flatMap(node => Object.keys(node.properties ?? {})) : []);

/**
 * @param options `value`; `schema()`; `changed(text)`, which is called for each change.
 */
export function editor(options) {
  const area = h('textarea', {
    id: 'manifest', spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', 'aria-label': 'Manifest', rows: 14, wrap: 'off', value: options.value ?? '',
    'aria-autocomplete': 'list', 'aria-controls': 'completions', 'aria-describedby': 'findings',
  });
  const gutter = h('div.gutter', {'aria-hidden': 'true'}), menu = h('ul.menu', {id: 'completions', role: 'listbox', 'aria-label': 'Completions', hidden: true}), findings = h('div.findings', {id: 'findings', role: 'status'});
  const code = h('div.code', gutter, area, menu), element = h('div.editor', code, findings);
  let errors = [], offered = [], chosen = 0;

  function showGutter() {
    const bad = new Set(errors.map(error => error.line)), number = area.value.split('\n').length;
    if (gutter.shown === `${number} ${[...bad]}`) return;
    gutter.shown = `${number} ${[...bad]}`;
    fill(gutter, Array.from({length: number}, (_, index) => h('div', {class: bad.has(index + 1) ? 'bad' : ''}, bad.has(index + 1) ? `✗\ufe0e ${index + 1}` : `${index + 1}`)));
    gutter.scrollTop = area.scrollTop;
  }
  area.addEventListener('scroll', () => { gutter.scrollTop = area.scrollTop; }, {passive: true});
  function insert(text) {
    // Keeps the browser's own undo.
    if (!document.execCommand?.('insertText', false, text)) area.setRangeText(text, area.selectionStart, area.selectionEnd, 'end');
  }
  function changed() { showGutter(); options.changed(area.value); }
  function offer(isWanted) {
    const place = area.selectionStart;
    const {word, options: found} = isWanted && place === area.selectionEnd ? completions(options.schema(), area.value, place) : {word: '', options: []};
    offered = found.map(one => ({...one, word}));
    chosen = 0;
    showMenu();
  }
  function showMenu() {
    menu.hidden = !offered.length;
    if (menu.hidden) { area.removeAttribute('aria-activedescendant'); return; }
    fill(menu, offered.map((one, index) => h('li', {role: 'option', id: `option-${index}`, 'aria-selected': String(index === chosen), onpointerdown: event => { event.preventDefault(); take(index); }}, h('b', one.text.trim()), h('span', one.hint))));
    area.setAttribute('aria-activedescendant', `option-${chosen}`);
    menu.children[chosen].scrollIntoView({block: 'nearest'});
    const line = area.value.slice(0, area.selectionStart).split('\n'), style = getComputedStyle(area), size = parseFloat(style.lineHeight);
    menu.style.top = `${Math.min(area.clientHeight, line.length * size - area.scrollTop + 10)}px`;
  }
  function take(index) {
    const one = offered[index];
    area.focus();
    area.setSelectionRange(area.selectionStart - one.word.length, area.selectionStart);
    insert(one.text);
    offered = [];
    showMenu();
    changed();
  }
  /** A key of the job that was written below a list, as `output:` below the filters, is moved to the start of its line. */
  function moveOut() {
    const end = area.selectionStart, start = area.value.lastIndexOf('\n', end - 1) + 1;
    const [whole, spaces, key] = /^( +)([\w-]+):$/.exec(area.value.slice(start, end)) ?? [];
    if (!whole || !keysAt(options.schema(), []).has(key)) return;
    // It stays where it means something.
    if (keysAt(options.schema(), context(area.value, start + spaces.length).path).has(key)) return;
    area.setSelectionRange(start, start + spaces.length);
    if (!document.execCommand?.('delete')) area.setRangeText('');
    area.setSelectionRange(end - spaces.length, end - spaces.length);
  }
  area.addEventListener('input', event => {
    changed();
    if (event.inputType === 'insertText' && event.data === ':') moveOut();
    const place = area.selectionStart, isTyping = event.inputType === 'insertText' || event.inputType === 'deleteContentBackward';
    offer(isTyping && /[\w.-]$/.test(area.value.slice(0, place)));
  });
  area.addEventListener('keydown', event => {
    if (event.key === ' ' && event.ctrlKey) { event.preventDefault(); offer(true); return; }
    if (menu.hidden) {
      // Enter keeps the indentation. Tab leaves the field, as in all forms.
      if (event.key === 'Enter' && !event.shiftKey && !event.ctrlKey && !event.isComposing) {
        event.preventDefault();
        const row = area.value.slice(0, area.selectionStart).split('\n').at(-1);
        // A second Enter ends the block.
        if (/^ +$/.test(row) && area.selectionStart === area.selectionEnd) {
          area.setSelectionRange(area.selectionStart - row.length, area.selectionStart);
          if (!document.execCommand?.('delete')) area.setRangeText('');
          changed();
          return;
        }
        insert('\n' + /^ */.exec(row)[0] + (/^ *(- +)?[\w.-]+:\s*$/.test(row) ? '  ' : ''));
        changed();
      }
      return;
    }
    const keys = {ArrowDown: () => { chosen = (chosen + 1) % offered.length; showMenu(); }, ArrowUp: () => { chosen = (chosen + offered.length - 1) % offered.length; showMenu(); }, Escape: () => { offered = []; showMenu(); }, Enter: () => take(chosen), Tab: () => take(chosen)};
    if (keys[event.key]) { event.preventDefault(); event.stopPropagation(); keys[event.key](); }
  });
  area.addEventListener('blur', () => { offered = []; showMenu(); });

  element.area = area;
  element.set = text => { area.value = text; changed(); };
  /** The findings are those of an earlier text, until others come. */
  element.outdate = () => findings.classList.add('old');
  element.show = isShown => { code.hidden = !isShown; };
  /**
   * Shows findings with the line and a caret, as the command line does. While the text is not shown, they are those of a file, which is not here.
   *
   * @param good what is said of a text without errors. `doubt` takes its place if something else went wrong.
   */
  element.findings = (next, warnings, good, doubt) => {
    errors = next;
    findings.classList.remove('old');
    const rows = code.hidden ? [] : area.value.split('\n');
    const where = finding => finding.line ? `line ${finding.line}, column ${finding.column ?? 1}` : '';
    const shown = (finding, kind) => h('li', {class: kind},
      code.hidden ? h('b.where', where(finding) || finding.label || kind) : h('button', {type: 'button', class: 'where', onclick: () => {
        const start = rows.slice(0, (finding.line ?? 1) - 1).reduce((sum, row) => sum + row.length + 1, 0) + (finding.column ?? 1) - 1;
        area.focus();
        area.setSelectionRange(start, start);
      }}, where(finding) || finding.label || kind), ' ', visible(finding.message),
      finding.line && rows[finding.line - 1] !== undefined ? h('pre', {'aria-hidden': 'true'}, `${String(finding.line).padStart(3)} | `, visible(rows[finding.line - 1]), '\n', `    | ${' '.repeat((finding.column ?? 1) - 1)}^`) : null,
      (finding.remedy ?? '').split('\n').filter(Boolean).map(remedy => h('p.remedy', visible(remedy))));
    fill(findings,
      errors.length ? h('p.trouble', `✗\ufe0e ${plural(errors.length, 'error')}`) : doubt ? h('p.caution', `! ${doubt}`) : good ? h('p.well', `✓\ufe0e ${good}`) : null,
      h('ul.plain', errors.map(error => shown(error, 'error')), warnings.map(warning => shown(warning, 'warning'))));
    showGutter();
  };
  showGutter();
  return element;
}
