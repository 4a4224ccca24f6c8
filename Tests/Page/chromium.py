"""A headless Chromium, driven by its debugging protocol."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request

from websockets.sync.client import connect

KEYS = {'Enter': (13, '\r'), 'Tab': (9, ''), 'Escape': (27, ''), 'ArrowUp': (38, ''), 'ArrowDown': (40, ''), 'ArrowLeft': (37, ''), 'ArrowRight': (39, ''),
        'Home': (36, ''), 'End': (35, ''), ' ': (32, ' ')}


class Failure(Exception):
    """A script on the page failed."""


class Browser:
    def __init__(self, program='chromium'):
        path = next((found for found in (shutil.which(name) for name in (program, 'chromium-browser', 'google-chrome')) if found), None)
        if not path:
            raise SystemExit("page-checks: error: there is no chromium\n   = install Debian's package 'chromium'")
        self.folder = tempfile.mkdtemp(prefix='page-checks-browser-')
        self.process = subprocess.Popen(
            [path, '--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--remote-debugging-port=0', f'--user-data-dir={self.folder}', 'about:blank'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file = os.path.join(self.folder, 'DevToolsActivePort')
        end = time.monotonic() + 60
        while not os.path.exists(port_file) or not open(port_file).read().strip():
            if time.monotonic() > end or self.process.poll() is not None:
                raise SystemExit('page-checks: error: chromium did not start')
            time.sleep(0.05)
        self.port = open(port_file).read().split()[0]
        with urllib.request.urlopen(f'http://127.0.0.1:{self.port}/json') as answer:
            self.connect(next(target for target in json.load(answer) if target['type'] == 'page'))

    def connect(self, page):
        self.target = page['id']
        # Nobody reads while a check waits for the service, so there are no pings, and events are kept.
        self.socket = connect(page['webSocketDebuggerUrl'], max_size=None, max_queue=None, ping_interval=None)
        self.number, self.events = 0, []
        for domain in ('Page', 'Runtime', 'Network', 'Log', 'Accessibility', 'Performance'):
            self.call(domain + '.enable')

    def tab(self):
        """Another tab of this browser, which has the same cookies."""
        return Tab(self.port)

    def window(self):
        """Another window beside that of this tab: both are seen."""
        return Tab(self.port, self.call('Target.createTarget', url='about:blank', newWindow=True)['targetId'])

    def call(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({'id': self.number, 'method': method, 'params': parameters}))
        while True:
            message = json.loads(self.socket.recv(timeout=60))
            if message.get('id') == self.number:
                if 'error' in message:
                    raise Failure(f"{method}: {message['error'].get('message')}")
                return message['result']
            self.events.append(message)
            # A page must never open one. If it does, the check fails, and the page goes on.
            if message.get('method') == 'Page.javascriptDialogOpening':
                self.number += 1
                self.socket.send(json.dumps({'id': self.number, 'method': 'Page.handleJavaScriptDialog', 'params': {'accept': False}}))

    def run(self, script):
        result = self.call('Runtime.evaluate', expression=script, awaitPromise=True, returnByValue=True)
        if 'exceptionDetails' in result:
            raise Failure(result['exceptionDetails'].get('exception', {}).get('description', 'failed') + '\n' + script[:300])
        return result['result'].get('value')

    def wait(self, condition, seconds=15):
        """Whether a condition holds within a time. The page may not be there yet."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if self.run(f'(() => {{ try {{ return !!({condition}) }} catch {{ return false }} }})()'):
                    return True
            except Failure:
                pass
            time.sleep(0.05)
        return False

    def open(self, address):
        self.call('Page.navigate', url=address)

    def size(self, width, height, dark=False, motion=True, scale=1):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=scale, mobile=width < 600)
        self.call('Emulation.setEmulatedMedia', features=[
            {'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}, {'name': 'prefers-reduced-motion', 'value': 'no-preference' if motion else 'reduce'}])

    def key(self, key, control=False):
        code, text = KEYS.get(key, (ord(key.upper()) if len(key) == 1 else 0, key if len(key) == 1 else ''))
        for kind in ('keyDown', 'keyUp'):
            self.call('Input.dispatchKeyEvent', type=kind, key=key, code=key, windowsVirtualKeyCode=code, modifiers=2 if control else 0,
                      text=text if kind == 'keyDown' and not control else '')

    def paste(self, text):
        self.call('Input.insertText', text=text)

    def click_at(self, x, y):
        """Clicks at a place of the screen, as long as people press a button."""
        for kind in ('mousePressed', 'mouseReleased'):
            self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, button='left', clickCount=1)
            time.sleep(0.12)

    def touch(self, *paths):
        """Moves fingers over the screen, one for each path of points, all at the same time."""
        self.call('Emulation.setTouchEmulationEnabled', enabled=True, maxTouchPoints=5)
        for step, points in enumerate(zip(*paths)):
            self.call('Input.dispatchTouchEvent', type='touchMove' if step else 'touchStart', touchPoints=[{'x': x, 'y': y, 'id': finger} for finger, (x, y) in enumerate(points)])
        self.call('Input.dispatchTouchEvent', type='touchEnd', touchPoints=[])
        self.call('Emulation.setTouchEmulationEnabled', enabled=False)

    def picture(self, file, kind='png', quality=None):
        more = {'quality': quality} if quality else {}
        with open(file, 'wb') as stream:
            stream.write(base64.b64decode(self.call('Page.captureScreenshot', format=kind, **more)['data']))

    def intercept(self, pattern, act, status=None, body=b''):
        """Holds all requests that match back while `act` runs, or answers them with a status."""
        self.call('Fetch.enable', patterns=[{'urlPattern': pattern}])
        # A request that follows at once may still pass on a busy machine.
        time.sleep(0.3)
        try:
            act()
            # A busy browser may take its time to ask. Then it may ask more than once.
            end = time.monotonic() + (10 if status else 0.4)
            while time.monotonic() < end:
                self.run('0')
                if status:
                    for event in [event for event in self.events if event.get('method') == 'Fetch.requestPaused' and not event.get('answered')]:
                        event['answered'] = True
                        end = min(end, time.monotonic() + 2)
                        try:
                            self.call('Fetch.fulfillRequest', requestId=event['params']['requestId'], responseCode=status,
                                      responseHeaders=[{'name': 'Content-Type', 'value': 'application/problem+json'}], body=base64.b64encode(body).decode())
                        except Failure:
                            # The page has given this request up.
                            pass
                time.sleep(0.05)
        finally:
            self.events = [event for event in self.events if event.get('method') != 'Fetch.requestPaused']

    def let_go(self):
        """Requests that are held back go on."""
        self.call('Fetch.disable')

    def begin_trace(self):
        self.call('Tracing.start', transferMode='ReportEvents', traceConfig={'includedCategories': ['toplevel']})

    def end_trace(self):
        """The tasks of the page's thread, in milliseconds of the processor's time."""
        self.events = [event for event in self.events if event.get('method') != 'Tracing.dataCollected']
        self.call('Tracing.end')
        traced, start = [], len(self.events)
        while not any(event.get('method') == 'Tracing.tracingComplete' for event in self.events[start:]):
            self.events.append(json.loads(self.socket.recv(timeout=120)))
        for event in self.events:
            if event.get('method') == 'Tracing.dataCollected':
                traced += event['params']['value']
        self.events = [event for event in self.events if not event.get('method', '').startswith('Tracing.')]
        pages = {(event['pid'], event['tid']) for event in traced if event.get('name') == 'thread_name' and event.get('args', {}).get('name') == 'CrRendererMain'}
        return [event['tdur'] / 1000 for event in traced if event.get('name') == 'ThreadControllerImpl::RunTask' and (event['pid'], event['tid']) in pages and 'tdur' in event]

    def requests(self):
        return [event['params']['request']['url'] for event in self.events if event.get('method') == 'Network.requestWillBeSent']

    def complaints(self):
        """What the browser has to complain of: exceptions, violated policies, dialogs. Answers with an error are no complaints."""
        found = [event['params']['entry']['text'] for event in self.events if event.get('method') == 'Log.entryAdded'
                 and event['params']['entry']['source'] in ('security', 'violation', 'javascript')]
        for event in self.events:
            if event.get('method') == 'Runtime.exceptionThrown':
                details = event['params']['exceptionDetails']
                found.append(details.get('exception', {}).get('description', details.get('text', ''))[:400])
            if event.get('method') == 'Page.javascriptDialogOpening':
                found.append('a dialog opened: ' + event['params']['message'])
        return found

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Tab(Browser):
    """A tab beside the first one, or a page that is open already."""

    def __init__(self, port, target=None):
        self.port = port
        if target:
            with urllib.request.urlopen(f'http://127.0.0.1:{port}/json') as answer:
                return self.connect(next(one for one in json.load(answer) if one['id'] == target))
        with urllib.request.urlopen(urllib.request.Request(f'http://127.0.0.1:{port}/json/new?about:blank', method='PUT')) as answer:
            self.connect(json.load(answer))

    def close(self):
        self.socket.close()
        with urllib.request.urlopen(f'http://127.0.0.1:{self.port}/json/close/{self.target}'):
            pass
