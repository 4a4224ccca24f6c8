/* Writes down what programs make safe and what they rename, link and remove below some folders, so that a power loss
   can be played afterwards: see PowerCut.swift for the lines' meaning. What is replaced or removed is kept as a hard
   link in a folder of backups.

   PENUMBRA_FAULTS_POWER is the log, PENUMBRA_FAULTS_BACKUPS the folder, PENUMBRA_FAULTS_ROOTS the folders, with colons
   between them. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_int count;

static void say(const char *text, size_t length) {
    const char *path = getenv("PENUMBRA_FAULTS_POWER");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    if (file < 0) return;
    if (write(file, text, length) < 0) { /* nobody to tell */ }
    close(file);
}

static void say_line(const char *format, ...) {
    char line[9000];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (length > 0 && (size_t)length < sizeof line) say(line, (size_t)length);
}

static int is_below(const char *path) {
    const char *roots = getenv("PENUMBRA_FAULTS_ROOTS");
    while (roots && *roots) {
        size_t length = strcspn(roots, ":");
        if (!strncmp(path, roots, length) && (path[length] == '/' || !path[length])) return 1;
        roots += length + (roots[length] == ':');
    }
    return 0;
}

static int path_of(int file, char *path, size_t size) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t length = readlink(name, path, size - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return is_below(path);
}

/* Keeps what is at a path. "-" when nothing is there. */
static void keep(const char *path, char *backup, size_t size) {
    snprintf(backup, size, "%s/%d-%d", getenv("PENUMBRA_FAULTS_BACKUPS"), getpid(), atomic_fetch_add(&count, 1));
    if (REAL(link)(path, backup) != 0) snprintf(backup, size, "-");
}

/* As if nothing had been synced: to see that the harness finds that. */
static int is_forgetful(void) { return getenv("PENUMBRA_FAULTS_FORGETFUL") != NULL; }

static void say_safe(const struct stat *found) {
    say_line("S\t%llu\t%lld\t%lld\n", (unsigned long long)found->st_ino, (long long)found->st_size,
             (long long)found->st_mtim.tv_sec * 1000000000 + found->st_mtim.tv_nsec);
}

static int sync_one(int file, int (*sync)(int)) {
    char path[4096];
    struct stat found;
    if (!path_of(file, path, sizeof path) || fstat(file, &found) != 0) return sync(file);
    int number = atomic_fetch_add(&count, 1);
    if (S_ISDIR(found.st_mode)) say_line("B\t%d-%d\n", getpid(), number);
    int result = sync(file);
    int code = errno;
    if (result == 0 && !is_forgetful()) {
        if (S_ISDIR(found.st_mode)) say_line("D\t%d-%d\t%s\n", getpid(), number, path);
        else say_safe(&found);
    }
    errno = code;
    return result;
}

int fsync(int file) { return sync_one(file, REAL(fsync)); }
int fdatasync(int file) { return sync_one(file, REAL(fdatasync)); }

/* Of a whole file system: every file below the roots, as it was before. */
static _Thread_local struct stat *files;
static _Thread_local size_t file_count;

static int gather(const char *path, const struct stat *found, int kind, struct FTW *place) {
    (void)path, (void)place;
    if (kind != FTW_F) return 0;
    struct stat *more = realloc(files, (file_count + 1) * sizeof *files);
    if (!more) return 1;
    files = more;
    files[file_count++] = *found;
    return 0;
}

static int sync_all(int (*one)(int), int file) {
    char roots[8192];
    snprintf(roots, sizeof roots, "%s", getenv("PENUMBRA_FAULTS_ROOTS") ? getenv("PENUMBRA_FAULTS_ROOTS") : "");
    int number = atomic_fetch_add(&count, 1);
    file_count = 0;
    say_line("B\t%d-%d\n", getpid(), number);
    char *rest = NULL;
    for (char *root = strtok_r(roots, ":", &rest); root; root = strtok_r(NULL, ":", &rest)) nftw(root, gather, 16, FTW_PHYS);
    int result = 0;
    if (one) result = one(file);
    else REAL(sync)();
    int code = errno;
    if (result == 0 && !is_forgetful()) {
        for (size_t i = 0; i < file_count; i++) say_safe(&files[i]);
        say_line("Y\t%d-%d\n", getpid(), number);
    }
    errno = code;
    return result;
}

int syncfs(int file) { return sync_all(REAL(syncfs), file); }
void sync(void) { sync_all(NULL, -1); }

int rename(const char *from, const char *to) {
    char backup[4200];
    if (!is_below(to)) return REAL(rename)(from, to);
    keep(to, backup, sizeof backup);
    int result = REAL(rename)(from, to), code = errno;
    if (result == 0) say_line("R\t%s\t%s\t%s\n", from, to, backup);
    errno = code;
    return result;
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    char backup[4200];
    if (!is_below(to)) return REAL(renameat2)(from_folder, from, to_folder, to, flags);
    if (flags & RENAME_EXCHANGE) snprintf(backup, sizeof backup, "-");
    else keep(to, backup, sizeof backup);
    int result = REAL(renameat2)(from_folder, from, to_folder, to, flags), code = errno;
    if (result == 0) say_line("%s\t%s\t%s\t%s\n", flags & RENAME_EXCHANGE ? "X" : "R", from, to, backup);
    errno = code;
    return result;
}

int link(const char *from, const char *to) {
    int result = REAL(link)(from, to), code = errno;
    if (result == 0 && is_below(to)) say_line("L\t%s\t%s\n", from, to);
    errno = code;
    return result;
}

int unlink(const char *path) {
    char backup[4200];
    if (!is_below(path)) return REAL(unlink)(path);
    keep(path, backup, sizeof backup);
    int result = REAL(unlink)(path), code = errno;
    if (result == 0) say_line("U\t%s\t%s\n", path, backup);
    errno = code;
    return result;
}
