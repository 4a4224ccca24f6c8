/* A place that is short of room, or slow.

   PENUMBRA_FAULTS_ROOTS names folders, with colons between them. PENUMBRA_FAULTS_QUOTA is a file of eight bytes: so many
   bytes may still be written below them, by all processes together; then writing fails with EDQUOT. With
   PENUMBRA_FAULTS_SLOW, a number of milliseconds, what touches the disk there takes up to as long. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int is_below(const char *path) {
    const char *roots = getenv("PENUMBRA_FAULTS_ROOTS");
    while (roots && *roots) {
        size_t length = strcspn(roots, ":");
        if (!strncmp(path, roots, length) && (path[length] == '/' || !path[length])) return 1;
        roots += length + (roots[length] == ':');
    }
    return 0;
}

static int is_there(int file) {
    char name[64], path[4096];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static _Atomic int64_t *room(void) {
    static _Atomic(_Atomic int64_t *) known;
    const char *path = getenv("PENUMBRA_FAULTS_QUOTA");
    if (!path) return NULL;
    _Atomic int64_t *place = atomic_load(&known);
    if (place) return place;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return NULL;
    void *mapped = mmap(NULL, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED) return NULL;
    atomic_store(&known, (_Atomic int64_t *)mapped);
    return mapped;
}

/* Takes room for so many bytes; 0 when there is less. */
static int take(int file, int64_t bytes) {
    _Atomic int64_t *left = room();
    if (!left || !is_there(file)) return 1;
    int64_t now = atomic_load(left);
    do {
        if (now < bytes) {
            errno = EDQUOT;
            return 0;
        }
    } while (!atomic_compare_exchange_weak(left, &now, now - bytes));
    return 1;
}

/* Some part of the time that a slow disk takes, another one each time. */
static void dawdle(double share) {
    static atomic_uint count;
    const char *text = getenv("PENUMBRA_FAULTS_SLOW");
    if (!text) return;
    uint64_t z = ((uint64_t)getpid() << 32) + atomic_fetch_add(&count, 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z ^= z >> 27;
    int64_t most = (int64_t)(atof(text) * 1e6 * share), wait = most > 0 ? (int64_t)(z % (uint64_t)most) : 0;
    struct timespec pause = {wait / 1000000000, wait % 1000000000};
    int code = errno;
    nanosleep(&pause, NULL);
    errno = code;
}

static void dawdle_with(int file, double share) {
    if (getenv("PENUMBRA_FAULTS_SLOW") && is_there(file)) dawdle(share);
}

static int64_t total(const struct iovec *parts, int count) {
    int64_t sum = 0;
    for (int i = 0; i < count; i++) sum += (int64_t)parts[i].iov_len;
    return sum;
}

ssize_t write(int file, const void *bytes, size_t count) {
    dawdle_with(file, 0.1);
    return take(file, (int64_t)count) ? REAL(write)(file, bytes, count) : -1;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t place) {
    dawdle_with(file, 0.1);
    return take(file, (int64_t)count) ? REAL(pwrite)(file, bytes, count, place) : -1;
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t place) {
    dawdle_with(file, 0.1);
    return take(file, (int64_t)count) ? REAL(pwrite64)(file, bytes, count, place) : -1;
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    dawdle_with(file, 0.1);
    return take(file, total(parts, count)) ? REAL(writev)(file, parts, count) : -1;
}

int posix_fallocate(int file, off_t place, off_t length) {
    int code = errno;
    if (take(file, length)) return REAL(posix_fallocate)(file, place, length);
    errno = code;
    return EDQUOT;
}

int fallocate(int file, int mode, off_t place, off_t length) {
    return take(file, length) ? REAL(fallocate)(file, mode, place, length) : -1;
}

int fsync(int file) {
    dawdle_with(file, 1);
    return REAL(fsync)(file);
}

int fdatasync(int file) {
    dawdle_with(file, 1);
    return REAL(fdatasync)(file);
}

int syncfs(int file) {
    dawdle_with(file, 1);
    return REAL(syncfs)(file);
}

int rename(const char *from, const char *to) {
    if (is_below(to)) dawdle(1);
    return REAL(rename)(from, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    if (is_below(to)) dawdle(1);
    return REAL(renameat2)(from_folder, from, to_folder, to, flags);
}
