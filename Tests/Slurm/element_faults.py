"""Steps of engine-suite that break elements of job arrays, their workers and their nodes."""

import os
import signal
import subprocess
from pathlib import Path

from clusters import check, processes, until
from workspaces import LARGE, LIMIT, MANY, Workspace, alone, element_processes, environ, is_same, leaves_nothing, parent


def worker_killed(cluster, place, wanted):
    space = Workspace(place, "worker killed", **MANY)
    space.start(cluster, "--engine", "slurm")
    space.wait_for_work(1)
    shards = element_processes(space)
    workers = [int(key[0]) for key in processes() if parent(key[0]) in shards]
    check(workers, "no worker of an element lives")
    os.kill(workers[0], signal.SIGKILL)
    space.end()
    is_same(space, wanted("many", **MANY), cluster)


def worker_of_two_killed(cluster, place, wanted):
    """A task that is given out again gets an order of its own: the workers that live on must not take it for an old one."""
    space = Workspace(place, "worker of two killed", **MANY, seconds=60, cores=2, more="retries: 0\ntimeout: 40")
    space.start(cluster, "--engine", "slurm")
    space.wait_for_work(1)
    shards = element_processes(space)
    workers = [int(key[0]) for key in processes() if parent(key[0]) in shards]
    check(workers, "no worker of an element lives")
    os.kill(workers[0], signal.SIGKILL)
    space.end()
    is_same(space, wanted("many", **MANY), cluster)


def element_killed(cluster, place, wanted):
    space = Workspace(place, "element killed", **MANY)
    space.start(cluster, "--engine", "slurm")
    space.wait_for_work(1)
    shards = until(lambda: element_processes(space), 30, "an element runs")
    os.kill(shards[0], signal.SIGKILL)
    space.end()
    is_same(space, wanted("many", **MANY), cluster)


def element_requeued(cluster, place, wanted):
    space = Workspace(place, "element requeued", **MANY, seconds=60, cores=2)
    space.start(cluster, "--engine", "slurm")
    space.wait_for_work(3)
    cluster.run("scontrol", "requeue", alone(cluster))
    space.end()
    is_same(space, wanted("many", **MANY), cluster)


def requeued_under_tiles(cluster, place, wanted):
    space = Workspace(place, "requeued under tiles", **LARGE)
    space.start(cluster, "--engine", "slurm")
    space.wait_for_work(4)
    cluster.run("scontrol", "requeue", alone(cluster))
    space.end()
    is_same(space, wanted("large", **LARGE), cluster)
    leaves_nothing(space)


def out_of_time(cluster, place, wanted):
    space = Workspace(place, "out of time", **MANY)
    space.start(cluster, "--engine", "slurm")
    space.wait_for_work(1)
    # It would be done before Slurm, which looks every half minute, ends it. One that has just ended has nothing to stop.
    stopped = []
    while not stopped:
        element = alone(cluster)
        # Another array may have an element of the same index.
        array, index = element.split("_")
        own = {f"SLURM_ARRAY_JOB_ID={array}", f"SLURM_ARRAY_TASK_ID={index}"}
        stopped = [number for number in element_processes(space) if own <= set(environ(number).split("\0"))]
    for number in [*stopped, *(int(key[0]) for key in processes() if parent(key[0]) in stopped)]:
        os.kill(number, signal.SIGSTOP)
    cluster.run("scontrol", "update", f"jobid={element}", "EndTime=now")
    state = lambda: cluster.run("squeue", "--noheader", "--states=all", f"--jobs={element}", "--format=%T")
    until(lambda: state() == "TIMEOUT", 90, lambda: f"{element} runs out of time, but is {state()}")
    space.end()
    is_same(space, wanted("many", **MANY), cluster)


def twice_at_once(cluster, place, wanted):
    space = Workspace(place, "twice at once", **MANY)
    space.start(cluster, "--engine", "slurm")
    space.wait_for_work(1)
    shard = until(lambda: element_processes(space), 30, "an element runs")[0]
    command = Path(f"/proc/{shard}/cmdline").read_text().rstrip("\0").split("\0")
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT)
    check(done.returncode == 0, f"the same by hand: {done.stdout}{done.stderr}")
    space.end()
    is_same(space, wanted("many", **MANY), cluster)
    leaves_nothing(space)


def node_killed(cluster, place, wanted):
    space = Workspace(place, "node killed", **MANY)
    space.start(cluster, "--engine", "slurm")
    space.wait_for_work(1)
    rows = until(lambda: cluster.run("squeue", "--noheader", "--states=running", "--format=%N").split(), 30, "a node works")
    cluster.do("kill-node", rows[0])
    space.end()
    cluster.do("start-node", rows[0])
    cluster.wait_for_nodes("idle", 60)
    is_same(space, wanted("many", **MANY), cluster)


def node_killed_under_tiles(cluster, place, wanted):
    space = Workspace(place, "node killed under tiles", **LARGE)
    space.start(cluster, "--engine", "slurm")
    space.wait_for_work(4)
    rows = until(lambda: cluster.run("squeue", "--noheader", "--states=running", "--format=%N").split(), 30, "a node works")
    cluster.do("kill-node", rows[0])
    space.end()
    cluster.do("start-node", rows[0])
    cluster.wait_for_nodes("idle", 60)
    is_same(space, wanted("large", **LARGE), cluster)


STEPS = [
    ("a worker of an element is killed", worker_killed),
    ("one worker of two is killed and nothing may be retried", worker_of_two_killed),
    ("an element is killed", element_killed),
    ("an element is requeued", element_requeued),
    ("an element is requeued under tiles", requeued_under_tiles),
    ("an element runs out of time", out_of_time),
    ("an element runs twice at once", twice_at_once),
    ("a node dies", node_killed),
    ("a node dies under tiles", node_killed_under_tiles),
]
