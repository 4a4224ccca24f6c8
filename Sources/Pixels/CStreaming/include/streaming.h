#ifndef PENUMBRA_STREAMING_H
#define PENUMBRA_STREAMING_H

// Three memory operations that Swift has no words for. They move bytes and compute nothing.

#include <stdint.h>

typedef uint8_t penumbra_line __attribute__((vector_size(64)));

/// Writes 64 bytes to a 64-byte boundary past the caches. A line that is written whole need not be read first: on a
/// picture larger than the second-level cache that saves a third of a copy's traffic (measured: 36 MB in 2.2 ms, and
/// 4.2 ms by ordinary stores).
static inline __attribute__((always_inline)) void penumbra_stream_line(const void *source, void *target) {
    penumbra_line line;
    __builtin_memcpy(&line, source, sizeof line);
    __builtin_nontemporal_store(line, (penumbra_line *)target);
}

/// Makes streamed lines visible before anything that follows.
static inline __attribute__((always_inline)) void penumbra_stream_end(void) {
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

/// Asks for a line that will be read soon.
static inline __attribute__((always_inline)) void penumbra_prefetch(const void *line) {
    __builtin_prefetch(line, 0, 3);
}

#endif
