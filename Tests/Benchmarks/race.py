"""Races Penumbra's kernels against what a user would take instead: one core, from memory to memory, all in one run.

Contenders take turns, so that what else the machine does meets all of them, and the best of some rounds counts. Errors
are those of every contender against the exact blur, on a smaller picture with noise and steps. Exits with 1 where
Penumbra is slower, relative to its fastest peer, than Thresholds.json has it on record for this model of CPU. On another
model, more than the largest of all recorded ratios is allowed.
"""

import argparse
import dataclasses
import importlib.metadata
import json
import os
import sys
import time
from pathlib import Path

# One thread each, for this process and the peers' own; libraries look when they are loaded.
os.environ.update({"OMP_NUM_THREADS": "1", "HL_NUM_THREADS": "1", "VIPS_CONCURRENCY": "1", "OPENBLAS_NUM_THREADS": "1"})

import numpy as np  # noqa: E402

import coloring  # noqa: E402
import family  # noqa: E402
import machine  # noqa: E402
import others  # noqa: E402
import peers  # noqa: E402
import sweeps  # noqa: E402
import variable_blur  # noqa: E402
from peers import Case  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
THRESHOLDS = Path(__file__).with_name("Thresholds.json")
RESULTS = ROOT / ".build" / "bench"

RADII = (0.5, 1, 1.5, 2, 2.5, 3, 5, 10, 20, 50, 100, 200)
FEW_RADII = (1, 3, 10, 50)
MOTIONS = ((40, 90, 5), (40, 30, 5), (10, 45, 10), (40, 0, 0), (40, 90, 0), (400, 90, 0), (40, 30, 0))

TOLERANCE = 1.15
# On a model of CPU that has no records.
TOLERANCE_ELSEWHERE = 1.4
TOO_SLOW = 2.0
# Who takes so many times as long as the fastest contender does not race at larger radii.
HOPELESS = 6

# OpenCV, and the IPP inside it, without AVX-512.
AVX2_ONLY = {"OPENCV_CPU_DISABLE": "AVX512-SKX", "OPENCV_IPP": "avx2"}


def all_cases():
    yield from (Case("gaussian", radius) for radius in RADII)
    yield from (Case("gaussian", radius, channels=4) for radius in RADII)
    yield from (Case("gaussian", radius, width=8000, height=6000) for radius in FEW_RADII)
    yield from (Case("gaussian", radius, channels=1) for radius in FEW_RADII)
    yield from (Case("gaussian", radius, bits=16) for radius in FEW_RADII)
    yield from (Case("edges", radius) for radius in (3, 20))
    yield from (Case("motion", radius, angle=angle, samples=samples) for radius, angle, samples in MOTIONS)
    yield from family.cases(Case)
    yield from sweeps.cases(Case)
    yield from others.cases(Case)
    yield from coloring.cases(Case)
    yield Case("variable", 5, width=1000, height=800)
    yield from (Case("variable", radius) for radius in (5, 20, 60))


def quick_cases():
    yield from (Case("gaussian", radius) for radius in FEW_RADII)


def brief_cases():
    """All but those that differ from another one in a radius or a size alone, and take long."""
    few = (1, 2, *FEW_RADII)
    for case in all_cases():
        is_gaussian = case.kind == "gaussian"
        if is_gaussian and case.channels == 4 and case.radius not in few:
            continue
        if is_gaussian and case.megapixels > 12 and case.radius != 10:
            continue
        if case.kind == "zoom" and case.radius > 5 or case.kind == "variable" and case.radius > 20:
            continue
        if case.kind == "spin" and (case.channels, case.bits) != (3, 8):
            continue
        yield case


@dataclasses.dataclass
class Entry:
    """A contender; `rivals` are those whose best time its own is divided by."""

    name: str
    contender: object
    rivals: tuple = ()
    edge: str = "clamp"


@dataclasses.dataclass
class Row:
    """What came of one contender in one case; no seconds where it was too slow at a smaller radius."""

    contender: str
    seconds: float | None
    worst_error: float | None
    mean_error: float | None
    ratio: float | None = None
    rival: str | None = None


class Field:
    """Everybody who takes part on this machine."""

    def __init__(self, options):
        self.library = str(options.kernels)
        self.levels = cpu_levels()
        self.held = "4" in self.levels
        self.wheel = peers.Server(sys.executable)
        self.debian = peers.Server(options.debian_python) if options.debian_python else None
        self.avx2 = peers.Server(sys.executable, AVX2_ONLY) if self.held else None

    def stop(self):
        for server in (self.wheel, self.debian, self.avx2):
            if server:
                server.stop()

    def entries(self, case):
        yield Entry("memcpy", peers.memcpy)
        if case.kind == "edges":
            yield from self.edges()
            return
        if case.kind in family.KINDS:
            yield from self.peers_of(family, "family")
            return
        if case.kind in others.KINDS:
            yield from self.peers_of(others, "others")
            return
        if case.kind in coloring.KINDS:
            yield from self.peers_of(coloring, "coloring")
            return
        if case.kind in sweeps.KINDS:
            yield from sweeps.entries(lambda level: peers.penumbra(self.library, level), self.levels, Entry)
            return
        if case.kind == "variable":
            yield from self.variable(case)
            return
        universal = {"pillow": peers.pillow, "scipy": peers.scipy}
        for origin, server in (("wheel", self.wheel), ("Debian", self.debian)):
            for precision in ("integer", "float") if server else ():
                universal[f"libvips {origin} {precision}"] = server.contender(f"libvips {precision}")
        best = {"opencv": peers.opencv, "opencv expert": peers.opencv_expert, "halide": peers.halide(False)}
        held = {}
        if self.held:
            held = {f"{name} AVX2": self.avx2.contender(name) for name in ("opencv", "opencv expert")}
            held["halide AVX2"] = peers.halide(True)

        # AVX2 races AVX2; peers that cannot be held to it race as they are. AVX-512 races all: OpenCV is often faster
        # without it, as the IPP in it is.
        rivals = {"4": (*best, *held, *universal), "3": (*(held or best), *universal)}
        for level in self.levels:
            yield Entry(f"penumbra v{level}", peers.penumbra(self.library, int(level)), rivals[level])
        for name, contender in (best | held | universal).items():
            yield Entry(name, contender)

    def variable(self, case):
        rivals = variable_blur.contenders(case)
        for level in self.levels:
            yield Entry(f"penumbra v{level}", variable_blur.penumbra(self.library, int(level)), tuple(rivals))
        for name, contender in rivals.items():
            yield Entry(name, contender)

    def peers_of(self, kinds, prefix):
        """AVX-512 races all; AVX2 does not race OpenCV with AVX-512."""
        universal = {name: contender for name, contender in kinds.PEERS.items() if name != "opencv"}
        for origin, server in (("wheel", self.wheel), ("Debian", self.debian)):
            if server:
                universal[f"libvips {origin}"] = server.contender(f"{prefix} libvips")
        best = {"opencv": kinds.opencv}
        held = {"opencv AVX2": self.avx2.contender(f"{prefix} opencv")} if self.held else {}
        rivals = {"4": (*best, *held, *universal), "3": (*(held or best), *universal)}
        for level in self.levels:
            yield Entry(f"penumbra v{level}", peers.penumbra(self.library, int(level)), rivals[level])
        for name, contender in (best | held | universal).items():
            yield Entry(name, contender)

    def edges(self):
        """Other edges should cost what repeating the outermost pixels costs."""
        level = self.levels[0]
        for edge in peers.EDGES:
            rivals = () if edge == "clamp" else (f"penumbra v{level} clamp",)
            yield Entry(f"penumbra v{level} {edge}", peers.penumbra(self.library, int(level), edge), rivals, edge)


def cpu_levels():
    """x86-64-v4 and v3, as far as this CPU has them."""
    flags = set(Path("/proc/cpuinfo").read_text().split("flags", 1)[-1].split("\n", 1)[0].split())
    needed = {"4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}, "3": {"avx2", "fma", "bmi2"}}
    return [level for level, features in needed.items() if features <= flags]


# Pictures


def noise(case):
    if case.bits == 32:
        return bright_floats(case, 1)
    picture = np.random.default_rng(1).integers(0, 1 << case.bits, (case.height, case.width, case.channels), case.dtype)
    return opaque(picture)


def test_chart(case):
    """Bands of noise, of black and white noise, and of steps: what is hard to blur exactly."""
    if case.bits == 32:
        return bright_floats(case, 2)
    rng, white = np.random.default_rng(2), (1 << case.bits) - 1
    shape = (case.height, case.width, case.channels)
    y, x = np.mgrid[: case.height, : case.width]
    steps = ((x // 37 + y // 23) % 2 * white)[:, :, None] * np.ones(case.channels, int)
    bands = [rng.integers(0, white + 1, shape), rng.integers(0, 2, shape) * white, steps]
    band = (y * len(bands) // case.height)[:, :, None]
    return opaque(np.choose(band, bands).astype(case.dtype))


def bright_floats(case, seed):
    """Up to light of more than ten times white."""
    return np.random.default_rng(seed).uniform(0, 3, (case.height, case.width, case.channels)).astype(np.float32)


def opaque(picture):
    if picture.shape[2] == 4:
        picture[:, :, 3] = np.iinfo(picture.dtype).max
    return picture


# The race


# What went wrong with single contenders. A contender that fails does not end the race, unless it is memcpy.
FAILURES = []


def note(case, name, error):
    FAILURES.append(f"{case.name}: {name} failed: {str(error).strip() or type(error).__name__}")
    print(FAILURES[-1], flush=True)
    if name == "memcpy":
        raise error


def errors(entries, case):
    """Each contender's largest and mean error on a small picture, and its seconds for each of the case's pictures by the time for the
    small one. Those that cannot do the case are not in it, and neither are those that fail."""
    small = dataclasses.replace(case, width=800, height=640)
    picture = test_chart(small)
    exact = {edge: peers.truth(picture, case, edge) for edge in {entry.edge for entry in entries}}
    found = {}
    for entry in entries:
        try:
            made = entry.contender(picture, small)
            if made is not None:
                run, result = made
                took = peers.seconds(run)
                if took > 0.1:
                    # The first run of some includes what they do once.
                    took = min(took, peers.seconds(run))
                difference = np.abs(result() - exact[entry.edge])
                expected = took * case.megapixels / small.megapixels
                found[entry.name] = (float(difference.max()), float(difference.mean()), expected)
        except Exception as error:
            note(case, entry.name, error)
        finally:
            # A peer's process closes a picture when its run is let go: before the next one is opened.
            run = result = made = None
    return found


def rounds(first, fastest):
    """How many more, going by how long the first took. Noise matters little where others are several times as fast."""
    if first > 2 * fastest:
        return 2 if first < 0.1 else 1 if first < 0.5 else 0
    return 7 if first < 0.1 else 4 if first < 0.5 else 1 if first < 2 else 0


def best_times(entries, case):
    """Each contender's best seconds; those that cannot do a picture of this size have none."""
    picture = noise(case)
    made, runs, best = {}, {}, {}
    for entry in entries:
        try:
            made[entry.name] = entry.contender(picture, case)
            if made[entry.name] is not None:
                run = made[entry.name][0]
                best[entry.name] = peers.seconds(run)
                runs[entry.name] = run
        except Exception as error:
            note(case, entry.name, error)
    fastest = min((seconds for name, seconds in best.items() if name != "memcpy"), default=0)
    left = {name: 7 if name == "memcpy" else rounds(first, fastest) for name, first in best.items()}
    while any(left.values()):
        for name, run in runs.items():
            if left[name]:
                left[name] -= 1
                best[name] = min(best[name], peers.seconds(run))
    return best


def race(case, field, skipped, error=None):
    """The rows of one case; the contenders named in `skipped` have no time in theirs. `error` has their errors, if known."""
    entries = list(field.entries(case))
    error = errors(entries, case) if error is None else error
    entries = [entry for entry in entries if entry.name in error]
    # Nobody waits for those that cannot win. The best peer races, however slow it is.
    peer_times = {name: found[2] for name, found in error.items() if not name.startswith(("penumbra", "memcpy"))}
    best_peer = min(peer_times, key=peer_times.get, default=None)
    skipped = skipped | {name for name, expected in peer_times.items() if expected > 2 * TOO_SLOW and name != best_peer}
    times = best_times([entry for entry in entries if entry.name not in skipped], case)
    rows = []
    for entry in entries:
        row = Row(entry.name, times.get(entry.name), *(error[entry.name][:2] if entry.name != "memcpy" else (None, None)))
        rivals = [name for name in entry.rivals if name in times]
        if rivals and row.seconds:
            row.rival = min(rivals, key=times.get)
            row.ratio = row.seconds / times[row.rival]
        rows.append(row)
    return rows


def hopeless(case, results):
    """Who was too slow before, with no larger a radius and no more samples: their time grows with both."""

    def easier(other):
        return (
            (other.kind, other.bits) == (case.kind, case.bits)
            and other.kind == "gaussian"
            and other.radius <= case.radius
            and other.megapixels * other.channels <= case.megapixels * case.channels
        )

    slow = set()
    for rows in (rows for other, rows in results.items() if easier(other)):
        fastest = min((row.seconds for row in rows if row.seconds and row.worst_error is not None), default=TOO_SLOW)
        most = min(TOO_SLOW, HOPELESS * fastest)
        slow |= {row.contender for row in rows if row.seconds is None or row.seconds > most}
    return {name for name in slow if name != "memcpy" and not name.startswith("penumbra")}


# Thresholds


def limit(case, contender, recorded):
    """The largest ratio of a contender that is no complaint. Infinite if none is recorded."""
    here = recorded.get(machine.model(), {}).get(case.name, {}).get(contender)
    if here is not None:
        return TOLERANCE * here
    ratios = [cases.get(case.name, {}).get(contender) for cases in recorded.values()]
    return TOLERANCE_ELSEWHERE * max((ratio for ratio in ratios if ratio is not None), default=float("inf"))


def too_slow(case, rows, recorded):
    """The rows that are slower than is allowed."""
    return [row for row in rows if row.ratio and row.ratio > limit(case, row.contender, recorded)]


def complaints(results, recorded, field):
    """What got slower, in a message each."""
    messages = []
    for case, rows in results.items():
        for row in rows:
            if row.ratio and limit(case, row.contender, recorded) == float("inf"):
                messages.append(f"{case.name}: {row.contender} has no ratio on record; --record writes it")
        if not too_slow(case, rows, recorded):
            continue
        # Machines are noisy: it counts only if another race, without those that cannot win it, says so too.
        print(f"{case.name} is slower than recorded; racing it again", flush=True)
        racers = {row.contender for row in rows if row.ratio} | {row.rival for row in rows}
        others = {row.contender for row in rows if row.contender not in racers}
        known = {row.contender: (row.worst_error, row.mean_error, 0) for row in rows}
        for row in too_slow(case, race(case, field, others, known), recorded):
            allowed = limit(case, row.contender, recorded)
            messages.append(
                f"{case.name}: {row.contender} takes {row.ratio:.2f} × its best peer's time; allowed: {allowed:.2f}")
    return messages


def record(results, recorded):
    cases = recorded.setdefault(machine.model(), {})
    for case, rows in results.items():
        cases[case.name] = {row.contender: round(row.ratio, 3) for row in rows if row.ratio}
    THRESHOLDS.write_text(json.dumps(recorded, indent=1) + "\n")


# Tables


def table(header, lines):
    """Markdown, with columns padded so that it reads as plain text too; all but the first are aligned right."""
    widths = [max(len(line[i]) for line in [header, *lines]) for i in range(len(header))]
    rule = [("-" * widths[0])] + ["-" * (width - 1) + ":" for width in widths[1:]]

    def row(cells):
        padded = [cells[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:])]
        return "| " + " | ".join(padded) + " |"

    return "\n".join(row(line) for line in [header, rule, *lines]) + "\n"


def case_table(case, rows):
    copying = rows[0].seconds
    lines = []
    for row in rows:
        times = [f"> {TOO_SLOW:g} s", "", ""]
        if row.seconds:
            times = [f"{row.seconds * 1e3:.1f}", f"{case.megapixels / row.seconds:.0f}", f"{row.seconds / copying:.1f}"]
        ratio = f"{row.ratio:.2f} ({row.rival})" if row.ratio else ""
        error = ["", ""] if row.worst_error is None else [f"{row.worst_error:.2f}", f"{row.mean_error:.3f}"]
        lines.append([row.contender, *times, ratio, *error])
    header = ["contender", "ms", "MP/s", "× memcpy", "of best peer", "max error", "mean error"]
    return f"### {case.name}\n\n{table(header, lines)}"


def summary(results):
    """One line a case: times memcpy, and the share of the best peer's time, of all of Penumbra's rows."""
    lines = []
    for case, rows in results.items():
        for row in rows:
            if row.ratio:
                multiple = f"{row.seconds / rows[0].seconds:.1f}"
                times = [f"{row.seconds * 1e3:.1f}", multiple, f"{row.ratio:.2f}", row.rival]
                lines.append([case.name, row.contender, *times])
    header = ["case", "contender", "ms", "× memcpy", "of best peer", "which is"]
    return f"## Summary\n\n{table(header, lines)}"


def conditions():
    """The machine and the peers' versions, as what follows depends on them."""
    packages = ("halide", "opencolorio", "opencv-python-headless", "pillow", "pyvips-binary", "scipy")
    versions = ", ".join(f"{package} {importlib.metadata.version(package)}" for package in packages)
    return f"{machine.describe()}. {versions}."


def save(results):
    RESULTS.mkdir(parents=True, exist_ok=True)
    cases = [
        {"name": case.name, "case": dataclasses.asdict(case), "rows": [dataclasses.asdict(row) for row in rows]}
        for case, rows in results.items()
    ]
    (RESULTS / "results.json").write_text(json.dumps({"machine": conditions(), "cases": cases}, indent=1) + "\n")
    parts = ["# The race", conditions(), summary(results), *(case_table(case, rows) for case, rows in results.items())]
    (RESULTS / "results.md").write_text("\n\n".join(part.strip() for part in parts) + "\n")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few radii, 8-bit RGB of 12 MP only")
    parser.add_argument("--brief", action="store_true", help="all cases but those that are like another one and take long")
    parser.add_argument("--only", metavar="SUBSTRING", default="", help="only cases with this in their name")
    parser.add_argument("--record", action="store_true", help="write the ratios to Thresholds.json")
    parser.add_argument("--plot", action="store_true", help="draw docs/benchmark.svg")
    parser.add_argument("--kernels", type=Path, default=ROOT / ".build/release/libBenchmarkedKernels.so")
    parser.add_argument("--debian-python", metavar="PYTHON", help="a Python whose pyvips takes Debian's libvips")
    return parser.parse_args()


def run_all(cases, field):
    results = {}
    print(conditions(), flush=True)
    for case in cases:
        start = time.monotonic()
        results[case] = race(case, field, hopeless(case, results))
        print(case_table(case, results[case]) + f"\n({time.monotonic() - start:.0f} s)\n", flush=True)
        save(results)
    print(summary(results), flush=True)
    return results


def main():
    options = arguments()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    chosen = quick_cases if options.quick else brief_cases if options.brief else all_cases
    cases = [case for case in chosen() if options.only in case.name]
    recorded, messages = json.loads(THRESHOLDS.read_text()), []
    field = Field(options)
    try:
        results = run_all(cases, field)
        if options.record:
            record(results, recorded)
        else:
            messages = complaints(results, recorded, field)
        messages += FAILURES
    finally:
        field.stop()
    if options.plot:
        import plot

        plot.draw(RESULTS / "results.json", ROOT / "docs" / "benchmark.svg")
    for message in messages:
        print(message, file=sys.stderr)
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
