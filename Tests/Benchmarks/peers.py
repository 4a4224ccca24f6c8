"""What is raced: Penumbra's kernels, and what a user would take instead, each behind the same few lines.

A contender is made of a picture and a case and answers two functions: one that blurs once, and one that answers what
came out; or None where it cannot do the case. It imports its library itself, because no environment has them all.
"""

import ctypes
import dataclasses
import functools
import json
import math
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import coloring
import family
import others
import sweeps

EDGES = {"clamp": 0, "mirror": 1, "wrap": 2}
PADDING = {"clamp": "edge", "mirror": "symmetric", "wrap": "wrap"}


@dataclasses.dataclass(frozen=True)
class Case:
    """One picture's shape, and what is done to it. Without samples, motion is continuous."""

    kind: str
    radius: float
    channels: int = 3
    bits: int = 8
    width: int = 4000
    height: int = 3000
    angle: float = 0
    samples: int = 0

    @property
    def megapixels(self):
        return self.width * self.height / 1e6

    @property
    def series(self):
        """The cases that differ in nothing but the radius."""
        name = {1: "gray", 3: "RGB", 4: "RGBA"}[self.channels]
        samples = f"u{self.bits}" if self.bits < 32 else "f32"
        return f"{self.kind} {name} {samples} {self.megapixels:.0f} MP"

    @property
    def name(self):
        if self.kind in sweeps.KINDS:
            return f"{self.series} {sweeps.strength(self)}"
        if self.kind in others.KINDS:
            return f"{self.series} {others.strength(self)}"
        motion = f" angle {self.angle:g} {f'samples {self.samples}' if self.samples else 'continuous'}"
        if self.kind in coloring.KINDS:
            return f"{self.series} {coloring.strength(self)}"
        return f"{self.series} radius {self.radius:g}{motion if self.kind == 'motion' else ''}"

    @property
    def dtype(self):
        return {8: np.uint8, 16: np.uint16, 32: np.float32}[self.bits]


# Penumbra, and memcpy


def memcpy(picture, case):
    target = np.zeros_like(picture)
    return lambda: np.copyto(target, picture), lambda: target


@functools.cache
def kernels(path):
    library = ctypes.CDLL(path)
    library.penumbra_picture.restype = ctypes.c_void_p
    library.penumbra_picture.argtypes = [ctypes.c_void_p] + [ctypes.c_int] * 5
    library.penumbra_gaussian.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int]
    library.penumbra_motion.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int, ctypes.c_int]
    family.declare(library)
    others.declare(library)
    coloring.declare(library)
    library.penumbra_result.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.penumbra_free.argtypes = [ctypes.c_void_p]
    sweeps.declare(library)
    return library


class PenumbraPicture:
    """A picture inside Penumbra's library, for as long as this object lives."""

    def __init__(self, library, picture, edge):
        height, width, channels = picture.shape
        self.library, self.like = library, picture
        self.handle = library.penumbra_picture(
            picture.ctypes.data, width, height, channels, picture.itemsize, EDGES[edge]
        )

    def blur(self, case, level):
        if case.kind in sweeps.KINDS:
            sweeps.run_penumbra(self.library, self.handle, self.like, case, level)
        elif case.kind in family.KINDS:
            family.run(self.library, self.handle, case, level)
        elif case.kind in others.KINDS:
            others.run(self.library, self.handle, case, level)
        elif case.kind in coloring.KINDS:
            coloring.run(self.library, self.handle, self.like, case, level)
        elif case.kind == "motion":
            self.library.penumbra_motion(self.handle, case.radius, case.angle, case.samples, level)
        else:
            self.library.penumbra_gaussian(self.handle, case.radius, case.radius, level)

    def result(self):
        target = np.empty_like(self.like)
        self.library.penumbra_result(self.handle, target.ctypes.data)
        return target

    def __del__(self):
        self.library.penumbra_free(self.handle)


def penumbra(path, level, edge="clamp"):
    def contender(picture, case):
        mine = PenumbraPicture(kernels(path), picture, edge)
        return lambda: mine.blur(case, level), mine.result

    return contender


# Peers of the Gaussian


def opencv(picture, case):
    import cv2

    cv2.setNumThreads(1)
    target = np.zeros_like(picture)
    if case.kind == "motion":
        blur = functools.partial(cv2.filter2D, picture, -1, motion_kernel(case))
    else:
        blur = functools.partial(cv2.GaussianBlur, picture, (0, 0), case.radius)
    return lambda: blur(dst=target, borderType=cv2.BORDER_REPLICATE), lambda: target.reshape(picture.shape)


def opencv_expert(picture, case):
    """Smaller by a power of two, blurred, and enlarged: for who knows that a blurred picture has no detail."""
    import cv2

    cv2.setNumThreads(1)
    factor = 2 ** max(0, int(math.log2(case.radius / 2.5)))
    if case.kind != "gaussian" or factor == 1:
        return None
    height, width = picture.shape[:2]
    # Averaging is fast by whole factors only: one that divides the sides first, the rest on the small picture.
    exact = math.gcd(factor, math.gcd(width, height))
    halfway = (width // exact, height // exact)
    small = (math.ceil(width / factor), math.ceil(height / factor))
    sigmas = [blur_left(case.radius, whole / part) for whole, part in zip((width, height), small)]
    target = np.zeros_like(picture)

    def blur():
        shrunk = cv2.resize(picture, halfway, interpolation=cv2.INTER_AREA)
        if small != halfway:
            shrunk = cv2.resize(shrunk, small, interpolation=cv2.INTER_AREA)
        blurred = cv2.GaussianBlur(shrunk, (0, 0), sigmas[0], sigmaY=sigmas[1], borderType=cv2.BORDER_REPLICATE)
        cv2.resize(blurred, (width, height), dst=target, interpolation=cv2.INTER_LINEAR)

    return blur, lambda: target


def blur_left(sigma, factor):
    """The sigma on the small picture: averaging and linear enlarging have a variance of about factor² / 4."""
    return math.sqrt(sigma**2 - factor**2 / 4) / factor


def halide(avx2_only):
    def contender(picture, case):
        import halide as hl

        if case.kind != "gaussian":
            return None
        source, function = compiled_halide(case.bits, case.radius, case.channels, avx2_only)
        target = np.zeros_like(picture)
        flat = hl.Buffer(target.reshape(target.shape[0], -1))
        seen = hl.Buffer(picture.reshape(picture.shape[0], -1))

        def blur():
            source.set(seen)
            function.realize(flat)

        return blur, lambda: target

    return contender


@functools.cache
def compiled_halide(*arguments):
    import halide_gaussian

    return halide_gaussian.compiled(*arguments)


def pillow(picture, case):
    from PIL import Image, ImageFilter

    if case.kind != "gaussian" or case.bits != 8:
        return None
    image = Image.fromarray(picture[:, :, 0] if case.channels == 1 else picture)
    results = [None]

    def blur():
        results[0] = image.filter(ImageFilter.GaussianBlur(case.radius))

    return blur, lambda: np.asarray(results[0]).reshape(picture.shape)


def scipy(picture, case):
    from scipy import ndimage

    if case.kind != "gaussian":
        return None
    target = np.zeros_like(picture)
    sigmas = (case.radius, case.radius, 0)
    return lambda: ndimage.gaussian_filter(picture, sigmas, mode="nearest", output=target), lambda: target


def libvips(precision):
    def contender(picture, case):
        import pyvips

        if case.kind != "gaussian":
            return None
        pyvips.cache_set_max(0)
        height, width, channels = picture.shape
        image = pyvips.Image.new_from_memory(
            picture.data, width, height, channels, "uchar" if case.bits == 8 else "ushort"
        )
        results = [b""]

        def blur():
            blurred = image.gaussblur(case.radius, precision=precision)
            # Of "float" the result is in floating point; a user casts it back, to save it.
            results[0] = blurred.cast(image.format).write_to_memory()

        return blur, lambda: np.frombuffer(results[0], picture.dtype).reshape(picture.shape)

    return contender


# Peers in a process of their own (peer_server.py): two libvips do not fit in one process, and OpenCV reads the CPU
# features that it is denied when it is loaded.

SERVED = {
    "opencv": opencv,
    "opencv expert": opencv_expert,
    "libvips integer": libvips("integer"),
    "libvips float": libvips("float"),
    **family.SERVED,
    **others.SERVED,
    **coloring.SERVED,
}


class Server:
    """A process that blurs on command; it inherits the core that this one is pinned to."""

    def __init__(self, python, environment=None):
        script = Path(__file__).with_name("peer_server.py")
        self.process = subprocess.Popen(
            [python, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})},
        )  # fmt: skip

    def ask(self, **request):
        print(json.dumps(request), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("a peer's process ended")
        return json.loads(line)["answer"]

    def contender(self, peer):
        def made(picture, case):
            with tempfile.TemporaryDirectory() as folder:
                path = f"{folder}/picture.npy"
                np.save(path, picture)
                if not self.ask(do="open", peer=peer, path=path, case=dataclasses.asdict(case)):
                    return None
            return RemoteRun(self, peer), functools.partial(self.result, peer)

        return made

    def result(self, peer):
        with tempfile.TemporaryDirectory() as folder:
            self.ask(do="result", peer=peer, path=f"{folder}/result.npy")
            return np.load(f"{folder}/result.npy")

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


class RemoteRun:
    """A blur in another process, which takes the time itself, so that the pipes do not count."""

    def __init__(self, server, peer):
        self.server, self.peer = server, peer

    def seconds(self):
        return self.server.ask(do="run", peer=self.peer)

    def __del__(self):
        if self.server.process.poll() is None:
            self.server.ask(do="close", peer=self.peer)


def seconds(run):
    """Blurs once."""
    if hasattr(run, "seconds"):
        return run.seconds()
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


# Truth


def motion_kernel(case):
    """The mean of the bilinear samples along p ± radius · (cos angle, −sin angle), as a picture."""
    count = case.samples or max(1000, int(20 * case.radius))
    steps = np.arange(-count, count + 1) / count * case.radius
    x, y = np.round(steps * np.cos(np.deg2rad(case.angle)), 9), np.round(-steps * np.sin(np.deg2rad(case.angle)), 9)
    reach_x, reach_y = math.ceil(abs(x).max()), math.ceil(abs(y).max())
    # A share of 0 may fall one place outside.
    kernel = np.zeros((2 * reach_y + 2, 2 * reach_x + 2))
    left, top = np.floor(x).astype(int), np.floor(y).astype(int)
    for down, right in ((0, 0), (0, 1), (1, 0), (1, 1)):
        share = abs(1 - down - (y - top)) * abs(1 - right - (x - left))
        np.add.at(kernel, (top + reach_y + down, left + reach_x + right), share)
    return kernel[:-1, :-1] / (2 * count + 1)


def gaussian_kernel(sigma):
    reach = math.ceil(8 * sigma)
    taps = np.exp(-np.arange(-reach, reach + 1) ** 2 / (2 * sigma * sigma))
    return taps / taps.sum()


def truth(picture, case, edge="clamp"):
    """The exact blur in double precision."""
    if case.kind in family.KINDS:
        return family.truth(picture, case, functools.partial(convolved, edge=edge), gaussian_kernel)
    if case.kind in sweeps.KINDS:
        return sweeps.truth(picture, case)
    if case.kind in others.KINDS:
        return others.truth(picture, case)
    if case.kind in coloring.KINDS:
        return coloring.truth(picture, case, functools.partial(convolved, edge=edge), gaussian_kernel)
    if case.kind == "variable":
        import variable_blur

        return variable_blur.truth(picture, case)
    if case.kind == "motion":
        return convolved(picture, [motion_kernel(case)[:, :, None]], edge)
    taps = gaussian_kernel(case.radius)
    return convolved(picture, [taps[:, None, None], taps[None, :, None]], edge)


def convolved(picture, kernels_of_case, edge):
    from scipy.signal import fftconvolve

    result = picture.astype(np.float64)
    for kernel in kernels_of_case:
        padding = [(side // 2, side // 2) for side in kernel.shape]
        result = fftconvolve(np.pad(result, padding, mode=PADDING[edge]), kernel, mode="valid", axes=(0, 1))
    return result
