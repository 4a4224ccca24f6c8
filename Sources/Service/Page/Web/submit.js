// Handing in a job: paste or drop a manifest, see what is wrong and what would be done, and choose numbers by eye.
import {action, announce, enable, field, fill, h, onRatio, path, plain, problemText, say, visible} from './dom.js';
import {editor} from './editor.js';
import {excluding, leftOut} from './errors.js';
import {get, lines, picture, send, sendOnce} from './api.js';
import {highestPriority, mayReadAll} from './farm.js';
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
/** How large a manifest may be, in bytes. */
const largest = 1 << 20;
/** Whether a text can be a manifest. Other files, such as pictures, have bytes that no text has. */
const isText = text => !/[\0\ufffd]/.test(text);

/** The part of a manifest that has its filters. */
const filtersBlock = /^filters:[^\n]*(?:\n(?:[ \t#-][^\n]*)?)*/m;
/** How far the slider of a number reaches. It stays so for all texts, and grows if a number is larger. */
const reaches = new Map();

/** The numbers of filters in a manifest's text, with where they stand: `{filter, parameter, value, start, end}`. */
export function numbers(text, filters) {
  const block = filtersBlock.exec(text), known = new Map(filters.map(filter => [filter.name, filter])), found = [];
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

/** Why a picture would be rendered. How the farm would share the work out stands behind it, and is not shown. */
const planWords = (reason = '') => (first => ({new: 'to render: there is no result yet', 'output missing': 'to render: its result is missing'})[first] ?? first)(reason.split('; ')[0]);

export function submitView(query, view) {
  let schema = null, filters = [], isValid = false, checked = '', warnings = [], doubts = {}, checking = null, version = 0;
  const controllers = new Set(), ending = new AbortController();
  const folder = h('input', {id: 'folder', list: 'folders', value: kept.get('folder'), placeholder: '/srv/pictures', required: true, autocomplete: 'off', spellcheck: 'false'});
  const draft = isText(kept.get('draft')) ? kept.get('draft') : '';
  // The example is no mistake of anybody. It is not checked before somebody has written something, or has named a folder.
  let isBegun = draft !== '' && draft !== example, isGreeting = false;
  const write = editor({value: draft || example, schema: () => schema, changed: text => { if (text !== example) isBegun = true; keepDraft(); checkSoon(); showSliders(); }});
  const file = h('input', {type: 'file', accept: '.yaml,.yml,.json,text/*', class: 'unseen', tabindex: -1, 'aria-hidden': 'true', onchange: () => { if (file.files[0]) take(file.files[0]); file.value = ''; }});
  // The browser's own undo does not know texts that the page has set. So the page keeps the text from before.
  let before = null, name = draft && kept.get('name') || null;
  const back = h('button', {type: 'button', hidden: true, onclick: () => { const old = before; back.hidden = true; setFolder(old.folder); name = old.name; write.set(old.text); write.area.focus(); }}, 'Put back what was there');
  // They are kept like the text: a job that was to be held must not run at once because the session has ended meanwhile.
  let order = {};
  try { order = JSON.parse(kept.get('order') || '{}'); } catch { /* It was kept by another version of the page. */ }
  const priority = h('input', {type: 'number', min: 0, max: highestPriority(), value: Math.min(order.priority ?? 50, highestPriority())}), hold = h('input', {type: 'checkbox', checked: order.hold ?? false}), strict = h('input', {type: 'checkbox', checked: order.strict ?? false});
  const after = h('input', {placeholder: '12, 13', inputmode: 'numeric', value: order.after ?? ''}), label = h('input', {placeholder: 'show=night', value: order.label ?? ''}), orderTrouble = h('p.trouble.wide', {role: 'alert'});
  const keepOrder = () => kept.set('order', JSON.stringify({priority: priority.value, hold: hold.checked, strict: strict.checked, after: after.value, label: label.value}));
  // The manifest is a text that is sent, or a file that the service reads.
  let isFile = kept.get('source') === 'file';
  const place = h('input', {id: 'path', value: kept.get('path'), placeholder: '/srv/pictures/night.yaml', required: true, 'aria-describedby': 'findings', autocomplete: 'off', spellcheck: 'false'});
  const sources = [[false, 'A text'], [true, 'A file on the farm']].map(([value, text]) => h('button', {type: 'button', onclick: () => choose(value)}, text));
  const hand = action('Submit it', submit, {class: 'primary'}), plan = action('Plan', showPlan, {title: 'What would be rendered, and why'});
  const planned = h('section.planned', {hidden: true});
  const ofText = h('div.source',
    field('Folder on the farm', folder, 'Your pictures are in it, or in folders below it. Paths of the manifest start here'),
    h('p.tools', h('label', {for: 'manifest', class: 'field-name'}, 'Manifest'), h('span.quiet', 'paste it, drop a file here, or '), h('button', {type: 'button', onclick: () => file.click()}, 'open one …'), file, h('button', {type: 'button', title: 'Replaces the text by one that shows what a manifest looks like', onclick: () => replace(example)}, 'Example'), back, h('span.quiet.for-keys', 'Ctrl Space completes')));
  const ofFile = field('Manifest on the farm', place, 'the path of a file that the service can read. Each run reads it again');
  const hopeless = h('div.trouble', {role: 'alert'}), refusal = h('p.trouble', {role: 'alert', hidden: true});
  const preview = previewPart();
  const folders = h('datalist', {id: 'folders'});
  fill(view, h('h1', 'Submit a job'), folders,
    h('p.quiet.lead', 'A manifest is a short text. It says which pictures to take, what to do with them, and where to put the results. The farm is the machine, or the group of machines, that does the work: the pictures are in its folders.'),
    h('div', {class: 'submit'},
      h('div', {},
        h('div.chips', {role: 'group', 'aria-label': 'Where the manifest is'}, sources),
        ofText, ofFile, refusal, write,
        h('details', {open: Boolean(order.hold || order.strict || order.after || order.label || (order.priority ?? '50') !== '50'), oninput: () => { keepOrder(); enableSubmit(); }}, h('summary', 'Priority, order, labels and more'), h('div.form', orderTrouble, field('Priority', priority, `0 to ${highestPriority()}${highestPriority() < 100 ? ', the highest one that your token allows' : ''}: higher ones come first`), field('After jobs', after, 'numbers, with commas'), field('Labels', label, 'name=value, with spaces between'), h('label.check', hold, h('span', 'hold it until it is released')),
          h('label.check.wide', strict, h('span', 'strict: known problems count as failures ', h('small.quiet', 'These are pictures that are still broken from an earlier run, and outputs that were kept because somebody has edited them.'))))),
        h('div.buttons', hand, mayReadAll() ? plan : null), hopeless),
      preview.element),
    planned);

  // ---- The text
  const body = (more = {}) => ({...isFile ? {manifest: place.value.trim()} : {text: write.area.value, folder: folder.value.trim(), ...name ? {name} : {}}, ...more});
  /** Keeps what belongs together: a tab must not take the name or the folder of a text that another tab has. */
  function keepDraft() {
    for (const [key, value] of Object.entries({draft: write.area.value, folder: folder.value.trim(), name: name ?? ''})) kept.set(key, value);
  }
  function setFolder(value) {
    folder.value = value;
    keepDraft();
  }
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
  /** Replaces the whole text. A button puts the earlier one back. */
  function replace(text) {
    if (isFile) choose(false);
    const {value} = write.area;
    if (value !== text && value.trim()) { before = {text: value, folder: folder.value, name}; back.hidden = false; }
    name = null;
    write.set(text);
    write.area.focus();
  }
  async function take(one) {
    // Only the first bytes of other files are read: pictures may be large.
    const isNamed = /\.(ya?ml|json|txt)$/i.test(one.name), isKnown = isNamed || isText(await one.slice(0, 4096).text().catch(() => '\0'));
    const text = isKnown && one.size <= largest ? await one.text().catch(() => '\0') : '';
    if (signal.aborted) return;
    if (isKnown && one.size > largest) { refuse(`${one.name} is larger than a manifest may be: 1 MiB`); return; }
    if (isKnown && isText(text)) { replace(text); return; }
    refuse(one.type.startsWith('image/') ? `${one.name} is a picture, and no manifest` : `${one.name} is no text, so it is no manifest`,
      'Your text stays as it was. Pictures are not sent from here: put them into a folder of the farm, and name that folder behind inputs:');
  }
  /** Begins with the manifest of a job, as somebody handed it in. */
  async function takeJob(id) {
    // A reload shows what was written since.
    history.replaceState(history.state, '', '#/submit');
    let found;
    try { found = await get(`jobs/${id}/manifest`); } catch (error) {
      if (signal.aborted) return;
      refuse(`The manifest of job ${id} cannot be read: ${error.message}`, error.remedy);
      return;
    }
    if (signal.aborted) return;
    const line = leftOut.get(id);
    leftOut.delete(id);
    isBegun = true;
    replace(line ? excluding(found.text, line) ?? found.text : found.text);
    // Outputs belong to the path of a manifest. With this name the text has the path of the file.
    name = found.name ?? /([^/]+)\.yaml$/.exec(found.manifest ?? '')?.[1] ?? null;
    setFolder(found.folder ?? (found.manifest.replace(/\/[^/]*$/, '') || '/'));
    announce(`This is the manifest of job ${id}${line ? ', without the pictures that failed' : ''}`);
  }
  /** Says why a file was not taken. What is said of the text comes back with the next change. */
  function refuse(message, remedy = '') {
    if (isFile) choose(false);
    fill(refusal, problemText({message, remedy}));
    refusal.hidden = false;
  }
  // The element of all views stays when this view is closed. Its listeners must not.
  const {signal} = ending;
  // What was said while the service was away may not be true any more.
  const comesBack = live.on('back', checkSoon);
  // Some browsers offer a picture of the page that is dragged as a file.
  let isOwnDrag = false;
  view.addEventListener('dragstart', () => { isOwnDrag = true; }, {signal});
  view.addEventListener('dragend', () => { isOwnDrag = false; }, {signal});
  view.addEventListener('dragover', event => { if (event.dataTransfer.types.includes('Files') && !isOwnDrag) { event.preventDefault(); view.classList.add('dropping'); } }, {signal});
  view.addEventListener('dragleave', event => { if (!view.contains(event.relatedTarget)) view.classList.remove('dropping'); }, {signal});
  view.addEventListener('drop', event => {
    view.classList.remove('dropping');
    const [first] = event.dataTransfer.files;
    if (!first) return;
    // Without this the browser would leave the page and show the file.
    event.preventDefault();
    if (!isOwnDrag) take(first);
    isOwnDrag = false;
  }, {signal});
  for (const [input, keep] of [[folder, keepDraft], [place, () => kept.set('path', place.value.trim())]]) input.addEventListener('input', () => { isBegun = true; keep(); checkSoon(); });
  function checkSoon() {
    clearTimeout(checking);
    refusal.hidden = true;
    fill(hopeless);
    // An answer about an earlier text says nothing about this one, and neither does a plan of it.
    version++;
    setValid(false);
    planned.hidden = true;
    preview.forget();
    // The line below the text stays one line, so that nothing moves below somebody's finger.
    if (isGreeting && isBegun) { isGreeting = false; write.findings([], []); } else write.outdate();
    checking = setTimeout(check, 300);
  }
  /** What is wrong although the manifest is right: its plan or its preview failed. Null takes it back. */
  function doubt(part, words, error = null) {
    // A service that is busy, or cannot be reached, says nothing of the job.
    doubts[part] = words && (!error || error.status === 422) ? {words, error} : null;
    if (isValid) showAccepted();
  }
  function showAccepted() {
    const all = Object.values(doubts).filter(Boolean), words = all.map(one => one.words).join(', and ');
    write.findings([], warnings, `${checked} can be submitted`, words && `The manifest of ${checked} is accepted, but ${words}`);
    // The same error may have several effects. It is shown once, beside the button that would start a job that cannot work.
    const {error} = all.find(one => one.error) ?? {};
    fill(hopeless, error ? problemText({message: `As it is now, the job would fail: ${error.message.replace(/^[^ ]*\.ya?ml: error: /, '')}`, remedy: error.remedy}) : null);
    hand.button.textContent = error ? 'Submit it anyway' : 'Submit it';
    hand.button.classList.toggle('primary', !error);
  }
  /** What is wrong with the fields beside the manifest. */
  function wrongOrder() {
    const number = Number(priority.value);
    if (!priority.value || !Number.isInteger(number) || number < 0 || number > highestPriority()) return `The priority is no whole number from 0 to ${highestPriority()}.`;
    return /^[\d\s,]*$/.test(after.value) ? '' : 'The jobs after which it comes are no numbers with commas.';
  }
  function enableSubmit() {
    const wrong = wrongOrder();
    say(orderTrouble, wrong && `✗\ufe0e ${wrong}`);
    enable(hand.button, isValid && !wrong);
  }
  function setValid(value) {
    isValid = value;
    enableSubmit();
    enable(plan.button, value);
  }
  /** Says what is wrong. What is shown of an earlier text stays, and is marked. */
  function cannot(errors, hints = []) {
    write.findings(errors, hints);
    preview.outdate();
  }
  async function check() {
    const mine = ++version;
    setValid(false);
    if (!isFile && !isBegun) { isGreeting = true; cannot([], [{label: 'example', message: 'this text shows what a manifest looks like', remedy: 'Name the folder of your pictures, and change the text or paste another one. Then it is checked.'}]); return; }
    if (isFile && !place.value.trim().startsWith('/')) { cannot([], [{label: 'still to do', message: 'the path of the manifest is missing', remedy: 'it is a path of the farm that begins with /'}]); return; }
    if (!isFile && !folder.value.trim().startsWith('/')) { cannot([], [{label: 'still to do', message: 'the folder on the farm is missing', remedy: 'relative paths start there; it is a path that begins with /'}]); return; }
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
      if (mine === version) cannot(error.errors?.length ? error.errors : [{message: error.message, remedy: error.remedy}]);
    }
  }
  async function submit() {
    const more = {priority: Number(priority.value), ...hold.checked ? {hold: true} : {}, ...strict.checked ? {strict: true} : {}};
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
      if (mine === version) { planned.hidden = true; doubt('plan', 'its plan failed', error); }
      throw error;
    }
    // A plan of an earlier text says nothing about this one.
    if (mine !== version) return;
    preview.offer(answers);
    // Frames that would fail come first: somebody has to do something about them.
    const failures = answers.filter(answer => answer.event === 'frame' && answer.state === 'failed'), problems = answers.filter(answer => answer.event === 'problem' && answer.severity === 'error');
    const frames = [...failures, ...answers.filter(answer => answer.event === 'plan')], summary = answers.find(answer => answer.event === 'summary') ?? {};
    const figures = [['toRender', 'to render'], ['skipped', 'up to date'], ['stillBroken', 'still broken'], ['kept', 'kept'], ['failed', 'would fail'], ['left', 'left']].filter(([key]) => summary[key]).map(([key, words]) => `${count(summary[key])} ${words}`);
    const words = frame => frame.event === 'frame' ? `✗\ufe0e ${frame.cause}: ${withoutPath(frame.message, frame.input)}` : planWords(frame.reason) || [frame.shard && frame.shard !== 'skip' ? `as ${frame.shard}` : '', frame.output ? 'to render' : ''].filter(Boolean).join(', ');
    const whole = h('div', {role: 'status'});
    const rows = list({
      label: 'Plan', class: 'plan', columns: ['Number', 'Picture', 'What would be done, and why'], key: row => row.key,
      // A row has room for the beginning of a long text.
      open(row) {
        fill(whole, h('p', path(row.input ?? '')), h('p', {class: row.isFailure ? 'trouble' : ''}, visible(row.words)));
        if (row.input) preview.choosePicture(row.input);
      },
      make(row) {
        const name = cell('quiet'), input = h('span'), why = cell('why');
        const cells = [name, input, why];
        cells.update = next => { why.className = next.isFailure ? 'why fault' : 'why'; name.say(next.index ? `${next.index}${next.page > 1 ? `p${next.page}` : ''}` : ''); fill(input, path(next.input ?? '')); why.say(next.words); why.title = next.words; };
        cells.update(row);
        return cells;
      },
    });
    fill(planned, h('h2', 'Plan'), h('p', {role: 'status'}, `${plural(summary.frames ?? frames.length, 'picture')}: ${figures.join(', ') || 'nothing to do'}`),
      // What keeps the whole job from its folders.
      problems.length ? h('ul.plain', problems.map(problem => h('li.trouble', visible(problem.message)))) : null,
      // Nobody has to look for what would fail, nor to guess its end.
      failures.length ? h('ul.plain', failures.slice(0, 3).map(frame => h('li.trouble', visible(`${frame.input ?? ''}: ${words(frame)}`))), failures.length > 3 ? h('li.quiet', `and ${count(failures.length - 3)} more, which come first in this list`) : null) : null,
      h('p.quiet', 'Click on a row to read all of it, and to see a preview of its picture.'), rows, whole);
    doubt('plan', problems.length ? 'a run would refuse the job: the plan says why' : failures.length ? `${plural(failures.length, 'picture')} would fail: the plan says why` : null);
    rows.show(frames.map((frame, index) => ({...frame, key: index, isFailure: frame.event === 'frame', words: words(frame).replace(/^skipped: /, '')})));
    planned.scrollIntoView({block: 'nearest'});
  }

  // ---- A preview of one picture, with a slider for each number
  function previewPart() {
    const input = h('input', {id: 'preview-input', placeholder: 'the first of the job', autocomplete: 'off', spellcheck: 'false', value: kept.get('picture')});
    const choice = h('select', {'aria-label': 'Pictures of the job', hidden: true});
    const x = h('input', {type: 'number', min: 0, max: 100, step: 'any', value: 50}), y = h('input', {type: 'number', min: 0, max: 100, step: 'any', value: 50}), size = h('select', [128, 256, 512].map(value => h('option', {value, selected: value === 256}, `${value} px`)));
    const sliders = h('div.sliders'), left = h('div.side'), right = h('div.side'), caption = h('figcaption'), shown = h('figure', {hidden: true}, h('div.pair', left, right), caption), trouble = h('p.trouble', {role: 'alert'});
    const state = h('span.quiet', {role: 'status'}), overview = overviewPart(), list = action('List the pictures', listPictures, {title: 'Looks for the pictures of the job'});
    const element = h('section.preview', h('div.tools', h('h2', 'Preview'), state),
      sliders, shown, trouble,
      overview.element,
      field('Picture', input, 'a path of the job, from the folder'), h('div.tools', mayReadAll() ? list : null, choice),
      h('div.form', field('From the left', x, 'in %'), field('From the top', y, 'in %'), field('Size', size, 'exact pixels')));
    let timer = null, controller = null, urls = [], before = null, beforePlace = null, isOld = false;
    /** What went wrong with an earlier text, picture or place says nothing about this one. */
    let questions = 0;
    const forget = () => { questions++; fill(trouble); };
    const soon = () => { forget(); clearTimeout(timer); timer = setTimeout(load, 250); };
    const percentOf = field => field.value === '' ? 50 : Math.round(100 * Math.min(100, Math.max(0, Number(field.value)))) / 100;
    /** What decides which picture is shown, and where. The filters do not: while a slider moves, the picture before them stays the same. */
    const source = () => JSON.stringify([body(isFile ? {version} : {text: write.area.value.replace(filtersBlock, '')}), input.value.trim()]);
    async function load() {
      if (!isValid) return;
      controller?.abort();
      const mine = controller = new AbortController();
      controllers.add(mine);
      const question = questions, picked = source(), [left, top] = [x, y].map(percentOf), request = {...body(), size: Number(size.value)};
      if (left !== 50 || top !== 50) request.at = `${left}%,${top}%`;
      if (input.value.trim()) request.input = input.value.trim();
      const place = JSON.stringify([picked, request.at, request.size]);
      element.setAttribute('aria-busy', 'true');
      say(state, 'being made …');
      try {
        const blobs = await Promise.all([place === beforePlace ? before : picture('preview', mine.signal, {...request, filters: []}), picture('preview', mine.signal, request)]);
        [before, beforePlace] = [blobs[0], place];
        await show(blobs, mine.signal);
        if (mine.signal.aborted) return;
        forget();
        doubt('preview', null);
        overview.load(picked, request);
      } catch (error) {
        if (error.name !== 'AbortError' && question === questions) {
          // A picture or a place that somebody has chosen may be wrong, and the job right.
          if (!request.input && request.at === undefined) doubt('preview', 'its preview failed', error);
          // The pictures of another text or file would be taken for those of this one.
          shown.hidden = true;
          fill(trouble, problemText(error));
          overview.hide();
        }
      } finally {
        controllers.delete(mine);
        if (mine === controller) { element.removeAttribute('aria-busy'); say(state, ''); }
      }
    }
    /** Puts both pictures into the page when they are decoded, so that nothing moves meanwhile. */
    async function show(blobs, signal) {
      const next = blobs.map(blob => URL.createObjectURL(blob)), images = ['before', 'after'].map((name, index) => h('img', {src: next[index], alt: `${name} the filters`, draggable: 'false'}));
      await Promise.all(images.map(image => image.decode().catch(() => {})));
      // Newer ones are on their way, or somebody has gone on.
      if (signal.aborted) { for (const url of next) URL.revokeObjectURL(url); return; }
      const old = urls;
      urls = next;
      [[left, 'before'], [right, 'after']].forEach(([side, name], index) =>
        fill(side, h('div', {class: 'scroll', role: 'group', 'aria-label': `${name} the filters`}, images[index]), h('span.corner', {'aria-hidden': 'true'}, name)));
      shown.hidden = false;
      shown.classList.toggle('old', isOld);
      if (isOld) outdate();
      showExact();
      for (const url of old) URL.revokeObjectURL(url);
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
      if (!shown.classList.contains('old')) say(caption, times === 1 ? '1:1, exact pixels' : `${times}:1, exact pixels: each is ${times} × ${times} on the screen`);
    }
    /** The text has changed. What is shown is that of an earlier one. */
    function outdate() {
      isOld = true;
      if (shown.hidden) return;
      shown.classList.add('old');
      say(caption, 'This is the preview of an earlier text.');
    }

    /** The whole picture, small. A click says which part of it is shown with exact pixels. */
    function overviewPart() {
      const canvas = h('canvas', {role: 'img', 'aria-label': 'The whole picture'}), mark = h('span.mark', {'aria-hidden': 'true'});
      const element = h('div', {hidden: true}, h('div.whole', canvas, mark), h('small.quiet', 'The whole picture, before the filters. The mark is at the part above. Click on the part that you want to see.'));
      let shownSource = null, asked = null;
      const place = () => { mark.style.left = `${percentOf(x)}%`; mark.style.top = `${percentOf(y)}%`; };
      function point(event) {
        const box = canvas.getBoundingClientRect(), part = (at, start, length) => String(Math.round(1000 * Math.min(1, Math.max(0, (at - start) / length))) / 10);
        x.value = part(event.clientX, box.left, box.width);
        y.value = part(event.clientY, box.top, box.height);
        place();
        soon();
      }
      canvas.addEventListener('pointerdown', event => { if (event.button === 0) { canvas.setPointerCapture(event.pointerId); point(event); } });
      canvas.addEventListener('pointermove', event => { if (canvas.hasPointerCapture(event.pointerId)) point(event); });
      function hide() { element.hidden = true; shownSource = null; }
      async function load(source, {at, size, ...request}) {
        place();
        if (source === shownSource) return;
        asked?.abort();
        const mine = asked = new AbortController();
        controllers.add(mine);
        try {
          const bitmap = await createImageBitmap(await picture('preview', mine.signal, {...request, size: 512, filters: [{thumbnail: {size: 512}}]}));
          if (mine !== asked) return;
          [canvas.width, canvas.height] = [bitmap.width, bitmap.height];
          canvas.getContext('2d').drawImage(bitmap, 0, 0);
          shownSource = source;
          element.hidden = false;
        } catch (error) {
          // The part with exact pixels is there, and the fields say which one it is.
          if (error.name !== 'AbortError') hide();
        } finally { controllers.delete(mine); }
      }
      return {element, load, hide, place};
    }

    // ---- The pictures of the job
    async function listPictures() {
      const mine = version, answers = await lines('plan', body());
      if (mine === version) offer(answers);
    }
    /** Lets somebody choose one of the first pictures of a plan. */
    function offer(answers) {
      const start = isFile ? place.value.trim().replace(/[^/]*$/, '') : folder.value.trim().replace(/\/*$/, '/');
      const names = [...new Set(answers.map(answer => answer.input).filter(Boolean))].slice(0, 500).map(name => name.startsWith(start) ? name.slice(start.length) : name);
      fill(choice, h('option', {value: ''}, names.length ? 'choose one of these pictures' : 'there are no pictures'), names.map(name => h('option', {value: name}, plain(name))));
      choice.hidden = false;
    }
    function choosePicture(name) {
      if (input.value !== name) input.value = name;
      kept.set('picture', name);
      soon();
    }
    choice.addEventListener('change', () => { if (choice.value) choosePicture(choice.value); });

    const sizes = new ResizeObserver(showExact);
    sizes.observe(element);
    const forgetRatio = onRatio(showExact);
    for (const one of [x, y, size]) one.addEventListener('input', () => { overview.place(); soon(); });
    // A picture belongs to the job for which somebody chose it.
    let job = kept.get('picture-job');
    const belongTo = next => {
      if (next === job) return;
      job = next;
      input.value = '';
      choice.hidden = true;
      kept.set('picture', '');
      kept.set('picture-job', job);
    };
    input.addEventListener('input', () => choosePicture(input.value.trim()));
    return {element, forget, refresh: () => { isOld = false; soon(); }, belongTo, choosePicture, offer, outdate, sliders, close: () => { clearTimeout(timer); sizes.disconnect(); forgetRatio(); for (const url of urls) URL.revokeObjectURL(url); }};
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
      const name = `${first.filter}: ${first.parameter}`;
      const reachFor = value => Math.min(first.maximum ?? Infinity, [50, 100, 200, 500, 1000, 2000, 5000, 10000].find(step => step >= Math.abs(value) * 1.2) ?? Math.abs(value) * 2);
      const reach = Math.max(reachFor(first.value), reaches.get(name) ?? 0), start = Math.max(first.minimum ?? 0, first.minimum < 0 ? -reach : first.minimum ?? 0);
      reaches.set(name, reach);
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
      const ends = h('span.quiet.ends', {'aria-hidden': 'true'}, h('span', `${start}`), h('span', `${reach}`));
      const row = h('div.slider', h('span', h('b', first.filter), ` ${first.parameter}`), h('span.range', range, ends), exact, h('span.quiet', first.unit));
      row.set = one => {
        if (Math.abs(one.value) > range.max) { const next = reachFor(one.value); reaches.set(name, next); range.max = next; say(ends.lastChild, `${next}`); }
        if (first.minimum < 0 && one.value < range.min) { range.min = -range.max; say(ends.firstChild, `${range.min}`); }
        if (document.activeElement !== exact) exact.value = one.value; if (document.activeElement !== range) range.value = one.value; };
      return row;
    }));
  }

  async function begin() {
    setValid(false);
    const [known, {jobs}] = await Promise.all([Promise.all([get('schema'), get('filters')]), get('jobs?limit=100')]);
    if (signal.aborted) return;
    [schema, filters] = known;
    // The folders of earlier jobs are offered, and the last one is the first guess.
    const used = [...new Set(jobs.map(job => job.manifest.replace(/\/[^/]*$/, '') || '/'))];
    fill(folders, used.map(value => h('option', {value})));
    if (used[0] && !folder.value) folder.value = used[0];
    if (/^\d+$/.test(query.get('job') ?? '')) await takeJob(query.get('job'));
    if (signal.aborted) return;
    showSource();
    await check();
  }
  return {begin, title: 'Submit', close: () => { clearTimeout(checking); version++; comesBack(); ending.abort(); preview.close(); for (const one of controllers) one.abort(); }};
}
