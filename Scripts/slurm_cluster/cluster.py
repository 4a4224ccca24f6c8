"""A cluster in a folder: its daemons, which are started, killed, paused and found again by what is written down there."""

import contextlib
import fcntl
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from .configuration import epilog, require_address, reserve_ports, slurm_conf
from .processes import Process, keep, kill_trees

# Where Debian has them; a user's PATH may lack the system's.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Daemons of a machine before its programs: what is dead reports nothing.
DAEMONS = ("slurmd", "slurmstepd")
START_SECONDS = 30


class Trouble(Exception):
    def __init__(self, message, code=1):
        super().__init__(message)
        self.code = code


class Cluster:
    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.facts_file = self.folder / "cluster.json"

    # What is written down

    @property
    def facts(self):
        try:
            return json.loads(self.facts_file.read_text())
        except FileNotFoundError:
            raise Trouble(f"{self.folder} holds no cluster: Scripts/slurm-cluster start {self.folder}", 66) from None

    @property
    def nodes(self):
        return [f"n{number}" for number in range(1, self.facts["nodes"] + 1)]

    @property
    def place(self):
        """The folder by the name that the daemons know."""
        return Path(self.facts["place"])

    def keepers(self, part):
        """The living keepers of a part. A node whose slurmd was killed alone and started again has two."""
        file = self.folder / "run" / part
        lines = file.read_text().splitlines() if file.exists() else []
        return [keeper for keeper in map(Process.read, lines) if keeper.is_alive()]

    def everything(self):
        return [keeper for part in ("controller", "munge", *self.nodes) for keeper in self.keepers(part)]

    @contextlib.contextmanager
    def locked(self):
        """Commands on a cluster come one after the other."""
        with open(self.folder / "lock", "w") as lock:
            deadline = time.monotonic() + START_SECONDS
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise Trouble(f"another command has worked on {self.folder} for {START_SECONDS} s") from None
                    time.sleep(0.05)
            yield

    # Starting

    def start(self, nodes, cpus, base, changes):
        if self.facts_file.exists() and self.everything():
            raise Trouble(f"the cluster of {self.folder} is running: Scripts/slurm-cluster stop {self.folder}")
        if not self.facts_file.exists() and set(os.listdir(self.folder)) - {"lock"}:
            raise Trouble(f"{self.folder} holds something else: give a new folder, or an empty one", 73)
        require_address()
        for name in ("state", "spool", "run", "log"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
            (self.folder / name).mkdir()
        # Two clusters that start at once find different ports, since these stay reserved until munged's keeper has them.
        first, reservations = reserve_ports(nodes + 1, base)
        place = _short_name(self.folder)
        self.facts_file.write_text(json.dumps({"nodes": nodes, "place": place, "port": first}) + "\n")
        (self.place / "slurm.conf").write_text(slurm_conf(place, nodes, cpus, first, changes))
        (self.place / "epilog").write_text(epilog(place))
        (self.place / "epilog").chmod(0o755)
        try:
            self.start_munge([one.fileno() for one in reservations])
            self.start_controller()
            for node in self.nodes:
                self._launch_node(node)
            self._wait_for_nodes()
        except BaseException:
            self.stop(graceful=False)
            raise

    def start_munge(self, held=()):
        place = self.place
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(128))
        # Forced: otherwise it refuses a socket below a folder that only its owner may enter, as temporary ones are.
        self._launch("munge", [
            "munged", "--foreground", "--force", f"--key-file={key}", f"--socket={place}/munge.socket",
            f"--pid-file={place}/run/munged.pid", f"--seed-file={place}/run/munged.seed", "--num-threads=2",
        ], held)  # fmt: skip
        self._wait("munge", lambda: (place / "munge.socket").is_socket())

    def start_controller(self):
        self._refuse_second("controller", "slurmctld")
        self._launch("controller", ["slurmctld", "-D", "-f", f"{self.place}/slurm.conf"])
        self._wait("controller", lambda: _listens(self.facts["port"]))

    def start_node(self, node):
        self._refuse_second(node, "slurmd")
        self._launch_node(node)
        self._wait(node, lambda: _listens(self.facts["port"] + int(node[1:])))

    def _launch_node(self, node):
        (self.folder / "spool" / node).mkdir(exist_ok=True)
        self._launch(node, ["slurmd", "-D", "-N", node, "-f", f"{self.place}/slurm.conf"])

    def _launch(self, part, command, held=()):
        environment = {"PATH": PATH, "LC_ALL": "C.UTF-8", "HOME": str(self.folder), "SLURM_CONF": f"{self.place}/slurm.conf"}
        program = shutil.which(command[0], path=PATH)
        keeper = keep(part, [program, *command[1:]], environment, self.folder / "log" / f"{part}.output", held)
        with open(self.folder / "run" / part, "a") as record:
            record.write(f"{keeper}\n")

    def _refuse_second(self, part, daemon):
        if any(name == daemon for keeper in self.keepers(part) for _, name in keeper.descendants()):
            raise Trouble(f"{part} is running")

    def _wait(self, part, is_there):
        deadline = time.monotonic() + START_SECONDS
        while not is_there():
            if not self.keepers(part):
                raise Trouble(f"{part} ended as it started:\n{self._last_lines(part)}", 70)
            if time.monotonic() > deadline:
                raise Trouble(f"{part} did not start in {START_SECONDS} s:\n{self._last_lines(part)}", 70)
            time.sleep(0.01)

    def _wait_for_nodes(self):
        for node in self.nodes:
            self._wait(node, lambda: set(self.states()) == set(self.nodes) and self.states()[node] == "idle")

    # What goes on

    def states(self):
        """Each node's state, as the controller sees it; nothing while it does not answer."""
        answer = self.ask("sinfo", "--noheader", "--Node", "--format=%N %t")
        return dict(line.split() for line in answer.splitlines())

    def ask(self, *command):
        """What a command of Slurm prints; nothing if it fails."""
        environment = {**os.environ, "PATH": PATH, "SLURM_CONF": f"{self.place}/slurm.conf"}
        try:
            return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=10).stdout
        except subprocess.TimeoutExpired:
            return ""

    def status(self):
        """Lines about each part: its processes, and the nodes' states."""
        states = self.states() if self.keepers("controller") else {}
        for part in ("munge", "controller", *self.nodes):
            processes = [pair for keeper in self.keepers(part) for pair in keeper.descendants()]
            told = " ".join(f"{name}:{process.pid}" for process, name in processes) or "dead"
            yield f"{part:<10} {states.get(part, '-'):<6} {told}"

    def _last_lines(self, part):
        # Slurm's daemons write everything to both; what ends before there is a log says so in the second alone.
        files = [self.folder / "log" / f"{part}.{kind}" for kind in ("log", "output")]
        written = [file for file in files if file.exists() and file.stat().st_size][:1]
        return "\n".join(f"{file}: {line}" for file in written for line in file.read_text().splitlines()[-5:])

    # Faults

    def kill_node(self, node):
        kill_trees(self.keepers(node), first=DAEMONS)

    def kill_slurmd(self, node):
        for process in self._processes(node, names=["slurmd"]):
            process.send(signal.SIGKILL)
            _until(lambda: not process.is_alive())

    def kill_controller(self):
        kill_trees(self.keepers("controller"))

    def stop_controller(self):
        """Ends the controller in good order, so that it saves its state."""
        keepers = self.keepers("controller")
        for process in self._processes("controller", names=["slurmctld"]):
            process.send(signal.SIGTERM)
        _until(lambda: not any(keeper.is_alive() for keeper in keepers))
        kill_trees(keepers)

    def signal_part(self, part, number, names=None):
        for process in self._processes(part, names):
            process.send(number)

    def _processes(self, part, names=None):
        found = [pair for keeper in self.keepers(part) for pair in keeper.descendants()]
        return [process for process, name in found if names is None or name in names]

    # Stopping

    def stop(self, graceful=True):
        if graceful:
            self.stop_controller()
        # The controller first: what is lost with the nodes is not started again.
        kill_trees(self.keepers("controller"))
        kill_trees([keeper for node in self.nodes for keeper in self.keepers(node)], first=DAEMONS)
        kill_trees(self.keepers("munge"))
        for name in ("munge.socket", "munge.socket.lock"):
            (self.folder / name).unlink(missing_ok=True)
        if self.place != self.folder and self.place.is_symlink():
            self.place.unlink()


def _short_name(folder):
    """A name of the folder that Slurm can bear: the folder's own, or a link to it.

    It knows no spaces, and the sockets of its job steps, SPOOL/NODE/NODE_JOB.STEP, have to be below 108 bytes: a step
    that cannot make its own dies, and its job is held for ever.
    """
    if len(str(folder)) <= 60 and re.fullmatch(r"[A-Za-z0-9/._+-]+", str(folder)):
        return str(folder)
    while True:
        link = f"/tmp/slurm-{secrets.token_hex(4)}"
        with contextlib.suppress(FileExistsError):
            os.symlink(folder, link)
            return link


def _listens(port):
    with socket.socket() as trial:
        trial.settimeout(1)
        return trial.connect_ex(("127.0.0.1", port)) == 0


def _until(condition, seconds=5):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
