"""Steps of engine-suite: runs that go on without the process which began them."""

import json
import os
import re
import shutil
import signal
from pathlib import Path

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


def detached_given_back(cluster, place, wanted):
    """Whoever takes a run over and is interrupted leaves it to the cluster again."""
    space = Workspace(place, "detached given back", **MANY)
    folder = detach(space, cluster)
    space.start(cluster, "--run-dir", folder, "--engine", "slurm", command=("resume",))
    submitted = lambda: ['"epoch":2' in file.read_text() for file in space.shared("submissions")] == [True]
    until(submitted, 90, lambda: f"it submits what is left: {space.said}")
    os.kill(space.running.pid, signal.SIGINT)
    space.end(130)
    check("left for a job in Slurm's queue" in space.said, space.said)
    wait(space, cluster, folder)
    is_same(space, wanted("many", **MANY), cluster)
    # What all coordinators have done is known where the run was begun.
    space.run(cluster, command=("show",))
    check(re.search(r"with [3-9] coordinators one after the other\nframes    36: 36 published", space.said), space.said)
    check(re.search(r"  frame: \d+ done", space.said), space.said)


def refusing(space, words, flag, answer):
    """An environment with an sbatch that refuses jobs whose arguments have one of the words while a file is there."""
    programs = space.folder / "bin"
    programs.mkdir()
    program = programs / "sbatch"
    program.write_text(
        f"""#!/bin/sh
for word in "$@"; do
    case "$word" in --job-name={words}) [ ! -e '{flag}' ] || {{ echo 'sbatch: error: {answer}' >&2; exit 1; }};; esac
done
exec {shutil.which('sbatch')} "$@"
"""
    )
    program.chmod(0o755)
    return {"PATH": f"{programs}:{os.environ['PATH']}"}


def detach_with(space, cluster, environment):
    space.run(cluster, "--engine", "slurm", "--detach", environment=environment)
    return run_folder(space)


def detached_in_trouble(cluster, place, wanted):
    """A coordinator that cannot go on leaves the run to its successor, which begins later."""
    space = Workspace(place, "detached in trouble", **MANY)
    flag = space.folder / "refuses"
    folder = detach_with(space, cluster, refusing(space, "*-2-*", flag, "not today"))
    flag.touch()
    stopped = Path(folder) / "stopped"
    until(stopped.exists, 120, lambda: f"the coordinator stops: {jobs(space, cluster)}")
    check("not today" in stopped.read_text(), stopped.read_text())
    waiting = lambda: cluster.run("squeue", "--noheader", "--states=pending", "--format=%i %r %Z").splitlines()
    own = lambda: [line.split()[0] for line in waiting() if str(space.folder) in line and " BeginTime " in line]
    until(own, 60, lambda: f"the successor waits for its time: {waiting()}")
    until(lambda: (Path(folder) / "detached").exists(), 60, lambda: "the run is with the cluster again")
    flag.unlink()
    cluster.run("scontrol", "update", f"JobId={own()[0]}", "StartTime=now")
    wait(space, cluster, folder)
    is_same(space, wanted("many", **MANY), cluster)


def detached_without_successor(cluster, place, wanted):
    """A site that takes no second coordinator: when the first is killed, 'wait' says so, and 'resume' goes on."""
    space = Workspace(place, "detached alone", **MANY)
    flag = space.folder / "refuses"
    flag.touch()
    folder = detach_with(space, cluster, refusing(space, "*-coordinator-after-*", flag, "AssocMaxSubmitJobLimit"))
    space.wait_for_work(1, runs=False)
    os.kill(coordinators(space)[0], signal.SIGKILL)
    space.run(cluster, "--run-dir", folder, "--timeout", "250", command=("wait",), code=137)
    check(f"'penumbra resume --run-dir {folder}' continues it" in space.said, space.said)
    space.run(cluster, "--run-dir", folder, "--engine", "slurm", command=("resume",))
    is_same(space, wanted("many", **MANY), cluster)


STEPS = [
    ("a detached run", detached),
    ("a detached run whose coordinator is killed", detached_coordinator_killed),
    ("a detached run is taken over from elsewhere", detached_taken_over),
    ("a detached run is taken over and given back", detached_given_back),
    ("a detached run whose coordinator has trouble", detached_in_trouble),
    ("a detached run without a second coordinator", detached_without_successor),
    ("a detached run is cancelled", detached_cancelled),
]
