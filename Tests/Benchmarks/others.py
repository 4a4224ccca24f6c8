"""The race of rotations, perspectives, tables of colours and filters against noise: Penumbra's kernels, their peers, and what is exact.

Kernels of peers differ: OpenCV's cubic has the parameter -0.75 where Catmull-Rom has -0.5, and its Lanczos kernel has four lobes and not
three. Their results are not wrong where they differ from ours: the errors are those against our definition.
"""

import ctypes
import functools
import math

import numpy as np

KINDS = ("rotate", "rotate-lanczos", "perspective", "lut", "guided", "non-local-means")

# The share by which the upper side of a perspective is shorter at each end.
SHARE = 0.1
STRENGTH = {"guided": 0.1, "non-local-means": 0.04}
PATCH, SEARCH = 3, 10


def strength(case):
    """A rotation's radius is its angle in degrees, a table's its size."""
    words = {"rotate": "angle {:g}°", "rotate-lanczos": "angle {:g}°", "perspective": "of a trapezoid", "lut": "size {:g}"}
    return words.get(case.kind, "radius {:g}").format(case.radius)


def cases(make):
    yield from (make(kind, 7) for kind in ("rotate", "rotate-lanczos"))
    yield make("rotate", 7, channels=1)
    yield make("perspective", 0)
    yield make("lut", 33)
    yield from (make("guided", radius) for radius in (8, 60))
    yield make("non-local-means", SEARCH, width=800, height=600)


def declare(library):
    pointer, double, whole = ctypes.c_void_p, ctypes.c_double, ctypes.c_int
    library.penumbra_rotate.argtypes = [pointer, double, whole, whole]
    library.penumbra_perspective.argtypes = [pointer, double, whole]
    library.penumbra_lut.argtypes = [pointer, pointer, whole, whole]
    library.penumbra_guided.argtypes = [pointer, whole, double, whole]
    library.penumbra_non_local_means.argtypes = [pointer, double, whole, whole, whole]


def run(library, handle, case, level):
    if case.kind in ("rotate", "rotate-lanczos"):
        library.penumbra_rotate(handle, case.radius, case.kind == "rotate-lanczos", level)
    elif case.kind == "perspective":
        library.penumbra_perspective(handle, SHARE, level)
    elif case.kind == "lut":
        library.penumbra_lut(handle, table(int(case.radius)).ctypes.data, int(case.radius), level)
    elif case.kind == "guided":
        library.penumbra_guided(handle, int(case.radius), STRENGTH["guided"], level)
    else:
        library.penumbra_non_local_means(handle, STRENGTH["non-local-means"], PATCH, SEARCH, level)


@functools.cache
def table(size):
    """A warm look, with a curve for each channel and some of the others in each. Red counts fastest."""
    axis = np.linspace(0, 1, size, dtype=np.float64)
    blue, green, red = np.meshgrid(axis, axis, axis, indexing="ij")
    colors = np.stack([red**0.8 * 0.9 + green * 0.1, green**0.95, blue**1.2 * 0.85 + red * 0.05], axis=-1)
    return np.ascontiguousarray(colors.astype(np.float32))


# Peers


def map_of(picture, case):
    """The matrix from the output to the input, for pixel centres at whole numbers."""
    height, width = picture.shape[:2]
    half = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
    if case.kind == "perspective":
        import cv2

        target = np.float32([[0, 0], [width, 0], [width, height], [0, height]])
        source = np.float32([[SHARE * width, 0], [(1 - SHARE) * width, 0], [width, height], [0, height]])
        matrix = cv2.getPerspectiveTransform(target, source)
    else:
        sine, cosine = math.sin(math.radians(case.radius)), math.cos(math.radians(case.radius))
        x, y = width / 2, height / 2
        matrix = np.array(
            [[cosine, -sine, x - cosine * x + sine * y], [sine, cosine, y - sine * x - cosine * y], [0, 0, 1]])
    return np.linalg.inv(half) @ matrix @ half


def opencv(picture, case):
    import cv2

    cv2.setNumThreads(1)
    height, width = picture.shape[:2]
    target = np.zeros_like(picture)
    results = [target]
    if case.kind in ("rotate", "rotate-lanczos", "perspective"):
        kernel = cv2.INTER_LANCZOS4 if case.kind == "rotate-lanczos" else cv2.INTER_CUBIC
        matrix, flags = map_of(picture, case), kernel | cv2.WARP_INVERSE_MAP

        def work():
            if case.kind == "perspective":
                cv2.warpPerspective(picture, matrix, (width, height), target, flags, cv2.BORDER_REPLICATE)
            else:
                cv2.warpAffine(picture, matrix[:2], (width, height), target, flags, cv2.BORDER_REPLICATE)

    elif case.kind == "guided":
        # What people write who have no ximgproc: boxes of floats, as in the paper.
        def work():
            results[0] = guided_by(picture, case, lambda plane, side: cv2.blur(
                plane, (side, side), borderType=cv2.BORDER_REPLICATE), np.float32)

    elif case.kind == "non-local-means":
        def work():
            results[0] = cv2.fastNlMeansDenoising(
                picture, [255 * STRENGTH["non-local-means"]], None, 2 * PATCH + 1, 2 * SEARCH + 1, cv2.NORM_L2)

    else:
        return None
    return work, lambda: results[0].reshape(picture.shape)


def pillow(picture, case):
    from PIL import Image, ImageFilter

    if case.bits != 8 or case.kind not in ("rotate", "perspective", "lut"):
        return None
    image = Image.fromarray(picture[:, :, 0] if case.channels == 1 else picture)
    results = [None]
    if case.kind == "lut":
        size = int(case.radius)
        chosen = ImageFilter.Color3DLUT(size, table(size).ravel().tolist())

        def work():
            results[0] = image.filter(chosen)
    else:
        matrix = map_of(picture, case)
        half = np.array([[1, 0, 0.5], [0, 1, 0.5], [0, 0, 1]])
        data = (half @ matrix @ np.linalg.inv(half)).ravel()[: 6 if case.kind == "rotate" else 8]
        method = Image.Transform.AFFINE if case.kind == "rotate" else Image.Transform.PERSPECTIVE

        def work():
            results[0] = image.transform(image.size, method, tuple(data), Image.Resampling.BICUBIC)

    return work, lambda: np.asarray(results[0]).reshape(picture.shape)


def libvips(picture, case):
    import pyvips

    if case.kind not in ("rotate", "rotate-lanczos"):
        return None
    pyvips.cache_set_max(0)
    height, width, channels = picture.shape
    image = pyvips.Image.new_from_memory(picture.data, width, height, channels, "uchar" if case.bits == 8 else "ushort")
    kernel = pyvips.Interpolate.new("bicubic" if case.kind == "rotate" else "lbb")
    # libvips maps from the input to the output.
    inverse = np.linalg.inv(map_of(picture, case))
    results = [b""]

    def work():
        turned = image.affine(
            inverse[:2, :2].ravel().tolist(), odx=inverse[0, 2], ody=inverse[1, 2], interpolate=kernel,
            oarea=[0, 0, width, height], extend="copy")
        results[0] = turned.write_to_memory()

    return work, lambda: np.frombuffer(results[0], picture.dtype).reshape(picture.shape)


def opencolorio(picture, case):
    """The library of films: tetrahedra, in single precision."""
    if case.kind != "lut" or case.bits != 8:
        return None
    import PyOpenColorIO as ocio

    size = int(case.radius)
    table_of_colors = ocio.Lut3DTransform(size)
    table_of_colors.setInterpolation(ocio.INTERP_TETRAHEDRAL)
    # Blue counts fastest.
    table_of_colors.setData(np.ascontiguousarray(table(size).transpose(2, 1, 0, 3)).ravel())
    processor = ocio.Config.CreateRaw().getProcessor(table_of_colors)
    bits = ocio.BIT_DEPTH_UINT8
    fast = processor.getOptimizedCPUProcessor(bits, bits, ocio.OPTIMIZATION_DEFAULT)
    height, width, channels = picture.shape
    target = np.zeros_like(picture)

    def described(pixels):
        return ocio.PackedImageDesc(pixels, width, height, channels, bits, 1, channels, channels * width)

    source, result = described(picture), described(target)
    return lambda: fast.apply(source, result), lambda: target


PEERS = {"opencv": opencv, "pillow": pillow, "opencolorio": opencolorio}
SERVED = {"others opencv": opencv, "others libvips": libvips}


# Exact results


def guided_by(picture, case, mean, kind):
    """The guided filter with the picture's luma as its guide; `mean` is over a square of a side."""
    side, full = 2 * int(case.radius) + 1, np.iinfo(picture.dtype).max
    values = picture.astype(kind) / kind(full)
    luma = values @ np.array([0.2126, 0.7152, 0.0722], kind) if case.channels == 3 else values[:, :, 0]
    middle = mean(luma, side)
    variance = mean(luma * luma, side) - middle * middle
    result = np.empty_like(values)
    for channel in range(case.channels):
        own = values[:, :, channel]
        level = mean(own, side)
        slope = (mean(luma * own, side) - middle * level) / (variance + kind(STRENGTH["guided"] ** 2))
        result[:, :, channel] = mean(slope, side) * luma + mean(level - slope * middle, side)
    result = np.clip(result * full + kind(0.5), 0, full)
    return result.astype(picture.dtype) if kind is np.float32 else result - 0.5


def weights_of(case, distance):
    """The kernel at distances from a place."""
    x = np.abs(distance)
    if case.kind == "rotate-lanczos":
        return np.where(x < 3, np.sinc(x) * np.sinc(x / 3), 0)
    near = 1.5 * x**3 - 2.5 * x**2 + 1
    far = -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def warp_truth(picture, case):
    height, width = picture.shape[:2]
    y, x = np.mgrid[:height, :width].astype(np.float64)
    matrix = map_of(picture, case)
    w = matrix[2, 0] * x + matrix[2, 1] * y + matrix[2, 2]
    u = (matrix[0, 0] * x + matrix[0, 1] * y + matrix[0, 2]) / w
    v = (matrix[1, 0] * x + matrix[1, 1] * y + matrix[1, 2]) / w
    reach = 3 if case.kind == "rotate-lanczos" else 2
    left, top = np.floor(u).astype(int) - reach + 1, np.floor(v).astype(int) - reach + 1
    total, sums = np.zeros(picture.shape), np.zeros((height, width, 1))
    for j in range(2 * reach):
        for i in range(2 * reach):
            weight = (weights_of(case, u - (left + i)) * weights_of(case, v - (top + j)))[:, :, None]
            total += weight * picture[np.clip(top + j, 0, height - 1), np.clip(left + i, 0, width - 1)]
            sums += weight
    return np.clip(total / sums, 0, np.iinfo(picture.dtype).max)


def lut_truth(picture, case):
    from scipy.interpolate import interpn

    size = int(case.radius)
    axis = np.linspace(0, 1, size)
    # Trilinear: both interpolations differ little in a smooth table.
    found = interpn((axis, axis, axis), table(size).astype(np.float64), picture[:, :, ::-1] / 255)
    return np.clip(found * 255, 0, 255)


def non_local_truth(picture, case):
    own, reach = picture.astype(np.float64), PATCH + SEARCH
    height, width = picture.shape[:2]
    around = np.pad(own, ((reach, reach), (reach, reach), (0, 0)), mode="edge")
    total, weights = np.zeros_like(own), np.zeros((height, width, 1))
    scale = STRENGTH["non-local-means"] * np.iinfo(picture.dtype).max
    side = 2 * PATCH + 1
    inner = around[SEARCH : SEARCH + height + 2 * PATCH, SEARCH : SEARCH + width + 2 * PATCH]
    for dy in range(-SEARCH, SEARCH + 1):
        for dx in range(-SEARCH, SEARCH + 1):
            top, left = SEARCH + dy, SEARCH + dx
            other = around[top : top + height + 2 * PATCH, left : left + width + 2 * PATCH]
            squares = ((other - inner) ** 2).mean(axis=2)
            sums = np.pad(squares.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
            means = (sums[side:, side:] - sums[:-side, side:] - sums[side:, :-side] + sums[:-side, :-side]) / side**2
            weight = np.exp(-means / scale**2)[:, :, None]
            total += weight * other[PATCH : PATCH + height, PATCH : PATCH + width]
            weights += weight
    return total / weights


def truth(picture, case):
    if case.kind == "lut":
        return lut_truth(picture, case)
    if case.kind == "non-local-means":
        return non_local_truth(picture, case)
    if case.kind == "guided":
        from scipy import ndimage

        # Beyond the border, the picture repeats its outermost pixels, and windows there count like all others.
        reach = 2 * int(case.radius)
        around = np.pad(picture, ((reach, reach), (reach, reach), (0, 0)), mode="edge")
        found = guided_by(
            around, case, lambda plane, side: ndimage.uniform_filter(plane, side, mode="nearest"), np.float64)
        return found[reach:-reach, reach:-reach]
    return warp_truth(picture, case)
