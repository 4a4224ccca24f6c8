"""Jobs that are run on a cluster and on this machine, and what their outputs have to be."""

import contextlib
import os
import random
import subprocess
import time
from pathlib import Path

from clusters import Failure, check, processes, until

PROGRAMS = Path(__file__).resolve().parents[2] / ".build" / "release"
# Until a run that was disturbed has come to its end on a machine that has other things to do, too.
LIMIT = 300

PHOTOS = """\
job: photos
inputs: photos/*.ppm
filters: [{{gaussian: {{radius: 14}}}}, {{motion: {{radius: {radius}, angle: 35, samples: continuous}}}}]
output: out/{{stem}}.png
{more}
slurm: {{cpus_per_task: {cores}, throttle: 3, shard_seconds: {seconds}, grace: 5, arguments: [--exclusive]}}
"""


class Workspace:
    """A job with its pictures in a folder that all nodes share, and its own state."""

    all = []

    def __init__(self, place, name, photos=12, side=420, radius=60, more="", seconds=1, cores=1):
        self.folder = place / name
        self.running = None
        Workspace.all.append(self)
        (self.folder / "photos").mkdir(parents=True)
        noise = random.Random(7)
        for number in range(photos):
            pixels = noise.randbytes(3 * side * (side - number))
            picture = self.folder / "photos" / f"{number:02}.ppm"
            picture.write_bytes(b"P6 %d %d 255\n" % (side, side - number) + pixels)
            os.utime(picture, (1.7e9, 1.7e9))
        (self.folder / "job.yaml").write_text(PHOTOS.format(radius=radius, more=more, seconds=seconds, cores=cores))

    def start(self, cluster, *arguments, command=("run", "job.yaml"), environment={}):
        own = {"XDG_STATE_HOME": str(self.folder / "state"), "XDG_CONFIG_HOME": str(self.folder)}
        environment = {**os.environ, **own, **environment}
        if cluster:
            environment["SLURM_CONF"] = cluster.configuration
        self.log = open(self.folder / "log", "a+")
        self.running = subprocess.Popen(
            [PROGRAMS / "penumbra", *command, *arguments], cwd=self.folder, env=environment, stdin=subprocess.DEVNULL,
            stdout=self.log, stderr=self.log)

    def end(self, code=0, seconds=LIMIT, meanwhile=lambda: None):
        """Waits for the run's end, and does something every half second until then."""
        deadline = time.monotonic() + seconds
        while self.running.poll() is None:
            meanwhile()
            if time.monotonic() > deadline:
                self.stop()
                raise Failure(f"the run did not end within {seconds} s: {self.said}")
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.running.wait(timeout=0.5)
        found = self.running.returncode
        check(found == code, f"ended with {found} instead of {code}: {self.said}")

    def stop(self):
        if self.running and self.running.poll() is None:
            self.running.kill()
            self.running.wait()

    @property
    def said(self):
        return (self.folder / "log").read_text()

    def run(self, cluster, *arguments, code=0, command=("run", "job.yaml"), environment={}):
        self.start(cluster, *arguments, command=command, environment=environment)
        self.end(code)

    def outputs(self):
        """All that is published; the index has times, and logs of what went wrong stay."""
        files = [file for file in sorted((self.folder / "out").rglob("*")) if file.is_file()]
        return {file.name: file.read_bytes() for file in files if "/.penumbra" not in str(file)}

    def shared(self, pattern):
        """Files of the run's folder that nodes share; none when the run is over, which removes it."""
        with contextlib.suppress(FileNotFoundError):
            return list(self.folder.glob(f"out/.penumbra-slurm/penumbra-*/{pattern}"))
        return []

    def lines(self, kind):
        """Of the attempts' logs: 'begun' or 'ended'."""
        logs = self.shared("results/*.log")
        texts = [text for log in logs for text in log.read_text(errors="replace").splitlines()]
        return [text for text in texts if text.startswith(f'{{"{kind}"')]

    def wait_for_work(self, done, runs=True):
        """Until the cluster has done something, and not all.

        runs: whether a process of this workspace follows it.
        """
        is_over = lambda: runs and self.running.poll() is not None
        made = ('"done":{"_0":{"outputs"', '"done":{"_0":{"tile"')
        rendered = lambda: [text for text in self.lines("ended") if any(receipt in text for receipt in made)]
        until(lambda: len(rendered()) >= done or is_over(), 120, lambda: f"work begins: {self.said}")
        check(not is_over(), f"the run was over before it could be disturbed: {self.said}")


def reference(place):
    """What a local run makes of the same job."""
    known = {}

    def outputs(name, **wishes):
        if name not in known:
            local = Workspace(place, f"local-{name}", **wishes)
            local.run(None)
            known[name] = local.outputs()
            check(known[name], f"the local run made nothing: {local.said}")
        return known[name]

    return outputs


# Three elements, each on a node of its own.
MANY = {"photos": 36, "radius": 100, "side": 900}
LARGE = {"photos": 1, "side": 2500, "radius": 300, "more": "shard: tile\ntile: 250"}


def alone(cluster):
    """An element that runs, as Slurm names it."""
    queue = lambda: cluster.run("squeue", "--noheader", "--array", "--states=running", "--format=%F_%K").split()
    return until(queue, 30, "an element runs")[0]


def resume_drained(cluster):
    """As whoever looks after a cluster does: a controller that was killed starts again what it has started just before, and
    takes a node out of use that has it already."""
    drained = cluster.run("sinfo", "--noheader", "--Node", "--states=drain", "--format=%N").split()
    for node in set(drained):
        # One whose job is just ending is resumed the next time.
        with contextlib.suppress(Failure):
            cluster.run("scontrol", "update", f"nodename={node}", "state=resume")


def is_same(space, wanted, cluster):
    found = space.outputs()
    check(sorted(found) == sorted(wanted), f"{sorted(found)} instead of {sorted(wanted)}: {space.said}")
    different = [name for name in wanted if found[name] != wanted[name]]
    check(not different, f"other bytes in {different}: {space.said}")
    leaves_no_jobs(space, cluster)


def leaves_no_jobs(space, cluster):
    """Those of other steps are none of its business: a controller that is killed takes ended ones for running."""
    queue = cluster.run("squeue", "--noheader", "--format=%i %j %T %Z").splitlines()
    left = [job for job in queue if str(space.folder) in job]
    check(not left, f"jobs are left in the queue: {left}: {space.said}")


def leaves_nothing(space):
    strays = [str(path) for path in (space.folder / "out").rglob(".penumbra*") if path.name != ".penumbra-index"]
    check(not strays, f"left behind: {strays}: {space.said}")


def element_processes(space):
    """Elements of the run, by their process numbers."""
    marker = f"{space.folder}/out/.penumbra-slurm"
    return [int(key[0]) for key, text in processes().items() if "\0shard\0" in text.split("SLURM")[0] and marker in text]


def parent(process):
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rsplit(") ", 1)[1].split()[1])
    except (OSError, IndexError):
        return 0


def environ(process):
    try:
        return Path(f"/proc/{process}/environ").read_text(errors="replace") + "\0"
    except OSError:
        return ""
