"""What the page says of its connection and of its session, beside a real service that stops, is busy, or ends the session.

The page comes from the server of developers, which answers in place of the service when a check says so. The clock of the page is set
ahead where somebody would have to wait, or where a machine would be asleep.
"""
import json
import os
import re
import signal
import time

from service import picture, wait_for

# Before the page begins: its streams are kept, and its clock can be set ahead.
HOOKS = """
window.ahead = 0; window.streams = [];
const now = Date.now.bind(Date); Date.now = () => now() + window.ahead;
const Real = EventSource; window.EventSource = class extends Real { constructor(...all) { super(...all); window.streams.push(this); } };
"""
LIVE = "document.getElementById('link').textContent.includes('live')"
LOST = "document.getElementById('link').className.includes('lost')"
OLD = "!document.getElementById('stale').hidden"


class Busy:
    """Answers reads of some addresses with an error. All others go to the service."""

    def __init__(self, status, words, retry_after, pattern):
        self.status, self.words, self.retry_after, self.pattern = status, words, retry_after, re.compile(pattern)
        self.asked = []
        self.left = None

    def __call__(self, handler, method, path, _):
        if method != 'GET' or self.left == 0 or not self.pattern.search(path):
            return False
        self.asked.append(path)
        if self.left is not None:
            self.left -= 1
        body = {'type': '/problems/test', 'title': 'Not now', 'status': self.status, 'detail': self.words, 'remedy': 'wait a little'}
        handler.answer(self.status, json.dumps(body).encode(), 'application/problem+json', [('Retry-After', str(self.retry_after))])
        return True


class Late:
    """Holds back what the service answers to requests of a method whose paths have an end. By then the service has done what it was asked to."""

    def __init__(self, method, end, seconds):
        self.method, self.end, self.seconds = method, end, seconds

    def __call__(self, handler, method, path, body):
        if method != self.method or not path.split('?')[0].endswith(self.end):
            return False
        answer = handler.answer

        def later(*all):
            time.sleep(self.seconds)
            answer(*all)
        handler.answer = later
        try:
            handler.pass_on(path, body)
        finally:
            del handler.answer
        return True


def connection(page, service, handler, check):
    """`handler` is the class of the server of developers, whose `other` is set here."""
    browser = page.browser
    browser.size(1280, 860)
    browser.call('Page.addScriptToEvaluateOnNewDocument', source=HOOKS)
    pictures = f'{service.folder}/connected'
    os.makedirs(pictures)
    with open(f'{pictures}/0000.png', 'wb') as file:
        file.write(picture(240, 180, 1))
    for number in range(1, 400):
        os.link(f'{pictures}/0000.png', f'{pictures}/{number:04d}.png')
    manifest = lambda name, filters: f"job: {name}\ninputs: '*.png'\nfilters: {filters}\noutput: out/{name}/{{stem}}.png\n"
    slow = lambda name: service.submit(text=manifest(name, '[{bilateral: {radius: 45}}]'), folder=pictures)
    admin = service.token('anna', 'admin')
    page.sign_in(admin['token'])
    text = lambda selector: page.text(selector)
    ahead = lambda seconds: browser.run(f'window.ahead += {seconds * 1000}')
    streams = lambda: browser.run('streams.length')
    act = "[...document.querySelectorAll('button[data-act]')]"

    def with_answers(other, body):
        handler.other = staticmethod(other)
        try:
            body()
        finally:
            handler.other = None

    print('A connection that nobody ends')
    job = slow('stopped')
    run = service.wait(job, ('running',))['run']
    page.go(f'#/runs/{run}')
    check('a run goes on', page.has('in work', '.legend', 60), text('.legend'))
    page.go('#/queue')
    service.wait(service.submit(text=manifest('first', '[{gaussian: {radius: 2}}]'), folder=pictures, hold=True), ('held',))
    browser.run("window.hear = () => streams.at(-1).dispatchEvent(new MessageEvent('alive', {data: '{}'}))")
    browser.run('hear()')
    opened = streams()
    for _ in range(3):
        ahead(30)
        time.sleep(1.2)
        browser.run('hear()')
    check('a heartbeat before 35 seconds are over keeps the connection', streams() == opened and browser.run(LIVE), [opened, streams(), text('#link')])
    asked = len(browser.requests())
    ahead(3600)
    check('after a machine was asleep, the page connects anew at once', browser.wait(f'streams.length > {opened} && {LIVE}', 5), [opened, streams(), text('#link')])
    check('and fetches what it has missed', wait_for(lambda: browser.run('0') == 0 and any('/jobs?' in url for url in browser.requests()[asked:])))
    page.go(f'#/runs/{run}')
    page.has('in work', '.legend', 60)
    browser.wait("document.querySelector('.since')")
    service.process.send_signal(signal.SIGSTOP)
    try:
        # What the service sent before it stopped has arrived.
        time.sleep(0.5)
        ahead(36)
        check('a service that is stopped is noticed, although its connection is open', browser.wait(LOST, 5), text('#link'))
        check('then the buttons are off', browser.run(f'{act}.length > 0 && {act}.every(one => one.disabled)'))
        before = text('.since')
        time.sleep(2)
        check('and times stand still', before and text('.since') == before, [before, text('.since')])
        page.picture('stopped-run')
        browser.run("window.found = null; import('./page/api.js').then(api => api.send('PATCH', 'jobs/1', {priority: 55})).catch(error => { window.found = [error.message, error.remedy]; })")
        browser.run("location.hash = '#/runs'")
        time.sleep(0.5)
        ahead(11)
        check('a request without an answer is given up, and the view says so', page.has('cannot be reached', seconds=5) and page.has('Try again'), text('#view'))
        check('a change that was sent may have been made', browser.wait('window.found') and browser.run('found') == ['The service does not answer.', 'It may have made this change. Look at it before you try again.'], browser.run('window.found'))
        check('the page goes on to try', browser.wait(LOST), text('#link'))
    finally:
        service.process.send_signal(signal.SIGCONT)
    check('when the service goes on, the page is live again', browser.wait(LIVE, 30), text('#link'))
    check('and shows what it could not load', page.has('running', '.rows') and not browser.run("document.querySelector('.failed-load')"), text('#view'))

    full = Busy(503, 'Too many clients follow the events', 1, '/events')

    def until_there_is_room():
        browser.run("streams.at(-1).close(); streams.at(-1).dispatchEvent(new Event('error'))")
        check('a page that may not follow says why', page.has('not connected; trying again: Too many clients follow the events', '#link', 30), text('#link'))
        check('and what it shows is that of a lost connection', browser.run(LOST))
    with_answers(full, until_there_is_room)
    check('it follows when there is room again', browser.wait(LIVE, 40), text('#link'))

    print('A reload that fails')
    page.go(f'#/runs/{run}')
    page.has('in work', '.legend', 60)
    busy = Busy(503, 'the service is busy', 600, f'/runs/{run}$')

    def while_busy():
        service.api('POST', f'jobs/{job}/cancel')
        service.wait(job)
        check('a run whose end cannot be loaded says since when it is not up to date', browser.wait(OLD, 20) and re.search(r'Not up to date since \d\d:\d\d:\d\d, trying again', text('#stale')), text('#stale'))
        check('and why, and what to do', 'the service is busy' in text('#stale') and 'wait a little' in text('#stale'), text('#stale'))
        check('the connection is still live', browser.run(LIVE), text('#link'))
        page.picture('old-run')
        page.accessible('a run that is not up to date')
        # Each of the reloads has asked once.
        time.sleep(2)
        asked = len(busy.asked)
        time.sleep(3)
        check('it does not ask before the service wants it', asked >= 1 and len(busy.asked) == asked, [asked, len(busy.asked)])
        page.click('Try now', '#stale')
        check('unless somebody asks for it', wait_for(lambda: len(busy.asked) > asked), busy.asked)
    with_answers(busy, while_busy)
    page.click('Try now', '#stale')
    check('then the run has ended', page.has('cancelled', '.badge'), text('.badge'))
    check('and nothing is old', browser.wait(f'!({OLD})'), text('#stale'))
    held = service.submit(text=manifest('held', '[{gaussian: {radius: 2}}]'), folder=pictures, hold=True)
    page.go('#/queue')
    browser.wait(f"document.getElementById('row-jobs-{held}')")
    for number, status in enumerate((503, 429, 507)):
        failing = Busy(status, f'no answer but {status}', 1, '/jobs\\?')
        failing.left = 4

        def until_it_answers():
            service.api('PATCH', f'jobs/{held}', {'priority': 61 + number})
            check(f'after an answer of {status} the queue says that it is old', browser.wait(OLD, 20) and f'no answer but {status}' in text('#stale'), text('#stale'))
            check('what it has shown stays', browser.run(f"!!document.getElementById('row-jobs-{held}')"), text('#view'))
            check('and it is new again, without a click', browser.wait(f'!({OLD})', 40) and failing.left == 0, [failing.left, text('#stale')])
        with_answers(failing, until_it_answers)
    old = Busy(503, 'the service is busy', 600, '/jobs\\?')

    def until_the_view_is_left():
        service.api('PATCH', f'jobs/{held}', {'priority': 70})
        browser.wait(OLD, 20)
        page.go('#/schedules')
        check('what is old goes with its view', browser.wait(f'!({OLD})'), text('#stale'))
    with_answers(old, until_the_view_is_left)

    print('A session that ends')
    ended = 'Your session has ended'
    says = lambda one, words: one.wait(f"document.getElementById('token') && document.body.textContent.split({json.dumps(words)}).length === 2", 20)
    page.go('#/queue')
    browser.run("streams.at(-1).dispatchEvent(new MessageEvent('notice', {data: JSON.stringify({detail: 'the disk of the farm is full', remedy: 'make room'})}))")
    check('what only a person can mend is shown', page.has('the disk of the farm is full', '#notice'), text('#notice'))
    browser.run('document.activeElement.blur()')
    browser.key('?')
    check('and the keys are', browser.wait("document.getElementById('dialog').open"))
    browser.run("fetch('api/v1/session', {method: 'DELETE'}).then(one => one.status)")
    check('a session that was ended elsewhere is noticed, and said once', says(browser, ended), text('body'))
    check('its words are an alert', browser.run(f"document.querySelector('#view [role=alert]').textContent.includes({json.dumps(ended)})"))
    check('nothing of the farm is shown any more', browser.run("!document.querySelector('.rows') && document.getElementById('nav').hidden && document.getElementById('stale').hidden && document.getElementById('summary').textContent === '' && !document.body.textContent.includes('the disk of the farm is full')"), text('body'))
    check('and nothing lies over the sign-in', browser.run("!document.getElementById('dialog').open && document.activeElement.id === 'token'"), browser.run('document.activeElement.outerHTML'))
    other = service.token('otto', 'submit')
    page.sign_in(other['token'])
    page.go('#/queue')
    service.api('DELETE', f"tokens/{other['id']}")
    check('a token that is revoked while the page follows is noticed, and said once', says(browser, ended), text('body'))
    page.picture('session-ended')
    time.sleep(3)
    check('and not again', says(browser, ended) and streams() == browser.run('streams.length'))
    page.sign_in(admin['token'])
    second = browser.tab()
    try:
        second.open(page.base)
        check('another tab has the same session', second.wait(LIVE), second.run('document.body.textContent'))
        browser.call('Page.bringToFront')
        browser.wait(LIVE)
        page.sign_out()
        check('whoever signs out is out in all tabs, and each says why', says(second, 'You have signed out in another tab.') and says(browser, 'begins with pnb_'), second.run('document.body.textContent'))
        reader = service.token('rita', 'read')
        browser.run("document.getElementById('token').focus()")
        browser.paste(reader['token'])
        browser.key('Enter')
        check('whoever signs in is in in all tabs', browser.wait(LIVE) and second.wait("document.getElementById('account').textContent.includes('rita')"), second.run('document.body.textContent'))
        second.call('Page.bringToFront')
        sign_in = lambda: second.run(f"fetch('api/v1/session', {{method: 'POST', headers: {{'Content-Type': 'application/json'}}, body: JSON.stringify({{token: {json.dumps(admin['token'])}}})}}).then(one => one.status)")
        # The stream ends with the session before. Until the answer is there, the browser has no session that is valid.
        with_answers(Late('POST', '/session', 4), sign_in)
        check('and a tab that follows notices that its session is another one', second.wait("document.getElementById('account').textContent.includes('anna')", 40), second.run('document.body.textContent'))
        browser.call('Page.bringToFront')
        check('as does one that nobody saw meanwhile', browser.wait("document.getElementById('account').textContent.includes('anna')", 40), text('#account'))
        check('and has the buttons of its scope', browser.wait("document.querySelector('nav a[href=\"#/submit\"]')"))
        check('the other tab has nothing to complain of', not second.complaints(), second.complaints()[:5])
    finally:
        second.close()
    service.api('POST', f'jobs/{held}/cancel')
