#define _GNU_SOURCE
#include "process_limits.h"

#include <errno.h>
#include <stddef.h>
#include <sys/resource.h>

static rlim_t lower(rlim_t a, rlim_t b) { return a < b ? a : b; }

static int32_t set(int32_t process, __rlimit_resource_t resource, uint64_t bytes) {
    struct rlimit own, old;
    if (prlimit(0, resource, NULL, &own) != 0 || prlimit(process, resource, NULL, &old) != 0) return -errno;
    const rlim_t wanted = bytes == PROCESS_LIMITS_NONE ? RLIM_INFINITY : bytes;
    const struct rlimit new = {.rlim_cur = lower(wanted, lower(own.rlim_cur, old.rlim_max)), .rlim_max = old.rlim_max};
    if (new.rlim_cur == old.rlim_cur) return 0;
    return prlimit(process, resource, &new, NULL) == 0 ? 0 : -errno;
}

int32_t process_limits_set(int32_t process, uint64_t memory, uint64_t file_size) {
    const int32_t code = set(process, RLIMIT_DATA, memory);
    return code < 0 ? code : set(process, RLIMIT_FSIZE, file_size);
}
