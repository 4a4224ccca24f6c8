"""The blur whose radius changes across the picture: its contenders, its mask and its truth."""

import ctypes
import dataclasses
import os
import subprocess
import tempfile

import numpy as np

import peers

GRAYS = 64
LEVELS = 8


def mask(case):
    """Smooth hills of every radius, in so many grays that each can be blurred exactly."""
    y, x = np.mgrid[: case.height, : case.width] / case.height
    hills = 0.5 + 0.3 * np.sin(5 * x + 3 * y) + 0.25 * np.cos(7 * y - 2 * x * x)
    return (np.clip(hills, 0, 1) * (GRAYS - 1)).round().astype(np.uint8) * (255 // (GRAYS - 1))


def penumbra(path, level):
    def contender(picture, case):
        library = peers.kernels(path)
        library.penumbra_variable.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p, ctypes.c_int]
        mine, strengths = peers.PenumbraPicture(library, picture, "clamp"), mask(case)
        return (
            lambda: library.penumbra_variable(mine.handle, case.radius, strengths.ctypes.data, level),
            mine.result,
        )

    return contender


def stack(blurred):
    """What is written in Python: a few blurs, and for each pixel a mean of the two around its radius."""

    def contender(picture, case):
        target, place = np.zeros_like(picture), mask(case)[:, :, None].astype(np.float32) * (LEVELS / 255)

        def blur():
            total = np.zeros(picture.shape, np.float32)
            for level in range(LEVELS + 1):
                weight = np.maximum(0, 1 - np.abs(place - level))
                total += weight * (blurred(picture, case.radius * level / LEVELS) if level else picture)
            np.copyto(target, np.rint(total).astype(picture.dtype))

        return blur, lambda: target

    return contender


def opencv_level(picture, sigma):
    import cv2

    cv2.setNumThreads(1)
    return cv2.GaussianBlur(picture, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE).reshape(picture.shape)


def scipy_level(picture, sigma):
    from scipy import ndimage

    return ndimage.gaussian_filter(picture, (sigma, sigma, 0), mode="nearest")


def imagemagick(picture, case):
    """Its own compositing by a mask, file to file: it has no other door."""
    folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    height, width = picture.shape[:2]
    with open(f"{folder.name}/in.ppm", "wb") as file:
        file.write(b"P6\n%d %d\n255\n" % (width, height) + picture.tobytes())
    with open(f"{folder.name}/mask.pgm", "wb") as file:
        file.write(b"P5\n%d %d\n255\n" % (width, height) + mask(case).tobytes())
    command = ["convert", "in.ppm", "mask.pgm", "-define", f"compose:args={case.radius:g}", "-compose", "blur"]

    def blur():
        environment = {**os.environ, "MAGICK_THREAD_LIMIT": "1"}
        subprocess.run([*command, "-composite", "out.ppm"], cwd=folder.name, env=environment, check=True)

    def result():
        with open(f"{folder.name}/out.ppm", "rb") as file:
            return np.frombuffer(file.read()[-picture.size :], picture.dtype).reshape(picture.shape)

    return blur, result


def contenders(case):
    """Those that do not take minutes."""
    found = {"opencv stack": stack(opencv_level)}
    if case.megapixels * case.radius <= 60:
        found["scipy stack"] = stack(scipy_level)
    if case.megapixels * case.radius**2 <= 100:
        found["imagemagick"] = imagemagick
    return found


def spread(ratio):
    """How much of a pixel spreads into a blur, by the ratio of its own standard deviation to that of the blur."""
    place = np.clip((ratio - 1 / 8) / (3 / 8), 0, 1)
    return place**3 * (10 - 15 * place + 6 * place**2)


def truth(picture, case):
    """Each gray's own exact blur of the pixels that spread into it, where the mask has that gray."""
    from scipy import ndimage

    height, width = picture.shape[:2]
    strengths = mask(dataclasses.replace(case, width=width, height=height))
    exact = picture.astype(float)
    source = picture.astype(float)
    for gray in np.unique(strengths):
        sigma = case.radius * float(gray) / 255
        if sigma == 0:
            continue
        share = spread(strengths / float(gray))[:, :, None]
        blurred, total = source * share, share
        weights = peers.gaussian_kernel(sigma)
        for axis in (0, 1):
            blurred = ndimage.correlate1d(blurred, weights, axis=axis, mode="nearest")
            total = ndimage.correlate1d(total, weights, axis=axis, mode="nearest")
        here = strengths == gray
        exact[here] = blurred[here] / total[here]
    return exact
