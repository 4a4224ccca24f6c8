#pragma once
#include <xxhash.h>

#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#define XXH_DISPATCH_DISABLE_REPLACE
#include <xxh_x86dispatch.h>
#define CXXHASH_UPDATE XXH3_128bits_update_dispatch
#else
#define CXXHASH_UPDATE XXH3_128bits_update
#endif

/* XXH3_128bits_update with the longest vectors of this CPU: libraries for x86-64 have it in several forms. The plain
   function has vectors of 16 bytes there. The digest is the same. */
static inline XXH_errorcode xxh3_128bits_add(XXH3_state_t *state, const void *bytes, size_t count) {
    return CXXHASH_UPDATE(state, bytes, count);
}
