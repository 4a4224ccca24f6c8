"""Checks that the page does what somebody meant: rows stay where they are, clicks count once and for what was pressed, and windows leave each other room.

The service is made up, because its answers have to come late, and because the list of jobs has to be long.
"""
import json
import queue
import threading
import time
import urllib.parse

from crowd import LIVE, PICTURE, Crowd, begin_stream, job

FAILED, HELD = 400, 1500


class Places(Crowd):
    """A service with 400 failed jobs and 1,500 held ones. What `late` names is answered when it is set again."""

    def __init__(self):
        super().__init__()
        self.jobs = {number: job(number) | {'state': 'failed' if number <= FAILED else 'held', 'priority': 50, 'result': 'failed'} for number in range(1, FAILED + HELD + 1)}
        self.changes, self.reads, self.followers = [], [], []
        self.late, self.refused = {}, False
        self.pictures = 0

    def make_late(self, name):
        self.late[name] = threading.Event()

    def answer_now(self, name):
        self.late.pop(name).set()

    def wait(self, name):
        if name in self.late:
            self.late[name].wait(60)

    def tell(self, kind, data):
        for follower in self.followers:
            follower.put((kind, data))

    def __call__(self, handler, method, path, body):
        address = urllib.parse.urlsplit(path)
        name = address.path.removeprefix('/api/v1/')
        if name.endswith('/picture'):
            with self.lock:
                self.pictures += 1
            self.wait('picture')
            with self.lock:
                self.pictures -= 1
            handler.answer(200, PICTURE, 'image/png')
            return True
        if method == 'GET' and name == 'jobs':
            query = dict(urllib.parse.parse_qsl(address.query))
            if 'cursor' in query:
                self.wait('next page')
            self.reads.append(query)
        elif method != 'GET' and name.startswith('jobs/'):
            value = json.loads(body or b'{}')
            self.changes.append((name, value))
            self.wait('change')
            if self.refused:
                handler.answer(409, b'{"type":"/problems/state","title":"No","status":409,"detail":"this job does not want it"}', 'application/problem+json')
                return True
            handler.answer(200, json.dumps(self.change(name, value)).encode())
            return True
        return super().__call__(handler, method, path, body)

    def change(self, name, value):
        if name == 'jobs/actions':
            return {'count': HELD, 'changed': [], 'submitted': [], 'refused': []}
        number = int(name.split('/')[1])
        if name.endswith('/retry'):
            new = max(self.jobs) + 1
            self.jobs[new] = self.jobs[number] | {'id': new, 'state': 'held', 'retry_of': number}
            self.tell('job', {'id': new, 'job': self.jobs[new]})
            return self.jobs[new]
        self.jobs[number] = self.jobs[number] | value
        self.tell('job', {'id': number, 'job': self.jobs[number]})
        return self.jobs[number]

    def value(self, name, query):
        if name == 'jobs':
            states = {'open': ('held',), 'ended': ('failed',)}.get(query.get('state'), tuple((query.get('state') or 'held,failed').split(',')))
            found = sorted((one for one in self.jobs.values() if one['state'] in states), key=lambda one: -one['id'])
            rest = [one for one in found if one['id'] < int(query.get('cursor', 'j1000000')[1:])]
            limit = int(query.get('limit', 100))
            answer = {'jobs': rest[:limit], 'total': len(found)}
            if len(rest) > limit:
                answer['cursor'] = f"j{rest[limit - 1]['id']}"
            return answer
        if name.startswith('jobs/') and name.split('/')[1].isdigit() and name.count('/') == 1:
            return self.jobs.get(int(name.split('/')[1]))
        return super().value(name, query)

    def follow(self, handler):
        begin_stream(handler)
        mine = queue.Queue()
        self.followers.append(mine)
        try:
            handler.wfile.write(b'event: alive\ndata: {}\n\n')
            handler.wfile.flush()
            while True:
                try:
                    kind, data = mine.get(timeout=5)
                except queue.Empty:
                    kind, data = 'alive', {}
                self.event += 1
                handler.wfile.write(f'event: {kind}\nid: places-{self.event}\ndata: {json.dumps(data)}\n\n'.encode())
                handler.wfile.flush()
        finally:
            self.followers.remove(mine)


def mouse(browser, kind, place, count=1):
    browser.call('Input.dispatchMouseEvent', type=kind, x=place[0], y=place[1], button='left', clickCount=count)


def place_of(browser, element):
    return browser.run(f'(box => [box.left + box.width / 2, box.top + box.height / 2])({element}.getBoundingClientRect())')


def wait_for(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def made_up(page, answers, check):
    browser = page.browser
    browser.size(1280, 860)
    browser.open(page.base + '#/queue')
    whole_lists(page, answers, check)
    rows(page, answers, check)
    questions(page, answers, check)
    retries(page, answers, check)
    windows(page, answers, check)


LIST = "document.querySelector('.list')"
CHOSEN = f"{LIST}.getAttribute('aria-activedescendant')"
ROWS = f'{LIST}.getAttribute("aria-rowcount")'
row = lambda number: f"document.getElementById('row-jobs-{number}')"
button = lambda number, text: f"[...{row(number)}.querySelectorAll('button')].find(one => one.textContent === '{text}' && one.offsetParent)"


def loaded(browser, number):
    return browser.wait(f"{LIST} && Number({ROWS}) >= {number}", 20)


def whole_lists(page, answers, check):
    browser = page.browser
    print('A long queue stays where it is')
    for address, claim in (('#/queue', 'with all jobs'), ('#/queue?state=waiting%2Cheld', 'with a filter')):
        page.go('#/runs')
        page.go(address)
        check(f'all open jobs come {claim}', loaded(browser, HELD), browser.run(ROWS))
        browser.run(f'{LIST}.focus()')
        browser.key('End')
        time.sleep(0.5)
        for _ in range(3):
            browser.key('PageUp')
        time.sleep(0.5)
        chosen, before = browser.run(CHOSEN), browser.run(f'{LIST}.scrollTop')
        check(f'a row far below is chosen {claim}', chosen and before > 50_000, (chosen, before))
        answers.make_late('next page')
        reads = len(answers.reads)
        number = max(answers.jobs)
        answers.jobs[number] = answers.jobs[number] | {'priority': 60}
        answers.tell('job', {'id': number, 'job': answers.jobs[number]})
        wait_for(lambda: len(answers.reads) > reads, 10)
        time.sleep(0.5)
        answers.tell('reset', {})
        wait_for(lambda: len(answers.reads) > reads + 2, 5)
        time.sleep(0.7)
        check(f'while the list is loaded anew, nobody loses their place {claim}', browser.run(f'{LIST}.scrollTop') == before and browser.run(CHOSEN) == chosen, (before, browser.run(f'{LIST}.scrollTop'), chosen, browser.run(CHOSEN)))
        answers.answer_now('next page')
        time.sleep(1.5)
        check(f'nor when it is whole {claim}', browser.run(f'{LIST}.scrollTop') == before and browser.run(CHOSEN) == chosen, (before, browser.run(f'{LIST}.scrollTop'), chosen, browser.run(CHOSEN)))
        page.go('#/jobs/7')
        browser.run('history.back()')
        check(f'who comes back is at the same place {claim}', browser.wait(f'{LIST}?.scrollTop === {before} && {CHOSEN} === {json.dumps(chosen)}', 5), browser.run(f'[{LIST}?.scrollTop, {CHOSEN}]'))
    page.go('#/runs')
    page.go('#/queue')
    check('who goes to the queue begins at its top', browser.wait(f'{LIST}.scrollTop === 0', 5))


def rows(page, answers, check):
    browser = page.browser
    print('A late answer belongs to its job')
    page.go('#/runs')
    page.go('#/queue')
    loaded(browser, HELD)
    fourth = lambda: browser.run("document.querySelector('.rows .row[id^=\"row-jobs-\"][aria-rowindex=\"4\"]')?.id.split('-').at(-1)")
    seen = []
    # Later pages of the list may still move rows.
    wait_for(lambda: seen.append(fourth()) or time.sleep(0.3) or len(seen) > 2 and seen[-1] and len(set(seen[-3:])) == 1, 20)
    first = int(seen[-1])
    for refused in (False, True):
        browser.run(f'{LIST}.scrollTop = 0')
        browser.wait(button(first, '+'))
        answers.refused = refused
        answers.make_late('change')
        count = len(answers.changes)
        browser.run(f"{button(first, '+')}.click()")
        wait_for(lambda: len(answers.changes) > count)
        browser.run(f'{LIST}.scrollTop = 18000')
        time.sleep(0.5)
        # The list may be loaded anew afterwards, which would hide a mistake.
        answers.make_late('next page')
        answers.answer_now('change')
        time.sleep(0.5)
        wrong = browser.run("[...document.querySelectorAll('.rows .row')].filter(one => (box => box.top > 200 && box.bottom < 800)(one.getBoundingClientRect())).filter(one => one.querySelector('output').textContent !== '50' || one.querySelector('.trouble:not(:empty)')).map(one => one.id + one.textContent)")
        check(f"other rows do not show {'its error' if refused else 'its priority'}", wrong == [], wrong)
        answers.answer_now('next page')
        browser.run(f'{LIST}.scrollTop = 0')
        if refused:
            check('the row of the job shows it', browser.wait(f"{row(first)}.textContent.includes('does not want it')", 5), browser.run(f'{row(first)}.textContent'))
            browser.run(f"{row(first)}.querySelector('.trouble:not(:empty)').click()")
        else:
            check('its own row shows it', browser.wait(f"{row(first)}.querySelector('output').textContent === '60'", 5), browser.run(f'{row(first)}.textContent'))
    answers.refused = False
    answers.make_late('change')
    browser.run(f"{button(first, '+')}.click()")
    check('a change without an answer is given up', browser.wait(f"{row(first)}.textContent.includes('does not answer')", 20), browser.run(f'{row(first)}.textContent'))
    answers.answer_now('change')
    browser.run(f"{row(first)}.querySelector('.trouble:not(:empty)').click()")


def questions(page, answers, check):
    browser = page.browser
    print('One question at a time')
    browser.run(f'{LIST}.scrollTop = 0; {LIST}.focus()')
    browser.key('Home')
    browser.wait(CHOSEN)
    browser.run("(select => { select.value = 'hold'; select.dispatchEvent(new Event('change')); })(document.querySelector('.bulk select'))")
    answers.make_late('change')
    count = len(answers.changes)
    go = "document.querySelector('.bulk button')"
    browser.run(f'{go}.click()')
    wait_for(lambda: len(answers.changes) > count)
    browser.run(f'{LIST}.focus()')
    browser.key('c')
    asked = "document.getElementById('dialog-title')?.textContent"
    check('c asks about the job', browser.wait(f"{asked}.startsWith('Cancel job')"), browser.run(asked))
    answers.answer_now('change')
    time.sleep(0.7)
    check('another question does not take its place', browser.run(asked).startswith('Cancel job'), browser.run(asked))
    browser.key('Escape')
    check('the other one says so beside its button', browser.wait(f"!{go}.ariaBusy && document.querySelector('.bulk .trouble').textContent.includes('Another question was open')", 5), page.text('.bulk'))
    browser.run(f'{LIST}.focus()')
    browser.key('c')
    browser.wait("document.getElementById('dialog').open")
    # The rest of the page takes the question away by this when it shows another view.
    browser.run("import('./page/dom.js').then(module => module.dismiss())")
    check('a question that is taken away is answered with no', browser.wait(f"!document.getElementById('dialog').open && !document.querySelector('.rows [aria-busy]')", 5) and not any(name.endswith('/cancel') for name, _ in answers.changes), answers.changes[-3:])


def retries(page, answers, check):
    browser = page.browser
    print('One retry')
    retried = lambda: [name for name, _ in answers.changes if name.endswith('/retry')]
    page.go('#/queue?state=failed%2Cstopped%2Cwork_left')
    loaded(browser, 200)
    browser.run(f'{LIST}.scrollTop = 0; {LIST}.focus()')
    browser.key('Home')
    browser.wait(CHOSEN)
    chosen = int(browser.run(CHOSEN).split('-')[-1])
    for number in range(20):
        browser.call('Input.dispatchKeyEvent', type='keyDown', key='r', code='KeyR', windowsVirtualKeyCode=82, text='r', autoRepeat=number > 0)
        time.sleep(0.07)
    browser.call('Input.dispatchKeyEvent', type='keyUp', key='r', code='KeyR', windowsVirtualKeyCode=82)
    time.sleep(0.5)
    check('a key that is held retries once', len(retried()) == 1, retried())
    browser.key('r')
    time.sleep(0.4)
    check('and what is retried is not retried again', len(retried()) == 1, retried())
    check('which its button says', browser.run(f"{button(chosen, 'Retried')}?.disabled"), browser.run(f'{row(chosen)}.textContent'))
    other = chosen - 4
    browser.wait(button(other, 'Retry'))
    place = place_of(browser, button(other, 'Retry'))
    hash = browser.run('location.hash')
    for count in (1, 2):
        mouse(browser, 'mousePressed', place, count)
        mouse(browser, 'mouseReleased', place, count)
        time.sleep(0.2)
    time.sleep(0.5)
    check('a double click retries once', retried()[1:] == [f'jobs/{other}/retry'], retried())
    check('and does nothing else', not browser.run("document.getElementById('dialog').open") and browser.run('location.hash') == hash, browser.run('location.hash'))
    time.sleep(1.5)
    check('a filter does not show new jobs that it does not match', not browser.run("document.querySelector('.rows').textContent.includes('held')"), browser.run("document.querySelector('.rows').textContent.slice(0, 200)"))


def windows(page, answers, check):
    browser = page.browser
    print('Pictures that are slow')
    page.go('#/workers')
    answers.make_late('picture')
    browser.run("""import('./page/thumbs.js').then(({thumb}) => {
        const box = document.createElement('div');
        box.id = 'far';
        box.className = 'thumbs';
        box.style.paddingTop = '5000px';
        for (let frame = 1; frame <= 8; frame++) box.append(thumb({run: 'run', frame, side: 'after', name: `${frame}`}));
        document.getElementById('view').append(box);
        scrollTo(0, 1e6); })""")
    check('a window asks for two pictures at a time', wait_for(lambda: answers.pictures == 2, 5) and not wait_for(lambda: answers.pictures > 2, 1), answers.pictures)
    tab = browser.tab()
    try:
        tab.size(1280, 860)
        tab.open(page.base + '#/workers')
        check('another window is live', tab.wait("document.getElementById('link').textContent.includes('live')", 10))
        tab.run("""import('./page/thumbs.js').then(({thumb}) => {
            for (let frame = 11; frame <= 18; frame++) document.getElementById('view').append(thumb({run: 'run', frame, side: 'after', name: `${frame}`})); })""")
        wait_for(lambda: answers.pictures > 2, 5)
        time.sleep(0.5)
        check('both of them leave room for other requests', answers.pictures <= 3, answers.pictures)
        check('which are answered at once', tab.run("Promise.race([fetch('api/v1/status').then(() => true), new Promise(done => setTimeout(done, 3000))])") is True)
    finally:
        tab.close()
    browser.run('scrollTo(0, 0)')
    time.sleep(0.5)
    browser.run('scrollTo(0, 1e6)')
    time.sleep(0.5)
    answers.answer_now('picture')
    check('pictures that were scrolled away and back are shown', browser.wait("document.querySelectorAll('#far img').length === 8", 10), browser.run("document.querySelectorAll('#far img').length"))


def presses(page, check):
    """Links that are pressed while much happens. The service is that of a crowd."""
    browser = page.browser
    print('Presses that last')
    for view, link in (('#/workers', '.group td a'), (f'#/runs/{LIVE}', '.slots a')):
        page.go('#/schedules')
        page.go(view)
        element = f"document.querySelector('{link}')"
        browser.wait(element)
        browser.run(f"{element}.scrollIntoView({{block: 'center'}})")
        time.sleep(0.3)
        place = place_of(browser, element)
        browser.run("document.addEventListener('pointerdown', event => { window.pressed = event.target.closest('a')?.getAttribute('href'); }, {once: true, capture: true})")
        mouse(browser, 'mousePressed', place)
        time.sleep(1.5)
        mouse(browser, 'mouseReleased', place)
        check(f'a click on a task leads to what was pressed: {view.split("/")[1]}', browser.wait('window.pressed && location.hash === window.pressed', 3), browser.run('[window.pressed, location.hash]'))
    page.go('#/workers')
    browser.wait("document.querySelector('.facts dd')")
    browser.run("getSelection().selectAllChildren([...document.querySelectorAll('.facts dd')].find(one => one.textContent === '/s'))")
    time.sleep(2.5)
    check('what is selected stays selected', browser.run('getSelection().toString()') == '/s', browser.run('getSelection().toString()'))
    browser.size(390, 844)
    browser.run("document.querySelector('.scroll').scrollLeft = 60")
    time.sleep(2.5)
    check('a table that was scrolled stays so', browser.run("document.querySelector('.scroll').scrollLeft") > 0, browser.run("document.querySelector('.scroll').scrollLeft"))
    browser.size(1280, 860)
