"""A service that is away in each way once: flaky.py PORT_FILE. It writes its port, and ends when it is killed."""

import http.server
import json
import os
import sys

JOB = {"id": 7, "state": "waiting"}
DONE = {"id": 7, "state": "done", "exit_code": 0, "result": "done"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked = []

    def log_message(self, *arguments):
        pass

    def answer(self, status, value, length=None, **headers):
        body = json.dumps(value).encode()
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.send_header("Content-Length", str(length or len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        key = self.headers["Idempotency-Key"]
        self.asked.append(key)
        if self.asked == [key]:
            return self.answer(429, {}, Retry_After="1")
        if self.asked != [key, key]:
            return self.answer(400, {"title": "another key", "status": 400})
        self.answer(201, JOB)

    def do_GET(self):
        if self.path.startswith("/api/v1/events"):
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.wfile.write(b"id: 1-1\nevent: notice\ndata: {}\n\n")
            self.close_connection = True
            return
        self.asked.append("job")
        count = self.asked.count("job")
        if count == 1:
            return self.answer(503, {})
        if count == 2:
            return self.answer(200, DONE, length=500)
        if count == 3:
            self.close_connection = True
            return
        self.answer(200, DONE)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(server.server_address[1]))
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
