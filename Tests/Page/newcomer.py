"""Checks of what somebody sees who uses the page for the first time, with a real service."""
import json
import os
import time

from service import picture, wait_for

only = None


def with_service(page, service, check):
    folder = f'{service.folder}/newcomer'
    for name, number in (('wedding', 14), ('long', 80), ('one', 1)):
        os.makedirs(f'{folder}/{name}')
        for index in range(number):
            with open(f'{folder}/{name}/img-{index:02d}.png', 'wb') as file:
                file.write(picture(240, 180, index))
    manifest = lambda name, inputs, filters='[{gaussian: {radius: 2}}]', output=None: f'job: {name}\ninputs: {inputs}/*\nfilters: {filters}\noutput: out/{output or name}/{{stem}}.png\n'
    for part in (waits, all_pictures, repairs):
        if not only or part.__name__ in only:
            part(page, service, check, folder, manifest)


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


def all_pictures(page, service, check, folder, manifest):
    browser = page.browser
    print('The pictures of a run')
    job = service.submit(text=manifest('shown', 'long', '[{bilateral: {radius: 14}}]'), folder=folder)
    run = service.wait(job, ('running', 'done'))['run']
    page.go(f'#/runs/{run}')
    last = "[...document.querySelectorAll('.last .thumb')].map(one => Number(one.getAttribute('href').split('/').at(-1)))"
    browser.wait(f'{last}.length >= 4', 60)
    during = browser.run(last)
    check('while it goes on, the last pictures are shown, the newest first', during == sorted(during, reverse=True), during)
    service.wait(job)
    wanted = list(range(80, 68, -1))
    check('at its end they are all of the last twelve', browser.wait(f'JSON.stringify({last}) === {json.dumps(json.dumps(wanted, separators=(",", ":")))}', 20), browser.run(last))
    page.go('#/queue')
    page.go(f'#/runs/{run}')
    check('and so for somebody who comes later', browser.wait(f'JSON.stringify({last}) === {json.dumps(json.dumps(wanted, separators=(",", ":")))}', 20), browser.run(last))
    names = "[...document.querySelectorAll('.all .thumb-name bdi')].map(one => one.textContent)"
    check('all pictures have their names, fifty on a page', browser.wait(f"{names}.length === 50 && {names}[0] === 'img-00.png'", 20) and page.has('1 to 50 of 80', '.all .number'), browser.run(names))
    page.picture('new-run')
    page.accessible('a run with all its pictures')
    check('Next leads to the others', page.click('Next ▶\ufe0e', '.all') and browser.wait(f"{names}.length === 30 && {names}.at(-1) === 'img-79.png'") and page.has('51 to 80 of 80', '.all .number'), browser.run(names))
    check('which is the last page', browser.run("[...document.querySelectorAll('.all button')].find(one => one.textContent.startsWith('Next')).disabled"))
    check('Previous leads back', page.click('◀\ufe0e Previous', '.all') and browser.wait(f"{names}.length === 50"), browser.run(names))
    browser.run("(select => { select.value = 'failed'; select.dispatchEvent(new Event('change')); })(document.querySelector('.all select'))")
    check('one can look at the failed ones alone', page.has('There are none', '.all .number'), page.text('.all'))
    browser.run("(select => { select.value = 'published'; select.dispatchEvent(new Event('change')); })(document.querySelector('.all select'))")
    browser.wait(f"{names}.length === 50")
    browser.run("document.querySelector('.all .thumb').click()")
    check('a picture leads to its page', browser.wait("location.hash.endsWith('/frames/1')"), browser.run('location.hash'))
    again = service.wait(service.submit(text=manifest('shown', 'long', '[{bilateral: {radius: 14}}]'), folder=folder))
    page.go(f"#/runs/{again['run']}")
    check('a run with nothing to do has the names of its pictures, too', browser.wait(f"{names}.length === 50 && {names}[3] === 'img-03.png'", 20), browser.run(names))
    check('and the pictures', browser.wait("document.querySelectorAll('.all .thumb img').length > 5", 20), page.text('.all'))
    page.picture('new-run-nothing')


def repairs(page, service, check, folder, manifest):
    browser = page.browser
    print('A job whose failures were repaired')
    torn = [f'{folder}/wedding/torn-{number}.png' for number in range(2)]
    for path in torn:
        with open(path, 'wb') as file:
            file.write(b'\x89PNG\r\n\x1a\n torn')
    failed = service.wait(service.submit(text=manifest('my-wedding', 'wedding'), folder=folder))
    page.go('#/queue')
    row = f"document.getElementById('row-jobs-{failed['id']}')"
    retry = f"[...{row}.querySelectorAll('button')].find(one => one.textContent === 'Retry' && one.offsetParent)"
    check('before it is repaired it has failed, and offers a retry', browser.wait(f"{row}?.querySelector('.badge.failed') && {retry}"), browser.run(f'{row}?.textContent'))
    for path in torn:
        with open(path, 'wb') as file:
            file.write(picture(240, 180, 3))
    page.go(f"#/runs/{failed['run']}")
    check('Retry leads from its run by way of the new job to the new run', page.click('Retry', '.head') and browser.wait(f"/^#\\/runs\\/job-{failed['id'] + 1}-/.test(location.hash)", 60), browser.run('location.hash'))
    service.wait(failed['id'] + 1)
    words = f"repaired by job {failed['id'] + 1}"
    page.go('#/queue')
    check('afterwards the queue says which job has repaired it', browser.wait(f"{row}?.textContent.includes({json.dumps(words)}) && {row}.querySelector('.badge').textContent.includes('repaired')"), browser.run(f'{row}?.textContent'))
    check('and offers no retry', not browser.run(f'Boolean({retry})'))
    page.picture('new-repaired-queue')
    for view in (f"#/jobs/{failed['id']}", f"#/runs/{failed['run']}"):
        page.go(view)
        name = view.split('/')[1]
        check(f'{name}: the page says so, too', page.has('repaired', '.badge') and page.has(words, '.reason'), page.text())
        check(f'{name}: without a retry', browser.wait("[...document.querySelectorAll('.head button')].every(one => one.textContent !== 'Retry' || !one.offsetParent || one.disabled)"), page.text('.head'))
        page.picture(f'new-repaired-{name}')
    page.go('#/runs')
    check('and the list of runs', browser.wait(f"[...document.querySelectorAll('.rows .row')].find(one => one.textContent.includes({json.dumps(failed['run'])}))?.querySelector('.badge.repaired')"), page.text())
