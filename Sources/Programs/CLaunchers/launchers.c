#define _GNU_SOURCE
#include "launchers.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

pid_t launchers_fork(void) { return fork(); }

void launchers_use_default_signals(void) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) sigaction(number, &action, NULL);
}

void launchers_forget_environment(void) {
    for (char **variable = environ; variable && *variable; variable++) memset(*variable, 0, strlen(*variable));
    clearenv();
}

void launchers_close_from(int32_t first) {
    if (close_range((unsigned)first, ~0U, 0) == 0) return;
    const long count = sysconf(_SC_OPEN_MAX);
    for (int number = first; number < count; number++) close(number);
}

static int limit(int resource, uint64_t most) {
    struct rlimit limits;
    if (getrlimit((__rlimit_resource_t)resource, &limits)) return -1;
    if (most < limits.rlim_max) limits.rlim_max = most;
    if (limits.rlim_cur > limits.rlim_max) limits.rlim_cur = limits.rlim_max;
    return setrlimit((__rlimit_resource_t)resource, &limits);
}

int32_t launchers_limit(uint64_t file_size, uint64_t memory) {
    const int fails = limit(RLIMIT_CORE, 0) || limit(RLIMIT_FSIZE, file_size) || limit(RLIMIT_DATA, memory);
    return fails ? -errno : 0;
}
