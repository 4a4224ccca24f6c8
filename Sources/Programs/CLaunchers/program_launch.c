#define _GNU_SOURCE
#include "program_launch.h"
#include "launchers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int32_t result(long code) { return code < 0 ? -errno : (int32_t)code; }

int32_t launch_open(struct launch_files *files) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return -errno;
    *files = (struct launch_files){.workers_end = ends[0], .launchers_end = ends[1]};
    files->input = memfd_create("penumbra-input", MFD_CLOEXEC);
    files->output = files->input < 0 ? -1 : memfd_create("penumbra-output", MFD_CLOEXEC);
    if (files->output >= 0) return 0;
    const int32_t code = -errno;
    close(ends[0]);
    close(ends[1]);
    if (files->input >= 0) close(files->input);
    return code;
}

/* Moves a descriptor to a number that is free, or its own. */
static int move(int32_t *file, int number) {
    if (*file == number) return 0;
    if (dup3(*file, number, O_CLOEXEC) < 0) return -1;
    *file = number;
    return 0;
}

int32_t launch_begin(struct launch_files *files) {
    launchers_use_default_signals();
    signal(SIGPIPE, SIG_IGN);
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    /* A kill of the worker's group must leave it time to end the programs and to remove their folder. */
    if (setpgid(0, 0) || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) || sigprocmask(SIG_SETMASK, &ended, NULL) || chdir("/"))
        return -errno;
    const int nothing = open("/dev/null", O_RDWR);
    if (nothing < 0) return -errno;
    for (int number = 0; number < 3; number++)
        if (dup2(nothing, number) < 0) return -errno;
    /* First away from the numbers that they get. */
    int32_t *all[] = {&files->launchers_end, &files->input, &files->output};
    for (int index = 0; index < 3; index++)
        if ((*all[index] = fcntl(*all[index], F_DUPFD_CLOEXEC, 16)) < 0) return -errno;
    for (int index = 0; index < 3; index++)
        if (move(all[index], 3 + index)) return -errno;
    files->workers_end = -1;
    launchers_close_from(6);
    launchers_forget_environment();
    return result(signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK));
}

int32_t launch_prepare(const struct launch_start *start) {
    if (setpgid(0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)) return -errno;
    /* The launcher may have ended before the call. */
    if (getppid() != start->launcher) _exit(127);
    launchers_use_default_signals();
    sigset_t none;
    sigemptyset(&none);
    if (sigprocmask(SIG_SETMASK, &none, NULL) || chdir(start->folder)) return -errno;
    umask(077);
    const int32_t code = launchers_limit(start->file_size, start->memory);
    if (code < 0) return code;
    /* All other descriptors of the launcher are closed when a program is executed. */
    if (dup2(start->input, 0) < 0 || dup2(start->output, 1) < 0 || dup2(start->errors, 2) < 0) return -errno;
    return 0;
}

int32_t launch_has_ended(pid_t process, int32_t *code, int32_t *signal) {
    siginfo_t end = {0};
    if (waitid(P_PID, (id_t)process, &end, WEXITED | WNOHANG | WNOWAIT) || end.si_pid != process) return 0;
    const int exited = end.si_code == CLD_EXITED;
    *code = exited ? end.si_status : 0;
    *signal = exited ? 0 : end.si_status;
    return 1;
}

/* The parent of a process. -1 if it has ended. */
static pid_t parent(const char *process) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%s/stat", process);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    const ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    if (count <= 0) return -1;
    text[count] = 0;
    /* The name of its program comes before, in brackets, and may have any characters. */
    const char *end = strrchr(text, ')');
    int number = -1;
    return end && sscanf(end + 1, " %*c %d", &number) == 1 ? number : -1;
}

/* Kills the children that have left the program's group. Their own children become this process's. */
static void kill_children(void) {
    DIR *processes = opendir("/proc");
    if (!processes) return;
    const pid_t own = getpid();
    for (const struct dirent *entry; (entry = readdir(processes));) {
        const pid_t process = atoi(entry->d_name);
        if (process > 0 && parent(entry->d_name) == own) kill(process, SIGKILL);
    }
    closedir(processes);
}

void launch_end_children(pid_t group) {
    /* Nobody can leave this group by a fork that the signal does not reach. */
    if (group > 0) kill(-group, SIGKILL);
    for (;;) {
        const pid_t ended = waitpid(-1, NULL, WNOHANG);
        if (ended < 0 && errno != EINTR) return;
        if (ended != 0) continue;
        kill_children();
        const struct timespec pause = {.tv_nsec = 200000};
        nanosleep(&pause, NULL);
    }
}

/* Removes what it can of a folder, but for folders with contents. Returns the first of those, opened, or -1. */
static int remove_entries(int folder) {
    const int copy = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    DIR *entries = copy < 0 ? NULL : fdopendir(copy);
    if (!entries) {
        if (copy >= 0) close(copy);
        return -1;
    }
    rewinddir(entries);
    int below = -1;
    for (const struct dirent *entry; below < 0 && (entry = readdir(entries));) {
        const char *name = entry->d_name;
        if (!strcmp(name, ".") || !strcmp(name, "..")) continue;
        if (!unlinkat(folder, name, 0) || !unlinkat(folder, name, AT_REMOVEDIR)) continue;
        /* It is a folder, since links are removed by their names. Its own program may have forbidden to look into it. */
        fchmodat(folder, name, 0700, 0);
        below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    closedir(entries);
    return below;
}

/* One folder is open at a time, so that neither long paths nor deep ones stop it. No process can change the tree any more. */
void launch_remove(const char *path) {
    chmod(path, 0700);
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    long depth = 0;
    /* Of a folder that cannot be removed, the end is reached by this number alone. */
    for (long steps = 0; folder >= 0 && steps < 200000; steps++) {
        int next = remove_entries(folder);
        if (next >= 0) {
            depth++;
        } else {
            if (depth-- == 0) break;
            next = openat(folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        }
        close(folder);
        folder = next;
    }
    if (folder >= 0) close(folder);
    rmdir(path);
}
