// Tells ThreadSanitizer in which order threads run, where libraries that are compiled without it see to that order. Without this file
// it reports correct code. `Scripts/test-sanitized` preloads the file in front of the libraries.
//
// - Swift's `Mutex`: modules take and give back a free lock themselves. While threads wait for it, Swift's library does.
// - Copies on write: a thread may change an array in place after all others have given up their copies.
// - Continuations: a task may be resumed before it waits.
// - GLib's locks, by which threads of libvips wait for each other.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Programs without ThreadSanitizer have none of these. Tests start such programs, too.
void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) {
        fprintf(stderr, "locks.c: no library has the function %s that is called here\n", name);
        abort();
    }
    return found;
}

#define NEXT(pointer, name)                                                                                                      \
    if (pointer == NULL) *(void **)&pointer = next(name)

static void acquire(void *address) {
    if (__tsan_acquire != NULL) __tsan_acquire(address);
}

static void release(void *address) {
    if (__tsan_release != NULL) __tsan_release(address);
}

// Swift's Mutex

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
// Synchronization._MutexHandle._lockSlow(Swift.UInt32) and Synchronization._MutexHandle._unlockSlow()
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock_slowly(uint32_t thread, SELF void *handle) __asm__(LOCK);
SWIFT void lock_slowly(uint32_t thread, SELF void *handle) {
    static SWIFT void (*function)(uint32_t, SELF void *);
    NEXT(function, LOCK);
    function(thread, handle);
    acquire(handle);
}

SWIFT void unlock_slowly(SELF void *handle) __asm__(UNLOCK);
SWIFT void unlock_slowly(SELF void *handle) {
    static SWIFT void (*function)(SELF void *);
    NEXT(function, UNLOCK);
    release(handle);
    function(handle);
}

// Swift's objects

void swift_release(void *object) {
    static void (*function)(void *);
    NEXT(function, "swift_release");
    if (object != NULL) release(object);
    function(object);
}

bool swift_isUniquelyReferenced_nonNull_native(const void *object) {
    static bool (*function)(const void *);
    NEXT(function, "swift_isUniquelyReferenced_nonNull_native");
    const bool is_unique = function(object);
    if (is_unique) acquire((void *)object);
    return is_unique;
}

// Swift's continuations

// The library tells ThreadSanitizer of a task that is resumed while it waits, and not of one that is resumed before it waits. Nobody
// knows which of the two it will be. So the place where the task goes on is replaced by a function that is called in both cases.

#define ASYNC __attribute__((swiftasynccall))
#define ASYNC_CONTEXT __attribute__((swift_async_context))

void *swift_task_getCurrent(void) __attribute__((weak));

// What a task keeps of a continuation, as far as it is needed here (swift/ABI/Task.h).
struct continuation {
    void *parent;
    ASYNC void (*resume)(ASYNC_CONTEXT struct continuation *);
};

// The tasks that wait. ThreadSanitizer does not see this lock, so it orders no threads.
static struct {
    struct continuation *continuation;
    ASYNC void (*resume)(ASYNC_CONTEXT struct continuation *);
} waiting[1 << 14];
static atomic_flag is_busy = ATOMIC_FLAG_INIT;

static size_t place_of(const struct continuation *continuation) {
    size_t place = 0;
    while (place < sizeof waiting / sizeof *waiting && waiting[place].continuation != continuation) place++;
    return place;
}

static ASYNC void go_on(ASYNC_CONTEXT struct continuation *continuation) {
    while (atomic_flag_test_and_set_explicit(&is_busy, memory_order_acquire)) {}
    const size_t place = place_of(continuation);
    waiting[place].continuation = NULL;
    continuation->resume = waiting[place].resume;
    atomic_flag_clear_explicit(&is_busy, memory_order_release);
    acquire(swift_task_getCurrent());
    __attribute__((musttail)) return continuation->resume(continuation);
}

ASYNC void swift_continuation_await(struct continuation *continuation) {
    static ASYNC void (*function)(struct continuation *);
    NEXT(function, "swift_continuation_await");
    while (atomic_flag_test_and_set_explicit(&is_busy, memory_order_acquire)) {}
    // A task that is never resumed leaves its place behind. The memory of its continuation may be another one's now.
    size_t place = place_of(continuation);
    if (place == sizeof waiting / sizeof *waiting) place = place_of(NULL);
    // More tasks than that do not wait at once. The others go on as they would without this file.
    if (place < sizeof waiting / sizeof *waiting) {
        waiting[place].continuation = continuation;
        waiting[place].resume = continuation->resume;
        continuation->resume = go_on;
    }
    atomic_flag_clear_explicit(&is_busy, memory_order_release);
    __attribute__((musttail)) return function(continuation);
}

// GLib

void g_mutex_lock(void *mutex) {
    static void (*function)(void *);
    NEXT(function, "g_mutex_lock");
    function(mutex);
    acquire(mutex);
}

void g_mutex_unlock(void *mutex) {
    static void (*function)(void *);
    NEXT(function, "g_mutex_unlock");
    release(mutex);
    function(mutex);
}

void g_cond_wait(void *condition, void *mutex) {
    static void (*function)(void *, void *);
    NEXT(function, "g_cond_wait");
    release(mutex);
    function(condition, mutex);
    acquire(mutex);
}
