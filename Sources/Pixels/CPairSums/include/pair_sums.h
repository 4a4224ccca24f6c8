#ifndef PENUMBRA_PAIR_SUMS_H
#define PENUMBRA_PAIR_SUMS_H

// Weighted sums of the samples of two rows. x86-64 has an instruction for them (pmaddubsw), but the compiler does not use it for
// any loop in Swift. It multiplies bytes that lie beside each other. So the bytes of both rows are interleaved first. The processor
// does that within 16 bytes, and so the sums come in two parts. Other processors multiply 8 bytes to 8 words (umull of arm64).

#include <stdint.h>

typedef uint16_t penumbra_eight_sums __attribute__((ext_vector_type(8)));

/// Half of the sums of a block of 64 samples. Swift imports no structure with longer vectors.
typedef struct {
    penumbra_eight_sums a, b, c, d;
} penumbra_half_sums;

/// The sums of a block of 64 samples. `low` has those of the first 8 of every 16 samples, and `high` those of the others.
typedef struct {
    penumbra_half_sums low, high;
} penumbra_block_sums;

#define PENUMBRA_PAIRS_INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)

// The order of the bytes of two vectors, of `w` bytes each, when 8 bytes from `n` on of both are interleaved. A vector is as long as
// the processor has them.
#define PENUMBRA_PAIRS_OF_8(n, w) \
    n, n + w, n + 1, n + w + 1, n + 2, n + w + 2, n + 3, n + w + 3, n + 4, n + w + 4, n + 5, n + w + 5, n + 6, n + w + 6, \
        n + 7, n + w + 7
#if defined(__AVX512BW__)
#define PENUMBRA_PAIRS_WIDTH 64
#define PENUMBRA_PAIRS_FROM(n) \
    PENUMBRA_PAIRS_OF_8(n, 64), PENUMBRA_PAIRS_OF_8(n + 16, 64), PENUMBRA_PAIRS_OF_8(n + 32, 64), \
        PENUMBRA_PAIRS_OF_8(n + 48, 64)
#define PENUMBRA_PAIRS_MULTIPLY __builtin_ia32_pmaddubsw512
#elif defined(__AVX2__)
#define PENUMBRA_PAIRS_WIDTH 32
#define PENUMBRA_PAIRS_FROM(n) PENUMBRA_PAIRS_OF_8(n, 32), PENUMBRA_PAIRS_OF_8(n + 16, 32)
#define PENUMBRA_PAIRS_MULTIPLY __builtin_ia32_pmaddubsw256
#else
#define PENUMBRA_PAIRS_WIDTH 16
#define PENUMBRA_PAIRS_FROM(n) PENUMBRA_PAIRS_OF_8(n, 16)
#define PENUMBRA_PAIRS_MULTIPLY __builtin_ia32_pmaddubsw128
#endif
#define PENUMBRA_PAIRS_VECTORS (64 / PENUMBRA_PAIRS_WIDTH)

typedef uint8_t penumbra_pair_bytes __attribute__((ext_vector_type(PENUMBRA_PAIRS_WIDTH)));
typedef uint16_t penumbra_pair_words __attribute__((ext_vector_type(PENUMBRA_PAIRS_WIDTH / 2)));

PENUMBRA_PAIRS_INLINE penumbra_pair_bytes penumbra_load_pairs(const uint8_t *samples) {
    penumbra_pair_bytes bytes;
    __builtin_memcpy(&bytes, samples, sizeof bytes);
    return bytes;
}

/// In each lane the low byte times the low byte of `weights`, plus the high byte times the high one.
PENUMBRA_PAIRS_INLINE penumbra_pair_words penumbra_multiply_pairs(penumbra_pair_bytes pairs, penumbra_pair_words weights) {
    typedef char bytes __attribute__((vector_size(PENUMBRA_PAIRS_WIDTH)));
    return (penumbra_pair_words)PENUMBRA_PAIRS_MULTIPLY((bytes)pairs, (bytes)weights);
}

/// The samples of one row times `weight`, plus those of the other one times `other_weight`. Weights are at most 127, and a sum is at
/// most 32767.
PENUMBRA_PAIRS_INLINE penumbra_block_sums penumbra_pair_sums(
    const uint8_t *row, uint8_t weight, const uint8_t *other_row, uint8_t other_weight) {
    // The difference has the number in every lane.
    penumbra_pair_words weights = (uint16_t)(weight | other_weight << 8) - (penumbra_pair_words){0};
    penumbra_pair_words low[PENUMBRA_PAIRS_VECTORS], high[PENUMBRA_PAIRS_VECTORS];
    for (int part = 0; part < PENUMBRA_PAIRS_VECTORS; part++) {
        penumbra_pair_bytes x = penumbra_load_pairs(row + part * PENUMBRA_PAIRS_WIDTH);
        penumbra_pair_bytes y = penumbra_load_pairs(other_row + part * PENUMBRA_PAIRS_WIDTH);
        low[part] = penumbra_multiply_pairs(__builtin_shufflevector(x, y, PENUMBRA_PAIRS_FROM(0)), weights);
        high[part] = penumbra_multiply_pairs(__builtin_shufflevector(x, y, PENUMBRA_PAIRS_FROM(8)), weights);
    }
    penumbra_block_sums sums;
    __builtin_memcpy(&sums.low, low, sizeof sums.low);
    __builtin_memcpy(&sums.high, high, sizeof sums.high);
    return sums;
}

/// The samples of one row, in the same order.
PENUMBRA_PAIRS_INLINE penumbra_block_sums penumbra_block_samples(const uint8_t *row) {
    penumbra_pair_bytes low[PENUMBRA_PAIRS_VECTORS], high[PENUMBRA_PAIRS_VECTORS], zero = {0};
    for (int part = 0; part < PENUMBRA_PAIRS_VECTORS; part++) {
        penumbra_pair_bytes x = penumbra_load_pairs(row + part * PENUMBRA_PAIRS_WIDTH);
        low[part] = __builtin_shufflevector(x, zero, PENUMBRA_PAIRS_FROM(0));
        high[part] = __builtin_shufflevector(x, zero, PENUMBRA_PAIRS_FROM(8));
    }
    penumbra_block_sums sums;
    __builtin_memcpy(&sums.low, low, sizeof sums.low);
    __builtin_memcpy(&sums.high, high, sizeof sums.high);
    return sums;
}

#else

#define PENUMBRA_PAIRS_VECTORS 4

typedef uint8_t penumbra_eight_samples __attribute__((ext_vector_type(8)));

PENUMBRA_PAIRS_INLINE penumbra_eight_sums penumbra_eight_words(const uint8_t *samples) {
    penumbra_eight_samples bytes;
    __builtin_memcpy(&bytes, samples, sizeof bytes);
    return __builtin_convertvector(bytes, penumbra_eight_sums);
}

/// The samples of one row times `weight`, plus those of the other one times `other_weight`. Weights are at most 127, and a sum is at
/// most 32767.
PENUMBRA_PAIRS_INLINE penumbra_block_sums penumbra_pair_sums(
    const uint8_t *row, uint8_t weight, const uint8_t *other_row, uint8_t other_weight) {
    penumbra_eight_sums sums[2][PENUMBRA_PAIRS_VECTORS];
    for (int part = 0; part < PENUMBRA_PAIRS_VECTORS; part++)
        for (int half = 0; half < 2; half++) {
            int first = part * 16 + half * 8;
            sums[half][part] =
                penumbra_eight_words(row + first) * weight + penumbra_eight_words(other_row + first) * other_weight;
        }
    penumbra_block_sums block;
    __builtin_memcpy(&block.low, sums[0], sizeof block.low);
    __builtin_memcpy(&block.high, sums[1], sizeof block.high);
    return block;
}

/// The samples of one row, in the same order.
PENUMBRA_PAIRS_INLINE penumbra_block_sums penumbra_block_samples(const uint8_t *row) {
    penumbra_eight_sums words[2][PENUMBRA_PAIRS_VECTORS];
    for (int part = 0; part < PENUMBRA_PAIRS_VECTORS; part++)
        for (int half = 0; half < 2; half++) words[half][part] = penumbra_eight_words(row + part * 16 + half * 8);
    penumbra_block_sums block;
    __builtin_memcpy(&block.low, words[0], sizeof block.low);
    __builtin_memcpy(&block.high, words[1], sizeof block.high);
    return block;
}

#endif

#endif
