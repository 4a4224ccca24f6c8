"""Checks of what somebody sees who uses the page for the first time, with a real service."""
import json
import os
import time

from service import picture, wait_for


def with_service(page, service, check):
    folder = f'{service.folder}/newcomer'
    for name, number in (('wedding', 14), ('long', 80), ('one', 1)):
        os.makedirs(f'{folder}/{name}')
        for index in range(number):
            with open(f'{folder}/{name}/img-{index:02d}.png', 'wb') as file:
                file.write(picture(240, 180, index))
    manifest = lambda name, inputs, filters='[{gaussian: {radius: 2}}]', output=None: f'job: {name}\ninputs: {inputs}/*\nfilters: {filters}\noutput: out/{output or name}/{{stem}}.png\n'
    waits(page, service, check, folder, manifest)


def waits(page, service, check, folder, manifest):
    browser = page.browser
    print('A job that waits for another run')
    slow = '[{bilateral: {radius: 45}}]'
    first = service.submit(text=manifest('long', 'long', slow), folder=folder)
    service.wait(first, ('running',))
    second = service.submit(text=manifest('long-again', 'long', slow, 'long'), folder=folder)
    wait_for(lambda: service.api('GET', f'jobs/{second}')['tries'] > 0 and service.api('GET', f'jobs/{second}')['state'] == 'waiting', 20)
    found = service.api('GET', f'jobs/{second}')
    check('it has tried to begin, and waits', found['tries'] > 0 and found['state'] == 'waiting', found)
    page.go('#/queue')
    link = f"document.getElementById('row-jobs-{second}')?.querySelector('.job-name')"
    check('the queue leads to its own page', browser.wait(f"{link}?.getAttribute('href') === '#/jobs/{second}'"), browser.run(f'{link}?.outerHTML'))
    browser.run(f'{link}.click()')
    reason = found['waiting_for']['words'].split(';')[0]
    check('where the whole reason can be read', page.has(reason, '.reason'), page.text())
    page.picture('new-waits')
    page.go(f"#/runs/{found['run']}")
    check('the address of the run that it does not have yet leads there, too', browser.wait(f"location.hash === '#/jobs/{second}'") and page.has(reason, '.reason'), page.text())
    service.api('POST', f'jobs/{first}/cancel')
    check('when its run begins, the page leads to it by itself', browser.wait("location.hash.startsWith('#/runs/')", 60) and page.has('80', '.map', 30), page.text())
    service.api('POST', f'jobs/{second}/cancel')
    service.wait(second)
    third = service.submit(text=manifest('long-third', 'long', slow, 'long'), folder=folder)
    service.wait(third, ('running',))
    fourth = service.submit(text=manifest('long-fourth', 'long', slow, 'long'), folder=folder)
    wait_for(lambda: service.api('GET', f'jobs/{fourth}')['tries'] > 0 and service.api('GET', f'jobs/{fourth}')['state'] == 'waiting', 20)
    service.api('POST', f'jobs/{fourth}/cancel')
    ended = service.wait(fourth)
    page.go('#/queue')
    browser.wait(f"document.getElementById('row-jobs-{fourth}')")
    browser.run(f"document.getElementById('row-jobs-{fourth}').querySelector('.job-name').click()")
    check('a job that never began has its page after a cancellation, too', browser.wait(f"location.hash === '#/jobs/{fourth}'") and page.has('cancelled', '.badge') and page.has(ended['result'], '.reason'), page.text())
    check('which has no link to a run', browser.run("document.querySelector('.lead').textContent") == '', page.text('.lead'))
    service.api('POST', f'jobs/{third}/cancel')
    service.wait(third)
