"""Runs a Python module as a test's service, and ends it when the test process ends, however that ends.

    python -I launch.py MODULE [ARGUMENT ...]

The test process holds the other end of standard input and never writes to it. The end of file means that it is gone
(or wants us gone): the service and its children, one process group, are killed. Modules beside this file are found.
"""

import os
import runpy
import signal
import sys
import threading


def follow_parent() -> None:
    while os.read(0, 4096):
        pass
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: launch.py MODULE [ARGUMENT ...]")
    # Sockets that the test process had open while it started this one: by the end of one of them it learns that another
    # program of its own has ended, and leaves that one unreaped for as long as somebody else holds it.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    threading.Thread(target=follow_parent, daemon=True).start()
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    module = sys.argv[1]
    del sys.argv[0]
    # Readiness is read from standard output: a block-buffered pipe would keep it back.
    sys.stdout.reconfigure(line_buffering=True)
    runpy.run_module(module, run_name="__main__", alter_sys=True)
