"""The page stays open for minutes while runs end frames. Its memory has to stay where it was after the first minute.

First the service is a real one: one run after the other renders thousands of small pictures. Then the answers are those of `Crowd`, with
an event every 250 ms and 100,000 frames, which no real farm of this size reaches. Once a minute somebody walks through the other views and
comes back, so that a view that leaves something behind is found.
"""
import os
import time

from crowd import LIVE
from service import picture

# What may be more at the end than after the first minute. A leak of one listener or element for each event would be thousands.
GROWTH = {'heap': 1.0, 'nodes': 200, 'listeners': 50}
WORDS = {'heap': 'MB of JavaScript', 'nodes': 'nodes of the document', 'listeners': 'listeners'}
# The frames of one real run, and what the service may need more in the end, in megabytes and open files.
FRAMES, SERVICE_MEMORY, SERVICE_FILES = 4000, 60, 20


def measure(browser):
    """What is left after a forced collection. Two of them, because the first one may only run finalizers."""
    for _ in range(2):
        browser.call('HeapProfiler.collectGarbage')
    counters = browser.call('Memory.getDOMCounters')
    return {'heap': browser.call('Runtime.getHeapUsage')['usedSize'] / 1e6, 'nodes': counters['nodes'], 'listeners': counters['jsEventListeners']}


def watch(page, views, minutes, come_back, check, note, meanwhile=lambda: None):
    """Walks through the views each minute, and compares the last minute with the first one. `come_back` leads to the run again."""
    browser = page.browser
    begin, found = time.monotonic(), []
    for minute in range(1, minutes + 1):
        for view in views:
            page.go(f'#/{view}')
            time.sleep(1)
            meanwhile()
        come_back()
        while time.monotonic() < begin + minute * 60:
            # The browser's messages are read meanwhile. They would fill the connection, and they are not needed here.
            browser.run('0')
            browser.events = [event for event in browser.events if event['method'] in ('Log.entryAdded', 'Runtime.exceptionThrown', 'Page.javascriptDialogOpening')]
            meanwhile()
            time.sleep(0.5)
        come_back()
        one = measure(browser)
        found.append(one)
        note(f"minute {minute}: {one['heap']:.2f} MB of JavaScript, {one['nodes']:,} nodes, {one['listeners']:,} listeners")
    first, last = found[0], found[-1]
    for key, most in GROWTH.items():
        grown = last[key] - first[key]
        check(f'after {minutes} minutes there are at most {most:g} {WORDS[key]} more than after one', grown <= most, f'{first[key]:.2f}, then {last[key]:.2f}')
    check('the page is still live', browser.run("document.getElementById('link').textContent.includes('live')"), page.text('#link'))
    check('and up to date', browser.run("document.getElementById('stale').hidden"), page.text('#stale'))


def soak(page, views, minutes, check, note):
    """Beside the made-up service."""
    page.browser.size(1280, 860)
    page.browser.open(page.base + f'#/runs/{LIVE}')
    check('the map has 100,000 frames', page.has('100,000 pictures', '.map', 30), page.text('.map')[:200])

    def come_back():
        page.go(f'#/runs/{LIVE}')
        page.has('100,000 pictures', '.map', 30)
    watch(page, views, minutes, come_back, check, note)


def service_needs(service):
    """The memory of the service in megabytes, and the number of its open files."""
    process = f'/proc/{service.process.pid}'
    with open(f'{process}/status') as status:
        memory = next(int(line.split()[1]) for line in status if line.startswith('VmRSS:'))
    return memory / 1000, len(os.listdir(f'{process}/fd'))


def real_soak(page, service, views, minutes, check, note):
    """Beside a real service, which always has a run to go on with."""
    browser = page.browser
    folder = f'{service.folder}/soak'
    os.makedirs(folder)
    with open(f'{folder}/0000.png', 'wb') as file:
        file.write(picture(48, 36))
    for number in range(1, FRAMES):
        os.link(f'{folder}/0000.png', f'{folder}/{number:04d}.png')
    # A picture that fails in each run, so that there are errors to show.
    os.remove(f'{folder}/{FRAMES - 7:04d}.png')
    with open(f'{folder}/{FRAMES - 7:04d}.png', 'wb') as file:
        file.write(b'no picture')
    jobs = []

    def submit():
        """Two jobs are open at least: one runs, and the next one follows it at once."""
        states = [service.api('GET', f'jobs/{job}') for job in jobs[-2:]]
        for _ in range(2 - sum(state['state'] in ('waiting', 'starting', 'running') for state in states)):
            # The digest of each differs, so that nothing is up to date.
            jobs.append(service.submit(folder=folder, text=f"job: soak\ninputs: '*.png'\nfilters: [{{gaussian: {{radius: {2 + len(jobs) / 1000}}}}}]\noutput: out/{{stem}}.png\n"))

    def come_back():
        submit()
        open_run = lambda: next((state['run'] for state in map(lambda job: service.api('GET', f'jobs/{job}'), jobs[-2:]) if state['state'] == 'running' and state.get('run')), None)
        end = time.monotonic() + 60
        run = open_run()
        while not run and time.monotonic() < end:
            submit()
            time.sleep(0.2)
            run = open_run()
        page.go(f'#/runs/{run}')
        page.has(f'{FRAMES:,} pictures', '.map', 30)
    browser.size(1280, 860)
    check('the page is signed in', page.sign_in(service.token('soak', 'admin')['token']), page.text())
    submit()
    service.wait(jobs[0])
    before = service_needs(service)
    watch(page, views, minutes, come_back, check, note, submit)
    after = service_needs(service)
    rendered = sum(service.api('GET', f"runs/{run['run']}")['counts']['published'] for run in service.api('GET', 'runs')['runs'])
    note(f'{len(jobs)} jobs were submitted, {rendered:,} pictures were rendered; the service had {before[0]:.0f} MB and {before[1]} files, then {after[0]:.0f} MB and {after[1]}')
    check(f'the service needs at most {SERVICE_MEMORY} MB more', after[0] - before[0] <= SERVICE_MEMORY, [before, after])
    check(f'and at most {SERVICE_FILES} files more', after[1] - before[1] <= SERVICE_FILES, [before, after])
    for job in jobs[-2:]:
        if service.api('GET', f'jobs/{job}')['state'] in ('waiting', 'starting', 'running'):
            service.api('POST', f'jobs/{job}/cancel')
