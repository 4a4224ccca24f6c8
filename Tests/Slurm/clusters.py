"""Clusters of Scripts/slurm-cluster as their users see them, and what processes of theirs there are."""

import contextlib
import os
import secrets
import subprocess
import time
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "Scripts" / "slurm-cluster"
# What programs of the jobs have among their arguments, so that those that escaped are found.
MARK = f"31536000.{secrets.randbelow(10**9)}"


class Failure(Exception):
    pass


def check(condition, message):
    if not condition:
        raise Failure(message)


def until(condition, seconds, what):
    """Waits for what a condition returns, unless it is nothing."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        check(time.monotonic() < deadline, f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(0.05)
    return found


class Cluster:
    """A cluster, as its users see it: by the script's commands and by Slurm's."""

    def __init__(self, folder):
        self.folder = folder
        self.configuration = None

    def run(self, *command, code=0, seconds=60):
        environment = {**os.environ, "SLURM_CONF": self.configuration or ""}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds)
        told = f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stdout}{done.stderr}"
        check(done.returncode == code, told)
        return (done.stdout if code == 0 else done.stderr).strip()

    def do(self, command, *arguments, code=0):
        return self.run(SCRIPT, command, self.folder, *arguments, code=code)

    def start(self, *arguments):
        printed = self.do("start", *arguments)
        self.configuration = self.run("bash", "-c", f'{printed}; echo "$SLURM_CONF"')

    def submit(self, script, *options):
        options = ["--parsable", f"--output={self.folder}/out.%A.%a", "--open-mode=append", *options]
        return self.run("sbatch", *options, f"--wrap={script}")

    def jobs(self, job):
        """State, node and number of restarts of each element of a job."""
        shown = "State:|,NodeList:|,RestartCnt:"
        lines = self.run("squeue", "--noheader", "--array", "--states=all", f"--jobs={job}", f"--Format={shown}")
        fields = [line.split("|") for line in lines.splitlines()]
        return [(state, node, int(restarts)) for state, node, restarts in fields]

    def wait(self, job, state, seconds, restarts=0):
        """Waits until every element of a job is in a state, after at least so many restarts; returns the first's node."""
        reached = lambda: (found := self.jobs(job)) and all(one[0] == state and one[2] >= restarts for one in found)
        until(reached, seconds, lambda: f"job {job} {state} after {restarts} restarts, but {self.jobs(job)}")
        return self.jobs(job)[0][1]

    def wait_for_nodes(self, state, seconds, nodes=""):
        """Waits until nodes, or all of them, are in a state."""
        chosen = [f"--nodes={nodes}"] if nodes else []
        states = lambda: set(self.run("sinfo", "--noheader", "--format=%T", *chosen).split())
        until(lambda: states() == {state}, seconds, lambda: f"{nodes or 'all nodes'} {state}, but {states()}")

    def output(self, job):
        return "".join(file.read_text() for file in sorted(self.folder.glob(f"out.{job}.*")))


def processes():
    """All processes: (number, start) with what they were started with and what they have open."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            state, *fields = (folder / "stat").read_text(errors="replace").rsplit(") ", 1)[1].split()
            texts = [(folder / name).read_bytes().decode(errors="replace") for name in ("cmdline", "environ")]
            # A job step shows neither arguments nor environment of its own, but writes to its node's log.
            texts += [os.readlink(file) for file in (folder / "fd").iterdir()]
            if state not in "ZX":
                found[folder.name, fields[18]] = "\0".join(texts)
    return found


def left_over(before, *clusters):
    """What these processes were started with that were not there before and have to do with a cluster."""
    marks = [MARK, *(f"{cluster.folder}/" for cluster in clusters)]
    marks += [f"{Path(cluster.configuration).parent}/" for cluster in clusters]
    new = {key: text for key, text in processes().items() if key not in before and key[0] != str(os.getpid())}
    return [f"{key[0]}: {text[:60]}" for key, text in new.items() if any(mark in text for mark in marks)]


def marked():
    return [key for key, text in processes().items() if MARK in text.split("\0")]
