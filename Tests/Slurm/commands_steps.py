"""Steps of engine-suite: the same cluster by four commands of a site, those of Examples/commands/slurm."""

import signal
from pathlib import Path

from clusters import check
from workspaces import MANY, Workspace, is_same, leaves_no_jobs, leaves_nothing

COMMANDS = Path(__file__).resolve().parents[2] / "Examples" / "commands" / "slurm"


def configured(place, name, **wishes):
    """A workspace whose config file names the commands. It lies where the user's own is looked for."""
    space = Workspace(place, name, **wishes)
    file = space.folder / "penumbra" / "penumbra.yaml"
    file.parent.mkdir()
    lines = [f"  {command}: '{COMMANDS / command}'" for command in ("submit", "status", "cancel", "describe")]
    file.write_text("\n".join(["commands:", *lines, ""]))
    return space


def photos(cluster, place, wanted):
    space = configured(place, "by commands", **MANY)
    space.run(cluster, "--engine", "commands")
    is_same(space, wanted("many", **MANY), cluster)
    leaves_nothing(space)


def interrupted(cluster, place, wanted):
    space = configured(place, "by commands, interrupted", **MANY)
    space.start(cluster, "--engine", "commands")
    space.wait_for_work(1)
    space.running.send_signal(signal.SIGINT)
    space.end(code=130, seconds=60)
    leaves_no_jobs(space, cluster)
    leaves_nothing(space)
    space.run(cluster, "--engine", "commands")
    is_same(space, wanted("many", **MANY), cluster)


def killed(cluster, place, wanted):
    """Another coordinator cancels what the commands had submitted, also where it is no cluster's."""
    for engine in ("commands", "local"):
        space = configured(place, f"by commands, killed, then {engine}", **MANY)
        space.start(cluster, "--engine", "commands")
        space.wait_for_work(2)
        space.running.kill()
        space.running.wait()
        space.run(cluster, "--engine", engine, command=("resume",))
        is_same(space, wanted("many", **MANY), cluster)
        leaves_nothing(space)


def refused(cluster, place, wanted):
    space = configured(place, "by commands, refused", photos=1, side=40, radius=5)
    job = space.folder / "job.yaml"
    job.write_text(job.read_text().replace("slurm: {", "slurm: {partition: nosuch, "))
    space.run(cluster, "--engine", "commands", code=69)
    check(f"the submit command {COMMANDS}/submit ended with exit code 1: " in space.said, space.said)
    check("Invalid partition name specified" in space.said, space.said)
    space.run(cluster, "--engine", "commands", "--detach", code=64)
    check("--detach needs Slurm" in space.said, space.said)


def doctor(cluster, place, wanted):
    space = configured(place, "by commands, doctor", photos=1, side=40, radius=5)
    shared = space.folder / "shared"
    shared.mkdir()
    space.run(cluster, "--engine", "commands", "--shared", str(shared), command=("doctor",))
    node = ("ok    element penumbra-", "has the same programs", ": sandbox: workers start no programs")
    for told in ("ok    the cluster's commands answer", *node):
        check(told in space.said, space.said)


STEPS = [
    ("a site's commands: many photos", photos),
    ("a site's commands: a queue that is not there", refused),
    ("a site's commands: doctor looks at a node", doctor),
    ("a site's commands: the coordinator is interrupted", interrupted),
    ("a site's commands: the coordinator is killed, another goes on", killed),
]
