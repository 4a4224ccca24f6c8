"""A headless Firefox, driven by WebDriver BiDi, and what a person does in it from sign-in to a repaired picture."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

from websockets.sync.client import connect

from chromium import Failure
from page import Page
from service import free_port, picture, wait_for

# The keys that have no character, by the numbers of the WebDriver standard.
KEYS = {'Enter': '\ue007', 'Tab': '\ue004', 'Escape': '\ue00c', 'ArrowUp': '\ue013', 'ArrowDown': '\ue015', 'ArrowLeft': '\ue012', 'ArrowRight': '\ue014', 'Control': '\ue009'}


class Firefox:
    """Does what `Browser` of chromium.py does, as far as these checks need it."""

    program = shutil.which('firefox-esr') or shutil.which('firefox')

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix='page-checks-firefox-')
        port = free_port()
        self.process = subprocess.Popen([self.program, '--headless', '--no-remote', '--profile', self.folder, '--remote-debugging-port', str(port)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, 'HOME': self.folder, 'MOZ_CRASHREPORTER_DISABLE': '1'})
        self.number, self.events = 0, []
        if not wait_for(lambda: self.begin(port), 90):
            self.close()
            raise SystemExit('page-checks: error: firefox did not start')
        self.call('session.subscribe', events=['log.entryAdded', 'network.beforeRequestSent'])
        self.context = self.call('browsingContext.getTree')['contexts'][0]['context']

    def begin(self, port):
        try:
            self.socket = connect(f'ws://127.0.0.1:{port}/session', max_size=None, max_queue=None, ping_interval=None)
        except OSError:
            return False
        self.call('session.new', capabilities={})
        return True

    def call(self, method, **parameters):
        if method == 'Input.dispatchMouseEvent':
            return self.point(parameters)
        self.number += 1
        self.socket.send(json.dumps({'id': self.number, 'method': method, 'params': parameters}))
        while True:
            message = json.loads(self.socket.recv(timeout=60))
            if message.get('id') == self.number:
                if message['type'] == 'error':
                    raise Failure(f"{method}: {message['message']}")
                return message['result']
            self.events.append(message)

    def run(self, script):
        # The value comes as JSON, so that lists and objects are what they are in the page.
        result = self.call('script.evaluate', expression=f'Promise.resolve({script}).then(value => JSON.stringify(value))', target={'context': self.context}, awaitPromise=True)
        if result['type'] == 'exception':
            raise Failure(result['exceptionDetails']['text'] + '\n' + script[:300])
        value = result['result'].get('value')
        return None if value is None else json.loads(value)

    def wait(self, condition, seconds=15):
        """Whether a condition holds within a time. The page may not be there yet."""
        def holds():
            try:
                return self.run(f'!!({condition})')
            except Failure:
                return False
        return wait_for(holds, seconds)

    def open(self, address):
        self.call('browsingContext.navigate', context=self.context, url=address, wait='complete')

    def size(self, width, height, dark=False):
        self.call('browsingContext.setViewport', context=self.context, viewport={'width': width, 'height': height})

    def point(self, event):
        """What chromium's event of the mouse is here."""
        move = {'type': 'pointerMove', 'x': round(event['x']), 'y': round(event['y'])}
        then = {'mouseMoved': [], 'mousePressed': [{'type': 'pointerDown', 'button': 0}], 'mouseReleased': [{'type': 'pointerUp', 'button': 0}]}
        self.call('input.performActions', context=self.context, actions=[{'type': 'pointer', 'id': 'mouse', 'actions': [move, *then[event['type']]]}])

    def press(self, *keys):
        """Presses keys at the same time."""
        actions = [{'type': 'keyDown', 'value': KEYS.get(key, key)} for key in keys] + [{'type': 'keyUp', 'value': KEYS.get(key, key)} for key in reversed(keys)]
        self.call('input.performActions', context=self.context, actions=[{'type': 'key', 'id': 'keyboard', 'actions': actions}])

    def key(self, key, control=False):
        self.press(*(['Control'] if control else []), key)

    def paste(self, text):
        for letter in text:
            self.press('Enter' if letter == '\n' else letter)

    def picture(self, file):
        with open(file, 'wb') as stream:
            stream.write(base64.b64decode(self.call('browsingContext.captureScreenshot', context=self.context)['data']))

    def requests(self):
        return [event['params']['request']['url'] for event in self.events if event['method'] == 'network.beforeRequestSent']

    def complaints(self):
        """What the page or the browser says is wrong. Firefox names answers such as 401 there, which are no faults of the page."""
        return [event['params'].get('text', '') for event in self.events if event['method'] == 'log.entryAdded' and event['params']['level'] == 'error']

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def walk(service, base, screenshots, check):
    """Signs in, hands a job in, finds its broken picture, compares another one, and tries the broken one again when it is whole."""
    folder = f'{service.folder}/firefox'
    os.makedirs(f'{folder}/photos')
    for number in (1, 2):
        with open(f'{folder}/photos/{number}.png', 'wb') as file:
            file.write(picture(300, 200, number))
    with open(f'{folder}/photos/broken.png', 'wb') as file:
        file.write(b'no picture')
    browser = Firefox()
    try:
        page = Page(browser, base, screenshots, check)
        browser.size(1280, 860)
        browser.open(base)
        browser.wait("document.getElementById('token')")
        browser.run("document.getElementById('token').focus()")
        browser.paste(service.token('fox', 'submit')['token'])
        browser.key('Enter')
        check('one can sign in', browser.wait("document.getElementById('link').textContent.includes('live')"), page.text('body'))
        page.go('#/submit')
        browser.wait("document.getElementById('manifest')?.offsetParent")
        for field, text in (('folder', folder), ('manifest', 'job: fox\ninputs: photos/*\nfilters: [{gaussian: {radius: 3}}]\noutput: out/{stem}.png')):
            browser.run(f"document.getElementById('{field}').focus()")
            browser.key('a', control=True)
            browser.paste(text)
            if field == 'folder':
                browser.key('Tab')
        check('a right manifest can be submitted', page.has('can be submitted', '#findings', 30), page.text('#findings'))
        page.click('Submit it')
        check('the job has a page', browser.wait("/^#\\/(jobs|runs)\\//.test(location.hash)"), page.text())
        job = service.wait(int(browser.run("/(?:jobs\\/|job-)(\\d+)/.exec(location.hash)[1]")))
        page.go(f"#/runs/{job['run']}")
        check('its run names what is wrong', page.has('broken or unreadable picture', seconds=30), page.text())
        check('and shows the last pictures', browser.wait("[...document.querySelectorAll('#view img')].filter(one => one.complete && one.naturalWidth).length >= 2", 30))
        if screenshots:
            browser.picture(os.path.join(screenshots, 'firefox-run.png'))
        page.go(f"#/runs/{job['run']}/frames/1")
        has_pictures = browser.wait("document.querySelector('.compare canvas')", 30)
        check('a picture is shown before and after', has_pictures and browser.wait("(canvas => canvas.getContext('2d').getImageData(canvas.width / 2 - 30, canvas.height / 2, 1, 1).data[3] === 255)(document.querySelector('.compare canvas'))", 30), page.text())
        browser.run("document.querySelector('.compare canvas').focus()")
        browser.key('1')
        check('with exact pixels', page.has('exact pixels', '.compare .note', 30), page.text('.compare .note'))
        if screenshots:
            browser.picture(os.path.join(screenshots, 'firefox-frame.png'))
        with open(f'{folder}/photos/broken.png', 'wb') as file:
            file.write(picture(300, 200, 3))
        page.go(f"#/runs/{job['run']}")
        check('what failed can be tried again', page.click('Retry') and wait_for(lambda: os.path.exists(f'{folder}/out/broken.png'), 60), page.text())
        for view in ('queue', 'runs', 'errors', 'workers'):
            page.go(f'#/{view}')
            check(f'there is the view “{view}”', browser.wait("!document.querySelector('#view .error') && document.querySelector('#view').textContent.length > 20"), page.text())
        browser.size(390, 844)
        check('nothing is cut off on a phone', browser.wait('document.documentElement.scrollWidth <= innerWidth'), browser.run('[document.documentElement.scrollWidth, innerWidth]'))
        host = base.split('/')[2]
        others = [url for url in browser.requests() if url.startswith('http') and url.split('/')[2] == host and not url.startswith(base)]
        check('all addresses are relative to the page', not others, others[:3])
        check('the browser has nothing to complain of', not browser.complaints(), browser.complaints()[:5])
    finally:
        browser.close()
