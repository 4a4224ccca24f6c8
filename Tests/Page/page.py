"""What somebody does with the page: signs in, goes to a view, looks and clicks."""
import glob
import json
import os
import sys
import time

from chromium import Failure


class Page:
    """What the checks do again and again."""

    def __init__(self, browser, base, screenshots=None, check=None):
        self.browser, self.base, self.screenshots, self.check = browser, base, screenshots, check
        self.axe = None
        for folder in sys.path:
            for file in glob.glob(os.path.join(folder or '.', 'axe_core_python', 'axe.min.js')):
                self.axe = open(file).read()

    def sign_in(self, token):
        self.browser.call('Network.clearBrowserCookies')
        self.browser.open('about:blank')
        self.browser.open(self.base)
        if not self.browser.wait("document.getElementById('token')"):
            return False
        self.browser.run("document.getElementById('token').focus()")
        self.browser.paste(token)
        self.browser.key('Enter')
        return self.browser.wait("document.getElementById('link').textContent.includes('live') && !document.getElementById('view').hasAttribute('aria-busy')")

    def go(self, hash):
        """Goes to an address, if the page is not there already, and waits for its view."""
        self.watch_address()
        self.browser.run(f'location.hash = {json.dumps(hash)}')
        # A view may lead to another one at once.
        time.sleep(0.1)
        self.arrive(f'the view of {hash}', '(window.hasLeft || location.hash === window.addressBefore)')

    def follow(self, act):
        """Does something that leads to another address, and waits for the view of that one. For a moment after the address has changed,
        the view before is still there and is not marked as busy."""
        self.watch_address()
        act()
        self.arrive('another view', 'window.hasLeft')

    def arrive(self, name, condition):
        if not self.browser.wait(f"{condition} && !document.getElementById('view').hasAttribute('aria-busy')"):
            raise Failure(f'{name} did not come')

    def watch_address(self):
        self.browser.run("(window.addressBefore = location.hash, window.hasLeft = false, addEventListener('hashchange', () => { window.hasLeft = true; }, {once: true}), null)")

    def text(self, selector='#view'):
        return self.browser.run(f'document.querySelector({json.dumps(selector)})?.textContent ?? ""')

    def has(self, words, selector='#view', seconds=15):
        return self.browser.wait(f'document.querySelector({json.dumps(selector)}).textContent.includes({json.dumps(words)})', seconds)

    def click(self, text, selector='#view'):
        """Clicks on the first button or link with a text. Returns whether there is one."""
        return self.press(f"[...document.querySelectorAll({json.dumps(selector)} + ' :is(button, a)')].find(one => one.textContent.trim() === {json.dumps(text)} && !one.disabled && one.offsetParent && !one.ariaBusy)")

    def press(self, element):
        """Clicks with the mouse on what a script returns, as long as people press a button. Returns whether there is such an element.

        A click is lost if the page replaces the element, or lays something over it, between press and release."""
        if not self.browser.wait(element, 5):
            return False
        place = self.browser.run(f"(one => {{ one.scrollIntoView({{block: 'nearest'}}); const box = one.getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2]; }})({element})")
        self.browser.click_at(*place)
        return True

    def sign_out(self):
        """Signs out, and says yes to the question."""
        self.browser.run("document.querySelector('#account button').click()")
        return self.click('Sign out', '#dialog')

    def focus_is(self, text):
        return self.browser.run(f'document.activeElement?.textContent.trim() === {json.dumps(text)}')

    def tab_to(self, text, most=60):
        """Walks by the Tab key until something with a text has the focus."""
        for _ in range(most):
            self.browser.key('Tab')
            if self.focus_is(text):
                return True
        return False

    def picture(self, name):
        if not self.screenshots:
            return
        for width, height in ((1280, 860), (390, 844)):
            for dark in (False, True):
                self.browser.size(width, height, dark)
                time.sleep(0.25)
                self.browser.picture(os.path.join(self.screenshots, f'{name}-{width}-{"dark" if dark else "light"}.png'))
        self.browser.size(1280, 860)

    def accessible(self, name):
        if not self.axe:
            return
        self.browser.run(self.axe + ';0')
        found = self.browser.run("axe.run(document, {resultTypes: ['violations']}).then(result => result.violations.filter(one => ['serious', 'critical'].includes(one.impact))"
                                 ".map(one => one.id + ': ' + one.nodes.slice(0, 3).map(node => node.html.slice(0, 140) + ' ' + (node.any[0]?.message ?? '')).join(' | ')))")
        self.check(f'axe-core finds nothing serious: {name}', not found, '\n    '.join(found))
