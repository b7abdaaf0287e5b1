"""`larder proxy` beside nginx's proxy_cache and a Python proxy on hishel, in turns, under one load.

    proxies.py LARDER [--rounds N] [--seconds S] [--only hits|large|together]

Prints a table of medians and ranges of the rounds' ratios; ends with 1 where a limit is missed.
"""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

import contenders
import load
import processes

LARGE = 1 << 30
MEMORY = 32 << 20
CLIENTS = 100
missed = []


def judge(what, good, limit):
    if not good:
        missed.append(what)
    return f"limit: {limit}  {'ok' if good else 'MISSED'}"


def fill(name, server, path, size):
    """The first request stores, the second is a hit; both give the same bytes."""
    for _ in range(2):
        status, fields, content = load.get(server.port, path)
        if status != 200 or content != b"x" * size:
            sys.exit(f"{name}: {status} with {len(content)} bytes for {path}")
    if name == "larder" and "; hit" not in fields.get("cache-status", ""):
        sys.exit(f"larder: no hit: {fields.get('cache-status')}")


def count(origin):
    return int(load.get(origin.port, "/count")[2])


def hits(servers, origin, size, rounds, seconds):
    """Rounds of one contender after another; what is compared is of one round."""
    path = f"/fixed/{size}"
    for name, server in servers.items():
        fill(name, server, path, size)
        load.requests_a_second(server, path, 1)
    before = count(origin)
    rates = {name: [] for name in servers}
    costs = {name: [] for name in servers}
    for _ in range(rounds):
        for name, server in servers.items():
            rate, cost = load.requests_a_second(server, path, seconds)
            rates[name].append(rate)
            costs[name].append(cost)
    if count(origin) != before:
        sys.exit(f"{count(origin) - before} of the timed requests were no hits")
    print(f"proxy, hits of {size} bytes, {rounds} rounds of {seconds} s, {load.CONNECTIONS} connections:")
    for name in servers:
        print(f"  {name:7} {statistics.median(rates[name]):9.0f} requests/s ({min(rates[name]):.0f} to "
              f"{max(rates[name]):.0f}), {statistics.median(costs[name]) * 1e6:.1f} us of processor time a request")
    for name, limit in (("nginx", 0.8), ("hishel", 10)):
        ratios = [ours / theirs for ours, theirs in zip(rates["larder"], rates[name])]
        middle = statistics.median(ratios)
        print(f"  larder/{name:6} {middle:6.2f} ({min(ratios):.2f} to {max(ratios):.2f})   "
              + judge(f"hits of {size} bytes against {name}", middle >= limit, f"at least {limit}"))


def large(folder, program):
    """One gigabyte: first through the proxy, then from its cache; what memory that took."""
    files = Path(folder) / "files"
    files.mkdir()
    with (files / "large").open("wb") as file:
        file.truncate(LARGE)
    upstream = contenders.nginx_files(Path(folder) / "nginx-files", files)
    address = f"http://127.0.0.1:{upstream.port}"
    print(f"proxy, one resource of {LARGE >> 20} MiB:")
    load.bytes_a_second(upstream.port, "/large", LARGE)
    rates = {}
    for name, start in (
        ("nginx", lambda: contenders.nginx_proxy(Path(folder) / "nginx-large", address)),
        ("larder", lambda: contenders.larder_proxy(Path(folder) / "larder-large", address, program)),
    ):
        server = start()
        before = server.peak_memory()
        rates[name] = [load.bytes_a_second(server.port, "/large", LARGE) for _ in range(2)]
        peak = server.peak_memory()
        print(f"  {name:7} miss {rates[name][0] / 1e6:6.0f} MB/s, then {rates[name][1] / 1e6:6.0f} MB/s; "
              f"peak memory {peak / (1 << 20):.1f} MiB, {before / (1 << 20):.1f} before"
              + ("   " + judge("memory", peak < MEMORY, "under 32 MiB") if name == "larder" else ""))
        server.end()
    print(f"  larder/nginx  miss {rates['larder'][0] / rates['nginx'][0]:.2f}, "
          f"then {rates['larder'][1] / rates['nginx'][1]:.2f}")
    upstream.end()


def together(servers, origin):
    """Many clients of one resource that is not there yet: one request upstream."""
    size = 100_000
    print(f"proxy, {CLIENTS} clients at once of one missing resource of {size} bytes:")
    for name, server in servers.items():
        if name == "hishel":
            continue
        before = count(origin)
        answers = load.at_once(server.port, f"/slow/{size}/{name}", CLIENTS)
        asked = count(origin) - before
        whole = sum(status == 200 and content == b"x" * size for status, _, content in answers)
        verdict = "   " + judge("requests upstream", asked == 1 and whole == CLIENTS, "1") if name == "larder" else ""
        print(f"  {name:7} {whole} whole answers, {asked} requests upstream{verdict}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("larder")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--only", choices=["hits", "large", "together"])
    options = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    print(f"{os.cpu_count()} cores, shared by servers and load; load average {os.getloadavg()[0]:.2f}")
    with tempfile.TemporaryDirectory(prefix="larder-bench-") as folder:
        try:
            run(options, folder)
        finally:
            processes.end_all()
    print("missed: " + ", ".join(missed) if missed else "every limit of the proxy held")
    sys.exit(1 if missed else 0)


def run(options, folder):
    origin = contenders.origin(folder)
    address = f"http://127.0.0.1:{origin.port}"
    servers = {
        "nginx": contenders.nginx_proxy(Path(folder) / "nginx", address),
        "larder": contenders.larder_proxy(Path(folder) / "larder", address, options.larder),
        "hishel": contenders.hishel_proxy(Path(folder) / "hishel", address),
    }
    if options.only in (None, "hits"):
        for size in (1024, 16384):
            hits(servers, origin, size, options.rounds, options.seconds)
    if options.only in (None, "together"):
        together(servers, origin)
    for server in servers.values():
        server.end()
    if options.only in (None, "large"):
        large(folder, options.larder)


if __name__ == "__main__":
    main()
