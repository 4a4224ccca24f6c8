"""Draws the races as SVG: the milliseconds of a Gaussian of 12 MP over the radius, and whole jobs as multiples of Penumbra's time."""

import json
import math

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

SERIES = "gaussian RGB u8 12 MP"

# The label, what it stands for in the results (of several, the fastest), and the line's style.
LINES = (
    ("scipy", ("scipy",), {"color": "#8c564b"}),
    ("Pillow", ("pillow",), {"color": "#9467bd"}),
    ("libvips", ("libvips wheel integer", "libvips Debian integer"), {"color": "#e377c2"}),
    ("OpenCV", ("opencv",), {"color": "#1f77b4"}),
    ("OpenCV, made smaller", ("opencv expert",), {"color": "#1f77b4", "linestyle": "--"}),
    ("Halide", ("halide",), {"color": "#2ca02c"}),
    ("Penumbra, AVX2", ("penumbra v3",), {"color": "#d62728", "linestyle": "--", "linewidth": 2}),
    ("Penumbra, AVX-512", ("penumbra v4",), {"color": "#d62728", "linewidth": 3}),
    ("memcpy", ("memcpy",), {"color": "#555555", "linestyle": ":"}),
)

# How far apart labels are kept, as a factor on the logarithmic axis.
LABEL_DISTANCE = 1.4


def points(cases, contenders):
    """Radii and milliseconds, where one of the contenders took part."""
    found = []
    for case in cases:
        times = [row["seconds"] for row in case["rows"] if row["contender"] in contenders and row["seconds"]]
        if times:
            found.append((case["case"]["radius"], min(times) * 1e3))
    return found


def label_heights(ends):
    """Where labels go, beside their lines' ends as far as they do not cover each other."""
    heights, lowest = {}, 0
    for label, end in sorted(ends.items(), key=lambda item: item[1]):
        lowest = max(end, lowest * LABEL_DISTANCE)
        heights[label] = lowest
    return heights


def draw(results, target):
    cases = [case for case in json.loads(results.read_text())["cases"] if case["name"].startswith(SERIES)]
    pyplot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "penumbra", "font.family": "sans-serif"})
    figure, axes = pyplot.subplots(figsize=(9, 5.5), facecolor="white")
    ends, styles, last_radius = {}, {}, max(case["case"]["radius"] for case in cases)
    for label, contenders, style in LINES:
        line = points(cases, contenders)
        if line:
            axes.plot(*zip(*line), marker="o", markersize=3, **style)
            ends[label], styles[label] = line[-1], style
    heights = label_heights({label: milliseconds for label, (_, milliseconds) in ends.items()})
    for label, (radius, milliseconds) in ends.items():
        # A line that ends early, as its tool got too slow, leads to its label by a thin one.
        place = (last_radius * 1.25, heights[label])
        leader = {"arrowstyle": "-", "color": styles[label]["color"], "linewidth": 0.5}
        axes.annotate(
            label, (radius, milliseconds), place, color=styles[label]["color"], va="center", arrowprops=leader
        )
    style_axes(axes, sorted({case["case"]["radius"] for case in cases}))
    figure.savefig(target, format="svg", bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)


def draw_jobs(results, target):
    """A group of bars for each race: how many times as long as Penumbra each contender takes."""
    saved = json.loads(results.read_text())
    pyplot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "penumbra", "font.family": "sans-serif"})
    rows = []
    for race in (race for name, race in saved["races"].items() if not name.endswith(" quick")):
        times = {name: contender["seconds"] for name, contender in race["contenders"].items()}
        own = times["penumbra"]
        # Penumbra in other ways, and who only copies.
        left_out = ("penumbra", "one worker", "vips copy", "pyvips copy")
        others = [(name, seconds / own) for name, seconds in times.items() if not name.startswith(left_out)]
        if others:
            rows.append((f"{race['title']}: {own:.2g} s" if own < 10 else f"{race['title']}: {own:.0f} s", None))
            rows += sorted(others, key=lambda other: other[1])
    figure, axes = pyplot.subplots(figsize=(9, 0.26 * len(rows) + 1), facecolor="white")
    for place, (label, share) in enumerate(rows):
        if share is None:
            axes.text(0.011, place, label, va="center", fontweight="bold")
            continue
        axes.barh(place, share - 0.01, left=0.01, height=0.7, color="#1f77b4" if share >= 1 else "#bbbbbb")
        axes.text(max(share, 0.01) * 1.05, place, f"{label}  {share:.2g}", va="center")
    axes.axvline(1, color="#d62728", linewidth=2)
    axes.set(xscale="log", xlim=(0.01, 1000), xlabel="how many times as long as Penumbra (red line)")
    axes.invert_yaxis()
    axes.yaxis.set_visible(False)
    axes.set_title(saved["machine"], loc="left", fontsize="small")
    axes.spines[["top", "right", "left"]].set_visible(False)
    figure.savefig(target, format="svg", bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)


def style_axes(axes, radii):
    axes.set(xscale="log", yscale="log", xlabel="radius (σ) in pixels", ylabel="milliseconds")
    axes.set_title("Gaussian blur of 12 megapixels, 8-bit RGB, on one core", loc="left")
    axes.set_xticks(radii, [f"{radius:g}" for radius in radii])
    axes.minorticks_off()
    low, high = axes.get_ylim()
    ticks = [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    axes.set_yticks(ticks, [f"{tick:,.0f}" for tick in ticks])
    axes.set_ylim(low, high)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
