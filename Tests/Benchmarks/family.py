"""The rest of the blur family in the race: cases, contenders and exact results; see race.py and peers.py.

Radii are Penumbra's: a box and a median are 2·radius + 1 pixels wide, so is a disc, and a sharpening's radius is the
standard deviation of its Gaussian.
"""

import ctypes
import functools
import math

import numpy as np

KINDS = ("box", "disc", "sharpen", "median")
RADII = {"box": (1, 2.5, 5, 10, 50, 200), "disc": (2, 8, 20, 50), "sharpen": (1, 2, 5, 20), "median": (1, 2, 5, 10, 50)}
AMOUNT = 1.5


def cases(make):
    """`make` is peers.Case."""
    for kind in KINDS:
        yield from (make(kind, radius) for radius in RADII[kind])
    yield from (make("box", 10, channels=channels) for channels in (1, 4))
    yield from (make("median", radius, channels=channels) for radius in (1, 10) for channels in (1, 4))
    yield make("box", 10, bits=16)
    yield from (make("median", radius, bits=16) for radius in (1, 2))
    yield make("disc", 8, channels=4)
    yield make("sharpen", 2, channels=4)


def declare(library):
    """Tells ctypes what the functions of BenchmarkedKernels take."""
    pointer, double, whole = ctypes.c_void_p, ctypes.c_double, ctypes.c_int
    library.penumbra_box.argtypes = [pointer, double, double, whole]
    library.penumbra_disc.argtypes = [pointer, double, whole]
    library.penumbra_sharpen.argtypes = [pointer, double, double, double, whole]
    library.penumbra_median.argtypes = [pointer, whole, whole]


def run(library, handle, case, level):
    if case.kind == "box":
        library.penumbra_box(handle, case.radius, case.radius, level)
    elif case.kind == "disc":
        library.penumbra_disc(handle, case.radius, level)
    elif case.kind == "sharpen":
        library.penumbra_sharpen(handle, case.radius, AMOUNT, 0, level)
    else:
        library.penumbra_median(handle, int(case.radius), level)


# Peers


def side(case):
    return int(2 * case.radius + 1)


def is_whole(case):
    return case.radius == int(case.radius)


def opencv(picture, case):
    import cv2

    cv2.setNumThreads(1)
    target = np.zeros_like(picture)
    border = cv2.BORDER_REPLICATE

    def sharpen():
        blurred = cv2.GaussianBlur(picture, (0, 0), case.radius, borderType=border)
        cv2.addWeighted(picture, 1 + AMOUNT, blurred, -AMOUNT, 0, dst=target)

    size = (side(case), side(case))
    kernel = disc_kernel(case.radius) if case.kind == "disc" else None
    runs = {
        "box": lambda: cv2.blur(picture, size, dst=target, borderType=border),
        "disc": lambda: cv2.filter2D(picture, -1, kernel, dst=target, borderType=border),
        "sharpen": sharpen,
        "median": lambda: cv2.medianBlur(picture, size[0], dst=target),
    }
    if case.kind == "box" and not is_whole(case):
        return None
    return runs[case.kind], lambda: target.reshape(picture.shape)


def pillow(picture, case):
    from PIL import Image, ImageFilter

    filters = {
        "box": lambda: ImageFilter.BoxBlur(case.radius),
        # Its amount is a percentage.
        "sharpen": lambda: ImageFilter.UnsharpMask(case.radius, round(100 * AMOUNT), 0),
        # A rank filter of so many pixels takes minutes.
        "median": lambda: ImageFilter.MedianFilter(side(case)) if case.radius <= 2 else None,
    }
    chosen = filters.get(case.kind, lambda: None)()
    if chosen is None or case.bits != 8:
        return None
    image = Image.fromarray(picture[:, :, 0] if case.channels == 1 else picture)
    results = [None]

    def blur():
        results[0] = image.filter(chosen)

    return blur, lambda: np.asarray(results[0]).reshape(picture.shape)


def scipy(picture, case):
    from scipy import ndimage

    target = np.zeros_like(picture)
    size = (side(case), side(case), 1)
    if case.kind == "box" and is_whole(case):
        return lambda: ndimage.uniform_filter(picture, size, output=target, mode="nearest"), lambda: target
    if case.kind == "median" and case.radius <= 2:
        return lambda: ndimage.median_filter(picture, size, output=target, mode="nearest"), lambda: target
    return None


def libvips(picture, case):
    import pyvips

    if case.kind not in ("median", "sharpen") or case.kind == "median" and case.radius > 2:
        return None
    pyvips.cache_set_max(0)
    height, width, channels = picture.shape
    image = pyvips.Image.new_from_memory(picture.data, width, height, channels, "uchar" if case.bits == 8 else "ushort")
    results = [b""]

    def blur():
        if case.kind == "median":
            made = image.median(side(case))
        else:
            made = image * (1 + AMOUNT) - image.gaussblur(case.radius) * AMOUNT + 0.5
        results[0] = made.cast(image.format).write_to_memory()

    return blur, lambda: np.frombuffer(results[0], picture.dtype).reshape(picture.shape)


PEERS = {"opencv": opencv, "pillow": pillow, "scipy": scipy}
SERVED = {"family opencv": opencv, "family libvips": libvips}


# Exact results


def disc_kernel(radius, parts=32):
    """What a circle of radius + ½ covers of each pixel, counted on `parts`² points of each."""
    reach = math.ceil(radius)
    places = (np.arange((2 * reach + 1) * parts) + 0.5) / parts - reach - 0.5
    inside = np.hypot(places[:, None], places[None, :]) <= radius + 0.5
    kernel = inside.reshape(2 * reach + 1, parts, 2 * reach + 1, parts).mean((1, 3))
    return kernel / kernel.sum()


def box_taps(radius):
    reach = math.ceil(radius)
    return np.minimum(1, radius - abs(np.arange(-reach, reach + 1)) + 1) / (2 * radius + 1)


def truth(picture, case, convolve, gaussian_taps):
    """The exact result in double precision.

    `convolve` takes a picture and kernels with a last axis of one; `gaussian_taps` a standard deviation.
    """
    if case.kind == "box":
        taps = box_taps(case.radius)
        return convolve(picture, [taps[:, None, None], taps[None, :, None]])
    if case.kind == "disc":
        return convolve(picture, [disc_kernel(case.radius)[:, :, None]])
    if case.kind == "sharpen":
        taps = gaussian_taps(case.radius)
        blurred = convolve(picture, [taps[:, None, None], taps[None, :, None]])
        return np.clip(picture + AMOUNT * (picture - blurred), 0, np.iinfo(picture.dtype).max)
    import cv2

    # What everybody agrees on: OpenCV's is exact.
    return cv2.medianBlur(picture, side(case)).reshape(picture.shape).astype(np.float64)
