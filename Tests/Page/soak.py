"""The page stays open for minutes while a run ends frames. Its memory has to stay where it was after the first minute.

The answers are those of `Crowd`, with an event every 250 ms, as the service sends them. Once a minute somebody walks through the other
views and comes back, so that a view that leaves something behind is found.
"""
import time

from crowd import LIVE

RUN = f'#/runs/{LIVE}'
# What may be more at the end than after the first minute. A leak of one listener or element for each event would be thousands.
GROWTH = {'heap': 1.0, 'nodes': 200, 'listeners': 50}


def measure(browser):
    """What is left after a forced collection. Two of them, because the first one may only run finalizers."""
    for _ in range(2):
        browser.call('HeapProfiler.collectGarbage')
    counters = browser.call('Memory.getDOMCounters')
    return {'heap': browser.call('Runtime.getHeapUsage')['usedSize'] / 1e6, 'nodes': counters['nodes'], 'listeners': counters['jsEventListeners']}


def soak(page, views, minutes, check, note):
    browser = page.browser
    browser.size(1280, 860)
    browser.open(page.base + RUN)
    check('the map has 100,000 frames', page.has('100,000 frames', '.map', 30), page.text('.map')[:200])
    begin, found = time.monotonic(), []
    for minute in range(1, minutes + 1):
        for view in views:
            page.go(f'#/{view}')
            time.sleep(1)
        page.go(RUN)
        page.has('100,000 frames', '.map', 30)
        while time.monotonic() < begin + minute * 60:
            # The browser's messages are read meanwhile. They would fill the connection, and they are not needed here.
            browser.run('0')
            browser.events = [event for event in browser.events if event['method'] in ('Log.entryAdded', 'Runtime.exceptionThrown', 'Page.javascriptDialogOpening')]
            time.sleep(0.5)
        one = measure(browser)
        found.append(one)
        note(f"minute {minute}: {one['heap']:.2f} MB of JavaScript, {one['nodes']:,} nodes, {one['listeners']:,} listeners")
    first, last = found[0], found[-1]
    words = {'heap': 'MB of JavaScript', 'nodes': 'nodes of the document', 'listeners': 'listeners'}
    for key, most in GROWTH.items():
        grown = last[key] - first[key]
        check(f'after {minutes} minutes there are at most {most:g} {words[key]} more than after one', grown <= most, f'{first[key]:.2f}, then {last[key]:.2f}')
    check('the page is still live', browser.run("document.getElementById('link').textContent.includes('live')"), page.text('#link'))
