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
    for part in (waits, all_pictures, repairs, words, looks, greets, others, runs_of_others):
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
    reason = found['waiting_for']['words'].split(';')[0].removeprefix('long-again: ')
    check('where the whole reason can be read', page.has(f'Waits: {reason}', '.reason'), page.text())
    run = service.api('GET', f'jobs/{first}')['run']
    check('with a link to the run that goes on', browser.wait(f"[...document.querySelectorAll('.facts a')].some(one => one.getAttribute('href') === '#/runs/{run}')"), page.text('.facts'))
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
    check('a job that never began has its page after a cancellation, too', browser.wait(f"location.hash === '#/jobs/{fourth}'") and page.has('cancelled', '.badge') and page.has('cancelled by', '.reason'), page.text())
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
    leave_out(page, service, check, folder, failed)
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
    page.go(f"#/runs/{failed['run']}")
    group = "document.querySelector('.group')"
    check('and its problems, where nothing is left to do', browser.wait(f"{group}?.textContent.includes('repaired by later jobs') && !{group}.querySelector('button, .copy')"), page.text())
    page.go('#/runs')
    check('and the list of runs', browser.wait(f"[...document.querySelectorAll('.rows .row')].find(one => one.textContent.includes({json.dumps(failed['run'])}))?.querySelector('.badge.repaired')"), page.text())


def leave_out(page, service, check, folder, failed):
    """A manifest that was submitted as text has no file, so the page names none."""
    browser = page.browser
    group = "document.querySelector('.group.bad')"
    leave = f"[...{group}.querySelectorAll('button')].find(one => one.textContent === 'Leave them out …')"
    text = 'job: my-wedding\ninputs: wedding/*\nexclude:\n  - none.png\nfilters: [{gaussian: {radius: 2}}]\noutput: out/my-wedding/{stem}.png\n'
    answers = {404: b'{"type":"/problems/no-page","title":"There is no such thing","status":404}', 200: json.dumps({'text': text, 'folder': folder}).encode()}
    for status, answer in answers.items():
        page.go('#/queue')
        page.go(f"#/runs/{failed['run']}")
        browser.wait(f'{group} && {leave}')
        browser.intercept(f"*/jobs/{failed['id']}/manifest", lambda: browser.run(f'{leave}.click()'), status, answer)
        browser.let_go()
        check(f'the line is shown, and no name of a file that is not there (manifest: {status})', browser.wait(f"{group}.querySelector('.copy code')?.textContent.includes('wedding/torn-0.png')") and 'my-wedding.yaml' not in page.text(), page.text())
        page.picture(f'new-leave-out-{status}')
    browser.intercept(f"*/jobs/{failed['id']}/manifest", lambda: page.click('Submit again without them …'), 200, answers[200])
    browser.let_go()
    check('a click submits the manifest again without them', browser.wait("location.hash === '#/submit' && document.getElementById('manifest')"), page.text())
    shown = browser.run("document.getElementById('manifest').value")
    check('with the pictures among those that it leaves out', shown == text.replace('none.png\n', 'none.png\n  - wedding/torn-0.png\n  - wedding/torn-1.png\n'), shown)
    check('and its folder', browser.run("document.getElementById('folder').value") == folder and page.has('can be submitted', '#findings'), page.text('#findings'))


def words(page, service, check, folder, manifest):
    browser = page.browser
    print('Words, and actions for many jobs')
    check('the head says how many workers are busy', page.has('0 of 2 workers busy', '#summary'), page.text('#summary'))
    done = service.wait(service.submit(text=manifest('one', 'one'), folder=folder))
    page.go('#/queue')
    row = lambda job: f"document.getElementById('row-jobs-{job}')"
    check('a job that is done says how long it took', browser.wait(f"/^took /.test({row(done['id'])}?.querySelector('.why').textContent)"), browser.run(f"{row(done['id'])}?.textContent"))
    page.go('#/queue?q=one')
    browser.wait(row(done['id']))
    check('a list is as high as its rows', browser.wait("(list => list.scrollHeight <= list.clientHeight + 1 && list.clientHeight < 80 * list.querySelectorAll('.row').length)(document.querySelector('.list'))"), browser.run("document.querySelector('.list').clientHeight"))
    page.go('#/queue')
    # What other checks have left open would be counted, too.
    for job in service.api('GET', 'jobs?state=open&limit=200')['jobs']:
        service.api('POST', f"jobs/{job['id']}/cancel")
        service.wait(job['id'])
    held = [service.submit(text=manifest(f'held-{number}', 'one'), folder=folder, hold=True) for number in range(2)]
    browser.wait(row(held[1]))
    go = "[...document.querySelectorAll('.bulk button')].find(one => one.textContent === 'Do it')"
    check('without a choice there is nothing to do', browser.run(f'{go}.disabled'))
    choose = lambda action: browser.run(f"(select => {{ select.value = '{action}'; select.dispatchEvent(new Event('change')); }})(document.querySelector('.bulk select'))")
    choose('cancel')
    browser.run(f'{go}.click()')
    check('Cancel counts the open jobs alone', browser.wait("document.getElementById('dialog').open") and page.has('Cancel 2 jobs?', '#dialog') and page.has('all that wait or run', '#dialog'), page.text('#dialog'))
    page.picture('new-bulk')
    browser.key('Escape')
    check('after Escape nothing is chosen', browser.wait("document.querySelector('.bulk select').value === ''") and browser.run(f'{go}.disabled'))
    choose('cancel')
    browser.run(f'{go}.click()')
    page.click('Cancel 2', '#dialog')
    ended = [service.wait(job) for job in held]
    check('it cancels them', all(job['state'] == 'cancelled' for job in ended), ended)
    name = browser.run("document.querySelector('#account bdi').textContent")
    page.go(f'#/jobs/{held[0]}')
    check('the page of a job says by whom, by their name', page.has(f'cancelled by {name}', '.reason'), page.text('.reason'))
    check('and who has submitted it', page.has("the administrator of the farm's machine", '.facts') or not page.has('token:', '.facts', 1), page.text('.facts'))
    page.go('#/queue')
    choose('release')
    browser.run(f'{go}.click()')
    check('an action that fits no job says so', page.has('no job is held', '.bulk'), page.text('.bulk'))
    print('Keys of lists')
    page.go('#/runs')
    page.go('#/queue')
    browser.run('document.activeElement.blur()')
    browser.key('ArrowDown')
    check('an arrow chooses in the list, wherever one is', browser.wait("document.activeElement.classList.contains('list') && document.querySelector('.row[aria-selected=true]')"), browser.run('document.activeElement.outerHTML.slice(0, 90)'))
    browser.key('?')
    check('? explains the words of the farm', page.has('Words and keys', '#dialog') and page.has('what commands and programs call a picture', '#dialog'), page.text('#dialog'))
    page.picture('new-words')
    browser.key('Escape')
    page.go(f"#/runs/{done['run']}")
    check('a run has pictures', page.has('1 picture.', '.map-tip') and page.has('1 of 1 picture done', '.figures'), page.text('.map') + page.text('.figures'))
    browser.run("document.querySelector('.map canvas').focus()")
    browser.key('ArrowRight')
    check('the map names a picture', page.has('picture 1: published', '.map-tip') or page.has('Picture 1: published', '.map-tip', 1), page.text('.map-tip'))
    page.click('Verify outputs')
    check('a verification says what it found in usual words', page.has('1 output read: 1 unchanged', '.verified', 20), page.text('.verified'))
    page.picture('new-verified')
    page.go(f"#/runs/{done['run']}/frames/1")
    check('the page of a picture says what was tried', page.has('rendering', '.attempts', 20), page.text('.attempts'))
    page.go('#/queue')
    print('Large text on a small screen')
    browser.size(390, 844)
    for size in ('100%', '200%'):
        browser.run(f"document.documentElement.style.fontSize = '{size}'")
        for view in ('queue', 'runs', 'submit', 'errors', 'workers', 'schedules', f"runs/{done['run']}", f'jobs/{held[0]}', f"runs/{done['run']}/frames/1"):
            page.go(f'#/{view}')
            time.sleep(0.4)
            wide = browser.run('document.documentElement.scrollWidth')
            part = view.replace(done['run'], 'RUN')
            check(f'{part} fits 390 px with text of {size}', wide <= 390, f"{wide} px: " + str(browser.run("[...document.querySelectorAll('body *')].filter(one => one.getBoundingClientRect().right > 391 && !one.closest('.list, .scroll, pre')).slice(0, 8).map(one => one.outerHTML.slice(0, 90) + one.getBoundingClientRect().right)")))
            check(f'{part}: the whole head can be seen with text of {size}', browser.run("[...document.querySelectorAll('header a, header button')].every(one => one.getBoundingClientRect().right <= 390)"))
            if page.screenshots:
                browser.picture(os.path.join(page.screenshots, f"new-{part.replace('/', '-')}-390-{size.rstrip('%')}.png"))
    browser.run("document.documentElement.style.fontSize = ''")
    browser.size(1280, 860)


def looks(page, service, check, folder, manifest):
    browser = page.browser
    print('From one picture to the next')
    done = service.wait(service.submit(text=manifest('looks', 'wedding'), folder=folder))
    page.go(f"#/runs/{done['run']}/frames/2")
    browser.wait("document.querySelector('.compare canvas')", 20)
    browser.run("(slider => { slider.value = 250; slider.dispatchEvent(new Event('input')); })(document.querySelector('.compare input'))")
    page.click('1:1', '.compare')
    browser.wait("document.querySelector('.compare .note').textContent.startsWith('1:1')")
    browser.run("document.activeElement.blur()")
    browser.key(']')
    check('the next picture is shown with the same zoom and line', browser.wait("document.querySelector('.crumbs')?.textContent.endsWith('picture 3') && document.querySelector('.compare input')?.value === '250' && document.querySelector('.compare .note').textContent.startsWith('1:1')", 20), page.text('.compare'))
    check('and is not taken for a transparent one while it loads', browser.wait("document.querySelector('.compare .waiting').hidden", 20) and browser.run("getComputedStyle(document.querySelector('.compare .waiting')).display") == 'none')
    browser.run(f"document.activeElement.blur(); location.hash = '#/runs/{done['run']}/frames/4'")
    browser.wait("document.querySelector('.crumbs')?.textContent.endsWith('picture 4') && document.querySelector('.compare input')", 20)
    browser.run("(slider => { slider.value = 250; slider.dispatchEvent(new Event('input')); })(document.querySelector('.compare input'))")
    # Goes on to the next picture, and elsewhere before there is a view of that picture.
    browser.run("[...document.querySelectorAll('.head a.button')].find(one => one.textContent.startsWith('next')).click(); location.hash = '#/runs'")
    browser.wait("document.title.startsWith('Runs')", 20)
    page.go(f"#/runs/{done['run']}/frames/6")
    check('somebody who comes from elsewhere sees the whole picture', browser.wait("document.querySelector('.compare input')?.value === '500'", 20), page.text('.compare'))
    page.picture('new-frame')


def greets(page, service, check, folder, manifest):
    browser = page.browser
    print('Somebody who has typed nothing')
    page.sign_in(service.token('kim', 'submit')['token'])
    page.go('#/submit')
    check('sees an example, and what to do with it', page.has('this text shows what a manifest looks like', '#findings') and page.has('Name the folder of your pictures', '#findings'), page.text('#findings'))
    red = "[...document.querySelectorAll('#view .trouble, #findings .error')].filter(one => one.offsetParent && one.textContent).map(one => one.textContent)"
    check('and no errors, also after a while', not browser.wait(f'{red}.length', 3), browser.run(red))
    submit = "[...document.querySelectorAll('#view button')].find(one => one.textContent.startsWith('Submit it'))"
    check('and cannot submit it', browser.run(f"{submit}.disabled && {submit}.textContent === 'Submit it'"), browser.run(f'{submit}?.outerHTML'))
    page.picture('new-submit')
    page.accessible('the first visit of Submit')
    page.click('Example')
    check('nor after a click on Example', not browser.wait(f'{red}.length', 2), browser.run(red))
    browser.run("document.getElementById('folder').focus()")
    browser.key('a', control=True)
    browser.paste(folder)
    check('with a folder the example is checked', page.has('night is accepted, but its preview failed', '#findings', 20), page.text('#findings'))
    trouble = "document.querySelector('.preview > .trouble').textContent"
    check('and the preview says what is wrong', browser.wait(f'{trouble}.includes("photos")'), browser.run(trouble))
    browser.run("document.getElementById('manifest').focus()")
    browser.key('a', control=True)
    browser.paste(manifest('greeted', 'wedding', '[{bilateral: {radius: 20}}]').rstrip())
    check('which goes as soon as the text changes', browser.run(trouble) == '' and browser.run("document.querySelector('#findings').classList.contains('old')"), browser.run(trouble))
    check('then the new text can be submitted', page.has('greeted can be submitted', '#findings', 20) and browser.wait("!document.querySelector('#findings').classList.contains('old')"), page.text('#findings'))
    browser.wait("document.querySelectorAll('.preview img').length === 2 && !document.querySelector('.preview').hasAttribute('aria-busy')", 30)
    choose = lambda name: browser.run(f"(field => {{ field.value = '{name}'; field.dispatchEvent(new Event('input', {{bubbles: true}})); }})(document.getElementById('preview-input'))")
    choose('wedding/none.png')
    check('a picture that is not there is a trouble of the preview', browser.wait(f'{trouble}.includes("none.png")', 20), browser.run(trouble))
    choose('wedding/img-03.png')
    check('which goes as soon as another picture is chosen', browser.run(trouble) == '', browser.run(trouble))


def others(page, service, check, folder, manifest):
    browser = page.browser
    print('Jobs of others, and of schedules')
    with open(f'{folder}/often.yaml', 'w') as file:
        file.write(manifest('often', 'one'))
    service.api('POST', 'schedules', {'name': 'often', 'watch': {'quiet': 1}, 'submit': {'manifest': f'{folder}/often.yaml'}})
    number = len(os.listdir(f'{folder}/one'))
    scheduled = lambda: [job for job in service.api('GET', 'jobs?owner=watch:often')['jobs']]
    end = time.monotonic() + 60
    while not scheduled() and time.monotonic() < end:
        with open(f'{folder}/one/img-{number:02d}.png', 'wb') as file:
            file.write(picture(240, 180, number))
        number += 1
        wait_for(scheduled, 5)
    job = service.wait(scheduled()[0]['id'])
    held = service.submit(text=manifest('of-somebody', 'one'), folder=folder, hold=True)
    row = lambda number: f"document.getElementById('row-jobs-{number}')"
    buttons = lambda where: browser.run(f"[...{where}.querySelectorAll('button[data-act]')].filter(one => one.offsetParent).map(one => one.textContent)")
    for scope, sees in (('submit', False), ('admin', True)):
        page.sign_in(service.token(f'kim-{scope}', scope)['token'])
        page.go('#/queue')
        browser.wait(f"{row(job['id'])} && {row(held)}")
        check(f"{scope}: the queue marks the job of a schedule", browser.run(f"{row(job['id'])}.querySelector('.label')?.textContent") == '◷\ufe0e often', browser.run(f"{row(job['id'])}.textContent"))
        found = buttons(row(held))
        check(f"{scope}: a job of somebody else has {'its' if sees else 'no'} buttons", ('Release' in found) == sees and bool(found) == sees, found)
        page.picture(f'new-schedule-queue-{scope}')
        page.go(f'#/jobs/{held}')
        words = 'Only its owner and administrators change this job'
        check(f"{scope}: its page says {'nothing of that' if sees else 'why'}", page.has('Owner', '.facts') and (words in page.text('.facts')) != sees, page.text('.facts'))
        page.go(f"#/jobs/{job['id']}")
        check(f'{scope}: the page of the job names the schedule', page.has('the schedule often', '.facts'), page.text('.facts'))
        check(f"{scope}: {'and leads' if sees else 'without a link'} to it", browser.run("Boolean(document.querySelector('.facts a[href=\"#/schedules?name=often\"]'))") == sees, page.text('.facts'))
    # The folder of the results comes last, and moves what is below it.
    browser.wait("document.querySelector('.results .copy')")
    page.click('the schedule often', '.facts')
    check('which is marked, and has a link to its last job', browser.wait(f"document.querySelector('.wanted h2')?.textContent.startsWith('often') && document.querySelector('.wanted a[href=\"#/jobs/{job['id']}\"]')"), page.text())
    page.picture('new-schedule')
    page.accessible('schedules with a link to the last job')
    service.api('DELETE', 'schedules/often')
    service.api('POST', f'jobs/{held}/cancel')


def runs_of_others(page, service, check, folder, manifest):
    browser = page.browser
    print('Runs of others, and the buttons of a run')
    job = service.submit(text=manifest('slow-one', 'long', '[{bilateral: {radius: 45}}]'), folder=folder)
    run = service.wait(job, ('running',))['run']
    button = lambda text: f"[...document.querySelectorAll('.head .buttons button')].find(one => one.textContent === '{text}' && one.offsetParent)"

    def look(scope):
        page.sign_in(service.token(f'kim-{scope}-looks', scope)['token'])
        page.go(f'#/runs/{run}')
        page.has('running', '.head .badge')
    look('submit')
    check('a run of somebody else can be verified, and nothing more', browser.wait(button('Verify outputs')) and not any(browser.run(f'Boolean({button(text)})') for text in ('Pause', 'Cancel…', 'Retry')), page.text('.head'))
    look('admin')
    check('an administrator can pause it', page.click('Pause', '.head') and browser.wait(f"{button('Resume')}?.title === 'Let it continue (p)'", 15), page.text('.head'))
    service.api('POST', f'jobs/{job}/cancel')
    service.wait(job)
    check('a run whose job was cancelled says so, as the queue does', browser.wait("document.querySelector('.head .badge.cancelled')", 15) and page.has('cancelled by', '.reason') and 'penumbra cancel' not in page.text('.reason'), page.text('.head') + page.text('.reason'))
