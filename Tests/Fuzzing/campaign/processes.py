"""Starts a program and watches it until its end: its memory, its descendants, and the files that they write."""

import ctypes
import os
import signal
import struct
import subprocess
import time
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans():
    """Makes this process the parent of all descendants whose own parents end, so that none is lost from sight."""
    if LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def children(process):
    found = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            found += [int(word) for word in Path(f"/proc/{process}/task/{thread}/children").read_text().split()]
    except OSError:
        pass  # The process or a thread has ended meanwhile.
    return found


def descendants(process):
    own = children(process)
    return own + [one for child in own for one in descendants(child)]


def status(process, field):
    """A number of /proc/PID/status, or 0 if the process has ended."""
    try:
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1])
    except (OSError, ValueError):
        pass
    return 0


def words(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return "(ended)"


class WrittenFiles:
    """Which files our descendants have opened for writing, as the kernel reports it. Only root may ask for that.

    The kernel opens each written file for us, those of all other programs too. That costs time if others write much.
    """

    FAN_CLOSE_WRITE, FAN_MARK_ADD, FAN_MARK_FILESYSTEM, FAN_NONBLOCK, FAN_CLOEXEC = 0x8, 0x1, 0x100, 0x2, 0x1
    FAN_UNLIMITED_QUEUE = 0x10

    def __init__(self):
        self.is_watching = False

    def watch(self, folders):
        """Watches the file systems of folders, as far as this user may."""
        flags = self.FAN_CLOEXEC | self.FAN_NONBLOCK | self.FAN_UNLIMITED_QUEUE
        self.file = LIBC.fanotify_init(flags, os.O_RDONLY | os.O_CLOEXEC)
        self.is_watching = self.file >= 0
        for folder in folders if self.is_watching else ():
            if os.path.isdir(folder):
                mark = LIBC.fanotify_mark(
                    self.file, self.FAN_MARK_ADD | self.FAN_MARK_FILESYSTEM, ctypes.c_uint64(self.FAN_CLOSE_WRITE), -100, folder.encode()
                )
                self.is_watching = self.is_watching and mark == 0

    def take(self):
        """(process, path) of what was written since the last call."""
        found = []
        while self.is_watching:
            try:
                events = os.read(self.file, 65536)
            except BlockingIOError:
                break
            place = 0
            while place + 24 <= len(events):
                length, _, _, _, _, file, process = struct.unpack_from("=IBBHQii", events, place)
                if file >= 0:
                    found.append((process, os.readlink(f"/proc/self/fd/{file}")))
                    os.close(file)
                place += length
        return found


class Ended:
    """What came of a program."""

    def __init__(self):
        self.code = 0
        self.output = ""
        self.errors = ""
        self.peak = 0  # resident kB of the program alone
        self.workers_peak = 0
        self.left = []  # what it left running
        self.hung = False
        self.written = set()


def run(arguments, folder, environment, limit, written_files):
    """Runs a program to its end, or kills it with its descendants at the limit in seconds."""
    ended, family = Ended(), set()
    with open(folder / "stdout", "w+b") as output, open(folder / "stderr", "w+b") as errors:
        program = subprocess.Popen(
            arguments, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True
        )
        family.add(program.pid)
        try:
            watch(program, family, ended, limit, written_files)
        except BaseException:
            # The campaign ends, and so does all that it has started.
            for process in [program.pid, *descendants(program.pid)]:
                end(process)
            raise
        ended.written |= {event for event in written_files.take() if event[0] in family}
        ended.code = program.returncode
        output.seek(0)
        errors.seek(0)
        ended.output = output.read().decode(errors="surrogateescape")
        ended.errors = errors.read().decode(errors="surrogateescape")
    ended.left = remaining()
    return ended


def watch(program, family, ended, limit, written_files):
    """Waits for the end of a program, and looks at it fifty times a second."""
    started = time.monotonic()
    while program.poll() is None:
        # The usage that wait4 reports has the peaks of children, and of the program that forked. This file has neither.
        ended.peak = max(ended.peak, status(program.pid, "VmHWM"))
        for child in descendants(program.pid):
            family.add(child)
            ended.workers_peak = max(ended.workers_peak, status(child, "VmHWM"))
        ended.written |= {event for event in written_files.take() if event[0] in family}
        if time.monotonic() - started > limit:
            ended.hung = True
            for process in [program.pid, *descendants(program.pid)]:
                end(process)
        time.sleep(0.02)


def end(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass  # It has ended by itself.


def remaining():
    """What still runs a second after the end of the program. It is killed."""
    deadline = time.monotonic() + 1
    while True:
        reap()
        left = descendants(os.getpid())
        if not left or time.monotonic() > deadline:
            break
        time.sleep(0.02)
    found = [f"{process} {words(process)}" for process in left]
    for process in left:
        end(process)
    while left and descendants(os.getpid()):
        reap()
        time.sleep(0.02)
    return found


def reap():
    """Collects orphans that have ended."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return
