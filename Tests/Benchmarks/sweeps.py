"""The race of zoom, spin and bilateral: Penumbra's kernels, their peers, and what is exact."""

import math
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

KINDS = ("zoom", "spin", "bilateral")

# The share of full intensity by which bilateral weights fall.
RANGE = 0.1


def strength(case):
    """A zoom's radius is its amount in percent, a spin's its angle in degrees."""
    return {"zoom": "amount {:g} %", "spin": "angle {:g}°"}.get(case.kind, "radius {:g}").format(case.radius)


def middle(picture):
    height, width = picture.shape[:2]
    return (width - 1) / 2, (height - 1) / 2


def declare(library):
    import ctypes

    for name in ("penumbra_zoom", "penumbra_spin"):
        getattr(library, name).argtypes = [ctypes.c_void_p] + [ctypes.c_double] * 3 + [ctypes.c_int]
    library.penumbra_bilateral.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int]


def run_penumbra(library, handle, picture, case, level):
    if case.kind == "zoom":
        library.penumbra_zoom(handle, case.radius / 100, *middle(picture), level)
    elif case.kind == "spin":
        library.penumbra_spin(handle, case.radius, *middle(picture), level)
    else:
        library.penumbra_bilateral(handle, case.radius, RANGE, level)


# Peers


def longest_path(picture, case):
    """In pixels, at a corner."""
    reach = math.hypot(*middle(picture))
    return reach * (case.radius / 100 if case.kind == "zoom" else math.radians(case.radius))


def opencv_loop(picture, case):
    """The mean of as many warped pictures as the longest path has pixels."""
    import cv2

    if case.kind == "bilateral":
        return None
    cv2.setNumThreads(1)
    height, width = picture.shape[:2]
    center, count = middle(picture), math.ceil(longest_path(picture, case))
    if count > 600:  # minutes
        return None
    total = np.zeros(picture.shape, np.float32)
    warped = np.zeros_like(picture)
    results = [warped]

    def matrix(t):
        angle, scale = (0, 1 - t * case.radius / 100) if case.kind == "zoom" else ((t - 0.5) * case.radius, 1)
        return cv2.getRotationMatrix2D(center, angle, scale)

    def blur():
        total.fill(0)
        for k in range(count):
            flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
            cv2.warpAffine(
                picture, matrix((k + 0.5) / count), (width, height), warped, flags, borderMode=cv2.BORDER_REPLICATE
            )
            cv2.accumulate(warped, total)
        results[0] = cv2.convertScaleAbs(total, alpha=1 / count)

    return blur, lambda: results[0].reshape(picture.shape)


def opencv_polar(finer):
    """To polar coordinates (for a zoom their logarithm, where a path's length is the same everywhere) and back; `finer`
    is how many rows and columns there are for each pixel at the border."""

    def contender(picture, case):
        import cv2

        if case.kind == "bilateral":
            return None
        cv2.setNumThreads(1)
        height, width = picture.shape[:2]
        reach = math.hypot(*middle(picture))
        rows, columns = int(2 * math.pi * reach * finer[0]), int(reach * finer[1])
        flags = cv2.INTER_LINEAR | (cv2.WARP_POLAR_LOG if case.kind == "zoom" else 0)
        if case.kind == "zoom":
            # One pixel at the border is so many of the logarithm's columns.
            columns = int(reach * math.log(reach) * finer[1])
            length = -math.log(1 - case.radius / 100) / math.log(reach) * columns
        if max(rows, columns) > 32000:
            return None
        results = [None]

        def blur():
            polar = cv2.warpPolar(picture, (columns, rows), middle(picture), reach, flags)
            if case.kind == "spin":
                count = round(rows * case.radius / 360) | 1
                side = count // 2
                around = np.concatenate([polar[-side:], polar, polar[:side]])
                means = cv2.blur(around, (1, count))[side:-side]
            else:
                # Equal steps of the logarithm are longer far out: weights that fall towards the centre.
                count = max(1, round(length))
                steps = np.exp(-np.arange(count) * math.log(reach) / columns)[::-1]
                kernel = (steps / steps.sum())[None, :]
                means = cv2.filter2D(polar, -1, kernel, anchor=(count - 1, 0), borderType=cv2.BORDER_REPLICATE)
            results[0] = cv2.warpPolar(
                means, (width, height), middle(picture), reach, flags | cv2.WARP_INVERSE_MAP
            )

        return blur, lambda: results[0].reshape(picture.shape)

    return contender


class Convert:
    """ImageMagick's spin; what it takes without one (to start, read and write) is taken off."""

    def __init__(self, picture, case):
        self.folder = tempfile.TemporaryDirectory()
        self.source, self.target = Path(self.folder.name, "in.ppm"), Path(self.folder.name, "out.ppm")
        self.picture, self.case = picture, case
        height, width = picture.shape[:2]
        self.source.write_bytes(b"P6 %d %d 255\n" % (width, height) + picture.tobytes())

    def timed(self, *options):
        command = ["convert", "-limit", "thread", "1", str(self.source), *options, "-depth", "8", str(self.target)]
        start = time.perf_counter()
        subprocess.run(command, check=True)
        return time.perf_counter() - start

    def seconds(self):
        return self.timed("-rotational-blur", f"{self.case.radius:g}") - self.timed()

    def result(self):
        self.timed("-rotational-blur", f"{self.case.radius:g}")
        data = self.target.read_bytes()
        return np.frombuffer(data[-self.picture.size :], np.uint8).reshape(self.picture.shape)


def imagemagick(picture, case):
    if case.kind != "spin" or case.bits != 8 or case.channels != 3 or not shutil.which("convert"):
        return None
    run = Convert(picture, case)
    return run, run.result


def opencv_bilateral(picture, case):
    """Of 8-bit colours OpenCV takes the sum of the channels' differences, where Penumbra takes the Euclidean distance: the
    same work, but not the same result."""
    import cv2

    if case.kind != "bilateral" or case.bits != 8:
        return None
    cv2.setNumThreads(1)
    results = [None]
    side = 2 * math.ceil(3 * case.radius) + 1

    def blur():
        results[0] = cv2.bilateralFilter(
            picture, side, 255 * RANGE, case.radius, borderType=cv2.BORDER_REPLICATE
        )

    return blur, lambda: results[0].reshape(picture.shape)


PEERS = {
    "opencv polar": opencv_polar((1, 1)),
    "opencv polar, twice as fine": opencv_polar((0.5, 2)),
    "opencv polar, coarse": opencv_polar((0.2, 1)),
    "opencv loop": opencv_loop,
    "opencv bilateral": opencv_bilateral,
    "imagemagick": imagemagick,
}


# Truth


def path(case, picture, x, y, t):
    """The rows and columns of the points at t, 0…1, of the paths of the pixels (x, y)."""
    cx, cy = middle(picture)
    if case.kind == "zoom":
        share = 1 - t * case.radius / 100
        return cy + (y - cy) * share, cx + (x - cx) * share
    angle = (t - 0.5) * math.radians(case.radius)
    dx, dy = x - cx, y - cy
    return cy + dx * math.sin(angle) + dy * math.cos(angle), cx + dx * math.cos(angle) - dy * math.sin(angle)


def truth(picture, case):
    return bilateral_truth(picture, case) if case.kind == "bilateral" else sweep_truth(picture, case)


def sweep_truth(picture, case):
    """The mean of four bilinear samples for each pixel of the longest path."""
    from scipy import ndimage

    y, x = np.mgrid[: picture.shape[0], : picture.shape[1]].astype(np.float64)
    count = 4 * math.ceil(longest_path(picture, case))
    total = np.zeros(picture.shape)
    for k in range(count):
        places = path(case, picture, x, y, (k + 0.5) / count)
        for channel in range(picture.shape[2]):
            total[:, :, channel] += ndimage.map_coordinates(
                picture[:, :, channel], places, np.float64, order=1, mode="nearest"
            )
    return total / count


def bilateral_truth(picture, case):
    """A gray picture has a grid, without a limit at three radii."""
    limit = 6 if picture.shape[2] == 1 else 3
    reach, own = math.ceil(limit * case.radius), picture.astype(np.float64)
    height, width = picture.shape[:2]
    around = np.pad(own, ((reach, reach), (reach, reach), (0, 0)), mode="edge")
    total, weights = np.zeros_like(own), np.zeros((height, width, 1))
    scale = RANGE * np.iinfo(picture.dtype).max
    for dy in range(-reach, reach + 1):
        for dx in range(-reach, reach + 1):
            if dx * dx + dy * dy <= reach * reach:
                other = around[reach + dy : reach + dy + height, reach + dx : reach + dx + width]
                difference = ((other - own) ** 2).sum(axis=2, keepdims=True)
                weight = np.exp(
                    -(dx * dx + dy * dy) / (2 * case.radius**2) - difference / (2 * scale * scale)
                )
                total += weight * other
                weights += weight
    return total / weights


def entries(penumbra, levels, entry):
    """Every level of Penumbra against the peers that aim at the same result, then all of them."""
    rivals = tuple(name for name in PEERS if name != "opencv polar, coarse")  # its mean error is over ten times ours
    for level in levels:
        yield entry(f"penumbra v{level}", penumbra(int(level)), rivals)
    for name, contender in PEERS.items():
        yield entry(name, contender)


def cases(make):
    """One for each size and strength of a family; zoom and spin have pictures of 12 megapixels as all do."""
    yield from (make("spin", angle) for angle in (1, 10))
    yield from (make("zoom", amount) for amount in (5, 20))
    yield from (make("spin", 10, channels=channels, bits=bits) for channels, bits in ((4, 8), (3, 16)))
    yield from (make("bilateral", radius, width=1200, height=1000) for radius in (2, 4, 8))
    yield make("bilateral", 8, channels=1, width=1200, height=1000)

