"""Clients: wrk for requests a second, sockets of our own for one large and many simultaneous requests."""

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
    """One request: status, header fields in lower case, content."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content


def requests_a_second(server, path, seconds):
    """The rate under wrk, and the server's processor time for a request in seconds. Any failed request ends the run."""
    command = ["wrk", f"-t{THREADS}", f"-c{CONNECTIONS}", f"-d{seconds}s", f"http://127.0.0.1:{server.port}{path}"]
    before = server.cpu_seconds()
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    spent = server.cpu_seconds() - before
    if "Socket errors" in text or "Non-2xx" in text:
        sys.exit(f"failed requests:\n{text}\n{server.log.read_text(errors='replace')[-2000:]}")
    count = int(re.search(r"(\d+) requests in", text)[1])
    return float(re.search(r"Requests/sec:\s*([0-9.]+)", text)[1]), spent / max(count, 1)


def bytes_a_second(port, path, length):
    """Reads one large answer and forgets it as it comes."""
    begin = time.perf_counter()
    with socket.create_connection(("127.0.0.1", port), 60) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
        buffer = memoryview(bytearray(1 << 20))
        count = connection.recv_into(buffer)
        head, separator, rest = bytes(buffer[:count]).partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200") or not separator:
            sys.exit(f"no answer for {path}: {head[:200]!r}")
        received = len(rest)
        while received < length:
            count = connection.recv_into(buffer)
            if count == 0:
                sys.exit(f"{path} broke off after {received} of {length} bytes")
            received += count
    return length / (time.perf_counter() - begin)


def at_once(port, path, clients):
    """Asks for one resource over many connections at the same time; the answers in no order."""
    answers = []
    barrier = threading.Barrier(clients)

    def ask():
        barrier.wait()
        answers.append(get(port, path))

    threads = [threading.Thread(target=ask) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers
