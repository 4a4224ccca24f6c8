#ifndef PENUMBRA_PLACE_SUMS_H
#define PENUMBRA_PLACE_SUMS_H

// Weighted sums of the 4 × 4 or 6 × 6 pixels around a place, for interpolations of 8-bit pictures. x86-64 has an instruction that
// multiplies pairs of words and adds the two products (pmaddwd). The compiler does not use it for any loop in Swift.
//
// Along rows, the samples of two neighbouring pixels are a pair, and two rows lie side by side in a vector. Along columns, the sums of
// two rows are a pair. All numbers are integers, so that every processor gives the same sums.
//
// Weights are of 1/16384, and the weights along an axis have the sum 16384. Sums of rows are rounded down to 1/64 of a sample. The
// result is in 1/2²⁰ of a sample.

#include <stdint.h>

typedef int32_t penumbra_four_sums __attribute__((ext_vector_type(4)));
typedef uint8_t penumbra_sixteen_samples __attribute__((ext_vector_type(16)));
typedef uint16_t penumbra_eight_rounded __attribute__((ext_vector_type(8)));

typedef int16_t penumbra_place_four __attribute__((ext_vector_type(4)));
typedef int16_t penumbra_place_eight __attribute__((ext_vector_type(8)));
typedef int16_t penumbra_place_words __attribute__((ext_vector_type(16)));
typedef int32_t penumbra_place_sums __attribute__((ext_vector_type(8)));
typedef uint8_t penumbra_place_bytes __attribute__((ext_vector_type(32)));

// All functions are inlined, so that it does not matter how vectors of 32 bytes are passed where the processor has none.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpsabi"

#define PENUMBRA_PLACE_INLINE static inline __attribute__((always_inline))

/// The sums of the products of two neighbouring words.
PENUMBRA_PLACE_INLINE penumbra_four_sums penumbra_place_products4(penumbra_place_eight a, penumbra_place_eight b) {
#if defined(__x86_64__)
    typedef short words __attribute__((vector_size(16)));
    return (penumbra_four_sums)__builtin_ia32_pmaddwd128((words)a, (words)b);
#else
    typedef int32_t wide __attribute__((ext_vector_type(8)));
    wide products = __builtin_convertvector(a, wide) * __builtin_convertvector(b, wide);
    return products.even + products.odd;
#endif
}

PENUMBRA_PLACE_INLINE penumbra_place_sums penumbra_place_products(penumbra_place_words a, penumbra_place_words b) {
#if defined(__AVX2__)
    typedef short words __attribute__((vector_size(32)));
    return (penumbra_place_sums)__builtin_ia32_pmaddwd256((words)a, (words)b);
#else
    penumbra_four_sums low = penumbra_place_products4(a.lo, b.lo), high = penumbra_place_products4(a.hi, b.hi);
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
#endif
}

/// Two neighbouring weights in every pair.
PENUMBRA_PLACE_INLINE penumbra_place_words penumbra_place_pair(const int16_t *weights) {
    int32_t pair;
    __builtin_memcpy(&pair, weights, sizeof pair);
    return (penumbra_place_words)(pair - (penumbra_place_sums){0});
}

/// Two neighbouring weights in every pair of the first half, and the next two in the second half.
PENUMBRA_PLACE_INLINE penumbra_place_words penumbra_place_pairs(const int16_t *weights) {
    penumbra_place_sums low = (penumbra_place_sums)penumbra_place_pair(weights);
    penumbra_place_sums high = (penumbra_place_sums)penumbra_place_pair(weights + 2);
    return (penumbra_place_words)__builtin_shufflevector(low, high, 0, 1, 2, 3, 12, 13, 14, 15);
}

/// 16 bytes of one row, and 16 of another.
PENUMBRA_PLACE_INLINE penumbra_place_bytes penumbra_place_load(const uint8_t *low, const uint8_t *high) {
    penumbra_sixteen_samples x, y;
    __builtin_memcpy(&x, low, sizeof x);
    __builtin_memcpy(&y, high, sizeof y);
    return __builtin_shufflevector(
        x, y, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
        30, 31);
}

// The bytes of pairs of words, made of samples from byte `n` on. 32 is a byte that is 0.
#define PENUMBRA_RGB_PAIRS(n) n, 32, n + 3, 32, n + 1, 32, n + 4, 32, n + 2, 32, n + 5, 32, 32, 32, 32, 32
#define PENUMBRA_RGBA_PAIRS(n) n, 32, n + 4, 32, n + 1, 32, n + 5, 32, n + 2, 32, n + 6, 32, n + 3, 32, n + 7, 32
#define PENUMBRA_WORD_PAIRS(n) \
    n, n + 1, n + 8, n + 9, n + 2, n + 3, n + 10, n + 11, n + 4, n + 5, n + 12, n + 13, n + 6, n + 7, n + 14, n + 15
#define PENUMBRA_IN_BOTH(ORDER, n) ORDER(n), ORDER(n + 16)

/// The low words of the sums of some rows, and those of others, as pairs.
PENUMBRA_PLACE_INLINE penumbra_place_words penumbra_place_joined(penumbra_place_sums a, penumbra_place_sums b) {
    typedef uint32_t wide __attribute__((ext_vector_type(8)));
    return (penumbra_place_words)(((wide)a & 0xFFFF) | (wide)b << 16);
}

/// Functions for a layout of pixels: the sums around a place.
///
/// - `source`: the first pixel. After the last pixel of a row, 16 bytes are readable.
/// - `stride`: the bytes from row to row.
/// - `along`, `across`: four or six weights.
///
/// `ORDER` makes pairs of a vector. The pixels 0 and 1 begin at byte `FIRST`, the pixels 2 and 3 at byte `SECOND` of the vector that was
/// loaded at byte `AT`, the pixels 4 and 5 at byte `THIRD` of the one that was loaded at byte `LAST`.
#define PENUMBRA_PLACE_SUMS(NAME, ORDER, AT, SECOND, LAST, THIRD, SHIFT) \
    PENUMBRA_PLACE_INLINE penumbra_place_sums penumbra_rows4_##NAME( \
        const uint8_t *low, const uint8_t *high, penumbra_place_words first, penumbra_place_words second) { \
        penumbra_place_bytes zero = {0}; \
        penumbra_place_bytes a = penumbra_place_load(low, high); \
        penumbra_place_bytes b = AT ? penumbra_place_load(low + AT, high + AT) : a; \
        penumbra_place_words x = \
            (penumbra_place_words)__builtin_shufflevector(a, zero, PENUMBRA_IN_BOTH(ORDER, 0)); \
        penumbra_place_words y = \
            (penumbra_place_words)__builtin_shufflevector(b, zero, PENUMBRA_IN_BOTH(ORDER, SECOND)); \
        return penumbra_place_products(x, first) + penumbra_place_products(y, second); \
    } \
    PENUMBRA_PLACE_INLINE penumbra_place_sums penumbra_rows6_##NAME( \
        const uint8_t *low, const uint8_t *high, penumbra_place_words first, penumbra_place_words second, \
        penumbra_place_words third) { \
        penumbra_place_bytes zero = {0}; \
        penumbra_place_bytes c = penumbra_place_load(low + LAST, high + LAST); \
        penumbra_place_words z = \
            (penumbra_place_words)__builtin_shufflevector(c, zero, PENUMBRA_IN_BOTH(ORDER, THIRD)); \
        return penumbra_rows4_##NAME(low, high, first, second) + penumbra_place_products(z, third); \
    } \
    PENUMBRA_PLACE_INLINE penumbra_four_sums penumbra_sums4_##NAME( \
        const uint8_t *source, intptr_t stride, const int16_t *along, const int16_t *across) { \
        penumbra_place_words first = penumbra_place_pair(along), second = penumbra_place_pair(along + 2); \
        penumbra_place_sums a = penumbra_rows4_##NAME(source, source + 2 * stride, first, second) >> SHIFT; \
        penumbra_place_sums b = penumbra_rows4_##NAME(source + stride, source + 3 * stride, first, second) >> SHIFT; \
        penumbra_place_sums sums = penumbra_place_products(penumbra_place_joined(a, b), penumbra_place_pairs(across)); \
        return sums.lo + sums.hi; \
    } \
    PENUMBRA_PLACE_INLINE penumbra_four_sums penumbra_sums6_##NAME( \
        const uint8_t *source, intptr_t stride, const int16_t *along, const int16_t *across) { \
        penumbra_place_words first = penumbra_place_pair(along), second = penumbra_place_pair(along + 2); \
        penumbra_place_words third = penumbra_place_pair(along + 4), zero = {0}; \
        penumbra_place_sums a = penumbra_rows6_##NAME(source, source + 2 * stride, first, second, third) >> SHIFT; \
        penumbra_place_sums b = \
            penumbra_rows6_##NAME(source + stride, source + 3 * stride, first, second, third) >> SHIFT; \
        penumbra_place_sums c = \
            penumbra_rows6_##NAME(source + 4 * stride, source + 5 * stride, first, second, third) >> SHIFT; \
        penumbra_place_words last = __builtin_shufflevector( \
            (penumbra_place_words)c, zero, 0, 16, 2, 16, 4, 16, 6, 16, 16, 8, 16, 10, 16, 12, 16, 14); \
        penumbra_place_sums sums = penumbra_place_products(penumbra_place_joined(a, b), penumbra_place_pairs(across)) \
            + penumbra_place_products(last, penumbra_place_pair(across + 4)); \
        return sums.lo + sums.hi; \
    }

PENUMBRA_PLACE_SUMS(rgb, PENUMBRA_RGB_PAIRS, 0, 6, 6, 6, 8)
PENUMBRA_PLACE_SUMS(rgba, PENUMBRA_RGBA_PAIRS, 0, 8, 8, 8, 8)
// Words in 8.7 fixed point.
PENUMBRA_PLACE_SUMS(words, PENUMBRA_WORD_PAIRS, 16, 0, 32, 0, 15)

/// 4 bytes of each of four rows, in words.
PENUMBRA_PLACE_INLINE penumbra_place_words penumbra_place_gray4(const uint8_t *source, intptr_t stride) {
    typedef uint32_t fours __attribute__((ext_vector_type(4)));
    uint32_t rows[4];
    for (int row = 0; row < 4; row++) __builtin_memcpy(&rows[row], source + row * stride, 4);
    fours samples = {rows[0], rows[1], rows[2], rows[3]};
    return __builtin_convertvector((penumbra_sixteen_samples)samples, penumbra_place_words);
}

/// The same for pixels of one sample.
PENUMBRA_PLACE_INLINE int32_t penumbra_sums4_gray(
    const uint8_t *source, intptr_t stride, const int16_t *along, const int16_t *across) {
    penumbra_place_four w, v;
    __builtin_memcpy(&w, along, sizeof w);
    __builtin_memcpy(&v, across, sizeof v);
    penumbra_place_words weights = __builtin_shufflevector(w, w, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
    penumbra_place_sums halves = penumbra_place_products(penumbra_place_gray4(source, stride), weights);
    penumbra_four_sums rows = (halves.even + halves.odd) >> 8;
    penumbra_place_four words = __builtin_convertvector(rows, penumbra_place_four), zero = {0};
    penumbra_four_sums sums = penumbra_place_products4(
        __builtin_shufflevector(words, zero, 0, 1, 2, 3, 4, 5, 6, 7),
        __builtin_shufflevector(v, zero, 0, 1, 2, 3, 4, 5, 6, 7));
    return sums.x + sums.y;
}

/// 6 bytes of a row, and 6 of another, in words; 0 between them and after them.
PENUMBRA_PLACE_INLINE penumbra_place_words penumbra_place_gray6(const uint8_t *low, const uint8_t *high) {
    typedef uint64_t twos __attribute__((ext_vector_type(2)));
    uint64_t x, y;
    __builtin_memcpy(&x, low, 8);
    __builtin_memcpy(&y, high, 8);
    twos samples = {x, y};
    return __builtin_convertvector((penumbra_sixteen_samples)samples, penumbra_place_words);
}

PENUMBRA_PLACE_INLINE int32_t penumbra_sums6_gray(
    const uint8_t *source, intptr_t stride, const int16_t *along, const int16_t *across) {
    penumbra_place_eight w, v, zero = {0};
    __builtin_memcpy(&w, along, sizeof w);
    __builtin_memcpy(&v, across, sizeof v);
    penumbra_place_words weights = __builtin_shufflevector(w, zero, 0, 1, 2, 3, 4, 5, 8, 8, 0, 1, 2, 3, 4, 5, 8, 8);
    // Each half has the sums of the pixels 0 and 1, of 2 and 3, of 4 and 5, and 0.
    penumbra_place_sums a = penumbra_place_products(penumbra_place_gray6(source, source + stride), weights);
    penumbra_place_sums b =
        penumbra_place_products(penumbra_place_gray6(source + 2 * stride, source + 3 * stride), weights);
    penumbra_place_sums c =
        penumbra_place_products(penumbra_place_gray6(source + 4 * stride, source + 5 * stride), weights);
    // Rows 0, 2, 1, 3 in two parts each, and then as one.
    penumbra_place_sums ab = __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14)
        + __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
    penumbra_four_sums four = (ab.even + ab.odd) >> 8;
    penumbra_four_sums two =
        (__builtin_shufflevector(c, c, 0, 4, -1, -1) + __builtin_shufflevector(c, c, 1, 5, -1, -1)
            + __builtin_shufflevector(c, c, 2, 6, -1, -1)) >> 8;
    penumbra_place_words rows = (penumbra_place_words)__builtin_shufflevector(four, two, 0, 1, 2, 3, 4, 5, -1, -1);
    penumbra_place_eight words = __builtin_shufflevector(rows, rows, 0, 2, 4, 6, 8, 10, -1, -1);
    penumbra_four_sums sums = penumbra_place_products4(words, __builtin_shufflevector(v, zero, 0, 2, 1, 3, 4, 5, 8, 8));
    return sums.x + sums.y + sums.z;
}

/// Adds a 64th of some sums to others.
PENUMBRA_PLACE_INLINE penumbra_four_sums penumbra_add_sums(penumbra_four_sums sums, penumbra_four_sums others) {
    return others + (sums >> 6);
}

/// Sums times a factor of 1/2³², rounded down, times 64.
PENUMBRA_PLACE_INLINE penumbra_four_sums penumbra_mean_sums(penumbra_four_sums sums, int64_t factor) {
    typedef int64_t wide __attribute__((ext_vector_type(4)));
    wide products = __builtin_convertvector(sums, wide) * factor;
    return __builtin_convertvector(products >> 32, penumbra_four_sums) << 6;
}

// The mean of the rounding down of the sums of rows. It is too small to change what is a whole number.
#define PENUMBRA_PLACE_BIAS (1 << 12)

/// The samples that are nearest to 16 sums, within 0 to 255.
PENUMBRA_PLACE_INLINE penumbra_sixteen_samples penumbra_round_sums(const int32_t *sums) {
    penumbra_four_sums x[4];
    __builtin_memcpy(x, sums, sizeof x);
    for (int part = 0; part < 4; part++) x[part] = (x[part] + (PENUMBRA_PLACE_BIAS + (1 << 19))) >> 20;
#if defined(__x86_64__)
    typedef int fours __attribute__((vector_size(16)));
    return (penumbra_sixteen_samples)__builtin_ia32_packuswb128(
        __builtin_ia32_packssdw128((fours)x[0], (fours)x[1]), __builtin_ia32_packssdw128((fours)x[2], (fours)x[3]));
#else
    typedef uint8_t four __attribute__((ext_vector_type(4)));
    union { four parts[4]; penumbra_sixteen_samples whole; } samples;
    for (int part = 0; part < 4; part++) {
        x[part] = x[part] < 0 ? 0 : x[part];
        x[part] = x[part] > 255 ? 255 : x[part];
        samples.parts[part] = __builtin_convertvector(x[part], four);
    }
    return samples.whole;
#endif
}

/// Stores the first three samples of each of four pixels, and 4 bytes after them.
PENUMBRA_PLACE_INLINE void penumbra_store_three_of_four(penumbra_sixteen_samples x, uint8_t *target) {
    penumbra_sixteen_samples samples =
        __builtin_shufflevector(x, x, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    __builtin_memcpy(target, &samples, sizeof samples);
}

/// Stores four pixels with a full alpha.
PENUMBRA_PLACE_INLINE void penumbra_store_opaque(penumbra_sixteen_samples x, uint8_t *target) {
    penumbra_sixteen_samples full = {255};
    penumbra_sixteen_samples samples =
        __builtin_shufflevector(x, full, 0, 1, 2, 16, 4, 5, 6, 16, 8, 9, 10, 16, 12, 13, 14, 16);
    __builtin_memcpy(target, &samples, sizeof samples);
}

/// The words in 8.7 fixed point that are next below 8 sums, within 0 to 65535.
PENUMBRA_PLACE_INLINE void penumbra_store_sum_words(const int32_t *sums, uint16_t *target) {
    penumbra_four_sums x[2];
    __builtin_memcpy(x, sums, sizeof x);
    for (int part = 0; part < 2; part++) {
        x[part] = (x[part] + PENUMBRA_PLACE_BIAS) >> 13;
        x[part] = x[part] < 0 ? 0 : x[part];
    }
    penumbra_place_sums wide = __builtin_shufflevector(x[0], x[1], 0, 1, 2, 3, 4, 5, 6, 7);
    penumbra_eight_rounded words = __builtin_convertvector(wide, penumbra_eight_rounded);
    __builtin_memcpy(target, &words, sizeof words);
}

#pragma clang diagnostic pop

#endif
