"""Measures hits per second of two Python HTTP caches on a SQLite file, for one response of a local server.

usage: peers.py BYTES SECONDS

Prints one JSON object: {"hishel": hits/s, "requests-cache": hits/s, ...}. Every measured request is a cache hit: the
server counts its requests, and the run fails if one of them reached it.
"""

import json
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Origin(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    body = b""
    requests = 0

    def do_GET(self):
        Origin.requests += 1
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(Origin.body)))
        self.send_header("Cache-Control", "max-age=3600")
        self.send_header("ETag", '"1"')
        self.end_headers()
        self.wfile.write(Origin.body)

    def log_message(self, *arguments):
        pass


def hits_per_second(name, get, url, size, seconds):
    """Stores one response, then counts the hits in a period of time."""
    assert len(get(url)) == size
    for _ in range(50):
        get(url)
    before = Origin.requests
    count = 0
    begin = time.perf_counter()
    while time.perf_counter() - begin < seconds:
        for _ in range(20):
            assert len(get(url)) == size
        count += 20
    spent = time.perf_counter() - begin
    if Origin.requests != before:
        sys.exit(f"{name}: {Origin.requests - before} of the measured requests were not hits")
    return count / spent


def main():
    size, seconds = int(sys.argv[1]), float(sys.argv[2])
    Origin.body = b'{"value":"' + b"x" * (size - 12) + b'"}'
    server = ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/resource"

    import hishel
    import hishel.httpx
    import requests_cache

    rates = {}
    with tempfile.TemporaryDirectory() as folder:
        storage = hishel.SqliteStorage(database_path=str(Path(folder) / "hishel.db"))
        client = hishel.httpx.CacheClient(storage=storage)
        rates["hishel"] = hits_per_second("hishel", lambda address: client.get(address).content, url, size, seconds)
        client.close()
        storage = hishel.SqliteStorage(database_path=str(Path(folder) / "hishel-rules.db"))
        client = hishel.httpx.CacheClient(storage=storage, rfc=True)
        rates["hishel, rules of RFC 9111"] = hits_per_second(
            "hishel", lambda address: client.get(address).content, url, size, seconds)
        client.close()
        session = requests_cache.CachedSession(str(Path(folder) / "requests-cache"), backend="sqlite")
        rates["requests-cache"] = hits_per_second(
            "requests-cache", lambda address: session.get(address).content, url, size, seconds)
        session.close()
    print(json.dumps(rates))


if __name__ == "__main__":
    main()
