"""The race of filters of colour, of a lens blur and of a blend mode: Penumbra's kernels, their peers, and what is exact.

Peers that are programs ("numpy", "opencv" for tones) compute the same formulas in single precision, with tables where the samples have 8
bits. They are what people write who have such a library and no filter.
"""

import ctypes
import functools
import math

import numpy as np

KINDS = ("levels", "white-balance", "hue", "tone-map", "shadows-highlights", "clarity", "lens-blur", "multiply")

BLACK, WHITE = 0.05, 0.95
NEUTRAL = (200, 180, 150)
# Shadows are brightened, highlights darkened.
SHADOWS, HIGHLIGHTS = 0.5, -0.3
# The light of the stored value 1, of the display's full intensity, and of what becomes full intensity, in cd/m².
PAPER, TARGET, PEAK = 203, 203, 1000
LUMA = np.array([0.2126, 0.7152, 0.0722])
OPACITY = 0.8


def strength(case):
    """The radius of levels is their gamma, that of a hue its angle, that of a clarity and of a multiplication unused."""
    words = {
        "levels": "gamma {:g}",
        "white-balance": "of a warm picture",
        "hue": "angle {:g}°",
        "tone-map": "by the curve of Hable",
        "multiply": "by a picture with alpha",
    }
    return words.get(case.kind, "radius {:g}").format(case.radius)


def cases(make):
    """`make` is peers.Case."""
    yield from (make("levels", 1.5, bits=bits) for bits in (8, 16))
    yield make("white-balance", 0)
    yield from (make("hue", 90, bits=bits) for bits in (8, 16))
    yield from (make("tone-map", 0, bits=bits) for bits in (8, 32))
    yield from (make(kind, 40) for kind in ("shadows-highlights", "clarity"))
    yield from (make("lens-blur", radius) for radius in (8, 20))
    yield make("multiply", 0)


def declare(library):
    pointer, double, whole = ctypes.c_void_p, ctypes.c_double, ctypes.c_int
    library.penumbra_levels.argtypes = [pointer, double, double, double, whole]
    library.penumbra_white_balance.argtypes = [pointer, double, double, double, whole]
    library.penumbra_hue.argtypes = [pointer, double, whole]
    library.penumbra_tone_map.argtypes = [pointer, double, double, whole]
    library.penumbra_shadows_highlights.argtypes = [pointer, double, double, double, whole]
    library.penumbra_clarity.argtypes = [pointer, double, double, whole]
    library.penumbra_lens_blur.argtypes = [pointer, double, whole]
    library.penumbra_multiply.argtypes = [pointer, pointer, double, whole]


def run(library, handle, picture, case, level):
    if case.kind == "levels":
        library.penumbra_levels(handle, BLACK, WHITE, case.radius, level)
    elif case.kind == "white-balance":
        library.penumbra_white_balance(handle, *(value / 255 for value in NEUTRAL), level)
    elif case.kind == "hue":
        library.penumbra_hue(handle, case.radius, level)
    elif case.kind == "tone-map":
        library.penumbra_tone_map(handle, PEAK, TARGET, level)
    elif case.kind == "shadows-highlights":
        library.penumbra_shadows_highlights(handle, SHADOWS, HIGHLIGHTS, case.radius, level)
    elif case.kind == "clarity":
        library.penumbra_clarity(handle, 0.4, case.radius, level)
    elif case.kind == "lens-blur":
        library.penumbra_lens_blur(handle, case.radius, level)
    else:
        library.penumbra_multiply(handle, front(*picture.shape[:2]).ctypes.data, OPACITY, level)


# Definitions, in the precision of what they are given.


def decoded(value):
    """The light of sRGB."""
    kind = value.dtype.type
    return np.where(value <= kind(0.04045), value / kind(12.92), ((value + kind(0.055)) / kind(1.055)) ** kind(2.4))


def encoded(light):
    kind = light.dtype.type
    return np.where(
        light <= kind(0.0031308), light * kind(12.92),
        kind(1.055) * np.maximum(light, 0) ** kind(1 / 2.4) - kind(0.055))  # fmt: skip


def full(picture):
    return 1 if picture.dtype == np.float32 else np.iinfo(picture.dtype).max


def levels_of(shares, gamma):
    return np.clip((shares - BLACK) / (WHITE - BLACK), 0, 1) ** (1 / gamma)


def balanced(shares):
    """Each channel's light is multiplied, so that NEUTRAL becomes gray and stays as bright."""
    light = decoded(np.array(NEUTRAL) / 255)
    return encoded(decoded(shares) * (LUMA @ light / light))


def tables(case, whole):
    """The results of all stored values of each channel."""
    shares = np.arange(whole + 1)[:, None] / whole * np.ones(3)
    results = levels_of(shares, case.radius) if case.kind == "levels" else balanced(shares)
    return np.floor(np.clip(results, 0, 1) * whole + 0.5).astype(np.uint8 if whole == 255 else np.uint16)


def hue_matrix(degrees):
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    mean = np.array([[0.213, 0.715, 0.072]] * 3)
    cosines = np.array([[0.787, -0.715, -0.072], [-0.213, 0.285, -0.072], [-0.213, -0.715, 0.928]])
    sines = np.array([[-0.213, -0.715, 0.928], [0.143, 0.140, -0.283], [-0.787, 0.715, 0.072]])
    return mean + cosine * cosines + sine * sines


def hable(x):
    return ((x * (0.15 * x + 0.05) + 0.004) / (x * (0.15 * x + 0.5) + 0.06)) - 0.02 / 0.3


def factor(light):
    """What all channels are multiplied by, for the light of the brightest one."""
    peak = PEAK / TARGET
    x = light * light.dtype.type(PAPER / TARGET)
    mapped = np.where(x < peak, hable(x) / x.dtype.type(hable(np.float64(peak))), 1)
    return np.where(x > 0, mapped / np.maximum(x, light.dtype.type(1e-20)), 0) * light.dtype.type(PAPER / TARGET)


def toned(case, values, luma, around):
    """Of shares of full intensity; `luma` and `around` have a last axis of one."""
    kind = values.dtype.type
    if case.kind == "clarity":
        return values + kind(0.4) * np.maximum(4 * luma * (1 - luma), 0) * (luma - around)
    stops = kind(SHADOWS) * np.maximum(1 - 2 * around, 0) + kind(HIGHLIGHTS) * np.maximum(2 * around - 1, 0)
    return values ** np.exp2(-stops)


@functools.cache
def front(height, width):
    """Noise with every alpha."""
    return np.random.default_rng(3).integers(0, 256, (height, width, 4), np.uint8)


def multiplied(picture, kind):
    above = front(*picture.shape[:2]).astype(kind) / kind(255)
    alpha = above[:, :, 3:] * kind(OPACITY)
    behind = picture.astype(kind)
    return behind * (1 - alpha + alpha * above[:, :, :3])


# Peers


def rounded(values, like):
    whole = full(like)
    return values if whole == 1 else np.clip(values * np.float32(whole) + np.float32(0.5), 0, whole).astype(like.dtype)


def light_table(whole=255):
    return decoded(np.arange(whole + 1) / whole).astype(np.float32)


@functools.cache
def byte_table():
    """The bytes of all lights of 16 bits."""
    return np.floor(encoded(np.arange(65536) / 65535) * 255 + 0.5).astype(np.uint8)


def bytes_of(light):
    return byte_table()[np.clip(light * np.float32(65535) + np.float32(0.5), 0, 65535).astype(np.uint16)]


def opencv(picture, case):
    import cv2

    cv2.setNumThreads(1)
    target = np.zeros_like(picture)
    results = [target]
    whole = full(picture)
    if case.kind in ("levels", "white-balance"):
        if case.bits != 8:
            return None
        table = tables(case, 255)[:, None, :]
        table = np.ascontiguousarray(table[:, :, 0] if case.kind == "levels" else table)

        def work():
            cv2.LUT(picture, table, target)

    elif case.kind == "hue":
        matrix = hue_matrix(case.radius)

        def work():
            cv2.transform(picture, matrix, target)

    elif case.kind == "tone-map":
        table = light_table()

        def work():
            if whole == 1:
                light = cv2.pow(picture * np.float32(1 / 1.055) + np.float32(0.055 / 1.055), 2.4)
                light = np.where(picture <= np.float32(0.04045), picture * np.float32(1 / 12.92), light)
            else:
                light = cv2.LUT(picture, table)
            brightest = cv2.max(cv2.max(light[:, :, 0], light[:, :, 1]), light[:, :, 2])
            light *= factor(brightest)[:, :, None]
            if whole == 1:
                bright = cv2.pow(light, 1 / 2.4) * np.float32(1.055) - np.float32(0.055)
                results[0] = np.where(light <= np.float32(0.0031308), light * np.float32(12.92), bright)
            else:
                results[0] = bytes_of(light)

    elif case.kind in ("shadows-highlights", "clarity"):

        def work():
            values = picture.astype(np.float32)
            values *= np.float32(1 / whole)
            luma = cv2.transform(values, LUMA[None, :])
            # Whoever knows that a blurred picture has no detail blurs a small one.
            factor = 8
            small = cv2.resize(luma, None, fx=1 / factor, fy=1 / factor, interpolation=cv2.INTER_AREA)
            small = cv2.GaussianBlur(small, (0, 0), case.radius / factor, borderType=cv2.BORDER_REPLICATE)
            around = cv2.resize(small, luma.shape[1::-1], interpolation=cv2.INTER_LINEAR)
            if case.kind == "clarity":
                change = np.float32(1.6) * luma * (1 - luma) * (luma - around)
                values += change[:, :, None]
            else:
                stops = np.float32(SHADOWS) * np.maximum(1 - 2 * around, 0)
                stops += np.float32(HIGHLIGHTS) * np.maximum(2 * around - 1, 0)
                cv2.log(np.maximum(values, np.float32(1e-9)), values)
                values *= np.exp2(-stops)[:, :, None]
                cv2.exp(values, values)
            results[0] = rounded(values, picture)

    elif case.kind == "lens-blur":
        import family

        kernel, table = family.disc_kernel(case.radius), light_table()

        def work():
            light = cv2.filter2D(cv2.LUT(picture, table), -1, kernel, borderType=cv2.BORDER_REPLICATE)
            results[0] = bytes_of(light)

    else:
        above = front(*picture.shape[:2])

        def work():
            color, alpha = above[:, :, :3], cv2.multiply(above[:, :, 3], 1, scale=OPACITY / 255, dtype=cv2.CV_32F)
            # 1 − alpha + alpha·color, of full intensity.
            shares = cv2.multiply(255 - color, cv2.merge([alpha] * 3), scale=-1 / 255, dtype=cv2.CV_32F) + 1
            cv2.multiply(picture, shares, target, dtype=cv2.CV_8U)

    return work, lambda: results[0].reshape(picture.shape)


def pillow(picture, case):
    from PIL import Image, ImageChops

    if case.bits != 8 or case.kind not in ("levels", "white-balance", "hue", "multiply"):
        return None
    image = Image.fromarray(picture)
    results = [None]
    if case.kind == "hue":
        matrix = np.hstack([hue_matrix(case.radius), np.zeros((3, 1))]).ravel().tolist()

        def work():
            results[0] = image.convert("RGB", matrix)

    elif case.kind == "multiply":
        above = Image.fromarray(front(*picture.shape[:2]))

        def work():
            alpha = above.getchannel("A").point([round(value * OPACITY) for value in range(256)])
            results[0] = Image.composite(ImageChops.multiply(image, above.convert("RGB")), image, alpha)

    else:
        table = tables(case, 255).T.ravel().tolist()

        def work():
            results[0] = image.point(table)

    return work, lambda: np.asarray(results[0]).reshape(picture.shape)


def numpy(picture, case):
    """Formulas as they are written in a paper."""
    whole = np.float32(full(picture))
    results = [None]
    if case.kind in ("levels", "white-balance") and case.bits == 16:
        table = tables(case, 65535)[:, 0]

        def work():
            results[0] = table[picture]

    elif case.kind == "tone-map":
        table = light_table()

        def work():
            light = decoded(picture) if whole == 1 else table[picture]
            light *= factor(light.max(axis=2, keepdims=True))
            results[0] = encoded(light) if whole == 1 else bytes_of(light)

    elif case.kind == "multiply":

        def work():
            results[0] = (multiplied(picture, np.float32) + np.float32(0.5)).astype(picture.dtype)

    else:
        return None
    return work, lambda: results[0]


def libvips(picture, case):
    import pyvips

    formats = {8: "uchar", 16: "ushort", 32: "float"}
    pyvips.cache_set_max(0)
    height, width, channels = picture.shape
    image = pyvips.Image.new_from_memory(picture.data, width, height, channels, formats[case.bits])
    results = [b""]
    if case.kind in ("levels", "white-balance"):
        whole = full(picture)
        table = tables(case, whole)[:, : 1 if case.kind == "levels" else 3]
        lut = pyvips.Image.new_from_memory(
            np.ascontiguousarray(table).data, whole + 1, 1, table.shape[1], formats[case.bits])  # fmt: skip

        def work():
            return image.maplut(lut)

    elif case.kind == "hue":
        matrix = pyvips.Image.new_from_array(hue_matrix(case.radius).tolist())

        def work():
            return (image.recomb(matrix) + 0.5).cast(image.format)

    elif case.kind in ("shadows-highlights", "clarity"):

        def work():
            values = image * (1 / full(picture))
            luma = values.recomb(pyvips.Image.new_from_array([LUMA.tolist()]))
            around = (luma * 65535).cast("ushort").gaussblur(case.radius) * (1 / 65535)
            if case.kind == "clarity":
                values = values + luma * (1 - luma) * (luma - around) * 1.6
            else:
                dark, bright = around * -2 + 1, around * 2 - 1
                stops = (dark > 0).ifthenelse(dark, 0) * SHADOWS + (bright > 0).ifthenelse(bright, 0) * HIGHLIGHTS
                values = values ** (stops * -math.log(2)).exp()
            return (values * full(picture) + 0.5).cast(image.format)

    else:
        return None

    def work_and_write():
        results[0] = work().write_to_memory()

    return work_and_write, lambda: np.frombuffer(results[0], picture.dtype).reshape(picture.shape)


PEERS = {"opencv": opencv, "pillow": pillow, "numpy": numpy}
SERVED = {"coloring opencv": opencv, "coloring libvips": libvips}


# Exact results


def truth(picture, case, convolve, gaussian_taps):
    """The exact result in double precision; see family.truth."""
    whole = full(picture)
    shares = picture.astype(np.float64) / whole
    if case.kind == "levels":
        result = levels_of(shares, case.radius)
    elif case.kind == "white-balance":
        result = balanced(shares)
    elif case.kind == "hue":
        result = shares @ hue_matrix(case.radius).T
    elif case.kind == "tone-map":
        light = decoded(shares)
        result = encoded(light * factor(light.max(axis=2, keepdims=True)))
    elif case.kind == "lens-blur":
        import family

        result = encoded(convolve(decoded(shares), [family.disc_kernel(case.radius)[:, :, None]]))
    elif case.kind == "multiply":
        result = multiplied(shares, np.float64)
    else:
        taps, luma = gaussian_taps(case.radius), (shares @ LUMA)[:, :, None]
        result = toned(case, shares, luma, convolve(luma, [taps[:, None, None], taps[None, :, None]]))
    return (result if whole == 1 else np.clip(result, 0, 1)) * whole
