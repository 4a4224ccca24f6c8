#define _GNU_SOURCE
#include "crash_record.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int output = -1;
static int replayed = -1, replay_output = -1;
/* Processes that a plugin forks off have this memory, and none of these threads. */
static pid_t owner;
static atomic_bool is_writing;

static _Thread_local const char *message;
static _Thread_local size_t message_size;

/* Whoever writes to the pipe is given so many milliseconds to end. */
enum { PATIENCE = 1000 };

void crash_record_set(const void *bytes, size_t size) {
    /* The size first: a crash between the two says nothing. */
    message = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    message_size = size;
    atomic_signal_fence(memory_order_seq_cst);
    message = bytes;
}

static int try_lock(void) {
    _Bool expected = 0;
    return atomic_compare_exchange_strong(&is_writing, &expected, 1);
}

static void wait_a_millisecond(void) {
    const struct timespec pause = {.tv_nsec = 1000000};
    nanosleep(&pause, NULL);
}

void crash_record_lock(void) {
    /* Held by another thread only while that one tells of its crash. */
    while (!try_lock()) wait_a_millisecond();
}

void crash_record_unlock(void) { atomic_store(&is_writing, 0); }

void crash_record_replay(int32_t from, int32_t to) {
    replayed = from;
    replay_output = to;
}

static void replay(void) {
    char bytes[4096];
    if (replayed < 0 || replay_output < 0) return;
    const ssize_t count = read(replayed, bytes, sizeof bytes);
    /* It is a help for a person. If it cannot be written, the message alone has to do. */
    if (count > 0 && write(replay_output, bytes, (size_t)count) < 0) return;
}

/* Calls nothing but what a handler of signals may. */
static void tell(void) {
    const char *rest = message;
    size_t left = message_size;
    if (!rest || getpid() != owner) return;
    message = NULL;
    for (int waited = 0; !try_lock(); waited++) {
        if (waited == PATIENCE) return;
        wait_a_millisecond();
    }
    while (left > 0) {
        const ssize_t count = write(output, rest, left);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        rest += count;
        left -= (size_t)count;
    }
    crash_record_unlock();
    replay();
}

static void (*explain_call)(int32_t call);

void crash_record_explain(void (*explain)(int32_t call)) { explain_call = explain; }

/* The soft limit of private memory at the start. The coordinator changes it for each task. */
static rlim_t first_memory = RLIM_INFINITY;

/* Says that memory ran out at the coordinator's limit. Run times end the process when they get no memory, and then the error number
   of that call is still there. A process that calls abort for another reason has a different one, nearly always. */
static void explain_memory(int number, int code) {
    struct rlimit now;
    if (code != ENOMEM || (number != SIGABRT && number != SIGTRAP && number != SIGILL)) return;
    if (getrlimit(RLIMIT_DATA, &now) != 0 || now.rlim_cur == first_memory) return;
    char line[96] = "penumbra-worker: memory ran out at its limit, ", digits[24];
    size_t length = strlen(line);
    int count = 0;
    rlim_t rest = now.rlim_cur >> 20;
    do digits[count++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    while (count > 0) line[length++] = digits[--count];
    memcpy(line + length, " MB\n", 4);
    length += 4;
    /* Without it, the process dies with less of a reason. */
    if (write(STDERR_FILENO, line, length) < 0) return;
}

/* si_code of a SIGSYS by a filter of system calls, SYS_SECCOMP of the kernel's headers. */
enum { refused_by_filter = 1 };

static void crash(int number, siginfo_t *info, void *context) {
    const int code = errno;
    (void)context;
    explain_memory(number, code);
    if (number == SIGSYS && info->si_code == refused_by_filter && explain_call) explain_call(info->si_syscall);
    tell();
    /* The handler is gone by now: the signal ends the process when this returns. */
    raise(number);
}

void crash_record_start(int32_t pipe) {
    output = pipe;
    owner = getpid();
    struct rlimit memory;
    if (getrlimit(RLIMIT_DATA, &memory) == 0) first_memory = memory.rlim_cur;
    struct sigaction action = {.sa_sigaction = crash, .sa_flags = (int)SA_RESETHAND | SA_ONSTACK | SA_SIGINFO};
    sigfillset(&action.sa_mask);
    const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS};
    for (size_t index = 0; index < sizeof crashes / sizeof *crashes; index++) sigaction(crashes[index], &action, NULL);
    atexit(tell);
}
