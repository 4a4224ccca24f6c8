// Handing in a job: paste or drop a manifest, see what is wrong and what would be done, and choose numbers by eye.
import {action, announce, enable, field, fill, h, onRatio, path, problemText, say} from './dom.js';
import {editor} from './editor.js';
import {get, lines, picture, send, sendOnce} from './api.js';
import {highestPriority} from './farm.js';
import {kept} from './kept.js';
import {cell, list} from './list.js';
import * as live from './live.js';
import {count, plural, withoutPath} from './words.js';

const example = `job: night
inputs: photos/**/*.jpg
filters:
  - gaussian: {radius: 8}
output: web/{dir}/{stem}.webp
`;
/** The numbers of filters in a manifest's text, with where they stand: `{filter, parameter, value, start, end}`. */
export function numbers(text, filters) {
  const block = /^filters:[^\n]*(?:\n(?:[ \t#-][^\n]*)?)*/m.exec(text), known = new Map(filters.map(filter => [filter.name, filter])), found = [];
  if (!block) return found;
  let filter = null;
  for (const part of block[0].matchAll(/(#[^\n]*)|("(?:[^"\\]|\\.)*"|'[^']*')|([A-Za-z_][\w-]*)\s*:[ \t]*(-?\d+(?:\.\d+)?)?(?=[\s,}\]]|$)/g)) {
    const [whole, , , name, value] = part;
    if (!name) continue;
    const parameter = filter?.parameters.find(one => one.name === name);
    if (value === undefined || !parameter) { if (known.has(name)) filter = known.get(name); continue; }
    const kind = Object.values(parameter.kind)[0], isNumber = ['number', 'integer', 'numberOrPair', 'numberOrWord', 'integerOrWord'].includes(Object.keys(parameter.kind)[0]);
    if (!isNumber) continue;
    const end = block.index + part.index + whole.length;
    found.push({filter: filter.name, parameter: name, unit: parameter.unit ?? '', summary: parameter.summary ?? '', isWhole: 'integer' in parameter.kind || 'integerOrWord' in parameter.kind, minimum: kind.minimum, maximum: kind.maximum, value: Number(value), start: end - value.length, end});
  }
  return found;
}

export function submitView(query, view) {
  let schema = null, filters = [], isValid = false, checked = '', warnings = [], doubts = {}, checking = null, version = 0;
  const controllers = new Set(), ending = new AbortController();
  const folder = h('input', {id: 'folder', value: kept.get('folder'), placeholder: '/srv/pictures', required: true, autocomplete: 'off', spellcheck: 'false'});
  const write = editor({value: kept.get('draft') || example, schema: () => schema, changed: text => { kept.set('draft', text); checkSoon(); showSliders(); }});
  const file = h('input', {type: 'file', accept: '.yaml,.yml,.json,text/*', class: 'unseen', tabindex: -1, 'aria-hidden': 'true', onchange: () => { if (file.files[0]) take(file.files[0]); file.value = ''; }});
  // They are kept like the text: a job that was to be held must not run at once because the session has ended meanwhile.
  let order = {};
  try { order = JSON.parse(kept.get('order') || '{}'); } catch { /* It was kept by another version of the page. */ }
  const priority = h('input', {type: 'number', min: 0, max: highestPriority(), value: Math.min(order.priority ?? 50, highestPriority())}), hold = h('input', {type: 'checkbox', checked: order.hold ?? false});
  const after = h('input', {placeholder: '12, 13', inputmode: 'numeric', value: order.after ?? ''}), label = h('input', {placeholder: 'show=night', value: order.label ?? ''});
  const keepOrder = () => kept.set('order', JSON.stringify({priority: priority.value, hold: hold.checked, after: after.value, label: label.value}));
  // The manifest is a text that is sent, or a file that the service reads.
  let isFile = kept.get('source') === 'file';
  const place = h('input', {id: 'path', value: kept.get('path'), placeholder: '/srv/pictures/night.yaml', required: true, 'aria-describedby': 'findings', autocomplete: 'off', spellcheck: 'false'});
  const sources = [[false, 'A text'], [true, 'A file on the farm']].map(([value, text]) => h('button', {type: 'button', onclick: () => choose(value)}, text));
  const hand = action('Submit it', submit, {class: 'primary'}), plan = action('Plan', showPlan, {title: 'What would be rendered, and why'});
  const planned = h('section.planned', {hidden: true});
  const ofText = h('div.source',
    field('Folder on the farm', folder, 'where relative paths of the manifest start'),
    h('p.tools', h('label', {for: 'manifest', class: 'field-name'}, 'Manifest'), h('span.quiet', 'paste it, drop a file here, or '), h('button', {type: 'button', onclick: () => file.click()}, 'open one …'), file, h('span.quiet', 'Ctrl Space completes')));
  const ofFile = field('Manifest on the farm', place, 'the path of a file that the service can read. Each run reads it again');
  const preview = previewPart();
  fill(view, h('h1', 'Submit a job'),
    h('div', {class: 'submit'},
      h('div', {},
        h('div.chips', {role: 'group', 'aria-label': 'Where the manifest is'}, sources),
        ofText, ofFile, write,
        h('details', {open: Boolean(order.hold || order.after || order.label || (order.priority ?? '50') !== '50'), oninput: keepOrder}, h('summary', 'Priority, order and labels'), h('div.form', field('Priority', priority, `0 to ${highestPriority()}${highestPriority() < 100 ? ', the highest one that your token allows' : ''}`), field('After jobs', after, 'numbers, with commas'), field('Labels', label, 'name=value, with spaces between'), h('label.check', hold, ' hold it until it is released'))),
        h('div.buttons', hand, plan)),
      preview.element),
    planned);

  // ---- The text
  const body = (more = {}) => ({...isFile ? {manifest: place.value.trim()} : {text: write.area.value, folder: folder.value.trim()}, ...more});
  function choose(value) {
    isFile = value;
    kept.set('source', value ? 'file' : 'text');
    showSource();
    checkSoon();
  }
  function showSource() {
    sources.forEach((button, index) => button.setAttribute('aria-pressed', String(isFile === (index === 1))));
    ofText.hidden = isFile;
    ofFile.hidden = !isFile;
    write.show(!isFile);
    showSliders();
  }
  async function take(one) {
    if (one.size > 1 << 20) { write.findings([{message: `${one.name} is larger than a manifest may be: 1 MiB`}], []); return; }
    if (isFile) choose(false);
    write.set(await one.text());
    write.area.focus();
  }
  // The element of all views stays when this view is closed. Its listeners must not.
  const {signal} = ending;
  // What was said while the service was away may not be true any more.
  const comesBack = live.on('back', checkSoon);
  view.addEventListener('dragover', event => { if (event.dataTransfer.types.includes('Files')) { event.preventDefault(); view.classList.add('dropping'); } }, {signal});
  view.addEventListener('dragleave', event => { if (!view.contains(event.relatedTarget)) view.classList.remove('dropping'); }, {signal});
  view.addEventListener('drop', event => {
    view.classList.remove('dropping');
    if (!event.dataTransfer.files[0]) return;
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  }, {signal});
  for (const [input, key] of [[folder, 'folder'], [place, 'path']]) input.addEventListener('input', () => { kept.set(key, input.value.trim()); checkSoon(); });
  function checkSoon() {
    clearTimeout(checking);
    // An answer about an earlier text says nothing about this one, and neither does a plan of it.
    version++;
    setValid(false);
    planned.hidden = true;
    checking = setTimeout(check, 300);
  }
  /** What is wrong although the manifest is right: its plan or its preview failed. Null takes it back. */
  function doubt(part, words) {
    doubts[part] = words;
    if (isValid) showAccepted();
  }
  function showAccepted() {
    const words = Object.values(doubts).filter(Boolean).join(', and ');
    write.findings([], warnings, `${checked} can be submitted`, words && `The manifest of ${checked} is accepted, but ${words}`);
  }
  function setValid(value) {
    isValid = value;
    enable(hand.button, value);
    enable(plan.button, value);
  }
  async function check() {
    const mine = ++version;
    setValid(false);
    if (isFile && !place.value.trim().startsWith('/')) { write.findings([], [{message: 'the path of the manifest is missing', remedy: 'it is a path of the farm that begins with /'}]); return; }
    if (!isFile && !folder.value.trim().startsWith('/')) { write.findings([], [{message: 'the folder on the farm is missing', remedy: 'relative paths start there; it is a path that begins with /'}]); return; }
    try {
      const answer = await send('POST', 'check', body());
      if (mine !== version) return;
      ({job: checked, warnings} = answer);
      doubts = {};
      setValid(true);
      showAccepted();
      preview.belongTo(JSON.stringify([checked, isFile, (isFile ? place : folder).value.trim()]));
      preview.refresh();
    } catch (error) {
      if (mine === version) write.findings(error.errors?.length ? error.errors : [{message: error.message, remedy: error.remedy}], []);
    }
  }
  async function submit() {
    const more = {priority: Number(priority.value), ...hold.checked ? {hold: true} : {}};
    const needs = after.value.split(/[\s,]+/).filter(Boolean).map(Number);
    if (needs.length) more.after = needs;
    const labels = Object.fromEntries(label.value.trim().split(/\s+/).filter(Boolean).map(part => { const at = part.indexOf('='); return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)]; }));
    if (Object.keys(labels).length) more.labels = labels;
    const job = await sendOnce('jobs', body(more));
    // They were meant for this job.
    kept.set('order', '');
    announce(`Job ${job.id}, ${job.name}, is submitted`);
    if (!ending.signal.aborted) location.hash = `#/jobs/${job.id}`;
  }
  async function showPlan(button) {
    planned.hidden = false;
    fill(planned, h('h2', 'Plan'), h('p.quiet', {role: 'status'}, 'Penumbra looks at the pictures …'));
    let answers;
    const mine = version;
    try { answers = await lines('plan', body()); } catch (error) {
      if (mine === version) { planned.hidden = true; doubt('plan', 'its plan failed'); }
      throw error;
    }
    // A plan of an earlier text says nothing about this one.
    if (mine !== version) return;
    // Frames that would fail come first: somebody has to do something about them.
    const failures = answers.filter(answer => answer.event === 'frame' && answer.state === 'failed');
    const frames = [...failures, ...answers.filter(answer => answer.event === 'plan')], summary = answers.find(answer => answer.event === 'summary') ?? {};
    const figures = [['toRender', 'to render'], ['skipped', 'up to date'], ['stillBroken', 'still broken'], ['kept', 'kept'], ['failed', 'would fail'], ['left', 'left']].filter(([key]) => summary[key]).map(([key, words]) => `${count(summary[key])} ${words}`);
    const rows = list({
      label: 'Plan', class: 'plan', columns: ['Frame', 'Picture', 'What would be done, and why'], key: row => row.key,
      make(row) {
        const name = cell('quiet'), input = h('span'), why = cell('why');
        const cells = [name, input, why];
        cells.update = next => { why.className = next.isFailure ? 'why fault' : 'why'; name.say(next.index ? `${next.index}${next.page > 1 ? `p${next.page}` : ''}` : ''); fill(input, path(next.input ?? '')); why.say(next.words); why.title = next.words; };
        cells.update(row);
        return cells;
      },
    });
    fill(planned, h('h2', 'Plan'), h('p', {role: 'status'}, `${plural(summary.frames ?? frames.length, 'frame')}: ${figures.join(', ') || 'nothing to do'}`), rows);
    doubt('plan', failures.length ? `${plural(failures.length, 'frame')} would fail: the plan says why` : null);
    const words = frame => frame.event === 'frame' ? `✗\ufe0e ${frame.cause}: ${withoutPath(frame.message, frame.input)}` : (frame.reason ?? '') || [frame.shard && frame.shard !== 'skip' ? `as ${frame.shard}` : '', frame.output ? 'to render' : ''].filter(Boolean).join(', ');
    rows.show(frames.map((frame, index) => ({...frame, key: index, isFailure: frame.event === 'frame', words: words(frame).replace(/^skipped: /, '')})));
    planned.scrollIntoView({block: 'nearest'});
  }

  // ---- A preview of one picture, with a slider for each number
  function previewPart() {
    const input = h('input', {id: 'preview-input', placeholder: 'the first of the job', autocomplete: 'off', spellcheck: 'false', value: kept.get('picture')});
    const x = h('input', {type: 'number', min: 0, placeholder: 'middle'}), y = h('input', {type: 'number', min: 0, placeholder: 'middle'}), size = h('select', [128, 256, 512].map(value => h('option', {value, selected: value === 256}, `${value} px`)));
    const sliders = h('div.sliders'), left = h('div.side'), right = h('div.side'), caption = h('figcaption'), shown = h('figure', {hidden: true}, h('div.pair', left, right), caption), trouble = h('p.trouble', {role: 'alert'});
    const element = h('section.preview', h('h2', 'Preview'),
      field('Picture', input, 'a path of the job, from the folder'),
      h('div.form', field('From the left', x, 'in px'), field('From the top', y, 'in px'), field('Size', size, 'exact pixels')),
      shown, trouble, sliders);
    let timer = null, controller = null, urls = [];
    const soon = () => { clearTimeout(timer); timer = setTimeout(load, 250); };
    async function load() {
      if (!isValid) return;
      controller?.abort();
      const mine = controller = new AbortController();
      controllers.add(mine);
      const request = {...body(), size: Number(size.value)};
      if (x.value !== '' && y.value !== '') Object.assign(request, {x: Math.round(x.value), y: Math.round(y.value)});
      if (input.value.trim()) request.input = input.value.trim();
      element.setAttribute('aria-busy', 'true');
      try {
        const [before, after] = await Promise.all([picture('preview', mine.signal, {...request, filters: []}), picture('preview', mine.signal, request)]);
        const old = urls;
        urls = [before, after].map(blob => URL.createObjectURL(blob));
        [[left, 'before'], [right, 'after']].forEach(([side, name], index) =>
          fill(side, h('div', {class: 'scroll', role: 'group', 'aria-label': `${name} the filters`}, h('img', {src: urls[index], alt: `${name} the filters`, onload: showExact})), h('span.corner', {'aria-hidden': 'true'}, name)));
        shown.hidden = false;
        for (const url of old) URL.revokeObjectURL(url);
        fill(trouble);
        doubt('preview', null);
      } catch (error) {
        if (error.name !== 'AbortError') {
          // A picture or a place that somebody has chosen may be wrong, and the job right.
          if (!request.input && request.x === undefined) doubt('preview', 'its preview failed');
          // The pictures of another text or file would be taken for those of this one.
          shown.hidden = true;
          fill(left);
          fill(right);
          fill(trouble, problemText(error));
        }
      } finally {
        controllers.delete(mine);
        if (mine === controller) element.removeAttribute('aria-busy');
      }
    }
    /** Each pixel of the pictures is a square of the screen's pixels: as large as there is room for, and the same in both. */
    function showExact() {
      const images = [left, right].map(side => side.querySelector('img'));
      if (!images.every(image => image?.naturalWidth)) return;
      const ratio = devicePixelRatio || 1, times = Math.max(1, Math.floor(left.clientWidth * ratio / Math.max(...images.map(image => image.naturalWidth))));
      for (const image of images) {
        image.style.width = `${image.naturalWidth * times / ratio}px`;
        const box = image.parentElement;
        box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1;
      }
      say(caption, times === 1 ? '1:1, exact pixels' : `${times}:1, exact pixels: each is ${times} × ${times} on the screen`);
    }
    const sizes = new ResizeObserver(showExact);
    sizes.observe(element);
    const forgetRatio = onRatio(showExact);
    for (const one of [x, y, size]) one.addEventListener('input', soon);
    // A picture belongs to the job for which somebody chose it.
    let job = kept.get('picture-job');
    const belongTo = next => {
      if (next === job) return;
      job = next;
      input.value = '';
      kept.set('picture', '');
      kept.set('picture-job', job);
    };
    input.addEventListener('input', () => { kept.set('picture', input.value.trim()); soon(); });
    return {element, refresh: soon, belongTo, sliders, close: () => { clearTimeout(timer); sizes.disconnect(); forgetRatio(); for (const url of urls) URL.revokeObjectURL(url); }};
  }
  let shownNumbers = null;
  function showSliders() {
    const found = isFile ? [] : numbers(write.area.value, filters), key = isFile ? 'file' : found.map(one => `${one.filter}.${one.parameter}`).join();
    if (key === shownNumbers) {
      found.forEach((one, index) => { const row = preview.sliders.children[index]; row.set(one); });
      return;
    }
    shownNumbers = key;
    if (isFile) { fill(preview.sliders, h('p.quiet', 'The file is shown as it is. Paste its text to try other numbers.')); return; }
    fill(preview.sliders, found.map((first, index) => {
      // A slider reaches a little beyond the value: most ranges are far larger than what anybody wants.
      const reach = Math.min(first.maximum ?? 1000, Math.max(50, Math.abs(first.value) * 3)), start = Math.max(first.minimum ?? 0, first.minimum < 0 ? -reach : first.minimum ?? 0);
      const name = `${first.filter}: ${first.parameter}`;
      const range = h('input', {type: 'range', min: start, max: reach, step: first.isWhole ? 1 : reach > 20 ? 0.5 : 0.01, value: first.value, 'aria-label': name, title: first.summary});
      const exact = h('input', {type: 'number', min: first.minimum, max: first.maximum, step: first.isWhole ? 1 : 'any', value: first.value, 'aria-label': `${name}, as a number`});
      const set = value => {
        const one = numbers(write.area.value, filters)[index];
        if (!one || value === '' || !Number.isFinite(Number(value))) return;
        const {area} = write, text = area.value;
        write.set(text.slice(0, one.start) + String(Number(value)) + text.slice(one.end));
      };
      range.addEventListener('input', () => set(range.value));
      exact.addEventListener('change', () => set(exact.value));
      const row = h('div.slider', h('span', h('b', first.filter), ` ${first.parameter}`), range, exact, h('span.quiet', first.unit));
      row.set = one => { if (document.activeElement !== exact) exact.value = one.value; if (document.activeElement !== range) range.value = one.value; };
      return row;
    }));
  }

  async function begin() {
    setValid(false);
    const [known, jobs] = await Promise.all([Promise.all([get('schema'), get('filters')]), folder.value ? null : get('jobs?limit=1')]);
    [schema, filters] = known;
    if (jobs?.jobs[0] && !folder.value) folder.value = jobs.jobs[0].manifest.replace(/\/[^/]*$/, '') || '/';
    showSource();
    await check();
  }
  return {begin, title: 'Submit', close: () => { clearTimeout(checking); version++; comesBack(); ending.abort(); preview.close(); for (const one of controllers) one.abort(); }};
}
