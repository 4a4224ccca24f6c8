"""A real service with folders of its own, and pictures for it."""
import http.client
import importlib.machinery
import importlib.util
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import zlib

HERE = os.path.dirname(os.path.realpath(__file__))


def dev_server():
    loader = importlib.machinery.SourceFileLoader('dev_server', os.path.join(HERE, 'dev-server'))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('dev_server', loader))
    loader.exec_module(module)
    return module


def develop(base):
    """A started server of the page's files for a service, and its address. It is behind a prefix, as behind a proxy."""
    port = free_port()
    server = dev_server().serve(port, base)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f'http://127.0.0.1:{port}/farm/'


def free_port():
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        return one.getsockname()[1]


def wait_for(condition, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False


def picture(width, height, seed=0):
    """A picture with edges and soft parts, as PNG."""
    rows = bytearray()
    for y in range(height):
        rows.append(0)
        for x in range(width):
            block = ((x // 24 + y // 24 + seed) % 2) * 120
            rows += bytes(((x * 255 // width + seed * 40) % 256, (y * 255 // height + block) % 256, (block + seed * 90) % 256))
    part = lambda kind, data: struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    return b'\x89PNG\r\n\x1a\n' + part(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)) + part(b'IDAT', zlib.compress(bytes(rows), 1)) + part(b'IEND', b'')


def png_samples(path):
    """Reads a PNG file of RGB with 8 bits that is not interlaced."""
    data, place, packed = open(path, 'rb').read(), 8, b''
    while place < len(data):
        length, kind = struct.unpack('>I4s', data[place:place + 8])
        part = data[place + 8:place + 8 + length]
        place += 12 + length
        if kind == b'IHDR':
            width, height, depth, color, _, _, interlaced = struct.unpack('>IIBBBBB', part)
            if (depth, color, interlaced) != (8, 2, 0):
                raise SystemExit(f'page-checks: error: {path} is no plain RGB file')
        elif kind == b'IDAT':
            packed += part
    rows, side, before, samples = zlib.decompress(packed), 3 * width, bytes(3 * width), []
    for y in range(height):
        method, row = rows[y * (side + 1)], bytearray(rows[y * (side + 1) + 1:(y + 1) * (side + 1)])
        for x in range(side):
            left, above, corner = row[x - 3] if x >= 3 else 0, before[x], before[x - 3] if x >= 3 else 0
            guess = left + above - corner
            paeth = min((abs(guess - left), 0, left), (abs(guess - above), 1, above), (abs(guess - corner), 2, corner))[2]
            row[x] = (row[x] + (0, left, above, (left + above) // 2, paeth)[method]) % 256
        samples += row
        before = row
    return width, height, samples


class Service:
    """A service with folders of its own."""

    def __init__(self, programs):
        self.penumbra = os.path.join(programs, 'penumbra')
        self.folder = tempfile.mkdtemp(prefix='page-checks-')
        os.makedirs(f'{self.folder}/home')
        self.port = free_port()
        self.process = None
        self.environment = {'PATH': os.environ['PATH'], 'HOME': f'{self.folder}/home', 'XDG_STATE_HOME': f'{self.folder}/home/state', 'LC_ALL': 'C.UTF-8'}
        self.start()

    def start(self):
        self.log = open(f'{self.folder}/service.log', 'ab')
        self.process = subprocess.Popen([self.penumbra, 'serve', '--listen', f'127.0.0.1:{self.port}', '--service-dir', f'{self.folder}/service', '--state-dir', f'{self.folder}/state', '--workers', '2'],
                                        stdout=self.log, stderr=self.log, env=self.environment)
        end = time.monotonic() + 30
        while self.process.poll() is None and time.monotonic() < end:
            try:
                if self.ask('GET', '/healthz', where=None)[0] == 200:
                    return
            except OSError:
                time.sleep(0.1)
        self.log.flush()
        raise SystemExit('page-checks: error: the service did not start\n' + open(f'{self.folder}/service.log').read()[-2000:])

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(60)
        self.log.close()

    def close(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, method, path, body=None, where='control', headers=None):
        if where is None:
            connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=20)
        else:
            connection = http.client.HTTPConnection('localhost', timeout=60)
            connection.connect = lambda: setattr(connection, 'sock', self.control())
        connection.request(method, path, None if body is None else json.dumps(body), headers or {})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, data

    def control(self):
        one = socket.socket(socket.AF_UNIX)
        one.settimeout(60)
        one.connect(f'{self.folder}/service/control.sock')
        return one

    def api(self, method, path, body=None, headers=None):
        """Asks as the administrator of this machine, or by the port if there are headers, which have a token."""
        status, data = self.ask(method, '/api/v1/' + path, body, None if headers else 'control', headers)
        if status >= 400:
            raise SystemExit(f'page-checks: error: {method} {path}: {status} {data.decode()[:300]}')
        return json.loads(data) if data else None

    def token(self, name, scope):
        return self.api('POST', 'tokens', {'name': name, 'scope': scope})

    def submit(self, **body):
        return self.api('POST', 'jobs', body)['id']

    def preview(self, manifest, folder, picture, size):
        """The width, the height and the samples of what the command makes of the middle of a picture."""
        with open(f'{folder}/preview.yaml', 'w') as file:
            file.write(manifest)
        made = f'{self.folder}/preview.png'
        done = subprocess.run([self.penumbra, 'preview', 'preview.yaml', picture, '--size', str(size), '--state-dir', f'{self.folder}/state', '--force', '-o', made],
                              cwd=folder, env=self.environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f'page-checks: error: penumbra preview: {done.stderr}')
        width, height, samples = png_samples(made)
        return ','.join(map(str, [width, height, *samples]))

    def wait(self, job, states=('done', 'failed', 'stopped', 'cancelled', 'skipped', 'work_left'), seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.api('GET', f'jobs/{job}')
            if found['state'] in states:
                return found
            time.sleep(0.1)
        raise SystemExit(f'page-checks: error: job {job} did not end')
