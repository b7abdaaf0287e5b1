"""Starts servers as child processes, measures them, and ends them even if the benchmark fails."""

import atexit
import ctypes
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

PR_SET_PDEATHSIG = 1
TICKS = os.sysconf("SC_CLK_TCK")
running = []


def free_port():
    """An unused port of the loopback interface, below the ephemeral ports of clients."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port


class Server:
    """A process and its children in one process group, which listen on one port."""

    def __init__(self, arguments, port, log, environment=None):
        self.port = port
        self.log = Path(log)
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                [str(argument) for argument in arguments], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env={**os.environ, **(environment or {})}, start_new_session=True, preexec_fn=die_with_parent)
        running.append(self)
        self.wait_until_listening(arguments[0])

    def wait_until_listening(self, name, seconds=20):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        self.end()
        sys.exit(f"{name} does not listen on port {self.port}:\n{self.log.read_text(errors='replace')[-4000:]}")

    def pids(self):
        """The process ids of the group."""
        group = str(self.process.pid)
        return [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/stat") if group_of(path) == group]

    def cpu_seconds(self):
        """The processor time that the group has used so far."""
        return sum(cpu_ticks(pid) for pid in self.pids()) / TICKS

    def peak_memory(self):
        """The largest peak resident size of a process of the group, in bytes."""
        return max(high_water(pid) for pid in self.pids())

    def end(self):
        """Ends the group, first with SIGTERM, then with SIGKILL. Returns the exit status of its first process."""
        if self in running:
            running.remove(self)
        send(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        send(self.process.pid, signal.SIGKILL)
        return self.process.wait()


def send(group, number):
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        pass


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def group_of(stat):
    try:
        return stat.read_text().rpartition(")")[2].split()[2]
    except OSError:
        return None


def cpu_ticks(pid):
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    except OSError:
        return 0


def high_water(pid):
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


@atexit.register
def end_all():
    for server in list(running):
        server.end()


def stopped(number, frame):
    sys.exit(128 + number)


signal.signal(signal.SIGTERM, stopped)
signal.signal(signal.SIGHUP, stopped)
