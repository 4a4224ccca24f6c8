"""Batches: some hundreds of mutants as one job, and what must hold after it."""

import hashlib
import json
import re
import shutil
from dataclasses import dataclass, field

import processes

# Causes that a broken picture may have.
BROKEN = {"broken or unreadable picture", "value wrong for this picture", "larger than allowed"}
# Faults of decoders. They are tolerated and counted.
TOLERATED = {"worker crashed", "time limit reached", "out of memory"}

# fontconfig renews the caches of the system's fonts if it may write there and they are old, whatever the picture is.
FONT_CACHES = "/var/cache/fontconfig/"

MEMORY_LIMIT = 200 << 10  # kB of the coordinator
# Control characters, and those that turn the direction of texts.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True)
class Kind:
    """What a batch does with its mutants."""

    name: str
    output: str = "out/{stem}.png"
    keys: str = ""
    command: str = "run"
    is_text: bool = False  # without --json: what a person sees is looked at
    share: float = 1  # of a full batch


KINDS = (
    Kind("png"),
    Kind("jpg-tiles", "out/{stem}.jpg", "shard: tile\ntile: 48"),
    Kind("tif-16-tiles", "out/{stem}.tif", "shard: tile\ntile: 40\nsave: {metadata: public, dither: true}"),
    Kind("jpg-checked", "out/{stem}.jpg", "verify: full\nsave: {metadata: keep, progressive: true}"),
    Kind("webp-frames", "out/{stem}.webp", "save: {metadata: icc}"),
    Kind("png-tiles-words", "out/{stem}.png", "shard: tile\nsave: {metadata: strip}", is_text=True, share=0.5),
    Kind("pages", "out/{stem}-{frame}.png", "color: srgb", share=0.5),
    Kind("blur", command="blur", share=0.5),
    Kind("preview", command="preview", share=0.05),
)


@dataclass
class Counts:
    mutants: int = 0
    published: int = 0
    broken: int = 0
    timeouts: int = 0
    memory: int = 0
    signals: dict = field(default_factory=dict)


class Campaign:
    def __init__(self, programs, place, output, sandbox, memory, limit):
        self.programs, self.place, self.output = programs, place, output
        self.environment_of_all = {
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "PENUMBRA_SANDBOX": sandbox,
        }
        self.config = f"workers: 1\nmemory: {memory}\n"
        self.limit = limit  # seconds of an attempt
        self.counts, self.findings, self.references = {}, [], {}
        self.coordinator_peak = self.workers_peak = 0
        self.first_mutants = {}
        self.written_files = processes.WrittenFiles()
        self.reports = None  # the folder of a sanitizer's reports

    def sanitize(self, worker):
        """Uses a worker with AddressSanitizer. A worker writes its report into a file, because nobody reads all that it prints."""
        self.reports = self.output / "reports"
        shutil.rmtree(self.reports, ignore_errors=True)
        self.reports.mkdir(parents=True)
        self.environment_of_all |= {
            "PENUMBRA_SANDBOX": "off",
            "PENUMBRA_WORKER": str(worker),
            # What GLib and libvips hold until the end looks like a leak. A picture may ask for more memory than there is.
            "ASAN_OPTIONS": f"log_path={self.reports}/report detect_leaks=0 allocator_may_return_null=1",
        }

    # Findings

    def find(self, batch, what, *inputs):
        """Keeps a finding with its inputs and the words of the programs."""
        number = len(self.findings) + 1
        self.findings.append(what)
        print(f"mutants: finding {number}: {what}", flush=True)
        folder = self.output / "findings" / f"{number:04d}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "what.txt").write_text(what + "\n", errors="backslashreplace")
        for path in (batch / "job.yaml", batch / "stdout", batch / "stderr", *inputs):
            if path.is_file():
                shutil.copy(path, folder)

    def died(self, name, data, what, message):
        """Keeps a picture that ended a worker."""
        folder = self.output / "deaths" / what
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        with open(self.output / "deaths" / "list.txt", "a") as file:
            file.write(f"{what}\t{name}\t{message}\n")

    # A batch

    def fill(self, batch, files):
        """An empty place with pictures, and folders for all that programs may want to write."""
        shutil.rmtree(batch, ignore_errors=True)
        for name in ("in", "tmp", "home", "state", "config", "elsewhere"):
            (batch / name).mkdir(parents=True)
        (batch / "penumbra.yaml").write_text(self.config)
        (batch / "elsewhere" / "private.txt").write_text("private\n")
        for name, data in files.items():
            (batch / "in" / name).write_bytes(data)

    def penumbra(self, batch, *arguments):
        environment = self.environment_of_all | {
            "HOME": str(batch / "home"),
            "TMPDIR": str(batch / "tmp"),
            "XDG_STATE_HOME": str(batch / "state"),
            "XDG_CONFIG_HOME": str(batch / "config"),
            "XDG_CACHE_HOME": str(self.place / "cache"),
        }
        limit = 120 + 5 * self.limit * len(list((batch / "in").iterdir()))
        command, *rest = arguments
        ended = processes.run(
            [self.programs / "penumbra", command, "--config", "penumbra.yaml", *rest], batch, environment, limit, self.written_files
        )
        self.coordinator_peak = max(self.coordinator_peak, ended.peak)
        self.workers_peak = max(self.workers_peak, ended.workers_peak)
        shown = " ".join(str(word) for word in arguments[:2])
        if ended.hung:
            self.find(batch, f"'penumbra {shown}' does not end within {limit:.0f} s")
        elif ended.code < 0 or ended.code > 128:
            self.find(batch, f"'penumbra {shown}' ended with {ended.code}")
        if ended.peak > MEMORY_LIMIT:
            self.find(batch, f"'penumbra {shown}' held {ended.peak >> 10} MB")
        if ended.left:
            self.find(batch, f"'penumbra {shown}' left processes: {'; '.join(ended.left)}")
        # In JSON they may stand as escapes.
        for line in (ended.output + ended.errors).split("\n"):
            if CONTROLS.search(line):
                self.find(batch, f"'penumbra {shown}' shows control characters: {line[:400]!a}")
                break
        allowed = (str(batch) + "/", str(self.place / "cache") + "/", "/dev/", "/memfd:", "/proc/", FONT_CACHES)
        if self.reports:
            allowed += (str(self.reports) + "/",)
            for report in sorted(self.reports.iterdir()):
                summary = next((line for line in report.read_text(errors="replace").splitlines() if line.startswith("SUMMARY: ")), report.name)
                self.find(batch, f"a worker of 'penumbra {shown}': {summary}", report, *(batch / "in").iterdir())
                report.unlink()
        for path in sorted({path for _, path in ended.written if not path.startswith(allowed)}):
            self.find(batch, f"'penumbra {shown}' wrote {path}")
        return ended

    def run(self, kind, mutants, seeds):
        """Runs a batch. `mutants` are (format, name, bytes), `seeds` are {name: bytes} that must be published."""
        batch = self.place / "batch"
        files = {name: data for _, name, data in mutants} | {f"seed-{name.replace('.', '-', 1)}": data for name, data in seeds.items()}
        self.fill(batch, files)
        for format_name, *_ in mutants:
            self.counts.setdefault(format_name, Counts()).mutants += 1
        {"run": self.run_job, "blur": self.run_blur, "preview": self.run_preview}[kind.command](kind, batch, files, mutants)
        if kind.command != "blur":
            self.check_inputs(batch, files)
        self.check_places(batch)

    def write_manifest(self, batch, kind):
        (batch / "job.yaml").write_text(
            f"job: mutants\ninputs: [in/*]\nfilters:\n  - gaussian: {{radius: 1.3}}\n  - resize: {{size: 64}}\noutput: '{kind.output}'\n"
            f"timeout: {self.limit}s\nmax_pixels: 20M\n{kind.keys}\n"
        )

    def run_job(self, kind, batch, files, mutants):
        self.write_manifest(batch, kind)
        ended = self.penumbra(batch, "run", "job.yaml", *(["--quiet"] if kind.is_text else ["--json"]))
        told = self.penumbra(batch, "show", "--json", "mutants") if kind.is_text else ended
        frames = [event for event in events(told.output) if event.get("event") == "frame"]
        failed = self.check_frames(kind, batch, frames, files, mutants)
        if ended.code != (1 if failed else 0):
            self.find(batch, f"'penumbra run' exited with {ended.code}, and {failed} frames failed")
        outputs = self.check_outputs(kind, batch, frames)
        shown = self.penumbra(batch, "show", "mutants")
        if shown.code not in (0, 1):
            self.find(batch, f"'penumbra show' exited with {shown.code}")
        verified = self.penumbra(batch, "verify", "--json", "job.yaml")
        summary = next((event for event in events(verified.output) if event.get("event") == "verification"), {})
        expected = 0 if outputs else 66
        if verified.code != expected or (outputs and summary.get("states") != {"as published": outputs}):
            self.find(batch, f"'penumbra verify' exited with {verified.code}: {summary.get('states')} of {outputs} outputs")

    def check_frames(self, kind, batch, frames, files, mutants):
        """Every picture is published, or named with a cause that it may have. Returns how many failed."""
        by_name, formats, failed = {}, {name: format_name for format_name, name, _ in mutants}, 0
        for frame in frames:
            by_name.setdefault(frame["input"].rsplit("/", 1)[-1], []).append(frame)
        for name in files.keys() - by_name.keys():
            self.find(batch, f"{name} is neither published nor reported", batch / "in" / name)
        for name in by_name.keys() - files.keys():
            self.find(batch, f"{name} is reported, and is no picture of the job")
        for name, own in by_name.items():
            if len(own) > 1 and "{frame}" not in kind.output:
                self.find(batch, f"{name} is reported {len(own)} times", batch / "in" / name)
            bad = [frame for frame in own if frame["state"] != "published"]
            failed += len(bad)
            if name in formats:
                self.judge(kind, batch, name, formats[name], bad, files)
            elif bad and name in files:
                self.find(batch, f"the seed {name} is not published: {bad[0].get('message')}", batch / "in" / name)
        return failed

    def judge(self, kind, batch, name, format_name, bad, files):
        counts = self.counts[format_name]
        if not bad:
            counts.published += 1
            return
        cause, message = bad[0].get("cause"), bad[0].get("message") or ""
        if bad[0]["state"] != "failed" or not message:
            self.find(batch, f"{name} is '{bad[0]['state']}' without a reason", batch / "in" / name)
        elif cause in BROKEN:
            counts.broken += 1
        elif cause in TOLERATED:
            signal_number = re.search(r"signal (\d+)", message)
            what = f"signal {signal_number.group(1)}" if signal_number else cause
            if cause == "time limit reached":
                counts.timeouts += 1
            elif cause == "out of memory":
                counts.memory += 1
            else:
                counts.signals[what] = counts.signals.get(what, 0) + 1
            self.died(name, files[name], what.replace(" ", "-"), message)
            self.check_blame(kind, name, files[name], cause)
        else:
            counts.broken += 1
            self.find(batch, f"{name}: {cause}: {message}", batch / "in" / name)

    def check_blame(self, kind, name, data, cause):
        """A picture that is blamed for the end of a worker must end one alone, too."""
        alone = self.place / "alone"
        self.fill(alone, {name: data})
        if kind.command == "run":
            self.write_manifest(alone, kind)
            ended = self.penumbra(alone, "run", "job.yaml", "--json")
            causes = {event.get("cause") for event in events(ended.output) if event.get("event") == "frame"} - {None}
            if causes != {cause}:
                self.find(alone, f"{name} is blamed ({cause}), and alone it is: {causes or 'published'}", alone / "in" / name)

    def check_outputs(self, kind, batch, frames):
        """The folder of outputs has what was published and nothing else. Seeds give the same bytes in all batches."""
        expected = set()
        for frame in frames:
            if frame["state"] == "published":
                # 'show' names the paths alone.
                outputs = frame.get("outputs") or [frame["output"]]
                expected |= {one["path"] if isinstance(one, dict) else one for one in outputs}
        found = {str(path) for path in (batch / "out").rglob("*") if path.is_file() and path.name != ".penumbra-index"}
        for path in sorted(expected ^ found):
            self.find(batch, f"{path} is {'not there' if path in expected else 'there, and was not published'}")
        for path in found:
            name = path.rsplit("/", 1)[-1]
            if name.startswith("seed-"):
                with open(path, "rb") as file:
                    digest = hashlib.sha256(file.read()).hexdigest()
                if self.references.setdefault(f"{kind.name}/{name}", digest) != digest:
                    self.find(batch, f"the seed's output {name} has other bytes than in the first batch")
        return len(found)

    def run_blur(self, kind, batch, files, mutants):
        """Blurs the pictures in place, and takes all of it back."""
        formats = {name: format_name for format_name, name, _ in mutants}
        ended = self.penumbra(batch, "blur", "in", "--radius", "2", "--json")
        if ended.code not in (0, 1):
            self.find(batch, f"'penumbra blur' exited with {ended.code}")
        named = {}
        for event in events(ended.output):
            path = event.get("path") or event.get("picture") or ""
            if "/in/" in path or path.startswith("in/"):
                named.setdefault(path.rsplit("/", 1)[-1], []).append(event)
        for name, data in files.items():
            now = (batch / "in" / name).read_bytes() if (batch / "in" / name).is_file() else None
            if now is None:
                self.find(batch, f"'penumbra blur' has removed {name}")
            elif name in formats:
                counts = self.counts[formats[name]]
                if now != data:
                    counts.published += 1
                else:
                    counts.broken += 1
                    text = json.dumps(named.get(name, []))
                    for signal_number in re.findall(r"crashed with signal (\d+)", text)[:1]:
                        counts.broken -= 1
                        counts.signals[f"signal {signal_number}"] = counts.signals.get(f"signal {signal_number}", 0) + 1
                        self.died(name, data, f"signal-{signal_number}", text)
            if now == data and name not in named and name not in ended.errors:
                self.find(batch, f"'penumbra blur' says nothing of {name}", batch / "in" / name)
        back = self.penumbra(batch, "unblur", "in")
        if back.code not in (0, 1):
            self.find(batch, f"'penumbra unblur' exited with {back.code}")
        self.check_inputs(batch, files)

    def run_preview(self, kind, batch, files, mutants):
        """Shows the pictures one by one."""
        self.write_manifest(batch, kind)
        formats = {name: format_name for format_name, name, _ in mutants}
        for name, data in files.items():
            ended = self.penumbra(batch, "preview", "job.yaml", f"in/{name}", "--size", "64", "-o", "preview.png", "--force")
            is_there = (batch / "preview.png").is_file()
            if (ended.code == 0) != is_there or ended.code not in (0, 1, 65, 66):
                self.find(batch, f"'penumbra preview' of {name} exited with {ended.code}", batch / "in" / name)
            if ended.code and name not in ended.errors:
                self.find(batch, f"'penumbra preview' does not name {name}: {ended.errors.strip()}", batch / "in" / name)
            (batch / "preview.png").unlink(missing_ok=True)
            if name in formats:
                counts = self.counts[formats[name]]
                signal_number = re.search(r"crashed with signal (\d+)", ended.errors)
                if ended.code == 0:
                    counts.published += 1
                elif signal_number:
                    what = f"signal {signal_number.group(1)}"
                    counts.signals[what] = counts.signals.get(what, 0) + 1
                    self.died(name, data, what.replace(" ", "-"), ended.errors.strip())
                elif "no result within" in ended.errors:
                    counts.timeouts += 1
                else:
                    counts.broken += 1
            elif ended.code:
                self.find(batch, f"the seed {name} has no preview: {ended.errors.strip()}", batch / "in" / name)

    def check_inputs(self, batch, files):
        there = {path.name for path in (batch / "in").iterdir() if not path.name.startswith(".penumbra")}
        for name in sorted(there ^ files.keys()):
            self.find(batch, f"in/{name} was {'made' if name in there else 'removed'}")
        for name in sorted(there & files.keys()):
            if (batch / "in" / name).read_bytes() != files[name]:
                self.find(batch, f"in/{name} has other bytes than before")

    def check_places(self, batch):
        """Nothing temporary stays, and nothing beside the job was touched."""
        known = {"in", "out", "tmp", "home", "state", "config", "elsewhere", "job.yaml", "penumbra.yaml", "stdout", "stderr"}
        for path in sorted(path.name for path in batch.iterdir() if path.name not in known):
            self.find(batch, f"{path} was made beside the job")
        for folder in ("tmp", "home", "config"):
            for path in sorted((batch / folder).rglob("*")):
                self.find(batch, f"{path.relative_to(batch)} stayed")
        state = batch / "state" / "penumbra"
        for path in sorted(state.rglob("*")):
            if path.is_file() and path.relative_to(state).parts[0] in ("scratch", "runs"):
                self.find(batch, f"{path.relative_to(batch)} stayed")
        if (batch / "elsewhere" / "private.txt").read_text() != "private\n" or len(list((batch / "elsewhere").iterdir())) != 1:
            self.find(batch, "the folder beside the job has changed")


def events(text):
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except ValueError:
                pass  # A line of a text that only begins so.
    return found
