"""Measures the service with a long history, a large run, and many who follow it: the answers, the memory, and what the run loses.

    c  one small picture on an idle farm, from its submission to its published output
    d  a job of priority 90 behind a run of 100,000 frames, until it has all workers
    b  200 followers and 1,000 submissions a minute beside a run of 100,000 frames, for five minutes

All of it on a farm with 10,000 ended jobs and their runs. The programs are those of the build, in a folder of their own, as a
package installs them: workers would try each library beside them, and a build has some that no farm has.

Exits with 1 where a bar of ServiceBars.json is missed by more than the tolerance.
"""

import argparse
import ctypes
import datetime
import http.client
import json
import multiprocessing
import os
import re
import selectors
import shutil
import signal
import socket
import sqlite3
import statistics
import struct
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BARS = Path(__file__).with_name("ServiceBars.json")
TOLERANCE = 1.05
PROGRAMS = ["penumbra", "penumbra-worker", "penumbra-service"]
FOLDERS, HISTORY = 100, 10_000
# A median takes long for a small file. So 100,000 frames outlast the measurement, and their pictures need little room.
SIDE, FILTERS = 128, "[{median: {radius: 8}}, {thumbnail: {size: 16}}]"


# HTTP


class SocketConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path, timeout=60):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Address:
    """Of a service: its control socket, or a port with a token."""

    def __init__(self, path=None, port=None, token=None):
        self.path, self.port, self.token = path, port, token

    @property
    def headers(self):
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def connection(self):
        return SocketConnection(self.path) if self.path else http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def socket(self):
        if self.path:
            opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            opened.connect(self.path)
            return opened
        return socket.create_connection(("127.0.0.1", self.port))

    def ask(self, method, path, body=None):
        """The answer's body. One that is no success ends the measurement."""
        connection = self.connection()
        status, answer = exchange(connection, self, method, path, body)
        connection.close()
        if status >= 400:
            sys.exit(f"{method} {path}: {status} {answer[:500].decode()}")
        return json.loads(answer) if answer else None


def exchange(connection, address, method, path, body=None):
    path = path if path == "/metrics" else f"/api/v1{path}"
    connection.request(method, path, None if body is None else json.dumps(body), address.headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


# The farm


class Farm:
    def __init__(self, folder, programs, workers):
        self.folder, self.workers = folder, workers
        self.bin = folder / "bin"
        self.service_folder, self.state = folder / "service", folder / "state"
        self.process = None
        self.port = free_port()
        for name in ("service", "state", "bin", "out", "jobs"):
            shutil.rmtree(folder / name, ignore_errors=True)
            # Nobody else may open the service's folder, for example.
            (folder / name).mkdir(mode=0o700, parents=True)
        for name in PROGRAMS:
            shutil.copy2(programs / name, self.bin / name)
        self.control = Address(path=str(self.service_folder / "control.sock"))
        self.web = None

    def command(self, *words):
        return [str(self.bin / "penumbra"), *map(str, words)]

    def run_alone(self, manifest):
        return self.command("run", "--quiet", "--force", "--state-dir", self.state, manifest)

    def start(self, workers=None):
        """Starts the service, and waits until it answers."""
        self.process = subprocess.Popen(
            self.command(
                "serve", "--listen", f"127.0.0.1:{self.port}", "--service-dir", self.service_folder, "--state-dir", self.state,
                "--workers", workers or self.workers),
            stdin=subprocess.DEVNULL, stdout=open(self.folder / "service.log", "ab"), stderr=subprocess.STDOUT,
            cwd=self.folder)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                self.control.ask("GET", "/status")
                break
            except OSError:
                time.sleep(0.01)
        else:
            sys.exit(f"the service does not start: {self.folder / 'service.log'}")
        if self.web is None:
            token = self.control.ask("POST", "/tokens", {"name": "bench", "scope": "read"})["token"]
            self.web = Address(port=self.port, token=token)

    def end(self, number=signal.SIGTERM):
        """Ends the service; its runs, too, unless it is killed."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait()

    def submit(self, manifest, **members):
        return self.control.ask("POST", "/jobs", {"manifest": str(manifest), **members})

    def job(self, number):
        return self.control.ask("GET", f"/jobs/{number}")

    def wait_for(self, number, seconds=120):
        deadline = time.monotonic() + seconds
        while (job := self.job(number))["state"] in ("waiting", "starting", "running"):
            if time.monotonic() > deadline:
                sys.exit(f"job {number} has not ended: {job}")
            time.sleep(0.05)
        return job

    def wait_for_frames(self, number, count=1):
        """The run of a job, once it has done so many frames."""
        while True:
            job = self.job(number)
            if job["state"] not in ("waiting", "starting", "running"):
                sys.exit(f"job {number} has ended early: {job}")
            if job.get("run") and (self.live(job["run"]) or {}).get("done", 0) >= count:
                return job["run"]
            time.sleep(0.1)

    def live(self, run):
        """What a run reports once a second. None before it does."""
        try:
            return json.loads((self.state / "runs" / run / "live").read_bytes())
        except (OSError, ValueError):
            return None

    def manifest(self, name, inputs, filters, output, more="durability: batch\n"):
        """Large runs make their outputs durable in batches. A single picture would wait for its batch."""
        path = self.folder / "jobs" / f"{name}.yaml"
        path.write_text(
            f"job: {name}\ninputs: {self.folder}/{inputs}\nfilters: {filters}\noutput: {self.folder}/out/{output}\n"
            f"existing: overwrite\n{more}")
        return path


def free_port():
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return opened.getsockname()[1]


def picture(side, seed):
    values = bytes((x * y + 7 * x + seed) & 255 for y in range(side) for x in range(side) for _ in range(3))
    return b"P6\n%d %d\n255\n" % (side, side) + values


def make_crowd(folder, count):
    """As many pictures, in folders. Those of one folder are one file with many names, because only their number counts."""
    crowd = folder / f"crowd-{count}"
    if not (crowd / "done").exists():
        shutil.rmtree(crowd, ignore_errors=True)
        for number in range(FOLDERS):
            place = crowd / f"{number:03}"
            place.mkdir(parents=True)
            first = place / "0000.ppm"
            first.write_bytes(picture(SIDE, number))
            for other in range(1, count // FOLDERS):
                os.link(first, place / f"{other:04}.ppm")
        (crowd / "done").touch()
    return crowd


# History


def copy_history(farm, job, count):
    """Copies an ended job, and all that the farm remembers of its run, until there are so many.

    The programs wrote the rows that are copied, so the copies are what they would have written. Only names, numbers and times
    differ. Making them by 10,000 runs would take an hour. A farm keeps 100 runs of one manifest, so there are many manifests.
    """
    run = job["run"]
    with sqlite3.connect(farm.state / "penumbra.sqlite") as database:
        copy_runs(database, run, count)
    with sqlite3.connect(farm.service_folder / "service.sqlite") as database:
        copy_jobs(database, job["id"], count)


def columns(database, table):
    return [row[1] for row in database.execute(f"PRAGMA table_info({table})")]


def rows(database, table, where, value):
    names = columns(database, table)
    return [dict(zip(names, row)) for row in database.execute(f"SELECT * FROM {table} WHERE {where} = ?", [value])]


def insert(database, table, row):
    names = ", ".join(row)
    database.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", list(row.values()))


def time_text(milliseconds):
    return datetime.datetime.fromtimestamp(milliseconds / 1000, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def history_name(number):
    return f"job-{number}-20200101T000000-0000"


# What a farm keeps of a manifest.
RUNS_OF_JOB, DETAILED = 100, 10


def copy_runs(database, name, count):
    [run] = rows(database, "runs", "name", name)
    [job] = rows(database, "jobs", "id", run["job"])
    kept = {table: rows(database, table, "run", run["id"]) for table in ("frames", "attempts", "publications", "maps")}
    first_run = database.execute("SELECT max(id) FROM runs").fetchone()[0]
    first_job = database.execute("SELECT max(id) FROM jobs").fetchone()[0]
    for number in range(1, count):
        place, owner = number % RUNS_OF_JOB, first_job + 1 + number // RUNS_OF_JOB
        if number == 1 or place == 0:
            insert(database, "jobs", {**job, "id": owner, "manifest": f"{job['manifest']}.{owner}"})
        # The last ones are the latest: an hour between two of them.
        earlier = (count - number) * 3600 * 10**9
        new = {
            **run, "id": first_run + number, "name": history_name(number), "job": owner,
            "started": run["started"] - earlier, "ended": run["ended"] - earlier}
        insert(database, "runs", new)
        for table, found in kept.items():
            # The details of earlier runs are removed.
            if table == "maps" or place >= RUNS_OF_JOB - DETAILED:
                for row in found:
                    insert(database, table, {**row, "run": new["id"]})


def copy_jobs(database, number, count):
    [job] = rows(database, "submissions", "id", number)
    first = database.execute("SELECT max(id) FROM submissions").fetchone()[0]
    for place in range(1, count):
        name = history_name(place)
        # An hour would be too much here: jobs are kept for 90 days.
        earlier = (count - place) * 60 * 1000
        ended = job["ended"] - earlier
        details = {**json.loads(job["details"]), "run": name, "since": time_text(ended)}
        new = {
            **job, "id": first + place, "key": None, "run": name, "submitted": job["submitted"] - earlier, "ended": ended,
            "details": json.dumps(details)}
        insert(database, "submissions", new)
        insert(database, "runs", {"name": name, "submission": new["id"]})


# What is timed


class Watch:
    """Tells when files are published in folders: their last step is a rename."""

    MOVED_TO = 0x80

    def __init__(self, folders):
        self.library = ctypes.CDLL(None, use_errno=True)
        self.file = self.library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self.folders = {}
        for folder in folders:
            number = self.library.inotify_add_watch(self.file, os.fsencode(folder), self.MOVED_TO)
            if number < 0:
                sys.exit(f"{folder} cannot be watched: {os.strerror(ctypes.get_errno())}")
            self.folders[number] = folder
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.file, selectors.EVENT_READ)

    def events(self, seconds):
        """Folders and names of what was published, as soon as there is something. Empty after the time."""
        if not self.selector.select(max(0, seconds)):
            return []
        data, found, place = os.read(self.file, 1 << 20), [], 0
        while place < len(data):
            number, _, _, length = struct.unpack_from("iIII", data, place)
            name = data[place + 16 : place + 16 + length].rstrip(b"\0").decode()
            place += 16 + length
            if number in self.folders and not name.startswith("."):
                found.append((self.folders[number], name))
        return found

    def close(self):
        self.selector.close()
        os.close(self.file)


def spread(seconds):
    """Median, 99 %, worst, in milliseconds."""
    ordered = sorted(seconds)
    rank = max(0, -(-len(ordered) * 99 // 100) - 1)
    return [1000 * value for value in (statistics.median(ordered), ordered[rank], ordered[-1])]


def print_spread(name, seconds, note=""):
    median, most, worst = spread(seconds)
    print(f"{name:44} {len(seconds):6} {median:9.1f} {most:9.1f} {worst:9.1f}{note}", flush=True)


def print_title(title):
    # Others that use the machine explain much.
    print(f"\n### {title}\n\nload {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n", flush=True)


def print_head(what):
    print(f"{what:44} {'count':>6} {'median ms':>9} {'99 % ms':>9} {'worst ms':>9}", flush=True)


# c: one small picture


def small_picture(farm, rounds):
    """From its submission until the output is there, and until the command has ended. Contenders take turns."""
    print_title("c: one small picture on an idle farm")
    (farm.folder / "one.ppm").write_bytes(picture(SIDE, 1))
    place = farm.folder / "out" / "one"
    place.mkdir()
    manifest = farm.manifest("one", "one.ppm", "[{gaussian: {radius: 2}}]", "one/{stem}.ppm", more="")
    watch = Watch([place])
    published = {"penumbra run": [], "POST": [], "penumbra submit --wait": []}
    ended = {"penumbra run": [], "penumbra submit --wait": []}

    def until_published(start):
        while not watch.events(30 - (time.perf_counter() - start)):
            if time.perf_counter() - start > 30:
                sys.exit("the picture was not published")
        return time.perf_counter() - start

    def command(name, words):
        start = time.perf_counter()
        process = subprocess.Popen(words, cwd=farm.folder, stdout=subprocess.DEVNULL)
        published[name].append(until_published(start))
        if process.wait() != 0:
            sys.exit(f"{name}: exit {process.returncode}")
        ended[name].append(time.perf_counter() - start)

    def post():
        start = time.perf_counter()
        job = farm.submit(manifest, force=True)
        published["POST"].append(until_published(start))
        farm.wait_for(job["id"])

    submit = farm.command("submit", "--wait", "--quiet", "--force", "--service-dir", farm.service_folder, manifest)
    for _ in range(rounds):
        command("penumbra run", farm.run_alone(manifest))
        post()
        command("penumbra submit --wait", submit)
        # The service is idle again.
        time.sleep(0.3)
    watch.close()
    print_head("until")
    for name, seconds in published.items():
        print_spread(f"{name}: published", seconds)
    for name, seconds in ended.items():
        print_spread(f"{name}: has ended", seconds)
    floor = statistics.median(published["penumbra run"])
    return {
        "c: POST to published, median ms": spread(published["POST"])[0],
        "c: POST to published, worst ms": spread(published["POST"])[2],
        "c: submit to published, median ms": spread(published["penumbra submit --wait"])[0],
        "c: submit to published, worst ms": spread(published["penumbra submit --wait"])[2],
        "c: POST beside penumbra run alone, ms more": 1000 * (statistics.median(published["POST"]) - floor),
        "c: submit --wait beside the output, ms more": 1000 * (
            statistics.median(ended["penumbra submit --wait"]) - statistics.median(published["penumbra submit --wait"])),
    }


# d: the urgent job


def urgent_job(farm, crowd, frames, rounds):
    """An urgent job has all workers when the large run has published its last frame before the urgent job's end."""
    workers = max(2, os.cpu_count())
    print_title(f"d: a job of priority 90 behind a run of {frames:,} frames, {workers} workers")
    farm.end()
    farm.start(workers)
    large = farm.manifest("large", f"{crowd.name}/**/*.ppm", FILTERS, "large/{dir}/{stem}.ppm")
    places = [farm.folder / "out/large" / place.name for place in crowd.iterdir() if place.is_dir()]
    urgent_place = farm.folder / "out" / "urgent"
    for place in [*places, urgent_place]:
        place.mkdir(parents=True)
    # Enough for each worker that the handing over is seen: some seconds.
    source = farm.folder / "urgent"
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir()
    (source / "0.ppm").write_bytes(picture(8 * SIDE, 3))
    for number in range(1, 16 * workers):
        os.link(source / "0.ppm", source / f"{number}.ppm")
    urgent = farm.manifest("urgent", "urgent/*.ppm", FILTERS, "urgent/{stem}.ppm")
    job = farm.submit(large, force=True)
    farm.wait_for_frames(job["id"], 100)
    watch = Watch([*places, urgent_place])
    first, late, tasks = [], [], []
    for _ in range(rounds):
        while watch.events(0):
            pass
        start = time.perf_counter()
        number = farm.submit(urgent, force=True, priority=90)["id"]
        last_other = begun = None
        outputs = 0
        while outputs < 16 * workers:
            found = watch.events(60)
            if not found:
                sys.exit("the urgent job publishes nothing")
            now = time.perf_counter() - start
            for place, _ in found:
                if place == urgent_place:
                    outputs += 1
                    begun = begun or now
                elif outputs < 15 * workers:
                    last_other = now
        # All workers are busy with tasks of this length until the last of them.
        task = (time.perf_counter() - start - begun) / (outputs - 1) * workers
        first.append(begun)
        # The first output was begun a task earlier. From then on the urgent job wants all workers.
        late.append(max(0, (last_other or 0) - (begun - task)))
        tasks.append(task)
        farm.wait_for(number)
        time.sleep(1)
    watch.close()
    print_head("seconds")
    print_spread("submission to the first urgent output", first)
    print_spread("the large run still publishes", late)
    print_spread("one task of the urgent job", tasks)
    farm.control.ask("POST", f"/jobs/{job['id']}/cancel")
    farm.wait_for(job["id"])
    return {
        "d: all workers after, worst in tasks": max(a / b for a, b in zip(late, tasks)),
        "d: submission to the first output, median ms": spread(first)[0],
    }


# b: many who ask


EVENT, IDENTIFIER = re.compile(rb"\nevent: (\w+)"), re.compile(rb"\nid: (\S+)")


def follow(addresses, begin, end, answers):
    """A process: follows the events by all addresses until the end is set, and counts what comes."""
    selector = selectors.DefaultSelector()
    streams = []
    for address in addresses:
        opened = address.socket()
        head = "".join(f"{name}: {value}\r\n" for name, value in address.headers.items())
        opened.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n{head}\r\n".encode())
        opened.setblocking(False)
        stream = {"rest": b"", "status": None}
        streams.append((opened, stream))
        selector.register(opened, selectors.EVENT_READ, stream)
    counts, byte_count, closed = {}, 0, 0
    # When an event with an id came to the first follower, and to the last one.
    seen = {}
    begin.set()
    while not end.is_set():
        for key, _ in selector.select(0.5):
            stream = key.data
            try:
                data = key.fileobj.recv(1 << 16)
            except BlockingIOError:
                continue
            now = time.monotonic()
            byte_count += len(data)
            if not data:
                selector.unregister(key.fileobj)
                closed += 1
                continue
            # Whole lines. They are searched and not split, because this program shares the machine with what it measures.
            whole, separator, stream["rest"] = (stream["rest"] + data).rpartition(b"\n")
            text = b"\n" + whole + separator
            for name in EVENT.findall(text):
                counts[name] = counts.get(name, 0) + 1
            for number in IDENTIFIER.findall(text):
                seen.setdefault(number, [now, now])[1] = now
            if stream["status"] is None and text.startswith(b"\nHTTP/1.1 "):
                stream["status"] = int(text.split()[1])
    wrong = [stream["status"] for _, stream in streams if stream["status"] != 200]
    answers.put({
        "events": {name.decode(): count for name, count in sorted(counts.items())}, "bytes": byte_count, "closed": closed,
        "wrong": wrong, "fan-out": [last - first for first, last in seen.values()]})


def submit_steadily(address, manifest, seconds, rate, answers):
    """A process: submits at a rate, of which a late answer takes nothing away."""
    connection = address.connection()
    begin, times, refused = time.monotonic(), [], []
    for number in range(int(seconds * rate)):
        wait = begin + number / rate - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        start = time.perf_counter()
        status, answer = exchange(
            connection, address, "POST", "/jobs", {"manifest": manifest, "priority": 10, "labels": {"number": str(number)}})
        times.append(time.perf_counter() - start)
        if status != 201:
            refused.append((status, answer[:200].decode(errors="replace")))
    answers.put({"times": times, "refused": refused, "seconds": time.monotonic() - begin})


def ask_in_turn(address, paths, seconds, rate, answers):
    """A process: asks for one after the other."""
    connection = address.connection()
    times, refused, begin, number = {path: [] for path in paths}, [], time.monotonic(), 0
    while (now := time.monotonic()) < begin + seconds:
        wait = begin + number / rate - now
        if wait > 0:
            time.sleep(wait)
        path = paths[number % len(paths)]
        start = time.perf_counter()
        status, answer = exchange(connection, address, "GET", path)
        times[path].append(time.perf_counter() - start)
        if status != 200:
            refused.append((path, status, answer[:200].decode(errors="replace")))
        number += 1
    answers.put({"times": times, "refused": refused})


class Pace:
    """How fast a run is for some seconds, by what it reports itself."""

    def __init__(self, farm, run, seconds):
        begin, processor = farm.live(run), run_seconds(run)
        time.sleep(seconds)
        end, processor = farm.live(run), run_seconds(run) - processor
        if end is None or end["done"] >= end["frames"]:
            sys.exit("the large run has ended before the measurement; it needs more frames")
        frames = end["done"] - begin["done"]
        self.rate = frames / ((end["time"] - begin["time"]) / 1e9)
        # Tells apart a machine that others use from work that the service causes.
        self.processor = 1000 * processor / frames

    def print(self, name):
        print(f"{name:35} {self.rate:9.1f} frames a second, {self.processor:.2f} ms of processor time a frame", flush=True)


def processor_seconds(process, ended_children=False):
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11 : 15 if ended_children else 13])) / os.sysconf("SC_CLK_TCK")


def run_seconds(run):
    """The processor time of a run's process and its workers."""
    total = 0.0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
            if run.encode() not in words or b"run" not in words:
                continue
            total += processor_seconds(name, ended_children=True)
            children = Path(f"/proc/{name}/task").glob("*/children")
            total += sum(processor_seconds(child) for path in children for child in path.read_text().split())
        except OSError:
            continue
    return total


def peak_memory(process):
    """In megabytes."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:"))


def asked(run):
    """What pages and programs ask for, beside the events."""
    return [
        "/jobs", "/jobs?state=open", "/jobs?state=done&limit=100", "/jobs/1", "/runs?ended=20", f"/runs/{run}",
        f"/runs/{run}/map", f"/runs/{run}/frames?limit=100", f"/runs/{run}/frames/7/attempts", f"/runs/{run}/tasks",
        f"/runs/{run}/errors", "/errors", "/workers", "/status", "/metrics", "/runs"]


def crowded(farm, crowd, frames, followers, seconds, alone_seconds):
    """The run alone, then with the service and all who ask, then alone again, so that a drift of the machine shows.

    The run has half of the machine: otherwise those who ask, which are programs of this measurement, would take the run's time.
    Submitted jobs are less urgent than the run. So they wait, and the run shares its workers with none of them.
    """
    print_title(f"b: {followers} followers, 1,000 submissions a minute for {seconds} s, a run of {frames:,} frames")
    farm.end()
    farm.start()
    large = farm.manifest("large", f"{crowd.name}/**/*.ppm", FILTERS, "large/{dir}/{stem}.ppm")
    small = farm.manifest("one", "one.ppm", "[{gaussian: {radius: 2}}]", "one/{stem}.ppm")
    (farm.folder / "one.ppm").write_bytes(picture(SIDE, 1))
    run = farm.wait_for_frames(farm.submit(large, force=True)["id"], 100)
    # A service that is killed leaves its runs alone.
    farm.end(signal.SIGKILL)
    time.sleep(2)
    before = Pace(farm, run, alone_seconds)
    before.print("alone")

    farm.start()
    answers, begin, end = multiprocessing.Queue(), multiprocessing.Event(), multiprocessing.Event()
    # One token of the web has at most 50 followers.
    addresses = [farm.control if number % 4 else farm.web for number in range(followers)]
    follower = multiprocessing.Process(target=follow, args=(addresses, begin, end, answers))
    follower.start()
    if not begin.wait(60):
        sys.exit("the followers do not come in")
    processor = processor_seconds(farm.process.pid)
    found = {}
    writer = multiprocessing.Process(target=submit_steadily, args=(farm.control, str(small), seconds, 1000 / 60, answers))
    reader = multiprocessing.Process(target=ask_in_turn, args=(farm.web, asked(run), seconds, 15, answers))
    start = time.monotonic()
    for process in (writer, reader):
        process.start()
    within = Pace(farm, run, seconds)
    processor = (processor_seconds(farm.process.pid) - processor) / (time.monotonic() - start)
    for _ in range(2):
        found |= sort_answer(answers.get(timeout=seconds + 300))
    memory = peak_memory(farm.process.pid)
    # Time for the last events.
    time.sleep(2)
    end.set()
    found |= sort_answer(answers.get(timeout=60))
    for process in (writer, reader, follower):
        process.join()
    farm.end(signal.SIGKILL)
    time.sleep(2)
    after = Pace(farm, run, alone_seconds)
    loss = 100 * (1 - 2 * within.rate / (before.rate + after.rate))
    drift = 100 * (1 - after.rate / before.rate)

    within.print("with the service")
    after.print("alone again")
    print(f"{'what the run loses':35} {loss:9.1f} %; between the two times alone it lost {drift:.1f} %")
    print(f"{'processor time of the service':35} {100 * processor:9.1f} % of a core")
    print(f"{'memory of the service, peak':35} {memory:9.1f} MB")
    streams = found["follow"]
    print(
        f"{f'events to {followers} followers':35} {streams['events']}, {streams['bytes'] / 1e6:.0f} MB, "
        f"{streams['closed']} closed")
    for name in ("submit", "ask"):
        if found[name]["refused"]:
            print(f"{name}: {len(found[name]['refused'])} refused, the first: {found[name]['refused'][0]}")
    print(f"{len(found['submit']['times']):,} submissions in {found['submit']['seconds']:.0f} s\n")
    print_head("answer")
    print_spread("POST /jobs", found["submit"]["times"])
    for path, times in found["ask"]["times"].items():
        if times:
            print_spread("GET " + path.replace(run, "RUN"), times)
    print_spread("an event, first to last follower", streams["fan-out"])
    # Each submission is an event for each follower.
    lost = max(0, followers * len(found["submit"]["times"]) - streams["events"].get("job", 0))
    if streams["wrong"]:
        print(f"{len(streams['wrong'])} followers were refused: {sorted(set(streams['wrong']), key=str)}")
    if lost:
        print(f"{lost} events of submissions have not come")
    gets = [value for path, times in found["ask"]["times"].items() for value in times]
    return {
        "b: POST /jobs, worst ms": spread(found["submit"]["times"])[2],
        "b: GET, worst ms": spread(gets)[2],
        "b: an event to all followers, worst ms": spread(streams["fan-out"])[2],
        "b: service's memory, MB": memory,
        "b: the run loses, %": loss,
        "b: refused or lost": len(found["submit"]["refused"]) + len(found["ask"]["refused"]) + streams["closed"]
        + len(streams["wrong"]) + streams["events"].get("reset", 0) + lost,
        "b: submissions took, of their time": found["submit"]["seconds"] / seconds,
    }


def sort_answer(answer):
    if "events" in answer:
        return {"follow": answer}
    return {"submit" if isinstance(answer["times"], list) else "ask": answer}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="LETTERS", default="cdb", help="some of the measurements: cd")
    parser.add_argument("--quick", action="store_true", help="shorter: 30 s of submissions, 10,000 frames, fewer repetitions")
    parser.add_argument("--programs", type=Path, default=ROOT / ".build/release", help="the folder of penumbra")
    parser.add_argument("--work", type=Path, default=ROOT / ".build/bench/service", help="a folder for pictures and state")
    options = parser.parse_args()
    frames = 100_000
    followers, seconds, alone, rounds = 200, 300, 60, 20
    if options.quick:
        seconds, alone, rounds = 30, 10, 8
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    crowd = make_crowd(work, frames)
    farm = Farm(work, options.programs.resolve(), max(1, os.cpu_count() // 2))
    found = {}
    try:
        farm.start()
        (work / "seed.ppm").write_bytes(picture(SIDE, 2))
        seed = farm.manifest("night", "seed.ppm", FILTERS, "{stem}.ppm")
        job = farm.wait_for(farm.submit(seed)["id"])
        if job["state"] != "done":
            sys.exit(f"the first job has failed: {job}")
        farm.end()
        copy_history(farm, job, HISTORY)
        farm.start()
        page = farm.control.ask("GET", "/jobs?state=done&limit=100")
        if page["total"] != HISTORY or len(page["jobs"]) != 100:
            sys.exit(f"the service does not take its history for its own: {page}")
        if "c" in options.only:
            found |= small_picture(farm, rounds)
        if "d" in options.only:
            found |= urgent_job(farm, crowd, frames, max(3, rounds // 2))
        if "b" in options.only:
            found |= crowded(farm, crowd, frames, followers, seconds, alone)
    finally:
        # A run may have outlived a service that was killed. The next one ends it.
        if farm.process is not None:
            if farm.process.poll() is not None:
                farm.start()
            farm.end()
    bars = json.loads(BARS.read_text())
    print("\n### Bars\n")
    missed = 0
    for name, figure in found.items():
        limit = bars[name]
        verdict = "met" if figure <= limit["goal"] else "kept" if figure <= limit["kept"] * TOLERANCE else "WORSE"
        missed += verdict == "WORSE"
        print(f"{name:46} {figure:8.2f}   goal {limit['goal']:g}, kept {limit['kept']:g}: {verdict}", flush=True)
    # Up to 200,000 files.
    for name in ("state", "service", "out"):
        shutil.rmtree(work / name, ignore_errors=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
