"""Answers in place of a service that has 100,000 frames, 10,000 runs and 10,000 jobs, and of which much happens.

The page's files are the real ones. Only the figures are made up, because a real farm would take hours to get there.
"""
import json
import random
import threading
import time
import urllib.parse

from service import picture

FRAMES, RUNS, JOBS = 100_000, 10_000, 10_000
LIVE = 'job-10000-20261126T180000-live'
PICTURE = picture(48, 36)


def run_line(number, now):
    state = 'running' if number == RUNS else random.Random(number).choice(['done', 'done', 'done', 'failed', 'stopped'])
    name = LIVE if number == RUNS else f'job-{number}-20261120T120000-{number:04d}'
    counts = {'frames': 400, 'work': 400, 'published': 398 if state != 'done' else 400, 'failed': 2 if state == 'failed' else 0, 'skipped': 0, 'kept': 0, 'left': 0,
              'stillBroken': 0, 'megapixels': 800, 'seconds': 40.5, 'bytesWritten': 4_000_000}
    line = {'event': 'run', 'run': name, 'job': ['gallery', 'scans', 'night', 'icons'][number % 4], 'manifest': '/srv/pictures/job.yaml', 'state': state, 'started': '2026-11-20T12:00:00Z',
            'epoch': 1, 'workers': 8, 'work': 400, 'concluded': 400, 'counts': counts}
    if state == 'running':
        line |= {'live': live(now), 'work': FRAMES, 'concluded': 0, 'counts': counts | {'frames': FRAMES, 'work': FRAMES, 'published': 0, 'failed': 0}}
    else:
        line['ended'] = '2026-11-20T12:05:00Z'
    return line


def live(done):
    running = [{'frame': done + slot + 1, 'page': 0, 'kind': 'frame', 'attempt': 1, 'worker': slot, 'slot': slot, 'since': int(time.time() * 1e9), 'file': f'img_{done + slot:06d}.tif'} for slot in range(8)]
    return {'version': 1, 'time': int(time.time() * 1e9), 'seconds': 100.0, 'frames': FRAMES, 'done': done, 'failed': done // 500, 'megapixels': done * 2.0, 'isPaused': False, 'wanted': 8, 'leased': 8,
            'running': running, 'tilesDone': 0, 'tilesPlanned': 0, 'tiled': []}


def job(number):
    state = 'running' if number == JOBS else 'waiting' if number > JOBS - 3000 else 'done'
    line = {'id': number, 'owner': 'uid:1000', 'name': ['gallery', 'scans', 'night', 'icons'][number % 4], 'manifest': '/srv/pictures/job.yaml', 'state': state, 'tries': 0 if state == 'waiting' else 1,
            'priority': 50, 'labels': {'show': 'night'} if number % 3 == 0 else {}, 'after': [], 'submitted': '2026-11-26T18:00:00Z'}
    if state == 'waiting':
        line |= {'position': number - (JOBS - 3000), 'waiting_for': {'kind': 'workers', 'words': 'all workers are in use'}}
    else:
        line |= {'run': LIVE if number == JOBS else f'job-{number}-20261120T120000-{number:04d}', 'started': '2026-11-26T18:00:00Z'}
    return line


def failed_frame(frame):
    return {'frame': frame, 'page': 0, 'input': f'img_{frame:06d}.tif', 'cause': 'broken or unreadable picture', 'message': 'it ends too early', 'outputs': [], 'repaired': False}


def begin_stream(handler):
    """Answers with a stream of events, which the caller writes."""
    handler.send_response(200)
    handler.send_header('Content-Type', 'text/event-stream')
    handler.send_header('Connection', 'close')
    handler.end_headers()
    handler.close_connection = True


class Crowd:
    """A function for the server of developers: `Handler.other`."""

    def __init__(self, frames_of_an_event=150):
        self.frames_of_an_event = frames_of_an_event
        self.states = bytearray(b'.' * FRAMES)
        self.done = 0
        self.event = 0
        self.lock = threading.Lock()

    def step(self):
        """Some frames end. Returns the event."""
        with self.lock:
            first, end = self.done, min(FRAMES - 20, self.done + self.frames_of_an_event)
            changes = []
            for frame in range(first, end):
                letter = 'f' if frame % 500 == 7 else 'p'
                self.states[frame] = ord(letter)
                if changes and changes[-1][2] == letter:
                    changes[-1][1] += 1
                else:
                    changes.append([frame, 1, letter])
            self.done = end
            self.states[end:end + 8] = b'>' * 8
            changes.append([end, 8, '>'])
            self.event += 1
            return {'runs': [{'run': LIVE, 'counts': {}, 'changes': changes}]}

    def __call__(self, handler, method, path, body):
        address = urllib.parse.urlsplit(path)
        query = dict(urllib.parse.parse_qsl(address.query))
        name = address.path.removeprefix('/api/v1/')
        if name == 'events':
            return self.follow(handler)
        value = self.value(name, query)
        if name.endswith('/picture') or name == 'preview':
            handler.answer(200, PICTURE, 'image/png')
        elif value is None:
            handler.answer(404, b'{"type":"/problems/no-picture","title":"There is no such thing","status":404}', 'application/problem+json')
        else:
            handler.answer(200, json.dumps(value).encode(), headers=[('Last-Event-ID', f'crowd-{self.event}')])
        return True

    def value(self, name, query):
        if name == 'session':
            return {'name': 'crowd', 'scope': 'admin', 'expires': None}
        if name == 'status':
            return {'version': '0', 'pid': 1, 'started': '2026-11-26T18:00:00Z', 'uptime': 1, 'drained': False, 'workers': 8, 'runs_open': 1, 'max_runs': 4, 'service_dir': '/s', 'state_dir': '/t',
                    'queue': {'waiting': 2999, 'running': 1, 'done': 7000}}
        if name == 'runs':
            numbers = range(RUNS, 0, -1) if 'ended' not in query else [RUNS]
            return {'runs': [run_line(number, self.done) for number in numbers]}
        if name == f'runs/{LIVE}':
            return run_line(RUNS, self.done)
        if name == f'runs/{LIVE}/map':
            with self.lock:
                return {'event': 'map', 'frames': [[1, FRAMES]], 'states': self.states.decode()}
        if name == f'runs/{LIVE}/frames/1':
            return {'event': 'frame', 'frame': 1, 'page': 0, 'input': '/srv/a/1.jpg', 'outputs': ['/srv/b/1.webp'], 'state': 'published', 'recipes': ['filters:\n  - gaussian: {radius: 8}\noutput: /srv/b/1.webp\n']}
        if name in ('errors', f'runs/{LIVE}/errors'):
            return self.errors()
        if name == f'runs/{LIVE}/frames':
            return self.frames(query)
        if name == f'runs/{LIVE}/job':
            return job(JOBS)
        if name == 'jobs':
            wanted = {'open': ('running', 'waiting'), 'ended': ('done',)}.get(query.get('state'), ('running', 'waiting', 'done'))
            limit, cursor = int(query.get('limit', 100)), int(query.get('cursor', 'j10001')[1:])
            bounds = (JOBS - 3000, JOBS) if wanted == ('running', 'waiting') else (0, JOBS - 3000) if wanted == ('done',) else (0, JOBS)
            numbers = list(range(min(cursor - 1, bounds[1]), bounds[0], -1))
            page = {'jobs': [job(number) for number in numbers[:limit]], 'total': bounds[1] - bounds[0]}
            if len(numbers) > limit:
                page['cursor'] = f'j{numbers[limit - 1]}'
            return page
        if name == 'workers':
            slots = [{'slot': slot, 'worker': slot, 'task': f'{self.done + slot + 1}/frame', 'file': f'img_{self.done + slot:06d}.tif', 'since': '2026-11-26T18:00:00Z', 'attempt': 1} for slot in range(8)]
            return {'runs': [{'run': LIVE, 'job': 'gallery', 'leased': 8, 'wanted': 8, 'processes': [{'pid': 100 + slot, 'resident': 50_000_000} for slot in range(8)], 'slots': slots}]}
        others = {'schedules': {'schedules': []}, 'schema': {}, 'filters': [], 'check': {'job': 'night', 'warnings': []}, 'diagnosis': {'problems': []}, f'runs/{LIVE}/tasks': {'tasks': {}}}
        return others.get(name)

    def frames(self, query):
        limit, first = int(query.get('limit', 100)), int(query.get('after', 0))
        with self.lock:
            ended = [index + 1 for index in range(first, FRAMES) if self.states[index] in b'pf'][:limit + 1]
            lines = [failed_frame(frame) | {'state': 'failed'} if self.states[frame - 1] == ord('f') else
                     {'frame': frame, 'page': 0, 'input': f'img_{frame:06d}.tif', 'outputs': [f'/srv/b/{frame}.webp'], 'state': 'published'} for frame in ended[:limit]]
        return {'frames': lines} | ({'after': str(ended[limit - 1])} if len(ended) > limit else {})

    def failed(self):
        with self.lock:
            return [index + 1 for index, letter in enumerate(self.states) if letter == ord('f')]

    def errors(self):
        """One group with all failed frames."""
        failed = [failed_frame(frame) for frame in self.failed()]
        if not failed:
            return {'errors': [], 'frames': 0, 'repaired': 0, 'runs': [], 'total': 0}
        of_run = [frame | {'run': LIVE} for frame in failed]
        group = {'id': 'a' * 16, 'cause': 'broken or unreadable picture', 'message': failed[0]['message'], 'count': len(failed), 'repaired': 0, 'samples': of_run[:3],
                 'first': of_run[0], 'last': of_run[-1], 'runs': [{'run': LIVE, 'count': len(failed), 'repaired': 0}]}
        return {'errors': [group], 'frames': len(failed), 'repaired': 0, 'runs': [{'run': LIVE, 'name': 'gallery', 'started': '2026-11-26T18:00:00Z', 'manifest': '/srv/a/gallery.yaml', 'job': JOBS}], 'total': 1}

    def follow(self, handler):
        begin_stream(handler)
        turn = 0
        while True:
            parts = [('frames', self.step())]
            if turn % 4 == 0:
                parts.append(('run', {'run': LIVE, 'state': 'running', 'live': live(self.done)}))
            if turn % 8 == 0:
                parts.append(('job', {'id': JOBS, 'job': job(JOBS)}))
            for kind, data in parts:
                handler.wfile.write(f'event: {kind}\nid: crowd-{self.event}\ndata: {json.dumps(data)}\n\n'.encode())
            handler.wfile.flush()
            turn += 1
            time.sleep(0.25)
