"""Clients: wrk for requests per second, and sockets for one large response and for many concurrent requests."""

import http.client
import re
import socket
import subprocess
import sys
import threading
import time

THREADS = 1
CONNECTIONS = 32


def get(port, path):
    """Sends one request. Returns the status, the header fields with names in lower case, and the content."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, {name.lower(): value for name, value in response.getheaders()}, content


def requests_per_second(server, path, seconds):
    """The requests per second of wrk, and the server's processor time per request in seconds. A failed request ends the run."""
    command = ["wrk", f"-t{THREADS}", f"-c{CONNECTIONS}", f"-d{seconds}s", f"http://127.0.0.1:{server.port}{path}"]
    before = server.cpu_seconds()
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    spent = server.cpu_seconds() - before
    if "Socket errors" in text or "Non-2xx" in text:
        sys.exit(f"failed requests:\n{text}\n{server.log.read_text(errors='replace')[-2000:]}")
    count = int(re.search(r"(\d+) requests in", text)[1])
    return float(re.search(r"Requests/sec:\s*([0-9.]+)", text)[1]), spent / max(count, 1)


def bytes_per_second(port, path, length):
    """Receives one large response without storing it. Returns the bytes per second."""
    begin = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port), 60) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
        buffer = memoryview(bytearray(1 << 20))
        count = connection.recv_into(buffer)
        head, separator, content = bytes(buffer[:count]).partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200") or not separator:
            sys.exit(f"no successful response for {path}: {head[:200]!r}")
        received = len(content)
        while received < length:
            count = connection.recv_into(buffer)
            if count == 0:
                sys.exit(f"the response for {path} ended after {received} of {length} bytes")
            received += count
    return length / (time.perf_counter() - begin)


def concurrent_responses(port, path, clients):
    """Requests one resource over many connections at the same time. Returns the responses in any order."""
    responses = []
    barrier = threading.Barrier(clients)

    def send():
        barrier.wait()
        responses.append(get(port, path))

    threads = [threading.Thread(target=send) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return responses
