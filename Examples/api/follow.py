#!/usr/bin/env python3
"""Hands a job in to a service of Penumbra, follows it, and exits as its run does.

    follow.py SOCKET MANIFEST [KEY]        over the control socket
    follow.py http://HOST:PORT MANIFEST    with the token in PENUMBRA_TOKEN

A key names the submission: the program can be killed and started again with the same key, and follows the same job. It needs nothing
but Python's standard library.
"""

import http.client
import json
import os
import socket
import sys
import time
import urllib.parse
import uuid

ENDED = {"done", "work_left", "failed", "stopped", "cancelled", "skipped"}


class SocketConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Away(Exception):
    """The service does not answer at present, or asks to come back later."""

    def __init__(self, reason, pause=2):
        super().__init__(reason)
        self.pause = pause


class Service:
    def __init__(self, address):
        self.address = address

    def open(self, timeout):
        if self.address.startswith("http://"):
            return http.client.HTTPConnection(urllib.parse.urlsplit(self.address).netloc, timeout=timeout)
        return SocketConnection(self.address, timeout)

    def send(self, method, path, body=None, headers=None, timeout=60):
        """The answer, whose body is not read yet. A problem ends the program in its own words."""
        headers = dict(headers or {})
        if token := os.environ.get("PENUMBRA_TOKEN"):
            headers["Authorization"] = f"Bearer {token}"
        if body is not None:
            body = json.dumps(body)
            headers["Content-Type"] = "application/json"
        try:
            connection = self.open(timeout)
            connection.request(method, "/api/v1" + path, body, headers)
            answer = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            raise Away(str(error) or type(error).__name__) from error
        if answer.status >= 500 or answer.status == 429:
            pause = answer.headers.get("Retry-After", "")
            raise Away(f"{answer.status} {answer.reason}", int(pause) if pause.isdigit() else 2)
        if answer.status >= 400:
            refuse(json.load(answer))
        return answer

    def ask(self, method, path, body=None, headers=None, tries=None):
        """The JSON of the answer. The request is repeated until the service answers, so it has to be one that may come twice."""
        while True:
            try:
                answer = self.send(method, path, body, headers)
                try:
                    return json.load(answer)
                except (OSError, http.client.HTTPException, ValueError) as error:
                    raise Away(str(error) or type(error).__name__) from error
            except Away as away:
                tries = tries and tries - 1
                if tries == 0:
                    raise
                tell(away)


def tell(away):
    """Says that the service is away, and waits a little."""
    print(f"lost the service ({away}); trying again", file=sys.stderr)
    time.sleep(min(away.pause, 30))


def refuse(problem):
    print(": ".join(text for text in (problem["title"], problem.get("detail")) if text), file=sys.stderr)
    if problem.get("remedy"):
        print(f"   = {problem['remedy']}", file=sys.stderr)
    for error in problem.get("errors", []):
        print(f"  line {error.get('line', '-')}: {error['message']}", file=sys.stderr)
    sys.exit(65 if problem["status"] == 422 else 69)


def events(service, path):
    """Events as (name, data), for ever. A lost connection is opened again where it was; each time there is an event "open"."""
    last = None
    while True:
        try:
            headers = {"Last-Event-ID": last} if last else {}
            # Every 15 seconds the service shows that it is there.
            answer = service.send("GET", path, headers=headers, timeout=45)
        except Away as away:
            tell(away)
            continue
        yield "open", None
        lines = iter(answer)
        name, data = None, []
        while True:
            try:
                line = next(lines, None)
            except (OSError, http.client.HTTPException) as error:
                print(f"lost the service ({error}); trying again", file=sys.stderr)
                break
            if line is None:
                break
            field, _, value = line.decode().rstrip("\n").partition(": ")
            if field == "id":
                last = value
            elif field == "event":
                name = value
            elif field == "data":
                data.append(value)
            elif not field and name:
                yield name, json.loads("\n".join(data))
                name, data = None, []
        time.sleep(2)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    service = Service(sys.argv[1])
    key = sys.argv[3] if len(sys.argv) == 4 else str(uuid.uuid4())
    body = {"manifest": os.path.abspath(sys.argv[2])}
    try:
        # The key makes it one job, however often the request comes.
        job = service.ask("POST", "/jobs", body, {"Idempotency-Key": key}, tries=4)
    except Away as away:
        print(f"the service does not answer: {away}", file=sys.stderr)
        return 69
    print(f"job {job['id']}: {job['state']}", flush=True)
    return follow(service, job["id"], job["state"])


def follow(service, number, shown):
    for name, data in events(service, f"/events?job={number}"):
        if name == "job":
            job = data["job"]
        elif name in ("open", "reset"):
            # The stream is open already, so no change falls between the two.
            job = service.ask("GET", f"/jobs/{number}")
        else:
            continue
        if job["state"] != shown:
            shown = job["state"]
            print(f"job {number}: {job.get('result') or shown}", flush=True)
        if shown in ENDED:
            return job.get("exit_code", 0 if shown == "done" else 1)


if __name__ == "__main__":
    sys.exit(main())
