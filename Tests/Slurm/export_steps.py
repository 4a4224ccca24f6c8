"""Steps of engine-suite: folders that 'penumbra export' writes, submitted by hand."""

import re

from clusters import check, until
from workspaces import LARGE, MANY, Workspace, is_same, leaves_no_jobs


def export(space, cluster, shards, *arguments):
    """A folder with a name that every quotation has to survive."""
    folder = space.folder / "it's 100%j $HOME"
    space.run(
        cluster, "--to", "slurm", "--output", str(folder), "--shards", str(shards), *arguments,
        command=("export", "job.yaml"))
    return folder


def submit(cluster, folder):
    """Returns the numbers of the jobs that prepare, render and finish."""
    told = cluster.run("sh", str(folder / "submit.sh"))
    found = re.match(r"submitted: prepare (\d+), render (\d+) with \d+ elements, finish (\d+)\n", told)
    check(found, told)
    return found.groups()


def state(cluster, job):
    """Of a job that has one element, while Slurm remembers it."""
    return cluster.run("squeue", "--noheader", "--states=all", f"--jobs={job}", "--format=%T")


def logs(folder):
    return "".join(f"{path.name}: {path.read_text()}" for path in sorted((folder / "logs").glob("*.out")))


def wait(cluster, folder, finish):
    ended = lambda: state(cluster, finish) in ("COMPLETED", "FAILED", "CANCELLED", "NODE_FAIL")
    until(ended, 200, lambda: f"finish.sh ends: {state(cluster, finish)}: {logs(folder)}")
    check(state(cluster, finish) == "COMPLETED", f"finish.sh: {state(cluster, finish)}: {logs(folder)}")


def exported(cluster, place, wanted):
    space = Workspace(place, "exported", **MANY)
    mail = "--mail-user=it's \"me\" #1 \\x"
    # With a type, Slurm shows whom it would tell; none of the jobs is requeued.
    folder = export(space, cluster, 5, f"--slurm-arg={mail}", "--slurm-arg=--mail-type=REQUEUE")
    jobs = submit(cluster, folder)
    told = cluster.run("sh", str(folder / "submit.sh"), code=75)
    check(f"jobs {' '.join(jobs)} have not ended" in told, told)
    # As the README says it is cancelled.
    listed = re.search(r"scancel (\$\(.*\))", (folder / "README.md").read_text()).group(1)
    check(sorted(cluster.run("sh", "-c", f"echo {listed}").split()) == sorted(jobs), f"{listed} finds other jobs")
    shown = cluster.run("scontrol", "show", "job", jobs[2])
    check(f"MailUser={mail.split('=')[1]} MailType=REQUEUE" in shown, f"an option is read otherwise than it was given: {shown}")
    check(f"Dependency=afterany:{jobs[1]}" in shown, shown)
    wait(cluster, folder, jobs[2])
    is_same(space, wanted("many", **MANY), cluster)
    done = re.findall(r"render\.\d+_(\d)\.out: .*?: (\d+) tasks, 0 failed", logs(folder), re.DOTALL)
    check({number for number, _ in done} == set("12345"), f"each shard is done once: {logs(folder)}")
    check(sum(int(tasks) for _, tasks in done) == MANY["photos"], f"each of the pictures is in a shard: {logs(folder)}")
    space.run(cluster, "--run-dir", str(folder / "run"), command=("status",))
    check(" done " in space.said, space.said)


def exported_tiles(cluster, place, wanted):
    space = Workspace(place, "exported tiles", **LARGE)
    folder = export(space, cluster, 6)
    wait(cluster, folder, submit(cluster, folder)[2])
    is_same(space, wanted("large", **LARGE), cluster)
    check(len(re.findall(r": [1-9]\d* tasks, 0 failed", logs(folder))) == 6, f"six shards have tiles: {logs(folder)}")


def exported_cancelled(cluster, place, wanted):
    """What the elements have left undone is done by finish.sh."""
    space = Workspace(place, "exported, cancelled", **MANY)
    folder = export(space, cluster, 12)
    _, render, finish = submit(cluster, folder)
    begun = lambda: "tasks, 0 failed" in logs(folder)
    until(begun, 100, lambda: f"a shard is done: {logs(folder)}")
    cluster.run("scancel", render)
    wait(cluster, folder, finish)
    check(logs(folder).count(" tasks, 0 failed") < 12, f"shards are left undone: {logs(folder)}")
    is_same(space, wanted("many", **MANY), cluster)


def exported_too_long(cluster, place, wanted):
    space = Workspace(place, "exported, too long", photos=1, side=40, radius=5)
    folder = export(space, cluster, 101)
    told = cluster.run("sh", str(folder / "submit.sh"), code=69)
    check("render.sh has 101 elements, and an array has at most 100 here" in told, told)
    leaves_no_jobs(space, cluster)


STEPS = [
    ("an exported folder is submitted by hand", exported),
    ("an exported folder with tiles", exported_tiles),
    ("an exported folder whose array is cancelled", exported_cancelled),
    ("an exported folder with too many shards", exported_too_long),
]
