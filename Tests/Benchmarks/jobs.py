"""Races whole jobs, from files to files, against what a user would take instead: start-up, codecs and waiting count.

    a  one 18-megapixel JPEG, radius 20         b  100 photographs of 2 to 18 megapixels, radius 8
    c  500 thumbnails of 320 px with a blur     d  a 30 000 × 20 000 TIFF and PNG, radius 50
    e  10 000 tiny pictures, and again          f  one 1-megapixel JPEG, radius 8, cold
    p  a preview of the TIFF            m  a 640 × 560 picture, a motion of radius 40, cold
    n  a layer that moves in 300 frames of 1080p, with one worker and with two

Contenders take turns; the median of their wall seconds counts. One that needs long gets fewer turns, or a part of the work, and is
scaled. Memory is the largest sum of PSS over all processes of a contender, sampled. The results go to .build/bench/jobs.json. Exits with
1 where a bar of JobBars.json is missed by more than the tolerance.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import machine

ROOT = Path(__file__).resolve().parents[2]
BARS = Path(__file__).with_name("JobBars.json")
WORK = ROOT / ".build" / "bench" / "jobs"
PEERS = Path(__file__).with_name("job_peers.py")
RESULTS = ROOT / ".build" / "bench" / "jobs.json"
TOLERANCE = 1.05
SLOW_SAMPLE = 10
# A contender that has taken so many seconds gets two turns, and no further one. With --brief and with --quick, fewer seconds.
LONG = 30
BRIEFLY_LONG = 8
QUICKLY_LONG = 3


class Result:
    def __init__(self, seconds, cpu, memory):
        self.seconds, self.cpu, self.memory = seconds, cpu, memory


def processes_below(root):
    """The process and all that it started."""
    found = [root]
    for process in found:
        try:
            for task in os.listdir(f"/proc/{process}/task"):
                found += map(int, Path(f"/proc/{process}/task/{task}/children").read_text().split())
        except OSError:
            pass
    return found


def shared_out_memory(process):
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def run(command, samples_memory=False):
    """Runs a command to its end; one that fails ends the race."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=WORK)
    peak = 0

    def sample():
        nonlocal peak
        while process.poll() is None:
            peak = max(peak, sum(map(shared_out_memory, processes_below(process.pid))))
            time.sleep(0.02)

    sampler = threading.Thread(target=sample) if samples_memory else None
    if sampler:
        sampler.start()
    errors = process.stderr.read()
    code = process.wait()
    seconds = time.perf_counter() - start
    if sampler:
        sampler.join()
    if code != 0:
        raise SystemExit(f"{' '.join(map(str, command))[:200]}: exit {code}\n{errors.decode()[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Result(seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, peak / 1024)


# Pictures and jobs


def make_photographs(count):
    """Photographs of 2 to 18 megapixels, made of the demo's: each of another size and place, with some grain."""
    import pyvips

    folder = WORK / "photos"
    folder.mkdir(parents=True, exist_ok=True)
    sources = sorted((ROOT / "jobs" / "photos").glob("*.jpg"))
    for number in range(count):
        path = folder / f"{number:03}.jpg"
        if path.exists():
            continue
        megapixels = 2 + 16 * (number * 0.6180339887 % 1)
        picture = pyvips.Image.new_from_file(str(sources[number % len(sources)]))
        scale = (megapixels * 1e6 / (picture.width * picture.height)) ** 0.5
        picture = picture.resize(scale, kernel="linear")
        grain = pyvips.Image.gaussnoise(picture.width, picture.height, sigma=6, mean=0, seed=number)
        (picture + grain).cast("uchar").write_to_file(f"{path}[Q=90]")
    return sorted(folder.glob("*.jpg"))[:count]


def make_photograph(name, width, height):
    import pyvips

    path = WORK / name
    if not path.exists():
        source = pyvips.Image.new_from_file(str(sorted((ROOT / "jobs" / "photos").glob("*.jpg"))[0]))
        picture = source.resize(width / source.width, vscale=height / source.height, kernel="linear")
        grain = pyvips.Image.gaussnoise(width, height, sigma=6, mean=0, seed=7)
        (picture + grain).cast("uchar").write_to_file(f"{path}[Q=90]")
    return path


def make_scan(name, rows=10):
    """`rows` times 60 megapixels."""
    import pyvips

    path = WORK / name
    if not path.exists():
        photograph = pyvips.Image.new_from_file(str(make_photograph("tile.jpg", 3000, 2000)))
        photograph.replicate(10, rows).write_to_file(f"{path}[bigtiff]" if path.suffix == ".tif" else str(path))
    return path


def make_crowd(count):
    """As many pictures of 8 × 8 pixels, a thousand to a folder."""
    import pyvips

    folder = WORK / f"crowd-{count}"
    if not folder.exists():
        bytes = pyvips.Image.black(8, 8, bands=3).write_to_buffer(".jpg")
        for number in range(count):
            if number % 1000 == 0:
                (folder / f"{number // 1000:03}").mkdir(parents=True)
            (folder / f"{number // 1000:03}" / f"{number:06}.jpg").write_bytes(bytes)
    return folder


def job(name, inputs, filters, output, save="", existing="overwrite"):
    path = WORK / f"{name}.yaml"
    lines = "".join(f"  - {text}\n" for text in filters)
    path.write_text(
        f"job: {name}\ninputs: {inputs}\nfilters:\n{lines}output: out/{name}/{output}\nexisting: {existing}\n{save}")
    return path


def make_button():
    """A layer with clear corners."""
    import numpy as np
    from PIL import Image

    path = WORK / "button.png"
    if not path.exists():
        y, x = np.mgrid[0:120, 0:320]
        gone = np.hypot(np.maximum(abs(x - 159.5) - 120, 0), np.maximum(abs(y - 59.5) - 20, 0)) > 40
        pixels = np.stack([x * 0 + 40, 90 + y, 220 - x // 4, np.where(gone, 0, 235)], axis=2).astype(np.uint8)
        Image.fromarray(pixels, "RGBA").save(path)
    return path


def listed(pictures):
    """The pictures as a value of a manifest. A folder may hold those of other runs, too."""
    return json.dumps([str(picture) for picture in pictures])


def fresh(name):
    folder = WORK / "out" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


# The races


class Race:
    """Contenders by name: a command each, and how much of the work it does (a slow one gets a part, and is scaled)."""

    def __init__(self, name, title, rounds, contenders, megapixels):
        self.name, self.title, self.rounds, self.contenders = name, title, rounds, contenders
        self.megapixels = megapixels
        self.long = LONG
        self.results = {}

    def run(self):
        print(f"\n### {self.name}: {self.title}\n", flush=True)
        found = {name: [] for name in self.contenders}
        for number in range(self.rounds):
            for name, (command, part) in self.contenders.items():
                # The first turn does not count if there is another one.
                if number > 1 and (part < 1 or sum(result.seconds for result in found[name]) > self.long):
                    continue
                result = run(command, samples_memory=number == 0)
                found[name].append(Result(result.seconds / part, result.cpu / part, result.memory))
        for name, results in found.items():
            # The first run of several warms caches, and is slowed by the sampling of its memory.
            timed = results[1:] or results
            self.results[name] = Result(
                statistics.median(result.seconds for result in timed),
                statistics.median(result.cpu for result in timed),
                results[0].memory if self.contenders[name][1] == 1 else None)
        self.print()

    def print(self):
        own = self.results["penumbra"].seconds
        print(f"{'contender':28} {'wall s':>8} {'CPU s':>8} {'peak MB':>8} {'penumbra / it':>14}")
        for name, result in sorted(self.results.items(), key=lambda item: item[1].seconds):
            scaled = "" if self.contenders[name][1] == 1 else f"  (from {self.contenders[name][1]:.0%} of the work)"
            memory = "" if result.memory is None else f"{result.memory:.0f}"
            print(
                f"{name:28} {result.seconds:8.3f} {result.cpu:8.2f} {memory:>8}"
                f" {own / result.seconds:14.2f}{scaled}", flush=True)


class Nights:
    """A job's first run, until its first output, and its second, which finds nothing to do.

    `peers` make the same pictures: a command each, and how much of the work it does."""

    def __init__(self, command, count, peers):
        self.name, self.command, self.count, self.peers = f"e-{count}", command, count, peers
        self.title, self.megapixels = f"{count} pictures of 8 × 8 pixels", count * 64 / 1e6
        self.out = fresh(self.name)
        job(self.name, f"crowd-{count}/**/*.jpg", ["invert"], "{dir}/{stem}.ppm", "durability: batch\n", "update")

    def run(self):
        shutil.rmtree(os.environ["XDG_STATE_HOME"], ignore_errors=True)
        print(f"\n### {self.name}: {self.title}, and again\n", flush=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, cwd=WORK)
        while process.poll() is None and not any(self.out.glob("000/*.ppm")):
            time.sleep(0.005)
        self.first = time.perf_counter() - start
        if process.wait() != 0:
            sys.exit(f"{self.name}: exit code {process.returncode}")
        self.whole = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.second = statistics.median(run(self.command).seconds for _ in range(3))
        print(f"first output {self.first:.2f} s, all {self.whole:.1f} s, again {self.second:.2f} s", flush=True)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        self.results = {"penumbra": Result(self.whole, cpu, None)}
        for name, (command, part) in self.peers.items():
            result = run(command)
            self.results[name] = Result(result.seconds / part, result.cpu / part, None)
            scaled = "" if part == 1 else f" (from {part:.1%} of the work)"
            print(f"{name}: {result.seconds / part:.1f} s{scaled}", flush=True)


class Field:
    def __init__(self, options):
        self.penumbra = str(options.penumbra)
        self.quick = options.quick
        self.photographs, self.thumbnails = (20, 100) if options.quick else (30, 200) if options.brief else (100, 500)
        self.pythons = {"wheel": sys.executable, "Debian": options.debian_python}

    def run(self, manifest):
        return [self.penumbra, "run", "--quiet", manifest]

    def scripts(self, name, work, radius, pictures):
        yield "opencv script", ([sys.executable, PEERS, "opencv", work, str(radius), fresh(f"{name}-cv"), *pictures], 1)
        for origin, python in self.pythons.items():
            if python:
                folder = fresh(f"{name}-{origin}")
                yield f"pyvips script ({origin})", ([python, PEERS, "vips", work, str(radius), folder, *pictures], 1)

    def magick(self, name, operations, pictures):
        """A loop of a shell; the programs use all cores for each picture."""
        part = pictures[: max(1, len(pictures) // SLOW_SAMPLE)] if len(pictures) > 1 else pictures
        for program in ("convert", "gm convert"):
            folder = fresh(f"{name}-{program.split()[0]}")
            loop = f'for f in "$@"; do {program} "$f" {operations} -quality 82 {folder}/"$(basename "$f")" || exit 1; done'
            label = "ImageMagick" if program == "convert" else "GraphicsMagick"
            yield label, (["sh", "-c", loop, "sh", *part], len(part) / len(pictures))

    def a(self):
        picture = make_photograph("a.jpg", 5184, 3456)
        out = fresh("a")
        return Race("a", "one 18-megapixel JPEG, radius 20", 15, {
            "penumbra": (self.run(job("a", "a.jpg", ["gaussian: {radius: 20}"], "{stem}.jpg")), 1),
            "vips copy": (["vips", "copy", picture, f"{out}/copy.jpg[Q=82]"], 1),
            "vips gaussblur": (["vips", "gaussblur", picture, f"{out}/vips.jpg[Q=82]", "20"], 1),
            **dict(self.scripts("a", "blur", 20, [picture])),
            **({} if self.quick else dict(self.magick("a", "-blur 0x20", [picture]))),
        }, 17.9)

    def b(self):
        pictures = make_photographs(self.photographs)
        contenders = {
            "penumbra": (self.run(job("b", listed(pictures), ["gaussian: {radius: 8}"], "{stem}.jpg")), 1),
            # Remembers nothing: no run, no attempt, no output.
            "penumbra without a store": (
                [self.penumbra, "apply", "--quiet", "--force", "gaussian: {radius: 8}", *pictures, "-o",
                 f"{fresh('b-apply')}/{{stem}}.jpg"], 1),
            **dict(self.scripts("b", "blur", 8, pictures)),
        }
        for origin, python in self.pythons.items():
            if python:
                command = [python, PEERS, "vips", "copy", "0", fresh(f"b-copy-{origin}"), *pictures]
                contenders[f"pyvips copy only ({origin})"] = (command, 1)
        if not self.quick:
            contenders |= dict(self.magick("b", "-blur 0x8", pictures))
        return Race("b", f"{len(pictures)} photographs of 2 to 18 megapixels, radius 8", 3, contenders, megapixels(pictures))

    def c(self):
        pictures = make_photographs(self.photographs)
        folder = WORK / f"many-{len(pictures)}-{self.thumbnails}"
        folder.mkdir(exist_ok=True)
        for number in range(self.thumbnails):
            link = folder / f"{number:03}.jpg"
            if not link.exists():
                os.link(pictures[number % len(pictures)], link)
        many = sorted(folder.glob("*.jpg"))
        filters = ["thumbnail: {size: 320}", "gaussian: {radius: 1}"]
        command = ["vipsthumbnail", "-s", "320", "-o", f"{fresh('c-vipsthumbnail')}/%s.jpg[Q=82]", *many]
        contenders = {
            "penumbra": (self.run(job("c", listed(many), filters, "{stem}.jpg")), 1),
            "vipsthumbnail (no blur)": (command, 1), **dict(self.scripts("c", "thumbnail", 1, many)),
        }
        if not self.quick:
            contenders |= dict(self.magick("c", "-thumbnail 320x320 -blur 0x1", many))
        return Race("c", f"{len(many)} thumbnails of 320 px with a blur", 3, contenders, megapixels(many))

    def d(self, suffix):
        make_scan(f"scan.{suffix}")
        # The blur of vips takes minutes for the whole picture.
        part = make_scan(f"part.{suffix}", rows=1)
        out = fresh(f"d-{suffix}")
        # Both write TIFF as vips does by default; deflate would take most of the time.
        save = "save: {compression: none}\n" if suffix == "tif" else ""
        manifest = job(f"d-{suffix}", f"scan.{suffix}", ["gaussian: {radius: 50}"], "{stem}." + suffix, save)
        target = f"{out}/vips.tif[bigtiff]" if suffix == "tif" else f"{out}/vips.png"
        return Race(f"d-{suffix}", f"a 30 000 × 20 000 {suffix.upper()}, radius 50", 2, {
            "penumbra": (self.run(manifest), 1), "vips gaussblur": (["vips", "gaussblur", part, target, "50"], 0.1),
        }, 600)

    def e(self, count):
        pictures = sorted(make_crowd(count).rglob("*.jpg"))
        names = WORK / f"crowd-{count}.txt"
        names.write_text("".join(f"{path}\n" for path in pictures))
        peers = {}
        for origin, python in self.pythons.items():
            if python:
                command = [python, PEERS, "vips", "invert", "0", fresh(f"e-{origin}"), f"@{names}"]
                peers[f"pyvips script ({origin})"] = (command, 1)
        part = pictures[: max(1, count // 100)]
        loop = f'for f in "$@"; do vips invert "$f" {fresh("e-vips")}/"$(basename "$f" .jpg)".ppm || exit 1; done'
        peers["vips in a shell loop"] = (["sh", "-c", loop, "sh", *part], len(part) / count)
        return Nights(self.run(WORK / f"e-{count}.yaml"), count, peers)

    def f(self):
        picture = make_photograph("f.jpg", 1224, 816)
        out = fresh("f")
        return Race("f", "one 1-megapixel JPEG, radius 8, from a cold start", 15, {
            "penumbra": (self.run(job("f", "f.jpg", ["gaussian: {radius: 8}"], "{stem}.jpg")), 1),
            "vips gaussblur": (["vips", "gaussblur", picture, f"{out}/vips.jpg[Q=82]", "8"], 1),
            **dict(self.scripts("f", "blur", 8, [picture])),
        }, 1)

    def p(self):
        make_scan("scan.tif")
        manifest = job("p", "scan.tif", ["gaussian: {radius: 50}"], "{stem}.tif")
        command = [self.penumbra, "preview", manifest, "--at", "40%,30%", "--size", "800", "-o", fresh("p") / "p.png"]
        return Race("p", "an 800 px preview of the TIFF, radius 50", 15, {"penumbra": (command, 1)}, 600)

    def m(self):
        make_photograph("m.jpg", 640, 560)
        fresh("m")
        motion = [self.penumbra, "apply", "--quiet", "--force", "motion: {radius: 40, samples: 5}", WORK / "m.jpg", "-o",
                  WORK / "out/m/m.jpg"]
        return Race("m", "640 × 560, a motion of radius 40 in 5 samples, from a cold start", 15,
                    {"penumbra": (motion, 1)}, 0.36)

    def n(self):
        make_photograph("n.jpg", 1920, 1080)
        make_button()
        fresh("n")
        path = job("n", "n.jpg", ["gaussian: {radius: 2}"], "{stem}-{frame:03}.jpg",
                   "animate: {move: {picture: button.png, path: [{x: -320, y: 10%}, {x: 100%, y: 70%}], "
                   "duration: 9.9667, shutter: true}}\n")
        # A single worker decodes, filters and encodes on threads of their own, on more than one core.
        one = self.run(path) + ["--workers", "1"]
        return Race("n", "a layer that moves in 300 frames of 1080p", 4, {
            "penumbra": (self.run(path) + ["--workers", "2"], 1), "one worker": (one, 1),
            "one worker on one core": (["taskset", "-c", "0", *one], 1),
        }, 622)


def megapixels(pictures):
    import pyvips

    sizes = [pyvips.Image.new_from_file(str(path)) for path in pictures]
    return sum(picture.width * picture.height for picture in sizes) / 1e6


# Bars


def figures(races, kernel):
    """What the bars of JobBars.json bound, by name."""
    found = {}

    def ratio(name, race, of, to, figure="seconds"):
        if race in races and of in races[race].results and to in races[race].results:
            a, b = (getattr(races[race].results[who], figure) for who in (of, to))
            found[name] = a / b

    if "a" in races:
        own, copy = (races["a"].results[name].seconds for name in ("penumbra", "vips copy"))
        found["a: of vips copy + 40 ms"] = own / (1.08 * copy + 0.04)
    ratio("a: of vips gaussblur", "a", "penumbra", "vips gaussblur")
    ratio("a: of the OpenCV script", "a", "penumbra", "opencv script")
    if "b" in races:
        results = races["b"].results
        copies = [result.cpu for name, result in results.items() if "copy only" in name]
        limit = min(copies) + 1.3 * kernel * races["b"].megapixels
        found["b: CPU of copying + 1.3 kernels"] = results["penumbra"].cpu / limit
        blurring = [result.seconds for name, result in results.items() if "penumbra" not in name and "copy" not in name]
        found["b: of the best blurring peer"] = results["penumbra"].seconds / min(blurring)
    ratio("b: of itself without a store", "b", "penumbra", "penumbra without a store")
    if "c" in races:
        others = [result.seconds for name, result in races["c"].results.items() if name != "penumbra"]
        found["c: of the best peer"] = races["c"].results["penumbra"].seconds / min(others)
    for suffix in ("tif", "png"):
        ratio(f"d: {suffix} of vips gaussblur", f"d-{suffix}", "penumbra", "vips gaussblur")
        if f"d-{suffix}" in races:
            found[f"d: {suffix} peak MB"] = races[f"d-{suffix}"].results["penumbra"].memory
    ratio("f: of vips gaussblur", "f", "penumbra", "vips gaussblur")
    for race in races.values():
        if isinstance(race, Nights):
            found[f"e: {race.count} again, seconds"] = race.second
            found[f"e: {race.count} first output, seconds"] = race.first
    if "m" in races:
        found["m: seconds"] = races["m"].results["penumbra"].seconds
    ratio("n: two workers of one", "n", "penumbra", "one worker")
    ratio("n: two workers of one core", "n", "penumbra", "one worker on one core")
    if "p" in races:
        found["preview: seconds"] = races["p"].results["penumbra"].seconds
    return found


def kernel_seconds(options):
    """Of one core, for a megapixel of RGB at radius 8."""
    import numpy as np

    import peers

    case = peers.Case("gaussian", 8)
    picture = np.random.default_rng(1).integers(0, 256, (case.height, case.width, 3), np.uint8)
    flags = Path("/proc/cpuinfo").read_text().split("flags", 1)[-1].split("\n", 1)[0].split()
    level = 4 if "avx512vl" in flags else 3
    run_kernel, _ = peers.penumbra(str(options.kernels), level)(picture, case)
    return min(peers.seconds(run_kernel) for _ in range(7)) / case.megapixels


def save(race, kind):
    """Adds the race to those of earlier runs on this machine. Races with fewer pictures have names of their own."""
    here = machine.describe()
    saved = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if saved.get("machine") != here:
        saved = {"machine": here, "races": {}}
    contenders = {name: vars(result) for name, result in race.results.items()}
    name = f"{race.name} {kind}".strip()
    saved["races"][name] = {"title": race.title, "megapixels": race.megapixels, "contenders": contenders}
    RESULTS.write_text(json.dumps(saved, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="LETTERS", help="some of the races: af")
    parser.add_argument("--quick", action="store_true", help="only a, b, c, e, f and m, with fewer pictures, and no ImageMagick")
    parser.add_argument("--brief", action="store_true", help="all of them, with fewer pictures, and fewer turns of the slow")
    parser.add_argument("--crowd", metavar="COUNT", type=int, help="the number of tiny pictures of race e: 200000")
    parser.add_argument("--plot", action="store_true", help="draw docs/jobs.svg")
    parser.add_argument("--penumbra", type=Path, default=ROOT / ".build/release/penumbra")
    parser.add_argument("--kernels", type=Path, default=ROOT / ".build/release/libBenchmarkedKernels.so")
    parser.add_argument("--debian-python", metavar="PYTHON", help="a Python whose pyvips takes Debian's libvips")
    options = parser.parse_args()
    if options.debian_python:
        # As it is named: a virtual environment is known by the link to its Python.
        options.debian_python = str(Path.cwd() / options.debian_python)
    WORK.mkdir(parents=True, exist_ok=True)
    os.environ["XDG_STATE_HOME"] = str(WORK / "state")
    # Jobs of an earlier bench would miss their outputs, which are removed.
    shutil.rmtree(WORK / "state", ignore_errors=True)
    field = Field(options)
    print(machine.describe(), flush=True)
    makers = {"a": [field.a], "b": [field.b], "c": [field.c], "f": [field.f], "p": [field.p], "m": [field.m], "n": [field.n],
              "d": [lambda: field.d("tif"), lambda: field.d("png")]}
    makers["e"] = [lambda: field.e(options.crowd or (1000 if options.quick else 10_000))]
    races = {}
    for letter in options.only or ("abcefm" if options.quick else "abcdefmnp"):
        for make in makers[letter]:
            race = make()
            race.long = QUICKLY_LONG if options.quick else BRIEFLY_LONG if options.brief else LONG
            start = time.monotonic()
            race.run()
            print(f"({time.monotonic() - start:.0f} s)", flush=True)
            races[race.name] = race
            save(race, "quick" if options.quick else "brief" if options.brief else "")
    if options.plot:
        import plot

        plot.draw_jobs(RESULTS, ROOT / "docs" / "jobs.svg")
    found = figures(races, kernel_seconds(options) if "b" in races else 0)
    bars = json.loads(BARS.read_text())
    print("\n### Bars\n")
    missed = 0
    for name, figure in found.items():
        if name not in bars:
            print(f"{name:36} {figure:8.2f}   no bar")
            continue
        limit = bars[name]
        verdict = "met" if figure <= limit["goal"] else "kept" if figure <= limit["kept"] * TOLERANCE else "WORSE"
        missed += verdict == "WORSE"
        print(f"{name:36} {figure:8.2f}   goal {limit['goal']:g}, kept {limit['kept']:g}: {verdict}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
