/* Makes CLOCK_REALTIME jump: every 30 ms of real time it is another number of seconds off, by up to 40 days.

   All processes agree, since the jump follows from the seed and the monotonic clock. Clocks that never jump are left
   alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static int (*real_gettime)(clockid_t, struct timespec *);

static void find(void) {
    if (!real_gettime) real_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
}

static int64_t offset(void) {
    const char *text = getenv("PENUMBRA_FAULTS_CLOCK");
    struct timespec now;
    if (!text) return 0;
    real_gettime(CLOCK_MONOTONIC, &now);
    uint64_t step = ((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000) / 30;
    uint64_t z = strtoull(text, NULL, 10) + step * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (int64_t)(z % (80 * 86400)) - 40 * 86400;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    find();
    int result = real_gettime(clock, time);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += offset();
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    struct timespec now;
    (void)zone;
    int result = clock_gettime(CLOCK_REALTIME, &now);
    if (result == 0 && time) {
        time->tv_sec = now.tv_sec;
        time->tv_usec = now.tv_nsec / 1000;
    }
    return result;
}

time_t time(time_t *place) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (place) *place = now.tv_sec;
    return now.tv_sec;
}
