#define _GNU_SOURCE
#include "plugin_trial.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef const void *(*entry_function)(uint32_t host_abi);

/* In the child: opens one library after the other, has its description read, and says so after each. What they print goes nowhere. */
static void open_all(const char *const *paths, int32_t count, uint32_t host_abi, uint32_t seconds,
                     void (*read_description)(const void *), int progress) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    signal(SIGALRM, SIG_DFL);
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarms, NULL);
    for (int32_t index = 0; index < count; index++) {
        alarm(seconds);
        void *library = dlopen(paths[index], RTLD_NOW | RTLD_LOCAL);
        if (library) {
            entry_function entry = (entry_function)dlsym(library, "penumbra_plugin_entry");
            const void *plugin = entry ? entry(host_abi) : NULL;
            if (plugin) read_description(plugin);
        }
        alarm(0);
        if (write(progress, "+", 1) != 1) break;
    }
    /* No destructors: nothing of the parent's is to be finished here. */
    _exit(0);
}

plugin_trial try_plugins(const char *const *paths, int32_t count, uint32_t host_abi, uint32_t seconds,
                         void (*read_description)(const void *)) {
    plugin_trial trial = {0, 0, 0};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) {
        trial.error = errno;
        return trial;
    }
    const pid_t child = fork();
    if (child < 0) {
        trial.error = errno;
        close(ends[0]);
        close(ends[1]);
        return trial;
    }
    if (child == 0) open_all(paths, count, host_abi, seconds, read_description, ends[1]);
    close(ends[1]);
    char mark;
    for (;;) {
        const ssize_t got = read(ends[0], &mark, 1);
        if (got > 0) trial.survived++;
        else if (got == 0 || errno != EINTR) break;
    }
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    /* A library that leaves with exit code 0 has not survived either. */
    trial.status = trial.survived < count ? status : 0;
    return trial;
}

int64_t allocated_bytes(void) {
    const struct mallinfo2 figures = mallinfo2();
    return (int64_t)(figures.uordblks + figures.hblkhd);
}

int32_t file_contains(const char *path, const char *text) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    struct stat status;
    int32_t found = 0;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
        const size_t size = (size_t)status.st_size;
        void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            found = memmem(bytes, size, text, strlen(text)) != NULL;
            munmap(bytes, size);
        }
    }
    close(file);
    return found;
}
