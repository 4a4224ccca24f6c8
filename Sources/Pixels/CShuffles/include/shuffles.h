#ifndef PENUMBRA_SHUFFLES_H
#define PENUMBRA_SHUFFLES_H

// Moves between interleaved pixels and a vector for each channel. They compute nothing.
//
// Swift writes a shuffle lane by lane. With three or four sources, the compiler makes single lanes of it (measured: three times
// slower). These shuffles have two sources each. With three or four sources, the first two are joined, then the others, then both
// results. -1 is a lane that the next shuffle does not use.

#include <stdint.h>

typedef uint8_t penumbra_bytes __attribute__((ext_vector_type(16)));

/// 16 pixels. A channel that the layout lacks is 0.
typedef struct {
    penumbra_bytes a, b, c, d;
} penumbra_byte_pixels;

typedef uint16_t penumbra_words __attribute__((ext_vector_type(8)));

/// 8 pixels. A channel that the layout lacks is 0.
typedef struct {
    penumbra_words a, b, c, d;
} penumbra_word_pixels;

typedef float penumbra_floats __attribute__((ext_vector_type(4)));

/// 4 pixels. A channel that the layout lacks is 0.
typedef struct {
    penumbra_floats a, b, c, d;
} penumbra_float_pixels;

#define PENUMBRA_INLINE static inline __attribute__((always_inline))

PENUMBRA_INLINE penumbra_byte_pixels penumbra_load_bytes2(const uint8_t *source) {
    penumbra_bytes x[2];
    __builtin_memcpy(x, source, sizeof x);
    penumbra_byte_pixels pixels = {0};
    pixels.a = __builtin_shufflevector(x[0], x[1], 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    pixels.b = __builtin_shufflevector(x[0], x[1], 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return pixels;
}

PENUMBRA_INLINE void penumbra_store_bytes2(penumbra_byte_pixels p, uint8_t *target) {
    penumbra_bytes x[2];
    x[0] = __builtin_shufflevector(p.a, p.b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    x[1] = __builtin_shufflevector(p.a, p.b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    __builtin_memcpy(target, x, sizeof x);
}

PENUMBRA_INLINE penumbra_byte_pixels penumbra_load_bytes3(const uint8_t *source) {
    penumbra_bytes x[3];
    __builtin_memcpy(x, source, sizeof x);
    penumbra_byte_pixels pixels = {0};
    penumbra_bytes a01 = __builtin_shufflevector(x[0], x[1], 0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, -1, -1, -1, -1, -1);
    pixels.a = __builtin_shufflevector(a01, x[2], 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 20, 23, 26, 29);
    penumbra_bytes b01 = __builtin_shufflevector(x[0], x[1], 1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, -1, -1, -1, -1, -1);
    pixels.b = __builtin_shufflevector(b01, x[2], 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 18, 21, 24, 27, 30);
    penumbra_bytes c01 = __builtin_shufflevector(x[0], x[1], 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, -1, -1, -1, -1, -1, -1);
    pixels.c = __builtin_shufflevector(c01, x[2], 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 19, 22, 25, 28, 31);
    return pixels;
}

PENUMBRA_INLINE void penumbra_store_bytes3(penumbra_byte_pixels p, uint8_t *target) {
    penumbra_bytes x[3];
    penumbra_bytes ab0 = __builtin_shufflevector(p.a, p.b, 0, 16, -1, 1, 17, -1, 2, 18, -1, 3, 19, -1, 4, 20, -1, 5);
    x[0] = __builtin_shufflevector(ab0, p.c, 0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15);
    penumbra_bytes ab1 = __builtin_shufflevector(p.a, p.b, 21, -1, 6, 22, -1, 7, 23, -1, 8, 24, -1, 9, 25, -1, 10, 26);
    x[1] = __builtin_shufflevector(ab1, p.c, 0, 21, 2, 3, 22, 5, 6, 23, 8, 9, 24, 11, 12, 25, 14, 15);
    penumbra_bytes ab2 = __builtin_shufflevector(p.a, p.b, -1, 11, 27, -1, 12, 28, -1, 13, 29, -1, 14, 30, -1, 15, 31, -1);
    x[2] = __builtin_shufflevector(ab2, p.c, 26, 1, 2, 27, 4, 5, 28, 7, 8, 29, 10, 11, 30, 13, 14, 31);
    __builtin_memcpy(target, x, sizeof x);
}

PENUMBRA_INLINE penumbra_byte_pixels penumbra_load_bytes4(const uint8_t *source) {
    penumbra_bytes x[4];
    __builtin_memcpy(x, source, sizeof x);
    penumbra_byte_pixels pixels = {0};
    penumbra_bytes a01 = __builtin_shufflevector(x[0], x[1], 0, 4, 8, 12, 16, 20, 24, 28, -1, -1, -1, -1, -1, -1, -1, -1);
    penumbra_bytes a23 = __builtin_shufflevector(x[2], x[3], -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12, 16, 20, 24, 28);
    pixels.a = __builtin_shufflevector(a01, a23, 0, 1, 2, 3, 4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31);
    penumbra_bytes b01 = __builtin_shufflevector(x[0], x[1], 1, 5, 9, 13, 17, 21, 25, 29, -1, -1, -1, -1, -1, -1, -1, -1);
    penumbra_bytes b23 = __builtin_shufflevector(x[2], x[3], -1, -1, -1, -1, -1, -1, -1, -1, 1, 5, 9, 13, 17, 21, 25, 29);
    pixels.b = __builtin_shufflevector(b01, b23, 0, 1, 2, 3, 4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31);
    penumbra_bytes c01 = __builtin_shufflevector(x[0], x[1], 2, 6, 10, 14, 18, 22, 26, 30, -1, -1, -1, -1, -1, -1, -1, -1);
    penumbra_bytes c23 = __builtin_shufflevector(x[2], x[3], -1, -1, -1, -1, -1, -1, -1, -1, 2, 6, 10, 14, 18, 22, 26, 30);
    pixels.c = __builtin_shufflevector(c01, c23, 0, 1, 2, 3, 4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31);
    penumbra_bytes d01 = __builtin_shufflevector(x[0], x[1], 3, 7, 11, 15, 19, 23, 27, 31, -1, -1, -1, -1, -1, -1, -1, -1);
    penumbra_bytes d23 = __builtin_shufflevector(x[2], x[3], -1, -1, -1, -1, -1, -1, -1, -1, 3, 7, 11, 15, 19, 23, 27, 31);
    pixels.d = __builtin_shufflevector(d01, d23, 0, 1, 2, 3, 4, 5, 6, 7, 24, 25, 26, 27, 28, 29, 30, 31);
    return pixels;
}

PENUMBRA_INLINE void penumbra_store_bytes4(penumbra_byte_pixels p, uint8_t *target) {
    penumbra_bytes x[4];
    penumbra_bytes ab0 = __builtin_shufflevector(p.a, p.b, 0, 16, -1, -1, 1, 17, -1, -1, 2, 18, -1, -1, 3, 19, -1, -1);
    penumbra_bytes cd0 = __builtin_shufflevector(p.c, p.d, -1, -1, 0, 16, -1, -1, 1, 17, -1, -1, 2, 18, -1, -1, 3, 19);
    x[0] = __builtin_shufflevector(ab0, cd0, 0, 1, 18, 19, 4, 5, 22, 23, 8, 9, 26, 27, 12, 13, 30, 31);
    penumbra_bytes ab1 = __builtin_shufflevector(p.a, p.b, 4, 20, -1, -1, 5, 21, -1, -1, 6, 22, -1, -1, 7, 23, -1, -1);
    penumbra_bytes cd1 = __builtin_shufflevector(p.c, p.d, -1, -1, 4, 20, -1, -1, 5, 21, -1, -1, 6, 22, -1, -1, 7, 23);
    x[1] = __builtin_shufflevector(ab1, cd1, 0, 1, 18, 19, 4, 5, 22, 23, 8, 9, 26, 27, 12, 13, 30, 31);
    penumbra_bytes ab2 = __builtin_shufflevector(p.a, p.b, 8, 24, -1, -1, 9, 25, -1, -1, 10, 26, -1, -1, 11, 27, -1, -1);
    penumbra_bytes cd2 = __builtin_shufflevector(p.c, p.d, -1, -1, 8, 24, -1, -1, 9, 25, -1, -1, 10, 26, -1, -1, 11, 27);
    x[2] = __builtin_shufflevector(ab2, cd2, 0, 1, 18, 19, 4, 5, 22, 23, 8, 9, 26, 27, 12, 13, 30, 31);
    penumbra_bytes ab3 = __builtin_shufflevector(p.a, p.b, 12, 28, -1, -1, 13, 29, -1, -1, 14, 30, -1, -1, 15, 31, -1, -1);
    penumbra_bytes cd3 = __builtin_shufflevector(p.c, p.d, -1, -1, 12, 28, -1, -1, 13, 29, -1, -1, 14, 30, -1, -1, 15, 31);
    x[3] = __builtin_shufflevector(ab3, cd3, 0, 1, 18, 19, 4, 5, 22, 23, 8, 9, 26, 27, 12, 13, 30, 31);
    __builtin_memcpy(target, x, sizeof x);
}

PENUMBRA_INLINE penumbra_word_pixels penumbra_load_words2(const uint16_t *source) {
    penumbra_words x[2];
    __builtin_memcpy(x, source, sizeof x);
    penumbra_word_pixels pixels = {0};
    pixels.a = __builtin_shufflevector(x[0], x[1], 0, 2, 4, 6, 8, 10, 12, 14);
    pixels.b = __builtin_shufflevector(x[0], x[1], 1, 3, 5, 7, 9, 11, 13, 15);
    return pixels;
}

PENUMBRA_INLINE void penumbra_store_words2(penumbra_word_pixels p, uint16_t *target) {
    penumbra_words x[2];
    x[0] = __builtin_shufflevector(p.a, p.b, 0, 8, 1, 9, 2, 10, 3, 11);
    x[1] = __builtin_shufflevector(p.a, p.b, 4, 12, 5, 13, 6, 14, 7, 15);
    __builtin_memcpy(target, x, sizeof x);
}

PENUMBRA_INLINE penumbra_word_pixels penumbra_load_words3(const uint16_t *source) {
    penumbra_words x[3];
    __builtin_memcpy(x, source, sizeof x);
    penumbra_word_pixels pixels = {0};
    penumbra_words a01 = __builtin_shufflevector(x[0], x[1], 0, 3, 6, 9, 12, 15, -1, -1);
    pixels.a = __builtin_shufflevector(a01, x[2], 0, 1, 2, 3, 4, 5, 10, 13);
    penumbra_words b01 = __builtin_shufflevector(x[0], x[1], 1, 4, 7, 10, 13, -1, -1, -1);
    pixels.b = __builtin_shufflevector(b01, x[2], 0, 1, 2, 3, 4, 8, 11, 14);
    penumbra_words c01 = __builtin_shufflevector(x[0], x[1], 2, 5, 8, 11, 14, -1, -1, -1);
    pixels.c = __builtin_shufflevector(c01, x[2], 0, 1, 2, 3, 4, 9, 12, 15);
    return pixels;
}

PENUMBRA_INLINE void penumbra_store_words3(penumbra_word_pixels p, uint16_t *target) {
    penumbra_words x[3];
    penumbra_words ab0 = __builtin_shufflevector(p.a, p.b, 0, 8, -1, 1, 9, -1, 2, 10);
    x[0] = __builtin_shufflevector(ab0, p.c, 0, 1, 8, 3, 4, 9, 6, 7);
    penumbra_words ab1 = __builtin_shufflevector(p.a, p.b, -1, 3, 11, -1, 4, 12, -1, 5);
    x[1] = __builtin_shufflevector(ab1, p.c, 10, 1, 2, 11, 4, 5, 12, 7);
    penumbra_words ab2 = __builtin_shufflevector(p.a, p.b, 13, -1, 6, 14, -1, 7, 15, -1);
    x[2] = __builtin_shufflevector(ab2, p.c, 0, 13, 2, 3, 14, 5, 6, 15);
    __builtin_memcpy(target, x, sizeof x);
}

PENUMBRA_INLINE penumbra_word_pixels penumbra_load_words4(const uint16_t *source) {
    penumbra_words x[4];
    __builtin_memcpy(x, source, sizeof x);
    penumbra_word_pixels pixels = {0};
    penumbra_words a01 = __builtin_shufflevector(x[0], x[1], 0, 4, 8, 12, -1, -1, -1, -1);
    penumbra_words a23 = __builtin_shufflevector(x[2], x[3], -1, -1, -1, -1, 0, 4, 8, 12);
    pixels.a = __builtin_shufflevector(a01, a23, 0, 1, 2, 3, 12, 13, 14, 15);
    penumbra_words b01 = __builtin_shufflevector(x[0], x[1], 1, 5, 9, 13, -1, -1, -1, -1);
    penumbra_words b23 = __builtin_shufflevector(x[2], x[3], -1, -1, -1, -1, 1, 5, 9, 13);
    pixels.b = __builtin_shufflevector(b01, b23, 0, 1, 2, 3, 12, 13, 14, 15);
    penumbra_words c01 = __builtin_shufflevector(x[0], x[1], 2, 6, 10, 14, -1, -1, -1, -1);
    penumbra_words c23 = __builtin_shufflevector(x[2], x[3], -1, -1, -1, -1, 2, 6, 10, 14);
    pixels.c = __builtin_shufflevector(c01, c23, 0, 1, 2, 3, 12, 13, 14, 15);
    penumbra_words d01 = __builtin_shufflevector(x[0], x[1], 3, 7, 11, 15, -1, -1, -1, -1);
    penumbra_words d23 = __builtin_shufflevector(x[2], x[3], -1, -1, -1, -1, 3, 7, 11, 15);
    pixels.d = __builtin_shufflevector(d01, d23, 0, 1, 2, 3, 12, 13, 14, 15);
    return pixels;
}

PENUMBRA_INLINE void penumbra_store_words4(penumbra_word_pixels p, uint16_t *target) {
    penumbra_words x[4];
    penumbra_words ab0 = __builtin_shufflevector(p.a, p.b, 0, 8, -1, -1, 1, 9, -1, -1);
    penumbra_words cd0 = __builtin_shufflevector(p.c, p.d, -1, -1, 0, 8, -1, -1, 1, 9);
    x[0] = __builtin_shufflevector(ab0, cd0, 0, 1, 10, 11, 4, 5, 14, 15);
    penumbra_words ab1 = __builtin_shufflevector(p.a, p.b, 2, 10, -1, -1, 3, 11, -1, -1);
    penumbra_words cd1 = __builtin_shufflevector(p.c, p.d, -1, -1, 2, 10, -1, -1, 3, 11);
    x[1] = __builtin_shufflevector(ab1, cd1, 0, 1, 10, 11, 4, 5, 14, 15);
    penumbra_words ab2 = __builtin_shufflevector(p.a, p.b, 4, 12, -1, -1, 5, 13, -1, -1);
    penumbra_words cd2 = __builtin_shufflevector(p.c, p.d, -1, -1, 4, 12, -1, -1, 5, 13);
    x[2] = __builtin_shufflevector(ab2, cd2, 0, 1, 10, 11, 4, 5, 14, 15);
    penumbra_words ab3 = __builtin_shufflevector(p.a, p.b, 6, 14, -1, -1, 7, 15, -1, -1);
    penumbra_words cd3 = __builtin_shufflevector(p.c, p.d, -1, -1, 6, 14, -1, -1, 7, 15);
    x[3] = __builtin_shufflevector(ab3, cd3, 0, 1, 10, 11, 4, 5, 14, 15);
    __builtin_memcpy(target, x, sizeof x);
}

PENUMBRA_INLINE penumbra_float_pixels penumbra_load_floats2(const float *source) {
    penumbra_floats x[2];
    __builtin_memcpy(x, source, sizeof x);
    penumbra_float_pixels pixels = {0};
    pixels.a = __builtin_shufflevector(x[0], x[1], 0, 2, 4, 6);
    pixels.b = __builtin_shufflevector(x[0], x[1], 1, 3, 5, 7);
    return pixels;
}

PENUMBRA_INLINE void penumbra_store_floats2(penumbra_float_pixels p, float *target) {
    penumbra_floats x[2];
    x[0] = __builtin_shufflevector(p.a, p.b, 0, 4, 1, 5);
    x[1] = __builtin_shufflevector(p.a, p.b, 2, 6, 3, 7);
    __builtin_memcpy(target, x, sizeof x);
}

PENUMBRA_INLINE penumbra_float_pixels penumbra_load_floats3(const float *source) {
    penumbra_floats x[3];
    __builtin_memcpy(x, source, sizeof x);
    penumbra_float_pixels pixels = {0};
    penumbra_floats a01 = __builtin_shufflevector(x[0], x[1], 0, 3, 6, -1);
    pixels.a = __builtin_shufflevector(a01, x[2], 0, 1, 2, 5);
    penumbra_floats b01 = __builtin_shufflevector(x[0], x[1], 1, 4, 7, -1);
    pixels.b = __builtin_shufflevector(b01, x[2], 0, 1, 2, 6);
    penumbra_floats c01 = __builtin_shufflevector(x[0], x[1], 2, 5, -1, -1);
    pixels.c = __builtin_shufflevector(c01, x[2], 0, 1, 4, 7);
    return pixels;
}

PENUMBRA_INLINE void penumbra_store_floats3(penumbra_float_pixels p, float *target) {
    penumbra_floats x[3];
    penumbra_floats ab0 = __builtin_shufflevector(p.a, p.b, 0, 4, -1, 1);
    x[0] = __builtin_shufflevector(ab0, p.c, 0, 1, 4, 3);
    penumbra_floats ab1 = __builtin_shufflevector(p.a, p.b, 5, -1, 2, 6);
    x[1] = __builtin_shufflevector(ab1, p.c, 0, 5, 2, 3);
    penumbra_floats ab2 = __builtin_shufflevector(p.a, p.b, -1, 3, 7, -1);
    x[2] = __builtin_shufflevector(ab2, p.c, 6, 1, 2, 7);
    __builtin_memcpy(target, x, sizeof x);
}

PENUMBRA_INLINE penumbra_float_pixels penumbra_load_floats4(const float *source) {
    penumbra_floats x[4];
    __builtin_memcpy(x, source, sizeof x);
    penumbra_float_pixels pixels = {0};
    penumbra_floats a01 = __builtin_shufflevector(x[0], x[1], 0, 4, -1, -1);
    penumbra_floats a23 = __builtin_shufflevector(x[2], x[3], -1, -1, 0, 4);
    pixels.a = __builtin_shufflevector(a01, a23, 0, 1, 6, 7);
    penumbra_floats b01 = __builtin_shufflevector(x[0], x[1], 1, 5, -1, -1);
    penumbra_floats b23 = __builtin_shufflevector(x[2], x[3], -1, -1, 1, 5);
    pixels.b = __builtin_shufflevector(b01, b23, 0, 1, 6, 7);
    penumbra_floats c01 = __builtin_shufflevector(x[0], x[1], 2, 6, -1, -1);
    penumbra_floats c23 = __builtin_shufflevector(x[2], x[3], -1, -1, 2, 6);
    pixels.c = __builtin_shufflevector(c01, c23, 0, 1, 6, 7);
    penumbra_floats d01 = __builtin_shufflevector(x[0], x[1], 3, 7, -1, -1);
    penumbra_floats d23 = __builtin_shufflevector(x[2], x[3], -1, -1, 3, 7);
    pixels.d = __builtin_shufflevector(d01, d23, 0, 1, 6, 7);
    return pixels;
}

PENUMBRA_INLINE void penumbra_store_floats4(penumbra_float_pixels p, float *target) {
    penumbra_floats x[4];
    penumbra_floats ab0 = __builtin_shufflevector(p.a, p.b, 0, 4, -1, -1);
    penumbra_floats cd0 = __builtin_shufflevector(p.c, p.d, -1, -1, 0, 4);
    x[0] = __builtin_shufflevector(ab0, cd0, 0, 1, 6, 7);
    penumbra_floats ab1 = __builtin_shufflevector(p.a, p.b, 1, 5, -1, -1);
    penumbra_floats cd1 = __builtin_shufflevector(p.c, p.d, -1, -1, 1, 5);
    x[1] = __builtin_shufflevector(ab1, cd1, 0, 1, 6, 7);
    penumbra_floats ab2 = __builtin_shufflevector(p.a, p.b, 2, 6, -1, -1);
    penumbra_floats cd2 = __builtin_shufflevector(p.c, p.d, -1, -1, 2, 6);
    x[2] = __builtin_shufflevector(ab2, cd2, 0, 1, 6, 7);
    penumbra_floats ab3 = __builtin_shufflevector(p.a, p.b, 3, 7, -1, -1);
    penumbra_floats cd3 = __builtin_shufflevector(p.c, p.d, -1, -1, 3, 7);
    x[3] = __builtin_shufflevector(ab3, cd3, 0, 1, 6, 7);
    __builtin_memcpy(target, x, sizeof x);
}

// MARK: Tables of bytes.

#if defined(__AVX2__)
#if defined(__AVX512BW__)
#define PENUMBRA_TABLE_WIDTH 64
#define PENUMBRA_TABLE_SHUFFLE __builtin_ia32_pshufb512
#else
#define PENUMBRA_TABLE_WIDTH 32
#define PENUMBRA_TABLE_SHUFFLE __builtin_ia32_pshufb256
#endif
#define PENUMBRA_TABLE_VECTORS (64 / PENUMBRA_TABLE_WIDTH)

typedef uint8_t penumbra_table_bytes __attribute__((ext_vector_type(PENUMBRA_TABLE_WIDTH)));
#endif

/// Replaces each of 64 bytes by its value in a table of 256.
///
/// The processor looks up 4 bits of a byte in 16 values. So each sixteenth of the table gives its values, and 0 for all other
/// bytes: those whose high bit is set after an addition. With vectors of 16 bytes that is slower than one byte after the other
/// (for 36 MB of samples it took 21 ms, and 6 ms with AVX2).
PENUMBRA_INLINE void penumbra_look_up(uint8_t *bytes, const uint8_t *table) {
#if defined(__AVX2__)
    typedef char values __attribute__((vector_size(PENUMBRA_TABLE_WIDTH)));
    penumbra_table_bytes rest[PENUMBRA_TABLE_VECTORS], found[PENUMBRA_TABLE_VECTORS] = {0};
    __builtin_memcpy(rest, bytes, sizeof rest);
    for (int part = 0; part < 16; part++) {
        uint8_t copies[PENUMBRA_TABLE_WIDTH];
        for (int copy = 0; copy < PENUMBRA_TABLE_WIDTH; copy += 16) __builtin_memcpy(copies + copy, table + 16 * part, 16);
        values sixteen;
        __builtin_memcpy(&sixteen, copies, sizeof sixteen);
        for (int vector = 0; vector < PENUMBRA_TABLE_VECTORS; vector++) {
            // 0 to 15 become 70 to 7F (hexadecimal), and all others at least 80.
            penumbra_table_bytes places = __builtin_elementwise_add_sat(rest[vector], (penumbra_table_bytes)0x70);
            found[vector] |= (penumbra_table_bytes)PENUMBRA_TABLE_SHUFFLE(sixteen, (values)places);
            rest[vector] -= (penumbra_table_bytes)16;
        }
    }
    __builtin_memcpy(bytes, found, sizeof found);
#else
    for (int index = 0; index < 64; index++) bytes[index] = table[bytes[index]];
#endif
}

#endif
