"""Processes that are found again for certain, and trees of processes that nothing escapes from."""

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

PR_SET_NAME = 15
PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True)
class Process:
    """A process, by its number, the boot it belongs to and its start in clock ticks since then: numbers are given again."""

    pid: int
    start: int
    boot: str

    @staticmethod
    def of(pid):
        """The process that has this number now, or None."""
        found = _look(pid)
        return Process(pid, found.start, _boot()) if found else None

    @staticmethod
    def read(line):
        pid, start, boot = line.split()
        return Process(int(pid), int(start), boot)

    def __str__(self):
        return f"{self.pid} {self.start} {self.boot}"

    def is_alive(self):
        return Process.of(self.pid) == self

    def send(self, number):
        """Sends a signal to this process and never to another: the descriptor is of one process, whatever its number."""
        with contextlib.suppress(ProcessLookupError):
            descriptor = os.pidfd_open(self.pid)
            try:
                if self.is_alive():
                    signal.pidfd_send_signal(descriptor, number)
            finally:
                os.close(descriptor)

    def descendants(self, without=()):
        """Whatever descends from this process, the eldest first: pairs of process and the kernel's name for it.

        without: names of processes that are left out, with all that descends from them.
        """
        if not self.is_alive():
            return []
        children = {}
        for entry in os.listdir("/proc"):
            if entry.isdigit() and (found := _look(entry)):
                children.setdefault(found.parent, []).append((Process(int(entry), found.start, _boot()), found.name))
        tree, generation = [], [self]
        while generation:
            generation = [child for parent in generation for child in children.get(parent.pid, [])]
            generation = [(process, name) for process, name in generation if name not in without]
            tree += generation
            generation = [process for process, _ in generation]
        return tree


@dataclass(frozen=True)
class _Look:
    name: str
    parent: int
    start: int


def _look(pid):
    """What the kernel says of a process; None for a zombie too, which has ended but for its parent's knowing."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes().decode(errors="replace")
    except OSError:
        return None
    # A name may hold spaces and parentheses.
    name, rest = text.split("(", 1)[1].rsplit(") ", 1)
    state, parent, *fields = rest.split()
    return None if state in "ZX" else _Look(name, int(parent), int(fields[17]))


def _boot():
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def keep(name, command, environment, log, held=()):
    """Starts a daemon below a keeper, and returns the keeper.

    The keeper adopts what the daemon's descendants leave behind: job steps, which Slurm detaches from its daemon, and
    programs that fork twice, begin a session and empty their environment. So whatever a node runs descends from its
    keeper, and is killed with the node. It ends when nothing is left below it. `held`: descriptors it keeps open.
    """
    ready, say_ready = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _keeper(name, command, environment, log, {*held, say_ready}, say_ready)
        finally:
            os._exit(0)
    os.close(say_ready)
    with os.fdopen(ready, "rb") as pipe:
        error = pipe.read().decode()
    if error:
        raise OSError(error)
    return Process.of(pid)


def _keeper(name, command, environment, log, open_descriptors, say_ready):
    os.setsid()
    kernel = ctypes.CDLL(None)
    kernel.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    kernel.prctl(PR_SET_NAME, f"keep-{name}".encode(), 0, 0, 0)
    # Whoever started the cluster may wait for the end of its output.
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor > 2 and descriptor not in open_descriptors:
            with contextlib.suppress(OSError):
                os.close(descriptor)
    with open(os.devnull, "rb") as nothing, open(log, "ab") as output:
        os.dup2(nothing.fileno(), 0)
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    os.chdir("/")
    try:
        subprocess.Popen(command, env=environment, start_new_session=True)
    except OSError as error:
        os.write(say_ready, str(error).encode())
    os.close(say_ready)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


# What slurmd starts to learn a user's environment: the user's login shell.
LOGIN = "su"


def kill_trees(keepers, first=(), seconds=20):
    """Kills whatever lives below these keepers, processes of these names before others, and waits until they are gone.

    The order matters: a job step that sees its program die would report a failure, where a machine that dies is silent.
    Login shells may come to their end for half of the time. They belong to the machine that all nodes share: what a profile
    leaves behind when it is killed, as a lock does, would hold up the logins on the nodes that live on.
    """
    deadline = time.monotonic() + seconds
    while alive := [keeper for keeper in keepers if keeper.is_alive()]:
        spared = [LOGIN] if time.monotonic() < deadline - seconds / 2 else []
        found = [pair for keeper in alive for pair in keeper.descendants(without=spared)]
        for process, name in sorted(found, key=lambda pair: first.index(pair[1]) if pair[1] in first else len(first)):
            process.send(signal.SIGKILL)
        if time.monotonic() > deadline:
            raise TimeoutError(f"still there: {', '.join(f'{name} {process.pid}' for process, name in found)}")
        time.sleep(0.01)
