"""Looks at everything that shows pictures: the page of a frame, its neighbours and attempts, previews, thumbnails and maps of tiles."""
import base64
import json
import os
import signal
import struct
import tempfile
import time
import urllib.parse
import zlib

from crowd import LIVE, Crowd, begin_stream, live
from service import picture, png_samples, wait_for

POINTS = [(3, 5), (40, 40), (97, 60), (150, 101)]


def tiff(pages):
    """A TIFF of RGB with 8 bits, with a page for each color."""
    side, data, parents = 16, bytearray(b'II*\0\0\0\0\0'), 4
    for color in pages:
        pixels = len(data)
        data += bytes(color) * (side * side)
        bits = len(data)
        data += struct.pack('<HHH', 8, 8, 8)
        entries = [(256, 3, 1, side), (257, 3, 1, side), (258, 3, 3, bits), (259, 3, 1, 1), (262, 3, 1, 2), (273, 4, 1, pixels), (277, 3, 1, 3), (278, 3, 1, side), (279, 4, 1, 3 * side * side)]
        data[parents:parents + 4] = struct.pack('<I', len(data))
        data += struct.pack('<H', len(entries)) + b''.join(struct.pack('<HHII', *entry) for entry in entries)
        parents = len(data)
        data += bytes(4)
    return bytes(data)


def pixels(browser, x, y, width, height):
    """The samples of a part of the screen, in pixels of the screen. The place is in CSS pixels, and may lie below what one sees."""
    with tempfile.NamedTemporaryFile(suffix='.png') as file:
        clip = {'x': x, 'y': y, 'width': width, 'height': height, 'scale': 1}
        file.write(base64.b64decode(browser.call('Page.captureScreenshot', format='png', clip=clip, captureBeyondViewport=True)['data']))
        file.flush()
        return png_samples(file.name)


def exact(samples, own, times=1, offset=(0, 0)):
    """Why pixels of the screen are not squares of a picture's pixels. Empty if they are. Both are (width, height, samples).

    A browser rounds where a picture begins, so the place may be one pixel of the screen beside the expected one.
    """
    width, height, values = samples
    own_width, _, own_values = own
    pixel = lambda list, at: tuple(list[3 * at:3 * at + 3])

    def differs(by_x, by_y):
        for y in range(2, height - 2):
            for x in range(2, width - 2):
                here = pixel(values, y * width + x)
                wanted = pixel(own_values, (offset[1] + (y + by_y) // times) * own_width + offset[0] + (x + by_x) // times)
                if here != wanted:
                    return f'{x},{y}: {here} in place of {wanted}'
        return ''
    found = [differs(by_x, by_y) for by_x in (0, -1, 1) for by_y in (0, -1, 1)]
    return '' if '' in found else found[0]


def box(browser, selector):
    return browser.run(f'(box => [box.left + scrollX, box.top + scrollY, box.width, box.height])(document.querySelector({json.dumps(selector)}).getBoundingClientRect())')


def large_sample(x, y):
    return (7 * x + 3 * y) % 256


def large_picture(width, height):
    """A gray PNG of any size, made row by row of the same bytes."""
    period = bytes(large_sample(x, 0) for x in range(256)) * (width // 256 + 2)
    # Each row is the one above it, moved by so many pixels.
    step = 3 * pow(7, -1, 256) % 256
    packer, packed = zlib.compressobj(1), b''
    for y in range(height):
        start = step * y % 256
        packed += packer.compress(b'\0' + period[start:start + width])
    packed += packer.flush()
    part = lambda kind, data: struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    return b'\x89PNG\r\n\x1a\n' + part(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 0, 0, 0, 0)) + part(b'IDAT', packed) + part(b'IEND', b'')


def large(page, service, check):
    """A picture that is so large that the service makes levels of it."""
    print('A picture of 50 megapixels')
    browser, folder, (width, height) = page.browser, f'{service.folder}/large', (8192, 6144)
    os.makedirs(f'{folder}/photos')
    with open(f'{folder}/photos/wall.png', 'wb') as file:
        file.write(large_picture(width, height))
    job = service.wait(service.submit(folder=folder, text='job: wall\ninputs: photos/*\nfilters: [{gaussian: {radius: 1}}]\noutput: out/{stem}.png\n'))
    browser.size(1280, 860)
    page.go(f"#/runs/{job['run']}/frames/1")
    note = "document.querySelector('.compare .note')?.textContent"
    check('fits when it is made ready', browser.wait(f"/^[\\d.]+ %$/.test({note})", 180), page.text('#view'))
    levels = [name for _, _, names in os.walk(f'{service.folder}/service/thumbnails/large') for name in names]
    check('which it is before and after the filters', levels.count('1.tiff') == 2, levels)
    # All before.
    browser.run("(slider => { slider.value = 1000; slider.dispatchEvent(new Event('input')); })(document.querySelector('.compare input[type=range]'))")
    service.stop(signal.SIGKILL)
    browser.run("[...document.querySelectorAll('.compare button')].find(one => one.textContent === '1:1').click()")
    check('parts that a service which has gone does not give are not called exact', browser.wait(f"{note}.includes('not exact everywhere')"), page.text('.compare .note'))
    service.start()
    check('when it is back, its middle has exact pixels', browser.wait(f"{note} === '1:1, exact pixels'", 180), page.text('.compare .note'))
    left, top, stage_width, stage_height = box(browser, '.compare canvas')
    part = pixels(browser, round(left + 200), round(top + 100), 100, 60)
    first = (round(width / 2 - stage_width / 2) + 200, round(height / 2 - stage_height / 2) + 100)
    own = [large_sample(first[0] + x, first[1] + y) for y in range(-2, 62) for x in range(-2, 102) for _ in range(3)]
    found = exact(part, (104, 64, own), 1, (2, 2))
    check('which are those of the file', not found, found)


def with_service(page, service, check):
    """Pictures of a real run."""
    browser = page.browser
    folder = f'{service.folder}/places'
    os.makedirs(f'{folder}/photos')
    with open(f'{folder}/photos/a.png', 'wb') as file:
        file.write(picture(700, 500, 1))
    with open(f'{folder}/photos/b.tif', 'wb') as file:
        file.write(tiff([(200, 30, 30), (30, 200, 30), (30, 30, 200)]))
    with open(f'{folder}/photos/c.png', 'wb') as file:
        file.write(picture(60, 40, 2))
    browser.size(1280, 860)

    print('The page of a frame, and its neighbours')
    job = service.wait(service.submit(folder=folder, text='job: pages\ninputs: photos/*\nfilters: [{gaussian: {radius: 2}}]\noutput: out/{stem}-{frame}.png\n'))
    page.go(f"#/runs/{job['run']}/frames/1")
    check('the heading is the name of the file', browser.wait("document.querySelector('#view h1').textContent === 'a.png'"), page.text('#view .head'))
    check('so is the title of the page', browser.wait("document.title.startsWith('a.png, picture 1')"), browser.run('document.title'))
    check('the first frame has none before it', browser.wait("document.querySelectorAll('#view .head a.button:not([hidden])').length === 1"), page.text('#view .head'))
    walked = []
    for _ in range(6):
        walked.append(browser.run("location.hash.split('/').at(-1)"))
        browser.wait(f"location.hash.endsWith('/frames/{walked[-1]}') && !document.getElementById('view').hasAttribute('aria-busy') && document.querySelectorAll('#view .head a.button:not([hidden])').length")
        next = "[...document.querySelectorAll('#view .head a.button:not([hidden])')].find(one => one.textContent.includes('next'))"
        if not browser.run(f'!!{next}'):
            break
        page.follow(lambda: browser.run(f'{next}.click()'))
    check('“next” leads through all pages of a picture', walked == ['1', '2', '2p2', '2p3', '3'], walked)
    browser.run('document.activeElement.blur()')
    browser.key('[')
    check('the key [ leads back', browser.wait("location.hash.endsWith('/frames/2p3')"), browser.run('location.hash'))

    print('Exact pixels before and after')
    output = png_samples(f'{folder}/out/a-1.png')
    for scale in (1, 2):
        browser.size(1280, 860, scale=scale)
        page.go(f"#/runs/{job['run']}/frames/1")
        browser.wait("document.querySelector('.compare canvas')")
        browser.run("(slider => { slider.value = 0; slider.dispatchEvent(new Event('input')); })(document.querySelector('.compare input[type=range]'))")
        browser.run("[...document.querySelectorAll('.compare button')].find(one => one.textContent === '1:1').click()")
        check(f'at 1:1 all is there on a screen with {scale} pixels in a CSS pixel', browser.wait("document.querySelector('.compare .note').textContent.startsWith('1:1') && !document.querySelector('.compare .note').textContent.includes('loading')", 30), page.text('.compare .note'))
        left, top, width, height = box(browser, '.compare canvas')
        # The middle of the picture is in the middle of the canvas. The line between both sides is at its left.
        offset = (round(350 - width * scale / 2), round(250 - height * scale / 2))
        start = (max(0, -offset[0]) + 40, max(0, -offset[1]) + 20)
        part = pixels(browser, round(left * scale + start[0]) / scale, round(top * scale + start[1]) / scale, 100, 60)
        found = exact(part, output, 1, (offset[0] + start[0], offset[1] + start[1]))
        check(f'and a pixel of the picture is one of the screen ({scale})', part[0] == 100 * scale and not found, f'{part[:2]} {found}')
    browser.size(1280, 860)

    print('Fingers on a phone')
    browser.size(390, 844, scale=3)
    page.go(f"#/runs/{job['run']}/frames/1")
    browser.wait("document.querySelector('.compare canvas')?.clientWidth > 300 && document.querySelector('.compare .note').textContent.includes('%')")
    browser.run("(slider => { slider.value = 500; slider.dispatchEvent(new Event('input')); })(document.querySelector('.compare input[type=range]'))")
    browser.run("document.querySelector('.compare canvas').scrollIntoView({block: 'center'})")
    left, top, width, height = box(browser, '.compare canvas')
    top -= browser.run('scrollY')
    middle = top + height / 2
    line = lambda: browser.run("Number(document.querySelector('.compare input[type=range]').value)")
    shown = lambda: browser.run("parseFloat(document.querySelector('.compare .note').textContent.replace(/^1:1.*/, '100').replaceAll(',', ''))")
    walk = lambda start, end: [tuple(a + (b - a) * step / 8 for a, b in zip(start, end)) for step in range(9)]
    browser.touch(walk((left + width / 2, middle), (left + width / 4, middle)))
    check('a finger moves the line between before and after', browser.wait("Math.abs(document.querySelector('.compare input[type=range]').value - 250) < 20"), line())
    before = shown()
    browser.touch(walk((left + width * 0.7, middle - 5), (left + width * 0.7, middle - 55)), walk((left + width * 0.7, middle + 5), (left + width * 0.7, middle + 55)))
    check('two fingers zoom', browser.wait(f"parseFloat(document.querySelector('.compare .note').textContent.replaceAll(',', '')) > {before} * 3"), f'{before} {shown()}')
    part = lambda: pixels(browser, left + width / 2, middle + browser.run('scrollY'), 40, 40)
    place = lambda: box(browser, '.compare canvas')[1] - browser.run('scrollY')
    seen = part()
    # A screenshot of a part scrolls.
    top = place()
    browser.touch(walk((left + width * 0.7, middle), (left + width * 0.7 - 60, middle - 40)))
    time.sleep(0.3)
    check('one moves the picture then, and the page stays', abs(place() - top) < 1, f'{place()} {top}')
    check('the picture is moved', part() != seen)
    page.click('Fit')
    browser.wait("document.querySelector('.compare canvas').style.touchAction === 'pan-y'")
    browser.run('scrollTo(0, 0)')
    top = box(browser, '.compare canvas')[1]
    browser.touch(walk((left + width * 0.7, top + height - 10), (left + width * 0.7, top + height - 160)))
    check('over a picture that fits, one scrolls the page', browser.wait('scrollY > 50'), browser.run('scrollY'))
    browser.size(1280, 860)

    print('Exact pixels of a preview')
    manifest = 'job: exact\ninputs: photos/a.png\nfilters: [{gaussian: {radius: 1}}]\noutput: out/exact.png\n'
    page.go('#/submit')
    page.click('A text')
    browser.wait("document.getElementById('manifest')?.offsetParent")
    for field, text in (('folder', folder), ('manifest', manifest)):
        browser.run(f"document.getElementById('{field}').focus()")
        browser.key('a', control=True)
        browser.paste(text)
    browser.wait("document.querySelectorAll('.preview img').length === 2 && !document.querySelector('.preview').hasAttribute('aria-busy')", 30)
    wanted = service.preview(manifest, folder, 'photos/a.png', 256).split(',')
    own = (int(wanted[0]), int(wanted[1]), [int(value) for value in wanted[2:]])
    for width, scale in ((1280, 1), (1280, 2), (390, 1), (390, 3)):
        browser.size(width, 860, scale=scale)
        browser.wait(f"innerWidth === {width} && document.querySelector('.preview .side:nth-of-type(2) img').style.width")
        time.sleep(0.3)
        left, top, shown, _ = box(browser, '.preview .side:nth-of-type(2) img')
        times = round(shown * scale / own[0])
        check(f'at {width} px and {scale} pixels in a CSS pixel, a pixel is a whole number of them', abs(times * own[0] / scale - shown) < 0.01, f'{shown} px for {own[0]}')
        words = page.text('.preview figcaption')
        check('the caption says how many', words == ('1:1, exact pixels' if times == 1 else f'{times}:1, exact pixels: each is {times} × {times} on the screen'), words)
        # Below the word “after” in the corner.
        row = 40 * scale // times + 1
        part = pixels(browser, round(left * scale) / scale, (round(top * scale) + row * times) / scale, 60, 40)
        found = exact(part, own, times, (0, row))
        check('and they are exactly those of penumbra preview', not found, found)
    page.picture('preview-exact')
    browser.size(1280, 860)


class Pictures(Crowd):
    """A run with a frame that is being tiled, and a frame with many attempts. Tests change what is answered."""

    def __init__(self):
        super().__init__(0)
        self.tiled = []
        self.told = []
        self.tag, self.seed = 'one', 1
        self.asked = []
        self.size, self.is_held, self.percent = None, False, None

    def step(self):
        return {'runs': []}

    def __call__(self, handler, method, path, body):
        address = urllib.parse.urlsplit(path)
        if address.path.endswith(('/facts', '/crop')):
            while self.is_held:
                time.sleep(0.05)
        if address.path.endswith('/picture') and self.percent is not None:
            problem = {'type': '/problems/preparing', 'title': 'The picture is being made ready', 'status': 503, 'detail': f'making this picture ready to look around: {self.percent} %'}
            handler.answer(503, json.dumps(problem).encode(), 'application/problem+json', [('Retry-After', '1')])
            return True
        if address.path.endswith('/crop') and self.size:
            handler.answer(200, picture(48, 36, 3), 'image/png')
            return True
        if address.path.endswith('/picture'):
            self.asked.append(handler.headers.get('If-None-Match'))
            headers = [('ETag', f'"{self.tag}"'), ('Cache-Control', 'private, no-cache')]
            if handler.headers.get('If-None-Match') == f'"{self.tag}"':
                handler.answer(304, b'', 'image/png', headers)
            else:
                handler.answer(200, picture(48, 36, self.seed), 'image/png', headers)
            return True
        return super().__call__(handler, method, path, body)

    def value(self, name, query):
        if name == f'runs/{LIVE}':
            line = super().value(name, query)
            line['live']['tiled'] = self.tiled
            return line
        if name == f'runs/{LIVE}/attempts':
            first = int(query.get('after', '1.0').split('.')[1])
            numbers = range(first + 1, min(first + 100, 250) + 1)
            attempts = [{'task': f'1/tile-{number}', 'attempt': 1, 'epoch': 1, 'worker': 1, 'state': 'failed' if number == 7 else 'done', 'started': '2026-11-26T18:00:00Z', 'ended': '2026-11-26T18:00:01Z'} for number in numbers]
            return {'attempts': attempts} | ({'after': f'1.{numbers[-1]}'} if numbers[-1] < 250 else {})
        if name == 'runs':
            answer = super().value(name, query)
            return {'runs': [one | {'job': 'album-schmidt-smaller-than-before'} for one in answer['runs'][:20]]}
        if name == 'errors':
            # The second failed picture is repaired.
            answer = super().value(name, query)
            for group in answer['errors']:
                group['samples'][1]['repaired'] = True
                group['repaired'] = group['runs'][0]['repaired'] = answer['repaired'] = 1
            return answer
        if name.endswith('/facts') and self.size and 'side=before' in urllib.parse.urlencode(query):
            return {'width': self.size[0], 'height': self.size[1], 'format': 'tiff', 'layout': 'rgb', 'samples': 'u8', 'frames': 1, 'bytes': 1000}
        if name.startswith(f'runs/{LIVE}/frames/') and name.count('/') == 3:
            return {'event': 'frame', 'frame': int(name.split('/')[-1]), 'page': 0, 'input': f'/srv/a/night-{name.split("/")[-1]}.tif', 'outputs': [], 'state': 'published', 'recipes': []}
        return super().value(name, query)

    def follow(self, handler):
        begin_stream(handler)
        while True:
            for kind, data in [self.told.pop(0) for _ in range(len(self.told))]:
                handler.wfile.write(f'event: {kind}\ndata: {json.dumps(data)}\n\n'.encode())
            handler.wfile.write(b': alive\n\n')
            handler.wfile.flush()
            time.sleep(0.05)


def frame(number, done='f0'):
    return {'frame': number, 'page': 0, 'tiles': 8, 'columns': 4, 'done': done}


def made_up(page, answers, check):
    """Pictures of a run whose answers are made up."""
    browser = page.browser
    browser.size(1280, 860)
    print('Maps of tiles')
    titles = "[...document.querySelectorAll('.tile-title')].map(one => one.textContent).join('; ')"
    answers.tiled = [frame(1), frame(2)]
    browser.open(page.base + f'#/runs/{LIVE}')
    check('frames that are being tiled have maps, with the names of their files', browser.wait(f"{titles} === 'img_000000.tif, picture 1: 4 of 8 tiles; img_000001.tif, picture 2: 4 of 8 tiles'"), browser.run(titles))
    answers.told.append(('tiles', {'run': LIVE, 'tiled': [frame(2, 'fe'), frame(3)], 'left': [[1, 0]]}))
    check('events change them', browser.wait(f"{titles} === 'img_000001.tif, picture 2: 7 of 8 tiles; img_000002.tif, picture 3: 4 of 8 tiles'"), browser.run(titles))
    # The frames have ended while events were lost.
    answers.tiled = [frame(4)]
    answers.told.append(('reset', {}))
    check('after a reset only those of the answer are there', browser.wait(f"{titles} === 'img_000003.tif, picture 4: 4 of 8 tiles'"), browser.run(titles))
    answers.told.append(('frames', {'runs': [{'run': LIVE, 'counts': {}, 'changes': None}]}))
    answers.tiled = []
    check('and none are left if there are none', browser.wait(f"{titles} === ''"), browser.run(titles))

    print('The time left of a run that was paused')
    tell = lambda done, seconds, is_paused: answers.told.append(('run', {'run': LIVE, 'state': 'paused' if is_paused else 'running', 'live': live(done) | {'seconds': seconds, 'isPaused': is_paused}}))
    tell(10_000, 100, False)
    check('it is estimated from what was done', page.has('15 min 0 s left', '.figures') and page.has('100 pictures/s', '.figures'), page.text('.figures'))
    tell(10_000, 1000, True)
    check('while the run is paused there is none', browser.wait("document.querySelector('.badge.paused') && !/left|estimate|pictures\\/s/.test(document.querySelector('.figures').textContent)"), page.text('.figures'))
    tell(20_000, 1010, False)
    check('after it, only the time since counts', page.has('1 min 20 s left', '.figures') and page.has('1,000 pictures/s', '.figures'), page.text('.figures'))
    page.go('#/queue')
    check('in the queue, too', page.has('1 min 20 s left'), page.text()[:300])
    page.go(f'#/runs/{LIVE}')
    tell(100_000, 1020, False)
    check('and no time is told if all pictures are done', page.has('about to end', '.figures'), page.text('.figures'))
    tell(0, 1, False)

    print('Names on the map of frames')
    answers.states[4] = ord('p')
    answers.told.append(('reset', {}))
    browser.wait("document.querySelector('.legend').textContent.includes('1 published')")
    browser.run("document.querySelector('.map canvas').focus()")
    for _ in range(5):
        browser.key('ArrowRight')
    check('a frame that one stays at is told with the name of its file', page.has('night-5.tif, picture 5: published', '.map-tip') or page.has('night-5.tif', '.map-tip', 1), page.text('.map-tip'))

    print('Thumbnails')
    color = "(image => { if (!image?.naturalWidth) return ''; const canvas = new OffscreenCanvas(48, 36), context = canvas.getContext('2d'); context.drawImage(image, 0, 0); return [...context.getImageData(20, 5, 1, 1).data].join(); })(document.querySelector('.thumbs .thumb img'))"
    check('a picture has the name of its file', browser.wait("[...document.querySelectorAll('.thumb-name')].some(one => one.textContent === 'night-5.tif')"), page.text('.thumbs'))
    browser.wait(f"{color} !== ''")
    check('its link says the name once', browser.run("(link => link.querySelector('img').alt + ' ' + link.querySelector('.thumb-name bdi').textContent)([...document.querySelectorAll('.thumbs a.thumb')].find(one => one.querySelector('img')))").startswith('result night-'), page.text('.thumbs'))
    first = browser.run(color)
    page.go('#/workers')
    page.go(f'#/runs/{LIVE}')
    browser.wait(f"{color} !== ''")
    check('a picture that is the same is not sent again', browser.run(color) == first and answers.asked[-1] == '"one"', answers.asked)
    answers.tag, answers.seed = 'two', 2
    page.go('#/workers')
    page.go(f'#/runs/{LIVE}')
    check('a picture that was repaired is shown as it is now', browser.wait(f"![ '', {json.dumps(first)} ].includes({color})"), browser.run(color))

    print('Errors by the names of pictures and jobs')
    for number in (10, 20, 30):
        answers.states[number] = ord('f')
    page.go('#/errors')
    check('the first and the last picture have their names, and their run that of its job with its start', page.has('img_000011.tif to img_000031.tif of gallery (2026-11-26 ', '.group'), page.text('.group'))
    check('repaired pictures are not counted with the broken ones', page.has('2 failed pictures of the latest runs, and 1 more that is repaired by later jobs, for one reason', '.tools') and page.has('2 pictures, and 1 more that is repaired by later jobs', '.cause'), page.text())
    check('the repaired picture says so, and no other', browser.run("[...document.querySelectorAll('.group .thumb')].map(one => one.textContent).join()").replace('\ufe0e', '') == 'img_000011.tif,img_000021.tif✓ repaired,img_000031.tif', page.text('.group .thumbs'))
    page.picture('errors-some-repaired')

    print('Runs')
    page.go('#/runs')
    check('the name of a job is not cut beside free room', browser.wait("document.querySelector('.job-name')?.textContent.startsWith('album')") and browser.run("(one => one.scrollWidth <= one.clientWidth)(document.querySelector('.job-name'))"), page.text('.rows')[:200])
    check('a time has its zone', browser.run("document.querySelector('.rows time').title").endswith('UTC'), browser.run("document.querySelector('.rows time').title"))
    page.picture('runs-names')

    print('A large picture, from the first moment on')
    answers.size, answers.is_held, answers.percent = (1200, 900), True, 30
    browser.run(f"location.hash = '#/runs/{LIVE}/frames/2'")
    check('before its size is known there is a place for it, which says what is done', page.has('Reading the size of night-2.tif', '.picture .stage') and browser.run("document.querySelector('.picture .stage').clientHeight") > 200, page.text('.picture'))
    check('and for how long', browser.wait(r"/\d s\. The farm makes/.test(document.querySelector('.picture').textContent)"), page.text('.picture'))
    page.picture('frame-size-asked')
    answers.is_held = False
    cover = '.stage .waiting:not([hidden])'
    check('then it says how far it is made ready', browser.wait(f"document.querySelector('{cover}')?.textContent.includes('30 %')"), page.text('.picture'))
    page.picture('frame-made-ready')
    answers.percent = 60
    check('and how this goes on', browser.wait(f"document.querySelector('{cover}')?.textContent.includes('60 %')"), page.text('.picture'))
    check('for screen readers, too', page.has('60 %', '.compare .note'), page.text('.compare .note'))
    answers.percent = None
    check('then the picture is there', browser.wait(f"!document.querySelector('{cover}') && document.querySelector('.compare canvas')"), page.text('.picture'))

    print('The keys of a picture')
    answers.is_held = True
    browser.run('document.activeElement.blur()')
    browser.key('1')
    check('1 shows exact pixels, although the picture does not have the focus', page.has('1:1', '.compare .note') and browser.run('location.hash').endswith('/frames/2'), browser.run('location.hash'))
    check('an enlarged picture is not called exact', page.has('1:1, coarse so far · loading', '.compare .note'), page.text('.compare .note'))
    answers.is_held = False
    check('until its own pixels are there', browser.wait("document.querySelector('.compare .note').textContent === '1:1, exact pixels'"), page.text('.compare .note'))
    browser.key('3')
    check('a digit leads to no other view', browser.run('location.hash').endswith('/frames/2'), browser.run('location.hash'))
    page.follow(lambda: browser.key(']'))
    browser.wait("location.hash.endsWith('/frames/3') && document.querySelector('.compare canvas')")
    browser.key('+')
    check('they act on the next picture, too', page.has('200 %', '.compare .note'), page.text('.compare .note'))
    browser.key('0')
    check('0 fits it again', browser.wait("!document.querySelector('.compare .note').textContent.includes('exact')"), page.text('.compare .note'))
    for name, event in [
        ('a key', "new KeyboardEvent('keydown', {key: '+'})"),
        ('the wheel', "new WheelEvent('wheel', {deltaY: -240, cancelable: true})"),
        ('a double click', "new MouseEvent('dblclick')"),
    ]:
        page.go(f'#/runs/{LIVE}')
        # Before the browser has laid it out.
        browser.run(f"""new MutationObserver((_, me) => {{
            const canvas = document.querySelector('.compare canvas');
            if (canvas) {{ me.disconnect(); canvas.dispatchEvent({event}); }}
        }}).observe(document.getElementById('view'), {{childList: true, subtree: true}})""")
        page.go(f'#/runs/{LIVE}/frames/4')
        check(f'{name} may come as early as the picture', browser.wait("/[1-9].*, exact pixels$/.test(document.querySelector('.compare .note').textContent)"), page.text('.compare .note'))
    answers.percent, answers.tag = 40, 'three'
    page.go(f'#/runs/{LIVE}')
    check('a small picture is made ready as well', page.has('being made ready: 40 %', '.thumbs'), page.text('.thumbs'))
    answers.percent = None
    check('and comes by itself', browser.wait("document.querySelector('.thumbs img')?.naturalWidth"), page.text('.thumbs'))
    answers.size = None

    print('Attempts')
    page.go(f'#/runs/{LIVE}/frames/1')
    count = "document.querySelectorAll('.attempts > li').length"
    check('of many attempts the last hundred are shown', browser.wait(f"{count} === 100 && document.querySelector('.attempts > li:last-child').textContent.includes('tile 251')"), page.text('.attempts')[:200])
    check('and how many there are before them', page.has('150 earlier tries, 1 failed'), page.text('#view section:last-child')[:200])
    page.click('Show 100 more')
    page.click('Show 50 more')
    check('all of them can be seen', browser.wait(f"{count} === 250 && document.querySelector('.attempts > li').textContent.includes('tile 2 ')"), browser.run(count))
    page.picture('frame-attempts')
