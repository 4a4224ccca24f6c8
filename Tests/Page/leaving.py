"""What happens when somebody leaves a view, a page or a session while answers are on their way, beside a real service.

The server of developers, which the page comes from, holds answers back, or answers in place of the service.
"""
import json
import os
import threading
import time

from connection import HOOKS, LIVE
from service import picture, wait_for

# Before the page begins: pictures that it has decoded and not closed are counted.
BITMAPS = """
window.bitmaps = window.decoded = 0;
const decode = createImageBitmap, release = ImageBitmap.prototype.close;
window.createImageBitmap = async (...all) => { const one = await decode(...all); window.bitmaps++; window.decoded++; return one; };
ImageBitmap.prototype.close = function () { if (this.width) window.bitmaps--; release.call(this); };
"""


class Slow:
    """Holds back answers. `seconds` is a table from a method and the end of a path, without its query, to seconds."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __call__(self, handler, method, path, _):
        for (wanted, end), pause in self.seconds.items():
            if method == wanted and path.split('?')[0].endswith(end):
                time.sleep(pause)
        return False


class Refusing:
    """Answers requests of a method whose paths have an end, so many times. The others go to the service."""

    def __init__(self, method, end, status, body, times=1 << 30, headers=()):
        self.method, self.end, self.status, self.body, self.left, self.headers = method, end, status, body, times, headers

    def __call__(self, handler, method, path, _):
        if method != self.method or not path.split('?')[0].endswith(self.end) or self.left == 0:
            return False
        self.left -= 1
        handler.answer(self.status, json.dumps({'status': self.status, **self.body}).encode(), 'application/problem+json', list(self.headers))
        return True


class Held:
    """Holds back small pictures until `release` is called, and counts those that are asked for at the same time."""

    def __init__(self):
        self.lock, self.released = threading.Lock(), threading.Event()
        self.now = self.most = 0

    def __call__(self, handler, method, path, _):
        if method != 'GET' or not path.split('?')[0].endswith('/picture'):
            return False
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self.released.wait(120)
        with self.lock:
            self.now -= 1
        return False

    def release(self):
        self.released.set()


def leaving(page, service, handler, check):
    """`handler` is the class of the server of developers, whose `other` is set here."""
    browser = page.browser
    browser.size(1280, 860)
    for script in (HOOKS, BITMAPS):
        browser.call('Page.addScriptToEvaluateOnNewDocument', source=script)
    folder = f'{service.folder}/leaving'
    for name in ('good', 'torn', 'endless'):
        os.makedirs(f'{folder}/{name}')
    for number in range(6):
        with open(f'{folder}/good/{number}.png', 'wb') as file:
            file.write(picture(240, 180, number))
    for number in range(400):
        os.link(f'{folder}/good/{number % 6}.png', f'{folder}/endless/{number:04d}.png')
    os.link(f'{folder}/good/0.png', f'{folder}/torn/0.png')
    with open(f'{folder}/torn/1.png', 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n torn')
    manifest = lambda name, inputs, filters='[{gaussian: {radius: 2}}]': f'job: {name}\ninputs: {inputs}\nfilters: {filters}\noutput: out/{name}/{{stem}}.png\n'
    submit = lambda name, inputs, *filters, **more: service.submit(text=manifest(name, f'{inputs}/*', *filters), folder=folder, **more)

    def with_answers(other, body):
        handler.other = staticmethod(other)
        try:
            body()
        finally:
            handler.other = None

    token = service.token('anna', 'admin')['token']
    page.sign_in(token)
    good = service.wait(submit('good', 'good'))
    torn = [service.wait(submit(f'torn-{number}', 'torn')) for number in range(2)]
    late_answers(page, good, torn, with_answers, check)
    frames(page, good, torn, with_answers, check)
    limits(page, with_answers, check)
    windows(page, service, submit, with_answers, check)
    clocks(page, service, submit, check)
    questions(page, service, submit, check)
    sessions(page, service, folder, manifest, token, with_answers, check)


def late_answers(page, good, torn, with_answers, check):
    browser = page.browser
    print('Views that are left while they load')
    for view, path in (('runs', '/runs'), ('errors', '/errors'), ('workers', '/workers'), ('schedules', '/schedules')):
        following, slow = ('errors', '/errors') if view != 'errors' else ('runs', '/runs')

        def leave():
            page.browser.run(f"location.hash = '#/{view}'")
            time.sleep(0.3)
            browser.run(f"location.hash = '#/{following}'")
            time.sleep(1.2)
            check(f'a late answer for {view} does not say that {following} is there', browser.run("document.getElementById('view').getAttribute('aria-busy') === 'true'"))
            check(f'and the title is that of {following}', browser.run('document.title').lower().startswith(following), browser.run('document.title'))
        page.go('#/queue')
        with_answers(Slow({('GET', path): 0.8, ('GET', slow): 2.5}), leave)
        browser.wait("!document.getElementById('view').hasAttribute('aria-busy')")
    for name, hash, path in (('a run', f"#/runs/{torn[0]['run']}", f"/runs/{torn[0]['run']}"), ('a job', f"#/jobs/{torn[0]['id']}", f"/jobs/{torn[0]['id']}"),
                             ('a frame', f"#/runs/{torn[0]['run']}/frames/1", '/frames/1')):
        def leave_for_errors():
            browser.run(f'location.hash = {json.dumps(hash)}')
            time.sleep(0.3)
            page.go('#/errors')
            time.sleep(1)
            check(f'a late answer for {name} leaves the title of the next view', browser.run('document.title') == 'Errors – Penumbra', browser.run('document.title'))
        page.go('#/queue')
        with_answers(Slow({('GET', path): 0.8}), leave_for_errors)
    for name, hash, path in (('Submit', f"#/submit?job={torn[0]['id']}", '/schema'), ('a run that has not begun', f"#/runs/job-{torn[0]['id']}-none", f"/jobs/{torn[0]['id']}")):
        def stay():
            browser.run(f'location.hash = {json.dumps(hash)}')
            time.sleep(0.3)
            page.go('#/errors')
            asked = len(browser.requests())
            time.sleep(1.5)
            check(f'a late answer for {name} does not take anybody out of the next view', browser.run('location.hash') == '#/errors', browser.run('location.hash'))
            check('and nothing is asked for it any more', not [url for url in browser.requests()[asked:] if 'errors' not in url], browser.requests()[asked:])
        page.go('#/queue')
        with_answers(Slow({('GET', path): 0.8}), stay)
    for name, hash, path in (('a run', f"#/runs/{torn[0]['run']}", f"/runs/{torn[0]['run']}/retry"), ('a frame', f"#/runs/{torn[0]['run']}/frames/2", f"/runs/{torn[0]['run']}/retry"),
                             ('a job', f"#/jobs/{torn[0]['id']}", f"/jobs/{torn[0]['id']}/retry")):
        def retry_and_leave():
            page.go(hash)
            check(f'Retry of {name} is pressed', page.click('Retry'), page.text())
            page.go('#/submit')
            time.sleep(1.5)
            check(f'a slow Retry of {name} does not take anybody out of the next view', browser.run('location.hash') == '#/submit', browser.run('location.hash'))
        with_answers(Slow({('POST', path): 1}), retry_and_leave)


def frames(page, good, torn, with_answers, check):
    browser = page.browser
    print('Frames that are left while they load')

    def walk():
        page.go(f"#/runs/{good['run']}/frames/1")
        browser.wait('window.decoded > 0')
        for number in range(2, 7):
            browser.run(f"location.hash = '#/runs/{good['run']}/frames/{number}'")
            time.sleep(0.25)
        browser.run("location.hash = '#/schedules'")
        time.sleep(2.5)
        check('pictures were decoded', browser.run('window.decoded') > 0, browser.run('window.decoded'))
        check('no picture of a frame that was left stays in memory', browser.run('window.bitmaps') == 0, browser.run('window.bitmaps'))
    page.go('#/queue')
    with_answers(Slow({('GET', '/facts'): 0.5}), walk)
    gone = {'type': '/problems/no-frame', 'title': 'No such frame', 'detail': 'nothing is recorded of this frame'}

    def look():
        page.go(f"#/runs/{torn[0]['run']}/frames/2")
        check('a failed frame whose record is gone has failed', page.has('failed', '.badge') and page.has('not kept any more', '.sub'), page.text('.head'))
    with_answers(Refusing('GET', '/frames/2', 404, gone), look)
    page.go(f"#/runs/{good['run']}/frames/999")
    check('a frame that the run does not have is not up to date', page.has('the run has no such frame', '.sub') and not page.has('up to date', '.badge', 0.5), page.text('.head'))


def limits(page, with_answers, check):
    browser = page.browser
    print('More changes than a token may make in a second')

    def retry_all():
        page.go('#/errors')
        check('Retry is pressed', page.press("[...document.querySelectorAll('.group.bad button')].find(one => one.textContent.startsWith('Retry '))"), page.text())
        check('a run waits as long as the service asks it to, and is retried then', browser.wait("[...document.querySelectorAll('.group .outcome li')].length >= 2", 20) and browser.run("[...document.querySelectorAll('.group .outcome li')].every(one => one.className === 'well')"), page.text())
    busy = Refusing('POST', '/retry', 429, {'title': 'The token has sent too many requests', 'remedy': 'Wait 1 s.'}, 2, [('Retry-After', '1')])
    with_answers(busy, retry_all)
    check('the service has refused two times', busy.left == 0, busy.left)


def windows(page, service, submit, with_answers, check):
    browser = page.browser
    print('Three windows whose pictures are slow')
    held = submit('window', 'good', hold=True)
    # Of their own: a browser asks for the same picture once, however many windows want it.
    runs = [service.wait(submit(f'window-{number}', 'good'))['run'] for number in range(3)]
    page.go('#/queue')
    all = [browser]
    try:
        for _ in range(2):
            all.append(browser.window())
            all[-1].size(1280, 860)
            all[-1].open(page.base + '#/queue')
            all[-1].wait(LIVE)
        check('all of them are seen', all[0].run('!document.hidden') and all[1].run('!document.hidden') and all[2].run('!document.hidden'))
        slow = Held()

        def look():
            try:
                for one, run in zip(all, runs):
                    one.run(f"location.hash = '#/runs/{run}'")
                    one.wait("document.querySelectorAll('.thumbs .thumb').length > 1")
                check('pictures are asked for', wait_for(lambda: slow.now > 0))
                # By now each window would have asked for one.
                time.sleep(1)
                check('they leave connections free', slow.most <= 2, slow.most)
                for number, one in enumerate(all):
                    one.run(f"window.done = null; import('./page/api.js').then(api => api.send('PATCH', 'jobs/{held}', {{priority: {60 + number}}})).then(job => {{ window.done = job.priority; }}, error => {{ window.done = error.message; }})")
                    check(f'window {number + 1} can change something meanwhile', one.wait('window.done !== null', 10) and one.run('window.done') == 60 + number, one.run('window.done'))
            finally:
                slow.release()
            for number, one in enumerate(all):
                check(f'window {number + 1} gets all its pictures', one.wait("(all => all.length > 1 && all.every(one => one.querySelector('img')))([...document.querySelectorAll('.thumbs .thumb')].filter(one => one.getBoundingClientRect().top < innerHeight))", 30), one.run("document.querySelector('.thumbs').outerHTML.slice(0, 300)"))
        with_answers(slow, look)
        for number, one in enumerate(all[1:]):
            check(f'window {number + 2} has nothing to complain of', not one.complaints(), one.complaints()[:5])
    finally:
        for one in all[1:]:
            one.close()
    service.api('POST', f'jobs/{held}/cancel')
    page.go('#/queue')


def clocks(page, service, submit, check):
    browser = page.browser
    print('A clock that is wrong')
    # Each task takes some seconds on any machine.
    endless = submit('endless', 'endless', f"[{', '.join(['{bilateral: {radius: 45}}'] * 8)}]")
    run = service.wait(endless, ('running',))['run']
    for hours in (1, -1):
        browser.open('about:blank')
        script = browser.call('Page.addScriptToEvaluateOnNewDocument', source=f'window.ahead = {hours * 3_600_000};')['identifier']
        browser.open(page.base + f'#/runs/{run}')
        check('the run is shown', page.has('in work', '.legend', 60), page.text('.legend'))
        times = "[...document.querySelectorAll('.since')].map(one => one.textContent)"
        browser.wait(f'{times}.length > 0')
        time.sleep(2.5)
        words = 'ahead' if hours > 0 else 'behind'
        check(f'{words} by an hour: tasks have begun some seconds ago', browser.wait(f"{times}.some(one => /^[1-9]\\d? s$/.test(one))", 10), browser.run(times))
        page.go('#/workers')
        # The service has run for some seconds, or for some minutes.
        check(f'{words} by an hour: the service is up since its start', browser.wait("[...document.querySelectorAll('.facts div')].some(one => /^Up([1-9]\\d? s|\\d+ min.*)$/.test(one.textContent))", 5), page.text('.facts'))
        browser.call('Page.removeScriptToEvaluateOnNewDocument', identifier=script)
    browser.open('about:blank')
    browser.open(page.base)
    browser.wait(LIVE)
    service.api('POST', f'jobs/{endless}/cancel')
    service.wait(endless)


def questions(page, service, submit, check):
    browser = page.browser
    print('A question, and somebody who goes back')
    held = submit('held', 'good', hold=True)
    page.go('#/runs')
    page.go(f'#/jobs/{held}')
    browser.run('document.activeElement.blur()')
    browser.key('c')
    check('c asks', browser.wait("document.getElementById('dialog').open"))
    browser.run('history.back()')
    check('the question goes with its view', browser.wait("!document.getElementById('dialog').open && location.hash === '#/runs'"), browser.run('location.hash'))
    check('and nothing was cancelled', service.api('GET', f'jobs/{held}')['state'] == 'held')
    service.api('POST', f'jobs/{held}/cancel')
    print('The link to the content')
    page.go('#/schedules')
    browser.call('Page.reload')
    browser.wait(LIVE)
    browser.wait("!document.getElementById('view').hasAttribute('aria-busy')")
    browser.run('document.activeElement.blur()')
    browser.key('Tab')
    check('is the first one', browser.run("document.activeElement.className === 'skip'"), browser.run('document.activeElement.outerHTML'))
    browser.key('Enter')
    time.sleep(0.5)
    check('leads to the content, and leaves the view', browser.run("location.hash === '#/schedules' && document.activeElement.id === 'view'"), browser.run("location.hash + ' ' + document.activeElement.outerHTML.slice(0, 80)"))


def sessions(page, service, folder, manifest, token, with_answers, check):
    browser = page.browser
    print('A page that is opened while the service is away')

    def open_page():
        browser.open('about:blank')
        browser.open(page.base + '#/runs')
        check('says that it is not connected, and tries again', page.has('not connected; trying again', '#link') and page.has('Try again'), page.text('body'))
    with_answers(Refusing('GET', '', 502, {}), open_page)
    check('it is there by itself when the service is back', browser.wait(f"{LIVE} && document.querySelector('.rows')", 20), page.text('body'))

    print('What was filled in when a session ends')
    enter = lambda tab: (tab.wait("document.getElementById('token')"), tab.run("document.getElementById('token').focus()"), tab.paste(token), tab.key('Enter'), tab.wait(LIVE))
    field = lambda label: f"[...document.querySelectorAll('#view .submit details label')].find(one => one.textContent.includes({json.dumps(label)})).querySelector('input')"

    def write(tab, text):
        tab.wait("document.getElementById('manifest')?.offsetParent")
        tab.run("document.getElementById('manifest').focus()")
        tab.key('a', control=True)
        tab.paste(text)
    page.go('#/submit')
    browser.run("document.getElementById('folder').focus()")
    browser.key('a', control=True)
    browser.paste(folder)
    write(browser, manifest('kept', 'good/*').rstrip('\n'))
    page.press("document.querySelector('#view .submit details > summary')")
    for name in ('hold it', 'strict'):
        page.press(field(name))
    for label, text in (('Labels', 'show=night'), ('Priority', '70')):
        browser.run(f'{field(label)}.focus(); {field(label)}.select()')
        browser.paste(text)
    browser.run("fetch('api/v1/session', {method: 'DELETE'}).then(one => one.status)")
    enter(browser)
    check('hold, strict, labels and priority are there as the text is', browser.wait(f"{field('hold it')}.checked && {field('strict')}.checked && {field('Labels')}.value === 'show=night' && {field('Priority')}.value === '70' && document.getElementById('manifest').value.startsWith('job: kept')"), page.text('.submit'))
    check('and are seen', browser.run("document.querySelector('#view .submit details').open"))
    page.has('kept can be submitted', '#findings', 20)
    page.click('Submit it')
    browser.wait("location.hash.startsWith('#/jobs/')")
    job = service.api('GET', f"jobs/{browser.run('location.hash').split('/')[2]}")
    check('the job is as it was meant', job['state'] == 'held' and job['priority'] == 70 and job['labels'] == {'show': 'night'}, job)
    page.go('#/submit')
    check('the next one begins anew', browser.wait(f"!{field('hold it')}.checked && !{field('strict')}.checked && {field('Labels')}.value === '' && {field('Priority')}.value === '50'"), page.text('.submit'))
    service.api('POST', f"jobs/{job['id']}/cancel")
    second = browser.tab()
    try:
        second.open(page.base + '#/submit')
        check('a new tab begins with what was kept last', second.wait("document.getElementById('manifest')?.value.startsWith('job: kept')", 20))
        write(second, 'job: second')
        browser.call('Page.bringToFront')
        page.go('#/queue')
        page.go('#/submit')
        check('a tab keeps its own text', browser.wait("document.getElementById('manifest')?.value.startsWith('job: kept')", 5), browser.run("document.getElementById('manifest')?.value"))
        browser.call('Page.reload')
        check('also when it is loaded anew', browser.wait("document.getElementById('manifest')?.value.startsWith('job: kept')", 10), browser.run("document.getElementById('manifest')?.value"))
        browser.wait(LIVE)
    finally:
        second.close()

    print('A sign-out that fails')

    def sign_out():
        for _ in range(2):
            page.sign_out()
            page.has('You are still signed in', '#account')
            time.sleep(0.3)
        check('is told once, however often somebody tries', browser.run("document.querySelectorAll('#account .trouble').length") == 1, page.text('#account'))
    with_answers(Refusing('DELETE', '/session', 503, {'title': 'The service is stopping', 'remedy': 'Try again later.'}), sign_out)
    page.sign_out()
    check('then it succeeds', browser.wait("document.getElementById('token')"), page.text('#account'))
    check('and no tab keeps anything', browser.run('[...Object.keys(localStorage), ...Object.keys(sessionStorage)]') == [], browser.run('[...Object.keys(localStorage), ...Object.keys(sessionStorage)]'))
