#define _GNU_SOURCE
#include "plugin_trial.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
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

/* Reads exactly so many bytes of a file. */
static int read_all(int file, void *target, size_t size, uint64_t offset) {
    char *rest = target;
    while (size > 0) {
        const ssize_t count = pread(file, rest, size, (off_t)offset);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return 0;
        rest += count;
        size -= (size_t)count;
        offset += (uint64_t)count;
    }
    return 1;
}

/* No library has more names. Of a file without a table of sections, no more is searched. */
static const uint64_t most_searched = 1 << 30;

/* Where a file has the names of the symbols that a library shows to others. */
typedef struct { uint64_t start, size; } part;

/* The part with the names of a library's symbols. The whole file if there is no table of sections that says so: the loader needs none. */
static part symbol_names(int file, uint64_t size) {
    const part whole = {0, size};
    Elf64_Ehdr head;
    if (!read_all(file, &head, sizeof head, 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shentsize != sizeof(Elf64_Shdr))
        return whole;
    for (uint32_t index = 0; index < head.e_shnum; index++) {
        Elf64_Shdr symbols, names;
        if (!read_all(file, &symbols, sizeof symbols, head.e_shoff + index * sizeof symbols)) return whole;
        if (symbols.sh_type != SHT_DYNSYM) continue;
        if (symbols.sh_link >= head.e_shnum ||
            !read_all(file, &names, sizeof names, head.e_shoff + symbols.sh_link * sizeof names) ||
            names.sh_type != SHT_STRTAB || names.sh_offset > size || names.sh_size > size - names.sh_offset)
            return whole;
        return (part){names.sh_offset, names.sh_size};
    }
    return whole;
}

int32_t file_names_symbol(const char *path, const char *symbol) {
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return 0;
    struct stat status;
    int32_t found = 0;
    /* Blocks overlap by a name, so that none is missed that lies across their border. */
    const size_t overlap = strlen(symbol), capacity = (1 << 16) + overlap;
    char *block = malloc(capacity);
    if (block && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        part rest = symbol_names(file, (uint64_t)status.st_size);
        if (rest.size > most_searched) rest.size = most_searched;
        while (!found && rest.size >= overlap) {
            const size_t count = rest.size < capacity ? (size_t)rest.size : capacity;
            if (!read_all(file, block, count, rest.start)) break;
            found = memmem(block, count, symbol, overlap) != NULL;
            const uint64_t step = count < capacity ? rest.size : capacity - overlap;
            rest.start += step;
            rest.size -= step;
        }
    }
    free(block);
    close(file);
    return found;
}
