"""A Gaussian written in Halide as somebody would who knows it well: the strongest portable peer of the race.

15-bit fixed point throughout (8-bit samples have 7 bits of fraction), one multiply-high for each pair of taps. Pictures
are interleaved; whatever works on columns sees rows as flat runs of samples, so that its vectors are dense. From sigma
5 on, the picture is made smaller by averaging 2, 4, 8 … pixels, blurred there, and enlarged linearly.
"""

import math

import halide as hl
import numpy as np

X, Y, C = hl.Var("x"), hl.Var("y"), hl.Var("c")

AVX2 = "x86-64-linux-sse41-avx-avx2-f16c-fma"


def u16(value):
    return hl.cast(hl.UInt(16), value)


def i16(value):
    return hl.cast(hl.Int(16), value)


def weights(variance):
    """Half of the kernel, the centre first, out to 3 sigma as in OpenCV; both halves sum up to 65536."""
    radius = math.ceil(3 * math.sqrt(variance))
    taps = np.exp(-np.arange(radius + 1) ** 2 / (2 * variance))
    taps = np.floor(taps / (taps[0] + 2 * taps[1:].sum()) * 65536).astype(int)
    taps[0] += 65536 - (taps[0] + 2 * taps[1:].sum())
    return [int(tap) for tap in taps]


def fir(sample, taps):
    """The sum of 15-bit samples times taps; `sample(k)` is the one k places on."""
    # Every multiply-high rounds down, by half a unit on average.
    bias = hl.u16(len(taps) // 2)
    total = hl.mul_shift_right(sample(0) + sample(0), hl.u16(taps[0] // 2), 16) + bias
    for k, tap in enumerate(taps[1:], 1):
        if tap:
            total = total + hl.mul_shift_right(sample(-k) + sample(k), hl.u16(tap), 16)
    return total


def extended(source, width, left, right, step, lanes, others):
    """`source` with its edge pixels of `step` samples repeated, by three copies: clamping would cost gathers."""
    result = hl.Func(source.name() + "_extended")
    inside, before, after = hl.RDom([(0, width)]), hl.RDom([(0, left)]), hl.RDom([(0, right)])
    result[(X, *others)] = hl.undef(hl.UInt(16))
    result[(inside.x, *others)] = source[(inside.x, *others)]
    result[(before.x - left, *others)] = source[(before.x % step, *others)]
    result[(width + after.x, *others)] = source[(width - step + after.x % step, *others)]
    result.update(0).vectorize(inside.x, lanes)
    result.update(1).unscheduled()
    result.update(2).unscheduled()
    return result


def widened(sample, bits):
    return u16(sample) << 7 if bits == 8 else u16(sample) >> 1


def narrowed(value, bits):
    return hl.u8_sat((value + 64) >> 7) if bits == 8 else hl.min(value, hl.u16(32767)) << 1


def direct(source, bits, sigma, channels, lanes):
    """Columns, then rows; one row of the intermediate stays in the first-level cache."""
    taps = weights(sigma * sigma)
    reach = (len(taps) - 1) * channels
    width, height = source.dim(0).extent(), source.dim(1).extent()

    down, result = hl.Func("down"), hl.Func("direct")
    down[X, Y] = fir(lambda k: widened(source[X, hl.clamp(Y + k, 0, height - 1)], bits), taps)
    across = extended(down, width, reach, reach, channels, lanes, (Y,))
    result[X, Y] = narrowed(fir(lambda k: across[X + k * channels, Y], taps), bits)

    result.vectorize(X, lanes, hl.TailStrategy.ShiftInwards)
    across.compute_at(result, Y)
    down.compute_at(result, Y).vectorize(X, lanes)
    return result


def halved(source, level):
    result = hl.Func(f"halved{level}")
    result[X, C, Y] = hl.rounding_halving_add(hl.Expr(source[2 * X, C, Y]), hl.Expr(source[2 * X + 1, C, Y]))
    return result


def doubled(source, level):
    result = hl.Func(f"doubled{level}")
    near, far = hl.Expr(source[X // 2, C, Y]), hl.Expr(source[X // 2 - 1 + 2 * (X % 2), C, Y])
    result[X, C, Y] = hl.rounding_halving_add(near, hl.rounding_halving_add(near, far))
    return result


def averaged_rows(source, bits, level):
    """Each `2 ** level` rows averaged: the sum, and the average in 15 bits."""
    height = source.dim(1).extent()
    sum_type = hl.UInt(16) if bits == 8 else hl.UInt(32)
    total, average = hl.Func("total"), hl.Func("average")
    row = hl.RDom([(0, 1 << level)])
    total[X, Y] = hl.cast(sum_type, 0)
    total[X, Y] += hl.cast(sum_type, source[X, hl.clamp((Y << level) + row.x, 0, height - 1)])
    average[X, Y] = total[X, Y] << (7 - level) if bits == 8 else u16(total[X, Y] >> (level + 1))
    return total, average, row


def decimated(source, bits, sigma, channels, lanes):
    """Smaller by the largest power of two that leaves a sigma of 2.5, blurred, and enlarged."""
    level = int(math.log2(sigma / 2.5))
    factor = 1 << level
    width = source.dim(0).extent() // channels
    small_width = (width + factor - 1) // factor

    # What averaging and enlarging blur is taken off: by halves along rows, at once along columns.
    taps_across = weights((sigma**2 - (factor**2 - 1) / 3) / factor**2)
    taps_down = weights((sigma**2 - factor**2 / 4) / factor**2)

    total, average, row = averaged_rows(source, bits, level)
    planar = hl.Func("planar")
    planar[X, C, Y] = average[X * channels + C, Y]
    reach = (len(taps_across) + 1) * factor
    padded = extended(planar, width, reach, small_width * factor - width + reach, 1, lanes, (C, Y))
    smaller = [padded]
    for i in range(level):
        smaller.append(halved(smaller[-1], i))

    across, down = hl.Func("across"), hl.Func("down")
    across[X, C, Y] = fir(lambda k: smaller[-1][X + k, C, Y], taps_across)
    down[X, C, Y] = fir(lambda k: across[X, C, Y + k], taps_down)

    larger = [down]
    for i in range(level):
        larger.append(doubled(larger[-1], i))
    flat = hl.Func("flat")
    flat[X, Y] = larger[-1][X // channels, X % channels, Y]

    result = hl.Func("decimated")
    above, phase = (Y - factor // 2) // factor, (Y - factor // 2) % factor
    share = i16((2 * phase + 1) << (14 - level))
    upper, lower = i16(flat[X, above]), i16(flat[X, above + 1])
    result[X, Y] = narrowed(u16(upper + hl.rounding_mul_shift_right(lower - upper, share, 15)), bits)

    # Columns of whole rows in dense vectors; the rest on one row of `factor`. With a factor of 2 the half-high picture
    # is large, and made in strips.
    strip, within, outer, inner = (hl.Var(name) for name in ("strip", "within", "outer", "inner"))
    rows = 64 * factor if factor == 2 else factor
    result.split(Y, strip, within, rows, hl.TailStrategy.GuardWithIf)
    result.vectorize(X, 2 * lanes, hl.TailStrategy.ShiftInwards)
    if factor == 2:
        flat.compute_at(result, strip)
        across.store_at(result, strip)
    else:
        flat.compute_root()
        across.store_root()
    if channels > 1:
        flat.align_bounds(X, channels).split(X, outer, inner, channels, hl.TailStrategy.RoundUp)
        flat.reorder(inner, outer, Y).unroll(inner).vectorize(outer, lanes)
    else:
        flat.vectorize(X, lanes)
    for stage in larger[1:]:
        stage.compute_at(flat, Y).align_bounds(X, 2).split(X, outer, inner, 2).unroll(inner).vectorize(outer, lanes)
    down.compute_at(flat, Y).vectorize(X, lanes)
    across.compute_at(flat, Y).vectorize(X, lanes)
    across.fold_storage(Y, 1 << math.ceil(math.log2(2 * len(taps_down) + 4)))
    for stage in smaller[1:]:
        stage.compute_at(across, Y).vectorize(X, lanes)
    padded.compute_at(across, Y)
    planar.compute_at(across, Y).reorder(C, X, Y).bound(C, 0, channels).unroll(C).vectorize(X, lanes)
    average.compute_at(across, Y).vectorize(X, lanes)
    total.compute_at(across, Y).vectorize(X, 2 * lanes, hl.TailStrategy.GuardWithIf)
    total.update().reorder(X, row.x).vectorize(X, 2 * lanes, hl.TailStrategy.GuardWithIf)
    return result


def compiled(bits, sigma, channels, avx2_only):
    """The input and the compiled function."""
    target = hl.Target(AVX2) if avx2_only else hl.get_host_target()
    lanes = 64 if "avx512" in target.to_string() else 32
    source = hl.ImageParam(hl.UInt(bits), 2, "source")
    if sigma < 5:
        result = direct(source, bits, sigma, channels, lanes)
    else:
        result = decimated(source, bits, sigma, channels, lanes // 2)
    result.compile_jit(target)
    return source, result
