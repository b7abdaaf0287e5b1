"""Measures PyPI's diskcache with full durability.

usage: objects.py FOLDER BYTES

Each line of standard input is a command. For each line, prints the time of the command in seconds:

  put N       N values, one transaction each
  replace N   N values under existing keys, one transaction each
  together N  N values by 32 concurrent threads, one transaction each
  batch N     N values in one transaction
  get N       N lookups of 1,000 keys in turn
"""

import sys
import threading
import time

import diskcache

KEYS = 1000


def main():
    folder, size = sys.argv[1], int(sys.argv[2])
    cache = diskcache.Cache(folder, sqlite_synchronous=2)
    assert cache._sql("PRAGMA synchronous").fetchone()[0] == 2
    assert cache._sql("PRAGMA journal_mode").fetchone()[0] == "wal"
    value = bytes(index & 0xFF for index in range(size))
    for key in range(KEYS):
        cache.set(f"key/{key}", value)
    new = 0
    for line in sys.stdin:
        command, count = line.split()
        count = int(count)
        begin = time.perf_counter()
        if command == "put":
            for _ in range(count):
                new += 1
                cache.set(f"new/{new}", value)
        elif command == "replace":
            for index in range(count):
                cache.set(f"key/{index % KEYS}", value)
        elif command == "together":
            first = new
            new += count

            def put_share(thread):
                for index in range(first + thread, first + count, 32):
                    cache.set(f"new/{index + 1}", value, retry=True)

            threads = [threading.Thread(target=put_share, args=(number,)) for number in range(32)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        elif command == "batch":
            with cache.transact():
                for _ in range(count):
                    new += 1
                    cache.set(f"new/{new}", value)
        elif command == "get":
            for index in range(count):
                assert len(cache.get(f"key/{index % KEYS}")) == size
        else:
            sys.exit(f"unknown command {command}")
        print(time.perf_counter() - begin, flush=True)
    cache.close()


if __name__ == "__main__":
    main()
