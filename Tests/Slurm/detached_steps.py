"""Steps of engine-suite: runs that go on without the process which began them."""

import json
import os
import signal

from clusters import check, processes, until
from workspaces import MANY, Workspace, is_same


def run_folder(space):
    found = [path.parent for path in (space.folder / "out").glob(".penumbra-slurm/runs/*/run.json")]
    check(len(found) == 1, f"one run folder, not {found}: {space.said}")
    return str(found[0])


def detach(space, cluster):
    space.run(cluster, "--engine", "slurm", "--detach")
    check("handed to Slurm; run " in space.said, space.said)
    return run_folder(space)


def jobs(space, cluster, *states):
    lines = cluster.run("squeue", "--noheader", "--array", "--format=%i %T %Z").splitlines()
    own = [line.split(" ", 2) for line in lines if str(space.folder) in line]
    return [job for job, state, _ in own if not states or state in states]


def wait(space, cluster, folder, code=0):
    space.run(cluster, "--run-dir", folder, "--timeout", "200", command=("wait",), code=code)
    # The coordinator's job ends a moment after its run.
    until(lambda: not jobs(space, cluster), 60, lambda: f"no jobs are left: {jobs(space, cluster)}")


def ends(space):
    return [json.loads(path.read_text()) for path in (space.folder / "out").glob(".penumbra-slurm/ended/*.json")]


def detached(cluster, place, wanted):
    space = Workspace(place, "detached", **MANY)
    folder = detach(space, cluster)
    space.run(cluster, "--run-dir", folder, command=("status",))
    check(any(f" {state} " in space.said for state in ("detached", "running")), space.said)
    # Another run of the job is refused meanwhile.
    space.run(cluster, "--engine", "slurm", code=75)
    check("its detached run " in space.said, space.said)
    wait(space, cluster, folder)
    is_same(space, wanted("many", **MANY), cluster)
    space.run(cluster, "--json", command=("status",))
    check('"state":"done"' in space.said, f"the database does not know of the end: {space.said}")
    space.run(cluster, "--engine", "slurm")
    check(f"0 published, {MANY['photos']} skipped" in space.said, space.said)


def coordinators(space):
    """Of a detached run, by their process numbers, wherever they are."""
    marker = f"--run-dir\0{space.folder}"
    found = []
    for key, text in processes().items():
        if "\0resume\0" in text.split("SLURM")[0] and marker in text:
            found.append(int(key[0]))
    return found


def detached_coordinator_killed(cluster, place, wanted):
    space = Workspace(place, "detached coordinator killed", **MANY)
    folder = detach(space, cluster)
    space.wait_for_work(1, runs=False)
    os.kill(coordinators(space)[0], signal.SIGKILL)
    # Its successor goes on by itself.
    until(lambda: ends(space), 200, lambda: f"the run ends: {jobs(space, cluster)}")
    wait(space, cluster, folder)
    is_same(space, wanted("many", **MANY), cluster)
    check(ends(space)[0]["epoch"] >= 3, f"{ends(space)}")


def detached_taken_over(cluster, place, wanted):
    """From another node, with a state folder that has never heard of the run."""
    space = Workspace(place, "detached taken over", **MANY)
    folder = detach(space, cluster)
    other = {"XDG_STATE_HOME": str(space.folder / "other state")}
    space.run(cluster, "--run-dir", folder, "--engine", "slurm", command=("resume",), environment=other)
    is_same(space, wanted("many", **MANY), cluster)
    wait(space, cluster, folder)


def detached_cancelled(cluster, place, wanted):
    space = Workspace(place, "detached cancelled", **MANY)
    folder = detach(space, cluster)
    space.run(cluster, "--run-dir", folder, command=("cancel",))
    wait_for_end = lambda: ends(space)
    until(wait_for_end, 120, lambda: f"the run ends: {space.said}")
    until(lambda: not jobs(space, cluster), 60, lambda: f"no jobs are left: {jobs(space, cluster)}")
    strays = [str(path) for path in (space.folder / "out").rglob(".penumbra-2*")]
    check(not strays, f"left behind: {strays}")
    space.run(cluster, "--engine", "slurm")
    is_same(space, wanted("many", **MANY), cluster)


STEPS = [
    ("a detached run", detached),
    ("a detached run whose coordinator is killed", detached_coordinator_killed),
    ("a detached run is taken over from elsewhere", detached_taken_over),
    ("a detached run is cancelled", detached_cancelled),
]
