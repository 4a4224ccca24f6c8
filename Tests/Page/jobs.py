"""Checks of the queue, of jobs, of errors and of the submission, with a real service."""
import json
import os
import time

import newcomer
from service import picture, wait_for


def with_service(page, service, check):
    browser = page.browser
    folder = f'{service.folder}/jobs'
    for name in ('good', 'torn', 'endless'):
        os.makedirs(f'{folder}/{name}')
    for number in range(3):
        with open(f'{folder}/good/{number}.png', 'wb') as file:
            file.write(picture(48, 32, number))
    for number in range(60):
        with open(f'{folder}/endless/{number:02d}.png', 'wb') as file:
            file.write(picture(320, 240, number))
    manifest = lambda name, inputs, filters='[{gaussian: {radius: 2}}]': f'job: {name}\ninputs: {inputs}\nfilters: {filters}\noutput: out/{name}/{{stem}}.png\n'
    errors(page, service, check, folder, manifest)
    pauses(page, service, check, folder, manifest)
    submission(page, service, check, folder, manifest)
    first_manifest(page, service, check, folder, manifest)
    chosen_parts(page, service, check, folder, manifest)
    strictly(page, service, check, folder, manifest)
    edited_again(page, service, check, folder, manifest)
    small_screens(page, service, check, folder, manifest)
    newcomer.with_service(page, service, check)
    signing_out(page, service, check)


def errors(page, service, check, folder, manifest):
    browser = page.browser
    print('Errors of several runs')
    # Names that mean something in a pattern or in a manifest.
    for name in ('torn {1}.png', '[2].png', "3 *'.png"):
        with open(f'{folder}/torn/{name}', 'wb') as file:
            file.write(b'\x89PNG\r\n\x1a\n torn')
    os.link(f'{folder}/good/0.png', f'{folder}/torn/2.png')
    jobs = [service.wait(service.submit(text=manifest(f'torn-{number}', 'torn/*'), folder=folder)) for number in range(3)]
    page.go('#/errors')
    # Earlier checks may have left runs of this group.
    link = 'a[title="' + jobs[2]['run'] + '"]'
    group = f"[...document.querySelectorAll('.group')].find(one => one.querySelector('{link}'))"
    check('a cause is explained in sentences', browser.wait(f"{group}.querySelector('.explanation').textContent.startsWith('Penumbra cannot read this file as a picture')"), page.text())
    check('each of its three pictures has a thumbnail', browser.wait(f"{group}.querySelectorAll('.thumb').length === 3"), page.text())
    check('its last run is told by the name of its job', 'of torn-2 (' in browser.run(f'{group}.textContent'), browser.run(f'{group}.textContent'))
    retry = f"[...{group}.querySelectorAll('button')].find(one => one.textContent.startsWith('Retry '))"
    text = browser.run(f'{retry}?.textContent')
    ended = service.api('GET', 'errors')
    runs = [part['run'] for part in next(one for one in ended['errors'] if one['last']['run'] == jobs[2]['run'])['runs']]
    check('a group has all its runs, also those between the first one and the last one', all(job['run'] in runs for job in jobs), runs)
    check('the button says how many frames and runs it retries', text and text.startswith('Retry ') and 'runs' in text, text)
    page.picture('errors-of-runs')
    page.accessible('errors of several runs')
    browser.run(f"[...{group}.querySelectorAll('button')].find(one => one.textContent === 'Leave them out …').click()")
    check('there is a line for the manifest of each run', browser.wait(f"{group}.querySelectorAll('.copy code').length >= 3"), page.text())
    line = browser.run(f"[...{group}.querySelectorAll('.copy code')].map(one => one.textContent).find(one => one.includes('torn'))")
    check('it is escaped as a manifest needs it', line == 'exclude: ["torn/3 [*]\'.png", "torn/[[]2].png", "torn/torn {{}1}.png"]', line)
    page.picture('errors-lines')
    again = service.wait(service.submit(text=manifest('torn-0', 'torn/*') + line + '\n', folder=folder))
    frames = service.api('GET', f"runs/{again['run']}/map")['states']
    check('a manifest with it leaves out exactly these pictures', again['state'] == 'done' and len(frames) == 1, (again['state'], frames))
    # Somebody repairs the pictures of all jobs.
    for name in ('torn {1}.png', '[2].png', "3 *'.png"):
        os.remove(f'{folder}/torn/{name}')
        os.link(f'{folder}/good/1.png', f'{folder}/torn/{name}')
    page.go('#/queue')
    page.go('#/errors')
    browser.wait(f'{retry}')
    browser.run(f'{retry}.click()')
    retried = lambda: {job['retry_of'] for job in service.api('GET', 'jobs?limit=200')['jobs'] if job.get('retry_of')}
    check('Retry retries all runs of the group', wait_for(lambda: all(job['id'] in retried() for job in jobs), 20), retried())
    check('and tells of each run what became of it', browser.wait("document.querySelectorAll('.group li.well a[href^=\"#/jobs/\"]').length >= 3", 20), page.text())
    new = {job['retry_of']: job for job in service.api('GET', 'jobs?limit=200')['jobs'] if job.get('retry_of')}
    for job in jobs:
        service.wait(new[job['id']]['id'])
    page.go('#/queue')
    page.go('#/errors')
    repaired = service.api('GET', f"runs/{jobs[1]['run']}/errors")
    check('frames that a later job has published count as repaired', repaired['repaired'] == 3 and page.has('repaired by later jobs'), repaired)
    page.picture('errors-repaired')
    middle = jobs[1]
    number = service.api('GET', f"runs/{middle['run']}/frames?state=failed")['frames'][0]['frame']
    page.go(f"#/runs/{middle['run']}/frames/{number}")
    check('the page of the frame says which job has repaired it', page.has(f"Repaired by job {new[middle['id']]['id']}", '.cause-box'), page.text('.cause-box'))
    page.picture('frame-repaired')


def pauses(page, service, check, folder, manifest):
    browser = page.browser
    print('A pause, from the queue and from the page of the job')
    endless = service.submit(text=manifest('endless-pause', 'endless/*', '[{bilateral: {radius: 45}}]'), folder=folder)
    run = service.wait(endless, ('running',))['run']
    page.go('#/queue')
    row = f"document.getElementById('row-jobs-{endless}')"
    button = lambda text: f"[...{row}.querySelectorAll('button')].find(one => one.textContent === '{text}' && one.offsetParent && !one.disabled)"
    check('a running job has a button that pauses it', browser.wait(button('Pause'), 30), page.text())
    trouble = json.dumps({'type': '/problems/state', 'title': 'No', 'status': 409, 'detail': 'the run has no coordinator', 'remedy': 'wait until it is resumed'}).encode()
    browser.run("document.querySelector('.list').focus()")
    for _ in range(20):
        browser.key('ArrowDown')
        if browser.wait(f"document.querySelector('.list').getAttribute('aria-activedescendant') === 'row-jobs-{endless}'", 1):
            break
    browser.intercept(f'*/runs/{run}/pause', lambda: browser.key('p'), 409, trouble)
    browser.let_go()
    check('if p fails, the error is beside the button, with what to do', browser.wait(f"{row}.querySelector('.trouble:not(:empty)')?.textContent.includes('the run has no coordinator') && {row}.textContent.includes('wait until it is resumed')"), browser.run(f'{row}.textContent'))
    page.picture('queue-pause-fails')
    browser.size(390, 844)
    time.sleep(0.2)
    check('on a phone it leaves the buttons free', browser.run(f"(button => (box => document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2) === button)(button.getBoundingClientRect()))({button('Pause')})"), browser.run(f'{row}.innerHTML'))
    browser.size(1280, 860)
    browser.run(f"{button('Pause')}.click()")
    check('then it is paused', wait_for(lambda: service.api('GET', f'runs/{run}')['state'] == 'paused', 15) and browser.wait(f"{row}.textContent.includes('paused')"), browser.run(f'{row}.textContent'))
    page.picture('queue-paused')
    check('and a button resumes it', browser.wait(button('Resume')))
    browser.run(f"{button('Resume')}.click()")
    check('then it runs', wait_for(lambda: service.api('GET', f'runs/{run}')['state'] == 'running', 15) and browser.wait(button('Pause')), browser.run(f'{row}.textContent'))
    page.go(f'#/jobs/{endless}')
    page.has('running', '.job-head .badge')
    browser.run('document.activeElement.blur()')
    browser.key('p')
    check('p pauses on the page of the job', page.has('paused', '.badge', 20), page.text('.head'))
    check('which says what is still finished', page.has('Workers finish what they have begun, on ', '.reason', 10) or page.has('Workers get nothing to do', '.reason', 1), page.text('.reason'))
    page.picture('job-paused')
    page.accessible('a job that is paused')
    service.api('POST', f'jobs/{endless}/cancel')
    service.wait(endless)
    good = service.wait(service.submit(text=manifest('good-place', 'good/*'), folder=folder))
    for view in (f"#/jobs/{good['id']}", f"#/runs/{good['run']}"):
        page.go(view)
        check(f"{view.split('/')[1]}: the folder of the results can be copied", browser.wait(f"document.querySelector('.results .copy code')?.textContent === {json.dumps(folder + '/out/good-place')}"), page.text('.results'))
    page.picture('run-results')
    os.makedirs(f'{folder}/unreadable')
    for number in range(2):
        with open(f'{folder}/unreadable/{number}.png', 'wb') as file:
            file.write(b'\x89PNG\r\n\x1a\n torn')
    bad = service.wait(service.submit(text=manifest('no-place', 'unreadable/*'), folder=folder))
    page.go(f"#/jobs/{bad['id']}")
    check('a job without results has no folder of results', bad['state'] == 'failed' and page.has('failed', '.badge') and not browser.wait("document.querySelector('.results .copy')", 2), page.text('.results'))


def submission(page, service, check, folder, manifest):
    browser = page.browser
    print('A manifest that is right, and a job that is not')
    page.go('#/submit')
    browser.wait("document.getElementById('manifest')?.offsetParent")
    write = lambda text: (browser.run("document.getElementById('manifest').focus()"), browser.key('a', control=True), browser.paste(text))
    browser.run("document.getElementById('folder').focus()")
    browser.key('a', control=True)
    browser.paste(folder)
    write(manifest('nothing', 'missing/*').rstrip('\n'))
    check('the manifest has letters of one width', browser.run("getComputedStyle(document.getElementById('manifest')).fontFamily.includes('mono')"), browser.run("getComputedStyle(document.getElementById('manifest')).fontFamily"))
    check('the reason stands beside the button', page.has('As it is now, the job would fail', '.submit', 10) and page.has('missing: no such folder', '.submit'), page.text('.submit'))
    check('without options of commands', '--' not in page.text('.submit'), page.text('.submit'))
    check('and the button does not invite any more', browser.run("(button => button && !button.classList.contains('primary'))([...document.querySelectorAll('button')].find(one => one.textContent === 'Submit it anyway'))"))
    check('a preview that fails takes the green words away', page.has('its preview failed', '#findings', 30) and not browser.run("document.querySelector('#findings .well')"), page.text('#findings'))
    page.picture('submit-doubt')
    page.click('Plan')
    check('so does a plan that fails', page.has('its plan failed', '#findings', 30) and not browser.run("document.querySelector('#findings .well')"), page.text('#findings'))
    with open(f'{folder}/good/torn.png', 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n torn')
    write(manifest('partly', 'good/*').rstrip('\n'))
    check('another text is right again', page.has('partly can be submitted', '#findings', 30), page.text('#findings'))
    page.click('Plan')
    check('the plan names the picture that would fail, first', browser.wait("document.querySelector('.planned .rows .row')?.textContent.includes('torn.png') && document.querySelector('.planned .rows .fault')?.textContent.includes('broken or unreadable picture')", 60), page.text('.planned'))
    check('all of its error can be read', browser.run("(one => one.scrollWidth <= one.clientWidth && one.textContent.includes('torn.png') && one.textContent.length > 60)(document.querySelector('.planned ul .trouble'))"), page.text('.planned ul'))
    check('and the words above say so', page.has('1 picture would fail', '#findings'), page.text('#findings'))
    page.picture('submit-plan-fails')
    page.accessible('a plan with a picture that would fail')
    os.remove(f'{folder}/good/torn.png')
    with open(f'{folder}/out/blocked', 'wb') as file:
        file.write(b'a letter')
    write(manifest('blocked', 'good/*').rstrip('\n'))
    page.has('blocked can be submitted', '#findings', 30)
    page.click('Plan')
    check('a plan says what keeps the job from its outputs', page.has('out/blocked: cannot create the folder: Not a directory', '.planned', 30), page.text('.planned'))
    check('and the words above do not call it right', page.has('a run would refuse the job', '#findings'), page.text('#findings'))
    os.remove(f'{folder}/out/blocked')
    browser.run("document.getElementById('preview-input').focus()")
    browser.paste('good/1.png')
    write(manifest('another', 'good/*').rstrip('\n'))
    check('the picture of the preview is not kept for another job', page.has('another can be submitted', '#findings', 30) and browser.run("document.getElementById('preview-input').value") == '', browser.run("document.getElementById('preview-input').value"))
    browser.run("document.getElementById('preview-input').focus()")
    browser.paste('good/none.png')
    check('a wrong picture of the preview says nothing of the job', browser.wait("document.querySelector('.preview .trouble').textContent.includes('none.png')", 20) and page.has('another can be submitted', '#findings', 1), page.text('#findings') + page.text('.preview'))


def drop(browser, name, kind, data, selector='#manifest'):
    """Drops a file as somebody drags it from a folder. `data` is an expression of its content."""
    browser.run(f"""(target => {{
        const files = new DataTransfer();
        files.items.add(new File([{data}], {json.dumps(name)}, {{type: {json.dumps(kind)}}}));
        for (const type of ['dragenter', 'dragover', 'drop']) target.dispatchEvent(new DragEvent(type, {{bubbles: true, cancelable: true, dataTransfer: files}}));
    }})(document.querySelector({json.dumps(selector)}))""")


def first_manifest(page, service, check, folder, manifest):
    browser = page.browser
    print('A manifest of somebody who has never written one')
    page.go('#/queue')
    page.go('#/submit')
    browser.wait("document.getElementById('manifest')?.offsetParent")
    value = lambda: browser.run("document.getElementById('manifest').value")
    write = lambda text: (browser.run("document.getElementById('manifest').focus()"), browser.key('a', control=True), browser.paste(text))
    browser.run("document.getElementById('folder').focus()")
    browser.key('a', control=True)
    browser.paste(folder)
    check('the words are explained', page.has('A manifest is a short text') and page.has('The farm is'), page.text())
    check('folders of earlier jobs are offered', browser.wait("[...document.querySelectorAll('#folders option')].length > 0 && document.getElementById('folder').getAttribute('list') === 'folders'"))
    mine = 'job: mine\ninputs: good/*\nfilters:\n  - gaussian: {radius: 3}\noutput: out/mine/{stem}.png'
    write(mine)
    check('its preview is there', browser.wait("document.querySelectorAll('.preview img').length === 2 && !document.querySelector('.preview').hasAttribute('aria-busy')", 30), page.text('.preview'))
    check('no picture of the page can be dragged', browser.run("[...document.querySelectorAll('.preview img')].every(one => !one.draggable)"))
    drop(browser, 'IMG_0102.png', 'image/png', 'new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13])')
    check('a picture that is dropped says what to do', page.has('IMG_0102.png is a picture, and no manifest', '#view', 5) and page.has('put them into a folder of the farm'), page.text())
    check('and leaves the text as it is', value() == mine, value())
    page.picture('submit-dropped-picture')
    page.accessible('a picture was dropped')
    drop(browser, 'IMG_0103.jpg', 'image/jpeg', 'new Uint8Array(5 << 20)')
    check('so does a large one', page.has('IMG_0103.jpg is a picture', '#view', 5) and value() == mine, page.text())
    drop(browser, 'named.yaml', '', "'job: x' + String.fromCharCode(0)")
    check('a file without text is no manifest, whatever its name', page.has('named.yaml is no text', '#view', 5) and value() == mine, page.text())
    drop(browser, 'other.yaml', 'application/yaml', "'job: other' + String.fromCharCode(10)")
    check('a text takes its place', browser.wait("document.getElementById('manifest').value.startsWith('job: other')", 5), value())
    check('and the refusal goes', browser.wait("!document.querySelector('.submit p.trouble[role=alert]').offsetParent", 5))
    check('a button puts back what was there', page.click('Put back what was there') and value() == mine, value())
    page.click('Example')
    check('there is an example', value().startswith('job: night'), value())
    check('from which one comes back, too', page.click('Put back what was there') and value() == mine and browser.run("document.getElementById('folder').value") == folder, value())
    write('job: keys\ninputs: good/*\nfilters:\n  - gaussian: {radius: 3}')
    browser.key('Enter')
    for letter in 'output':
        browser.key(letter)
    browser.key(':')
    check('a key of the job leaves the list above', value().endswith('{radius: 3}\noutput:'), value())
    browser.paste(' out/keys/{stem}.png')
    check('so it is right', page.has('keys can be submitted', '#findings', 20), page.text('#findings'))
    write('job: keys\ninputs: good/*\noutput: out/{stem}.png\nfilters:\n  - ')
    for letter in 'bl':
        browser.key(letter)
    offered = lambda: browser.run("[...document.querySelectorAll('#completions li')].map(one => one.textContent)")
    check('bl finds what blurs, with a sentence about each', wait_for(lambda: any(one.startswith('gaussian:') and 'Blurs' in one for one in offered()), 5), offered())
    check('all of a sentence can be read', browser.run("[...document.querySelectorAll('#completions li span')].every(one => one.scrollWidth <= one.clientWidth)"), offered())
    page.picture('submit-everyday-word')
    browser.key('Escape')


def chosen_parts(page, service, check, folder, manifest):
    browser = page.browser
    print('A preview of a part that somebody chooses')
    page.go('#/queue')
    page.go('#/submit')
    browser.wait("document.getElementById('manifest')?.offsetParent")
    ready = lambda: browser.wait("document.querySelectorAll('.preview img').length === 2 && !document.querySelector('.preview').hasAttribute('aria-busy')", 30)
    browser.run("document.getElementById('manifest').focus()")
    browser.key('a', control=True)
    browser.paste(manifest('parts', 'endless/*', '[{gaussian: {radius: 3}}]').rstrip('\n'))
    browser.run("(select => { select.value = '128'; select.dispatchEvent(new Event('input', {bubbles: true})); })(document.querySelector('.preview select:not([aria-label])'))")
    check('the whole picture is shown, too', page.has('parts can be submitted', '#findings', 20) and ready() and browser.wait("document.querySelector('.whole canvas')?.offsetParent && document.querySelector('.whole canvas').width === 320", 20), page.text('.preview'))
    page.picture('submit-whole')
    page.accessible('the whole picture of a preview')
    slider = "document.querySelector('.slider input[type=range]')"
    check('the slider stands above the pictures', browser.run(f"{slider}.getBoundingClientRect().bottom <= document.querySelector('.preview figure').getBoundingClientRect().top"))
    place, ends = browser.run(f"{slider}.getBoundingClientRect().top + scrollY"), browser.run(f"{slider}.max")
    browser.run(f"{slider}.focus()")
    browser.key('ArrowRight')
    check('it says that a preview is being made', page.has('being made', '.preview', 5), page.text('.preview'))
    ready()
    check('it stays where it is, and reaches as far', browser.run(f"{slider}.getBoundingClientRect().top + scrollY") == place and browser.run(f"{slider}.max") == ends, [place, ends])
    pixels = """(() => { const image = document.querySelector('.preview .side img'), canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight), context = canvas.getContext('2d');
        context.drawImage(image, 0, 0); return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)].join(); })()"""
    middle = browser.run(pixels)
    box = browser.run("(canvas => { canvas.scrollIntoView({block: 'center'}); const box = canvas.getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; })(document.querySelector('.whole canvas'))")
    for kind in ('mousePressed', 'mouseReleased'):
        browser.call('Input.dispatchMouseEvent', type=kind, x=box[0] + 0.1 * box[2], y=box[1] + 0.9 * box[3], button='left', clickCount=1)
    check('a click on it shows that part', wait_for(lambda: not browser.run("document.querySelector('.preview').hasAttribute('aria-busy')") and browser.run(pixels) != middle, 20), page.text('.preview'))
    check('whose place stands in the fields', browser.run("[...document.querySelectorAll('.preview input[type=number][step=any]')].slice(-2).map(one => Math.round(Number(one.value))).join()") == '10,90')
    corner = browser.run(pixels)
    browser.run("(field => { field.value = ''; field.dispatchEvent(new Event('input', {bubbles: true})); })([...document.querySelectorAll('.preview input[type=number][step=any]')].at(-1))")
    check('one of the fields alone counts, too', wait_for(lambda: not browser.run("document.querySelector('.preview').hasAttribute('aria-busy')") and browser.run(pixels) not in (middle, corner), 20))
    page.click('List the pictures')
    check('the pictures of the job can be listed', browser.wait("document.querySelectorAll('.preview select[aria-label] option').length === 61", 60), page.text('.preview'))
    browser.run("(select => { select.value = 'endless/07.png'; select.dispatchEvent(new Event('change', {bubbles: true})); })(document.querySelector('.preview select[aria-label]'))")
    check('and one is chosen from them', browser.run("document.getElementById('preview-input').value") == 'endless/07.png' and ready(), page.text('.preview'))
    browser.run("document.getElementById('manifest').focus()")
    browser.key('a', control=True)
    browser.paste('job: [')
    check('beside a broken text, the preview says that it is an old one', page.has('preview of an earlier text', '.preview', 10), page.text('.preview'))
    page.picture('submit-old-preview')


def strictly(page, service, check, folder, manifest):
    browser = page.browser
    print('A job for which known problems are failures')
    os.makedirs(f'{folder}/known')
    os.link(f'{folder}/good/0.png', f'{folder}/known/good.png')
    with open(f'{folder}/known/torn.png', 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n torn')
    text = manifest('known', 'known/*').rstrip('\n')
    service.wait(service.submit(text=text, folder=folder))

    def submit(is_strict):
        page.go('#/queue')
        page.go('#/submit')
        browser.wait("document.getElementById('manifest')?.offsetParent")
        for field, value in (('folder', folder), ('manifest', text)):
            browser.run(f"document.getElementById('{field}').focus()")
            browser.key('a', control=True)
            browser.paste(value)
        page.has('known can be submitted', '#findings', 20)
        if is_strict:
            page.press("document.querySelector('.submit details > summary')")
            page.press("[...document.querySelectorAll('.submit details label')].find(one => one.textContent.includes('strict'))?.querySelector('input')")
            page.picture('submit-strict')
            page.accessible('the choices of a submission')
            number = "document.querySelector('.submit details input[type=number]')"
            hand = "[...document.querySelectorAll('#view button')].find(one => one.textContent === 'Submit it')"
            for value, words in (('150', 'The priority is no whole number from 0 to 100'), ('50', '')):
                browser.run(f"(field => {{ field.value = '{value}'; field.dispatchEvent(new Event('input', {{bubbles: true}})); }})({number})")
                check(f'a priority of {value} {"is refused before the job is submitted" if words else "is right again"}', browser.wait(f"{hand}.disabled === {json.dumps(bool(words))} && document.querySelector('.submit details .trouble').textContent.includes({json.dumps(words)})", 5), page.text('.submit details'))
        page.click('Submit it')
        browser.wait("location.hash.startsWith('#/jobs/')")
        return service.wait(browser.run("location.hash.split('/')[2]"))
    job = submit(False)
    check('a picture that is still broken does not fail a job', job['state'] == 'done' and job.get('still_broken') == 1, job)
    job = submit(True)
    check('it fails a job that is strict', job['state'] == 'failed' and job.get('still_broken') == 1, job)


def edited_again(page, service, check, folder, manifest):
    browser = page.browser
    print('A manifest that is edited and submitted again')
    text = manifest('again', 'missing/*')
    job = service.wait(service.submit(text=text, folder=folder))
    page.go('#/submit')
    browser.wait("document.getElementById('manifest')?.offsetParent")
    browser.run("document.getElementById('manifest').focus()")
    browser.key('a', control=True)
    browser.paste('job: draft')
    page.go(f"#/jobs/{job['id']}")
    shown = "document.querySelector('[aria-label=Manifest]')"
    check('the page of a job shows its manifest', browser.wait(f"{shown}?.textContent === {json.dumps(text)}"), page.text())
    check('and says that it is what was submitted', page.has('This is the text that was submitted'), page.text())
    page.picture('job-manifest')
    page.accessible('a job with its manifest')
    fact = lambda term: f"[...document.querySelectorAll('.facts div')].find(one => one.firstChild.textContent === '{term}')?.lastChild.textContent"
    check('and has no path of a file that is not there', browser.wait(f"{fact('Manifest')} === 'a text. Look at it'"), page.text('.facts'))
    check('but the folder of its paths', browser.run(fact('Folder')) == folder, page.text('.facts'))
    page.press("[...document.querySelectorAll('.facts button')].find(one => one.textContent === 'Look at it')")
    check('a button leads to the text', browser.run("document.activeElement.getAttribute('aria-label')") == 'Manifest', browser.run('document.activeElement.outerHTML.slice(0, 90)'))
    page.click('Edit and submit again')
    value = lambda: browser.run("document.getElementById('manifest')?.value")
    check('a button opens it in Submit', browser.wait(f"document.getElementById('manifest')?.value === {json.dumps(text)} && document.getElementById('folder').value === {json.dumps(folder)}"), value())
    check('whose address is that of Submit', browser.run('location.hash') == '#/submit', browser.run('location.hash'))
    check('the draft from before can be put back', page.click('Put back what was there') and value() == 'job: draft', value())
    file = f'{folder}/again.yaml'
    with open(file, 'w') as stream:
        stream.write(manifest('of-a-file', 'good/*'))
    first = service.wait(service.submit(manifest=file))
    page.go(f"#/jobs/{first['id']}")
    check('the text of a file is shown as it is now', browser.wait(f"{shown}?.textContent.startsWith('job: of-a-file')") and page.has('what the file has now'), page.text())
    # The folder of the results comes last, and moves what is below it.
    browser.wait("document.querySelector('.results .copy')")
    opens = lambda: page.click('Edit and submit again') and browser.wait("location.hash.startsWith('#/submit')", 5)
    check('a button opens it, too', opens() or opens(), browser.run('location.hash') + page.text())
    page.has('of-a-file can be submitted', '#findings', 40)
    browser.call('Page.reload')
    check('a reload leaves the text', browser.wait("document.getElementById('manifest')?.value.startsWith('job: of-a-file')"), value())
    check('it can be submitted', page.has('of-a-file can be submitted', '#findings', 40), page.text('#findings'))
    page.click('Submit it')
    browser.wait("location.hash.startsWith('#/jobs/')")
    second = service.wait(browser.run("location.hash.split('/')[2]"))
    check('and is the same manifest for the farm: its outputs are up to date', second['manifest'] == file and second['state'] == 'done', second)
    check('its page names the file that the text stands for', browser.wait(f"{fact('Manifest')}.startsWith('a text in place of the file again.yaml.')"), page.text('.facts'))
    page.go(f"#/jobs/{first['id']}")
    check('the page of a file has its path', browser.wait(f"{fact('Manifest')} === {json.dumps(file)}"), page.text('.facts'))


def small_screens(page, service, check, folder, manifest):
    browser = page.browser
    print('The queue on small screens and in large text')
    with open(f'{folder}/good/torn.png', 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n torn')
    failed = service.wait(service.submit(text=manifest('a-job-with-a-name-that-is-rather-long', 'good/*'), folder=folder))
    os.remove(f'{folder}/good/torn.png')
    held = service.submit(text=manifest('held-for-large-text', 'good/*'), folder=folder, hold=True)
    for width, size in ((390, '100%'), (1280, '200%'), (390, '200%')):
        browser.size(width, 844)
        browser.run(f"document.documentElement.style.fontSize = '{size}'")
        page.go('#/runs')
        page.go('#/queue')
        row = f"document.getElementById('row-jobs-{failed['id']}')"
        browser.wait(row)
        browser.run("document.querySelector('.list').scrollTop = 0")
        name = f'{width} px with text of {size}'
        reached = f"(button => {{ const box = button.getBoundingClientRect(), row = {row}.getBoundingClientRect(); return box.width > 20 && box.height > 20 && box.left >= 0 && box.right <= innerWidth && box.top >= row.top && box.bottom <= row.bottom + 1; }})([...{row}.querySelectorAll('button')].find(one => one.textContent === 'Retry'))"
        browser.run(f"{row}.scrollIntoView({{block: 'center'}})")
        check(f'Retry can be pressed at {name}', browser.wait(reached, 5), browser.run(f"JSON.stringify([...{row}.children].map(one => [one.className, one.getBoundingClientRect().toJSON()]))"))
        check(f'nothing of the list is cut at {name}', browser.run("(list => list.scrollWidth <= list.clientWidth)(document.querySelector('.list')) && document.documentElement.scrollWidth <= innerWidth"), browser.run("[document.querySelector('.list').scrollWidth, document.querySelector('.list').clientWidth, document.documentElement.scrollWidth]"))
        outside = "(box, row) => box.width && (box.bottom > row.bottom + 1 || box.right > row.right + 1)"
        inside = f"[...document.querySelectorAll('.rows .row')].flatMap(row => [...row.querySelectorAll(':scope > *, button, .badge, .job-name')].filter(one => ({outside})(one.getBoundingClientRect(), row.getBoundingClientRect()) || (one.matches('.job-name') && one.getBoundingClientRect().width < 40))).map(one => one.outerHTML.slice(0, 80))"
        check(f'all of a row is within it at {name}', browser.run(inside) == [], browser.run(inside))
        if page.screenshots:
            for dark in (False, True):
                browser.size(width, 844, dark)
                time.sleep(0.2)
                browser.picture(os.path.join(page.screenshots, f"queue-{width}-{size.rstrip('%')}-{'dark' if dark else 'light'}.png"))
    browser.run("document.documentElement.style.fontSize = ''")
    browser.size(1280, 860)
    print('Letters after a field')
    page.go('#/queue')
    browser.run("document.getElementById('filter').focus()")
    browser.paste('held')
    browser.key('Enter')
    browser.wait(f"document.getElementById('row-jobs-{held}')")
    check('Enter leads from the filter to the list', browser.wait("document.activeElement.classList.contains('list')"), browser.run('document.activeElement.outerHTML.slice(0, 90)'))
    browser.key('?')
    check('where letters act', browser.wait("document.getElementById('dialog').open"))
    browser.key('Escape')
    for leave, words in (("document.querySelector('.number')", 'beside it'), ("document.querySelector('header .brand b')", 'on the head of the page')):
        page.go('#/runs')
        page.go('#/queue')
        browser.run("document.getElementById('filter').focus()")
        place = browser.run(f"(box => [box.left + 3, box.top + 3])({leave}.getBoundingClientRect())")
        for kind in ('mousePressed', 'mouseReleased'):
            browser.call('Input.dispatchMouseEvent', type=kind, x=place[0], y=place[1], button='left', clickCount=1)
        browser.key('?')
        check(f'letters act after a click {words}', browser.wait("document.getElementById('dialog').open", 5), browser.run('document.activeElement.outerHTML.slice(0, 90)'))
        browser.key('Escape')
    service.api('POST', f'jobs/{held}/cancel')


def signing_out(page, service, check):
    browser = page.browser
    print('What the browser keeps')
    anna, ben = (service.token(name, 'submit')['token'] for name in ('anna-keeps', 'ben-keeps'))
    draft = lambda: browser.run("document.getElementById('manifest')?.value ?? ''")
    kept = lambda: browser.run('Object.keys(localStorage)')

    def write(text):
        page.go('#/submit')
        browser.wait("document.getElementById('manifest')?.offsetParent")
        browser.run("document.getElementById('manifest').focus()")
        browser.key('a', control=True)
        browser.paste(text)
    os.makedirs(f'{service.folder}/limited', exist_ok=True)
    page.sign_in(service.api('POST', 'tokens', {'name': 'folders', 'scope': 'submit', 'roots': [f'{service.folder}/limited']})['token'])
    page.go('#/submit')
    browser.wait("document.getElementById('manifest')?.offsetParent")
    buttons = "[...document.querySelectorAll('#view button')].map(one => one.textContent)"
    check('a token with folders gets no button that is always refused', browser.run(f"{buttons}.includes('Submit it') && !{buttons}.some(text => ['Plan', 'List the pictures'].includes(text))"), browser.run(buttons))
    page.sign_in(anna)
    write('job: secret-of-anna')
    page.sign_in(anna)
    page.go('#/submit')
    check('a draft stays for the one who wrote it', 'secret-of-anna' in draft(), draft())
    page.sign_in(ben)
    page.go('#/submit')
    check('somebody else does not see it', browser.wait("document.getElementById('manifest')") and 'secret-of-anna' not in draft(), draft())
    check('and it is not in the browser any more', not browser.run("JSON.stringify({...localStorage}).includes('secret-of-anna')"), kept())
    write('job: secret-of-ben')
    browser.run('window.isOld = true')
    page.sign_out()
    check('signing out loads the page anew', browser.wait("document.getElementById('token') && !window.isOld"), page.text('#account'))
    check('and leaves nothing in the browser', kept() == [], kept())
    check('nor in the address', browser.run('location.hash') == '', browser.run('location.hash'))
