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
        connection = self.open(timeout)
        connection.request(method, "/api/v1" + path, body, headers)
        answer = connection.getresponse()
        if answer.status >= 500 or answer.status == 429:
            raise ConnectionError(f"{answer.status} {answer.reason}")
        if answer.status >= 400:
            refuse(json.load(answer))
        return answer


def refuse(problem):
    print(f"{problem['title']}: {problem.get('detail', '')}", file=sys.stderr)
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
            yield "open", None
            name, data = None, []
            for line in answer:
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
        except (OSError, http.client.HTTPException) as error:
            print(f"lost the service ({error}); trying again", file=sys.stderr)
        time.sleep(2)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    service = Service(sys.argv[1])
    key = sys.argv[3] if len(sys.argv) == 4 else str(uuid.uuid4())
    body = {"manifest": os.path.abspath(sys.argv[2])}
    try:
        job = json.load(service.send("POST", "/jobs", body, {"Idempotency-Key": key}))
    except OSError as error:
        sys.exit(f"the service does not answer: {error}")
    print(f"job {job['id']}: {job['state']}", flush=True)
    return follow(service, job["id"], job["state"])


def follow(service, number, shown):
    for name, data in events(service, f"/events?job={number}"):
        if name == "job":
            job = data["job"]
        elif name in ("open", "reset"):
            # The stream is open already, so no change falls between the two.
            job = json.load(service.send("GET", f"/jobs/{number}"))
        else:
            continue
        if job["state"] != shown:
            shown = job["state"]
            print(f"job {number}: {job.get('result') or shown}", flush=True)
        if shown in ENDED:
            return job.get("exit_code", 0 if shown == "done" else 1)


if __name__ == "__main__":
    sys.exit(main())
