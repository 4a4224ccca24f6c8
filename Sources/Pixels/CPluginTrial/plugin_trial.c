#define _GNU_SOURCE
#include "plugin_trial.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "description.h"

typedef const void *(*entry_function)(uint32_t host_abi);

/* A child that ended while a process of its own still holds the pipe is noticed after so many milliseconds. */
enum { GLANCE = 100 };

/* In the child: signals do what they do in a new process. A handler of the parent's, Swift's own crash reporter say, may
   take its time, and may wait for threads that are not here. */
static void forget_signals(void) {
    for (int number = 1; number <= SIGRTMAX; number++) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child: opens one library after the other, reads its description, and says so after each. What they print goes
   nowhere. */
static void open_all(const char *const *names, int32_t count, uint32_t host_abi, int progress, void (*confine)(void *),
                     void *context) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    forget_signals();
    if (confine) confine(context);
    for (int32_t index = 0; index < count; index++) {
        void *library = dlopen(names[index], RTLD_NOW | RTLD_LOCAL);
        if (library) {
            entry_function entry = (entry_function)dlsym(library, "penumbra_plugin_entry");
            const void *plugin = entry ? entry(host_abi) : NULL;
            if (plugin) read_whole_description(plugin, host_abi);
        }
        if (write(progress, "+", 1) != 1) break;
    }
    /* No destructors: nothing of the parent's is to be finished here. */
    _exit(0);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* True when the child has ended; it stays there to be waited for. */
static int has_ended(pid_t child) {
    siginfo_t end = {0};
    return waitid(P_PID, (id_t)child, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid == child;
}

/* How many bytes are in the pipe by `deadline`; 0 when it was closed, -1 when there was nothing in time. */
static ssize_t next_marks(int progress, pid_t child, int64_t deadline) {
    for (;;) {
        char marks[64];
        /* Asked before the pipe is: what the child wrote before it ended is then found there. */
        const int ended = has_ended(child);
        const int64_t left = deadline - now();
        struct pollfd end = {.fd = progress, .events = POLLIN};
        const int found = poll(&end, 1, ended || left <= 0 ? 0 : left < GLANCE ? (int)left : GLANCE);
        if (found > 0) {
            const ssize_t count = read(progress, marks, sizeof marks);
            if (count >= 0) return count;
        } else if (found == 0 && ended) {
            return 0;
        } else if (found == 0 && left <= 0) {
            return -1;
        }
    }
}

/* In the parent. */
static void watch(plugin_trial *trial, int32_t count, int progress, pid_t child, uint32_t milliseconds) {
    ssize_t marks = 1;
    int64_t deadline = 0;
    while (trial->survived < count && marks > 0) {
        deadline = now() + milliseconds;
        marks = next_marks(progress, child, deadline);
        if (marks > 0) trial->survived += (int32_t)marks;
    }
    /* One that closed the pipe may still go on. */
    while (marks == 0 && !has_ended(child) && now() < deadline) poll(NULL, 0, 1);
    trial->hung = trial->survived < count && !has_ended(child);
    /* While the child has not been waited for, its number is nobody else's. */
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    /* A library that leaves with exit code 0 has not survived either. */
    trial->status = trial->survived < count ? status : 0;
}

plugin_trial try_plugins(const char *const *names, int32_t count, uint32_t host_abi, uint32_t milliseconds,
                         void (*confine)(void *), void *context) {
    plugin_trial trial = {0};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) {
        trial.error = errno;
        return trial;
    }
    const pid_t child = fork();
    if (child == 0) open_all(names, count, host_abi, ends[1], confine, context);
    if (child < 0) trial.error = errno;
    close(ends[1]);
    if (child > 0) {
        setpgid(child, child);
        watch(&trial, count, ends[0], child, milliseconds);
    }
    close(ends[0]);
    return trial;
}

int64_t allocated_bytes(void) {
    const struct mallinfo2 figures = mallinfo2();
    return (int64_t)(figures.uordblks + figures.hblkhd);
}

int32_t file_contains(const char *path, const char *text) {
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return 0;
    struct stat status;
    int32_t found = 0;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
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
