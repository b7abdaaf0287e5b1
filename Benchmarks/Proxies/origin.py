"""The server behind the proxies. It counts the requests that it receives.

    /fixed/N     N bytes, fresh for an hour
    /slow/N      N bytes, fresh for an hour, after a second in which all clients send their requests
    /count       the number of requests so far, without those for /count
"""

import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True


class Origin(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    requests = 0
    lock = threading.Lock()

    def do_GET(self):
        _, kind, *rest = self.path.split("/")
        if kind == "count":
            return self.respond(str(Origin.requests).encode(), "no-store")
        with Origin.lock:
            Origin.requests += 1
        if kind == "slow":
            time.sleep(1)
        self.respond(b"x" * int(rest[0]), "max-age=3600")

    def respond(self, body, cache_control):
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", cache_control)
        self.send_header("ETag", f'"{len(body)}"')
        self.send_header("Last-Modified", "Thu, 15 Jan 2026 10:00:00 GMT")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    Server(("127.0.0.1", int(sys.argv[1])), Origin).serve_forever()
