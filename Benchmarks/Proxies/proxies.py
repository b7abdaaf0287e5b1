"""Compares `larder proxy` with nginx's proxy_cache and a Python proxy on hishel, in alternating rounds with the same load.

    proxies.py LARDER [--rounds N] [--seconds S] [--only hits|large|together]

Prints the medians and ranges of the rounds' ratios. Exits with 1 if a limit is missed.
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


def check(name, is_met, limit):
    if not is_met:
        missed.append(name)
    return f"limit: {limit}  {'ok' if is_met else 'MISSED'}"


def fill(name, server, path, size):
    """Checks that the first request stores the response, the second is a hit, and both return the same bytes."""
    for _ in range(2):
        status, fields, content = load.get(server.port, path)
        if status != 200 or content != b"x" * size:
            sys.exit(f"{name}: {status} with {len(content)} bytes for {path}")
    if name == "larder" and "; hit" not in fields.get("cache-status", ""):
        sys.exit(f"larder: the second request is not a hit: {fields.get('cache-status')}")


def count(origin):
    return int(load.get(origin.port, "/count")[2])


def hits(servers, origin, size, rounds, seconds):
    """Measures hits of one proxy after another in each round, and compares them within the round."""
    path = f"/fixed/{size}"
    for name, server in servers.items():
        fill(name, server, path, size)
        load.requests_per_second(server, path, 1)
    before = count(origin)
    rates = {name: [] for name in servers}
    costs = {name: [] for name in servers}
    for _ in range(rounds):
        for name, server in servers.items():
            rate, cost = load.requests_per_second(server, path, seconds)
            rates[name].append(rate)
            costs[name].append(cost)
    if count(origin) != before:
        sys.exit(f"{count(origin) - before} of the measured requests were not hits")
    print(f"proxy, hits of {size} bytes, {rounds} rounds of {seconds} s, {load.CONNECTIONS} connections:")
    for name in servers:
        print(f"  {name:7} {statistics.median(rates[name]):9.0f} requests/s ({min(rates[name]):.0f} to "
              f"{max(rates[name]):.0f}), {statistics.median(costs[name]) * 1e6:.1f} us of processor time per request")
    for name, limit in (("nginx", 0.8), ("hishel", 10)):
        ratios = [larder / other for larder, other in zip(rates["larder"], rates[name])]
        middle = statistics.median(ratios)
        print(f"  larder/{name:6} {middle:6.2f} ({min(ratios):.2f} to {max(ratios):.2f})   "
              + check(f"hits of {size} bytes against {name}", middle >= limit, f"at least {limit}"))


def large(folder, program):
    """Measures one gigabyte, first through the proxy, then from its cache, and the memory of the proxy."""
    files = Path(folder) / "files"
    files.mkdir()
    with (files / "large").open("wb") as file:
        file.truncate(LARGE)
    upstream = contenders.nginx_files(Path(folder) / "nginx-files", files)
    address = f"http://127.0.0.1:{upstream.port}"
    print(f"proxy, one resource of {LARGE >> 20} MiB:")
    load.bytes_per_second(upstream.port, "/large", LARGE)
    rates = {}
    for name, start in (
        ("nginx", lambda: contenders.nginx_proxy(Path(folder) / "nginx-large", address)),
        ("larder", lambda: contenders.larder_proxy(Path(folder) / "larder-large", address, program)),
    ):
        server = start()
        before = server.peak_memory()
        rates[name] = [load.bytes_per_second(server.port, "/large", LARGE) for _ in range(2)]
        peak = server.peak_memory()
        print(f"  {name:7} miss {rates[name][0] / 1e6:6.0f} MB/s, then {rates[name][1] / 1e6:6.0f} MB/s; "
              f"peak memory {peak / (1 << 20):.1f} MiB, {before / (1 << 20):.1f} before"
              + ("   " + check("memory", peak < MEMORY, "under 32 MiB") if name == "larder" else ""))
        server.end()
    print(f"  larder/nginx  miss {rates['larder'][0] / rates['nginx'][0]:.2f}, "
          f"then {rates['larder'][1] / rates['nginx'][1]:.2f}")
    upstream.end()


def together(servers, origin):
    """Many concurrent clients of one resource that is not stored: there must be one request upstream."""
    size = 100_000
    print(f"proxy, {CLIENTS} concurrent clients of one missing resource of {size} bytes:")
    for name, server in servers.items():
        if name == "hishel":
            continue
        before = count(origin)
        responses = load.concurrent_responses(server.port, f"/slow/{size}/{name}", CLIENTS)
        upstream_requests = count(origin) - before
        complete = sum(status == 200 and content == b"x" * size for status, _, content in responses)
        is_met = upstream_requests == 1 and complete == CLIENTS
        verdict = "   " + check("requests upstream", is_met, "1") if name == "larder" else ""
        print(f"  {name:7} {complete} complete responses, {upstream_requests} requests upstream{verdict}")


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
    print("missed: " + ", ".join(missed) if missed else "all limits of the proxy are met")
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
