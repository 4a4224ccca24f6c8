#define _GNU_SOURCE
#include "process_state.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* What ends, pauses or interrupts a process from outside. */
static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGCHLD,
                              SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGXCPU, SIGXFSZ, SIGILL,  SIGABRT,   SIGTRAP,
                              SIGSYS,  SIGIO};
enum { SIGNALS = sizeof signals / sizeof *signals, TIMERS = 3, LIMITS = RLIM_NLIMITS, MOST_DESCRIPTORS = 8 };
/* Of timer_create: there may be more. */
enum { MOST_TIMERS = 64 };

/* Where copies of descriptors are kept, out of the way of who counts on the lowest ones. */
enum { SPARE = 200 };

struct watched {
    int descriptor;
    /* Another descriptor of the same file. */
    int spare;
    int flags;
    /* How it is written and read: whether one waits for it, say. */
    int mode;
    struct stat file;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct watched descriptors[MOST_DESCRIPTORS];
static int descriptor_count;
static mode_t file_mask;
static struct rlimit limits[LIMITS];
static struct sigaction handlers[SIGNALS];
/* Of timers that were made with timer_create, by the kernel's numbers. */
static int timers[MOST_TIMERS];
static int timer_count;
static int folder = -1;
static struct stat folder_status;
static int root = -1;
static struct stat root_status;
static struct { uid_t real, effective, saved; } user;
static struct { gid_t real, effective, saved; } group;
static pid_t process_group;
static char locale_name[256];

static int spare_of(int descriptor) {
    const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, SPARE);
    /* Few descriptors are allowed. */
    return high >= 0 ? high : fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
}

void process_state_watch(int32_t descriptor) {
    if (descriptor_count == MOST_DESCRIPTORS) return;
    struct watched *new = &descriptors[descriptor_count];
    if (fstat(descriptor, &new->file) != 0) return;
    new->descriptor = descriptor;
    new->flags = fcntl(descriptor, F_GETFD);
    new->mode = fcntl(descriptor, F_GETFL);
    new->spare = spare_of(descriptor);
    descriptor_count++;
}

/* The kernel's numbers of this process's timers of timer_create, at most MOST_TIMERS of them: lines "ID: 7" of a file that is
   there where the kernel was built with it. */
static int find_timers(int *found) {
    const int file = open("/proc/self/timers", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    static const char name[] = "ID: ";
    int count = 0, matched = 0, number = -1;
    char bytes[1024];
    ssize_t length;
    while ((length = read(file, bytes, sizeof bytes)) > 0) {
        for (ssize_t index = 0; index < length; index++) {
            const char byte = bytes[index];
            if (byte == '\n') {
                if (number >= 0 && count < MOST_TIMERS) found[count++] = number;
                matched = 0;
                number = -1;
            } else if (matched >= 0 && matched < 4) {
                matched = byte == name[matched] ? matched + 1 : -1;
            } else if (matched == 4 && byte >= '0' && byte <= '9' && number < 100000000) {
                number = 10 * (number < 0 ? 0 : number) + (byte - '0');
            }
        }
    }
    close(file);
    return count;
}

static void record_limits(void) {
    for (int index = 0; index < LIMITS; index++) getrlimit(index, &limits[index]);
}

void process_state_record_limits(void) {
    pthread_mutex_lock(&lock);
    record_limits();
    pthread_mutex_unlock(&lock);
}

void process_state_record(void) {
    file_mask = umask(0);
    umask(file_mask);
    record_limits();
    for (int index = 0; index < SIGNALS; index++) sigaction(signals[index], NULL, &handlers[index]);
    timer_count = find_timers(timers);
    if (folder < 0) folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || fstat(folder, &folder_status) != 0) memset(&folder_status, 0, sizeof folder_status);
    if (root < 0) root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0 || fstat(root, &root_status) != 0) memset(&root_status, 0, sizeof root_status);
    getresuid(&user.real, &user.effective, &user.saved);
    getresgid(&group.real, &group.effective, &group.saved);
    process_group = getpgrp();
    const char *name = setlocale(LC_ALL, NULL);
    locale_name[0] = 0;
    if (name && strlen(name) < sizeof locale_name) strcpy(locale_name, name);
}

static rlim_t limit_of_files(void) {
    const rlim_t limit = limits[RLIMIT_NOFILE].rlim_cur;
    return limit < INT32_MAX ? limit : INT32_MAX;
}

void process_state_mask(sigset_t *mask) { pthread_sigmask(SIG_SETMASK, NULL, mask); }

static int is_same_file(const struct stat *one, const struct stat *other) {
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino && one->st_rdev == other->st_rdev
        && (one->st_mode & S_IFMT) == (other->st_mode & S_IFMT);
}

static uint32_t restore_mask(const sigset_t *mask) {
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, mask, &now);
    for (int number = 1; number < 32; number++)
        if (sigismember(&now, number) != sigismember(mask, number)) return PROCESS_MASK;
    return 0;
}

static uint32_t restore_limits(void) {
    uint32_t changed = 0;
    for (int index = 0; index < LIMITS; index++) {
        struct rlimit now;
        const struct rlimit *was = &limits[index];
        if (getrlimit(index, &now) != 0 || (now.rlim_cur == was->rlim_cur && now.rlim_max == was->rlim_max)) continue;
        if (index == RLIMIT_NOFILE && now.rlim_cur > was->rlim_cur && now.rlim_max == was->rlim_max) continue;
        /* A hard limit that was lowered stays, unless this is root: the frame fails, and the process is replaced. */
        const struct rlimit possible = {.rlim_cur = was->rlim_cur < now.rlim_max ? was->rlim_cur : now.rlim_max,
                                        .rlim_max = now.rlim_max};
        if (setrlimit(index, was) != 0) setrlimit(index, &possible);
        changed = PROCESS_LIMITS;
    }
    return changed;
}

static uint32_t restore_handlers(void) {
    uint32_t changed = 0;
    for (int index = 0; index < SIGNALS; index++) {
        struct sigaction now;
        const struct sigaction *was = &handlers[index];
        if (sigaction(signals[index], NULL, &now) != 0) continue;
        if (now.sa_handler == was->sa_handler && now.sa_flags == was->sa_flags) continue;
        sigaction(signals[index], was, NULL);
        changed = PROCESS_HANDLERS;
    }
    return changed;
}

/* This process has no timers of this kind. */
static uint32_t restore_timers(void) {
    static const int kinds[TIMERS] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
    uint32_t changed = 0;
    for (int index = 0; index < TIMERS; index++) {
        struct itimerval now;
        if (getitimer(kinds[index], &now) != 0 || (now.it_value.tv_sec == 0 && now.it_value.tv_usec == 0)) continue;
        const struct itimerval none = {0};
        setitimer(kinds[index], &none, NULL);
        changed = PROCESS_TIMERS;
    }
    return changed;
}

static int is_recorded(int timer) {
    for (int index = 0; index < timer_count; index++)
        if (timers[index] == timer) return 1;
    return 0;
}

/* Timers of timer_create outlive the call that made them, and their signals would end another task's process. */
static uint32_t remove_timers(void) {
    uint32_t changed = 0;
    int found[MOST_TIMERS], count, removed;
    do {
        count = find_timers(found);
        removed = 0;
        for (int index = 0; index < count; index++)
            if (!is_recorded(found[index]) && syscall(SYS_timer_delete, found[index]) == 0) removed++;
        if (removed > 0) changed = PROCESS_TIMERS;
        /* There may be more of them than are found at once. */
    } while (count == MOST_TIMERS && removed > 0);
    return changed;
}

static uint32_t restore_group(void) {
    if (getpgrp() == process_group) return 0;
    /* The coordinator ends this process, and what it started, by the group that it made for it. */
    if (setpgid(0, process_group == getpid() ? 0 : process_group) != 0) return PROCESS_GROUP | PROCESS_LOST;
    return PROCESS_GROUP;
}

static uint32_t restore_user(void) {
    uid_t users[3];
    gid_t groups[3];
    getresuid(&users[0], &users[1], &users[2]);
    getresgid(&groups[0], &groups[1], &groups[2]);
    const int is_same_user = users[0] == user.real && users[1] == user.effective && users[2] == user.saved;
    const int is_same_group = groups[0] == group.real && groups[1] == group.effective && groups[2] == group.saved;
    if (is_same_user && is_same_group) return 0;
    /* The user first: only root gives a group back. */
    if (setresuid(user.real, user.effective, user.saved) != 0
        || setresgid(group.real, group.effective, group.saved) != 0)
        return PROCESS_USER | PROCESS_LOST;
    return PROCESS_USER;
}

static uint32_t restore_root(void) {
    struct stat now;
    if (root < 0 || (stat("/", &now) == 0 && is_same_file(&now, &root_status))) return 0;
    if (fchdir(root) != 0 || chroot(".") != 0 || fchdir(folder) != 0) return PROCESS_ROOT | PROCESS_LOST;
    return PROCESS_ROOT;
}

static uint32_t restore_folder(void) {
    struct stat now;
    /* A folder that a server has lost was not changed by the plugin. */
    if (folder < 0 || fstat(folder, &now) != 0) return 0;
    if (stat(".", &now) == 0 && is_same_file(&now, &folder_status)) return 0;
    return fchdir(folder) == 0 ? PROCESS_FOLDER : 0;
}

static uint32_t restore_descriptors(void) {
    uint32_t changed = 0;
    for (int index = 0; index < descriptor_count; index++) {
        struct watched *own = &descriptors[index];
        struct stat now;
        if (fstat(own->descriptor, &now) == 0 && is_same_file(&now, &own->file)) {
            /* Others than this process have a terminal open, too, and may change how they all read it. */
            const int mode = S_ISFIFO(now.st_mode) ? fcntl(own->descriptor, F_GETFL) : own->mode;
            if (mode == own->mode) continue;
            changed |= PROCESS_DESCRIPTORS;
            if (fcntl(own->descriptor, F_SETFL, own->mode) != 0) changed |= PROCESS_LOST;
            continue;
        }
        changed |= PROCESS_DESCRIPTORS;
        if (fstat(own->spare, &now) != 0 || !is_same_file(&now, &own->file)
            || dup3(own->spare, own->descriptor, own->flags & FD_CLOEXEC ? O_CLOEXEC : 0) < 0)
            changed |= PROCESS_LOST;
    }
    for (int index = 0; index < descriptor_count; index++) {
        struct watched *own = &descriptors[index];
        struct stat now;
        if (fstat(own->spare, &now) == 0 && is_same_file(&now, &own->file)) continue;
        if (!(changed & PROCESS_LOST)) own->spare = spare_of(own->descriptor);
        changed |= PROCESS_DESCRIPTORS;
    }
    return changed;
}

static uint32_t restore_locale(void) {
    const char *name = setlocale(LC_ALL, NULL);
    if (!locale_name[0] || (name && strcmp(name, locale_name) == 0)) return 0;
    setlocale(LC_ALL, locale_name);
    return PROCESS_LOCALE;
}

/* Reads the umask without changing it: the line "Umask:\t0022" near the beginning of a file of the kernel. */
static int read_umask(mode_t *mask) {
    const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    char bytes[256];
    const ssize_t length = read(file, bytes, sizeof bytes - 1);
    close(file);
    if (length <= 0) return 0;
    bytes[length] = 0;
    const char *line = strstr(bytes, "\nUmask:");
    return line && sscanf(line, "\nUmask: %o", mask) == 1;
}

/* Libraries on other threads read the umask by changing it for a moment, since POSIX has no other way: libgsf does for each file
   of a Deep Zoom folder. Only a change that stays is a plugin's. On a busy machine such a thread may wait for a processor between its
   two calls, for a tenth of a second or longer; so a change that stays costs its plugin some two seconds. */
static uint32_t restore_umask(void) {
    enum { LOOKS = 2000 };
    mode_t now;
    for (int look = 0; look < LOOKS && read_umask(&now); look++) {
        if (now == file_mask) return 0;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return umask(file_mask) == file_mask ? 0 : PROCESS_UMASK;
}

uint32_t process_state_restore(const sigset_t *mask) {
    const int code = errno;
    uint32_t changed = restore_mask(mask);
    pthread_mutex_lock(&lock);
    /* First of all: what follows may take root. */
    changed |= restore_user();
    changed |= restore_folder();
    changed |= restore_root();
    changed |= restore_umask();
    changed |= restore_group() | restore_limits() | restore_handlers() | restore_timers() | remove_timers()
        | restore_descriptors() | restore_locale();
    pthread_mutex_unlock(&lock);
    errno = code;
    return changed;
}

int32_t process_state_lowest_free(void) {
    /* A file below that is closed while others stay open leaves a gap. Whoever takes the gap has opened one file, and not all those
       above it, too. */
    static _Atomic int32_t lowest;
    const int code = errno;
    int32_t least = lowest;
    const int copy = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, least);
    if (copy >= 0) close(copy);
    errno = code;
    const int32_t found = copy >= 0 ? copy : (int32_t)limit_of_files();
    while (least < found && !atomic_compare_exchange_weak(&lowest, &least, found)) {}
    return found;
}

int32_t process_state_tolerated(void) {
    /* A quarter leaves enough to the worker; some drivers keep a few dozen, and libraries a few. */
    enum { FEWEST = 16, MOST = 1024 };
    const rlim_t quarter = limit_of_files() / 4;
    return quarter < FEWEST ? FEWEST : quarter < MOST ? (int32_t)quarter : MOST;
}
